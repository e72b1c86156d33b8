//! Campaigns with plausible records: those of the synthetic package, taken apart again.

use recount::bench::partition::assemble::write;
use recount::bench::partition::cases::{CaseSpec, Pattern};
use recount::bench::partition::record::{Campaign, CaseRun, CaseRuns, Cohort, Receipt, RouteRun};
use recount::fit::geometry::Geometry;
use recount::package::json::Json;
use recount::package::partition::{Operation, Storage};

use crate::common::content::{Parts, Recipe, files_of};
use crate::common::json::{copy, parse};
use crate::common::outcome::Outcome;
use crate::common::package::Package;

/// A campaign that recorded what the package of this recipe does, after a change of its data.
pub(super) fn campaign(recipe: &Recipe, edit: impl Fn(&mut Parts)) -> Campaign {
    let files = files_of(recipe, &edit);
    let json = |name: &str| parse(std::str::from_utf8(&files[name]).expect("UTF-8"));
    of_documents(&json("validation.json"), json("device.json"))
}

/// A campaign that recorded the runs of a package.
pub(super) fn of_documents(validation: &Json, device: Json) -> Campaign {
    let cases: Vec<CaseRuns> =
        validation.get("cases").and_then(Json::as_array).expect("cases").iter().map(case_runs).collect();
    let is_cpu = copy(validation, "/cases/0/cohorts/default/manifest/backend") == Json::from("cpu");
    Campaign {
        backend: if is_cpu { "cpu" } else { "cuda" }.to_owned(),
        device,
        description: "Four demonstration cases.".to_owned(),
        cohorts: Cohort::all(),
        torch: cases.iter().any(|case| case.runs[0].torch.is_some()),
        cases,
        protocol: obj! {
            "samples": 7_u64,
            "host_threads": 4_u64,
            "graph": "graphs of 100 operations, replayed for 100 ms after 500 ms",
            "settle_seconds": 0.25,
        },
        environment: obj! {
            "load_average": vec![0.52, 0.61, 0.7],
            "driver": "580.95.05",
            "cuda_toolkit": "12.8",
            "clocks": obj! { "sm_mhz": 1980_u64, "locked": false },
            "temperature": "43.5 C | `idle`",
            "receipt": receipt("runs/environment.json").json(),
        },
        sessions: 1,
        implementation: vec![
            receipt("bin/recount"),
            receipt("kernels/reduce.cu"),
            receipt("${CUDA_TOOLKIT}/libnvrtc.so"),
        ],
        build_snapshot: receipt("runs/build.json"),
        commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
        dates: ("2026-11-30".to_owned(), "2026-11-30".to_owned()),
    }
}

/// A receipt of a file outside the package.
pub(super) fn receipt(path: &str) -> Receipt {
    let digest = recount::package::digest::digest(path.as_bytes());
    Receipt { path: path.to_owned(), sha256: digest.sha256, bytes: digest.bytes }
}

fn case_runs(record: &Json) -> CaseRuns {
    let text = |pointer: &str| copy(record, pointer).as_str().expect("a text").to_owned();
    let count = |pointer: &str| copy(record, pointer).as_u64().expect("a count");
    let retest = record.get("independent_torch_retest").map(|retest| {
        let evidence = retest.get("evidence").expect("evidence");
        let rows = copy(evidence, "/selection/program_partition/0/rows_requested").as_u64().expect("rows");
        let cohort = if rows == 0 { "default".to_owned() } else { format!("rows{rows}") };
        (cohort, case_run(evidence))
    });
    CaseRuns {
        spec: CaseSpec {
            id: text("/case/id"),
            operation: Operation::from_name(&text("/case/operation")).expect("an operation"),
            storage: Storage::from_name(&text("/case/precision")).expect("a storage type"),
            geometry: Geometry {
                rows: count("/case/dimensions/0"),
                columns: count("/case/dimensions/1"),
                block: count("/case/tile/0"),
                width: count("/case/tile/1"),
            },
            pattern: if text("/case/pattern") == "adversarial" { Pattern::Adversarial } else { Pattern::Cancellation },
            seed: count("/case/seed"),
        },
        manifest: copy(record, "/cohorts/default/manifest"),
        tuning: Json::Null,
        fixture_sha256: copy(record, "/cohorts/default/fixture_sha256"),
        runs: Cohort::all()
            .iter()
            .map(|cohort| case_run(&copy(record, &format!("/cohorts/{}", cohort.name))))
            .collect(),
        retest,
    }
}

fn case_run(record: &Json) -> CaseRun {
    let receipt = |pointer: &str| copy(record, &format!("/case_receipt/{pointer}"));
    CaseRun {
        case_receipt: Receipt {
            path: receipt("path").as_str().expect("a path").to_owned(),
            sha256: receipt("sha256").as_str().expect("a hash").to_owned(),
            bytes: receipt("bytes").as_u64().expect("a size"),
        },
        source_files: copy(record, "/source_files"),
        selection: copy(record, "/selection"),
        native: route(record.path(&["routes", "native"])).expect("a native route"),
        torch: route(record.path(&["routes", "torch"])),
        overlap: None,
        process: obj! { "native": obj! { "returncode": 0_u64, "affinity_before": "0-3", "affinity_after": "0-3" } },
    }
}

fn route(record: Option<&Json>) -> Option<RouteRun> {
    let record = record?;
    match record.get("raw_failure") {
        Some(raw) => Some(RouteRun::Failed(raw.clone())),
        None => record.get("event_us").map(|_| RouteRun::Timed(record.clone())),
    }
}

/// The same campaign with the route of overlapping operations: native records of another seed.
pub(super) fn with_overlap(recipe: &Recipe, edit: impl Fn(&mut Parts)) -> Campaign {
    let mut with = campaign(recipe, &edit);
    let other = campaign(&Recipe { seed: recipe.seed + 1, ..recipe.clone() }, edit);
    for (case, other) in with.cases.iter_mut().zip(other.cases) {
        for (run, other) in case.runs.iter_mut().zip(other.runs) {
            run.overlap = Some(other.native);
        }
    }
    with
}

/// Writes the package into a folder of its own.
pub(super) fn assembled(campaign: &Campaign) -> Package {
    let package = Package::empty();
    write(campaign, package.path()).unwrap_or_else(|error| panic!("{error}"));
    package
}

/// Writes the package, verifies it strictly and refits it exactly.
#[track_caller]
pub(super) fn holds(campaign: &Campaign) -> (Package, Outcome) {
    let package = assembled(campaign);
    let outcome = package.verify(&["--strict"]);
    outcome.holds();
    for family in ["integrity", "samples", "timing", "proofs", "failures", "model", "exactness", "prose"] {
        outcome.require(outcome.outcome_of(family) == "passed", &format!("{family} passed"));
    }
    let refit = package.run("refit", &["--exact", "--diff"]);
    refit.exits(0);
    refit.require(refit.stdout.contains("no other difference"), "the recorded model is the refitted one");
    (package, outcome)
}
