//! Data that was left out: what is missing contradicts nothing by itself, and must not pass for agreement.

use recount::package::json::Json;
use recount::refit::document::profile_id;

use crate::common::json::{add, at, copy, parse, set, take};
use crate::common::outcome::Outcome;
use crate::common::package::Package;

/// Changes the profile and what repeats it, so that only a refit can tell.
fn forge_profile(package: &Package) {
    package.edit_json("model.json", |model| {
        set(model, "/profile/coefficients/0", 0.5);
        set(model, "/full_training_model/coefficients/0", 0.5);
        set(model, "/outer_leave_geometry_out/summary/geometry_equal_weight_policy_geomean", 0.1);
        let profile = model.get("profile").unwrap().clone();
        set(model, "/profile_id", profile_id(&profile));
    });
    let id = package.json("model.json").get("profile_id").unwrap().clone();
    package.edit_json("provenance.json", |root| set(root, "/public_profile_id", id));
}

/// Verifies without some files, sealed without them.
fn without(package: &Package, names: &[&str]) -> Outcome {
    for name in names {
        package.remove(name);
    }
    package.seal().verify(&[])
}

#[test]
fn a_model_whose_device_was_left_out_is_not_believed() {
    let package = Package::valid();
    forge_profile(&package);
    let outcome = without(&package, &["device.json", "README.md"]);
    outcome.exits(1).only(&["incomplete-package"]);
    outcome.at("incomplete-package", "device.json", "");
    let excused = package.verify(&["--allow-absent", "device.json"]);
    excused.holds();
    for family in ["model", "exactness", "prose"] {
        let outcome = excused.outcome_of(family);
        excused.require(outcome.starts_with("not-run"), &format!("{family} was not run"));
    }
    let text = package.run("verify", &["--allow-absent", "device.json"]);
    let words = text.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    text.exits(0).require(words.contains("3 checks not run"), "the verdict says how many checks were not run");
    package.verify(&["--allow-absent", "device.json", "--strict"]).exits(1);
}

#[test]
fn a_verdict_over_few_checks_says_so() {
    let package = Package::valid();
    package.remove("validation.json").seal();
    let outcome = package.run("verify", &["--allow-absent", "validation.json"]);
    let words = outcome.exits(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    outcome.require(words.contains("only 1 of 8 checks could be run"), "few checks were run");
    outcome.require(!words.contains("everything checked holds"), "and not everything holds");
}

#[test]
fn each_file_that_every_package_has_is_missed() {
    for name in
        ["validation.json", "cases.json", "device.json", "samples.csv", "provenance.json", "proof-receipts.json"]
    {
        let package = Package::valid();
        let outcome = without(&package, &[name]);
        outcome.exits(1).at("incomplete-package", name, "");
        let excused = package.verify(&["--allow-absent", name]);
        excused.require(!excused.codes().contains(&"incomplete-package".to_owned()), "its absence was accepted");
    }
}

#[test]
fn a_package_of_nothing_fails() {
    let package = Package::valid();
    package.edit_json("cases.json", |root| set(root, "/cases", Json::Array(Vec::new())));
    package.edit_text("samples.csv", |text| text.lines().next().unwrap().to_owned() + "\n");
    let outcome = package.forged("validation.json", |root| {
        set(root, "/cases", Json::Array(Vec::new()));
        set(root, "/cohorts", Json::Array(Vec::new()));
    });
    outcome.exits(1);
    outcome.at("empty-package", "validation.json", "/cases");
    outcome.at("empty-package", "validation.json", "/cohorts");
    outcome.at("incomplete-package", "model.json", "");
}

#[test]
fn a_package_without_its_runs_is_still_one() {
    let package = Package::valid();
    package.remove("validation.json").write("samples.csv", "junk\n");
    let outcome = package.seal().verify(&[]);
    outcome.exits(1).at("incomplete-package", "validation.json", "");
    outcome.require(outcome.report()["subjects"][0]["kind"] == "partition", "it is a partition package");
    outcome.all("csv-syntax");
}

#[test]
fn several_files_left_out_are_each_missed() {
    let outcome = without(&Package::valid(), &["samples.csv", "cases.json", "provenance.json", "proof-receipts.json"]);
    assert_eq!(outcome.exits(1).all("incomplete-package").len(), 4);
}

#[test]
fn a_readme_that_tells_of_a_model_needs_one() {
    let package = Package::valid();
    let coefficient = copy(&package.json("model.json"), "/full_training_model/coefficients/0").as_f64().unwrap();
    package.edit_text("README.md", |text| format!("{text}\nThe fit gives a0 = {coefficient:.6}.\n"));
    package.seal().verify(&[]).holds();
    let outcome = without(&package, &["model.json", "provenance.json"]);
    outcome.exits(1).at("incomplete-package", "README.md", "");
    outcome.all("prose-untraced");
    let package = Package::valid();
    package.write("README.md", "# Measurements only\n");
    without(&package, &["model.json", "provenance.json"]).exits(0);
}

#[test]
fn a_model_needs_the_cohorts_that_it_was_fitted_on() {
    let package = Package::valid();
    package.edit_text("samples.csv", |text| {
        text.lines().filter(|line| !line.contains(",rows2,")).map(|line| format!("{line}\n")).collect()
    });
    let outcome = package.forged("validation.json", |root| {
        take(root, "/cohorts/2");
        for case in 0..4 {
            take(root, &format!("/cases/{case}/cohorts/rows2"));
            take(root, &format!("/cases/{case}/comparisons/rows2"));
            take(root, &format!("/cases/{case}/comparisons/rows2_vs_recheck"));
        }
        set(root, "/native_revalidation/native_executions", 12_u64);
    });
    let found = outcome.exits(1).at("incomplete-package", "model.json", "").found;
    outcome.require(found.contains("unsupported cohort set"), "the reason is named");
}

#[test]
fn a_package_without_its_default_cohort_is_not_compared_with_nothing() {
    let outcome = Package::valid().forged("validation.json", |root| {
        take(root, "/cohorts/0");
        for case in 0..4 {
            take(root, &format!("/cases/{case}/cohorts/default"));
        }
        let Json::Str(hash) = at(root, "/cases/0/cohorts/rows2/fixture_sha256/expected.f64") else { panic!("a hash") };
        hash.replace_range(..1, if hash.starts_with('0') { "1" } else { "0" });
    });
    outcome.exits(1).at("incomplete-package", "validation.json", "/cohorts");
    outcome.at("fixture-mismatch", "validation.json", "/cases/0/cohorts/rows2/fixture_sha256/expected.f64");
}

#[test]
fn an_anchor_alone_verifies_nothing() {
    let package = Package::valid();
    let anchor = package.anchor();
    for entry in std::fs::read_dir(package.path()).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else if entry.file_name() != "receipts.json" {
            std::fs::remove_file(path).unwrap();
        }
    }
    package.verify(&["--expect-receipts", &anchor, "--allow-absent", "**"]).exits(1);
}

#[test]
fn a_claim_beside_the_data_is_judged_too() {
    let package = Package::valid();
    package.write("claims.json", "{\"schema\":\"recount-claims-v1\",\"claims\":[]}\n");
    let outcome = package.seal().verify(&[]);
    outcome.require(!outcome.outcome_of("claims").is_empty(), "claims were looked at");
    outcome.require(outcome.outcome_of("model") == "passed", "and so was everything else");
}

/// A member that is left out, and the code that must be found.
const MEMBERS: &[(&str, &str, &str)] = &[
    ("model.json", "/profile", "malformed-field"),
    ("model.json", "/profile_id", "malformed-field"),
    ("model.json", "/input_receipts", "malformed-field"),
    ("model.json", "/original_profile_id", "malformed-field"),
    ("model.json", "/limitations", "malformed-field"),
    ("model.json", "/input_receipts/script", "provenance"),
    ("model.json", "/input_receipts/summary/sha256", "provenance"),
    ("provenance.json", "/public_profile_id", "malformed-field"),
    ("provenance.json", "/original_model_report", "malformed-field"),
    ("provenance.json", "/original_summary/bytes", "provenance"),
    ("proof-receipts.json", "/original_snapshot", "malformed-field"),
    ("proof-receipts.json", "/original_frozen_file_count", "malformed-field"),
    ("proof-receipts.json", "/captured_head", "malformed-field"),
    ("validation.json", "/build_snapshot", "provenance"),
    ("validation.json", "/implementation_files_rechecked", "provenance"),
    ("validation.json", "/native_revalidation/cases", "count-mismatch"),
    ("validation.json", "/native_revalidation/native_executions", "count-mismatch"),
    ("validation.json", "/native_revalidation/original_cohort_status", "malformed-field"),
    ("validation.json", "/native_revalidation/original_failure", "failure-record"),
    ("validation.json", "/native_revalidation/original_failure/status", "failure-record"),
    ("validation.json", "/native_revalidation/original_failure/tensor_sha256", "malformed-field"),
    ("validation.json", "/native_revalidation/original_failure/runs/torch", "failure-record"),
    ("validation.json", "/native_revalidation/original_failure/runs/native", "malformed-field"),
    ("validation.json", "/native_revalidation/original_failure/runs/native/result/correctness", "failure-record"),
    ("validation.json", "/native_revalidation/original_failure/runs/native/result/cold_ms", "failure-record"),
    ("validation.json", "/cases/2/independent_torch_retest/native_retest_vs_initial", "comparison"),
    ("validation.json", "/cases/2/cohorts/default/routes/native/cold_ms/cold_ms", "failure-record"),
    ("validation.json", "/cases/0/cohorts/rows1/routes/native/cold_ms", "malformed-field"),
    ("validation.json", "/cases/0/cohorts/rows1/routes/native/result_receipt", "malformed-field"),
    ("validation.json", "/cases/0/cohorts/rows1/routes/native/realization", "malformed-field"),
    ("validation.json", "/cases/0/cohorts/rows1/routes/torch/comparison", "failure-relabelled"),
    ("validation.json", "/cases/0/cohorts/rows1/status", "malformed-field"),
    ("validation.json", "/cases/0/cohorts/rows1/native_comparison_eligible", "malformed-field"),
    ("validation.json", "/cases/0/cohorts/rows1/fixture_sha256", "malformed-field"),
    ("validation.json", "/cases/0/cohorts/rows1/manifest", "malformed-field"),
    ("validation.json", "/cases/0/cohorts/rows1/source_files/source.txt", "source-prefix"),
    ("validation.json", "/cases/0/cohorts/default/routes/torch", "failure-relabelled"),
    (
        "validation.json",
        "/cases/0/cohorts/default/routes/torch/recorded_correctness/compiled_correctness_after",
        "malformed-field",
    ),
    ("validation.json", "/cases/0/cohorts/default/source_files/source.txt/normalized_source_sha256", "malformed-field"),
];

#[test]
fn a_member_that_is_left_out_is_missed() {
    for &(file, pointer, code) in MEMBERS {
        let package = Package::valid();
        package.edit_json(file, |root| {
            take(root, pointer);
        });
        let audit = package.seal().audit();
        let codes: Vec<_> = audit.findings().map(|finding| finding.code.name()).collect();
        assert!(codes.contains(&code), "{file} {pointer}: {codes:?}");
    }
}

#[test]
fn files_that_say_nothing_are_missed() {
    for name in ["provenance.json", "proof-receipts.json"] {
        let package = Package::valid();
        package.write(name, "{}\n");
        package.seal().verify(&[]).exits(1).all("malformed-field");
    }
}

#[test]
fn a_malformed_field_is_reported_once() {
    let pointer = "/cases/0/cohorts/rows1/routes/native/saved_output_recheck";
    let outcome = Package::valid().forged("validation.json", |root| {
        take(root, pointer);
    });
    assert_eq!(outcome.exits(1).one("malformed-field").pointer, pointer);
    let sampling = "/cases/0/cohorts/rows1/original_case_status";
    let outcome = Package::valid().forged("validation.json", |root| set(root, sampling, 3_u64));
    let found = outcome.exits(1).all("malformed-field");
    assert_eq!(found.iter().filter(|finding| finding.pointer == sampling).count(), 1);
    let sampling = "/cases/0/cohorts/rows1/routes/native/sampling";
    let outcome = Package::valid().forged("validation.json", |root| {
        take(root, sampling);
    });
    outcome.one("malformed-field");
    outcome.require(outcome.outcome_of("proofs") == "failed", "it belongs to the proofs");
    let timing = outcome.outcome_of("timing");
    outcome.require(timing.starts_with("not-run") && timing.contains("see proofs"), "the timing was not checked whole");
}

#[test]
fn ids_and_names_are_unique_without_a_revalidation_too() {
    let package = Package::valid();
    let outcome = package.forged("validation.json", |root| {
        take(root, "/native_revalidation");
        let case = copy(root, "/cases/3");
        let Json::Array(cases) = at(root, "/cases") else { panic!("cases") };
        cases.push(case);
    });
    outcome.exits(1).at("count-mismatch", "validation.json", "/cases/4/case/id");
    let outcome = Package::valid().forged("validation.json", |root| {
        let cohort = copy(root, "/cohorts/3");
        let Json::Array(cohorts) = at(root, "/cohorts") else { panic!("cohorts") };
        cohorts.push(cohort);
    });
    outcome.exits(1).at("count-mismatch", "validation.json", "/cohorts/4/name");
}

#[test]
fn a_comparison_without_medians_has_no_numbers() {
    let rows2 = "/cases/0/cohorts/rows2";
    let unmeasured = |root: &mut Json| {
        let route = obj! {
            "status": "failed",
            "raw_failure": obj! { "status": "failed", "process": obj! { "returncode": 1_u64 } },
        };
        set(root, &format!("{rows2}/routes/native"), route);
    };
    let outcome = Package::valid().forged("validation.json", |root| {
        unmeasured(root);
        set(root, "/cases/0/comparisons/rows2/candidate_over_default", 0.1);
    });
    outcome.exits(1).at("baseline-filled", "validation.json", "/cases/0/comparisons/rows2/default_p50_us");
    outcome.at("baseline-filled", "validation.json", "/cases/0/comparisons/rows2_vs_recheck/default_p50_us");
    let outcome = Package::valid().forged("validation.json", |root| {
        unmeasured(root);
        let missing = parse("{\"status\":\"missing\"}");
        set(root, "/cases/0/comparisons/rows2", missing.clone());
        set(root, "/cases/0/comparisons/rows2_vs_recheck", missing);
    });
    let filled = outcome.findings().into_iter().any(|found| found.pointer.starts_with("/cases/0/comparisons"));
    outcome.require(!filled, "words are no numbers");
    let retest = "/cases/2/independent_torch_retest";
    let outcome = Package::valid().forged("validation.json", |root| {
        let route = obj! { "status": "not_requested" };
        set(root, &format!("{retest}/evidence/routes/native"), route);
    });
    outcome.exits(1).at(
        "baseline-filled",
        "validation.json",
        &format!("{retest}/native_retest_vs_initial/default_p50_us"),
    );
}

#[test]
fn a_comparison_with_a_recheck_that_was_not_run_is_none() {
    let outcome = Package::valid().forged("validation.json", |root| {
        take(root, "/cohorts/3");
        for case in 0..4 {
            take(root, &format!("/cases/{case}/cohorts/recheck"));
            take(root, &format!("/cases/{case}/comparisons/recheck"));
            add(root, &format!("/cases/{case}/comparisons/rows1_vs_recheck"), "note", "kept");
        }
    });
    let pointer = "/cases/0/comparisons/rows1_vs_recheck/default_p50_us";
    outcome.exits(1).at("baseline-filled", "validation.json", pointer);
}
