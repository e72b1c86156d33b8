//! Two models side by side: coefficients, decisions, metrics.

use std::collections::BTreeMap;

use crate::fit::Schedule;
use crate::fit::metrics::Metrics;
use crate::package::json::Json;
use crate::refit::document::SCHEMA;

/// Where a model's figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelSource {
    /// From the package's `model.json`.
    Recorded,
    /// From a refit, as the package has none.
    Refitted,
}

impl ModelSource {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            ModelSource::Recorded => "recorded",
            ModelSource::Refitted => "refitted",
        }
    }
}

/// What of a model is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFigures {
    /// Where it comes from.
    pub source: ModelSource,
    /// a0, aP and aD.
    pub coefficients: [f64; 3],
    /// Of the full fit.
    pub full: Evaluation,
    /// Of the folds, each case decided by a model that never saw its geometry.
    pub held_out: Evaluation,
}

/// Decisions and their metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The selected schedule by case id.
    pub decisions: BTreeMap<String, Schedule>,
    /// Metrics over all cases of the package.
    pub metrics: Metrics,
}

/// The comparison of two models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelComparison {
    /// Where they come from, old and new.
    pub sources: [ModelSource; 2],
    /// a0, aP, aD.
    pub coefficients: [Coefficient; 3],
    /// One for each common case that both decide, in OLD's order.
    pub decisions: Vec<DecisionRow>,
    /// Metrics of the full fits, old and new, each over all cases of its package.
    pub full: [Metrics; 2],
    /// Metrics of the folds.
    pub held_out: [Metrics; 2],
}

/// One coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// In OLD.
    pub old: f64,
    /// In NEW.
    pub new: f64,
    /// New over old, less one; `None` where that is no number, as for one that was zero.
    pub relative_change: Option<f64>,
}

/// What two models select for one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRow {
    /// The case.
    pub case_id: String,
    /// By the full fits, old and new.
    pub full: [Schedule; 2],
    /// By the folds, old and new; `None` where one of them has no such decision.
    pub held_out: Option<[Schedule; 2]>,
}

impl DecisionRow {
    /// Whether one of the decisions changed.
    pub fn changed(&self) -> bool {
        self.full[0] != self.full[1] || self.held_out.is_some_and(|[old, new]| old != new)
    }
}

impl ModelFigures {
    /// Reads a model in the published schema.
    ///
    /// # Errors
    /// The first part that is missing or of another form, with its JSON pointer.
    pub fn read(model: &Json, source: ModelSource) -> Result<Self, String> {
        let missing = |pointer: &str, expected: &str| {
            format!("the {} model has no {expected} at {pointer}, so that it cannot be compared", source.name())
        };
        let at = |pointer: &str, expected: &str| model.pointer(pointer).ok_or_else(|| missing(pointer, expected));
        if at("/schema", "schema")?.as_str() != Some(SCHEMA) {
            return Err(missing("/schema", SCHEMA));
        }
        let pointer = "/profile/coefficients";
        let numbers = at(pointer, "coefficients")?.as_array().unwrap_or_default();
        let numbers = numbers.iter().map(Json::as_f64).collect::<Option<Vec<_>>>().unwrap_or_default();
        let coefficients =
            <[f64; 3]>::try_from(numbers).map_err(|_| missing(pointer, "array of three coefficients"))?;
        let full = "/full_training_evaluation/decisions";
        let metrics_at = "/full_training_metrics";
        let full = Evaluation {
            decisions: decisions([at(full, "decisions")?]).ok_or_else(|| missing(full, "list of decisions"))?,
            metrics: metrics(at(metrics_at, "metrics")?).ok_or_else(|| missing(metrics_at, "complete metrics"))?,
        };
        let folds_at = "/outer_leave_geometry_out/folds";
        let folds = at(folds_at, "folds")?.as_array().unwrap_or_default();
        let of_folds = folds.iter().map(|fold| fold.get("decisions")).collect::<Option<Vec<_>>>();
        let of_folds = of_folds.and_then(decisions).ok_or_else(|| missing(folds_at, "folds with decisions"))?;
        let summary_at = "/outer_leave_geometry_out/summary";
        let summary = metrics(at(summary_at, "metrics")?).ok_or_else(|| missing(summary_at, "complete metrics"))?;
        Ok(Self { source, coefficients, full, held_out: Evaluation { decisions: of_folds, metrics: summary } })
    }
}

/// The decisions of some lists; `None` where one is not as published.
fn decisions<'j>(lists: impl IntoIterator<Item = &'j Json>) -> Option<BTreeMap<String, Schedule>> {
    let mut found = BTreeMap::new();
    for list in lists {
        for decision in list.as_array()? {
            let selected = decision.path(&["decision", "selected_schedule"])?.as_str()?;
            found.insert(decision.get("case_id")?.as_str()?.to_owned(), Schedule::from_name(selected)?);
        }
    }
    Some(found)
}

fn metrics(at: &Json) -> Option<Metrics> {
    let count = |name: &str| at.get(name)?.as_u64();
    let number = |name: &str| at.get(name)?.as_f64();
    Some(Metrics {
        cases: count("cases")?,
        groups: count("groups")?,
        selected: count("selected")?,
        selected_regressions: count("selected_regressions")?,
        selected_regressions_over_five_percent: count("selected_regressions_over_five_percent")?,
        worst_policy_ratio: number("worst_policy_ratio")?,
        geometry_equal_weight_policy_geomean: number("geometry_equal_weight_policy_geomean")?,
    })
}

pub(super) fn compare(old: &ModelFigures, new: &ModelFigures, common: &[String]) -> ModelComparison {
    let coefficient = |at: usize| {
        let (old, new) = (old.coefficients[at], new.coefficients[at]);
        let change = if new == old { 0.0 } else { new / old - 1.0 };
        Coefficient { old, new, relative_change: change.is_finite().then_some(change) }
    };
    let both = |old: &Evaluation, new: &Evaluation, id: &str| Some([*old.decisions.get(id)?, *new.decisions.get(id)?]);
    let decisions = common.iter().filter_map(|id| {
        let full = both(&old.full, &new.full, id)?;
        Some(DecisionRow { case_id: id.clone(), full, held_out: both(&old.held_out, &new.held_out, id) })
    });
    ModelComparison {
        sources: [old.source, new.source],
        coefficients: [coefficient(0), coefficient(1), coefficient(2)],
        decisions: decisions.collect(),
        full: [old.full.metrics, new.full.metrics],
        held_out: [old.held_out.metrics, new.held_out.metrics],
    }
}
