//! What is generated.

use std::collections::HashSet;

use recount::bench::partition::cases::{CaseSpec, held_out, published};
use recount::bench::partition::fixtures::{Fixture, generate, generate_with_nan};
use recount::bench::partition::oracle::{check, files};
use recount::bench::partition::storage::{decode, encode, largest, round, smallest_normal};
use recount::package::digest::digest;
use recount::package::partition::{Operation, Storage};

fn all() -> impl Iterator<Item = CaseSpec> {
    let shapes = [(1, 1), (1, 2), (7, 3), (13, 1), (40, 65), (3, 70_000)];
    let small = shapes.into_iter().flat_map(|(rows, columns)| {
        let storages = [Storage::Fp16, Storage::Bf16, Storage::Fp32];
        storages.into_iter().flat_map(move |storage| {
            [Operation::Sum, Operation::Max].map(|operation| CaseSpec::new(operation, rows, columns, storage, 4))
        })
    });
    published().into_iter().chain(held_out()).chain(small)
}

fn rows(spec: &CaseSpec, fixture: &Fixture) -> Vec<Vec<f32>> {
    let columns = usize::try_from(spec.geometry.columns).unwrap();
    decode(spec.storage, &fixture.input).chunks(columns).map(<[f32]>::to_vec).collect()
}

fn outputs(spec: &CaseSpec, fixture: &Fixture, reduce: impl Fn(&[f32]) -> f32) -> Vec<u8> {
    let results: Vec<f32> = rows(spec, fixture).iter().map(|row| reduce(row)).collect();
    encode(spec.storage, &results)
}

fn sequential(row: &[f32]) -> f32 {
    row.iter().fold(0.0, |sum, value| sum + value)
}

fn of(operation: Operation) -> impl Iterator<Item = CaseSpec> {
    all().filter(move |spec| spec.operation == operation)
}

#[test]
fn all_inputs_and_results_are_finite_and_no_result_is_zero() {
    for spec in all() {
        let fixture = generate(&spec);
        let (count, columns) = (spec.geometry.rows as usize, spec.geometry.columns as usize);
        assert_eq!(fixture.input.len() as u64, (count * columns) as u64 * spec.storage.bytes(), "{}", spec.id);
        assert_eq!((fixture.expected.len(), fixture.bound.len()), (count, count));
        assert!(rows(&spec, &fixture).iter().flatten().all(|value| value.is_finite()), "{}", spec.id);
        for (&expected, &bound) in fixture.expected.iter().zip(&fixture.bound) {
            assert!(expected != 0.0 && round(spec.storage, expected as f32).is_finite(), "{}: {expected}", spec.id);
            assert!(bound.is_finite() && bound >= 0.0 && (spec.operation == Operation::Sum || bound == 0.0));
            assert!(expected.abs() + bound < f64::from(largest(spec.storage)) || spec.operation == Operation::Max);
        }
    }
}

#[test]
fn a_case_always_has_the_same_bytes() {
    // Recorded when the generator was written. Fixtures of published packages are compared by these hashes: they may
    // never change.
    let hashes: Vec<String> = published()
        .iter()
        .flat_map(|spec| files(spec, &generate(spec)))
        .map(|(_, bytes)| digest(&bytes).sha256[..16].to_owned())
        .collect();
    let hashes: Vec<&str> = hashes.iter().map(String::as_str).collect();
    assert_eq!(hashes[..12], FIRST);
    assert_eq!(digest(hashes.join(" ").as_bytes()).sha256, ALL);
}

/// The beginnings of the hashes of the first four cases: input, expected, bound of each.
const FIRST: [&str; 12] = [
    "4372d31ec65dfa44",
    "a9529f83d4da8194",
    "df96b6bfec6e651b",
    "2f550c2116e11928",
    "f0e88e1214102007",
    "b707241545a34626",
    "74b67e7d65fff373",
    "3acc4e9b20f19055",
    "9e95b13ae4a80806",
    "826a13f9f92b2e72",
    "d765dfaeaa0621ec",
    "20aa497d9bd4c19e",
];
/// The hash of all of them, with a space between two.
const ALL: &str = "c9e56319f038cececc440f2140d97ad1292adf2997e38eaa380de3ec0f7ce294";

#[test]
fn another_seed_gives_other_inputs() {
    let mut spec = published().remove(0);
    let first = generate(&spec);
    spec.seed += 1;
    assert_ne!(generate(&spec).input, first.input);
}

#[test]
fn right_sums_and_maxima_are_within_their_bounds() {
    for spec in all() {
        let fixture = generate(&spec);
        let output = match spec.operation {
            Operation::Sum => outputs(&spec, &fixture, sequential),
            Operation::Max => outputs(&spec, &fixture, |row| row.iter().copied().fold(f32::NEG_INFINITY, f32::max)),
        };
        let verdict = check(spec.storage, &output, &fixture.expected, &fixture.bound);
        assert!(verdict.holds() && verdict.all_finite, "{}: {verdict:?}", spec.id);
    }
}

#[test]
fn rows_differ() {
    for spec in published().into_iter().chain(held_out()) {
        let fixture = generate(&spec);
        let rows = rows(&spec, &fixture);
        let distinct: HashSet<u64> = fixture.expected.iter().map(|value| value.to_bits()).collect();
        if spec.operation == Operation::Sum {
            assert!(distinct.len() * 10 >= rows.len() * 9, "{}: {} of {}", spec.id, distinct.len(), rows.len());
            let neighbours = rows.windows(2).all(|pair| pair[0] != pair[1]);
            assert!(neighbours, "{}", spec.id);
        } else {
            // Rows of the lowest value have one maximum.
            assert!(distinct.len() * 2 >= rows.len(), "{}: {} of {}", spec.id, distinct.len(), rows.len());
        }
    }
}

#[test]
fn sums_cancel_and_their_order_matters_to_some_rows() {
    for spec in of(Operation::Sum).filter(|spec| spec.geometry.columns >= 128 && spec.geometry.rows > 3) {
        let fixture = generate(&spec);
        let mut rounded = 0;
        for (at, (row, &expected)) in rows(&spec, &fixture).iter().zip(&fixture.expected).enumerate() {
            let magnitudes: f64 = row.iter().map(|&value| f64::from(value.abs())).sum();
            assert!(row.iter().any(|&value| value > 0.0) && row.iter().any(|&value| value < 0.0));
            assert!(magnitudes > 20.0 * expected.abs(), "{}: {expected} of {magnitudes}", spec.id);
            let sum = f64::from(sequential(row));
            if at % 4 == 3 {
                rounded += usize::from(sum != expected);
            } else {
                assert_eq!(sum, expected, "{}: row {at} is exact", spec.id);
            }
        }
        assert!(rounded > 0, "{}: FP32 never rounds", spec.id);
    }
}

#[test]
fn a_sum_that_misses_or_repeats_a_column_is_caught() {
    for spec in of(Operation::Sum).filter(|spec| (2..=8192).contains(&spec.geometry.columns) && spec.geometry.rows > 1)
    {
        let fixture = generate(&spec);
        let wrong: [fn(&[f32]) -> f32; 4] = [
            |row| sequential(&row[1..]),
            |row| sequential(&row[..row.len() - 1]),
            |row| sequential(row) + row[row.len() - 1],
            // The last incomplete vector of eight.
            |row| sequential(&row[..(row.len() - 1) / 8 * 8]),
        ];
        for (at, wrong) in wrong.into_iter().enumerate() {
            let output = outputs(&spec, &fixture, wrong);
            let verdict = check(spec.storage, &output, &fixture.expected, &fixture.bound);
            assert!(verdict.failed_elements >= 1, "{}: {at}", spec.id);
        }
    }
}

#[test]
fn a_sum_in_the_precision_of_the_storage_is_caught() {
    for spec in of(Operation::Sum) {
        let (Storage::Fp16 | Storage::Bf16) = spec.storage else { continue };
        if spec.geometry.columns < 64 {
            continue;
        }
        let fixture = generate(&spec);
        let output =
            outputs(&spec, &fixture, |row| row.iter().fold(0.0, |sum, value| round(spec.storage, sum + value)));
        let verdict = check(spec.storage, &output, &fixture.expected, &fixture.bound);
        assert!(verdict.failed_elements * 2 >= verdict.elements.min(4), "{}: {verdict:?}", spec.id);
    }
}

/// A way to reduce a row.
type Reduce<'r> = Box<dyn Fn(&[f32]) -> f32 + 'r>;

#[test]
fn careless_maxima_are_caught() {
    for spec in of(Operation::Max).filter(|spec| spec.geometry.columns >= 128 && spec.geometry.rows >= 17) {
        let fixture = generate(&spec);
        let storage = spec.storage;
        let fold = |row: &[f32], start: f32| row.iter().copied().fold(start, f32::max);
        let half = |value: f32| round(Storage::Bf16, value);
        let tiny = smallest_normal(storage);
        let wrong: [(&str, Reduce<'_>); 8] = [
            ("starts at zero", Box::new(|row| fold(row, 0.0))),
            ("starts at -65504 / 2", Box::new(|row| fold(row, -largest(storage) / 2.0))),
            ("misses the first column", Box::new(|row| fold(&row[1..], f32::NEG_INFINITY))),
            ("misses the last column", Box::new(|row| fold(&row[..row.len() - 1], f32::NEG_INFINITY))),
            (
                "misses every eighth column",
                Box::new(|row| {
                    let kept = row.iter().enumerate().filter(|(column, _)| column % 8 != 0).map(|(_, &value)| value);
                    kept.fold(f32::NEG_INFINITY, f32::max)
                }),
            ),
            (
                "flushes subnormals",
                Box::new(|row| {
                    row.iter()
                        .map(|&value| if value.abs() < tiny { 0.0 } else { value })
                        .fold(f32::NEG_INFINITY, f32::max)
                }),
            ),
            (
                "compares magnitudes",
                Box::new(|row| {
                    row.iter().copied().fold(
                        0.0,
                        |best: f32, value| {
                            if value.abs() > best.abs() { value } else { best }
                        },
                    )
                }),
            ),
            (
                "compares in eight bits",
                Box::new(|row| {
                    row.iter().copied().fold(f32::NEG_INFINITY, |best, value| {
                        if half(value) > half(best) || best == f32::NEG_INFINITY { value } else { best }
                    })
                }),
            ),
        ];
        for (what, wrong) in wrong {
            if what == "compares in eight bits" && storage == Storage::Bf16 {
                continue;
            }
            let verdict = check(storage, &outputs(&spec, &fixture, wrong), &fixture.expected, &fixture.bound);
            assert!(verdict.failed_elements >= 1, "{}: {what}", spec.id);
        }
    }
}

#[test]
fn rows_with_a_nan_must_give_one() {
    for spec in of(Operation::Max).filter(|spec| spec.geometry.rows >= 6) {
        let (plain, fixture) = (generate(&spec), generate_with_nan(&spec));
        let mut signs = HashSet::new();
        for (at, (row, &expected)) in rows(&spec, &fixture).iter().zip(&fixture.expected).enumerate() {
            let nans: Vec<&f32> = row.iter().filter(|value| value.is_nan()).collect();
            signs.extend(nans.iter().map(|nan| nan.is_sign_negative()));
            assert_eq!(expected.is_nan(), !nans.is_empty(), "{}", spec.id);
            if matches!(at % 6, 2 | 5) {
                assert_eq!(expected, plain.expected[at]);
            } else {
                assert!(expected.is_nan());
            }
            match at % 6 {
                0 => assert!(row[0].is_nan()),
                1 => assert!(row[row.len() - 1].is_nan()),
                4 => assert!(row.iter().all(|value| value.is_nan())),
                _ => {}
            }
        }
        assert_eq!(signs.len(), 2, "{}", spec.id);
        // A maximum that ignores NaN, as IEEE maximumNumber does, is caught; one that propagates it is right.
        let ignores = outputs(&spec, &fixture, |row| row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        assert!(!check(spec.storage, &ignores, &fixture.expected, &fixture.bound).holds());
        let propagates = outputs(&spec, &fixture, |row| {
            row.iter().copied().fold(f32::NEG_INFINITY, |best, value| {
                if best.is_nan() || value.is_nan() { f32::NAN } else { best.max(value) }
            })
        });
        assert!(check(spec.storage, &propagates, &fixture.expected, &fixture.bound).holds());
    }
}
