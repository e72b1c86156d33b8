//! Between binary64, decimal text and exact rationals, without losing or inventing a bit.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Longest decimal literal, in bytes, and largest exponent, of either sign. Every binary64 has an exact decimal form
/// within both, and numbers stay short enough to compute with.
const DECIMAL_LIMIT: usize = 2048;

/// Bits of a binary64 significand, the leading one included.
const SIGNIFICAND: i64 = 53;

/// Exponent of the smallest normal binary64, 2^-1022.
const SMALLEST_NORMAL: i64 = -1022;

/// Exponent of the smallest subnormal binary64, 2^-1074.
const SMALLEST: i64 = -1074;

/// Exponent of the largest binade.
const LARGEST: i64 = 1023;

/// The exact value of a binary64; `None` if it is not finite.
pub fn rational(value: f64) -> Option<BigRational> {
    if !value.is_finite() {
        return None;
    }
    let bits = value.abs().to_bits();
    let (biased, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let significand = if biased == 0 { fraction } else { fraction | 1 << 52 };
    if significand == 0 {
        return Some(BigRational::zero());
    }
    // An odd significand over or times a power of two is in lowest terms without a division.
    let twos = i64::from(significand.trailing_zeros());
    let exponent = SMALLEST + (biased.max(1) as i64 - 1) + twos;
    let odd = BigInt::from(significand >> twos);
    let odd = if value < 0.0 { -odd } else { odd };
    Some(if exponent >= 0 {
        BigRational::new_raw(odd << exponent.unsigned_abs(), BigInt::one())
    } else {
        BigRational::new_raw(odd, BigInt::one() << exponent.unsigned_abs())
    })
}

/// The exact value of a decimal literal: an optional sign, digits with at most one point among or beside them, and an
/// optional exponent. `None` for anything else, for literals beyond 2048 bytes, and for exponents beyond 2048 either way.
pub fn parse_decimal(text: &str) -> Option<BigRational> {
    if text.len() > DECIMAL_LIMIT {
        return None;
    }
    let (negative, text) = signed(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = digits.parse::<BigInt>().ok()?;
    let digits = if negative { -digits } else { digits };
    let exponent = exponent - i64::try_from(fraction.len()).ok()?;
    let power = BigInt::from(10).pow(u32::try_from(exponent.unsigned_abs()).ok()?);
    Some(if exponent < 0 { reduced(digits, power) } else { BigRational::from_integer(digits * power) })
}

fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = signed(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent = digits.parse::<i64>().ok().filter(|exponent| exponent.unsigned_abs() <= DECIMAL_LIMIT as u64)?;
    Some(if negative { -exponent } else { exponent })
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The nearest binary64, halves to the even neighbour, subnormals included; beyond the range an infinity. A zero
/// denominator, which only an unchecked constructor can make, gives NaN.
pub fn nearest_f64(value: &BigRational) -> f64 {
    let (numerator, denominator) = (value.numer().magnitude(), value.denom().magnitude());
    if denominator.is_zero() {
        return f64::NAN;
    }
    let magnitude = nearest_magnitude(numerator, denominator);
    if value.is_negative() { -magnitude } else { magnitude }
}

fn nearest_magnitude(numerator: &BigUint, denominator: &BigUint) -> f64 {
    let Some(exponent) = binade(numerator, denominator) else {
        return 0.0;
    };
    if exponent > LARGEST {
        return f64::INFINITY;
    }
    // Count the value in units of its last place; the remainder says which way to round.
    let unit = last_place(exponent);
    let (count, half) = scaled(numerator, denominator, -unit, |top, bottom| {
        let (count, remainder) = top.div_rem(bottom);
        (count, (remainder << 1_u32).cmp(bottom))
    });
    let Some(mut count) = count.to_u64() else {
        return f64::INFINITY;
    };
    let up = match half {
        Ordering::Less => false,
        Ordering::Equal => count % 2 == 1,
        Ordering::Greater => true,
    };
    count += u64::from(up);
    // A count of 2^52 and above carries the implicit bit, which adds the one that the biased exponent then lacks; a
    // carry into the next binade, or out of the range into infinity, happens by itself.
    let biased = (unit - SMALLEST).unsigned_abs();
    f64::from_bits((biased << 52) + count)
}

/// How far `recorded` is from `exact`, in units of the last place of the exact value's binade (of the subnormals below the
/// normal range, and for an exact zero). Infinite if `recorded` is not finite.
pub fn ulp_distance(recorded: f64, exact: &BigRational) -> f64 {
    let Some(recorded) = rational(recorded) else {
        return f64::INFINITY;
    };
    if exact.denom().is_zero() {
        return f64::INFINITY;
    }
    let unit = binade(exact.numer().magnitude(), exact.denom().magnitude()).map_or(SMALLEST, last_place);
    let difference = recorded - exact;
    scaled(difference.numer().magnitude(), difference.denom().magnitude(), -unit, nearest_magnitude)
}

/// Exponent of the last place of a value whose leading bit has exponent `exponent`.
fn last_place(exponent: i64) -> i64 {
    exponent.max(SMALLEST_NORMAL) - (SIGNIFICAND - 1)
}

/// floor(log2(numerator / denominator)); `None` for zero.
fn binade(numerator: &BigUint, denominator: &BigUint) -> Option<i64> {
    if numerator.is_zero() {
        return None;
    }
    let guess = i64::try_from(numerator.bits()).ok()? - i64::try_from(denominator.bits()).ok()?;
    let below = scaled(numerator, denominator, -guess, |top, bottom| top < bottom);
    Some(if below { guess - 1 } else { guess })
}

/// What `work` makes of the numerator and denominator of `numerator / denominator * 2^shift`.
fn scaled<T>(numerator: &BigUint, denominator: &BigUint, shift: i64, work: impl FnOnce(&BigUint, &BigUint) -> T) -> T {
    let places = shift.unsigned_abs();
    if shift >= 0 { work(&(numerator << places), denominator) } else { work(numerator, &(denominator << places)) }
}

/// `numerator / denominator` in lowest terms with a positive denominator, which must not be zero.
///
/// Faster than the general constructor on what elimination leaves behind: common twos go by shifting, and once one side
/// fits 128 bits the rest is machine arithmetic.
pub(super) fn reduced(numerator: BigInt, denominator: BigInt) -> BigRational {
    if numerator.is_zero() || denominator.is_zero() {
        return BigRational::zero();
    }
    let negative = numerator.is_negative() != denominator.is_negative();
    let (top, bottom) = (numerator.into_parts().1, denominator.into_parts().1);
    let (twos_above, twos_below) = (top.trailing_zeros().unwrap_or(0), bottom.trailing_zeros().unwrap_or(0));
    let (mut top, mut bottom) = (top >> twos_above, bottom >> twos_below);
    let common = gcd_of_odd(&top, &bottom);
    if !common.is_one() {
        top /= &common;
        bottom /= &common;
    }
    let shared = twos_above.min(twos_below);
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    BigRational::new_raw(
        BigInt::from_biguint(sign, top << (twos_above - shared)),
        BigInt::from_biguint(Sign::Plus, bottom << (twos_below - shared)),
    )
}

fn gcd_of_odd(left: &BigUint, right: &BigUint) -> BigUint {
    let (small, large) = if left <= right { (left, right) } else { (right, left) };
    if small.is_one() {
        return BigUint::one();
    }
    match small.to_u128() {
        Some(small) => BigUint::from((large % small).to_u128().unwrap_or(0).gcd(&small)),
        None => small.gcd(large),
    }
}
