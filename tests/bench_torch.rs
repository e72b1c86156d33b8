//! The Torch route of the partition benchmark: the script under a stand-in for torch, the probe of interpreters, and the
//! record that a run becomes.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[cfg(unix)]
mod bench_torch {
    mod interpreters;
}

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use recount::bench::partition::cases::CaseSpec;
use recount::bench::partition::fixtures::generate;
use recount::bench::partition::oracle::{Verdict, check, files, manifest};
use recount::bench::partition::record::Receipt;
use recount::bench::partition::torch::{RESULT, Receipts, RouteError, SCRIPT, Settings, output_file, route};
use recount::package::digest::digest;
use recount::package::json::{Document, Json, compact, indented};
use recount::package::partition::{Operation, Storage};

const SETTINGS: Settings = Settings {
    operations_per_graph: 20,
    warm_up_ms: 8.0,
    sample_target_ms: 5.0,
    samples: 7,
    replay_cap: 65536,
    operation_cap: 10_000_000,
};

/// A fixture, the script and a place for its output.
struct Bench {
    folder: tempfile::TempDir,
    spec: CaseSpec,
}

impl Bench {
    fn new(spec: CaseSpec) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = folder.path().join("fixture");
        for folder in [&fixture, &folder.path().join("out")] {
            std::fs::create_dir(folder).unwrap();
        }
        for (name, bytes) in files(&spec, &generate(&spec)) {
            std::fs::write(fixture.join(name), bytes).unwrap();
        }
        std::fs::write(fixture.join("manifest.json"), indented(&manifest(&spec, "cuda", 20, 128))).unwrap();
        std::fs::write(folder.path().join("torch_route.py"), SCRIPT).unwrap();
        Self { folder, spec }
    }

    fn small() -> Self {
        Self::new(CaseSpec::new(Operation::Max, 3, 9, Storage::Fp16, 4))
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join("out").join(name)
    }

    /// Runs the script; `None` (and a message) where there is no Python.
    fn run(&self, fault: &str, settings: &str) -> Option<Output> {
        let fixture = self.folder.path().join("fixture");
        let command = Command::new("python3")
            .arg(self.folder.path().join("torch_route.py"))
            .args([fixture.as_path(), &self.folder.path().join("out"), Path::new(settings)])
            .env("PYTHONPATH", fake())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("FAKE_TORCH", fault)
            .output();
        command.inspect_err(|error| eprintln!("skipped: python3 cannot be started ({error})")).ok()
    }

    fn result(&self) -> Json {
        let text = std::fs::read_to_string(self.out(RESULT)).unwrap();
        Document::parse(RESULT, text).unwrap().root().clone()
    }

    fn receipt(&self, name: &str) -> Receipt {
        let digest = digest(&std::fs::read(self.out(name)).unwrap());
        Receipt { path: format!("runs/case/torch/{name}"), sha256: digest.sha256, bytes: digest.bytes }
    }

    fn verdict(&self) -> Verdict {
        let fixture = generate(&self.spec);
        let output = std::fs::read(self.out(&output_file(self.spec.storage))).unwrap();
        check(self.spec.storage, &output, &fixture.expected, &fixture.bound)
    }

    fn route(&self, result: &Json) -> Result<Json, RouteError> {
        let (of_result, output) = (self.receipt(RESULT), self.receipt(&output_file(self.spec.storage)));
        let receipts = Receipts { result: &of_result, output: &output, folder: "runs/case/torch" };
        route(result, &self.verdict(), &receipts)
    }
}

fn fake() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench_torch/fake")
}

fn number(json: &Json, pointer: &str) -> f64 {
    json.pointer(pointer).and_then(Json::as_f64).unwrap_or_else(|| panic!("{pointer} of {}", compact(json)))
}

fn numbers(json: &Json, pointer: &str) -> Vec<f64> {
    json.pointer(pointer).and_then(Json::as_array).unwrap().iter().map(|item| item.as_f64().unwrap()).collect()
}

fn text<'j>(json: &'j Json, pointer: &str) -> &'j str {
    json.pointer(pointer).and_then(Json::as_str).unwrap_or_else(|| panic!("{pointer} of {}", compact(json)))
}

#[test]
fn a_case_is_compiled_timed_checked_and_recorded() {
    for (operation, storage) in [
        (Operation::Sum, Storage::Fp16),
        (Operation::Max, Storage::Fp16),
        (Operation::Sum, Storage::Bf16),
        (Operation::Max, Storage::Bf16),
        (Operation::Sum, Storage::Fp32),
        (Operation::Max, Storage::Fp32),
    ] {
        let bench = Bench::new(CaseSpec::new(operation, 7, 33, storage, 4));
        let Some(output) = bench.run("", &compact(&SETTINGS.json())) else { return };
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        let result = bench.result();
        assert_eq!(output.status.code(), Some(0), "{complaints}{}", indented(&result));
        assert!(output.stdout.is_empty() && complaints.contains("a library that greets"));

        let record = bench.route(&result).unwrap();
        recorded_protocol(&record);
        for check in ["compiled_correctness_before", "compiled_correctness_after"] {
            let at = |member: &str| number(&record, &format!("/recorded_correctness/{check}/{member}"));
            assert_eq!((at("elements"), at("failed_elements")), (7.0, 0.0));
            assert_eq!(at("max_abs_error"), number(&record, "/saved_output_recheck/max_abs_error"));
            assert_eq!(at("max_allowed_bound"), bench.verdict().max_allowed_bound);
        }
        assert_eq!(number(&record, "/saved_output_recheck/receipt/bytes"), 7.0 * storage.bytes() as f64);
        assert_eq!(text(&record, "/result_receipt/path"), "runs/case/torch/result.json");
        assert_eq!(record.get("realization"), Some(&Json::Null));
        let left: Vec<_> = std::fs::read_dir(bench.out("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "no partial file is left: {left:?}");
    }
}

/// What `recount verify` asks of the timing, and what the compiler did.
fn recorded_protocol(record: &Json) {
    let spans = numbers(record, "/sampling/event_span_ms/samples");
    let operations = number(record, "/sampling/operations_per_sample");
    let replays = number(record, "/sampling/replays_per_sample");
    assert_eq!((spans.len(), operations), (7, replays * 20.0));
    let per_operation: Vec<f64> = spans.iter().map(|span| span * 1000.0 / operations).collect();
    assert_eq!(numbers(record, "/event_us/samples"), per_operation);
    let mut sorted = per_operation;
    sorted.sort_by(f64::total_cmp);
    assert_eq!(number(record, "/event_us/p50"), sorted[3]);
    for (event, host) in spans.iter().zip(numbers(record, "/sampling/host_span_ms/samples")) {
        assert_eq!(f64::from(*event as f32), *event);
        assert!(host >= *event, "{host} {event}");
    }
    let mut expected = 1.0;
    let mut last = (0.0, 0.0);
    for step in record.pointer("/sampling/calibration").and_then(Json::as_array).unwrap() {
        last = (number(step, "/replays"), number(step, "/event_span_ms"));
        assert_eq!(last.0, expected);
        expected = (5.0 / last.1 * last.0).ceil();
    }
    assert_eq!(last.0, replays);
    assert!(last.1 >= 4.0, "{last:?}");
    assert_eq!(record.pointer("/sampling/calibration_target_reached"), Some(&Json::Bool(true)));
    assert_eq!(record.pointer("/sampling/kernel_stage_dispatches_per_sample"), Some(&Json::Null));
    assert!(number(record, "/warmup/actual_ms") >= 8.0 && number(record, "/warmup/replays") >= 16.0);
    assert!(number(record, "/sampling/prime_host_ms") >= number(record, "/sampling/prime_event_ms"));

    let compiler = record.get("compiler_evidence").unwrap();
    assert_eq!(number(compiler, "/counters/fake/captured"), 20.0);
    assert_eq!(compiler.pointer("/counters/nothing"), None);
    assert_eq!(compiler.get("suppress_errors"), Some(&Json::Bool(false)));
    assert_eq!(text(compiler, "/triton_version"), "3.6.0");
    let artifacts = compiler.get("artifacts").and_then(Json::as_array).unwrap();
    let paths: Vec<&str> = artifacts.iter().map(|artifact| text(artifact, "/path")).collect();
    assert_eq!(paths, ["runs/case/torch/inductor-cache/ab/cabc.py"]);
    assert_eq!(text(&artifacts[0], "/sha256"), digest(b"kernel").sha256);
}

#[test]
fn a_calibration_ends_at_a_cap() {
    let bench = Bench::small();
    let settings = Settings { operation_cap: 79, sample_target_ms: 1e4, ..SETTINGS };
    let Some(output) = bench.run("", &compact(&settings.json())) else { return };
    assert_eq!(output.status.code(), Some(0));
    let result = bench.result();
    assert_eq!(number(&result, "/sampling/replays_per_sample"), 3.0);
    assert_eq!(result.pointer("/sampling/calibration_target_reached"), Some(&Json::Bool(false)));
}

#[test]
fn what_fails_is_recorded_as_failed() {
    let usual = compact(&SETTINGS.json());
    let without_samples = usual.replace("\"samples\":7", "\"samples\":0");
    let rules = [
        ("no-compile", usual.as_str(), "RuntimeError: Unsupported: the compiler gave up"),
        ("no-cuda", &usual, "Failure: torch 2.11.0+fake sees no CUDA device"),
        ("no-torch", &usual, "ImportError: No module named 'torch'"),
        ("wrong", &usual, "Failure: wrong output: 1 of 3 elements"),
        ("nan", &usual, "largest error inf"),
        ("late", &usual, "Failure: wrong output: 3 of 3 elements"),
        ("shape", &usual, "Failure: the output is (3,)"),
        ("changes-input", &usual, "Failure: the input has changed"),
        ("", &without_samples, "Failure: the setting samples is 0, not a positive number"),
        ("", "{}", "Failure: the setting operations_per_graph is None"),
        ("", "no json", "JSONDecodeError"),
    ];
    for (fault, settings, words) in rules {
        let bench = Bench::small();
        let Some(output) = bench.run(fault, settings) else { return };
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{words}");
        let result = bench.result();
        assert_eq!(text(&result, "/status"), "failed");
        assert!(text(&result, "/error").contains(words), "{words}: {}", text(&result, "/error"));
        assert!(text(&result, "/traceback").starts_with("Traceback"), "{words}");
        assert!(!bench.out(&output_file(Storage::Fp16)).exists());
        let receipt = bench.receipt(RESULT);
        let receipts = Receipts { result: &receipt, output: &receipt, folder: "" };
        let verdict = check(Storage::Fp16, &[], &[], &[]);
        let RouteError::Failed(error) = route(&result, &verdict, &receipts).unwrap_err() else { panic!("{words}") };
        assert_eq!(error, text(&result, "/error"));
    }
}

#[test]
fn a_fixture_that_is_not_whole_and_a_warm_cache_are_refused() {
    let bench = Bench::small();
    std::fs::write(bench.folder.path().join("fixture/expected.f64"), [0; 16]).unwrap();
    let settings = compact(&SETTINGS.json());
    let Some(output) = bench.run("", &settings) else { return };
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&bench.result(), "/error").contains("3 rows, 2 expected results and 3 bounds"));

    let bench = Bench::small();
    assert!(bench.run("", &settings).is_some_and(|output| output.status.success()));
    assert!(bench.run("", &settings).is_some_and(|output| !output.status.success()));
    assert!(text(&bench.result(), "/error").contains("inductor-cache is there already"));
}

#[test]
fn an_answer_with_a_missing_or_wrong_member_is_refused_by_name() {
    let bench = Bench::small();
    let Some(output) = bench.run("", &compact(&SETTINGS.json())) else { return };
    assert!(output.status.success());
    let result = bench.result();
    let mut pointers = Vec::new();
    leaves(&result, String::new(), &mut pointers);
    // Counters are the compiler's own: none of them is needed.
    let needed: Vec<&String> = pointers.iter().filter(|pointer| !pointer.contains("/counters/")).collect();
    assert!(needed.len() > 50, "{needed:?}");
    for pointer in needed {
        let removed = without(&result, pointer);
        // An item of a list is not a member: the list is shorter without it, and that is for `verify` to see.
        if pointer.rsplit('/').next().is_some_and(|last| last.parse::<usize>().is_err()) {
            let error = bench.route(&removed).unwrap_err().to_string();
            let named = format!("result.json of the Torch route: {pointer}: expected ");
            assert!(error.starts_with(&named) && error.ends_with("found nothing"), "{pointer}: {error}");
        }
        let wrong = replaced(&result, pointer, &Json::Int(-1));
        let error = bench.route(&wrong).unwrap_err().to_string();
        let around = pointer.rsplit_once('/').map_or("", |(around, _)| around);
        assert!(error.contains(pointer.as_str()) || error.contains(around), "{pointer}: {error}");
    }
    let sha256 = replaced(&result, "/compiler_evidence/artifacts/0/sha256", &Json::from("0"));
    assert!(bench.route(&sha256).unwrap_err().to_string().contains("expected a SHA-256, found \"0\""));
    let path = replaced(&result, "/compiler_evidence/artifacts/0/path", &Json::from("../../up.py"));
    assert!(bench.route(&path).unwrap_err().to_string().contains("expected a relative, normalised path"));
    assert!(bench.route(&Json::Null).unwrap_err().to_string().contains("/status: expected a string, found nothing"));
    let wrong_output = std::fs::read(bench.out(&output_file(Storage::Fp16))).unwrap().len();
    std::fs::write(bench.out(&output_file(Storage::Fp16)), vec![0; wrong_output]).unwrap();
    let error = bench.route(&result).unwrap_err();
    assert!(matches!(error, RouteError::Output { failed: 3, elements: 3, .. }), "{error}");
}

/// Pointers of all values that hold no others.
fn leaves(json: &Json, pointer: String, found: &mut Vec<String>) {
    match json {
        Json::Object(members) => {
            members.iter().for_each(|(name, member)| leaves(member, format!("{pointer}/{name}"), found));
        }
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| leaves(item, format!("{pointer}/{at}"), found));
        }
        _ => found.push(pointer),
    }
}

/// The document with another value at a pointer, or with nothing there.
fn edited(json: &Json, pointer: &str, value: Option<&Json>) -> Json {
    let Some(path) = pointer.strip_prefix('/') else { return value.unwrap().clone() };
    let (name, below) = path.split_at(path.find('/').unwrap_or(path.len()));
    let kept = |at: &str| at != name || value.is_some() || !below.is_empty();
    let edit = |at: &str, item: &Json| if at == name { edited(item, below, value) } else { item.clone() };
    match json {
        Json::Object(members) => {
            let members = members.iter().filter(|(at, _)| kept(at));
            Json::Object(members.map(|(at, member)| (at.clone(), edit(at, member))).collect())
        }
        Json::Array(items) => {
            let items = items.iter().enumerate().map(|(at, item)| (at.to_string(), item));
            Json::Array(items.filter(|(at, _)| kept(at)).map(|(at, item)| edit(&at, item)).collect())
        }
        _ => panic!("{pointer}"),
    }
}

fn without(json: &Json, pointer: &str) -> Json {
    edited(json, pointer, None)
}

fn replaced(json: &Json, pointer: &str, value: &Json) -> Json {
    edited(json, pointer, Some(value))
}
