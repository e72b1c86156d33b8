//! The weighted and scaled rows themselves, for what asks how each of them counts.

use std::collections::HashMap;

use super::nnls::Row;
use super::{FitError, common_width};

/// The weighted, scaled design: columns of A, and the right side.
#[derive(Debug, Clone)]
pub(super) struct Design {
    /// 1 / (rows of the row's group), per row.
    pub(super) weights: Vec<f64>,
    /// Weighted root mean square of each column; 1 for a column of zeros.
    pub(super) scales: Vec<f64>,
    /// `sqrt(weight) * feature / scale`, column by column.
    pub(super) columns: Vec<Vec<f64>>,
    /// `sqrt(weight) * observed`.
    pub(super) right: Vec<f64>,
}

impl Design {
    /// Weights and scales the rows; both come from these rows alone.
    ///
    /// # Errors
    /// No rows, no or more than `limit` features, rows of unequal width, or a value that is not finite.
    pub(super) fn of(rows: &[&Row], limit: usize) -> Result<Self, FitError> {
        let width = common_width(rows.iter().map(|row| row.features.len()), limit)?;
        let finite = |row: &Row| row.observed.is_finite() && row.features.iter().all(|value| value.is_finite());
        if let Some(row) = rows.iter().position(|row| !finite(row)) {
            return Err(FitError::NotFinite { row });
        }
        let mut counts: HashMap<usize, u32> = HashMap::new();
        for row in rows {
            *counts.entry(row.group).or_default() += 1;
        }
        let weights: Vec<f64> =
            rows.iter().map(|row| 1.0 / f64::from(counts.get(&row.group).copied().unwrap_or(1))).collect();
        let total: f64 = weights.iter().sum();
        let mut scales = Vec::with_capacity(width);
        let mut columns = Vec::with_capacity(width);
        for feature in 0..width {
            let column: Vec<f64> = rows.iter().filter_map(|row| row.features.get(feature).copied()).collect();
            let scale = weighted_rms(&column, &weights, total);
            columns.push(column.iter().zip(&weights).map(|(value, weight)| weight.sqrt() * (value / scale)).collect());
            scales.push(scale);
        }
        let right = rows.iter().zip(&weights).map(|(row, weight)| weight.sqrt() * row.observed).collect();
        Ok(Self { weights, scales, columns, right })
    }
}

/// Weighted root mean square of finite values; 1 for zeros only, so that the column stays zero (and its subsets are rank
/// deficient) instead of becoming NaN.
fn weighted_rms(column: &[f64], weights: &[f64], total: f64) -> f64 {
    let unit = binade(column);
    let squares: f64 = column.iter().zip(weights).map(|(value, weight)| weight * square(value / unit)).sum();
    let scale = unit * (squares / total).sqrt();
    if scale > 0.0 { scale } else { 1.0 }
}

/// Euclidean length of finite values.
pub(super) fn norm(values: &[f64]) -> f64 {
    let unit = binade(values);
    unit * values.iter().map(|value| square(value / unit)).sum::<f64>().sqrt()
}

fn square(value: f64) -> f64 {
    value * value
}

/// The power of two at or below the largest magnitude, for taking squares relative to it: that changes no bit of the
/// result, and neither 1e200 nor 1e-200 is lost when squared.
fn binade(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    f64::from_bits(largest.to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE)
}
