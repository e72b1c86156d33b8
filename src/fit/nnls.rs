//! Nonnegative least squares in binary64, by trying every subset of active features.
//!
//! The published procedure: each group of rows weighs the same, columns are divided by their weighted root mean square,
//! every subset is solved by singular values, and the feasible subset with the smallest error wins. With three features
//! there are eight subsets, so that enumeration is cheaper than an active-set method and shows its work.

use std::collections::HashMap;

use super::double_double::DoubleDouble;
use super::lstsq::Solution;
use super::problem::{Coefficients, Problem};
use super::triangle::{Groups, Triangle};
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

/// Fits nonnegative coefficients. Nothing but the rows enters, and not their order.
///
/// # Errors
/// No rows, no or more than [`MAX_FEATURES`] features, rows of unequal width, values that are not finite, no convergence,
/// or a coefficient or an error beyond binary64.
pub fn fit(rows: &[Row]) -> Result<Fit, FitError> {
    fit_of(&rows.iter().collect::<Vec<_>>())
}

/// [`fit`] on rows picked from elsewhere.
pub(super) fn fit_of(rows: &[&Row]) -> Result<Fit, FitError> {
    fit_triangle(&Groups::of(rows, MAX_FEATURES)?.all())
}

/// The fit of the rows that a triangle stands for.
pub(super) fn fit_triangle(triangle: &Triangle) -> Result<Fit, FitError> {
    let problem = Problem::of(triangle)?;
    let width = problem.scales.len();
    let mut subsets = Vec::with_capacity(masks(width).len());
    let mut best: Option<Candidate> = None;
    for mask in masks(width) {
        let (outcome, candidate) = solve_subset(&problem, mask)?;
        if let Some(candidate) = candidate
            && best.as_ref().is_none_or(|best| candidate.beats(best))
        {
            best = Some(candidate);
        }
        subsets.push(Subset { mask, outcome });
    }
    // The empty subset is feasible, so that there always is a best one.
    let Candidate { mask, coefficients, sse } = best.ok_or(FitError::NoConvergence)?;
    let whole = problem.solve_all()?;
    let kkt = problem.kkt(&coefficients)?;
    Ok(Fit {
        coefficients: coefficients.values,
        active_mask: mask,
        weighted_sse: sse,
        scales: problem.scales,
        subsets,
        rank: whole.rank,
        singular_values: whole.singular_values,
        kkt,
    })
}

/// The weight of each row in every fit that it takes part in: 1 / (rows of its group).
pub fn weights(rows: &[Row]) -> Vec<f64> {
    let mut counts: HashMap<usize, u32> = HashMap::new();
    for row in rows {
        *counts.entry(row.group).or_default() += 1;
    }
    rows.iter().map(|row| 1.0 / f64::from(counts.get(&row.group).copied().unwrap_or(1))).collect()
}

/// Ordinary least squares with the same weights and scales, on all features and without a bound on their number or sign.
///
/// # Errors
/// As for [`fit`], and [`FitError::RankDeficient`] where the features do not determine the coefficients.
pub fn least_squares(rows: &[Row]) -> Result<Vec<f64>, FitError> {
    let problem = Problem::of(&Groups::of(&rows.iter().collect::<Vec<_>>(), usize::MAX)?.all())?;
    let columns = problem.scales.len();
    let all: Vec<usize> = (0..columns).collect();
    let solution = problem.solve(&all)?;
    let scaled = solution.values.ok_or(FitError::RankDeficient { rank: solution.rank, columns })?;
    Ok(problem.coefficients(&all, &scaled)?.values)
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
    coefficients: Coefficients,
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

fn solve_subset(problem: &Problem, mask: u32) -> Result<(SubsetOutcome, Option<Candidate>), FitError> {
    let active = active_columns(mask, problem.scales.len());
    let Solution { values, rank, singular_values } = problem.solve(&active)?;
    let Some(mut solved) = values else {
        return Ok((SubsetOutcome::RankDeficient { rank }, None));
    };
    let values = problem.in_unit(&solved)?;
    let largest = values.iter().fold(1.0_f64, |largest, value| largest.max(value.abs()));
    if values.iter().any(|&value| value < -(NEGATIVE_TOLERANCE * largest)) {
        return Ok((SubsetOutcome::NegativeActive, None));
    }
    for value in solved.iter_mut().filter(|value| value.rounded() < 0.0) {
        *value = DoubleDouble::ZERO;
    }
    let coefficients = problem.coefficients(&active, &solved)?;
    let weighted_sse = problem.weighted_sse(&coefficients)?;
    let condition = singular_values.first().zip(singular_values.last()).map(|(first, last)| first / last);
    let outcome = SubsetOutcome::Feasible {
        coefficients: coefficients.values.clone(),
        weighted_sse,
        rank,
        singular_values,
        condition,
    };
    Ok((outcome, Some(Candidate { mask, coefficients, sse: weighted_sse })))
}
