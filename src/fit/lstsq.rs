//! Least squares by singular values, with the rank rule of `numpy.linalg.lstsq`.
//!
//! The decomposition is a one-sided Jacobi iteration: pairs of columns are rotated until all are orthogonal. For the few
//! short columns here it is quick, it is bounded by its number of sweeps, and it is accurate to the last places also where
//! singular values are close together or far apart.

use super::FitError;
use super::double_double::{DoubleDouble, EPSILON, dot, length};

/// Passes over all pairs of columns. Convergence is quadratic; more than ten are not seen even for hostile designs.
const SWEEPS: usize = 60;

/// A least-squares solution.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    /// One value per column; `None` where the rank is below the number of columns.
    pub(super) values: Option<Vec<DoubleDouble>>,
    /// Singular values above `eps * max(rows, columns) * largest`, numpy's default cut.
    pub(super) rank: usize,
    /// The `min(rows, columns)` singular values, descending.
    pub(super) singular_values: Vec<f64>,
}

/// Orthogonal columns U S and the rotations V that made them: the columns that were given are U S V^T.
#[derive(Debug, Clone)]
pub(super) struct Orthogonal {
    /// U S, column by column.
    pub(super) columns: Vec<Vec<DoubleDouble>>,
    /// V, column by column.
    pub(super) rotations: Vec<Vec<DoubleDouble>>,
    /// The columns' lengths.
    pub(super) lengths: Vec<DoubleDouble>,
}

/// Solves `min ||A x - right||` for the columns of A, each as long as `right`, which stand for `rows` rows. No column has the
/// empty solution.
///
/// # Errors
/// [`FitError::NoRows`] for columns without rows, [`FitError::NoConvergence`] where the columns did not become orthogonal,
/// or not with finite numbers.
pub(super) fn solve(columns: &[&[DoubleDouble]], right: &[DoubleDouble], rows: usize) -> Result<Solution, FitError> {
    let width = columns.len();
    if width == 0 {
        return Ok(Solution { values: Some(Vec::new()), rank: 0, singular_values: Vec::new() });
    }
    if rows == 0 {
        return Err(FitError::NoRows);
    }
    let orthogonal = Orthogonal::of(columns)?;
    let mut singular_values: Vec<f64> = orthogonal.lengths.iter().map(|length| length.rounded()).collect();
    let largest = singular_values.iter().copied().fold(0.0, f64::max);
    let cut = f64::EPSILON * rows.max(width) as f64 * largest;
    let rank = singular_values.iter().filter(|&&length| length > cut).count();
    let values = (rank == width).then(|| orthogonal.solution(right));
    singular_values.sort_unstable_by(|left, right| right.total_cmp(left));
    singular_values.truncate(rows);
    Ok(Solution { values, rank, singular_values })
}

impl Orthogonal {
    /// Rotates the columns until they are orthogonal to within rounding.
    ///
    /// # Errors
    /// [`FitError::NoConvergence`], also for numbers that are not finite.
    pub(super) fn of(columns: &[&[DoubleDouble]]) -> Result<Self, FitError> {
        let width = columns.len();
        let mut columns: Vec<Vec<DoubleDouble>> = columns.iter().map(|column| column.to_vec()).collect();
        let one = |at| (0..width).map(|row| if row == at { DoubleDouble::ONE } else { DoubleDouble::ZERO }).collect();
        let mut rotations: Vec<Vec<DoubleDouble>> = (0..width).map(one).collect();
        orthogonalise(&mut columns, &mut rotations)?;
        let lengths: Vec<DoubleDouble> = columns.iter().map(|column| length(column)).collect();
        if lengths.iter().all(|length| length.is_finite()) {
            Ok(Self { columns, rotations, lengths })
        } else {
            Err(FitError::NoConvergence)
        }
    }

    /// The least-squares solution, where no length is zero.
    fn solution(&self, right: &[DoubleDouble]) -> Vec<DoubleDouble> {
        let mut values = vec![DoubleDouble::ZERO; self.columns.len()];
        for ((column, rotation), &length) in self.columns.iter().zip(&self.rotations).zip(&self.lengths) {
            // Twice by the length, not once by its square: the columns are not normalised.
            let projected = dot(column, right) / length / length;
            for (value, &part) in values.iter_mut().zip(rotation) {
                *value += part * projected;
            }
        }
        values
    }

    /// What each entry of a right side contributes to each value of its solution, where no length is zero.
    pub(super) fn pseudo_inverse(&self) -> Vec<Vec<DoubleDouble>> {
        let rows = self.columns.first().map_or(0, Vec::len);
        let mut inverse = vec![vec![DoubleDouble::ZERO; rows]; self.columns.len()];
        for ((column, rotation), &length) in self.columns.iter().zip(&self.rotations).zip(&self.lengths) {
            for (row, &part) in inverse.iter_mut().zip(rotation) {
                let factor = part / length / length;
                for (entry, &value) in row.iter_mut().zip(column) {
                    *entry += factor * value;
                }
            }
        }
        inverse
    }
}

fn orthogonalise(columns: &mut [Vec<DoubleDouble>], rotations: &mut [Vec<DoubleDouble>]) -> Result<(), FitError> {
    // An inner product of this many terms is not known any better.
    let negligible = 4.0 * EPSILON * columns.iter().map(|column| column.len() as f64).fold(1.0, f64::max);
    // A column this short is what rounding left of a dependent one. It has no direction to be orthogonal in, and it
    // counts as zero in the rank.
    let nothing = EPSILON * columns.iter().map(|column| length(column).rounded()).fold(0.0, f64::max);
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for left in 0..columns.len() {
            for right in left + 1..columns.len() {
                let Ok([of_left, of_right]) = columns.get_disjoint_mut([left, right]) else { continue };
                let (left_length, right_length, across) = (length(of_left), length(of_right), dot(of_left, of_right));
                let shorter = left_length.rounded().min(right_length.rounded());
                let small = negligible * left_length.rounded() * right_length.rounded();
                if shorter <= nothing || across.abs().rounded() <= small {
                    continue;
                }
                rotated = true;
                let (cosine, sine) = rotation(left_length, right_length, across);
                rotate(of_left, of_right, cosine, sine);
                if let Ok([of_left, of_right]) = rotations.get_disjoint_mut([left, right]) {
                    rotate(of_left, of_right, cosine, sine);
                }
            }
        }
        if !rotated {
            return Ok(());
        }
    }
    Err(FitError::NoConvergence)
}

/// Cosine and sine of the smaller angle that makes two columns of these lengths and this inner product orthogonal.
fn rotation(
    left_length: DoubleDouble,
    right_length: DoubleDouble,
    across: DoubleDouble,
) -> (DoubleDouble, DoubleDouble) {
    let hypotenuse = |value: DoubleDouble| (value * value + DoubleDouble::ONE).sqrt();
    let ratio = (right_length - left_length) * (right_length + left_length) / (across + across);
    let magnitude = DoubleDouble::ONE / (ratio.abs() + hypotenuse(ratio));
    let tangent = if ratio.rounded() < 0.0 { -magnitude } else { magnitude };
    let cosine = DoubleDouble::ONE / hypotenuse(tangent);
    (cosine, cosine * tangent)
}

/// Replaces columns `left`, `right` by `cosine * left - sine * right`, `sine * left + cosine * right`.
fn rotate(left: &mut [DoubleDouble], right: &mut [DoubleDouble], cosine: DoubleDouble, sine: DoubleDouble) {
    for (left, right) in left.iter_mut().zip(right) {
        (*left, *right) = (cosine * *left - sine * *right, sine * *left + cosine * *right);
    }
}
