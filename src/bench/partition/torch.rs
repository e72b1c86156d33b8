//! The optional route through `torch.compile`: the script, what an interpreter has, and the record of a run.
//!
//! The script is run by the caller, who supervises processes; here is what goes in and what comes out of it.

mod fields;
mod probe;

use super::oracle::Verdict;
use super::record::Receipt;
use crate::package::json::{Json, object};
use crate::package::partition::Storage;
use fields::Fields;
pub use probe::{ProbeError, interpreter_probe, interpreter_probe_within};

/// The script: `python torch_route.py FIXTURE_DIR OUT_DIR SETTINGS_JSON`. It writes [`RESULT`] and [`output_file`] into
/// `OUT_DIR`, which is there and has no folder `inductor-cache`, and ends with status 0 or 1.
pub const SCRIPT: &str = include_str!("torch_route.py");

/// The script's answer, the last file that it writes.
pub const RESULT: &str = "result.json";

/// The last output, as it is stored.
pub fn output_file(storage: Storage) -> String {
    super::oracle::tensor_file("compiled-output", storage)
}

/// The numbers of the protocol. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Operations in a graph.
    pub operations_per_graph: u64,
    /// Least time of the warm-up.
    pub warm_up_ms: f64,
    /// What a sample's span is calibrated to.
    pub sample_target_ms: f64,
    /// Samples.
    pub samples: u64,
    /// Most replays of a sample.
    pub replay_cap: u64,
    /// Most operations of a sample.
    pub operation_cap: u64,
}

impl Settings {
    /// The script's third argument, to be written as compact JSON.
    pub fn json(&self) -> Json {
        object([
            ("operations_per_graph", Json::from(self.operations_per_graph)),
            ("warm_up_ms", Json::from(self.warm_up_ms)),
            ("sample_target_ms", Json::from(self.sample_target_ms)),
            ("samples", Json::from(self.samples)),
            ("replay_cap", Json::from(self.replay_cap)),
            ("operation_cap", Json::from(self.operation_cap)),
        ])
    }
}

/// Why a run of the script has no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// The script says so.
    #[error("the Torch route failed: {0}")]
    Failed(String),
    /// A member of its answer that is missing or is not what it should be.
    #[error("{RESULT} of the Torch route: {pointer}: expected {expected}, found {found}")]
    Member {
        /// JSON pointer.
        pointer: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The saved output is not what the oracle says.
    #[error("the saved output of the Torch route is wrong: {failed} of {elements} elements, largest error {error}")]
    Output {
        /// Wrong elements.
        failed: u64,
        /// All of them.
        elements: u64,
        /// The largest error.
        error: String,
    },
}

/// The files of a run.
#[derive(Debug, Clone, Copy)]
pub struct Receipts<'r> {
    /// Of [`RESULT`].
    pub result: &'r Receipt,
    /// Of [`output_file`].
    pub output: &'r Receipt,
    /// Where both are, relative to the runs folder as their paths are: what goes before the paths of compiler artifacts,
    /// which the script gives relative to its `OUT_DIR`.
    pub folder: &'r str,
}

/// The record `routes.torch` of `validation.json` from the script's answer. `recheck` is the check of the saved output as it
/// is on disk. Members that the format does not have are left out.
///
/// # Errors
/// The script failed; a member of its answer is missing or of another type; the saved output is wrong.
pub fn route(result: &Json, recheck: &Verdict, receipts: &Receipts<'_>) -> Result<Json, RouteError> {
    let top = Fields::top(result);
    if top.text("status")? != Json::from("passed") {
        let error = result.get("error").and_then(Json::as_str).unwrap_or("it does not say why");
        return Err(RouteError::Failed(error.to_owned()));
    }
    if !recheck.holds() || !recheck.max_abs_error.is_finite() {
        return Err(RouteError::Output {
            failed: recheck.failed_elements,
            elements: recheck.elements,
            error: recheck.max_abs_error.to_string(),
        });
    }
    let saved = object([
        ("elements", Json::from(recheck.elements)),
        ("failed_elements", Json::from(recheck.failed_elements)),
        ("max_abs_error", Json::from(recheck.max_abs_error)),
        ("receipt", receipts.output.json()),
    ]);
    Ok(object([
        ("result_receipt", receipts.result.json()),
        ("saved_output_recheck", saved),
        ("event_us", top.below("event_us")?.samples()?),
        ("sampling", sampling(&top.below("sampling")?)?),
        ("warmup", warm_up(&top.below("warmup")?)?),
        ("recorded_correctness", correctness(&top.below("recorded_correctness")?)?),
        ("cold_ms", cold(&top.below("cold_ms")?)?),
        ("realization", Json::Null),
        ("compiler_evidence", compiler(&top.below("compiler_evidence")?, receipts.folder)?),
    ]))
}

fn sampling(at: &Fields<'_>) -> Result<Json, RouteError> {
    let mut calibration = Vec::new();
    for step in at.items("calibration")? {
        calibration.push(object([
            ("replays", step.count("replays")?),
            ("event_span_ms", step.time("event_span_ms")?),
            ("host_wall_ms", step.time("host_wall_ms")?),
        ]));
    }
    Ok(object([
        ("protocol", at.text("protocol")?),
        ("replays_per_sample", at.count("replays_per_sample")?),
        ("operations_per_sample", at.count("operations_per_sample")?),
        ("sample_target_ms", at.time("sample_target_ms")?),
        ("replay_cap", at.count("replay_cap")?),
        ("operation_cap", at.count("operation_cap")?),
        ("calibration", Json::Array(calibration)),
        ("calibration_target_reached", at.flag("calibration_target_reached")?),
        ("event_span_ms", at.below("event_span_ms")?.samples()?),
        ("host_span_ms", at.below("host_span_ms")?.samples()?),
        ("prime_event_ms", at.time("prime_event_ms")?),
        ("prime_host_ms", at.time("prime_host_ms")?),
        ("kernel_stage_dispatches_per_sample", at.count_or_null("kernel_stage_dispatches_per_sample")?),
    ]))
}

fn warm_up(at: &Fields<'_>) -> Result<Json, RouteError> {
    let replays = at.count("replays")?;
    Ok(object([("target_ms", at.time("target_ms")?), ("actual_ms", at.time("actual_ms")?), ("replays", replays)]))
}

fn correctness(at: &Fields<'_>) -> Result<Json, RouteError> {
    let check = |at: Fields<'_>| {
        Ok(object([
            ("elements", at.count("elements")?),
            ("failed_elements", at.count("failed_elements")?),
            ("max_abs_error", at.time("max_abs_error")?),
            ("max_allowed_bound", at.time("max_allowed_bound")?),
            ("oracle", at.text("oracle")?),
        ]))
    };
    let [before, after] = ["compiled_correctness_before", "compiled_correctness_after"];
    Ok(object([(before, check(at.below(before)?)?), (after, check(at.below(after)?)?)]))
}

fn cold(at: &Fields<'_>) -> Result<Json, RouteError> {
    let [import, upload, compile, graph] = ["import_ms", "upload_ms", "cold_compile_first_call_ms", "graph_build_ms"];
    Ok(object([
        (import, at.time(import)?),
        (upload, at.time(upload)?),
        (compile, at.time(compile)?),
        (graph, at.time(graph)?),
    ]))
}

fn compiler(at: &Fields<'_>, folder: &str) -> Result<Json, RouteError> {
    let mut artifacts = Vec::new();
    for artifact in at.items("artifacts")? {
        let (path, sha256, bytes) = (artifact.path("path")?, artifact.sha256("sha256")?, artifact.count("bytes")?);
        let path = Json::from(format!("{}/{path}", folder.trim_end_matches('/')));
        artifacts.push(object([("path", path), ("sha256", sha256), ("bytes", bytes)]));
    }
    let kernels = at.count("generated_kernel_count")?;
    if kernels == Json::Int(0) {
        // What runs uncompiled is another baseline.
        return Err(RouteError::Failed("torch.compile has generated no kernel".to_owned()));
    }
    Ok(object([
        ("backend", at.text("backend")?),
        ("mode", at.text("mode")?),
        ("function", at.text("function")?),
        ("fullgraph", at.flag("fullgraph")?),
        ("suppress_errors", at.flag("suppress_errors")?),
        ("counters", at.counters("counters")?),
        ("generated_kernel_count", kernels),
        ("artifacts", Json::Array(artifacts)),
        ("torch_version", at.text("torch_version")?),
        ("triton_version", at.text_or_null("triton_version")?),
        ("cuda_version", at.text_or_null("cuda_version")?),
    ]))
}
