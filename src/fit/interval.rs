//! Closed intervals of binary64 numbers: what is known of a number that is not known exactly.
//!
//! Every operation rounds outwards, so that the result holds all numbers that operands from within the intervals can
//! give.

use std::ops::{Add, Sub};

/// Binary64 steps by which logarithms and exponentials are widened: libraries differ, all stay within two. They are those of
/// the `libm` crate here, since the system's pick their code by the processor.
const LIBRARY_STEPS: u32 = 4;

/// All numbers from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Interval {
    /// One number alone.
    pub const fn point(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// The numbers within `radius` of `centre`, rounded outwards.
    pub fn around(centre: f64, radius: f64) -> Self {
        outwards(centre - radius, centre + radius, 2)
    }

    /// The smallest interval that holds both.
    pub fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What both hold; `None` where they have nothing in common.
    pub fn intersection(self, other: Self) -> Option<Self> {
        let common = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (common.low <= common.high).then_some(common)
    }

    /// Whether the number may be in it.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Divided by numbers that are all positive.
    pub fn over(self, positive: Self) -> Self {
        let quotients =
            [self.low / positive.low, self.low / positive.high, self.high / positive.low, self.high / positive.high];
        outwards(
            quotients.into_iter().fold(f64::INFINITY, f64::min),
            quotients.into_iter().fold(f64::NEG_INFINITY, f64::max),
            1,
        )
    }

    /// Times a number that is not negative.
    pub fn times(self, factor: f64) -> Self {
        outwards(self.low * factor, self.high * factor, 1)
    }

    /// Natural logarithm of positive numbers.
    pub fn ln(self) -> Self {
        outwards(libm::log(self.low), libm::log(self.high), LIBRARY_STEPS)
    }

    /// Exponential.
    pub fn exp(self) -> Self {
        outwards(libm::exp(self.low), libm::exp(self.high), LIBRARY_STEPS)
    }

    /// Absolute values.
    pub fn magnitude(self) -> Self {
        let (low, high) = (self.low.abs(), self.high.abs());
        Self { low: if self.contains(0.0) { 0.0 } else { low.min(high) }, high: low.max(high) }
    }

    /// The largest of several numbers, one from each interval; `None` for none.
    pub fn largest(items: impl IntoIterator<Item = Self>) -> Option<Self> {
        items.into_iter().reduce(|left, right| Self { low: left.low.max(right.low), high: left.high.max(right.high) })
    }

    /// The smallest of several numbers, one from each interval; `None` for none.
    pub fn smallest(items: impl IntoIterator<Item = Self>) -> Option<Self> {
        items.into_iter().reduce(|left, right| Self { low: left.low.min(right.low), high: left.high.min(right.high) })
    }
}

impl Add for Interval {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        outwards(self.low + other.low, self.high + other.high, 1)
    }
}

impl Sub for Interval {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        outwards(self.low - other.high, self.high - other.low, 1)
    }
}

fn outwards(low: f64, high: f64, steps: u32) -> Interval {
    (0..steps).fold(Interval { low, high }, |interval, _| Interval {
        low: interval.low.next_down(),
        high: interval.high.next_up(),
    })
}
