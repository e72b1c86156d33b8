//! The failed Torch process: it stays failed, its baseline stays missing, its retry stays apart.

use recount::package::json::{Json, python_float};

use crate::common::json::{add, at, copy, set, take};
use crate::common::package::Package;

const FAILED: &str = "/cases/2/cohorts/default/routes/torch";
const RETRY: &str = "/cases/2/independent_torch_retest/evidence/routes/torch";

forgeries! {
    a_failed_case_cannot_be_called_passed:
        "validation.json", "/cases/2/cohorts/default/original_case_status",
        |root, at| set(root, at, "passed") => "failure-relabelled";
    a_failed_cohort_cannot_be_called_passed:
        "validation.json", "/cohorts/0/original_status", |root, at| set(root, at, "passed") => "failure-relabelled";
    a_run_repeats_the_status_of_its_cohort:
        "validation.json", "/cases/0/cohorts/default/original_cohort_status",
        |root, at| set(root, at, "passed") => "failure-relabelled";
    the_revalidation_repeats_the_status_of_the_cohort:
        "validation.json", "/native_revalidation/original_cohort_status",
        |root, at| set(root, at, "passed") => "failure-relabelled";
    a_failed_route_cannot_be_called_passed:
        "validation.json", "/cases/2/cohorts/default/routes/torch",
        |root, at| set(root, &format!("{at}/status"), "passed") => "failure-relabelled";
    a_case_that_passed_is_not_called_failed:
        "validation.json", "/cases/1/cohorts/rows1/original_case_status",
        |root, at| set(root, at, "failed") => "failure-relabelled";
    a_cohort_that_passed_is_not_called_failed:
        "validation.json", "/cohorts/1/original_status", |root, at| set(root, at, "failed") => "failure-relabelled";
    a_failed_process_has_an_exit_status_of_failure:
        "validation.json", "/cases/2/cohorts/default/routes/torch/raw_failure/process/returncode",
        |root, at| set(root, at, 0_u64) => "failure-record";
    a_failed_process_keeps_its_own_record:
        "validation.json", "/cases/2/cohorts/default/routes/torch",
        |root, at| {
            take(root, &format!("{at}/raw_failure"));
        } => "failure-record";
    the_raw_record_of_a_failure_says_failed:
        "validation.json", "/cases/2/cohorts/default/routes/torch/raw_failure/status",
        |root, at| set(root, at, "passed") => "failure-record";
    the_preserved_failure_is_a_case_of_the_package:
        "validation.json", "/native_revalidation/original_failure/case",
        |root, at| set(root, &format!("{at}/id"), "demo-other") => "failure-record";
    the_preserved_failure_has_the_cases_shape:
        "validation.json", "/native_revalidation/original_failure/case/dimensions/0",
        |root, at| set(root, at, 65_u64) => "failure-record";
    the_preserved_process_is_the_one_that_failed:
        "validation.json", "/native_revalidation/original_failure/runs/torch/process/returncode",
        |root, at| set(root, at, 1_u64) => "failure-record";
    the_preserved_traceback_is_the_one_of_the_failure:
        "validation.json", "/native_revalidation/original_failure/runs/torch/traceback",
        |root, at| set(root, at, "none") => "failure-record";
    the_preserved_tensors_are_the_fixtures:
        "validation.json", "/native_revalidation/original_failure/tensor_sha256/expected.f64",
        crate::common::json::rehash => "failure-record";
    the_preserved_fixtures_are_the_fixtures:
        "validation.json", "/native_revalidation/original_failure/runs/native/fixture_sha256/input0.bf16",
        crate::common::json::rehash => "failure-record";
    the_preserved_launch_is_the_launch:
        "validation.json", "/native_revalidation/original_failure/runs/native/native_program_partition/0/available",
        |root, at| set(root, at, true) => "failure-record";
    a_retry_has_a_receipt_of_its_own:
        "validation.json", "/cases/2/independent_torch_retest/evidence/case_receipt",
        |root, at| set(root, at, copy(root, "/cases/2/cohorts/default/case_receipt")) => "retry-substituted";
    a_retry_has_samples_of_its_own:
        "validation.json", "/cases/2/independent_torch_retest/evidence/routes/native/event_us/p50",
        |root, _| {
            let event = copy(root, "/cases/2/cohorts/default/routes/native/event_us");
            set(root, "/cases/2/independent_torch_retest/evidence/routes/native/event_us", event);
        } => "retry-substituted";
    the_ratio_to_a_missing_baseline_is_missing:
        "validation.json", "/cases/2/comparisons/rows1/candidate_over_baseline_torch",
        |root, _| add(root, "/cases/2/comparisons/rows1", "candidate_over_baseline_torch", 1.25) => "baseline-filled";
    a_baseline_that_was_not_asked_for_has_no_times:
        "validation.json", "/cases/0/cohorts/rows1/routes/torch/event_us",
        |root, _| {
            let event = copy(root, "/cases/0/cohorts/default/routes/torch/event_us");
            add(root, "/cases/0/cohorts/rows1/routes/torch", "event_us", event);
        } => "baseline-filled";
    a_route_without_times_says_why:
        "validation.json", "/cases/0/cohorts/rows1/routes/torch",
        |root, at| {
            take(root, &format!("{at}/status"));
        } => "failure-record";
}

/// The failed route with the times that `event` makes of the retry's.
fn with_times_filled_in(event: impl Fn(Json) -> Json) -> Package {
    let package = Package::valid();
    package.edit_json("validation.json", |root| {
        let filled = event(copy(root, &format!("{RETRY}/event_us")));
        add(root, FAILED, "event_us", filled);
    });
    package
}

#[test]
fn the_missing_baseline_is_not_zero_and_not_the_retrys() {
    for zero in [true, false] {
        let package = with_times_filled_in(|event| {
            if zero {
                obj! { "samples": vec![0.0; 7], "p50": 0.0 }
            } else {
                event
            }
        });
        let outcome = package.seal().verify(&[]);
        outcome.exits(1).at("baseline-filled", "validation.json", &format!("{FAILED}/event_us"));
    }
}

#[test]
fn the_table_has_no_rows_for_the_missing_baseline() {
    for zero in [true, false] {
        let package = Package::valid();
        let retry = copy(&package.json("validation.json"), &format!("{RETRY}/event_us"));
        package.edit_text("samples.csv", |text| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let id = "demo-sum-64x256-bf16-br8";
            let native = format!("{id},default,native,failed,failed,6,");
            let after = lines.iter().position(|line| line.starts_with(&native)).unwrap() + 1;
            let number = |value: Option<&Json>| if zero { 0.0 } else { value.and_then(Json::as_f64).unwrap() };
            for index in 0..7 {
                let sample = python_float(number(retry.pointer(&format!("/samples/{index}"))));
                let p50 = python_float(number(retry.get("p50")));
                lines.insert(after + index, format!("{id},default,torch,failed,failed,{index},{sample},{p50}"));
            }
            lines.join("\n") + "\n"
        });
        let outcome = package.seal().verify(&[]);
        let filled = outcome.exits(1).all("baseline-filled");
        assert_eq!(filled.len(), 7);
        assert!(filled.iter().all(|finding| finding.file == "samples.csv" && finding.field == "event_us_per_op"));
        assert!(filled[0].line > 1);
    }
}

#[test]
fn a_failure_that_is_replaced_by_its_retry_everywhere_is_still_seen() {
    let package = Package::valid();
    package.edit_json("validation.json", |root| {
        let retry = copy(root, RETRY);
        set(root, FAILED, retry);
        set(root, "/cases/2/cohorts/default/original_case_status", "passed");
        set(root, "/cohorts/0/original_status", "passed");
        set(root, "/native_revalidation/original_cohort_status", "passed");
        for case in 0..4 {
            set(root, &format!("/cases/{case}/cohorts/default/original_cohort_status"), "passed");
        }
    });
    let outcome = package.seal().verify(&[]);
    outcome.exits(1);
    outcome.at("retry-substituted", "validation.json", "/cases/2/independent_torch_retest");
    outcome.at("retry-substituted", "validation.json", &format!("{RETRY}/event_us/p50"));
}

#[test]
fn a_retry_of_a_case_that_did_not_fail_is_no_retry() {
    let outcome = Package::valid().forged("validation.json", |root| {
        let retest = copy(root, "/cases/2/independent_torch_retest");
        add(root, "/cases/3", "independent_torch_retest", retest);
    });
    outcome.exits(1).at("retry-substituted", "validation.json", "/cases/3/independent_torch_retest");
}

#[test]
fn every_copied_number_of_the_preserved_failure_is_compared() {
    let result = "/native_revalidation/original_failure/runs/native/result";
    let Json::Object(members) = copy(&Package::valid().json("validation.json"), result) else { panic!("an object") };
    let package = Package::valid();
    for (name, _) in members.iter().filter(|(name, _)| !["schema", "status"].contains(&name.as_str())) {
        let pointer = format!("{result}/{name}");
        let original = package.bytes("validation.json");
        package.edit_json("validation.json", |root| forge_first(at(root, &pointer)));
        let audit = package.seal().audit();
        let caught = audit.findings().any(|finding| {
            finding.code.name() == "failure-record"
                && finding.place.pointer.as_deref().is_some_and(|found| found.starts_with(&pointer))
        });
        assert!(caught, "{pointer}");
        package.write("validation.json", original);
    }
}

/// Changes the first scalar below a value.
fn forge_first(value: &mut Json) {
    match value {
        Json::Array(items) => forge_first(items.first_mut().expect("an item")),
        Json::Object(members) => forge_first(&mut members.first_mut().expect("a member").1),
        Json::Bool(flag) => *flag = !*flag,
        Json::Int(number) => *number += 1,
        Json::Float(number) => *number *= 1.000_001,
        Json::Str(text) => text.push('x'),
        Json::Null | Json::Large(_) | Json::Floats(_) => *value = Json::Int(1),
    }
}
