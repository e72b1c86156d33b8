//! Forged times, errors and seeds of the published divergence package: the finding and its place.

use std::fs;
use std::path::Path;

use recount::audit::{Options, SubjectReport};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Edit, edit};
use Edit::{Add, Remove, Set};

const TIMING: &str = "timing.json";
const ACCURACY: &str = "accuracy.json";

/// A file, its changes, the code and the place.
type Case = (&'static str, Vec<Edit>, &'static str, &'static str);

pub(crate) fn cases() -> Vec<Case> {
    let timing = |changes, at| (TIMING, changes, "divergence-timing", at);
    let accuracy = |changes, at| (ACCURACY, changes, "divergence-accuracy", at);
    vec![
        timing(vec![Set("/engines/cuda/median_us/0", json!(4.27))], "/engines/cuda/median_us/0"),
        timing(vec![Remove("/engines/cuda/median_us/5")], "/engines/cuda/median_us"),
        timing(vec![Set("/engines/torch/samples/16/span_ms/0", json!(40.1))], "/engines/torch/samples/16/span_ms/0"),
        timing(
            vec![Set("/engines/torch/samples/16/span_ms/0", json!(40.5))],
            "/engines/torch/samples/16/us_per_operation/0",
        ),
        timing(vec![Set("/engines/torch/samples/16/span_ms/0", json!(-40.5))], "/engines/torch/samples/16/span_ms"),
        timing(vec![Remove("/engines/torch/samples/16/span_ms/8")], "/engines/torch/samples/16/span_ms"),
        timing(
            vec![Set("/engines/cuda/samples/32/replays", json!(469))],
            "/engines/cuda/samples/32/us_per_operation/0",
        ),
        timing(vec![Set("/engines/cuda/samples/32/replays", json!(0))], "/engines/cuda/samples/32/replays"),
        timing(
            vec![Set("/engines/cuda/samples/64/us_per_operation/3", json!(4.0))],
            "/engines/cuda/samples/64/us_per_operation/3",
        ),
        timing(vec![Set("/engines/cuda/res/0", json!(17))], "/engines/cuda/res/0"),
        timing(vec![Remove("/engines/cuda/samples/16")], "/engines/cuda/res"),
        timing(vec![Add("/engines", "hip", json!({}))], "/engines/hip"),
        timing(vec![Set("/protocol/spans", json!(10))], "/engines/cuda/samples/16/span_ms"),
        timing(vec![Set("/protocol/operations_per_graph", json!(21))], "/engines/cuda/samples/16/us_per_operation/0"),
        timing(vec![Set("/protocol/operations_per_graph", json!(0))], "/protocol/operations_per_graph"),
        timing(vec![Set("/deterministic_over_torch/ratio/2", json!(0.5))], "/deterministic_over_torch/ratio/2"),
        timing(vec![Set("/deterministic_over_cuda/res/0", json!(17))], "/deterministic_over_cuda/res"),
        timing(
            vec![Set("/deterministic_over_cuda/geometric_mean", json!(0.31))],
            "/deterministic_over_cuda/geometric_mean",
        ),
        timing(vec![Remove("/engines/torch")], "/deterministic_over_torch"),
        // The same trials have the same errors as those before, in the order of names.
        accuracy(
            vec![Set("/engines/deterministic/idle/relative_error/0", json!(3.0e-8))],
            "/engines/deterministic/idle/relative_error/0",
        ),
        accuracy(
            vec![Set("/engines/deterministic/background-matmul/largest_error/5", json!(2.0e-6))],
            "/engines/deterministic/idle/largest_error/5",
        ),
        accuracy(
            vec![Set("/engines/deterministic/idle/equals_host_fixed_point/1", json!(false))],
            "/engines/deterministic/idle/equals_host_fixed_point/1",
        ),
        accuracy(
            vec![Set("/engines/torch/idle/equals_host_fixed_point/0", json!(true))],
            "/engines/torch/idle/equals_host_fixed_point/0",
        ),
        accuracy(
            vec![Set("/engines/torch/idle/equals_host_fixed_point/0", json!("no"))],
            "/engines/torch/idle/equals_host_fixed_point/0",
        ),
        accuracy(vec![Set("/engines/torch/idle/largest_error/0", json!(-1.0))], "/engines/torch/idle/largest_error/0"),
        accuracy(vec![Set("/engines/torch/idle/res/0", json!(17))], "/engines/torch/idle/res"),
        accuracy(vec![Remove("/engines/torch/idle/relative_error/5")], "/engines/torch/idle/relative_error"),
        accuracy(vec![Remove("/engines/torch/idle")], "/engines/torch"),
        accuracy(vec![Add("/engines/torch", "busy", json!({}))], "/engines/torch/busy"),
        accuracy(vec![Add("/engines", "hip", json!({}))], "/engines/hip"),
        accuracy(vec![Set("/engines", json!(1))], "/engines"),
    ]
}

/// The published package, with its files changed and sealed again.
fn audited(changes: &[(&str, &[Edit])]) -> SubjectReport {
    let folder = TempDir::new().unwrap();
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts/divergence-h200-2026-11-30");
    copy(&published, folder.path());
    for (name, changes) in changes {
        let path = folder.path().join(name);
        let mut root: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        changes.iter().for_each(|change| edit(&mut root, change));
        fs::write(path, serde_json::to_string_pretty(&root).unwrap()).unwrap();
    }
    fs::remove_file(folder.path().join("receipts.json.sig")).unwrap();
    let text = recount::seal::receipts_text(folder.path(), &globset::GlobSet::empty()).unwrap();
    recount::seal::write_receipts(folder.path(), &text).unwrap();
    recount::audit::verify(folder.path(), "package", &Options::default(), &|_| {})
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn has(report: &SubjectReport, code: &str, file: &str, pointer: &str) -> bool {
    report.findings().any(|finding| {
        finding.code.name() == code && finding.file == file && finding.place.pointer.as_deref() == Some(pointer)
    })
}

fn notes(report: &SubjectReport) -> String {
    report.checks.iter().flat_map(|check| &check.notes).cloned().collect()
}

#[test]
fn each_forged_time_and_error_is_caught_where_it_is() {
    let mut missed = Vec::new();
    for (file, changes, code, pointer) in cases() {
        let report = audited(&[(file, &changes)]);
        if !has(&report, code, file, pointer) {
            missed.push(format!("{code} at {file} {pointer}: {:?}", report.findings().collect::<Vec<_>>()));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert_eq!(audited(&[]).findings().count(), 0);
}

#[test]
fn another_format_is_named_and_not_judged() {
    for name in [TIMING, ACCURACY] {
        let report = audited(&[(name, &[Set("/schema", json!("mine-v7")), Set("/engines", json!(1))])]);
        assert_eq!(report.findings().count(), 0);
        assert!(
            notes(&report).contains(&format!("{name} was not checked: its schema is \"mine-v7\"")),
            "{}",
            notes(&report)
        );
    }
}

#[test]
fn inputs_are_those_of_the_seed() {
    let engines = ["cuda", "deterministic", "torch"].map(|engine| format!("{engine}/experiment_results.json"));
    // Forged everywhere alike, so that no engine contradicts another.
    let everywhere = |changes: &[Edit]| audited(&engines.each_ref().map(|name| (name.as_str(), changes)));
    let report = everywhere(&[Set("/protocol/seed", json!(43))]);
    for name in ["input", "grid-16", "grad-output-512"] {
        let pointer = format!("/idle_condition/input_hashes/{name}");
        assert!(has(&report, "input-hash", &engines[0], &pointer), "{:?}", report.findings().collect::<Vec<_>>());
    }
    let other = json!("0".repeat(64));
    let report = everywhere(&[
        Set("/idle_condition/input_hashes/grid-64", other.clone()),
        Set("/background_matmul_condition/input_hashes/grid-64", other),
    ]);
    assert!(has(&report, "input-hash", &engines[0], "/idle_condition/input_hashes/grid-64"));
    // A generator that is not known here says nothing of the inputs.
    let report = everywhere(&[Set("/protocol/seed", json!(43)), Set("/protocol/generator", json!("other"))]);
    assert_eq!(report.findings().count(), 0);
}
