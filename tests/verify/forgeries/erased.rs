//! Failures that were erased, renamed or given times, in every place that the forger thought of.

use recount::package::json::Json;

use crate::common::json::{add, copy, set, take};
use crate::common::package::Package;

const FAILED: &str = "/cases/2/cohorts/default/routes/torch";

forgeries! {
    a_status_is_one_of_two_words:
        "validation.json", "/cases/2/cohorts/default/original_case_status",
        |root, at| set(root, at, "failed?") => "failure-relabelled";
    the_status_of_a_cohort_is_one_of_two_words:
        "validation.json", "/cohorts/1/original_status", |root, at| set(root, at, "crashed") => "failure-relabelled";
    the_whole_does_not_fail_where_every_run_has_times:
        "validation.json", "/status", |root, at| set(root, at, "failed_native") => "failure-relabelled";
    the_revalidation_passed_where_every_run_has_times:
        "validation.json", "/native_revalidation/status", |root, at| set(root, at, "failed") => "failure-relabelled";
    the_revalidation_has_a_status_of_two_words:
        "validation.json", "/native_revalidation/status", |root, at| set(root, at, "pass") => "failure-relabelled";
    a_run_with_times_is_validated:
        "validation.json", "/cases/0/cohorts/rows1/status", |root, at| set(root, at, "unknown") => "output-check";
    a_run_without_times_is_not_eligible:
        "validation.json", "/cases/0/cohorts/rows1/native_comparison_eligible",
        |root, _| fail_rows1(root) => "output-check";
    a_run_without_times_is_not_validated:
        "validation.json", "/cases/0/cohorts/rows1/status", |root, _| fail_rows1(root) => "output-check";
    the_whole_is_not_validated_where_a_native_run_failed:
        "validation.json", "/status", |root, _| fail_rows1(root) => "failure-relabelled";
    a_median_under_another_name_is_a_median:
        "validation.json", "/cases/2/cohorts/default/routes/torch/p50_us",
        |root, _| add(root, FAILED, "p50_us", 1.25) => "baseline-filled";
    a_missing_baseline_has_its_label:
        "validation.json", "/cases/2/cohorts/default/routes/torch/comparison",
        |root, at| set(root, at, "absent_native_only_calibration") => "failure-relabelled";
    a_baseline_that_was_not_asked_for_has_its_label:
        "validation.json", "/cases/2/cohorts/rows1/routes/torch/comparison",
        |root, at| set(root, at, "missing_initial_torch_baseline") => "failure-relabelled";
    a_failure_is_not_a_route_that_was_not_asked_for:
        "validation.json", "/cases/2/cohorts/default/routes/torch/raw_failure",
        |root, _| set(root, &format!("{FAILED}/status"), "not_requested") => "failure-relabelled";
    torch_is_asked_for_in_every_case_of_a_cohort:
        "validation.json", "/cases/0/cohorts/default/routes/torch",
        |root, at| {
            let absent = copy(root, "/cases/0/cohorts/rows1/routes/torch");
            set(root, at, absent);
        } => "failure-relabelled";
    a_retry_of_a_case_that_failed_with_other_rows_is_no_retry:
        "validation.json", "/cases/2/independent_torch_retest",
        |root, at| set(root, &format!("{at}/evidence/selection/program_partition/0/rows_requested"), 1_u64)
        => "retry-substituted";
}

/// The native process of a partitioned run failed, and nothing else says so.
fn fail_rows1(root: &mut Json) {
    let route = obj! {
        "status": "failed",
        "raw_failure": obj! { "status": "failed", "process": obj! { "returncode": 1_u64 } },
    };
    set(root, "/cases/0/cohorts/rows1/routes/native", route);
}

/// Erases the failure from the record of the runs, from the table and from the model.
fn erase(package: &Package, keep_preserved: bool) {
    package.edit_json("validation.json", |root| {
        take(root, FAILED);
        take(root, "/cases/2/independent_torch_retest");
        set(root, "/cases/2/cohorts/default/original_case_status", "passed");
        set(root, "/cohorts/0/original_status", "passed");
        set(root, "/native_revalidation/original_cohort_status", "passed");
        for case in 0..4 {
            set(root, &format!("/cases/{case}/cohorts/default/original_cohort_status"), "passed");
        }
        if !keep_preserved {
            take(root, "/native_revalidation/original_failure");
        }
    });
    package.edit_text("samples.csv", |text| {
        let kept = text.lines().filter(|line| !line.contains(",independent_retest,"));
        kept.map(|line| line.replace(",failed", ",passed") + "\n").collect()
    });
    let stated = copy(&package.json("validation.json"), "/native_revalidation");
    package.edit_json("model.json", |model| {
        set(model, "/profile/summary_provenance/native_revalidation", stated);
        let profile = model.get("profile").unwrap().clone();
        set(model, "/profile_id", recount::refit::document::profile_id(&profile));
    });
    let id = package.json("model.json").get("profile_id").unwrap().clone();
    package.edit_json("provenance.json", |root| set(root, "/public_profile_id", id));
    package.remove("README.md").seal();
}

#[test]
fn a_failure_that_is_preserved_cannot_be_erased_from_the_runs() {
    let package = Package::valid();
    erase(&package, true);
    let outcome = package.verify(&[]);
    outcome.exits(1).only(&["failure-relabelled"]);
    outcome.at("failure-relabelled", "validation.json", "/cases/2/cohorts/default/original_case_status");
    // Its route is gone, so that the finding is at the routes.
    outcome.at("failure-relabelled", "validation.json", "/cases/2/cohorts/default/routes");
}

#[test]
fn a_failure_that_is_erased_everywhere_leaves_its_queue_and_a_gap() {
    let package = Package::valid();
    erase(&package, false);
    let outcome = package.verify(&[]);
    outcome.exits(1).only(&["failure-relabelled"]);
    outcome.at("failure-relabelled", "validation.json", "/original_failed_queue");
    outcome.at("failure-relabelled", "validation.json", "/cases/2/cohorts/default/routes");
}
