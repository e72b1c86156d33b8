//! Numbers of twice the precision of binary64: unevaluated sums of two.
//!
//! Sums, products and quotients are those of Dekker and Knuth, made of plain binary64 additions and multiplications alone: a
//! fused multiply-add would give the same bits, and a call into the system's library where the processor has none. Each
//! operation is right to about 2^-103 of its result, as long as nothing overflows and no product falls below 2^-900; callers
//! bring their values near 1 first.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// What an operation may be off by, relative to its result, with some room.
pub(super) const EPSILON: f64 = 1.0 / (1_u128 << 102) as f64;

/// 2^27 + 1, which splits a significand of 53 bits into two halves.
const SPLITTER: f64 = 134_217_729.0;

/// `high + low`, where `high` is the nearest binary64 to the sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    pub(super) const ZERO: Self = Self { high: 0.0, low: 0.0 };
    pub(super) const ONE: Self = Self { high: 1.0, low: 0.0 };

    /// The nearest binary64.
    pub(super) fn rounded(self) -> f64 {
        self.high
    }

    pub(super) fn is_zero(self) -> bool {
        self.high == 0.0
    }

    pub(super) fn is_finite(self) -> bool {
        self.high.is_finite() && self.low.is_finite()
    }

    pub(super) fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    /// Square root of a number that is not negative.
    pub(super) fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::ZERO;
        }
        // One step of Newton's method doubles the digits of the nearest binary64.
        let root = self.high.sqrt();
        let rest = self - product(root, root);
        two_sum(root, rest.high / (2.0 * root))
    }

    /// Times a power of two, exactly unless it underflows.
    pub(super) fn scaled(self, power: f64) -> Self {
        Self { high: self.high * power, low: self.low * power }
    }
}

impl From<f64> for DoubleDouble {
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }
}

impl Neg for DoubleDouble {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (highs, lows) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let sum = ordered_sum(highs.high, highs.low + lows.high);
        ordered_sum(sum.high, sum.low + lows.low)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let highs = product(self.high, other.high);
        ordered_sum(highs.high, highs.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::from(second);
        ordered_sum(first, second) + Self::from(rest.high / other.high)
    }
}

impl AddAssign for DoubleDouble {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for DoubleDouble {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// The sum of the products of pairs.
pub(super) fn dot(left: &[DoubleDouble], right: &[DoubleDouble]) -> DoubleDouble {
    left.iter().zip(right).fold(DoubleDouble::ZERO, |sum, (&left, &right)| sum + left * right)
}

/// Euclidean length.
pub(super) fn length(values: &[DoubleDouble]) -> DoubleDouble {
    dot(values, values).sqrt()
}

/// The exact sum (Knuth).
fn two_sum(left: f64, right: f64) -> DoubleDouble {
    let high = left + right;
    let of_right = high - left;
    DoubleDouble { high, low: (left - (high - of_right)) + (right - of_right) }
}

/// The exact sum where the first is not smaller in magnitude (Dekker).
fn ordered_sum(large: f64, small: f64) -> DoubleDouble {
    let high = large + small;
    DoubleDouble { high, low: small - (high - large) }
}

/// The exact product (Dekker, Veltkamp).
fn product(left: f64, right: f64) -> DoubleDouble {
    let high = left * right;
    let ((left_high, left_low), (right_high, right_low)) = (halves(left), halves(right));
    let low = ((left_high * right_high - high) + left_high * right_low + left_low * right_high) + left_low * right_low;
    DoubleDouble { high, low }
}

fn halves(value: f64) -> (f64, f64) {
    let shifted = SPLITTER * value;
    let high = shifted - (shifted - value);
    (high, value - high)
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational;
    use num_traits::{Signed, Zero};

    use super::*;
    use crate::fit::exact::{nearest_f64, rational};

    fn exact(value: DoubleDouble) -> BigRational {
        rational(value.high).unwrap() + rational(value.low).unwrap()
    }

    fn assert_near(found: DoubleDouble, expected: &BigRational, what: &str) {
        let off = (exact(found) - expected).abs();
        let allowed = expected.abs() * rational(EPSILON).unwrap();
        assert!(off <= allowed, "{what}: {found:?} is off by {:e}", nearest_f64(&off));
        assert!(expected.is_zero() || found.rounded() == nearest_f64(&exact(found)), "{what}: {found:?}");
    }

    #[test]
    fn every_operation_is_right_to_twice_the_digits() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut number = || {
            let high = (random.f64() - 0.5) * f64::powi(2.0, random.i32(-40..40));
            ordered_sum(high, high * (random.f64() - 0.5) * f64::EPSILON)
        };
        for _ in 0..20_000 {
            let (left, right) = (number(), number());
            let (l, r) = (exact(left), exact(right));
            assert_near(left + right, &(&l + &r), "sum");
            assert_near(left - right, &(&l - &r), "difference");
            assert_near(left * right, &(&l * &r), "product");
            assert_near(left / right, &(&l / &r), "quotient");
            let root = left.abs().sqrt();
            assert_near(root * root, &exact(left.abs()), "square of the root");
        }
    }

    #[test]
    fn what_cancels_leaves_what_was_below() {
        let one = DoubleDouble::ONE + DoubleDouble::from(1e-30);
        assert_eq!((one - DoubleDouble::ONE).rounded(), 1e-30);
        assert!((one - one).is_zero());
        assert_eq!(DoubleDouble::ZERO.sqrt(), DoubleDouble::ZERO);
    }
}
