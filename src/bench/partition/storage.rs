//! Values as tensors store them: FP16, BF16 and FP32, little-endian, rounded to nearest with ties to even.
//!
//! IEEE 754-2019, 3.6 gives the widths: 11, 8 and 24 bits of significand, 5, 8 and 8 bits of exponent.

use half::{bf16, f16};

use crate::package::partition::Storage;

/// Half the distance of 1 to the next larger value: rounding to nearest moves a value in the normal range by at most this
/// part of it. 2^-11, 2^-8, 2^-24.
pub fn unit_roundoff(storage: Storage) -> f64 {
    power_of_two(match storage {
        Storage::Fp16 => -11,
        Storage::Bf16 => -8,
        Storage::Fp32 => -24,
    })
}

/// The smallest positive value; below the normal range values are multiples of it. 2^-24, 2^-133, 2^-149.
pub fn smallest_subnormal(storage: Storage) -> f64 {
    power_of_two(match storage {
        Storage::Fp16 => -24,
        Storage::Bf16 => -133,
        Storage::Fp32 => -149,
    })
}

/// The smallest positive value of full precision. 2^-14, 2^-126, 2^-126.
pub fn smallest_normal(storage: Storage) -> f32 {
    match storage {
        Storage::Fp16 => f16::MIN_POSITIVE.to_f32(),
        Storage::Bf16 => bf16::MIN_POSITIVE.to_f32(),
        Storage::Fp32 => f32::MIN_POSITIVE,
    }
}

/// The largest finite value: 65504, about 3.39e38, about 3.40e38.
pub fn largest(storage: Storage) -> f32 {
    match storage {
        Storage::Fp16 => f16::MAX.to_f32(),
        Storage::Bf16 => bf16::MAX.to_f32(),
        Storage::Fp32 => f32::MAX,
    }
}

/// The stored value nearest to `value`, of two equally near ones that with the even last bit; infinite from half a step
/// above the largest finite value. A NaN stays one of the same sign.
pub fn round(storage: Storage, value: f32) -> f32 {
    match storage {
        Storage::Fp16 => f16::from_f32(value).to_f32(),
        Storage::Bf16 => bf16::from_f32(value).to_f32(),
        Storage::Fp32 => value,
    }
}

/// The least stored value above `value`, which is a stored value itself; infinity above the largest. Zeros have the
/// smallest subnormal above them; NaN and infinity stay what they are.
pub fn next_up(storage: Storage, value: f32) -> f32 {
    if value.is_nan() || value == f32::INFINITY {
        return value;
    }
    if value == 0.0 {
        return smallest_subnormal(storage) as f32;
    }
    // Bits of one sign are ordered as the magnitudes are.
    let step = |bits: u16| if value > 0.0 { bits + 1 } else { bits - 1 };
    match storage {
        Storage::Fp16 => f16::from_bits(step(f16::from_f32(value).to_bits())).to_f32(),
        Storage::Bf16 => bf16::from_bits(step(bf16::from_f32(value).to_bits())).to_f32(),
        Storage::Fp32 => value.next_up(),
    }
}

/// Appends `values`, rounded to storage, as little-endian bytes.
pub fn encode_into(storage: Storage, values: &[f32], bytes: &mut Vec<u8>) {
    match storage {
        Storage::Fp16 => values.iter().for_each(|&value| bytes.extend(f16::from_f32(value).to_le_bytes())),
        Storage::Bf16 => values.iter().for_each(|&value| bytes.extend(bf16::from_f32(value).to_le_bytes())),
        Storage::Fp32 => values.iter().for_each(|value| bytes.extend(value.to_le_bytes())),
    }
}

/// `values`, rounded to storage, as little-endian bytes.
pub fn encode(storage: Storage, values: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(values));
    encode_into(storage, values, &mut bytes);
    bytes
}

/// Stored values, widened without change. Bytes at the end that make no whole value are not read; the caller knows how
/// many there should be.
pub fn decode(storage: Storage, bytes: &[u8]) -> Vec<f32> {
    match storage {
        Storage::Fp16 => bytes.as_chunks().0.iter().map(|&value| f16::from_le_bytes(value).to_f32()).collect(),
        Storage::Bf16 => bytes.as_chunks().0.iter().map(|&value| bf16::from_le_bytes(value).to_f32()).collect(),
        Storage::Fp32 => bytes.as_chunks().0.iter().map(|&value| f32::from_le_bytes(value)).collect(),
    }
}

/// 2^exponent, from -1022 to 1023. Made from its bits: the standard library promises no exact powers, and fixtures must be
/// the same on every machine.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The largest e with 2^e at most `value`, a positive normal number.
pub(super) fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52) as i32 - 1023
}
