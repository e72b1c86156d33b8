//! Two partition packages side by side: devices and environments, medians with intervals, decisions and models.
//!
//! A case is common to both where its id and its definition are the same; everything about cases is about those. A
//! difference is a result here and never an error. Whether the packages hold is not looked at.

mod cases;
mod environment;
mod medians;
mod model;

pub use cases::{Cases, Redefined};
pub use environment::{Environment, Field};
pub use medians::{CohortComparison, MedianRow};
pub use model::{Coefficient, DecisionRow, Evaluation, ModelComparison, ModelFigures, ModelSource};

use crate::fit::FitError;
use crate::package::json::Json;
use crate::package::partition::{Device, Validation};

/// Ids that a message names.
const NAMED_IDS: usize = 5;

/// One package.
#[derive(Debug)]
pub struct Side<'s, 'd> {
    /// Its runs.
    pub validation: &'s Validation<'d>,
    /// The content of its `device.json`.
    pub device: &'s Json,
    /// The figures of its model, or why there are none.
    pub model: Result<ModelFigures, String>,
}

/// Why two packages cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ComparisonError {
    /// No case stands in both.
    #[error(
        "nothing to compare: no case has one id and one definition in both; OLD has {old}; NEW has {new}{redefined}"
    )]
    NothingInCommon {
        /// The cases of the one, in words.
        old: String,
        /// The cases of the other, in words.
        new: String,
        /// Ids that stand in both with other definitions, in words; may be empty.
        redefined: String,
    },
    /// One id for several cases.
    #[error("the case id {id} stands for more than one case of {side}")]
    RepeatedCase {
        /// The id.
        id: String,
        /// Which package.
        side: &'static str,
    },
    /// A mean that cannot be taken.
    #[error("{what}: {source}")]
    Mean {
        /// Of what.
        what: String,
        /// Why.
        source: FitError,
    },
}

/// The comparison.
#[derive(Debug)]
pub struct Comparison {
    /// The devices, old and new.
    pub devices: [Device; 2],
    /// Device and protocol field by field.
    pub environment: Environment,
    /// Which cases are common.
    pub cases: Cases,
    /// The medians, cohort by cohort and route by route.
    pub cohorts: Vec<CohortComparison>,
    /// How much two processes of one schedule differ within OLD and within NEW: the largest relative difference between the
    /// native medians of recheck and default over the common cases. No interval knows of it.
    pub recheck_drift: [Option<f64>; 2],
    /// The models, or why they cannot be compared.
    pub model: Result<ModelComparison, String>,
}

impl Comparison {
    /// Whether the devices are of different kinds.
    pub fn devices_differ(&self) -> bool {
        self.devices[0] != self.devices[1]
    }

    /// All compared medians.
    pub fn rows(&self) -> impl Iterator<Item = &MedianRow> {
        self.cohorts.iter().flat_map(|cohort| &cohort.rows)
    }
}

/// Compares two packages; intervals are asked to reach `level`.
///
/// # Errors
/// An id of several cases, no common case, or ratios too extreme for their mean.
pub fn compare(old: &Side<'_, '_>, new: &Side<'_, '_>, level: f64) -> Result<Comparison, ComparisonError> {
    let (cases, pairs) = cases::pair_up(old.validation, new.validation)?;
    let cohorts = medians::compare(&pairs, level)?;
    let model = match (&old.model, &new.model) {
        (Ok(old), Ok(new)) => Ok(model::compare(old, new, &cases.common)),
        (Err(reason), _) => Err(format!("OLD: {reason}")),
        (_, Err(reason)) => Err(format!("NEW: {reason}")),
    };
    Ok(Comparison {
        devices: [Device::read(old.device), Device::read(new.device)],
        environment: environment::compare(old, new, &pairs),
        recheck_drift: [
            medians::recheck_drift(pairs.iter().map(|(old, _)| *old)),
            medians::recheck_drift(pairs.iter().map(|(_, new)| *new)),
        ],
        cases,
        cohorts,
        model,
    })
}

/// Some ids, and how many more there are: `a, b, ... (7 in all)`.
fn some_of(ids: &[String]) -> String {
    let shown = ids.iter().take(NAMED_IDS).cloned().collect::<Vec<_>>().join(", ");
    if ids.len() > NAMED_IDS { format!("{shown}, ... ({} in all)", ids.len()) } else { shown }
}
