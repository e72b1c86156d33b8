//! Reducing rows on the host: FP32 sums in eight lanes, maxima by order-preserving keys; NaN wins over everything.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use half::{bf16, f16};

use crate::package::partition::{Operation, Storage};

/// Partial sums of a row.
const LANES: usize = 8;

/// Values as stored: 16 or 32 bits each.
#[derive(Debug)]
pub(super) enum Values {
    /// FP16 or BF16.
    Half(Vec<u16>),
    /// FP32.
    Single(Vec<u32>),
}

/// Values that threads write, each thread its own.
#[derive(Debug)]
pub(super) enum Shared {
    /// FP16 or BF16.
    Half(Vec<AtomicU16>),
    /// FP32.
    Single(Vec<AtomicU32>),
}

impl Values {
    /// From little-endian bytes.
    pub(super) fn from_bytes(storage: Storage, bytes: &[u8]) -> Self {
        match storage {
            Storage::Fp32 => Self::Single(bytes.as_chunks().0.iter().map(|&value| u32::from_le_bytes(value)).collect()),
            _ => Self::Half(bytes.as_chunks().0.iter().map(|&value| u16::from_le_bytes(value)).collect()),
        }
    }

    /// As little-endian bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Half(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Single(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    }
}

impl Shared {
    /// From little-endian bytes.
    pub(super) fn from_bytes(storage: Storage, bytes: &[u8]) -> Self {
        match Values::from_bytes(storage, bytes) {
            Values::Half(values) => Self::Half(values.into_iter().map(AtomicU16::new).collect()),
            Values::Single(values) => Self::Single(values.into_iter().map(AtomicU32::new).collect()),
        }
    }

    /// As little-endian bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Half(values) => values.iter().flat_map(|value| value.load(Ordering::Relaxed).to_le_bytes()).collect(),
            Self::Single(values) => {
                values.iter().flat_map(|value| value.load(Ordering::Relaxed).to_le_bytes()).collect()
            }
        }
    }
}

/// Reduces the row that begins at `from` and stores the result at `to`; rows and results that are not there are left.
pub(super) fn reduce(
    operation: Operation,
    storage: Storage,
    input: &Values,
    (from, columns): (usize, usize),
    output: &Shared,
    to: usize,
) {
    match (input, output) {
        (Values::Single(values), Shared::Single(results)) => {
            let (Some(row), Some(result)) = (values.get(from..from + columns), results.get(to)) else { return };
            let reduced = match operation {
                Operation::Sum => sum(row, f32::from_bits).to_bits(),
                Operation::Max => largest_single(row),
            };
            result.store(reduced, Ordering::Relaxed);
        }
        (Values::Half(values), Shared::Half(results)) => {
            let (Some(row), Some(result)) = (values.get(from..from + columns), results.get(to)) else { return };
            let reduced = match (operation, storage) {
                (Operation::Sum, Storage::Bf16) => {
                    bf16::from_f32(sum(row, |bits| bf16::from_bits(bits).to_f32())).to_bits()
                }
                (Operation::Sum, _) => f16::from_f32(sum(row, |bits| f16::from_bits(bits).to_f32())).to_bits(),
                (Operation::Max, Storage::Bf16) => largest_half(row, bf16::INFINITY.to_bits()),
                (Operation::Max, _) => largest_half(row, f16::INFINITY.to_bits()),
            };
            result.store(reduced, Ordering::Relaxed);
        }
        _ => {}
    }
}

fn sum<T: Copy>(row: &[T], value: impl Fn(T) -> f32) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &bits) in lanes.iter_mut().zip(chunk) {
            *lane += value(bits);
        }
    }
    for (lane, &bits) in lanes.iter_mut().zip(rest) {
        *lane += value(bits);
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The order-preserving key of a value is its bits, all but the sign turned over where the sign is set.
fn largest_single(row: &[u32]) -> u32 {
    let key = |bits: u32| {
        let signed = bits.cast_signed();
        if f32::from_bits(bits).is_nan() { i32::MAX } else { signed ^ ((signed >> 31) & i32::MAX) }
    };
    let largest = row.iter().map(|&bits| key(bits)).max().unwrap_or(i32::MIN);
    (largest ^ ((largest >> 31) & i32::MAX)).cast_unsigned()
}

fn largest_half(row: &[u16], infinity: u16) -> u16 {
    let key = |bits: u16| {
        let signed = bits.cast_signed();
        if bits & 0x7fff > infinity { i16::MAX } else { signed ^ ((signed >> 15) & i16::MAX) }
    };
    let largest = row.iter().map(|&bits| key(bits)).max().unwrap_or(i16::MIN);
    (largest ^ ((largest >> 15) & i16::MAX)).cast_unsigned()
}
