//! The arguments of a claim's quantity, read once for all quantities.

use super::claim::Malformed;
use super::quantities::Kind;
use super::refits::Policy;
use super::table::{Column, Table};
use crate::fit::{Interval, Schedule};
use crate::package::json::Json;
use crate::package::partition::CaseLabel;

/// All arguments.
pub(super) const ARGUMENTS: [&str; 8] =
    ["case", "cases", "cohort", "reference", "over", "policy", "schedule", "coefficient"];

/// The features' coefficients, in their order.
const COEFFICIENTS: [&str; 3] = ["a0", "aP", "aD"];

/// A column, or whichever the policy selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cohort {
    /// A column of the table.
    Column(Column),
    /// The selected schedule's column.
    Selected,
}

/// Which of several values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The smallest.
    Smallest,
    /// The largest.
    Largest,
}

impl Over {
    /// That of the items.
    pub(super) fn of(self, items: Vec<Interval>) -> Option<Interval> {
        match self {
            Over::Smallest => Interval::smallest(items),
            Over::Largest => Interval::largest(items),
        }
    }
}

/// An argument that does not fit the table or the quantity.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) argument: &'static str,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Refusal {
    pub(super) fn new(argument: &'static str, expected: &str, found: &str) -> Self {
        Self { argument, expected: expected.to_owned(), found: found.to_owned() }
    }
}

/// What a quantity is of. Each accessor refuses where the argument is absent.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) case: Option<CaseLabel>,
    pub(super) cases: Option<Vec<CaseLabel>>,
    pub(super) over: Option<Over>,
    pub(super) policy: Option<Policy>,
    pub(super) schedule: Option<Schedule>,
    cohort: Option<Cohort>,
    reference: Option<Column>,
    coefficient: Option<usize>,
}

impl Arguments {
    /// Reads the arguments of `entry` for its quantity.
    ///
    /// # Errors
    /// One that is absent but needed, or that is not what it must be.
    pub(super) fn read<'d>(entry: &'d Json, kind: &Kind) -> Result<Self, Malformed<'d>> {
        if let Some(name) = kind.required.iter().find(|name| entry.get(name).is_none()) {
            return Err(Malformed::new(entry, format!("the member {name}"), "nothing"));
        }
        let cohort = |name: &str| match name {
            "selected" => Some(Cohort::Selected),
            _ => Column::from_name(name).map(Cohort::Column),
        };
        let over = |name: &str| match name {
            "smallest" => Some(Over::Smallest),
            "largest" => Some(Over::Largest),
            _ => None,
        };
        let arguments = Self {
            case: choice(entry, "case", "a case such as reduce_sum 17x1024 fp16 B4", CaseLabel::parse)?,
            cases: entry.get("cases").map(labels).transpose()?,
            over: choice(entry, "over", "smallest or largest", over)?,
            policy: choice(entry, "policy", "full-fit or leave-one-geometry-out", Policy::from_name)?,
            schedule: choice(entry, "schedule", "default, rows1 or rows2", Schedule::from_name)?,
            cohort: choice(entry, "cohort", "a column of medians, or selected", cohort)?,
            reference: choice(entry, "reference", "a column of medians", Column::from_name)?,
            coefficient: choice(entry, "coefficient", "a0, aP or aD", |name| {
                COEFFICIENTS.iter().position(|coefficient| *coefficient == name)
            })?,
        };
        match arguments.unused(kind) {
            None => Ok(arguments),
            Some((name, expected)) => Err(Malformed::new(entry.get(name).unwrap_or(entry), expected, name)),
        }
    }

    /// An argument that nothing would come of beside the others; a reader would take it for checked.
    fn unused(&self, kind: &Kind) -> Option<(&'static str, &'static str)> {
        let selects = kind.required.contains(&"policy") || self.cohort == Some(Cohort::Selected);
        let has_extreme = kind.takes("over");
        if self.policy.is_some() && !selects {
            Some(("policy", "the cohort selected beside it"))
        } else if self.cases.is_some() && has_extreme && self.over.is_none() {
            Some(("cases", "over beside it"))
        } else if self.schedule.is_some() && has_extreme && self.case.is_none() {
            Some(("schedule", "a case beside it"))
        } else if let (Some(case), Some(cases)) = (&self.case, &self.cases)
            && !cases.contains(case)
        {
            Some(("case", "one of the cases"))
        } else {
            None
        }
    }

    pub(super) fn cohort(&self) -> Result<Cohort, Refusal> {
        self.cohort.ok_or_else(|| absent("cohort"))
    }

    /// The cohort, which must be a column.
    pub(super) fn column(&self) -> Result<Column, Refusal> {
        match self.cohort()? {
            Cohort::Column(column) => Ok(column),
            Cohort::Selected => Err(Refusal::new("cohort", "a column of medians", "selected")),
        }
    }

    pub(super) fn reference(&self) -> Result<Column, Refusal> {
        self.reference.ok_or_else(|| absent("reference"))
    }

    pub(super) fn policy(&self) -> Result<Policy, Refusal> {
        self.policy.ok_or_else(|| absent("policy"))
    }

    pub(super) fn schedule(&self) -> Result<Schedule, Refusal> {
        self.schedule.ok_or_else(|| absent("schedule"))
    }

    pub(super) fn coefficient(&self) -> Result<usize, Refusal> {
        self.coefficient.ok_or_else(|| absent("coefficient"))
    }
}

/// The row of a case that the argument names.
pub(super) fn lookup(table: &Table, argument: &'static str, label: &CaseLabel) -> Result<usize, Refusal> {
    table.find(*label).ok_or_else(|| Refusal::new(argument, "a case of the table", &label.to_string()))
}

fn absent(argument: &'static str) -> Refusal {
    Refusal::new(argument, "a value", "nothing")
}

fn choice<'d, T>(
    entry: &'d Json,
    name: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Malformed<'d>> {
    entry.get(name).map(|value| chosen(value, expected, read)).transpose()
}

fn chosen<'d, T>(value: &'d Json, expected: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Malformed<'d>> {
    value.as_str().and_then(read).ok_or_else(|| Malformed::new(value, expected, value.as_str().unwrap_or(value.kind())))
}

fn labels(value: &Json) -> Result<Vec<CaseLabel>, Malformed<'_>> {
    let items = value.as_array().filter(|items| !items.is_empty());
    let items = items.ok_or_else(|| Malformed::new(value, "an array of cases", value.kind()))?;
    let mut labels: Vec<CaseLabel> = Vec::new();
    for item in items {
        let label = chosen(item, "a case such as reduce_sum 17x1024 fp16 B4", CaseLabel::parse)?;
        // A case named twice would be counted twice.
        if labels.contains(&label) {
            return Err(Malformed::new(item, "each case once", label.to_string()));
        }
        labels.push(label);
    }
    Ok(labels)
}
