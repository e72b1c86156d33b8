//! Outputs, their receipts, and receipts that name one file twice.

use crate::common::json::{bump, copy, rehash, set};
use crate::common::package::Package;

forgeries! {
    an_output_has_the_bytes_of_its_rows:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/saved_output_recheck/receipt/bytes",
        |root, at| bump(root, at, 2) => "output-check";
    every_element_is_rechecked:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/saved_output_recheck/elements",
        |root, at| bump(root, at, -1) => "output-check";
    no_element_fails:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/saved_output_recheck/failed_elements",
        |root, at| set(root, at, 1_u64) => "output-check";
    no_element_of_torch_fails:
        "validation.json", "/cases/0/cohorts/default/routes/torch/recorded_correctness/compiled_correctness_after/failed_elements",
        |root, at| set(root, at, 1_u64) => "output-check";
    no_check_has_errors:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/recorded_correctness/errors",
        |root, at| set(root, at, 1_u64) => "output-check";
    inputs_stay_unchanged:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/recorded_correctness/inputs_unchanged",
        |root, at| set(root, at, false) => "output-check";
    guards_stay_unchanged:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/recorded_correctness/guards_unchanged",
        |root, at| set(root, at, false) => "output-check";
    outputs_are_finite:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/recorded_correctness/all_outputs_finite",
        |root, at| set(root, at, false) => "output-check";
    an_error_recorded_twice_is_the_same:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/recorded_correctness/max_abs_error",
        |root, at| set(root, at, 0.0) => "output-check";
    an_error_beyond_its_bound_is_a_failure:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/recorded_correctness/max_error_over_bound",
        |root, at| set(root, at, 1.5) => "output-check";
    an_error_is_not_less_of_its_bound_than_it_can_be:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/recorded_correctness/max_error_over_bound",
        |root, at| set(root, at, 1e-6) => "output-check";
    a_validated_run_says_so:
        "validation.json", "/cases/0/cohorts/rows1/status", |root, at| set(root, at, "failed") => "output-check";
    a_validated_run_is_eligible:
        "validation.json", "/cases/0/cohorts/rows1/native_comparison_eligible",
        |root, at| set(root, at, false) => "output-check";
    a_cohort_with_all_native_times_is_eligible:
        "validation.json", "/cohorts/2/native_comparison_eligible", |root, at| set(root, at, false) => "output-check";
    torch_has_one_bound:
        "validation.json", "/cases/0/cohorts/default/routes/torch/recorded_correctness/compiled_correctness_after/max_allowed_bound",
        |root, at| set(root, at, 0.125) => "output-check";
    outputs_are_checked_equally_often:
        "validation.json", "/cases/3/cohorts/rows1/routes/native/recorded_correctness/checks",
        |root, at| set(root, at, 1_u64) => "protocol-setting";
    one_path_has_one_hash_in_two_files:
        "proof-receipts.json", "/original_snapshot/sha256", rehash => "receipt-conflict";
    one_path_has_one_size_in_two_files:
        "proof-receipts.json", "/original_snapshot/bytes", |root, at| bump(root, at, 1) => "receipt-conflict";
    one_path_has_one_hash_within_a_file:
        "validation.json", "/cases/0/cohorts/default/torch_compiler_artifacts_rechecked/0/sha256",
        rehash => "receipt-conflict";
    the_summary_has_one_hash:
        "provenance.json", "/original_summary/sha256",
        |root, at| {
            // Its other name is in model.json, which is read later.
            rehash(root, at);
        } => "provenance";
}

#[test]
fn two_hashes_of_exact_results_are_a_warning_only() {
    let package = Package::valid();
    let pointer = "/cases/1/cohorts/rows1/routes/native/saved_output_recheck/receipt/sha256";
    let outcome = package.forged("validation.json", |root| rehash(root, pointer));
    outcome.exits(0).only(&["output-differs"]);
    outcome.at("output-differs", "validation.json", pointer);
    package.verify(&["--strict"]).exits(1);
}

#[test]
fn results_that_are_not_exact_may_differ_between_entries_but_not_within_one() {
    let sha256 = |cohort: &str| format!("/cases/0/cohorts/{cohort}/routes/native/saved_output_recheck/receipt/sha256");
    let package = Package::valid();
    let json = package.json("validation.json");
    assert_ne!(copy(&json, &sha256("default")), copy(&json, &sha256("rows1")));
    assert_eq!(copy(&json, &sha256("default")), copy(&json, &sha256("recheck")));
    let outcome = package.forged("validation.json", |root| rehash(root, &sha256("recheck")));
    outcome.exits(0).at("output-differs", "validation.json", &sha256("recheck"));
}

#[test]
fn one_output_has_one_error() {
    let outcome = Package::valid().forged("validation.json", |root| {
        for at in ["saved_output_recheck", "recorded_correctness"] {
            let pointer = format!("/cases/0/cohorts/recheck/routes/native/{at}/max_abs_error");
            set(root, &pointer, 0.001_953_125);
        }
        set(root, "/cases/0/cohorts/recheck/routes/native/recorded_correctness/max_error_over_bound", 0.0625);
    });
    outcome.exits(0).only(&["output-differs"]);
}
