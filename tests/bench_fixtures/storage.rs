//! Values as they are stored.

use proptest::prelude::*;
use recount::bench::partition::storage::{
    decode, encode, largest, next_up, round, smallest_normal, smallest_subnormal, unit_roundoff,
};
use recount::package::partition::Storage;

const ALL: [Storage; 3] = [Storage::Fp16, Storage::Bf16, Storage::Fp32];

#[test]
fn known_values_have_known_bytes() {
    assert_eq!(encode(Storage::Fp16, &[1.0, -2.0, 65504.0]), [0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b]);
    assert_eq!(encode(Storage::Bf16, &[1.0, -2.0, 3.140625]), [0x80, 0x3f, 0x00, 0xc0, 0x49, 0x40]);
    assert_eq!(encode(Storage::Fp32, &[1.0]), [0, 0, 0x80, 0x3f]);
    assert_eq!(decode(Storage::Bf16, &[0x80, 0x3f, 0x49]), [1.0]);
}

#[test]
fn ties_go_to_the_even_neighbour() {
    let u = unit_roundoff;
    for storage in [Storage::Fp16, Storage::Bf16] {
        assert_eq!(round(storage, 1.0 + u(storage) as f32), 1.0);
        assert_eq!(round(storage, 1.0 + 3.0 * u(storage) as f32), 1.0 + 4.0 * u(storage) as f32);
        assert_eq!(round(storage, 1.0 + 1.001 * u(storage) as f32), 1.0 + 2.0 * u(storage) as f32);
    }
    assert_eq!(round(Storage::Fp16, 65519.0), 65504.0);
    assert_eq!(round(Storage::Fp16, 65520.0), f32::INFINITY);
    assert_eq!(round(Storage::Fp16, (2.0_f32).powi(-25)), 0.0);
    assert_eq!(round(Storage::Fp16, 1.5 * (2.0_f32).powi(-24)), (2.0_f32).powi(-23));
}

#[test]
fn constants_are_those_of_the_formats() {
    for storage in ALL {
        let step = smallest_subnormal(storage);
        assert_eq!(f64::from(next_up(storage, 0.0)), step);
        assert_eq!(f64::from(next_up(storage, 1.0)) - 1.0, 2.0 * unit_roundoff(storage));
        assert_eq!(next_up(storage, largest(storage)), f32::INFINITY);
        assert_eq!(next_up(storage, f32::NEG_INFINITY), -largest(storage));
        assert!(next_up(storage, f32::NAN).is_nan());
        let normal = f64::from(smallest_normal(storage));
        assert_eq!(normal * 2.0 * unit_roundoff(storage), step);
    }
    assert_eq!(largest(Storage::Fp16), 65504.0);
}

proptest! {
    #[test]
    fn what_is_stored_reads_back(bits in prop::collection::vec(any::<u32>(), 0..40)) {
        for storage in ALL {
            let values: Vec<f32> = bits.iter().map(|&bits| round(storage, f32::from_bits(bits))).collect();
            let bytes = encode(storage, &values);
            prop_assert_eq!(bytes.len() as u64, values.len() as u64 * storage.bytes());
            let back = decode(storage, &bytes);
            for (&value, &back) in values.iter().zip(&back) {
                prop_assert!(value.to_bits() == back.to_bits() || value.is_nan() && back.is_nan());
                prop_assert_eq!(value.is_sign_negative(), back.is_sign_negative());
            }
        }
    }

    #[test]
    fn rounding_moves_a_value_by_no_more_than_the_roundoff(bits in any::<u32>()) {
        let value = f32::from_bits(bits);
        for storage in ALL {
            let stored = round(storage, value);
            if value.is_finite() && stored.is_finite() {
                let moved = (f64::from(stored) - f64::from(value)).abs();
                let most = (f64::from(value).abs() * unit_roundoff(storage)).max(smallest_subnormal(storage) / 2.0);
                prop_assert!(moved <= most, "{} became {}", value, stored);
                prop_assert_eq!(round(storage, stored), stored);
                let above = next_up(storage, stored);
                prop_assert!(above > stored && round(storage, above) == above);
            }
        }
    }
}
