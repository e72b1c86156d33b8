//! Packages of the same format from other producers: nothing in them contradicts anything, so nothing is found.

mod forms;

use crate::common::content::{Parts, Recipe, variants};
use crate::common::json::{set, take};
use crate::common::package::Package;

/// Verifies a package of this producer without a finding, and with as many families run as the published one has.
fn holds(recipe: &Recipe, edit: impl Fn(&mut Parts)) -> Package {
    let package = Package::derived(recipe, edit);
    let outcome = package.verify(&["--strict"]);
    outcome.holds();
    for family in ["integrity", "samples", "timing", "proofs", "failures", "model", "exactness", "prose"] {
        outcome.require(outcome.outcome_of(family) == "passed", &format!("{family} passed"));
    }
    package
}

macro_rules! producers {
    ($($name:ident: $edit:expr;)*) => {$(
        #[test]
        fn $name() {
            holds(&Recipe::default(), $edit);
        }
    )*};
}

producers! {
    the_published_ones: |_| {};
    without_torch: variants::without_torch;
    without_torch_routes: variants::without_torch_routes;
    with_torch_unavailable: variants::torch_unavailable;
    with_eager_torch: variants::eager_torch;
    with_other_patterns_and_names_of_fixtures: variants::other_fixtures;
    on_another_cuda_device: |parts| variants::another_machine(parts, false);
    with_paths_relative_to_each_run: variants::relative_paths;
    with_a_status_beside_times: variants::routes_passed;
    with_a_failed_native_default: variants::failed_native_default;
    with_a_retry_of_a_failure_in_rows1: variants::retried_rows1;
    with_an_overlap_that_fell_back: variants::overlap;
}

#[test]
fn on_a_cpu_whose_clocks_count_nanoseconds() {
    let recipe = Recipe { nanoseconds: true, ..Recipe::default() };
    holds(&recipe, |parts| variants::another_machine(parts, true));
}

#[test]
fn without_a_record_of_the_build() {
    let package = Package::derived(&Recipe::default(), |parts| {
        variants::another_machine(parts, false);
        take(&mut parts.validation, "/build_snapshot");
        take(&mut parts.validation, "/implementation_files_rechecked");
    });
    package.remove("proof-receipts.json").seal().verify(&["--strict"]).holds();
}

#[test]
fn spans_that_are_no_binary32_numbers_are_not_those_of_a_cuda_device() {
    let recipe = Recipe { nanoseconds: true, ..Recipe::default() };
    let package = Package::derived(&recipe, |parts| {
        variants::another_machine(parts, true);
        set(&mut parts.device, "/compute_capability", 90_u64);
    });
    package.verify(&[]).exits(1).all("span-lattice");
    Package::derived(&recipe, |parts| variants::another_machine(parts, false)).verify(&[]).exits(1).all("span-lattice");
}

#[test]
fn with_a_calibration_that_is_cut_to_the_cap() {
    let package = holds(&Recipe { replay_cap: 20, ..Recipe::default() }, |_| {});
    let sampling = "/cases/0/cohorts/rows1/routes/native/sampling";
    let outcome =
        package.forged("validation.json", |root| set(root, &format!("{sampling}/calibration/1/replays"), 19_u64));
    outcome.exits(1).at("calibration", "validation.json", &format!("{sampling}/calibration/1/replays"));
}

#[test]
fn with_ten_samples_in_whatever_words() {
    let recipe = Recipe { samples: 10, ..Recipe::default() };
    let package = holds(&recipe, |_| {});
    let stated = |words: &str| {
        package.edit_json("model.json", |model| {
            set(model, "/profile/fixed_policy/training_statistic", words);
            let profile = model.get("profile").expect("a profile").clone();
            set(model, "/profile_id", recount::refit::document::profile_id(&profile));
        });
        let id = package.json("model.json").get("profile_id").expect("an id").clone();
        package.forged("provenance.json", |root| set(root, "/public_profile_id", id))
    };
    stated("10_sample_median_us").holds();
    stated("sample_median_us").holds();
    for wrong in ["seven_sample_median_us", "ten_sample_mean_us"] {
        let pointer = "/profile/fixed_policy/training_statistic";
        stated(wrong).exits(1).at("model-text", "model.json", pointer);
    }
}

#[test]
fn a_host_span_may_be_cut_to_its_tick() {
    let span = "/cases/0/cohorts/rows1/routes/native/sampling/prime";
    for (short, status) in [(0.000_09, 0), (0.000_2, 1)] {
        let package = Package::valid();
        let outcome = package.forged("validation.json", |root| {
            let event = f64::from(0.25_f32 + short as f32);
            set(root, &format!("{span}_event_ms"), event);
            set(root, &format!("{span}_host_ms"), 0.25);
        });
        outcome.exits(status);
    }
}
