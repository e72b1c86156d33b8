//! The oracle, its bounds, the check of outputs, files and manifest.

use proptest::prelude::*;
use recount::bench::partition::cases::{CaseSpec, published};
use recount::bench::partition::fixtures::generate;
use recount::bench::partition::oracle::{Reference, check, files, manifest, row};
use recount::bench::partition::storage::{decode, encode, largest, next_up, round};
use recount::package::json::Json;
use recount::package::partition::{Operation, Storage};

const ALL: [Storage; 3] = [Storage::Fp16, Storage::Bf16, Storage::Fp32];

#[test]
fn references_of_rows_that_are_summed_by_hand() {
    // Exact in FP32 in every order; the bound is the rounding to FP16: 5 * 2^-11 + 2^-25, and the slack.
    let reference = row(Operation::Sum, Storage::Fp16, &[2048.0, 5.0, -2048.0]);
    assert_eq!(reference.value, 5.0);
    let rounding = 5.0 / 2048.0 + 1.0 / 33_554_432.0;
    assert!(reference.bound >= rounding && reference.bound <= rounding * 1.000_001, "{}", reference.bound);
    // The same in FP32 has no error at all.
    assert_eq!(row(Operation::Sum, Storage::Fp32, &[2048.0, 5.0, -2048.0]), Reference { value: 5.0, bound: 0.0 });
    // 2^25 + 1 - 2^25 depends on the order: 2 additions of magnitude 2^26 + 1 may be wrong by 2^-24 of it each.
    let big = 33_554_432.0_f32;
    let reference = row(Operation::Sum, Storage::Fp32, &[big, 1.0, -big]);
    assert_eq!(reference.value, 1.0);
    assert!((8.0..8.000_001).contains(&reference.bound), "{}", reference.bound);
    assert_eq!(row(Operation::Sum, Storage::Fp32, &[0.0, -0.0]), Reference { value: 0.0, bound: 0.0 });
    assert_eq!(row(Operation::Max, Storage::Bf16, &[-3.0, -2.0]), Reference { value: -2.0, bound: 0.0 });
    for operation in [Operation::Sum, Operation::Max] {
        assert!(row(operation, Storage::Fp16, &[1.0, -f32::NAN, 2.0]).value.is_nan());
    }
}

#[test]
fn verdicts_of_outputs_that_are_compared_by_hand() {
    let verdict = |values: &[f32], expected: &[f64], bound: &[f64]| {
        check(Storage::Fp32, &encode(Storage::Fp32, values), expected, bound)
    };
    let right = verdict(&[1.0, 2.5], &[1.0, 2.0], &[0.0, 2.0]);
    assert!(right.holds() && right.all_finite);
    assert_eq!((right.elements, right.max_abs_error, right.max_error_over_bound), (2, 0.5, 0.25));
    assert_eq!(right.max_allowed_bound, 2.0);
    let over_zero = verdict(&[1.0, 2.5], &[1.0, 2.0], &[0.0, 0.0]);
    assert_eq!((over_zero.failed_elements, over_zero.max_error_over_bound), (1, f64::INFINITY));
    let nan = verdict(&[f32::NAN, 1.0], &[1.0, 1.0], &[1.0, 1.0]);
    assert_eq!((nan.failed_elements, nan.max_abs_error, nan.all_finite), (1, f64::INFINITY, false));
    let expected_nan = verdict(&[-f32::NAN, 1.0], &[f64::NAN, f64::NAN], &[0.0, 0.0]);
    assert_eq!((expected_nan.failed_elements, expected_nan.max_abs_error), (1, f64::INFINITY));
    assert!(verdict(&[f32::NAN], &[f64::NAN], &[0.0]).holds());
    let infinite = verdict(&[f32::INFINITY], &[f64::INFINITY], &[1.0]);
    assert_eq!((infinite.failed_elements, infinite.all_finite), (1, false));
    for short in [verdict(&[1.0], &[1.0, 1.0], &[9.0, 9.0]), verdict(&[1.0, 1.0, 1.0], &[1.0, 1.0], &[9.0, 9.0])] {
        assert_eq!((short.elements, short.failed_elements, short.holds()), (2, 2, false));
    }
    assert_eq!(verdict(&[1.0, 1.0], &[1.0, 1.0], &[9.0]).failed_elements, 2);
    assert!(verdict(&[], &[], &[]).holds());
}

#[test]
fn files_are_the_fixture_in_little_endian() {
    let spec = CaseSpec::new(Operation::Sum, 3, 5, Storage::Bf16, 4);
    let fixture = generate(&spec);
    let files = files(&spec, &fixture);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["input0.bf16", "expected.f64", "per_element_bound.f64"]);
    assert_eq!(files[0].1.len(), 30);
    assert_eq!(files[1].1[8..16], fixture.expected[1].to_le_bytes());
    assert_eq!(files[2].1[16..], fixture.bound[2].to_le_bytes());
}

#[test]
fn a_manifest_says_what_the_published_ones_say() {
    let spec = &published()[10];
    let manifest = manifest(spec, "cpu", 100, 128);
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Json::as_str).unwrap().to_owned();
    assert_eq!(text("/backend"), "cpu");
    assert_eq!(text("/inputs/0/path"), "input0.f32");
    assert_eq!(text("/output/path"), "output.f32");
    assert_eq!(text("/expected/bound_path"), "per_element_bound.f64");
    assert_eq!(manifest.pointer("/inputs/0/shape"), Some(&Json::from(vec![37_u64, 257])));
    assert_eq!(manifest.pointer("/output/shape"), Some(&Json::from(vec![37_u64, 1])));
    assert_eq!(manifest.pointer("/semantics/logical_view_offset_bytes"), Some(&Json::Int(512)));
    assert_eq!(manifest.get("graph_batch"), Some(&Json::Int(100)));
    for (name, value) in spec.definition().as_object().unwrap().iter().filter(|(name, _)| name != "id") {
        assert_eq!(manifest.get(name), Some(value), "{name}");
    }
}

/// Adds all values in FP32 in the order of a random tree: two of what is left become one until one is left.
fn tree(mut values: Vec<f32>, choices: &[prop::sample::Index]) -> f32 {
    let mut choices = choices.iter().cycle();
    while values.len() > 1 {
        let left = values.swap_remove(choices.next().unwrap().index(values.len()));
        let right = choices.next().unwrap().index(values.len());
        values[right] += left;
    }
    values.first().copied().unwrap_or(0.0)
}

fn pairwise(values: &[f32]) -> f32 {
    match values {
        [] => 0.0,
        [value] => *value,
        _ => {
            let (left, right) = values.split_at(values.len() / 2);
            pairwise(left) + pairwise(right)
        }
    }
}

/// Values of a few binades of both signs, with repetitions and zeros: rows in which much cancels.
fn values() -> impl Strategy<Value = Vec<f32>> {
    let wide = (-40_i32..12, -1.0_f32..1.0).prop_map(|(exponent, part)| part * 2.0_f32.powi(exponent));
    let narrow = (-4000_i32..4000).prop_map(|count| count as f32 / 16.0);
    let tiny = (-300_i32..300).prop_map(|count| count as f32 * f32::from_bits(1));
    prop_oneof![
        prop::collection::vec(wide, 0..200),
        prop::collection::vec(narrow, 0..200),
        prop::collection::vec(tiny, 0..50),
    ]
    .prop_map(|mut values| {
        let back: Vec<f32> = values.iter().take(values.len() / 2).map(|value| -value).collect();
        values.extend(back);
        values
    })
}

proptest! {
    #[test]
    fn a_sum_in_any_order_is_within_the_bound(
        raw in values(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 2..64),
    ) {
        for storage in ALL {
            let values: Vec<f32> = raw.iter().map(|&value| round(storage, value)).collect();
            let reference = row(Operation::Sum, storage, &values);
            let backwards = values.iter().rev().fold(0.0, |sum, value| sum + value);
            let forwards = values.iter().fold(0.0, |sum, value| sum + value);
            for sum in [forwards, backwards, pairwise(&values), tree(values.clone(), &choices)] {
                let output = encode(storage, &[sum]);
                let verdict = check(storage, &output, &[reference.value], &[reference.bound]);
                prop_assert!(verdict.holds(), "{storage:?}: {sum} for {reference:?}");
                prop_assert!(verdict.max_error_over_bound <= 1.0);
                if storage == Storage::Fp32 && reference.bound == 0.0 {
                    prop_assert_eq!(f64::from(sum), reference.value);
                }
            }
        }
    }

    #[test]
    fn a_maximum_is_exact(raw in prop::collection::vec(-1.0e4_f32..1.0e4, 1..100)) {
        for storage in ALL {
            let values: Vec<f32> = raw.iter().map(|&value| round(storage, value)).collect();
            let reference = row(Operation::Max, storage, &values);
            let highest = values.iter().copied().fold(-largest(storage), f32::max);
            prop_assert_eq!(reference, Reference { value: f64::from(highest), bound: 0.0 });
            let wrong = encode(storage, &[next_up(storage, highest)]);
            prop_assert!(!check(storage, &wrong, &[reference.value], &[reference.bound]).holds());
        }
    }

    #[test]
    fn an_output_beyond_its_bound_is_caught(case in 0_usize..16, element in any::<prop::sample::Index>(), up in any::<bool>()) {
        let spec = &published()[case];
        let fixture = generate(spec);
        let right: Vec<f32> = fixture.expected.iter().map(|&value| value as f32).collect();
        let verdict = check(spec.storage, &encode(spec.storage, &right), &fixture.expected, &fixture.bound);
        prop_assert!(verdict.holds() && verdict.all_finite);
        let element = element.index(right.len());
        let mut output = decode(spec.storage, &encode(spec.storage, &right));
        let beyond = fixture.bound[element] * 1.001;
        let side = if up { 1.0_f32 } else { -1.0 };
        let mut wrong = (fixture.expected[element] + f64::from(side) * beyond) as f32;
        // Away from what is expected until the stored value is beyond the bound.
        while (f64::from(round(spec.storage, wrong)) - fixture.expected[element]).abs() <= fixture.bound[element] {
            wrong = side * next_up(spec.storage, side * round(spec.storage, wrong));
        }
        output[element] = wrong;
        let verdict = check(spec.storage, &encode(spec.storage, &output), &fixture.expected, &fixture.bound);
        prop_assert_eq!(verdict.failed_elements, 1);
        prop_assert!(verdict.max_error_over_bound > 1.0);
    }
}
