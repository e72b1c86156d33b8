//! The same fits in exact rational arithmetic.

use rayon::prelude::*;

use super::{Observation, RefitError};
use crate::fit::FitError;
use crate::fit::exact::{ExactFit, GroupSums};

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
    let sums = GroupSums::of_binary64(&super::rows(observations, groups)).map_err(failed("the exact fit"))?;
    // One after another, so that the first error is the one reported, however the threads were scheduled.
    let folds: Vec<_> = (0..groups.len()).into_par_iter().map(|held| sums.fit(Some(held))).collect();
    Ok(ExactModels {
        full: sums.fit(None).map_err(failed("the exact fit"))?,
        folds: folds.into_iter().collect::<Result<_, _>>().map_err(failed("an exact fold"))?,
    })
}
