//! Forged times and errors of the published divergence package: the finding and its place.

use std::fs;
use std::path::Path;

use recount::audit::{Options, SubjectReport};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Edit, edit};
use Edit::{Add, Remove, Set};

const TIMING: &str = "timing.json";
const ACCURACY: &str = "accuracy.json";

const TORCH_512: &str = "/engines/torch/idle/largest_error/5";

const ALL_ARMS: [&str; 6] = [
    "/engines/torch/idle",
    "/engines/torch/background-matmul",
    "/engines/cuda/idle",
    "/engines/cuda/background-matmul",
    "/engines/deterministic/idle",
    "/engines/deterministic/background-matmul",
];

fn leak(pointer: String) -> &'static str {
    Box::leak(pointer.into_boxed_str())
}

/// A file, its changes, the code and the place.
type Case = (&'static str, Vec<Edit>, &'static str, &'static str);

pub(crate) fn cases() -> Vec<Case> {
    let timing = |changes, at| (TIMING, changes, "divergence-timing", at);
    let setting = |change, at| (TIMING, vec![change], "malformed-field", at);
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
        timing(vec![Set("/engines/cuda/res", json!([]))], "/engines/cuda/res"),
        timing(
            vec![
                Set("/engines", json!({})),
                Set("/deterministic_over_torch", json!(null)),
                Set("/deterministic_over_cuda", json!(null)),
            ],
            "/engines",
        ),
        setting(Set("/protocol/target_span_ms", json!(-1)), "/protocol/target_span_ms"),
        setting(Set("/protocol/target_span_ms", json!(0.0)), "/protocol/target_span_ms"),
        setting(Set("/protocol/target_span_ms", json!("40")), "/protocol/target_span_ms"),
        setting(Set("/protocol/target_span_ms", json!(null)), "/protocol/target_span_ms"),
        setting(Set("/protocol/warm_up_replays", json!(-1)), "/protocol/warm_up_replays"),
        setting(Set("/protocol/warm_up_replays", json!(null)), "/protocol/warm_up_replays"),
        setting(Set("/protocol/summary", json!(3)), "/protocol/summary"),
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
        accuracy(vec![Set("/engines", json!({}))], "/engines"),
        accuracy(vec![Remove("/engines/cuda")], "/engines"),
        // One error is zero where the other is, and a number where the relative one is.
        accuracy(vec![Set("/engines/torch/idle/relative_error/5", json!(0.0))], TORCH_512),
        accuracy(vec![Set("/engines/torch/idle/largest_error/5", json!(0.0))], TORCH_512),
        accuracy(vec![Set("/engines/torch/idle/largest_error/5", json!(null))], TORCH_512),
        // Others at the same resolution have the same reference.
        accuracy(vec![Set("/engines/torch/idle/largest_error/5", json!(1e18))], TORCH_512),
        accuracy(vec![Set("/engines/torch/idle/relative_error/5", json!(1e-9))], TORCH_512),
        accuracy(vec![Set("/engines/torch/idle/relative_error/5", json!(null))], TORCH_512),
        // At 16 the trials are there, with the norms that they have.
        accuracy(
            ALL_ARMS.iter().map(|&arm| Set(leak(format!("{arm}/relative_error/0")), json!(1e-3))).collect(),
            "/engines/torch/idle/largest_error/0",
        ),
    ]
}

/// The published package, with its files changed and sealed again.
pub(crate) fn audited(changes: &[(&str, &[Edit])]) -> SubjectReport {
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

pub(crate) fn has(report: &SubjectReport, code: &str, file: &str, pointer: &str) -> bool {
    report.findings().any(|finding| {
        finding.code.name() == code && finding.file == file && finding.place.pointer.as_deref() == Some(pointer)
    })
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
fn another_format_is_not_taken_for_agreement() {
    for name in [TIMING, ACCURACY] {
        for (change, pointer) in [
            (Set("/schema", json!("mine-v7")), "/schema"),
            (Set("/schema", json!(null)), "/schema"),
            (Set("/schema", json!(["recount-divergence-timing-v1"])), "/schema"),
            (Remove("/schema"), ""),
        ] {
            let report = audited(&[(name, &[change, Set("/engines", json!({ "nobody": 1 }))])]);
            assert!(has(&report, "unsupported-schema", name, pointer), "{:?}", report.findings().collect::<Vec<_>>());
            assert_eq!(report.verdict(false).exit_code(), 2);
        }
    }
}
