//! Least squares by singular values, with the rank rule of `numpy.linalg.lstsq`.
//!
//! The decomposition is a one-sided Jacobi iteration: pairs of columns are rotated until all are orthogonal. For the few
//! columns here it is short, it is bounded by its number of sweeps, and it is accurate to the last places. nalgebra's own
//! decomposition is not: where singular values are close together it loses four digits on well-conditioned designs, which
//! is as much as the whole tolerance of a comparison with published numbers.

use nalgebra::{DMatrix, DVector};

use super::FitError;

/// Passes over all pairs of columns. Convergence is quadratic; more than ten are not seen even for hostile designs.
const SWEEPS: usize = 60;

/// A least-squares solution.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    /// One value per column; `None` where the rank is below the number of columns.
    pub(super) values: Option<Vec<f64>>,
    /// Singular values above `eps * max(rows, columns) * largest`, numpy's default cut.
    pub(super) rank: usize,
    /// The `min(rows, columns)` singular values, descending.
    pub(super) singular_values: Vec<f64>,
}

/// Solves `min ||A x - right||` for the columns of A, each as long as `right`. No column has the empty solution.
///
/// # Errors
/// [`FitError::NoRows`] for columns without rows, [`FitError::NoConvergence`] where the columns did not become orthogonal,
/// or not with finite numbers.
pub(super) fn solve(columns: &[&[f64]], right: &[f64]) -> Result<Solution, FitError> {
    let (rows, width) = (right.len(), columns.len());
    if width == 0 {
        return Ok(Solution { values: Some(Vec::new()), rank: 0, singular_values: Vec::new() });
    }
    if rows == 0 {
        return Err(FitError::NoRows);
    }
    let mut matrix = DMatrix::from_iterator(rows, width, columns.iter().flat_map(|column| column.iter().copied()));
    let rotations = orthogonalise(&mut matrix)?;
    let lengths: Vec<f64> = matrix.column_iter().map(|column| column.norm()).collect();
    if lengths.iter().any(|length| !length.is_finite()) {
        return Err(FitError::NoConvergence);
    }
    let largest = lengths.iter().copied().fold(0.0, f64::max);
    let cut = f64::EPSILON * rows.max(width) as f64 * largest;
    let rank = lengths.iter().filter(|&&length| length > cut).count();
    let values = (rank == width).then(|| {
        let mut projected = matrix.tr_mul(&DVector::from_column_slice(right));
        for (value, length) in projected.iter_mut().zip(&lengths) {
            // Twice by the length, not once by its square: the columns are not normalised.
            *value = *value / length / length;
        }
        (&rotations * projected).iter().copied().collect()
    });
    let mut singular_values = lengths;
    singular_values.sort_unstable_by(|left, right| right.total_cmp(left));
    singular_values.truncate(rows);
    Ok(Solution { values, rank, singular_values })
}

/// Rotates the columns until they are orthogonal to within rounding; gives back the product of the rotations. Afterwards
/// the matrix is U S, the product is V.
fn orthogonalise(matrix: &mut DMatrix<f64>) -> Result<DMatrix<f64>, FitError> {
    let width = matrix.ncols();
    let mut rotations = DMatrix::identity(width, width);
    // An inner product of this many terms is not known any better.
    let negligible = f64::EPSILON * (matrix.nrows() as f64).sqrt();
    // A column this short is what rounding left of a dependent one. It has no direction to be orthogonal in, and it
    // counts as zero in the rank.
    let nothing = f64::EPSILON * matrix.column_iter().map(|column| column.norm()).fold(0.0, f64::max);
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for left in 0..width {
            for right in left + 1..width {
                let (of_left, of_right) = (matrix.column(left), matrix.column(right));
                let (left_length, right_length) = (of_left.norm(), of_right.norm());
                let across = of_left.dot(&of_right);
                if left_length.min(right_length) <= nothing || across.abs() <= negligible * left_length * right_length {
                    continue;
                }
                rotated = true;
                let ratio = (right_length - left_length) * (right_length + left_length) / (2.0 * across);
                let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                rotate(matrix, left, right, cosine, cosine * tangent);
                rotate(&mut rotations, left, right, cosine, cosine * tangent);
            }
        }
        if !rotated {
            return Ok(rotations);
        }
    }
    Err(FitError::NoConvergence)
}

/// Replaces columns `left`, `right` by `cosine * left - sine * right`, `sine * left + cosine * right`.
fn rotate(matrix: &mut DMatrix<f64>, left: usize, right: usize, cosine: f64, sine: f64) {
    let (mut of_left, mut of_right) = matrix.columns_range_pair_mut(left, right);
    for (left, right) in of_left.iter_mut().zip(of_right.iter_mut()) {
        (*left, *right) = (cosine * *left - sine * *right, sine * *left + cosine * *right);
    }
}
