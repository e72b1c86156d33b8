//! Least squares by singular values, with the rank rule of `numpy.linalg.lstsq`.
//!
//! The decomposition is a one-sided Jacobi iteration: pairs of columns are rotated until all are orthogonal. For the few
//! short columns here it is quick, it is bounded by its number of sweeps, and it is accurate to the last places also where
//! singular values are close together or far apart. nalgebra keeps the matrices; its own decomposition loses four digits where
//! singular values are close together, and knows no numbers of twice the precision.

use nalgebra::{DMatrix, DVectorView};

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
    /// U S.
    pub(super) columns: DMatrix<DoubleDouble>,
    /// V.
    pub(super) rotations: DMatrix<DoubleDouble>,
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
        let (rows, width) = (columns.first().map_or(0, |column| column.len()), columns.len());
        let cell = |row: usize, column: usize| columns.get(column)?.get(row).copied();
        let mut columns = DMatrix::from_fn(rows, width, |row, column| cell(row, column).unwrap_or(DoubleDouble::ZERO));
        let one = |row, column| if row == column { DoubleDouble::ONE } else { DoubleDouble::ZERO };
        let mut rotations = DMatrix::from_fn(width, width, one);
        orthogonalise(&mut columns, &mut rotations)?;
        let lengths: Vec<DoubleDouble> = columns.column_iter().map(|column| length(column.as_slice())).collect();
        if lengths.iter().all(|length| length.is_finite()) {
            Ok(Self { columns, rotations, lengths })
        } else {
            Err(FitError::NoConvergence)
        }
    }

    /// The least-squares solution, where no length is zero.
    fn solution(&self, right: &[DoubleDouble]) -> Vec<DoubleDouble> {
        let mut values = vec![DoubleDouble::ZERO; self.columns.ncols()];
        for ((column, rotation), &length) in self.parts() {
            // Twice by the length, not once by its square: the columns are not normalised.
            let projected = dot(column.as_slice(), right) / length / length;
            for (value, &part) in values.iter_mut().zip(rotation.iter()) {
                *value += part * projected;
            }
        }
        values
    }

    /// Each column of U S with that of V and its length.
    fn parts(&self) -> impl Iterator<Item = ((Column<'_>, Column<'_>), &DoubleDouble)> {
        self.columns.column_iter().zip(self.rotations.column_iter()).zip(&self.lengths)
    }

    /// What each entry of a right side contributes to each value of its solution, where no length is zero.
    pub(super) fn pseudo_inverse(&self) -> Vec<Vec<DoubleDouble>> {
        let mut inverse = vec![vec![DoubleDouble::ZERO; self.columns.nrows()]; self.columns.ncols()];
        for ((column, rotation), &length) in self.parts() {
            for (row, &part) in inverse.iter_mut().zip(rotation.iter()) {
                let factor = part / length / length;
                for (entry, &value) in row.iter_mut().zip(column.iter()) {
                    *entry += factor * value;
                }
            }
        }
        inverse
    }
}

/// A column of a matrix.
type Column<'m> = DVectorView<'m, DoubleDouble>;

fn orthogonalise(columns: &mut DMatrix<DoubleDouble>, rotations: &mut DMatrix<DoubleDouble>) -> Result<(), FitError> {
    // An inner product of this many terms is not known any better.
    let negligible = 4.0 * EPSILON * columns.nrows().max(1) as f64;
    // A column this short is what rounding left of a dependent one. It has no direction to be orthogonal in, and it
    // counts as zero in the rank.
    let lengths = columns.column_iter().map(|column| length(column.as_slice()).rounded());
    let nothing = EPSILON * lengths.fold(0.0, f64::max);
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for left in 0..columns.ncols() {
            for right in left + 1..columns.ncols() {
                let (of_left, of_right) = (columns.column(left), columns.column(right));
                let (of_left, of_right) = (of_left.as_slice(), of_right.as_slice());
                let (left_length, right_length, across) = (length(of_left), length(of_right), dot(of_left, of_right));
                let shorter = left_length.rounded().min(right_length.rounded());
                let small = negligible * left_length.rounded() * right_length.rounded();
                if shorter <= nothing || across.abs().rounded() <= small {
                    continue;
                }
                rotated = true;
                let (cosine, sine) = rotation(left_length, right_length, across);
                rotate(columns, left, right, cosine, sine);
                rotate(rotations, left, right, cosine, sine);
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
fn rotate(matrix: &mut DMatrix<DoubleDouble>, left: usize, right: usize, cosine: DoubleDouble, sine: DoubleDouble) {
    let (mut left, mut right) = matrix.columns_range_pair_mut(left, right);
    for (left, right) in left.iter_mut().zip(right.iter_mut()) {
        (*left, *right) = (cosine * *left - sine * *right, sine * *left + cosine * *right);
    }
}
