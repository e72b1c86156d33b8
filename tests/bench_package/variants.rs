//! Campaigns of every kind give packages that verify strictly, with what failed recorded as failed.

use recount::bench::partition::record::RouteRun;
use recount::package::json::Json;

use super::campaign::{assembled, campaign, holds, of_documents, receipt, with_overlap};
use crate::common::content::{Recipe, variants};
use crate::common::json::{copy, parse};
use crate::common::package::Package;
use crate::common::shared::shared;

fn status(package: &Package, pointer: &str) -> String {
    copy(&package.json("validation.json"), pointer).as_str().expect("a text").to_owned()
}

#[test]
fn with_torch_and_one_torch_failure_that_was_run_again_later() {
    let (package, outcome) = holds(&campaign(&Recipe::default(), |_| {}));
    outcome.require(outcome.fact("independent retest") == "1", "the retry is counted");
    assert_eq!(status(&package, "/status"), "completed_validated_native");
    assert_eq!(status(&package, "/cohorts/0/original_status"), "failed");
    assert_eq!(status(&package, "/cases/2/cohorts/default/original_case_status"), "failed");
    assert_eq!(status(&package, "/cases/2/cohorts/default/routes/torch/comparison"), "missing_initial_torch_baseline");
    let readme = package.text("README.md");
    let (failed, medians) = (readme.find("## What failed"), readme.find("## Medians"));
    assert!(failed.is_some() && failed < medians, "failures come first:\n{readme}");
    assert!(readme.contains("exit status `3221227274`") && readme.contains("| missing |"), "{readme}");
    let files = ["overlap.json", "code"];
    assert!(files.iter().all(|name| !package.file(name).exists()));
}

#[test]
fn a_failed_torch_process_without_a_retry() {
    let mut failed = campaign(&Recipe::default(), |_| {});
    failed.cases[2].retest = None;
    failed.cohorts[0].aggregate_receipt = Some(receipt("runs/default/results.json"));
    holds(&failed);
}

#[test]
fn without_torch() {
    let (package, outcome) = holds(&campaign(&Recipe::default(), variants::without_torch));
    outcome.require(outcome.fact("torch executions") == "0", "nothing of Torch is there");
    let readme = package.text("README.md");
    assert!(readme.contains("Torch was not asked for") && !readme.contains("Initial Torch"), "{readme}");
    assert!(!readme.contains("## What failed"), "{readme}");
}

#[test]
fn on_host_threads_with_clocks_of_nanoseconds() {
    let recipe = Recipe { nanoseconds: true, ..Recipe::default() };
    let (package, _) = holds(&campaign(&recipe, |parts| variants::another_machine(parts, true)));
    let readme = package.text("README.md");
    let first = readme.lines().next().unwrap();
    assert!(first.contains("Host threads") && first.contains("not a GPU result"), "{first}");
}

#[test]
fn a_failed_native_default() {
    let (package, _) = holds(&campaign(&Recipe::default(), variants::failed_native_default));
    assert_eq!(status(&package, "/status"), "completed_with_failures");
    assert_eq!(status(&package, "/cases/3/cohorts/default/status"), "failed");
    let validation = package.json("validation.json");
    let comparisons = copy(&validation, "/cases/3/comparisons");
    let names: Vec<_> = comparisons.as_object().unwrap().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["rows1_vs_recheck", "rows2_vs_recheck"]);
    assert!(package.text("README.md").contains("is not fitted"));
}

#[test]
fn a_failed_native_rows1_that_was_run_again_later() {
    let (package, outcome) = holds(&campaign(&Recipe::default(), variants::retried_rows1));
    outcome.require(outcome.fact("independent retest") == "1", "the retry is counted");
    let rows = package.text("samples.csv");
    assert_eq!(rows.lines().filter(|row| row.contains(",independent_retest,native,")).count(), 7);
}

#[test]
fn a_retry_that_failed_too() {
    let mut failed = campaign(&Recipe::default(), |_| {});
    let raw =
        obj! { "status": "failed", "process": obj! { "returncode": Json::Int(-9) }, "error": "killed after 0.5 s" };
    let (_, run) = failed.cases[2].retest.as_mut().unwrap();
    run.native = RouteRun::Failed(raw);
    holds(&failed);
}

#[test]
fn spans_that_overlap_fall_back_and_compare_as_such() {
    holds(&campaign(&Recipe::default(), variants::overlap));
}

#[test]
fn overlapping_operations_have_a_file_of_their_own() {
    for edit in [|_: &mut _| {}, variants::without_torch] {
        let plain = assembled(&campaign(&Recipe::default(), edit));
        let with = with_overlap(&Recipe::default(), edit);
        let (package, _) = holds(&with);
        for name in ["validation.json", "samples.csv", "model.json"] {
            assert_eq!(package.bytes(name), plain.bytes(name), "{name} is what it is without the route");
        }
        let overlap = package.json("overlap.json");
        let mean = copy(&overlap, "/geometric_means/over_torch");
        assert_eq!(mean == Json::Null, !with.torch);
        let cohorts = copy(&overlap, "/cases/3/cohorts");
        assert_eq!(cohorts.as_object().unwrap().len(), 4);
    }
}

#[test]
fn a_failed_overlap_leaves_the_plain_figures_as_they_are() {
    let mut failed = with_overlap(&Recipe::default(), variants::without_torch);
    let raw = obj! { "status": "failed", "process": obj! { "returncode": 1_u64 }, "error": "launch" };
    failed.cases[1].runs[0].overlap = Some(RouteRun::Failed(raw.clone()));
    for run in &mut failed.cases[2].runs {
        run.overlap = Some(RouteRun::Failed(raw.clone()));
    }
    failed.cases[3].runs.iter_mut().for_each(|run| run.overlap = None);
    let (package, _) = holds(&failed);
    let overlap = package.json("overlap.json");
    assert_eq!(copy(&overlap, "/cases/2/best"), Json::Null);
    assert_eq!(overlap.get("cases").and_then(Json::as_array).map(<[Json]>::len), Some(3));
    let readme = package.text("README.md");
    let line = "- reduce_max 10x300 fp32 B4, default, native-overlap: failed with exit status `1`";
    assert!(readme.find(line).is_some_and(|at| at < readme.find("## Medians").unwrap()), "{readme}");
    assert_eq!(status(&package, "/status"), "completed_validated_native");
}

#[test]
fn one_geometry_gives_a_package_without_a_model_that_says_why() {
    let mut few = campaign(&Recipe::default(), variants::without_torch);
    few.cases.truncate(2);
    let package = assembled(&few);
    let outcome = package.verify(&[]);
    outcome.exits(0);
    outcome.require(outcome.findings().is_empty(), "nothing is found");
    assert!(!package.file("model.json").exists() && !package.file("provenance.json").exists());
    let readme = package.text("README.md");
    assert!(readme.contains("No model was fitted") && !readme.contains("LOGO"), "{readme}");
}

#[test]
fn two_geometries_are_enough_for_a_model() {
    let mut few = campaign(&Recipe::default(), variants::without_torch);
    few.cases.truncate(3);
    holds(&few);
    few.cases.remove(0);
    holds(&few);
}

#[test]
fn a_failure_in_every_case_gives_a_package_without_a_model() {
    let mut failed = campaign(&Recipe::default(), variants::without_torch);
    let raw = obj! { "status": "failed", "process": obj! { "returncode": 1_u64 } };
    for case in &mut failed.cases {
        case.runs[2].native = RouteRun::Failed(raw.clone());
    }
    let package = assembled(&failed);
    package.verify(&[]).exits(0);
    assert!(package.text("README.md").contains("every case has a failed native run"));
}

#[test]
fn the_published_records_give_a_package_that_verifies() {
    let Some(published) = shared("packages/program-partition") else { return };
    let json = |name: &str| parse(&std::fs::read_to_string(published.join(name)).expect("a text"));
    let (package, outcome) = holds(&of_documents(&json("validation.json"), json("device.json")));
    outcome.require(outcome.fact("samples") == "567", "all samples are there");
    let coefficients = "/full_training_model/coefficients";
    let (assembled, recorded) =
        (copy(&package.json("model.json"), coefficients), copy(&json("model.json"), coefficients));
    for at in 0..3 {
        let [assembled, recorded] = [&assembled, &recorded].map(|all| copy(all, &format!("/{at}")).as_f64().unwrap());
        assert!((assembled - recorded).abs() <= 1e-12 * recorded.abs(), "{assembled} {recorded}");
    }
    let published_rows = std::fs::read(published.join("samples.csv")).expect("rows");
    assert_eq!(package.bytes("samples.csv"), published_rows);
}

#[test]
fn torch_that_failed_everywhere_leaves_a_column_of_missing_times() {
    let mut failed = campaign(&Recipe::default(), |_| {});
    let raw = obj! { "status": "failed", "process": obj! { "returncode": 1_u64 }, "error": "took 0.75 s" };
    for case in &mut failed.cases {
        case.runs[0].torch = Some(RouteRun::Failed(raw.clone()));
        case.retest = None;
    }
    let (package, _) = holds(&failed);
    assert!(package.text("README.md").contains("No case has both a native and a Torch median."));
}

#[test]
fn a_recheck_that_failed_and_was_run_again() {
    let mut failed = campaign(&Recipe::default(), variants::without_torch);
    let other = campaign(&Recipe { seed: 9, ..Recipe::default() }, variants::without_torch);
    let raw = obj! { "status": "failed", "process": obj! { "returncode": Json::Int(-11) } };
    let mut again = other.cases[1].runs[3].clone();
    again.case_receipt = receipt("runs/recheck-again/case.json");
    failed.cases[1].retest = Some(("recheck".to_owned(), again));
    failed.cases[1].runs[3].native = RouteRun::Failed(raw);
    let package = assembled(&failed);
    package.verify(&["--strict"]).holds();
    let comparison =
        copy(&package.json("validation.json"), "/cases/1/independent_torch_retest/native_retest_vs_initial");
    assert_eq!(comparison.get("interpretation"), Some(&Json::from("default_recheck")));
}
