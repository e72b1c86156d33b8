//! Medians of the same run in two packages: their ratios, with intervals from the raw samples.

use std::collections::{BTreeMap, BTreeSet};

use super::ComparisonError;
use super::cases::Pair;
use crate::fit::median;
use crate::fit::metrics::grouped_geomean;
use crate::fit::spread::{Change, RatioInterval};
use crate::package::partition::{CaseRecord, DEFAULT, RECHECK, Route, Timing};

/// One cohort and route, over the common cases.
#[derive(Debug, Clone, PartialEq)]
pub struct CohortComparison {
    /// Name of the cohort; `independent_retest` for a later retry.
    pub cohort: String,
    /// The route.
    pub route: Route,
    /// The cases that were timed in both packages, in OLD's order.
    pub rows: Vec<MedianRow>,
    /// Ids of the common cases that were timed in OLD alone.
    pub only_old: Vec<String>,
    /// Ids of the common cases that were timed in NEW alone.
    pub only_new: Vec<String>,
    /// Ids of the cases whose samples are not all finite and positive, so that they have no ratio.
    pub unusable: Vec<String>,
    /// Geometric mean of new/old, each geometry counting once; `None` without rows.
    pub geomean: Option<f64>,
}

/// One case of one cohort and route in both packages. Times are in microseconds per operation.
#[derive(Debug, Clone, PartialEq)]
pub struct MedianRow {
    /// The case.
    pub case_id: String,
    /// Key of its geometry.
    pub group: String,
    /// Number of samples, old and new.
    pub samples: [usize; 2],
    /// Medians of the samples, old and new.
    pub medians: [f64; 2],
    /// New median over old median, with its interval.
    pub interval: RatioInterval,
}

impl CohortComparison {
    /// How many rows changed in this way.
    pub fn count(&self, change: Change) -> usize {
        self.rows.iter().filter(|row| row.interval.change() == change).count()
    }
}

/// Compares all runs of the common cases; cohorts in the order in which they first stand in OLD, then in NEW.
///
/// # Errors
/// Ratios whose geometric mean is out of range.
pub(super) fn compare(pairs: &[Pair<'_, '_>], level: f64) -> Result<Vec<CohortComparison>, ComparisonError> {
    let mut found: Vec<CohortComparison> = Vec::new();
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for record in pairs.iter().map(|(old, _)| old).chain(pairs.iter().map(|(_, new)| new)) {
        for (cohort, route, _) in timed(record) {
            places.entry((cohort, route.name())).or_insert_with(|| {
                found.push(CohortComparison {
                    cohort: cohort.to_owned(),
                    route,
                    rows: Vec::new(),
                    only_old: Vec::new(),
                    only_new: Vec::new(),
                    unusable: Vec::new(),
                    geomean: None,
                });
                found.len() - 1
            });
        }
    }
    for (old, new) in pairs {
        let (olds, news) = (by_run(old), by_run(new));
        let id = || old.case.id.to_owned();
        let keys: BTreeSet<_> = olds.keys().chain(news.keys()).copied().collect();
        for key in keys {
            let Some(one) = places.get(&key).and_then(|&at| found.get_mut(at)) else { continue };
            match (olds.get(&key), news.get(&key)) {
                (Some(old_timing), Some(new_timing)) => match row(old, old_timing, new_timing, level) {
                    Some(row) => one.rows.push(row),
                    None => one.unusable.push(id()),
                },
                (Some(_), None) => one.only_old.push(id()),
                (None, _) => one.only_new.push(id()),
            }
        }
    }
    for one in &mut found {
        if !one.rows.is_empty() {
            let ratios = one.rows.iter().map(|row| (row.group.as_str(), row.interval.ratio));
            let what = || format!("{}, {}", one.cohort, one.route.name());
            let mean = grouped_geomean(ratios).map_err(|source| ComparisonError::Mean { what: what(), source })?;
            one.geomean = Some(mean.1);
        }
    }
    Ok(found)
}

/// The largest relative difference between the native medians of default and recheck, two processes that ran the same
/// schedule; `None` where no case has both.
pub(super) fn recheck_drift<'r, 'd: 'r>(records: impl Iterator<Item = &'r CaseRecord<'d>>) -> Option<f64> {
    let drift = |record: &CaseRecord<'d>| {
        let drift = (record.native_median(RECHECK)? / record.native_median(DEFAULT)? - 1.0).abs();
        drift.is_finite().then_some(drift)
    };
    records.filter_map(drift).reduce(f64::max)
}

/// The timed runs of a case: native runs of all cohorts, then those of Torch.
fn timed<'r, 'd>(record: &'r CaseRecord<'d>) -> impl Iterator<Item = (&'d str, Route, &'r Timing<'d>)> {
    Route::ALL.into_iter().flat_map(move |wanted| {
        record.runs.iter().flat_map(move |run| {
            let routes = run.routes().into_iter().filter(move |(route, _)| *route == wanted);
            routes.filter_map(|(route, at)| Some((run.cohort, route, at.timing.as_ref()?)))
        })
    })
}

fn by_run<'r, 'd>(record: &'r CaseRecord<'d>) -> BTreeMap<(&'d str, &'static str), &'r Timing<'d>> {
    timed(record).map(|(cohort, route, timing)| ((cohort, route.name()), timing)).collect()
}

fn row(record: &CaseRecord<'_>, old: &Timing<'_>, new: &Timing<'_>, level: f64) -> Option<MedianRow> {
    let (old, new): (Vec<f64>, Vec<f64>) = (old.samples.numbers().collect(), new.samples.numbers().collect());
    Some(MedianRow {
        case_id: record.case.id.to_owned(),
        group: record.case.geometry.key(),
        samples: [old.len(), new.len()],
        medians: [median(&old)?, median(&new)?],
        interval: RatioInterval::of(&old, &new, level)?,
    })
}
