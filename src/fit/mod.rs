//! The published model, computed again: features, weights, nonnegative fit, folds, decisions and metrics.
//!
//! Everything here is a function on slices that gives back plain structs: no files, no clock, no findings. The procedure
//! is solved twice, in binary64 as the producer did ([`nnls`]) and in exact rational arithmetic ([`exact`]), and bounded
//! where observations are only known to some digits ([`bounds`]). What samples say of a ratio of medians is in [`spread`].
//! Comparing any of it with a record belongs to the callers. Times are in microseconds.

pub mod bounds;
mod design;
mod double_double;
mod error;
pub mod exact;
pub mod folds;
pub mod geometry;
pub mod interval;
mod lstsq;
pub mod median;
pub mod metrics;
pub mod nnls;
pub mod policy;
mod problem;
pub mod spread;
mod triangle;

pub use error::FitError;
pub use geometry::{Facts, Geometry, Schedule};
pub use interval::Interval;
pub use median::median;

/// Most features that subsets are enumerated for; the work doubles with each.
pub const MAX_FEATURES: usize = 12;

/// The columns that are active in a mask, ascending: bit i stands for column i.
fn active_columns(mask: u32, columns: usize) -> Vec<usize> {
    (0..columns).filter(|&column| mask >> column & 1 == 1).collect()
}

/// All masks over `columns` features, from the empty one up.
fn masks(columns: usize) -> std::ops::Range<u32> {
    0..1 << columns.min(MAX_FEATURES)
}

/// What all rows of a fit must have in common; gives back the number of features.
///
/// # Errors
/// No rows, no features, more than `limit` features, or rows that disagree on their number.
fn common_width(widths: impl IntoIterator<Item = usize>, limit: usize) -> Result<usize, FitError> {
    let mut widths = widths.into_iter();
    let first = widths.next().ok_or(FitError::NoRows)?;
    if first == 0 {
        return Err(FitError::NoFeatures);
    }
    if first > limit {
        return Err(FitError::TooManyFeatures { found: first, limit });
    }
    match widths.enumerate().find(|&(_, width)| width != first) {
        Some((before, found)) => Err(FitError::UnequalRows { row: before + 1, expected: first, found }),
        None => Ok(first),
    }
}
