//! The training set: one observation for each case and schedule.

use super::RefitError;
use crate::fit::{Facts, Schedule};
use crate::package::partition::{CaseRecord, Run, Timing, Validation};

/// One training observation with the records it comes from.
#[derive(Debug, Clone)]
pub struct Observation<'v, 'd> {
    /// The case.
    pub record: &'v CaseRecord<'d>,
    /// The run of the schedule's cohort.
    pub run: &'v Run<'d>,
    /// Its native times.
    pub timing: &'v Timing<'d>,
    /// The schedule.
    pub schedule: Schedule,
    /// Canonical key of the geometry.
    pub group: String,
    /// What follows from geometry and schedule.
    pub facts: Facts,
    /// Constant, programs, logical batches times collective volume.
    pub features: [f64; 3],
    /// The native median, microseconds per operation.
    pub measured_us: f64,
}

impl Observation<'_, '_> {
    /// `CASE:SCHEDULE`.
    pub fn record_id(&self) -> String {
        format!("{}:{}", self.record.case.id, self.schedule.name())
    }
}

/// Whether a case can be trained on: no native run that the fit needs is recorded as failed. What failed stays failed, and
/// has no time to fit.
pub fn is_trainable(record: &CaseRecord<'_>) -> bool {
    Schedule::ALL.into_iter().all(|schedule| {
        record.run(schedule.name()).is_none_or(|run| run.native.timing.is_some() || !run.native.has_failed())
    })
}

/// The observations in the order of the cases, then default, rows1, rows2. Cases with a failed native run are left out.
///
/// # Errors
/// Cohorts without all three schedules, a case without one of the three medians, or a geometry that no feature can be computed for.
pub fn observations<'v, 'd>(
    validation: &'v Validation<'d>,
    sm_count: u64,
) -> Result<Vec<Observation<'v, 'd>>, RefitError> {
    let has = |schedule: Schedule| validation.cohorts.iter().any(|cohort| cohort.name == schedule.name());
    if !Schedule::ALL.into_iter().all(has) {
        let names: Vec<_> = validation.cohorts.iter().map(|cohort| cohort.name).collect();
        return Err(RefitError::Cohorts { found: names.join(", ") });
    }
    let schedules = |record: &'v CaseRecord<'d>| Schedule::ALL.into_iter().map(move |schedule| (record, schedule));
    validation
        .cases
        .iter()
        .filter(|record| is_trainable(record))
        .flat_map(schedules)
        .map(|(record, schedule)| {
            let case = &record.case;
            let missing = || RefitError::MissingRun { case: case.id.to_owned(), cohort: schedule.name() };
            let run = record.run(schedule.name()).ok_or_else(missing)?;
            let timing = run.native.timing.as_ref().ok_or_else(missing)?;
            let facts = Facts::of(case.geometry, schedule, case.storage.bytes(), sm_count)
                .map_err(|source| RefitError::Fit { what: format!("case {}", case.id), source })?;
            Ok(Observation {
                record,
                run,
                timing,
                schedule,
                group: case.geometry.key(),
                facts,
                features: facts.features(),
                measured_us: timing.p50,
            })
        })
        .collect()
}
