//! Which summaries are possible: counts of equal pairs, printed rates of them, and printed divergences.

use std::ops::RangeInclusive;

use super::pairs::pair_count;
use super::printed::Printed;

/// Most trials that possible counts are worked out for: two million pairs, four megabytes, a tenth of a second.
pub const MAX_TRIALS: u64 = 2048;

/// How far a count computed from a rate may be off through its own rounding.
const COUNT_SLACK: f64 = 1e-6;

/// Gradients that are compared agree to better than one part in 2^12; see [`off_lattice`].
const AGREEING_BITS: i32 = 12;

/// Digits of a binary32 significand after its first.
const FRACTION_BITS: i32 = 23;

/// Exponent of the smallest step of binary32.
const LEAST_EXPONENT: i32 = -149;

/// Which numbers of equal pairs some trials can have.
///
/// Bitwise equality is an equivalence relation: it divides `n` trials into classes of sizes `n_1 + n_2 + ... = n`, and the
/// equal pairs are `C(n_1,2) + C(n_2,2) + ...`. So 30 trials cannot have 434 of their 435 pairs equal: already one trial
/// that stands apart takes 29 pairs with it.
#[derive(Debug, Clone)]
pub struct EqualPairs {
    trials: u64,
    /// For each count of equal pairs, the fewest trials that can have it. More trials can, too: each further one may stand
    /// apart from all others.
    fewest: Vec<u16>,
}

impl EqualPairs {
    /// Works out the counts for `trials` trials; `None` beyond [`MAX_TRIALS`], where this is not decided.
    ///
    /// The fewest trials for `k` pairs are the least of `s + fewest(k - C(s,2))` over the size `s` of the largest class. If
    /// no class is larger than `s`, then `k <= (s-1)/2 * n`, so `n >= 2k/(s-1)`: once that exceeds the best found so far,
    /// no smaller `s` can do better. Few sizes are tried for each `k`.
    pub fn of(trials: u64) -> Option<Self> {
        if trials > MAX_TRIALS {
            return None;
        }
        let pairs = usize::try_from(pair_count(trials)).ok()?;
        let mut fewest = vec![0_u16; pairs + 1];
        let mut largest = 1;
        for count in 1..=pairs {
            if pairs_of(largest + 1) <= count {
                largest += 1;
            }
            let mut best = u16::MAX;
            for size in (2..=largest).rev() {
                if 2 * count > usize::from(best) * (size - 1) {
                    break;
                }
                let rest = fewest[count - pairs_of(size)];
                best = best.min(rest.saturating_add(u16::try_from(size).unwrap_or(u16::MAX)));
            }
            fewest[count] = best;
        }
        Some(Self { trials, fewest })
    }

    /// The number of trials.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Whether exactly `count` pairs can be equal.
    pub fn contains(&self, count: u64) -> bool {
        let fewest = usize::try_from(count).ok().and_then(|count| self.fewest.get(count));
        fewest.is_some_and(|&fewest| u64::from(fewest) <= self.trials)
    }

    /// The first possible count in a range.
    pub fn first_in(&self, counts: RangeInclusive<u64>) -> Option<u64> {
        let end = (*counts.end()).min(self.fewest.len() as u64 - 1);
        (*counts.start()..=end).find(|&count| self.contains(count))
    }

    /// The nearest possible counts below and above one that is not.
    pub fn around(&self, count: u64) -> (Option<u64>, Option<u64>) {
        let last = self.fewest.len() as u64 - 1;
        let below = (0..count.min(last + 1)).rev().find(|&count| self.contains(count));
        (below, self.first_in(count.saturating_add(1)..=last))
    }
}

fn pairs_of(size: usize) -> usize {
    size * (size - 1) / 2
}

/// The numbers of equal pairs whose rate (in percent of `pairs`) rounds to the printed one; empty if there is none.
pub fn counts_of_rate(rate: Printed, pairs: u64) -> RangeInclusive<u64> {
    let (low, high) = rate.interval();
    let count = |percent: f64| percent * pairs as f64 / 100.0;
    let first = (count(low) - COUNT_SLACK).ceil().max(0.0);
    let last = (count(high) + COUNT_SLACK).floor().min(pairs as f64);
    // Both are whole, not negative and at most 2^63, or the range is empty.
    if last < first { RangeInclusive::new(1, 0) } else { first as u64..=last as u64 }
}

/// `None` where a printed divergence can be the difference of two binary32 gradients; else the power of two that it is no
/// multiple of.
///
/// Two binary32 numbers are multiples of the step of the smaller one, and so is their difference. A receipt does not say
/// how large the gradients were, but how far apart they are: two sums of the same terms in another order. Assumed is that
/// the two agree to better than one part in 2^12; then the smaller is at least `D * 2^12`, and with `2^e <= D` its step,
/// and so `D` itself, is a multiple of `2^(e + 12 - 23)`: the divergence has at most twelve significant bits. Where no such
/// number rounds to the printed one, no difference does.
///
/// The assumption is a cautious one. In 9,990 simulated measurements of the published protocol (three distributions of
/// grids, outputs 16 to 512, 30 random orders each) the gradients of the largest divergence agreed to better than one part
/// in 2^15, and no largest divergence had more than six significant bits.
pub fn off_lattice(divergence: Printed) -> Option<i32> {
    let (low, high) = divergence.interval();
    let exponent = (exponent(low) + AGREEING_BITS - FRACTION_BITS).max(LEAST_EXPONENT);
    let step = 2_f64.powi(exponent);
    let exists = low <= f64::from(f32::MAX) && (low / step).ceil() * step <= high;
    (!exists).then_some(exponent)
}

/// The largest `e` with `2^e <= value`, for a positive binary64 number that is not subnormal.
fn exponent(value: f64) -> i32 {
    ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sums over partitions, by enumeration.
    fn sums(trials: usize, largest: usize, sum: usize, found: &mut std::collections::BTreeSet<usize>) {
        if trials == 0 {
            found.insert(sum);
        }
        for size in 1..=largest.min(trials) {
            sums(trials - size, size, sum + pairs_of(size), found);
        }
    }

    #[test]
    fn counts_are_those_of_all_partitions() {
        for trials in 0..=26 {
            let mut expected = std::collections::BTreeSet::new();
            sums(trials, trials, 0, &mut expected);
            let counts = EqualPairs::of(trials as u64).unwrap();
            let found: Vec<_> = (0..=500).filter(|&count| counts.contains(count)).map(|count| count as usize).collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{trials}");
        }
    }

    #[test]
    fn thirty_trials_have_no_434_equal_pairs() {
        let counts = EqualPairs::of(30).unwrap();
        assert!(counts.contains(435) && counts.contains(406) && !counts.contains(434) && !counts.contains(436));
        assert_eq!(counts.around(434), (Some(406), Some(435)));
        assert_eq!(counts.first_in(407..=434), None);
        assert_eq!(counts.trials(), 30);
    }

    #[test]
    fn the_bound_is_said_and_reached() {
        let counts = EqualPairs::of(MAX_TRIALS).unwrap();
        let all = pair_count(MAX_TRIALS);
        assert!(counts.contains(all) && !counts.contains(all - 1) && counts.contains(all - (MAX_TRIALS - 1)));
        assert!(EqualPairs::of(MAX_TRIALS + 1).is_none());
    }

    #[test]
    fn printed_rates_stand_for_counts() {
        let counts = |rate: f64, pairs: u64| {
            let range = counts_of_rate(Printed::decimals(rate, 1).unwrap(), pairs);
            range.collect::<Vec<_>>()
        };
        for (rate, count) in [(0.0, 0), (0.2, 1), (0.5, 2), (0.7, 3), (0.9, 4), (99.8, 434), (100.0, 435)] {
            assert_eq!(counts(rate, 435), [count], "{rate}");
        }
        for rate in [0.1, 0.3, 0.4, 0.6, 0.8, 99.9] {
            assert_eq!(counts(rate, 435), [0; 0], "{rate}");
        }
        assert_eq!(counts(100.0 / 435.0, 435), [1]);
        assert_eq!(counts(100.0, 6), [6]);
        assert_eq!(counts(0.0, 499_500).len(), 250);
    }

    #[test]
    fn published_divergences_are_on_the_lattice_and_their_neighbours_are_not() {
        let fits = |value: f64| off_lattice(Printed::significant(value, 5).unwrap()).is_none();
        for value in [1.1921e-7, 4.7684e-7, 1.4305e-6, 1.6689e-6, 1.6212e-5, 4.1962e-5, 6.1035e-5, 2.5749e-5] {
            assert!(fits(value), "{value}");
        }
        for value in [1.2e-7, 1.1922e-7, 1.192e-7, 4.7685e-7, 1.4306e-6, 4.1964e-5] {
            assert!(!fits(value), "{value}");
        }
        for multiple in 1..=4095_u32 {
            for exponent in [-40, -23, 3] {
                let exact = f64::from(multiple) * 2_f64.powi(exponent);
                assert!(fits(exact) && fits(format!("{exact:.4e}").parse().unwrap()), "{exact}");
            }
        }
        assert!(!fits(1e39));
        assert!(fits(f64::from(f32::from_bits(1))));
    }
}
