//! Sums of products of binary64 numbers, exactly and without a long integer for each row.
//!
//! A binary64 is an odd integer times a power of two. The product of two has at most 106 bits; it is added at its place to an
//! integer that is as long as the columns' range of exponents demands, which is known beforehand.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::One;

use super::GroupSums;
use super::elimination::Symmetric;
use crate::fit::nnls::Row;
use crate::fit::{FitError, common_width};

/// Exponent of the smallest subnormal binary64.
const SMALLEST: i32 = -1074;

/// A binary64, taken apart.
#[derive(Debug, Clone, Copy)]
struct Parts {
    /// Odd, or zero.
    odd: i64,
    /// The value is the odd integer times two to this power.
    exponent: i32,
}

impl Parts {
    /// Of a finite number.
    fn of(value: f64) -> Self {
        let bits = value.abs().to_bits();
        let (biased, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let significand = if biased == 0 { fraction } else { fraction | 1 << 52 };
        if significand == 0 {
            return Self { odd: 0, exponent: 0 };
        }
        let twos = significand.trailing_zeros();
        let odd = (significand >> twos) as i64;
        Self { odd: if value < 0.0 { -odd } else { odd }, exponent: SMALLEST + (biased.max(1) - 1) + twos as i32 }
    }
}

/// What the values of a column have in common.
#[derive(Debug, Clone, Copy, Default)]
struct Range {
    /// Multiplied by two to this power, all are integers.
    shift: u32,
    /// Bits of the longest such integer.
    bits: u32,
}

impl Range {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let parts = values.map(Parts::of).filter(|parts| parts.odd != 0);
        let smallest = parts.clone().map(|parts| parts.exponent).min().unwrap_or(0);
        let shift = smallest.min(0).unsigned_abs();
        let bits = |parts: Parts| (parts.exponent + shift as i32).unsigned_abs() + parts.odd.unsigned_abs().ilog2() + 1;
        Self { shift, bits: parts.map(bits).max().unwrap_or(0) }
    }

    /// A value's place in the column's integers.
    fn place(self, parts: Parts) -> u32 {
        if parts.odd == 0 { 0 } else { (parts.exponent + self.shift as i32).unsigned_abs() }
    }
}

/// An integer in two's complement, long enough for all that is added to it.
#[derive(Debug, Clone)]
struct Accumulator {
    /// The lowest first.
    words: Vec<u64>,
}

impl Accumulator {
    fn zero(bits: u32) -> Self {
        Self { words: vec![0; bits as usize / 64 + 1] }
    }

    /// Adds `product * 2^place`.
    fn add(&mut self, product: i128, place: u32) {
        let (word, bit) = (place as usize / 64, place % 64);
        // The product over three words, then its sign for ever.
        let low = (product as u128) << bit;
        let high = if bit == 0 { product >> 127 } else { product >> (128 - bit) };
        let sign = if product < 0 { u64::MAX } else { 0 };
        let parts = [low as u64, (low >> 64) as u64, high as u64].into_iter().chain(std::iter::repeat(sign));
        let mut carry = false;
        for (at, (word, part)) in self.words.iter_mut().skip(word).zip(parts).enumerate() {
            // Beyond the product, a sign of zeros and no carry changes nothing, nor do ones and a carry.
            if at >= 3 && carry == (sign != 0) {
                break;
            }
            let (sum, first) = word.overflowing_add(part);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *word = sum;
            carry = first || second;
        }
    }

    fn value(&self) -> BigInt {
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        BigInt::from_signed_bytes_le(&bytes)
    }
}

impl GroupSums {
    /// Sums up rows of binary64 numbers, as [`GroupSums::accumulate`] does their exact values; their order changes nothing.
    ///
    /// # Errors
    /// No rows, no features, rows of unequal width, or a value that is not finite.
    pub fn of_binary64(rows: &[Row]) -> Result<Self, FitError> {
        let width = common_width(rows.iter().map(|row| row.features.len()), usize::MAX)?;
        if let Some(row) = rows.iter().position(|row| !columns(row).all(f64::is_finite)) {
            return Err(FitError::NotFinite { row });
        }
        let ranges: Vec<Range> = (0..width)
            .map(|column| Range::of(rows.iter().filter_map(move |row| row.features.get(column).copied())))
            .chain([Range::of(rows.iter().map(|row| row.observed))])
            .collect();
        // The sum of so many products, and a sign.
        let count = rows.len().ilog2() + 2;
        let pairs =
            ranges.iter().enumerate().flat_map(|(at, left)| ranges.iter().skip(at).map(move |right| (left, right)));
        let empty: Vec<Accumulator> =
            pairs.map(|(left, right)| Accumulator::zero(left.bits + right.bits + count)).collect();
        let mut groups: BTreeMap<usize, (Vec<Accumulator>, u64)> = BTreeMap::new();
        let mut placed = Vec::with_capacity(ranges.len());
        for row in rows {
            let (sums, rows) = groups.entry(row.group).or_insert_with(|| (empty.clone(), 0));
            placed.clear();
            placed.extend(columns(row).zip(&ranges).map(|(value, range)| {
                let parts = Parts::of(value);
                (parts.odd, range.place(parts))
            }));
            let mut sums = sums.iter_mut();
            for (at, &(left, left_place)) in placed.iter().enumerate() {
                for (&(right, right_place), sum) in placed.iter().skip(at).zip(sums.by_ref()) {
                    sum.add(i128::from(left) * i128::from(right), left_place + right_place);
                }
            }
            *rows += 1;
        }
        let groups = groups.into_iter().map(|(label, (sums, rows))| {
            let mut matrix = Symmetric::zero(width + 1);
            for (entry, sum) in matrix.entries_mut().iter_mut().zip(&sums) {
                *entry = sum.value();
            }
            (label, (matrix, rows))
        });
        let multipliers = ranges.iter().map(|range| BigInt::one() << range.shift).collect();
        Ok(Self::weighted(groups.collect(), multipliers))
    }
}

fn columns(row: &Row) -> impl Iterator<Item = f64> {
    row.features.iter().copied().chain([row.observed])
}
