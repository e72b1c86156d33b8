//! Fraction-free elimination (Bareiss) of normal equations in integers.
//!
//! The equations are bordered by their right side and the sum of squares: the bordered matrix is itself a Gram matrix, so
//! that it is symmetric, its pivots are never negative, and a pivot of zero means a dependent column. Every division is
//! exact, no number grows beyond a minor of the matrix, and the corner ends as determinant times squared error.

use num_bigint::BigInt;
use num_traits::{One, Zero};

/// A symmetric integer matrix of which the upper triangle is kept, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Symmetric {
    side: usize,
    upper: Vec<BigInt>,
}

impl Symmetric {
    /// All zero.
    pub(super) fn zero(side: usize) -> Self {
        Self { side, upper: vec![BigInt::zero(); side * (side + 1) / 2] }
    }

    /// Rows, which are also columns.
    pub(super) fn side(&self) -> usize {
        self.side
    }

    /// The entries of the upper triangle, row by row.
    pub(super) fn entries(&self) -> &[BigInt] {
        &self.upper
    }

    /// The same, to change.
    pub(super) fn entries_mut(&mut self) -> &mut [BigInt] {
        &mut self.upper
    }

    /// Adds the outer product of `row` with itself; entries beyond the side are left out.
    pub(super) fn add_square(&mut self, row: &[BigInt]) {
        let mut entries = self.upper.iter_mut();
        for (at, left) in row.iter().enumerate().take(self.side) {
            for right in row.iter().take(self.side).skip(at) {
                if let Some(entry) = entries.next() {
                    *entry += left * right;
                }
            }
        }
    }

    fn index(&self, row: usize, column: usize) -> usize {
        let (row, column) = (row.min(column), row.max(column));
        row * (2 * self.side + 1 - row) / 2 + (column - row)
    }

    /// The entry at `row` and `column`, both below the side.
    pub(super) fn at(&self, row: usize, column: usize) -> Option<&BigInt> {
        self.upper.get(self.index(row, column))
    }

    /// The rows and columns listed, in that order.
    fn picked(&self, places: &[usize]) -> Vec<Vec<BigInt>> {
        let entry = |row, column| self.at(row, column).cloned().unwrap_or_default();
        let row = |(at, &row): (usize, &usize)| places.iter().skip(at).map(|&column| entry(row, column)).collect();
        places.iter().enumerate().map(row).collect()
    }
}

/// The outcome of an elimination.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Eliminated {
    /// The columns are dependent.
    Deficient {
        /// How many are independent.
        rank: usize,
    },
    /// The solution, over one positive common denominator.
    Solved {
        /// Numerators, one per column.
        numerators: Vec<BigInt>,
        /// The denominator: the determinant of the matrix.
        determinant: BigInt,
        /// Determinant times the squared error.
        corner: BigInt,
    },
}

/// Solves the equations of the `active` columns of a bordered Gram matrix, whose last row and column are the border.
pub(super) fn eliminate(bordered: &Symmetric, active: &[usize]) -> Eliminated {
    let border = bordered.side().saturating_sub(1);
    let places: Vec<usize> = active.iter().copied().chain([border]).collect();
    // Row p holds the columns from p on. Eliminated rows stay as they were when they became pivots.
    let mut rest = bordered.picked(&places);
    let mut pivots: Vec<Vec<BigInt>> = Vec::with_capacity(active.len());
    let mut deficient = false;
    while rest.len() > 1 {
        let pivot_row = rest.remove(0);
        let Some(pivot) = pivot_row.first() else { break };
        if pivot.is_zero() {
            // In a Gram matrix the whole row is zero then: the column depends on those before it and changes nothing.
            deficient = true;
            continue;
        }
        let before = pivots.last().and_then(|row| row.first());
        for (below, row) in rest.iter_mut().enumerate() {
            let Some(factor) = pivot_row.get(below + 1) else { break };
            for (entry, across) in row.iter_mut().zip(pivot_row.iter().skip(below + 1)) {
                *entry = pivot * &*entry - factor * across;
                if let Some(before) = before {
                    *entry /= before;
                }
            }
        }
        pivots.push(pivot_row);
    }
    if deficient {
        return Eliminated::Deficient { rank: pivots.len() };
    }
    let corner = rest.pop().and_then(|mut row| row.pop()).unwrap_or_default();
    let determinant = pivots.last().and_then(|row| row.first()).cloned().unwrap_or_else(BigInt::one);
    let numerators = substitute(&pivots, &determinant);
    Eliminated::Solved { numerators, determinant, corner }
}

/// Back substitution on the pivot rows, from the last one up. By Cramer's rule all numerators over the determinant are
/// integers, so that each division is exact.
fn substitute(pivots: &[Vec<BigInt>], determinant: &BigInt) -> Vec<BigInt> {
    let mut backwards: Vec<BigInt> = Vec::with_capacity(pivots.len());
    for row in pivots.iter().rev() {
        let [pivot, between @ .., right] = row.as_slice() else { break };
        let mut value = determinant * right;
        for (factor, known) in between.iter().zip(backwards.iter().rev()) {
            value -= factor * known;
        }
        backwards.push(value / pivot);
    }
    backwards.reverse();
    backwards
}
