//! Leave-one-geometry-out: every group predicted by a model that never saw it.

use super::FitError;
use super::nnls::{self, Fit, Row};

/// A model trained without one group, and which rows that group has.
#[derive(Debug, Clone, PartialEq)]
pub struct Fold {
    /// Label of the group held out.
    pub held: usize,
    /// Indexes of its rows, ascending; no row of the group is anywhere else.
    pub held_rows: Vec<usize>,
    /// Indexes of the rows trained on, ascending; the fit's weights are in this order.
    pub training_rows: Vec<usize>,
    /// The model. Its scales and weights come from the training rows alone.
    pub fit: Fit,
}

/// One fold per label in `order`, in that order.
///
/// # Errors
/// A label without rows, a label that all rows carry (nothing is left to train on), or whatever a fit may report; rows
/// in such errors count within the training rows.
pub fn leave_one_group_out(rows: &[Row], order: &[usize]) -> Result<Vec<Fold>, FitError> {
    order.iter().map(|&held| fold(rows, held)).collect()
}

fn fold(rows: &[Row], held: usize) -> Result<Fold, FitError> {
    let (held_rows, training_rows): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).partition(|&row| rows.get(row).is_some_and(|row| row.group == held));
    if held_rows.is_empty() {
        return Err(FitError::UnknownGroup { group: held });
    }
    let training: Vec<&Row> = rows.iter().filter(|row| row.group != held).collect();
    Ok(Fold { held, held_rows, training_rows, fit: nnls::fit_of(&training)? })
}
