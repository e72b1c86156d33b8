//! How far a median, and the ratio of two medians, may be off: intervals from order statistics.
//!
//! The method is exact for any continuous distribution (and conservative for others), needs no random numbers and no
//! normal approximation. With seven samples that matters: nothing is known of the shape of timing noise, and a bootstrap of
//! a median only picks among the same seven values, with a coverage that holds for many samples and not for few.
//!
//! - Of n samples, the number that lie below the distribution's median has the binomial distribution with n trials and
//!   probability 1/2. The interval between the k-th smallest and the k-th largest sample misses the median only if fewer
//!   than k samples lie on one side of it: with probability at most 2 * sum over i < k of C(n,i) / 2^n. For n = 7 and k = 1
//!   (smallest to largest) that is 2/128: the interval covers the median with 98.4375 %.
//! - Two such intervals give one for the ratio of the medians: from the lower end of the one over the upper end of the
//!   other, to the upper over the lower. It misses only if one of the two does; their probabilities add up (Bonferroni),
//!   also if the two sets of samples depend on each other. For 7 against 7 samples: at least 96.875 %.
//!
//! The samples must be independent draws from one distribution. Those of one process are draws of that process: another
//! process, another day or another board is not what the interval speaks of.

use super::median;

/// The level that an interval is asked to reach.
pub const LEVEL: f64 = 0.95;

/// From here on 2^n is out of reach of binary64, and the tails are bounded instead of summed.
const SUMMED_SAMPLES: usize = 1000;

/// A median with an interval around it, all in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// The true median of the samples.
    pub median: f64,
    /// The k-th smallest sample.
    pub low: f64,
    /// The k-th largest sample.
    pub high: f64,
    /// The least probability with which such an interval covers the distribution's median; 0 for a single sample.
    pub confidence: f64,
}

/// The interval between the k-th smallest and the k-th largest sample, with the largest k whose confidence is at least
/// `level`; where none reaches it, from the smallest to the largest sample, with the confidence that this has. `None`
/// without samples or with one that is not finite.
pub fn median_interval(samples: &[f64], level: f64) -> Option<MedianInterval> {
    if samples.iter().any(|sample| !sample.is_finite()) {
        return None;
    }
    let middle = median(samples)?;
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (from_ends, missed) = widest_tails(sorted.len(), 1.0 - level);
    let low = *sorted.get(from_ends.checked_sub(1)?)?;
    let high = *sorted.get(sorted.len().checked_sub(from_ends)?)?;
    Some(MedianInterval { median: middle, low, high, confidence: 1.0 - missed })
}

/// The largest k from 1 to (n + 1) / 2 with which an interval misses the median with a probability of at most `allowed`,
/// and that probability; k = 1 where none does.
fn widest_tails(samples: usize, allowed: f64) -> (usize, f64) {
    let last = samples.div_ceil(2).max(1);
    if samples >= SUMMED_SAMPLES {
        return bounded_tails(samples, allowed, last);
    }
    // Sums and powers of two are exact up to 50 samples, and within rounding beyond.
    let all = 2.0_f64.powi(i32::try_from(samples).unwrap_or(i32::MAX));
    let (mut binomial, mut tail) = (1.0, 1.0);
    let mut found = (1, 2.0 * tail / all);
    for k in 2..=last {
        binomial = binomial * (samples + 2 - k) as f64 / (k - 1) as f64;
        tail += binomial;
        let missed = 2.0 * tail / all;
        if missed > allowed {
            break;
        }
        found = (k, missed);
    }
    (found.0, found.1.min(1.0))
}

/// The same by Hoeffding's inequality: a tail of fewer than k of n has at most exp(-2 (n/2 - k + 1)^2 / n). The interval is
/// a little wider than it needs to be.
fn bounded_tails(samples: usize, allowed: f64, last: usize) -> (usize, f64) {
    let count = samples as f64;
    let missed = |k: usize| {
        let distance = count / 2.0 - (k - 1) as f64;
        2.0 * libm::exp(-2.0 * distance * distance / count)
    };
    let distance = (count * libm::log(2.0 / allowed) / 2.0).sqrt();
    let mut k = ((count / 2.0 - distance).floor().max(0.0) as usize + 1).min(last);
    while k > 1 && missed(k) > allowed {
        k -= 1;
    }
    (k, missed(k).min(1.0))
}

/// A ratio of two medians with an interval around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioInterval {
    /// The median of the new samples over that of the old ones.
    pub ratio: f64,
    /// The least ratio that the two medians' intervals allow.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// The least probability with which such an interval covers the ratio of the distributions' medians; 0 where there are
    /// too few samples to say anything.
    pub confidence: f64,
}

/// What an interval says of a ratio of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// All of it is below 1.
    Faster,
    /// All of it is above 1.
    Slower,
    /// It holds 1.
    NoDifference,
    /// There are too few samples for any level of confidence.
    TooFewSamples,
}

impl Change {
    /// All of them.
    pub const ALL: [Change; 4] = [Change::Faster, Change::Slower, Change::NoDifference, Change::TooFewSamples];

    /// Its name in words.
    pub const fn name(self) -> &'static str {
        match self {
            Change::Faster => "faster",
            Change::Slower => "slower",
            Change::NoDifference => "no difference",
            Change::TooFewSamples => "too few samples",
        }
    }
}

impl RatioInterval {
    /// The interval for the ratio of the medians of two sets of positive samples, at `level` or at the level that so few
    /// samples reach. The ratio lies in it, and exchanging the sets inverts all three numbers (up to rounding).
    ///
    /// `None` without samples, with one that is not finite and positive, or where a quotient is out of binary64's range.
    pub fn of(old: &[f64], new: &[f64], level: f64) -> Option<Self> {
        if old.iter().chain(new).any(|&sample| sample <= 0.0) {
            return None;
        }
        // Each of the two may miss half as often.
        let each = 1.0 - (1.0 - level) / 2.0;
        let (old, new) = (median_interval(old, each)?, median_interval(new, each)?);
        let interval = Self {
            ratio: new.median / old.median,
            low: new.low / old.high,
            high: new.high / old.low,
            confidence: (old.confidence + new.confidence - 1.0).max(0.0),
        };
        let numbers = [interval.ratio, interval.low, interval.high];
        numbers.iter().all(|number| number.is_finite() && *number > 0.0).then_some(interval)
    }

    /// Whether the new samples are of shorter or longer times, as far as the interval can tell.
    pub fn change(&self) -> Change {
        if self.confidence <= 0.0 {
            Change::TooFewSamples
        } else if self.high < 1.0 {
            Change::Faster
        } else if self.low > 1.0 {
            Change::Slower
        } else {
            Change::NoDifference
        }
    }
}
