//! Numbers forged in `overlap.json`, each of which is found.

use recount::package::json::Json;

use super::campaign::{assembled, with_overlap};
use crate::common::content::Recipe;
use crate::common::json::{add, bump, copy, rehash, scale, set, take};

/// The fourth case has no errors; a native route of the form that the others have.
const ROUTE: &str = "/cases/3/cohorts/rows1";

fn route(member: &str) -> String {
    format!("{ROUTE}/{member}")
}

/// What is found, and what was changed.
type Forgery = (&'static str, fn(&mut Json));

const FORGERIES: &[Forgery] = &[
    ("median-mismatch", |root| scale(root, &route("event_us/p50"), 0.9)),
    ("event-time", |root| scale(root, &route("event_us/samples/2"), 0.99)),
    ("median-mismatch", |root| scale(root, &route("sampling/event_span_ms/p50"), 0.9)),
    ("span-lattice", |root| set(root, &route("sampling/event_span_ms/samples/0"), 0.1)),
    ("operation-count", |root| bump(root, &route("sampling/operations_per_sample"), 100)),
    ("operation-count", |root| bump(root, &route("sampling/kernel_stage_dispatches_per_sample"), 1)),
    ("operation-count", |root| {
        take(root, &route("event_us/samples/6"));
    }),
    ("calibration", |root| bump(root, &route("sampling/calibration/1/replays"), 1)),
    ("host-span", |root| set(root, &route("sampling/host_span_ms/samples/0"), 1.0)),
    ("warm-up", |root| set(root, &route("warmup/actual_ms"), 1.0)),
    ("protocol-setting", |root| set(root, &route("sampling/sample_target_ms"), 101_u64)),
    ("output-check", |root| set(root, &route("saved_output_recheck/failed_elements"), 1_u64)),
    ("output-check", |root| bump(root, &route("saved_output_recheck/elements"), 1)),
    ("output-check", |root| set(root, &route("recorded_correctness/errors"), 1_u64)),
    ("protocol-setting", |root| bump(root, &route("recorded_correctness/checks"), 1)),
    ("output-differs", |root| rehash(root, &route("saved_output_recheck/receipt/sha256"))),
    ("malformed-field", |root| {
        take(root, &route("warmup"));
    }),
    ("overlap-figure", |root| set(root, "/cases/3/best/cohort", "recheck")),
    ("overlap-figure", |root| scale(root, "/cases/3/best/us", 0.9)),
    ("overlap-figure", |root| set(root, "/cases/3/best", Json::Null)),
    ("overlap-figure", |root| scale(root, "/cases/3/plain_native_us", 1.1)),
    ("overlap-figure", |root| scale(root, "/cases/3/torch_us", 1.1)),
    ("overlap-figure", |root| set(root, "/cases/2/torch_us", 1.1)),
    ("overlap-figure", |root| scale(root, "/cases/3/over_plain", 0.5)),
    ("overlap-figure", |root| scale(root, "/cases/3/over_torch", 0.5)),
    ("overlap-figure", |root| set(root, "/cases/2/over_torch", 0.5)),
    ("overlap-figure", |root| scale(root, "/geometric_means/over_plain", 0.99)),
    ("overlap-figure", |root| scale(root, "/geometric_means/over_torch", 0.99)),
    ("overlap-figure", |root| {
        take(root, "/cases/0");
    }),
    ("overlap-mixed", |root| set(root, "/cases/3/case", "another")),
    ("overlap-mixed", |root| {
        let again = copy(root, "/cases/0/case");
        set(root, "/cases/3/case", again);
    }),
    ("overlap-mixed", |root| {
        let route = take(root, ROUTE);
        add(root, "/cases/3/cohorts", "rows4", route);
    }),
    ("overlap-mixed", |root| set(root, "/route", "native")),
    ("overlap-mixed", |root| set(root, "/scope", "Latency of the native route.")),
    ("unsupported-schema", |root| set(root, "/schema", "recount-overlap-v2")),
    ("failure-record", |root| {
        let raw = obj! { "status": "failed", "process": obj! { "returncode": 0_u64 } };
        set(root, ROUTE, obj! { "status": "failed", "raw_failure": raw });
    }),
    ("baseline-filled", |root| add(root, ROUTE, "status", "failed")),
    ("failure-relabelled", |root| add(root, ROUTE, "status", "fine")),
];

#[test]
fn every_forgery_is_found() {
    let package = assembled(&with_overlap(&Recipe::default(), |_| {}));
    let original = package.bytes("overlap.json");
    for (at, (code, forge)) in FORGERIES.iter().enumerate() {
        package.edit_json("overlap.json", forge).seal();
        let outcome = package.verify(&["--strict"]);
        outcome.require(outcome.status != 0, &format!("forgery {at} ({code}) fails"));
        let found = outcome.findings();
        let is_found = found.iter().any(|finding| finding.code == *code && finding.file == "overlap.json");
        outcome.require(is_found, &format!("{at}: {code} is found"));
        package.write("overlap.json", &original);
    }
    package.seal().verify(&["--strict"]).holds();
}

#[test]
fn samples_of_the_plain_run_are_no_samples_of_this_route() {
    let mut copied = with_overlap(&Recipe::default(), |_| {});
    let run = &mut copied.cases[3].runs[1];
    run.overlap = Some(run.native.clone());
    let outcome = assembled(&copied).verify(&[]);
    outcome.exits(1).one("overlap-mixed");
}

#[test]
fn the_route_has_no_rows_among_the_samples() {
    let package = assembled(&with_overlap(&Recipe::default(), |_| {}));
    let text = package.text("samples.csv");
    let row = text.lines().nth(1).unwrap().replace(",native,", ",native-overlap,");
    package.write("samples.csv", text.clone() + &row + "\n").seal();
    package.verify(&[]).exits(1);
}

/// What no check can see are hashes and sizes of files outside the package, and small changes of warm-up counts.
#[test]
fn nearly_every_leaf_is_bound_by_something() {
    let package = assembled(&with_overlap(&Recipe::default(), |_| {}));
    let options = recount::audit::Options::default();
    let report = recount::selftest::run(package.path(), "package", Some(60), 1, &options, &|_| {}).expect("a report");
    for file in &report.files {
        let least = if file.name == "proof-receipts.json" { 0.5 } else { 0.85 };
        assert!(file.share(true) >= least, "{file:?}");
    }
}

#[test]
fn receipts_of_the_package_s_own_files_are_those_files() {
    let package = assembled(&with_overlap(&Recipe::default(), |_| {}));
    for (name, pointer) in [
        ("provenance.json", "/original_model_report/sha256"),
        ("provenance.json", "/original_summary/sha256"),
        ("model.json", "/input_receipts/device/sha256"),
    ] {
        let original = package.bytes(name);
        package.edit_json(name, |root| rehash(root, pointer)).seal();
        let outcome = package.verify(&[]);
        outcome.exits(1);
        outcome.require(outcome.codes().contains(&"provenance".to_owned()), &format!("{name} {pointer} is found"));
        package.write(name, original);
    }
}

/// Forged launches and sources of overlapping operations, in the published package that records them.
const LAUNCHES: &[Forgery] = &[
    ("selection", |root| bump(root, &launch("selection/program_partition/0/grid_x"), 1)),
    ("selection", |root| bump(root, &launch("selection/program_partition/0/output_bytes"), -1)),
    ("selection", |root| set(root, &launch("selection/program_partition/0/available"), false)),
    ("selection", |root| bump(root, &launch("selection/observed_graph/grid/0"), 1)),
    ("selection", |root| set(root, &launch("selection/observed_graph/entry"), "reduce_rows")),
    ("selection", |root| {
        take(root, &launch("selection/partition_host_selection_expected"));
    }),
    ("output-check", |root| set(root, &launch("order_check/all_in_order"), false)),
    ("source-prefix", |root| rehash(root, &launch("source_files/source.txt/original_source_sha256"))),
    ("source-prefix", |root| rehash(root, "/cases/0/cohorts/default/source_files/source.txt/sha256")),
    ("source-prefix", |root| rehash(root, "/cases/0/cohorts/default/source_files/source.txt/normalized_source_sha256")),
];

fn launch(member: &str) -> String {
    format!("/cases/0/cohorts/rows1/{member}")
}

#[test]
fn forged_launches_of_overlapping_operations_are_found() {
    let published =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts/partition-h200-heldout-2026-11-30");
    let package = crate::common::package::Package::empty();
    for entry in
        std::fs::read_dir(published).unwrap().flatten().filter(|entry| entry.file_name() != "receipts.json.sig")
    {
        package.write(entry.file_name().to_str().unwrap(), std::fs::read(entry.path()).unwrap());
    }
    let original = package.bytes("overlap.json");
    for (at, (code, forge)) in LAUNCHES.iter().enumerate() {
        package.edit_json("overlap.json", forge).seal();
        let report = package.audit();
        let found = report.findings().any(|finding| finding.code.name() == *code && finding.file == "overlap.json");
        assert!(found, "{at}: {code} is found: {:?}", report.findings().collect::<Vec<_>>());
        package.write("overlap.json", &original);
    }
    assert_eq!(package.seal().audit().findings().count(), 0);
}
