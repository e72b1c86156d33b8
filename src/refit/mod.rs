//! A partition package's model, fitted again from its runs alone.
//!
//! Observations are rebuilt from `validation.json` and the device's processor count; the fit, the folds and the policy are
//! those of [`crate::fit`]. [`document`] writes the result in the published schema. [`predict()`] applies a model that was
//! fitted elsewhere to a package, without fitting anything.

mod diff;
pub mod document;
mod exact;
mod frozen;
mod observations;
mod predict;

pub use diff::readable_diff;
pub use exact::{ExactModels, exact_models};
pub use frozen::{FrozenModel, ModelProblem};
pub use observations::{Observation, is_trainable, observations};
pub use predict::{CaseOutcome, GeometryOutcome, Prediction, Summary, predict};

use std::collections::BTreeMap;

use crate::fit::folds::leave_one_group_out;
use crate::fit::metrics::{FIVE_PERCENT_SLOWER, Metrics, PolicyOutcome};
use crate::fit::nnls::{self, Fit, Row};
use crate::fit::policy::{Decision, decide};
use crate::fit::{FitError, Schedule};

/// A schedule is selected when its predicted saving is more than this fraction; fixed by the published schema.
pub const IMPROVEMENT_FRACTION: f64 = 0.05;

/// Why a package's model cannot be fitted again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RefitError {
    /// The schedules of the model were not run.
    #[error("unsupported cohort set [{found}]: the model is fitted on default, rows1 and rows2")]
    Cohorts {
        /// The names of the cohorts.
        found: String,
    },
    /// A run that the fit needs has no native median.
    #[error("case {case} has no native median in cohort {cohort}; the fit needs all of default, rows1 and rows2")]
    MissingRun {
        /// The case.
        case: String,
        /// The cohort.
        cohort: &'static str,
    },
    /// A median that is no duration.
    #[error("case {case}: the native median of {cohort}, {median}, is not finite and positive")]
    NoDuration {
        /// The case.
        case: String,
        /// The cohort.
        cohort: &'static str,
        /// The median in microseconds per operation.
        median: f64,
    },
    /// One id for several cases.
    #[error("the case id {case} stands for more than one case")]
    RepeatedCase {
        /// The id.
        case: String,
    },
    /// The problem itself cannot be solved.
    #[error("{what}: {source}")]
    Fit {
        /// Which part of the model.
        what: String,
        /// Why.
        source: FitError,
    },
}

/// The model, fitted again.
#[derive(Debug)]
pub struct Refit<'v, 'd> {
    /// The training set: cases in order, then default, rows1, rows2.
    pub observations: Vec<Observation<'v, 'd>>,
    /// Keys of the geometries, sorted as text.
    pub groups: Vec<String>,
    /// The weight of each observation in every fit that it takes part in.
    pub weights: Vec<f64>,
    /// The fit over all observations.
    pub full: Evaluated,
    /// One for each geometry, in the order of `groups`.
    pub folds: Vec<FoldResult>,
    /// Metrics over the decisions of all folds.
    pub summary: Metrics,
}

/// A fit and how it does on some observations.
#[derive(Debug)]
pub struct Evaluated {
    /// The fit.
    pub fit: Fit,
    /// One for each evaluated observation.
    pub residuals: Vec<Residual>,
    /// One for each evaluated case, sorted by case id.
    pub decisions: Vec<CaseDecision>,
    /// Summary of the decisions.
    pub metrics: Metrics,
}

/// One fold: trained without a geometry, evaluated on it.
#[derive(Debug)]
pub struct FoldResult {
    /// Key of the geometry held out.
    pub held: String,
    /// The fit on all observations of other geometries, and its evaluation on the held one.
    pub evaluated: Evaluated,
}

/// Predicted against observed, microseconds per operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residual {
    /// Index of the observation.
    pub observation: usize,
    /// The model's prediction.
    pub predicted_us: f64,
    /// The measured median.
    pub observed_us: f64,
}

impl Residual {
    /// Predicted less observed.
    pub fn signed_error_us(&self) -> f64 {
        self.predicted_us - self.observed_us
    }

    /// Predicted over observed, less one.
    pub fn relative_error(&self) -> f64 {
        self.predicted_us / self.observed_us - 1.0
    }
}

/// What the policy decides for one case, and what the medians say of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseDecision {
    /// The case.
    pub case_id: String,
    /// Key of its geometry.
    pub group: String,
    /// The decision.
    pub decision: Decision,
    /// Observed medians over the default's, in the order of [`Schedule::ALL`].
    pub observed_ratios: [f64; 3],
}

impl CaseDecision {
    /// Observed median of the selected schedule over the default's.
    pub fn observed_policy_ratio(&self) -> f64 {
        self.observed_ratios[self.decision.selected as usize]
    }

    /// Whether another schedule than the default was selected and ran slower than it.
    pub fn is_regression(&self) -> bool {
        self.decision.selected != Schedule::Default && self.observed_policy_ratio() > 1.0
    }

    /// Whether it is a regression of more than five percent.
    pub fn is_regression_over_five_percent(&self) -> bool {
        self.is_regression() && self.observed_policy_ratio() > FIVE_PERCENT_SLOWER
    }
}

impl<'v, 'd> Refit<'v, 'd> {
    /// Fits everything again.
    ///
    /// # Errors
    /// An observation set that cannot be fitted, or predictions that no decision can be made from.
    pub fn new(observations: Vec<Observation<'v, 'd>>) -> Result<Self, RefitError> {
        let mut groups: Vec<_> = observations.iter().map(|observation| observation.group.clone()).collect();
        groups.sort();
        groups.dedup();
        let rows = rows(&observations, &groups);
        let order: Vec<usize> = (0..groups.len()).collect();
        let all: Vec<usize> = (0..rows.len()).collect();
        let (full, folds) = rayon::join(
            || nnls::fit(&rows).map_err(|source| RefitError::Fit { what: "the full fit".to_owned(), source }),
            || {
                leave_one_group_out(&rows, &order)
                    .map_err(|source| RefitError::Fit { what: "leave-one-geometry-out".to_owned(), source })
            },
        );
        let full = evaluate(&observations, full?, &all, "the full fit")?;
        let folds: Vec<FoldResult> = folds?
            .into_iter()
            .zip(&groups)
            .map(|(fold, held)| {
                let evaluated = evaluate(&observations, fold.fit, &fold.held_rows, &format!("fold {held}"))?;
                Ok(FoldResult { held: held.clone(), evaluated })
            })
            .collect::<Result<_, RefitError>>()?;
        let summary = metrics(folds.iter().flat_map(|fold| &fold.evaluated.decisions), "the folds' decisions")?;
        Ok(Self { observations, groups, weights: nnls::weights(&rows), full, folds, summary })
    }
}

/// The rows of a fit; a group's label is its place among the sorted keys.
fn rows(observations: &[Observation<'_, '_>], groups: &[String]) -> Vec<Row> {
    let rows = observations.iter().map(|observation| Row {
        group: groups.binary_search(&observation.group).unwrap_or(usize::MAX),
        features: observation.features.to_vec(),
        observed: observation.measured_us,
    });
    rows.collect()
}

fn evaluate(
    observations: &[Observation<'_, '_>],
    fit: Fit,
    evaluated: &[usize],
    what: &str,
) -> Result<Evaluated, RefitError> {
    let Outcomes { residuals, decisions, metrics } = outcomes(observations, &fit.coefficients, evaluated, what)?;
    Ok(Evaluated { fit, residuals, decisions, metrics })
}

/// What coefficients predict for some observations, decide for their cases, and how that turned out.
struct Outcomes {
    /// One for each observation.
    residuals: Vec<Residual>,
    /// One for each case, sorted by case id.
    decisions: Vec<CaseDecision>,
    /// Summary of the decisions.
    metrics: Metrics,
}

/// Applies coefficients to the observations whose indexes are in `evaluated`, whatever they were fitted on.
fn outcomes(
    observations: &[Observation<'_, '_>],
    coefficients: &[f64],
    evaluated: &[usize],
    what: &str,
) -> Result<Outcomes, RefitError> {
    let residuals: Vec<Residual> = evaluated
        .iter()
        .map(|&observation| Residual {
            observation,
            predicted_us: nnls::predict(coefficients, &observations[observation].features),
            observed_us: observations[observation].measured_us,
        })
        .collect();
    let mut by_case: BTreeMap<&str, [Option<&Residual>; 3]> = BTreeMap::new();
    for residual in &residuals {
        let observation = &observations[residual.observation];
        by_case.entry(observation.record.case.id).or_default()[observation.schedule as usize] = Some(residual);
    }
    let decisions: Vec<CaseDecision> = by_case
        .into_iter()
        .filter_map(|(case_id, [default, rows1, rows2])| Some((case_id, [default?, rows1?, rows2?])))
        .map(|(case_id, residuals)| {
            let decision = decide(residuals.map(|residual| residual.predicted_us), IMPROVEMENT_FRACTION)
                .map_err(|source| RefitError::Fit { what: format!("{what}, case {case_id}"), source })?;
            let default = residuals[Schedule::Default as usize].observed_us;
            Ok(CaseDecision {
                case_id: case_id.to_owned(),
                group: observations[residuals[0].observation].group.clone(),
                decision,
                observed_ratios: residuals.map(|residual| residual.observed_us / default),
            })
        })
        .collect::<Result<_, RefitError>>()?;
    let metrics = metrics(&decisions, what)?;
    Ok(Outcomes { residuals, decisions, metrics })
}

fn metrics<'a>(decisions: impl IntoIterator<Item = &'a CaseDecision>, what: &str) -> Result<Metrics, RefitError> {
    let outcomes: Vec<_> = decisions
        .into_iter()
        .map(|decision| PolicyOutcome {
            group: decision.group.clone(),
            selected: decision.decision.selected,
            ratio: decision.observed_policy_ratio(),
        })
        .collect();
    Metrics::of(&outcomes).map_err(|source| RefitError::Fit { what: what.to_owned(), source })
}
