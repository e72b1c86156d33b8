//! Why a fit, a decision or a metric could not be computed.

use thiserror::Error;

/// A request that has no answer. Rows are counted from 0, in the order they were handed in.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FitError {
    /// Nothing to fit, decide or summarise.
    #[error("there are no rows to compute with")]
    NoRows,
    /// Rows without a single feature.
    #[error("the rows have no features")]
    NoFeatures,
    /// More features than subsets can be enumerated for.
    #[error("{found} features, but at most {limit} can be handled")]
    TooManyFeatures {
        /// Features of the first row.
        found: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// Rows that disagree on the number of features.
    #[error("row {row} has {found} features where the first row has {expected}")]
    UnequalRows {
        /// The row.
        row: usize,
        /// Features of the first row.
        expected: usize,
        /// Features of this row.
        found: usize,
    },
    /// A NaN or an infinity in the data.
    #[error("row {row} holds a value that is not finite")]
    NotFinite {
        /// The row.
        row: usize,
    },
    /// The columns do not determine all coefficients.
    #[error("the {columns} columns have rank {rank}, so their coefficients are not determined")]
    RankDeficient {
        /// Independent columns.
        rank: usize,
        /// Columns.
        columns: usize,
    },
    /// The singular value decomposition did not settle within its bound on iterations, or not on finite numbers.
    #[error("the singular value decomposition did not converge")]
    NoConvergence,
    /// A result that binary64 cannot hold.
    #[error("the {what} exceeds what binary64 can hold")]
    OutOfRange {
        /// The quantity.
        what: &'static str,
    },
    /// Exact integers so long that eliminating them would not end in reasonable time.
    #[error("the exact values are {bits} bits long, too long to solve exactly")]
    TooLong {
        /// Length of the longest integer.
        bits: u64,
    },
    /// A size that must be at least one.
    #[error("{what} must not be zero")]
    Zero {
        /// The size.
        what: &'static str,
    },
    /// A derived size beyond 64 bits.
    #[error("{what} exceeds 64 bits")]
    Overflow {
        /// The size.
        what: &'static str,
    },
    /// A group that no row belongs to.
    #[error("no row belongs to group {group}")]
    UnknownGroup {
        /// The label asked for.
        group: usize,
    },
    /// A score that is not a duration.
    #[error("the score {score} of {schedule} is not finite and positive")]
    Score {
        /// Schedule scored.
        schedule: &'static str,
        /// Its score.
        score: f64,
    },
    /// An improvement fraction outside [0, 1).
    #[error("the improvement fraction {0} is not within [0, 1)")]
    ImprovementFraction(f64),
    /// A ratio of two durations that cannot be one.
    #[error("the ratio {ratio} of case {case} is not finite and positive")]
    Ratio {
        /// The case, counted from 0.
        case: usize,
        /// Its ratio.
        ratio: f64,
    },
}
