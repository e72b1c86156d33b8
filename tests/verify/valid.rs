//! The package that all other tests damage is a good one.

use crate::common::content::Recipe;
use crate::common::package::Package;

#[test]
fn a_valid_package_passes_in_every_family_without_a_finding() {
    let outcome = Package::valid().verify(&[]);
    outcome.holds();
    let families = ["integrity", "samples", "timing", "proofs", "failures", "model", "exactness"];
    for family in families {
        outcome.require(outcome.outcome_of(family) == "passed", &format!("{family} passed"));
    }
    // Where the check of prose is not there yet, it says so.
    let prose = outcome.outcome_of("prose");
    outcome.require(prose == "passed" || prose == "not-run: not written yet", "prose passed");
    for (name, value) in [
        ("cases", "4"),
        ("cohorts", "4"),
        ("native executions", "17"),
        ("torch executions", "4"),
        ("samples", "147"),
        ("independent retest", "1"),
        ("failed run, kept as failed", "1"),
    ] {
        outcome.require(outcome.fact(name) == value, &format!("the package has {value} {name}"));
    }
}

#[test]
fn the_package_stays_valid_under_strict_and_with_its_own_hash_as_anchor() {
    let package = Package::valid();
    package.verify(&["--strict", "--expect-receipts", &package.anchor()]).holds();
}

#[test]
fn the_same_recipe_gives_the_same_bytes_and_another_seed_gives_others() {
    let other = Package::of(&Recipe { seed: 7, ..Recipe::default() });
    assert_eq!(Package::valid().anchor(), Package::valid().anchor());
    assert_ne!(Package::valid().anchor(), other.anchor());
    other.verify(&[]).holds();
}

#[test]
fn the_model_selects_some_schedules_and_keeps_some_originals() {
    let model = Package::valid().json("model.json");
    let selected = model.pointer("/outer_leave_geometry_out/summary/selected").and_then(|count| count.as_u64());
    assert!(selected.is_some_and(|count| (1..4).contains(&count)), "{selected:?}");
}

#[test]
fn even_sample_counts_have_the_mean_of_the_middle_two_as_median() {
    let recipe = Recipe { samples: 6, ..Recipe::default() };
    Package::of(&recipe).verify(&[]).holds();
    let upper = |package: &Package| {
        let mut spans: Vec<f64> = package
            .json("validation.json")
            .pointer("/cases/0/cohorts/rows1/routes/native/event_us/samples")
            .and_then(|samples| {
                samples.as_array().map(|samples| samples.iter().filter_map(|value| value.as_f64()).collect())
            })
            .expect("samples");
        spans.sort_by(f64::total_cmp);
        spans[spans.len() / 2]
    };
    let package = Package::of(&recipe);
    let p50 = upper(&package);
    let pointer = "/cases/0/cohorts/rows1/routes/native/event_us/p50";
    let outcome = package.forged("validation.json", |validation| crate::common::json::set(validation, pointer, p50));
    outcome.exits(1).at("median-mismatch", "validation.json", pointer);
}
