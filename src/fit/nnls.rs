//! Nonnegative least squares in binary64, by trying every subset of active features.
//!
//! The published procedure: each group of rows weighs the same, columns are divided by their weighted root mean square,
//! every subset is solved by singular values, and the feasible subset with the smallest error wins. With three features
//! there are eight subsets, so that enumeration is cheaper than an active-set method and shows its work.

use super::design::{Design, norm};
use super::lstsq::{self, Solution};
use super::{FitError, MAX_FEATURES, active_columns, masks};

/// A scaled solution may be this far below zero, relative to its largest magnitude (at least 1), before its subset counts
/// as infeasible. The producer's constant, `positive_coefficient_tolerance`.
pub const NEGATIVE_TOLERANCE: f64 = 1e-12;

/// Errors closer than this, relative to the larger of both and 1, are ties. The producer's constant,
/// `objective_tie_tolerance`.
pub const TIE_TOLERANCE: f64 = 1e-12;

/// One observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Any label; rows of equal label share the weight of one group.
    pub group: usize,
    /// Feature values.
    pub features: Vec<f64>,
    /// What was measured.
    pub observed: f64,
}

/// A fitted model, and everything the procedure recorded on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// One nonnegative coefficient per feature, in the unit of the observations per unit of the feature.
    pub coefficients: Vec<f64>,
    /// Features of the chosen subset: bit i stands for feature i.
    pub active_mask: u32,
    /// Sum over rows of weight * (predicted - observed)^2.
    pub weighted_sse: f64,
    /// Weighted root mean square of each feature; 1 for a feature that is always zero.
    pub scales: Vec<f64>,
    /// 1 / (rows of the row's group), in the order of the rows.
    pub weights: Vec<f64>,
    /// All subsets, by ascending mask.
    pub subsets: Vec<Subset>,
    /// Rank of the whole scaled design.
    pub rank: usize,
    /// Singular values of the whole scaled design, descending.
    pub singular_values: Vec<f64>,
    /// Whether the chosen coefficients are optimal.
    pub kkt: Kkt,
}

/// One subset of active features.
#[derive(Debug, Clone, PartialEq)]
pub struct Subset {
    /// Bit i stands for feature i.
    pub mask: u32,
    /// What became of it.
    pub outcome: SubsetOutcome,
}

/// What became of a subset.
#[derive(Debug, Clone, PartialEq)]
pub enum SubsetOutcome {
    /// Its columns do not determine coefficients.
    RankDeficient {
        /// Rank of the active block.
        rank: usize,
    },
    /// A coefficient is negative beyond tolerance.
    NegativeActive,
    /// A candidate.
    Feasible {
        /// Unscaled coefficients of all features; zero where inactive.
        coefficients: Vec<f64>,
        /// Sum over rows of weight * (predicted - observed)^2.
        weighted_sse: f64,
        /// Number of active features.
        rank: usize,
        /// Singular values of the active block, descending.
        singular_values: Vec<f64>,
        /// Largest over smallest singular value; `None` for the empty subset.
        condition: Option<f64>,
    },
}

/// The Karush-Kuhn-Tucker conditions at the chosen coefficients: the objective's gradient is zero for positive
/// coefficients and not negative for those at zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Kkt {
    /// Half the gradient of the weighted objective by each scaled coefficient.
    pub gradient: Vec<f64>,
    /// The largest violation. Each is relative to `|column| * (|right side| + sum of |column| * |coefficient|)`, which
    /// bounds the gradient and is what its rounding errors are relative to.
    pub worst_violation: f64,
    /// `8 * (rows + features) * features * eps`: the backward error of a least-squares solution by orthogonal
    /// transformations, plus the rounding of residuals and inner products, with a small constant.
    pub tolerance: f64,
    /// Whether the worst violation is within the tolerance. Where the tie rule preferred fewer features over a slightly
    /// smaller error, or a negative was clipped, it need not be.
    pub holds: bool,
}

/// Fits nonnegative coefficients. Nothing but the rows enters; their order matters only to rounding.
///
/// # Errors
/// No rows, no or more than [`MAX_FEATURES`] features, rows of unequal width, values that are not finite, no convergence,
/// or a coefficient or an error beyond binary64.
pub fn fit(rows: &[Row]) -> Result<Fit, FitError> {
    fit_of(&rows.iter().collect::<Vec<_>>())
}

/// [`fit`] on rows picked from elsewhere.
pub(super) fn fit_of(rows: &[&Row]) -> Result<Fit, FitError> {
    let design = Design::of(rows, MAX_FEATURES)?;
    let width = design.scales.len();
    let mut subsets = Vec::with_capacity(masks(width).len());
    let mut best: Option<Candidate> = None;
    for mask in masks(width) {
        let outcome = solve_subset(rows, &design, mask)?;
        if let SubsetOutcome::Feasible { coefficients, weighted_sse, .. } = &outcome {
            let candidate = Candidate { mask, coefficients: coefficients.clone(), sse: *weighted_sse };
            if best.as_ref().is_none_or(|best| candidate.beats(best)) {
                best = Some(candidate);
            }
        }
        subsets.push(Subset { mask, outcome });
    }
    // The empty subset is feasible, so that there always is a best one.
    let Candidate { mask, coefficients, sse } = best.ok_or(FitError::NoConvergence)?;
    let whole = solve(&design, &(0..width).collect::<Vec<_>>())?;
    let kkt = kkt(rows, &design, &coefficients)?;
    Ok(Fit {
        coefficients,
        active_mask: mask,
        weighted_sse: sse,
        scales: design.scales,
        weights: design.weights,
        subsets,
        rank: whole.rank,
        singular_values: whole.singular_values,
        kkt,
    })
}

/// Ordinary least squares with the same weights and scales, on all features and without a bound on their number or sign.
///
/// # Errors
/// As for [`fit`], and [`FitError::RankDeficient`] where the features do not determine the coefficients.
pub fn least_squares(rows: &[Row]) -> Result<Vec<f64>, FitError> {
    let rows: Vec<&Row> = rows.iter().collect();
    let design = Design::of(&rows, usize::MAX)?;
    let columns = design.scales.len();
    let solution = solve(&design, &(0..columns).collect::<Vec<_>>())?;
    let scaled = solution.values.ok_or(FitError::RankDeficient { rank: solution.rank, columns })?;
    let coefficients: Vec<f64> = scaled.iter().zip(&design.scales).map(|(value, scale)| value / scale).collect();
    finite(coefficients, "coefficient")
}

/// The model's value at `features`: the products, added from left to right.
pub fn predict(coefficients: &[f64], features: &[f64]) -> f64 {
    coefficients
        .iter()
        .zip(features)
        .map(|(coefficient, feature)| coefficient * feature)
        .fold(0.0, |sum, term| sum + term)
}

struct Candidate {
    mask: u32,
    coefficients: Vec<f64>,
    sse: f64,
}

impl Candidate {
    /// Smaller error beyond a tie; within it fewer features, then the smaller mask.
    fn beats(&self, best: &Candidate) -> bool {
        let tie = TIE_TOLERANCE * self.sse.max(best.sse).max(1.0);
        let simpler = (self.mask.count_ones(), self.mask) < (best.mask.count_ones(), best.mask);
        self.sse < best.sse - tie || ((self.sse - best.sse).abs() <= tie && simpler)
    }
}

fn solve(design: &Design, active: &[usize]) -> Result<Solution, FitError> {
    let columns: Vec<&[f64]> =
        active.iter().filter_map(|&column| design.columns.get(column).map(Vec::as_slice)).collect();
    lstsq::solve(&columns, &design.right)
}

fn solve_subset(rows: &[&Row], design: &Design, mask: u32) -> Result<SubsetOutcome, FitError> {
    let width = design.scales.len();
    let active = active_columns(mask, width);
    let Solution { values, rank, singular_values } = solve(design, &active)?;
    let Some(values) = values else {
        return Ok(SubsetOutcome::RankDeficient { rank });
    };
    let values = finite(values, "scaled coefficient")?;
    let largest = values.iter().fold(1.0_f64, |largest, value| largest.max(value.abs()));
    if values.iter().any(|&value| value < -(NEGATIVE_TOLERANCE * largest)) {
        return Ok(SubsetOutcome::NegativeActive);
    }
    let mut coefficients = vec![0.0; width];
    for (&column, value) in active.iter().zip(values) {
        if let (Some(coefficient), Some(scale)) = (coefficients.get_mut(column), design.scales.get(column)) {
            *coefficient = value.max(0.0) / scale;
        }
    }
    let coefficients = finite(coefficients, "coefficient")?;
    let weighted_sse = weighted_sse(rows, &design.weights, &coefficients)?;
    let condition = singular_values.first().zip(singular_values.last()).map(|(first, last)| first / last);
    Ok(SubsetOutcome::Feasible { coefficients, weighted_sse, rank, singular_values, condition })
}

fn weighted_sse(rows: &[&Row], weights: &[f64], coefficients: &[f64]) -> Result<f64, FitError> {
    let error = |row: &Row| predict(coefficients, &row.features) - row.observed;
    let sse: f64 = rows.iter().zip(weights).map(|(row, weight)| weight * error(row).powi(2)).sum();
    if sse.is_finite() { Ok(sse) } else { Err(FitError::OutOfRange { what: "weighted squared error" }) }
}

fn kkt(rows: &[&Row], design: &Design, coefficients: &[f64]) -> Result<Kkt, FitError> {
    let residuals: Vec<f64> = rows
        .iter()
        .zip(&design.weights)
        .map(|(row, weight)| weight.sqrt() * (predict(coefficients, &row.features) - row.observed))
        .collect();
    let norms: Vec<f64> = design.columns.iter().map(|column| norm(column)).collect();
    let predicted: f64 = norms
        .iter()
        .zip(coefficients.iter().zip(&design.scales))
        .map(|(norm, (coefficient, scale))| norm * (coefficient * scale))
        .sum();
    let reach = norm(&design.right) + predicted;
    let gradient: Vec<f64> = design.columns.iter().map(|column| predict(column, &residuals)).collect();
    let violations = gradient.iter().zip(coefficients).zip(&norms).map(|((&gradient, &coefficient), norm)| {
        let violation = if coefficient > 0.0 { gradient.abs() } else { (-gradient).max(0.0) };
        if violation > 0.0 { violation / (norm * reach) } else { 0.0 }
    });
    let worst_violation = violations.fold(0.0, f64::max);
    if !worst_violation.is_finite() || gradient.iter().any(|value| !value.is_finite()) {
        return Err(FitError::OutOfRange { what: "gradient" });
    }
    let width = design.scales.len();
    let tolerance = 8.0 * ((rows.len() + width) * width) as f64 * f64::EPSILON;
    Ok(Kkt { gradient, worst_violation, tolerance, holds: worst_violation <= tolerance })
}

fn finite(values: Vec<f64>, what: &'static str) -> Result<Vec<f64>, FitError> {
    if values.iter().all(|value| value.is_finite()) { Ok(values) } else { Err(FitError::OutOfRange { what }) }
}
