//! The same fit without rounding: over the rationals, where an optimum is one number and not a neighbourhood.
//!
//! Columns are brought to integers once, each group's normal equations are summed once, and a fit without some group is
//! the total less that group. Subsets are eliminated in integers; only results become fractions. There are no tolerances:
//! a coefficient is negative or it is not, and two errors are equal or they are not. Scaling the columns, as the binary64
//! procedure does, would change nothing here.

mod binary64;
mod elimination;
mod number;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use self::elimination::{Eliminated, Symmetric, eliminate};
use self::number::reduced;
use super::{FitError, MAX_FEATURES, active_columns, common_width, masks};

pub use self::number::{nearest_f64, parse_decimal, rational, ulp_distance};

/// Machine operations that all subsets of one fit may be estimated to need: some seconds. Three features of the most
/// hostile binary64 columns stay a hundred times below it.
const WORK_LIMIT: f64 = 1e10;

/// One observation, exactly.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactRow {
    /// Any label; rows of equal label share the weight of one group.
    pub group: usize,
    /// Feature values.
    pub features: Vec<BigRational>,
    /// What was measured.
    pub observed: BigRational,
}

/// The normal equations of every group and of all together, in integers.
#[derive(Debug, Clone)]
pub struct GroupSums {
    /// Per label: the group's sums of products of features and observation, over its number of rows.
    groups: BTreeMap<usize, Symmetric>,
    /// The sum of all groups.
    total: Symmetric,
    /// What each feature was multiplied by to be integers.
    feature_multipliers: Vec<BigInt>,
    /// The same for the observations.
    observed_multiplier: BigInt,
    /// What the weights were multiplied by to be integers: the least common multiple of the groups' row counts.
    weight_multiplier: BigInt,
}

/// An optimal nonnegative model.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactFit {
    /// All subsets, by ascending mask.
    pub subsets: Vec<ExactSubset>,
    /// The chosen subset: smallest error, then fewest features, then smallest mask.
    pub mask: u32,
    /// One coefficient per feature; zero where inactive.
    pub coefficients: Vec<BigRational>,
    /// Sum over rows of weight * (predicted - observed)^2.
    pub weighted_sse: BigRational,
    /// Whether the Karush-Kuhn-Tucker conditions hold, exactly. They always do at the best feasible subset; a false here
    /// is a fault of this solver.
    pub kkt_holds: bool,
}

/// One subset of active features.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactSubset {
    /// Bit i stands for feature i.
    pub mask: u32,
    /// What became of it.
    pub outcome: ExactOutcome,
}

/// What became of a subset.
#[derive(Debug, Clone, PartialEq)]
pub enum ExactOutcome {
    /// Its columns do not determine coefficients.
    RankDeficient {
        /// Rank of the active columns.
        rank: usize,
    },
    /// A coefficient is negative.
    NegativeActive,
    /// A candidate.
    Feasible {
        /// Coefficients of all features; zero where inactive.
        coefficients: Vec<BigRational>,
        /// Sum over rows of weight * (predicted - observed)^2.
        weighted_sse: BigRational,
    },
}

impl GroupSums {
    /// Sums up the rows; their order changes nothing.
    ///
    /// # Errors
    /// No rows, no features, rows of unequal width, or a denominator of zero.
    pub fn accumulate(rows: &[ExactRow]) -> Result<Self, FitError> {
        let width = common_width(rows.iter().map(|row| row.features.len()), usize::MAX)?;
        // Only an unchecked constructor makes these, but dividing by one would panic.
        if let Some(row) = rows.iter().position(|row| columns(row).any(|value| value.denom().is_zero())) {
            return Err(FitError::NotFinite { row });
        }
        let mut multipliers = vec![BigInt::one(); width + 1];
        for row in rows {
            for (multiplier, value) in multipliers.iter_mut().zip(columns(row)) {
                if !value.denom().is_one() && !multiplier.is_multiple_of(value.denom()) {
                    *multiplier = multiplier.lcm(value.denom());
                }
            }
        }
        let mut groups: BTreeMap<usize, (Symmetric, u64)> = BTreeMap::new();
        for row in rows {
            let integers: Vec<BigInt> = columns(row)
                .zip(&multipliers)
                .map(|(value, multiplier)| value.numer() * (multiplier / value.denom()))
                .collect();
            let (sums, count) = groups.entry(row.group).or_insert_with(|| (Symmetric::zero(width + 1), 0));
            sums.add_square(&integers);
            *count += 1;
        }
        Ok(Self::weighted(groups, multipliers))
    }

    /// Weighs the sums of each group's rows, of which there are as many as said; the last multiplier is the observations'.
    fn weighted(mut groups: BTreeMap<usize, (Symmetric, u64)>, mut multipliers: Vec<BigInt>) -> Self {
        let weight_multiplier =
            groups.values().fold(BigInt::one(), |multiple, (_, count)| multiple.lcm(&BigInt::from(*count)));
        let mut total = Symmetric::zero(multipliers.len());
        for (sums, count) in groups.values_mut() {
            let weight = &weight_multiplier / BigInt::from(*count);
            for (entry, sum) in sums.entries_mut().iter_mut().zip(total.entries_mut()) {
                *entry *= &weight;
                *sum += &*entry;
            }
        }
        let groups = groups.into_iter().map(|(label, (sums, _))| (label, sums)).collect();
        let observed_multiplier = multipliers.pop().unwrap_or_else(BigInt::one);
        Self { groups, total, feature_multipliers: multipliers, observed_multiplier, weight_multiplier }
    }

    /// The groups' labels, ascending.
    pub fn groups(&self) -> impl Iterator<Item = usize> + '_ {
        self.groups.keys().copied()
    }

    /// Fits nonnegative coefficients to all rows but those of one group.
    ///
    /// # Errors
    /// [`FitError::UnknownGroup`] for a label without rows, [`FitError::NoRows`] where that group is the only one,
    /// [`FitError::TooManyFeatures`] beyond [`MAX_FEATURES`], [`FitError::TooLong`] for values that would take too long.
    pub fn fit(&self, excluded: Option<usize>) -> Result<ExactFit, FitError> {
        let bordered = self.without(excluded)?;
        let width = bordered.side().saturating_sub(1);
        if width > MAX_FEATURES {
            return Err(FitError::TooManyFeatures { found: width, limit: MAX_FEATURES });
        }
        refuse_endless(&bordered, f64::from(masks(width).end))?;
        let mut subsets = Vec::with_capacity(masks(width).len());
        let mut best: Option<Candidate> = None;
        for mask in masks(width) {
            let active = active_columns(mask, width);
            let outcome = match eliminate(&bordered, &active) {
                Eliminated::Deficient { rank } => ExactOutcome::RankDeficient { rank },
                Eliminated::Solved { numerators, .. } if numerators.iter().any(Signed::is_negative) => {
                    ExactOutcome::NegativeActive
                }
                Eliminated::Solved { numerators, determinant, corner } => {
                    let outcome = ExactOutcome::Feasible {
                        coefficients: self.coefficients(&active, &numerators, &determinant),
                        weighted_sse: self.squared_error(&corner, &determinant),
                    };
                    let candidate = Candidate { mask, active, numerators, determinant, corner };
                    if best.as_ref().is_none_or(|best| candidate.beats(best)) {
                        best = Some(candidate);
                    }
                    outcome
                }
            };
            subsets.push(ExactSubset { mask, outcome });
        }
        // The empty subset is feasible, so that there always is a best one.
        let best = best.ok_or(FitError::NoRows)?;
        Ok(ExactFit {
            subsets,
            mask: best.mask,
            coefficients: self.coefficients(&best.active, &best.numerators, &best.determinant),
            weighted_sse: self.squared_error(&best.corner, &best.determinant),
            kkt_holds: best.is_optimal(&bordered),
        })
    }

    /// The bordered normal equations of all groups but one.
    fn without(&self, excluded: Option<usize>) -> Result<Symmetric, FitError> {
        let mut bordered = self.total.clone();
        if let Some(group) = excluded {
            let sums = self.groups.get(&group).ok_or(FitError::UnknownGroup { group })?;
            if self.groups.len() == 1 {
                return Err(FitError::NoRows);
            }
            for (entry, part) in bordered.entries_mut().iter_mut().zip(sums.entries()) {
                *entry -= part;
            }
        }
        Ok(bordered)
    }

    /// Undoes the multipliers: coefficients of all features from the active columns' solution.
    fn coefficients(&self, active: &[usize], numerators: &[BigInt], determinant: &BigInt) -> Vec<BigRational> {
        let denominator = &self.observed_multiplier * determinant;
        let mut coefficients = vec![BigRational::zero(); self.feature_multipliers.len()];
        for (&column, numerator) in active.iter().zip(numerators) {
            if let (Some(coefficient), Some(multiplier)) =
                (coefficients.get_mut(column), self.feature_multipliers.get(column))
            {
                *coefficient = reduced(numerator * multiplier, denominator.clone());
            }
        }
        coefficients
    }

    /// Undoes the multipliers: the weighted squared error from the eliminated corner.
    fn squared_error(&self, corner: &BigInt, determinant: &BigInt) -> BigRational {
        let multiplier = &self.weight_multiplier * &self.observed_multiplier * &self.observed_multiplier;
        reduced(corner.clone(), determinant * multiplier)
    }
}

/// Least squares over all features with the same weights, without a bound on sign or number of features.
///
/// # Errors
/// As for [`GroupSums::accumulate`], and [`FitError::RankDeficient`] where the features do not determine the
/// coefficients, or [`FitError::TooLong`].
pub fn least_squares(rows: &[ExactRow]) -> Result<Vec<BigRational>, FitError> {
    let sums = GroupSums::accumulate(rows)?;
    refuse_endless(&sums.total, 1.0)?;
    let active: Vec<usize> = (0..sums.feature_multipliers.len()).collect();
    match eliminate(&sums.total, &active) {
        Eliminated::Deficient { rank } => Err(FitError::RankDeficient { rank, columns: active.len() }),
        Eliminated::Solved { numerators, determinant, .. } => Ok(sums.coefficients(&active, &numerators, &determinant)),
    }
}

/// A feasible subset, before it is divided out.
struct Candidate {
    mask: u32,
    active: Vec<usize>,
    numerators: Vec<BigInt>,
    determinant: BigInt,
    corner: BigInt,
}

impl Candidate {
    /// Smaller error, then fewer features, then the smaller mask.
    fn beats(&self, best: &Candidate) -> bool {
        let error = (&self.corner * &best.determinant).cmp(&(&best.corner * &self.determinant));
        let size = |candidate: &Candidate| (candidate.mask.count_ones(), candidate.mask);
        error.then_with(|| size(self).cmp(&size(best))) == Ordering::Less
    }

    /// The gradient is zero along active columns and not negative along the others, no coefficient is negative.
    fn is_optimal(&self, bordered: &Symmetric) -> bool {
        let border = bordered.side().saturating_sub(1);
        let entry = |row, column| bordered.at(row, column).cloned().unwrap_or_default();
        let stationary = (0..border).all(|column| {
            let mut gradient = -(entry(column, border) * &self.determinant);
            for (&other, numerator) in self.active.iter().zip(&self.numerators) {
                gradient += entry(column, other) * numerator;
            }
            if self.active.contains(&column) { gradient.is_zero() } else { !gradient.is_negative() }
        });
        stationary && !self.numerators.iter().any(Signed::is_negative)
    }
}

fn columns(row: &ExactRow) -> impl Iterator<Item = &BigRational> {
    row.features.iter().chain([&row.observed])
}

/// Refuses eliminations that would take more than [`WORK_LIMIT`]: cubic in the side, with products of minors, whose
/// length is that of the entries times the side.
fn refuse_endless(bordered: &Symmetric, eliminations: f64) -> Result<(), FitError> {
    let bits = bordered.entries().iter().map(BigInt::bits).max().unwrap_or(0);
    let side = bordered.side() as f64;
    let words = 1.0 + side * bits as f64 / 64.0;
    if eliminations * side.powi(3) * words.powi(2) > WORK_LIMIT { Err(FitError::TooLong { bits }) } else { Ok(()) }
}
