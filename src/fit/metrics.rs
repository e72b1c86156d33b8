//! How a policy's decisions turned out.
//!
//! Logarithms and exponentials are those of the `libm` crate: the system's pick their code by the processor.

use std::collections::BTreeMap;

use super::{FitError, Schedule};

/// A ratio above this is a regression of more than five percent.
pub const FIVE_PERCENT_SLOWER: f64 = 1.05;

/// One decision and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyOutcome {
    /// Key of the case's geometry.
    pub group: String,
    /// What the policy selected.
    pub selected: Schedule,
    /// Observed median of the selected schedule over that of the default.
    pub ratio: f64,
}

/// Summary of a policy over a set of cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metrics {
    /// Cases decided.
    pub cases: u64,
    /// Geometries among them.
    pub groups: u64,
    /// Cases for which another schedule than the default was selected.
    pub selected: u64,
    /// Those among the selected that ran slower than the default (ratio above 1).
    pub selected_regressions: u64,
    /// Those among the selected that ran more than five percent slower (ratio above 1.05).
    pub selected_regressions_over_five_percent: u64,
    /// Largest ratio over all cases.
    pub worst_policy_ratio: f64,
    /// exp of the mean over geometries of the mean over a geometry's cases of ln ratio.
    pub geometry_equal_weight_policy_geomean: f64,
}

impl Metrics {
    /// Summarises the outcomes. Sums run over a geometry's cases in the order given and over geometries sorted by key.
    ///
    /// # Errors
    /// No outcome, or a ratio that is not finite and positive.
    pub fn of(outcomes: &[PolicyOutcome]) -> Result<Self, FitError> {
        let (groups, geomean) =
            grouped_geomean(outcomes.iter().map(|outcome| (outcome.group.as_str(), outcome.ratio)))?;
        let selected = || outcomes.iter().filter(|outcome| outcome.selected != Schedule::Default);
        let slower_than = |bound: f64| selected().filter(|outcome| outcome.ratio > bound).count() as u64;
        Ok(Self {
            cases: outcomes.len() as u64,
            groups,
            selected: selected().count() as u64,
            selected_regressions: slower_than(1.0),
            selected_regressions_over_five_percent: slower_than(FIVE_PERCENT_SLOWER),
            worst_policy_ratio: outcomes.iter().map(|outcome| outcome.ratio).fold(f64::NEG_INFINITY, f64::max),
            geometry_equal_weight_policy_geomean: geomean,
        })
    }
}

/// exp of the mean logarithm; `None` without values, or with one that is not finite and positive.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let is_ratio = |value: &f64| value.is_finite() && *value > 0.0;
    if values.is_empty() || !values.iter().all(is_ratio) {
        return None;
    }
    Some(libm::exp(values.iter().map(|&value| libm::log(value)).sum::<f64>() / values.len() as f64))
}

/// The number of groups, and exp of the mean over groups of the mean over a group's ratios of ln ratio: each group counts
/// once, whatever the number of its ratios. Items are `(group, ratio)`. Sums run over a group's ratios in the order given
/// and over groups sorted by key.
///
/// # Errors
/// No item, or a ratio that is not finite and positive.
pub fn grouped_geomean<'g>(items: impl IntoIterator<Item = (&'g str, f64)>) -> Result<(u64, f64), FitError> {
    let mut logarithms: BTreeMap<&str, (f64, u64)> = BTreeMap::new();
    for (case, (group, ratio)) in items.into_iter().enumerate() {
        if !(ratio.is_finite() && ratio > 0.0) {
            return Err(FitError::Ratio { case, ratio });
        }
        let (sum, count) = logarithms.entry(group).or_default();
        *sum += libm::log(ratio);
        *count += 1;
    }
    if logarithms.is_empty() {
        return Err(FitError::NoRows);
    }
    let groups = logarithms.len() as u64;
    let means: f64 = logarithms.values().map(|&(sum, count)| sum / count as f64).sum();
    Ok((groups, libm::exp(means / groups as f64)))
}
