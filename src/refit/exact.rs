//! The same fits in exact rational arithmetic.

use super::{Observation, RefitError};
use crate::fit::FitError;
use crate::fit::exact::{ExactFit, ExactRow, GroupSums, rational};

/// The full fit and one fold for each group, solved without rounding.
#[derive(Debug)]
pub struct ExactModels {
    /// Over all observations.
    pub full: ExactFit,
    /// Without each group, in the order of the groups.
    pub folds: Vec<ExactFit>,
}

/// Solves the full fit and all folds; `groups` are the sorted keys.
///
/// # Errors
/// An observation that is not finite, or a fit without rows.
pub fn exact_models(observations: &[Observation<'_, '_>], groups: &[String]) -> Result<ExactModels, RefitError> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |source: FitError| RefitError::Fit { what, source }
    };
    let rows = observations
        .iter()
        .enumerate()
        .map(|(at, observation)| {
            let exact = |value: f64| rational(value).ok_or(FitError::NotFinite { row: at });
            Ok(ExactRow {
                group: groups.binary_search(&observation.group).unwrap_or(usize::MAX),
                features: observation.features.into_iter().map(exact).collect::<Result<_, _>>()?,
                observed: exact(observation.measured_us)?,
            })
        })
        .collect::<Result<Vec<_>, FitError>>()
        .map_err(failed("the exact fit"))?;
    let sums = GroupSums::accumulate(&rows).map_err(failed("the exact fit"))?;
    Ok(ExactModels {
        full: sums.fit(None).map_err(failed("the exact fit"))?,
        folds: (0..groups.len())
            .map(|held| sums.fit(Some(held)).map_err(failed("an exact fold")))
            .collect::<Result<_, _>>()?,
    })
}
