//! Weighted rows, reduced to a triangle that has the same least-squares problems.
//!
//! For rows `[features | observed]` with orthogonal Q, `Q * rows` has the same errors for all coefficients, and with the
//! right Q all below the diagonal is zero. Triangles of groups are reduced together as rows are, so that a fit without some
//! group costs no pass over the rows. Nothing is ever taken away from a triangle: what a left-out group held cannot leave
//! rounding errors behind.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::double_double::{DoubleDouble, dot};
use super::nnls::Row;
use super::{FitError, common_width};

/// Rows that are reduced at once; more would not stay in the first-level cache.
const BLOCK: usize = 128;

/// Exponent of a column without any value but zero; below all others, and their differences fit.
const NO_EXPONENT: i32 = -5000;

/// The triangle of some groups' rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Triangle {
    /// How many rows it stands for.
    pub(super) rows: usize,
    /// How many groups; each has the weight 1.
    pub(super) groups: usize,
    /// Per column, the observed one last: the column is 2 to this power times what is kept, so that neither 1e200 nor
    /// 1e-200 is lost when squared.
    pub(super) exponents: Vec<i32>,
    /// Per column: its entries, zero below the diagonal.
    pub(super) columns: Vec<Vec<DoubleDouble>>,
}

impl Triangle {
    /// Of no rows, for `width` features.
    pub(super) fn empty(width: usize) -> Self {
        let side = width + 1;
        let columns = vec![vec![DoubleDouble::ZERO; side]; side];
        Self { rows: 0, groups: 0, exponents: vec![NO_EXPONENT; side], columns }
    }

    /// Of the rows of one group, each with the weight 1 / (their number). They are taken in an order that follows from their
    /// values alone. All are finite and have `width` features.
    pub(super) fn of_group(width: usize, mut rows: Vec<&Row>) -> Self {
        rows.sort_unstable_by(|left, right| {
            let features = left.features.iter().zip(&right.features);
            let features = features.map(|(left, right)| left.total_cmp(right));
            features.fold(left.observed.total_cmp(&right.observed), |rest, order| rest.then(order))
        });
        let mut triangle = Self::empty(width);
        let cells = |row: &Row| row.features.clone().into_iter().chain([row.observed]);
        let mut largest = vec![0.0_f64; width + 1];
        for row in &rows {
            for (largest, value) in largest.iter_mut().zip(cells(row)) {
                *largest = largest.max(value.abs());
            }
        }
        triangle.exponents = largest.into_iter().map(exponent).collect();
        for rows in rows.chunks(BLOCK) {
            let mut block = vec![Vec::with_capacity(rows.len()); width + 1];
            for row in rows {
                for ((column, value), &exponent) in block.iter_mut().zip(cells(row)).zip(&triangle.exponents) {
                    column.push(DoubleDouble::from(libm::ldexp(value, -exponent)));
                }
            }
            reduce(&mut triangle.columns, &mut block);
        }
        let root = (DoubleDouble::ONE / DoubleDouble::from(rows.len().max(1) as f64)).sqrt();
        for entry in triangle.columns.iter_mut().flatten() {
            *entry = *entry * root;
        }
        Self { rows: rows.len(), groups: 1, ..triangle }
    }

    /// Of the rows of both.
    pub(super) fn joined(&self, other: &Self) -> Self {
        let exponents: Vec<i32> =
            self.exponents.iter().zip(&other.exponents).map(|(&left, &right)| left.max(right)).collect();
        let (mut columns, mut block) = (self.aligned(&exponents), other.aligned(&exponents));
        reduce(&mut columns, &mut block);
        Self { rows: self.rows + other.rows, groups: self.groups + other.groups, exponents, columns }
    }

    /// The columns for other, larger exponents. What underflows is nothing beside the column's largest value.
    fn aligned(&self, exponents: &[i32]) -> Vec<Vec<DoubleDouble>> {
        let columns = self.columns.iter().zip(self.exponents.iter().zip(exponents));
        columns
            .map(|(column, (from, to))| {
                let power = libm::ldexp(1.0, from - to);
                column.iter().map(|entry| entry.scaled(power)).collect()
            })
            .collect()
    }
}

/// The triangles of all groups, by label.
pub(super) struct Groups {
    width: usize,
    /// Ascending by label.
    triangles: Vec<(usize, Triangle)>,
}

impl Groups {
    /// Reduces every group of the rows, in one pass.
    ///
    /// # Errors
    /// No rows, no or more than `limit` features, rows of unequal width, or a value that is not finite.
    pub(super) fn of(rows: &[&Row], limit: usize) -> Result<Self, FitError> {
        let width = common_width(rows.iter().map(|row| row.features.len()), limit)?;
        let finite = |row: &Row| row.observed.is_finite() && row.features.iter().all(|value| value.is_finite());
        if let Some(row) = rows.iter().position(|row| !finite(row)) {
            return Err(FitError::NotFinite { row });
        }
        let mut by_label: BTreeMap<usize, Vec<&Row>> = BTreeMap::new();
        for row in rows {
            by_label.entry(row.group).or_default().push(row);
        }
        let groups: Vec<(usize, Vec<&Row>)> = by_label.into_iter().collect();
        let triangles = groups.into_par_iter().map(|(label, rows)| (label, Triangle::of_group(width, rows))).collect();
        Ok(Self { width, triangles })
    }

    /// Of all rows.
    pub(super) fn all(&self) -> Triangle {
        self.triangles.iter().fold(Triangle::empty(self.width), |all, (_, triangle)| all.joined(triangle))
    }

    /// For each group, by ascending label, the triangle of all others: what is before it joined with what is after it.
    pub(super) fn without_each(&self) -> Vec<(usize, Triangle)> {
        let mut after = vec![Triangle::empty(self.width)];
        for (_, triangle) in self.triangles.iter().skip(1).rev() {
            let next = after.last().map(|rest| triangle.joined(rest));
            after.extend(next);
        }
        let mut before = Triangle::empty(self.width);
        let mut others = Vec::with_capacity(self.triangles.len());
        for ((label, triangle), after) in self.triangles.iter().zip(after.iter().rev()) {
            others.push((*label, before.joined(after)));
            before = before.joined(triangle);
        }
        others
    }
}

/// Exponent of the power of two at or below a magnitude.
fn exponent(magnitude: f64) -> i32 {
    if magnitude == 0.0 { NO_EXPONENT } else { libm::ilogb(magnitude) }
}

/// Householder reflections of a triangle on top of a block of rows (both column by column), until the block is zero; the
/// block is used up.
fn reduce(triangle: &mut [Vec<DoubleDouble>], block: &mut [Vec<DoubleDouble>]) {
    for at in 0..triangle.len() {
        let (Some((below, rest)), Some((column, others))) = (
            block.get_mut(at..).and_then(<[_]>::split_first_mut),
            triangle.get_mut(at..).and_then(<[_]>::split_first_mut),
        ) else {
            return;
        };
        let Some(diagonal) = column.get_mut(at) else { return };
        let squares = dot(below, below);
        if squares.is_zero() {
            continue;
        }
        // The reflection's vector is this column less its image; the sign is the one that adds.
        let length = (*diagonal * *diagonal + squares).sqrt();
        let image = if diagonal.rounded() < 0.0 { length } else { -length };
        let head = *diagonal - image;
        let half = length * head.abs();
        *diagonal = image;
        for (upper, lower) in others.iter_mut().zip(rest) {
            let Some(upper) = upper.get_mut(at) else { return };
            let factor = (head * *upper + dot(below, lower)) / half;
            *upper -= factor * head;
            for (entry, &along) in lower.iter_mut().zip(below.iter()) {
                *entry -= factor * along;
            }
        }
    }
}
