//! Leave-one-geometry-out: every group predicted by a model that never saw it.
//!
//! The rows are reduced to one triangle for each group in one pass; what a fold costs beyond that does not depend on their
//! number.

use std::collections::HashMap;

use rayon::prelude::*;

use super::nnls::{self, Fit, Row};
use super::triangle::Groups;
use super::{FitError, MAX_FEATURES};

/// A model trained without one group, and which rows that group has. It was trained on all others.
#[derive(Debug, Clone, PartialEq)]
pub struct Fold {
    /// Label of the group held out.
    pub held: usize,
    /// Indexes of its rows, ascending; no row of the group is anywhere else.
    pub held_rows: Vec<usize>,
    /// The model. Its scales and weights come from the training rows alone.
    pub fit: Fit,
}

/// One fold per label in `order`, in that order.
///
/// # Errors
/// A label without rows, a label that all rows carry (nothing is left to train on), or whatever a fit of all rows may
/// report.
pub fn leave_one_group_out(rows: &[Row], order: &[usize]) -> Result<Vec<Fold>, FitError> {
    let mut by_label: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        by_label.entry(row.group).or_default().push(at);
    }
    if let Some(&group) = order.iter().find(|label| !by_label.contains_key(label)) {
        return Err(FitError::UnknownGroup { group });
    }
    let groups = Groups::of(&rows.iter().collect::<Vec<_>>(), MAX_FEATURES)?;
    let others: HashMap<usize, _> = groups.without_each().into_iter().collect();
    let folds: Vec<Result<Fold, FitError>> = order
        .par_iter()
        .map(|&held| {
            let (Some(held_rows), Some(others)) = (by_label.get(&held), others.get(&held)) else {
                return Err(FitError::UnknownGroup { group: held });
            };
            Ok(Fold { held, held_rows: held_rows.clone(), fit: nnls::fit_triangle(others)? })
        })
        .collect();
    // One after another, so that the first error is the one reported, however the threads were scheduled.
    folds.into_iter().collect()
}
