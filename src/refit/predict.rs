//! A frozen model applied to a package's cases: what it would have selected, and what the package's medians say of that.
//!
//! Nothing is fitted. Features are counted with the model's own number of multiprocessors, also where the package's device
//! has another: the coefficients were fitted to features that were counted so, and a count from elsewhere would be another
//! model that nobody published.

use std::collections::{BTreeMap, BTreeSet};

use super::{CaseDecision, FrozenModel, Observation, Outcomes, RefitError, Residual};
use super::{is_trainable, observations, outcomes};
use crate::fit::metrics::{Metrics, grouped_geomean};
use crate::fit::{FitError, Schedule, median};
use crate::package::partition::Validation;

/// Which part of a computation an error is about.
const WHAT: &str = "the frozen model";

/// A frozen model's predictions and decisions for a package, and how they turned out.
#[derive(Debug)]
pub struct Prediction<'v, 'd> {
    /// Cases in the package's order, then default, rows1, rows2; features with the model's number of multiprocessors.
    pub observations: Vec<Observation<'v, 'd>>,
    /// One for each case, sorted by case id.
    pub cases: Vec<CaseOutcome>,
    /// One for each geometry, sorted by key.
    pub geometries: Vec<GeometryOutcome>,
    /// Over all cases.
    pub all: Summary,
    /// Over the cases whose geometries the model was not fitted on; `None` where there is no such case.
    pub held_out: Option<Summary>,
    /// Median over the cases of predicted over observed, less one, in the order of [`Schedule::ALL`].
    pub median_relative_errors: [f64; 3],
    /// Ids of the cases without a decision, as a native run of them failed; sorted.
    pub left_out: Vec<String>,
}

/// One case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseOutcome {
    /// The decision with its scores, and the observed medians over the default's.
    pub decision: CaseDecision,
    /// Predicted and observed in microseconds per operation, in the order of [`Schedule::ALL`].
    pub residuals: [Residual; 3],
    /// The schedule with the smallest observed median, the earlier of equals. It is chosen with hindsight, from the medians
    /// that it is judged by, so that no policy can be expected to reach it.
    pub best: Schedule,
    /// Observed median of that schedule over the default's; at most 1.
    pub best_ratio: f64,
    /// How much slower the selected schedule is than the best: their ratio less one, 0 where it is the best.
    pub lost: f64,
    /// Whether the model was fitted on this geometry.
    pub is_trained_on: bool,
}

/// One geometry.
#[derive(Debug, Clone, PartialEq)]
pub struct GeometryOutcome {
    /// Its key `[R,N,B,W]`.
    pub group: String,
    /// Its cases.
    pub cases: usize,
    /// Whether the model was fitted on it.
    pub is_trained_on: bool,
    /// Geometric mean of its cases' observed policy/default ratios.
    pub policy_geomean: f64,
    /// The same for the best schedules.
    pub best_geomean: f64,
}

/// Figures over a set of cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Metrics of the policy.
    pub metrics: Metrics,
    /// The geometric mean of the best schedules' ratios, each geometry counting once.
    pub best_geomean: f64,
}

/// Applies `model` to the cases of a package.
///
/// # Errors
/// An id of several cases, cohorts without all three schedules, a case without one of its medians, a median that is no
/// duration, a score that is not finite and positive, or no case at all.
pub fn predict<'v, 'd>(model: &FrozenModel, validation: &'v Validation<'d>) -> Result<Prediction<'v, 'd>, RefitError> {
    unrepeated(validation)?;
    let observations = observations(validation, model.processor_reference)?;
    for observation in &observations {
        let median = observation.measured_us;
        if !is_duration(median) {
            let (case, cohort) = (observation.record.case.id.to_owned(), observation.schedule.name());
            return Err(RefitError::NoDuration { case, cohort, median });
        }
    }
    let evaluated: Vec<usize> = (0..observations.len()).collect();
    let Outcomes { residuals, decisions, metrics } = outcomes(&observations, &model.coefficients, &evaluated, WHAT)?;
    let mut by_case: BTreeMap<&str, Vec<Residual>> = BTreeMap::new();
    for residual in &residuals {
        by_case.entry(observations[residual.observation].record.case.id).or_default().push(*residual);
    }
    let cases = decisions
        .into_iter()
        .filter_map(|decision| {
            let residuals = by_case.remove(decision.case_id.as_str())?;
            Some((decision, <[Residual; 3]>::try_from(residuals).ok()?))
        })
        .enumerate()
        .map(|(at, (decision, residuals))| case_outcome(at, decision, residuals, model))
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    let held: Vec<&CaseOutcome> = cases.iter().filter(|case| !case.is_trained_on).collect();
    let held_out = if held.is_empty() {
        None
    } else {
        let metrics = super::metrics(held.iter().map(|case| &case.decision), WHAT)?;
        Some(Summary { metrics, best_geomean: best_geomean(held.iter().copied()).map_err(failed)? })
    };
    let error_of = |schedule: Schedule| {
        let errors: Vec<f64> = cases.iter().map(|case| case.residuals[schedule as usize].relative_error()).collect();
        median(&errors).ok_or(FitError::NoRows)
    };
    let [default, rows1, rows2] = Schedule::ALL.map(error_of);
    let median_relative_errors = [default.map_err(failed)?, rows1.map_err(failed)?, rows2.map_err(failed)?];
    let left_out = validation.cases.iter().filter(|record| !is_trainable(record));
    let mut left_out: Vec<String> = left_out.map(|record| record.case.id.to_owned()).collect();
    left_out.sort();
    Ok(Prediction {
        geometries: geometries(&cases).map_err(failed)?,
        all: Summary { metrics, best_geomean: best_geomean(&cases).map_err(failed)? },
        observations,
        cases,
        held_out,
        median_relative_errors,
        left_out,
    })
}

impl Prediction<'_, '_> {
    /// The cases in which a selected schedule ran slower than the default, the worst first.
    pub fn regressions(&self) -> Vec<&CaseOutcome> {
        let mut regressions: Vec<_> = self.cases.iter().filter(|case| case.decision.is_regression()).collect();
        let ratio = |case: &CaseOutcome| case.decision.observed_policy_ratio();
        regressions.sort_by(|left, right| ratio(right).total_cmp(&ratio(left)));
        regressions
    }

    /// Keys of the package's geometries that the model was fitted on, sorted; their cases are not held out.
    pub fn shared_geometries(&self) -> Vec<&str> {
        self.geometries.iter().filter(|one| one.is_trained_on).map(|one| one.group.as_str()).collect()
    }
}

fn failed(source: FitError) -> RefitError {
    RefitError::Fit { what: WHAT.to_owned(), source }
}

fn is_duration(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// A case's decision is found by its id, so that one id must not stand for two.
fn unrepeated(validation: &Validation<'_>) -> Result<(), RefitError> {
    let mut seen = BTreeSet::new();
    match validation.cases.iter().find(|record| !seen.insert(record.case.id)) {
        Some(record) => Err(RefitError::RepeatedCase { case: record.case.id.to_owned() }),
        None => Ok(()),
    }
}

/// `at` is the case's number in errors.
fn case_outcome(
    at: usize,
    decision: CaseDecision,
    residuals: [Residual; 3],
    model: &FrozenModel,
) -> Result<CaseOutcome, FitError> {
    // Medians may be durations and be too far apart for their quotient to be one.
    let quotients = residuals.iter().map(|residual| residual.relative_error() + 1.0);
    for ratio in decision.observed_ratios.into_iter().chain(quotients) {
        if !(ratio.is_finite() && ratio >= 0.0) {
            return Err(FitError::Ratio { case: at, ratio });
        }
    }
    let mut best = (Schedule::Default, decision.observed_ratios[0]);
    for (schedule, ratio) in Schedule::ALL.into_iter().zip(decision.observed_ratios) {
        if ratio < best.1 {
            best = (schedule, ratio);
        }
    }
    let (best, best_ratio) = best;
    let lost = decision.observed_policy_ratio() / best_ratio - 1.0;
    if !(best_ratio > 0.0 && lost.is_finite()) {
        return Err(FitError::Ratio { case: at, ratio: best_ratio });
    }
    let is_trained_on = model.is_trained_on(&decision.group);
    Ok(CaseOutcome { decision, residuals, best, best_ratio, lost, is_trained_on })
}

fn best_geomean<'c>(cases: impl IntoIterator<Item = &'c CaseOutcome>) -> Result<f64, FitError> {
    let items = cases.into_iter().map(|case| (case.decision.group.as_str(), case.best_ratio));
    grouped_geomean(items).map(|(_, geomean)| geomean)
}

fn geometries(cases: &[CaseOutcome]) -> Result<Vec<GeometryOutcome>, FitError> {
    let mut groups: BTreeMap<&str, Vec<&CaseOutcome>> = BTreeMap::new();
    for case in cases {
        groups.entry(&case.decision.group).or_default().push(case);
    }
    groups
        .into_iter()
        .map(|(group, cases)| {
            let policy = cases.iter().map(|case| (group, case.decision.observed_policy_ratio()));
            let (_, policy_geomean) = grouped_geomean(policy)?;
            Ok(GeometryOutcome {
                group: group.to_owned(),
                cases: cases.len(),
                is_trained_on: cases.iter().any(|case| case.is_trained_on),
                policy_geomean,
                best_geomean: best_geomean(cases)?,
            })
        })
        .collect()
}
