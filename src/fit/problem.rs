//! The scaled problem that a triangle stands for: what the published procedure solves for every subset.

use super::double_double::{DoubleDouble, dot, length};
use super::lstsq::{self, Solution};
use super::nnls::Kkt;
use super::triangle::Triangle;
use super::{FitError, active_columns};

/// A design whose columns have a weighted root mean square of 1, and the right side.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    /// Rows that it stands for.
    rows: usize,
    /// Weighted root mean square of each feature; 1 for a column of zeros.
    pub(super) scales: Vec<f64>,
    /// The columns, divided by their scales.
    columns: Vec<Vec<DoubleDouble>>,
    /// The right side, over two to the power of `exponent`.
    right: Vec<DoubleDouble>,
    exponent: i32,
}

/// One coefficient per feature.
#[derive(Debug, Clone)]
pub(super) struct Coefficients {
    /// In the unit of the observations per unit of the feature.
    pub(super) values: Vec<f64>,
    /// Times the scales, over two to the power of the right side's exponent.
    scaled: Vec<DoubleDouble>,
}

impl Problem {
    /// Scales the triangle's columns; scales come from its rows alone.
    ///
    /// # Errors
    /// A triangle of no rows.
    pub(super) fn of(triangle: &Triangle) -> Result<Self, FitError> {
        let Some((right, features)) = triangle.columns.split_last().filter(|_| triangle.rows > 0) else {
            return Err(FitError::NoRows);
        };
        // Each group has the weight 1.
        let total = DoubleDouble::from(triangle.groups as f64).sqrt();
        let mut scales = Vec::with_capacity(features.len());
        let mut columns = Vec::with_capacity(features.len());
        for (column, &exponent) in features.iter().zip(&triangle.exponents) {
            // The scale is a binary64, as published; what it lacks of the root mean square the columns have.
            let scale = (length(column) / total).rounded();
            if scale == 0.0 {
                // The column stays zero, and its subsets are rank deficient, instead of becoming NaN.
                scales.push(1.0);
                columns.push(column.clone());
            } else {
                scales.push(libm::ldexp(scale, exponent));
                columns.push(column.iter().map(|&entry| entry / DoubleDouble::from(scale)).collect());
            }
        }
        let exponent = triangle.exponents.last().copied().unwrap_or(0);
        // A right side of zeros only has no exponent.
        let exponent = if right.iter().all(|entry| entry.is_zero()) { 0 } else { exponent };
        Ok(Self { rows: triangle.rows, scales, columns, right: right.clone(), exponent })
    }

    /// Solves for the active columns.
    pub(super) fn solve(&self, active: &[usize]) -> Result<Solution, FitError> {
        let columns: Vec<&[DoubleDouble]> =
            active.iter().filter_map(|&column| self.columns.get(column).map(Vec::as_slice)).collect();
        lstsq::solve(&columns, &self.right, self.rows)
    }

    /// Solves for all columns.
    pub(super) fn solve_all(&self) -> Result<Solution, FitError> {
        self.solve(&active_columns(u32::MAX, self.columns.len()))
    }

    /// A solution in the unit of the observations.
    ///
    /// # Errors
    /// A value beyond binary64.
    pub(super) fn in_unit(&self, solution: &[DoubleDouble]) -> Result<Vec<f64>, FitError> {
        let values = solution.iter().map(|value| libm::ldexp(value.rounded(), self.exponent)).collect();
        finite(values, "scaled coefficient")
    }

    /// Coefficients of all features from a solution for the active columns.
    ///
    /// # Errors
    /// A coefficient beyond binary64.
    pub(super) fn coefficients(&self, active: &[usize], solution: &[DoubleDouble]) -> Result<Coefficients, FitError> {
        let mut values = vec![0.0; self.scales.len()];
        let mut scaled = vec![DoubleDouble::ZERO; self.scales.len()];
        for (&column, &solved) in active.iter().zip(solution) {
            let (Some(value), Some(kept), Some(&scale)) =
                (values.get_mut(column), scaled.get_mut(column), self.scales.get(column))
            else {
                continue;
            };
            // Both significands near 1, so that only the last step may leave binary64's range.
            let exponent = libm::ilogb(scale);
            let significand = DoubleDouble::from(libm::ldexp(scale, -exponent));
            let rounded = (solved / significand).rounded();
            *value = libm::ldexp(rounded, self.exponent - exponent);
            // Errors are those of the coefficient that is given, which was rounded.
            *kept = DoubleDouble::from(rounded) * significand;
        }
        Ok(Coefficients { values: finite(values, "coefficient")?, scaled })
    }

    /// Sum over rows of weight * (predicted - observed)^2.
    ///
    /// # Errors
    /// A sum beyond binary64.
    pub(super) fn weighted_sse(&self, coefficients: &Coefficients) -> Result<f64, FitError> {
        let errors = self.errors(coefficients);
        let sse = libm::ldexp(dot(&errors, &errors).rounded(), 2 * self.exponent);
        if sse.is_finite() { Ok(sse) } else { Err(FitError::OutOfRange { what: "weighted squared error" }) }
    }

    /// The optimality conditions.
    ///
    /// # Errors
    /// A gradient beyond binary64.
    pub(super) fn kkt(&self, coefficients: &Coefficients) -> Result<Kkt, FitError> {
        let errors = self.errors(coefficients);
        let norms: Vec<f64> = self.columns.iter().map(|column| length(column).rounded()).collect();
        let scaled: Vec<f64> = coefficients.scaled.iter().map(|value| value.rounded()).collect();
        let predicted: f64 = norms.iter().zip(&scaled).map(|(norm, value)| norm * value).sum();
        let reach = length(&self.right).rounded() + predicted;
        let gradient: Vec<f64> = self.columns.iter().map(|column| dot(column, &errors).rounded()).collect();
        let violations = gradient.iter().zip(&coefficients.values).zip(&norms).map(|((&gradient, &value), norm)| {
            let violation = if value > 0.0 { gradient.abs() } else { (-gradient).max(0.0) };
            if violation > 0.0 { violation / (norm * reach) } else { 0.0 }
        });
        let worst_violation = violations.fold(0.0, f64::max);
        let gradient: Vec<f64> = gradient.iter().map(|&value| libm::ldexp(value, self.exponent)).collect();
        if !worst_violation.is_finite() || gradient.iter().any(|value| !value.is_finite()) {
            return Err(FitError::OutOfRange { what: "gradient" });
        }
        let width = self.scales.len();
        let tolerance = 8.0 * ((self.rows + width) * width) as f64 * f64::EPSILON;
        Ok(Kkt { gradient, worst_violation, tolerance, holds: worst_violation <= tolerance })
    }

    /// Predicted less observed, in the triangle's coordinates and over two to the power of the exponent.
    fn errors(&self, coefficients: &Coefficients) -> Vec<DoubleDouble> {
        let mut errors: Vec<DoubleDouble> = self.right.iter().map(|&entry| -entry).collect();
        for (column, &value) in self.columns.iter().zip(&coefficients.scaled) {
            if !value.is_zero() {
                for (error, &entry) in errors.iter_mut().zip(column) {
                    *error += value * entry;
                }
            }
        }
        errors
    }
}

fn finite(values: Vec<f64>, what: &'static str) -> Result<Vec<f64>, FitError> {
    if values.iter().all(|value| value.is_finite()) { Ok(values) } else { Err(FitError::OutOfRange { what }) }
}
