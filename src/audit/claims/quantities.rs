//! What can be claimed of a table of medians: one row of [`KINDS`] and one function for each quantity.
//!
//! Every quantity comes out as the interval of all values that the printed medians allow. Medians are independent of each
//! other, so that the interval of a ratio, of the extreme of several, and of a geometric mean is exact but for its outward
//! rounding; counts are bounded by what is certain and what is possible.

use super::arguments::lookup;
use super::refits::{Policy, Refits};
use super::table::{Column, Row, Table};
use crate::fit::{FitError, Interval, Schedule};

pub(super) use super::arguments::{ARGUMENTS, Arguments, Cohort, Over, Refusal};

/// The table and what follows from it.
#[derive(Debug)]
pub(super) struct Subject<'t> {
    pub(super) table: &'t Table,
    pub(super) refits: Result<Refits, FitError>,
}

/// All values that the medians allow; `None` where they allow none, because the case that the claim names cannot be the
/// one at which the extreme is taken.
pub(super) type Answer = Result<Option<Interval>, Refusal>;

/// A quantity.
#[derive(Debug)]
pub(super) struct Kind {
    /// The name in `claims.json`.
    pub(super) name: &'static str,
    /// Its unit.
    pub(super) unit: &'static str,
    /// Arguments that it needs.
    pub(super) required: &'static [&'static str],
    /// Arguments that it can have.
    optional: &'static [&'static str],
    /// Its values.
    pub(super) evaluate: fn(&Subject<'_>, &Arguments) -> Answer,
}

impl Kind {
    /// Whether it has the argument.
    pub(super) fn takes(&self, argument: &str) -> bool {
        self.required.contains(&argument) || self.optional.contains(&argument)
    }

    /// Whether it counts, so that its number has no fraction and is not rounded.
    pub(super) fn is_count(&self) -> bool {
        self.unit == COUNT
    }
}

/// The quantity of that name.
pub(super) fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

const COUNT: &str = "count";

/// Arguments of a quantity that each case has one of: a case, or the extreme over some or all.
const OF_CASES: &[&str] = &["case", "cases", "over", "policy"];
const OF_OBSERVATIONS: &[&str] = &["case", "schedule", "over"];

#[rustfmt::skip]
static KINDS: [Kind; 16] = [
    Kind { name: "cases", unit: COUNT, required: &[], optional: &[], evaluate: cases },
    Kind { name: "geometries", unit: COUNT, required: &[], optional: &[], evaluate: geometries },
    Kind { name: "observations", unit: COUNT, required: &[], optional: &[], evaluate: observations },
    Kind { name: "medians-present", unit: COUNT, required: &["cohort"], optional: &[], evaluate: present },
    Kind { name: "medians-missing", unit: COUNT, required: &["cohort"], optional: &[], evaluate: missing },
    Kind { name: "selections", unit: COUNT, required: &["schedule", "policy"], optional: &["cases"], evaluate: selections },
    Kind { name: "selection-matches", unit: COUNT, required: &["policy"], optional: &["cases"], evaluate: matches },
    Kind { name: "selected-regressions", unit: COUNT, required: &["policy"], optional: &["cases"], evaluate: regressions },
    Kind { name: "slower", unit: COUNT, required: &["cohort", "reference"], optional: &["cases", "policy"], evaluate: slower },
    Kind { name: "median", unit: "us", required: &["cohort"], optional: OF_CASES, evaluate: median },
    Kind { name: "change", unit: "%", required: &["cohort", "reference"], optional: OF_CASES, evaluate: change },
    Kind { name: "saving", unit: "%", required: &["cohort", "reference"], optional: OF_CASES, evaluate: saving },
    Kind { name: "policy-geomean", unit: "ratio", required: &["policy"], optional: &[], evaluate: geomean },
    Kind { name: "coefficient", unit: "us", required: &["coefficient"], optional: &[], evaluate: coefficient },
    Kind { name: "fold-relative-residual", unit: "%", required: &[], optional: OF_OBSERVATIONS, evaluate: relative_residual },
    Kind { name: "fold-absolute-residual", unit: "us", required: &[], optional: OF_OBSERVATIONS, evaluate: absolute_residual },
];

const ONE: Interval = Interval::point(1.0);

fn count(number: usize) -> Answer {
    Ok(Some(Interval::point(number as f64)))
}

fn cases(subject: &Subject<'_>, _: &Arguments) -> Answer {
    count(subject.table.rows.len())
}

fn geometries(subject: &Subject<'_>, _: &Arguments) -> Answer {
    let mut geometries: Vec<_> = subject.table.rows.iter().map(|row| row.geometry).collect();
    geometries.sort();
    geometries.dedup();
    count(geometries.len())
}

fn observations(subject: &Subject<'_>, _: &Arguments) -> Answer {
    count(subject.table.rows.len() * Schedule::ALL.len())
}

fn present(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    let column = arguments.column()?;
    count(subject.table.rows.iter().filter(|row| row.printed(column).is_some()).count())
}

fn missing(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    let column = arguments.column()?;
    count(subject.table.rows.iter().filter(|row| row.printed(column).is_none()).count())
}

/// Counts cases: at least those for which something is certain, at most those for which it is possible.
fn tally(
    subject: &Subject<'_>,
    arguments: &Arguments,
    judge: impl Fn(usize, &Row) -> Result<(bool, bool), Refusal>,
) -> Answer {
    let (mut certain, mut possible) = (0_u32, 0_u32);
    for (case, row) in subject.chosen(arguments)? {
        let (is_certain, is_possible) = judge(case, row)?;
        certain += u32::from(is_certain);
        possible += u32::from(is_possible);
    }
    Ok(Some(Interval { low: certain.into(), high: possible.into() }))
}

fn selections(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    let refits = subject.refits("policy")?;
    let (schedule, policy) = (arguments.schedule()?, arguments.policy()?);
    tally(subject, arguments, |case, _| {
        let selections = refits.selections(policy, case);
        Ok((selections == [schedule], selections.contains(&schedule)))
    })
}

fn matches(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    let refits = subject.refits("policy")?;
    let policy = arguments.policy()?;
    tally(subject, arguments, |case, row| {
        let selections = refits.selections(policy, case);
        Ok((selections == [row.selection], selections.contains(&row.selection)))
    })
}

fn regressions(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    let policy = Some(arguments.policy()?);
    tally(subject, arguments, |case, row| {
        let ratios = subject.ratios(case, row, Cohort::Selected, Column::Native(Schedule::Default), policy)?;
        Ok(above_one(&ratios))
    })
}

fn slower(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    let (cohort, reference) = (arguments.cohort()?, arguments.reference()?);
    tally(subject, arguments, |case, row| {
        Ok(above_one(&subject.ratios(case, row, cohort, reference, arguments.policy)?))
    })
}

/// Whether a ratio is above one, certainly and possibly. Without a ratio it is not.
fn above_one(ratios: &[Interval]) -> (bool, bool) {
    let certain = !ratios.is_empty() && ratios.iter().all(|ratio| ratio.low > 1.0);
    (certain, ratios.iter().any(|ratio| ratio.high > 1.0))
}

fn median(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    let cohort = arguments.cohort()?;
    extreme(subject, arguments, "cohort", |case, row| {
        let columns = subject.columns(case, cohort, arguments.policy)?;
        Ok(columns.into_iter().filter_map(|column| row.median(column)).reduce(Interval::hull))
    })
}

fn change(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    relative(subject, arguments, |ratio| ratio - ONE)
}

fn saving(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    relative(subject, arguments, |ratio| ONE - ratio)
}

fn relative(subject: &Subject<'_>, arguments: &Arguments, of_ratio: fn(Interval) -> Interval) -> Answer {
    let (cohort, reference) = (arguments.cohort()?, arguments.reference()?);
    extreme(subject, arguments, "cohort", |case, row| {
        let ratios = subject.ratios(case, row, cohort, reference, arguments.policy)?;
        Ok(ratios.into_iter().map(|ratio| of_ratio(ratio).times(100.0)).reduce(Interval::hull))
    })
}

/// exp of the mean over geometries of the mean over a geometry's cases of ln(selected / default).
fn geomean(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    let refits = subject.refits("policy")?;
    let policy = Some(arguments.policy()?);
    let mut groups = std::collections::BTreeMap::<&str, (Interval, u32)>::new();
    for ((case, row), group) in subject.table.rows.iter().enumerate().zip(&refits.groups) {
        let ratios = subject.ratios(case, row, Cohort::Selected, Column::Native(Schedule::Default), policy)?;
        if let Some(logarithm) = ratios.into_iter().map(Interval::ln).reduce(Interval::hull) {
            let (sum, cases) = groups.entry(group).or_insert((Interval::point(0.0), 0));
            *sum = *sum + logarithm;
            *cases += 1;
        }
    }
    let mean = |sum: Interval, number: u32| sum.over(Interval::point(number.into()));
    let means = groups.values().map(|&(sum, cases)| mean(sum, cases)).reduce(|left, right| left + right);
    Ok(means.map(|sum| mean(sum, groups.len() as u32).exp()))
}

fn coefficient(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    Ok(Some(subject.refits("coefficient")?.full.coefficient(arguments.coefficient()?)))
}

fn relative_residual(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    residual(subject, arguments, |predicted, observed| (predicted.over(observed) - ONE).times(100.0))
}

fn absolute_residual(subject: &Subject<'_>, arguments: &Arguments) -> Answer {
    residual(subject, arguments, |predicted, observed| (predicted - observed).magnitude())
}

/// Of predictions by the fit without the case's geometry. No median enters both sides, so that the two vary freely.
fn residual(subject: &Subject<'_>, arguments: &Arguments, of: fn(Interval, Interval) -> Interval) -> Answer {
    let refits = subject.refits("quantity")?;
    let of = |case: usize, row: &Row, schedule: Schedule| {
        of(refits.held_predicted[case][schedule as usize], row.native[schedule as usize].rounding())
    };
    let named = arguments.case.as_ref().map(|label| lookup(subject.table, "case", label)).transpose()?;
    let mut all = Vec::new();
    let mut those_named = Vec::new();
    for (case, row) in subject.table.rows.iter().enumerate() {
        for schedule in Schedule::ALL {
            let residual = of(case, row, schedule);
            all.push(residual);
            if named.is_some_and(|named| named == case) && arguments.schedule.is_none_or(|wanted| wanted == schedule) {
                those_named.push(residual);
            }
        }
    }
    let Some(over) = arguments.over else {
        // One observation, or the claim would not say which.
        named.ok_or_else(|| Refusal::new("case", "a case, or over", "neither"))?;
        arguments.schedule()?;
        return Ok(those_named.first().copied());
    };
    Ok(over.of(all).and_then(|extreme| at(extreme, over, named.map(|_| those_named))))
}

/// A quantity of one case, or its extreme over the chosen ones; where a case is named as well, the extreme is claimed to
/// be that case's.
fn extreme(
    subject: &Subject<'_>,
    arguments: &Arguments,
    argument: &'static str,
    of: impl Fn(usize, &Row) -> Result<Option<Interval>, Refusal>,
) -> Answer {
    let missing = || Refusal::new(argument, "a median in the table", "missing");
    let named = match &arguments.case {
        None => None,
        Some(label) => {
            let case = lookup(subject.table, "case", label)?;
            Some(of(case, &subject.table.rows[case])?.ok_or_else(missing)?)
        }
    };
    let Some(over) = arguments.over else {
        return named.map(Some).ok_or_else(|| Refusal::new("over", "smallest or largest, or a case", "neither"));
    };
    let mut items = Vec::new();
    for (case, row) in subject.chosen(arguments)? {
        items.extend(of(case, row)?);
    }
    let extreme = over.of(items).ok_or_else(missing)?;
    Ok(at(extreme, over, named.map(|named| vec![named])))
}

/// The extreme, if it can be that of the items named; they are among those it was taken over.
fn at(extreme: Interval, over: Over, named: Option<Vec<Interval>>) -> Option<Interval> {
    match named {
        None => Some(extreme),
        Some(named) => over.of(named)?.intersection(extreme),
    }
}

impl Subject<'_> {
    fn refits(&self, argument: &'static str) -> Result<&Refits, Refusal> {
        self.refits.as_ref().map_err(|error| Refusal::new(argument, "medians that can be fitted", &error.to_string()))
    }

    /// The cases that the arguments choose; all where they choose none.
    fn chosen(&self, arguments: &Arguments) -> Result<Vec<(usize, &Row)>, Refusal> {
        match &arguments.cases {
            None => Ok(self.table.rows.iter().enumerate().collect()),
            Some(labels) => {
                let row = |label| lookup(self.table, "cases", label).map(|case| (case, &self.table.rows[case]));
                labels.iter().map(row).collect()
            }
        }
    }

    /// The columns that a cohort may stand for.
    fn columns(&self, case: usize, cohort: Cohort, policy: Option<Policy>) -> Result<Vec<Column>, Refusal> {
        match cohort {
            Cohort::Column(column) => Ok(vec![column]),
            Cohort::Selected => {
                let policy = policy.ok_or_else(|| Refusal::new("policy", "the policy that selects", "nothing"))?;
                let selections = self.refits("policy")?.selections(policy, case);
                Ok(selections.iter().copied().map(Column::Native).collect())
            }
        }
    }

    /// Median over reference, for every column that the cohort may stand for; a median over itself is exactly one.
    fn ratios(
        &self,
        case: usize,
        row: &Row,
        cohort: Cohort,
        reference: Column,
        policy: Option<Policy>,
    ) -> Result<Vec<Interval>, Refusal> {
        let ratio = |column: Column| {
            let (median, reference_median) = (row.median(column)?, row.median(reference)?);
            Some(if column == reference { ONE } else { median.over(reference_median) })
        };
        Ok(self.columns(case, cohort, policy)?.into_iter().filter_map(ratio).collect())
    }
}
