//! The native process that passed beside a failed one: its own record says again what the run's record, the manifest and the
//! other process say, and must not say anything else.

use super::spans;
use crate::audit::proofs::is_same_file;
use crate::audit::{Code, Recorder, compare, show};
use crate::package::json::{Document, Json, Members};
use crate::package::partition::{CaseRecord, Run};

/// What a result repeats of the manifest.
const OF_MANIFEST: [&str; 12] = [
    "backend",
    "lowering",
    "operation",
    "precision",
    "seed",
    "pattern",
    "dimensions",
    "tile",
    "fast_math",
    "graph_batch",
    "algorithm",
    "endianness",
];

/// What was asked of the compiler, the list that says it again for each stage, and its member there.
const REQUESTS: [(&str, &str, &str); 6] = [
    ("native_worker_warps_requested", "native_worker_warps", "requested"),
    ("native_scan_chunk_requested", "native_structure", "scan_chunk_requested"),
    ("native_independent_axis_requested", "native_structure", "independent_axis_requested"),
    ("native_streaming_scan_requested", "native_streaming", "chunk_requested"),
    ("native_aligned16_requested", "native_alignment", "requested"),
    ("native_program_rows_requested", "native_program_partition", "rows_requested"),
];

/// What a stage has nothing of where it was not asked for.
const NOTHING_WITHOUT: [(&str, &[&str]); 3] = [
    (
        "chunk_requested",
        &["available", "input_slot", "output_slot", "input_bytes", "output_bytes", "static_ranges_disjoint"],
    ),
    ("scan_chunk_requested", &["scan_chunk", "chunked_scans"]),
    ("independent_axis_requested", &["independent_axis_extent", "partitioned_collectives"]),
];

/// Both records of the native process: that of the process, and the result in it.
pub(super) struct Native<'c, 'd> {
    pub(super) document: &'d Document,
    pub(super) record: &'c CaseRecord<'d>,
    pub(super) run: &'c Run<'d>,
    /// The process's.
    pub(super) kept: &'d Json,
    pub(super) result: &'d Json,
    pub(super) recorder: &'c mut Recorder,
}

impl<'d> Native<'_, 'd> {
    /// Checks what both records repeat; `other` is the record of the process that failed.
    pub(super) fn check(&mut self, other: Option<&'d Json>) {
        self.statuses();
        self.manifest();
        self.lists();
        self.limits();
        self.files();
        self.requests(other);
        self.stages();
    }

    fn equal(&mut self, found: Option<&Json>, expected: Option<&Json>) {
        if let (Some(found), Some(expected)) = (found, expected) {
            compare(self.recorder, self.document, found, expected, &|_| Code::FailureRecord);
        }
    }

    fn require(&mut self, holds: bool, at: &Json, expected: impl std::fmt::Display) {
        self.recorder.require(holds, Code::FailureRecord, self.document, at, expected, show(at));
    }

    /// What has times did not fail.
    fn statuses(&mut self) {
        for record in [self.kept, self.result] {
            let Some(status) = record.get("status") else { continue };
            let passed = status.as_str().is_some_and(|status| ["passed", "validated"].contains(&status));
            let expected = "passed: the run has its times";
            self.recorder.require(passed, Code::FailureRelabelled, self.document, status, expected, show(status));
        }
    }

    fn manifest(&mut self) {
        let Some(manifest) = self.record.manifest(self.run) else { return };
        for name in OF_MANIFEST {
            self.equal(self.result.get(name), manifest.get(name));
        }
    }

    /// All lists of times have as many as samples were asked for, and a median is that of its list.
    fn lists(&mut self) {
        let Some(timing) = &self.run.native.timing else { return };
        let count = timing.samples.len();
        if let Some(samples) = self.result.get("samples") {
            self.require(samples.as_u64() == Some(count as u64), samples, format_args!("{count}, as the run has"));
        }
        spans::check(self.document, self.result, count, self.recorder);
    }

    /// Settings that stand twice, and a warm-up that met its target.
    fn limits(&mut self) {
        let target = |name: &str| self.result.get(name).and_then(Json::as_f64);
        if let (Some(at), Some(expected)) = (self.result.get("sample_target_ms"), target("graph_sample_target_ms")) {
            self.require(at.as_f64() == Some(expected), at, format_args!("{expected}, as graph_sample_target_ms"));
        }
        let warm_up = self.run.native.at.and_then(|route| route.path(&["warmup", "target_ms"])?.as_f64());
        if let (Some(at), Some(target)) = (self.result.get("warmup_actual_ms"), warm_up) {
            self.require(at.as_f64().is_some_and(|time| time >= target), at, format_args!("at least {target} ms"));
        }
    }

    /// The result's file and the generated sources are those that the run has receipts of.
    fn files(&mut self) {
        let receipt = self.run.native.at.and_then(|route| route.path(&["result_receipt", "path"])?.as_str());
        if let (Some(at), Some(receipt)) = (self.kept.get("result_path"), receipt) {
            self.require(at.as_str().is_some_and(|path| is_same_file(path, receipt)), at, receipt);
        }
        let (Some(generated), Some(sources)) = (self.kept.get("generated_sources"), self.run.at.get("source_files"))
        else {
            return;
        };
        let (generated_by_name, sources_by_name) = (Members::of(generated), Members::of(sources));
        for (name, hash) in generated.as_object().unwrap_or_default() {
            match sources_by_name.get(name).and_then(|source| source.get("sha256")) {
                Some(expected) => self.equal(Some(hash), Some(expected)),
                None => self.require(false, hash, "a source of the run"),
            }
        }
        for (name, _) in sources.as_object().unwrap_or_default() {
            self.require(generated_by_name.get(name).is_some(), generated, format_args!("the source {name}"));
        }
    }

    /// What was asked for is the same wherever it is said: in both records, of each stage, of the other process.
    fn requests(&mut self, other: Option<&'d Json>) {
        let (result, other) = (Members::of(self.result), Members::of(other.unwrap_or(&Json::Null)));
        for (name, value) in self.kept.as_object().unwrap_or_default() {
            if name.starts_with("native_") {
                self.equal(result.get(name), Some(value));
            }
            if name.starts_with("native_") && name.ends_with("_requested") {
                self.equal(Some(value), other.get(name));
            }
        }
        if let Some(rows) = self.kept.get("native_program_rows_requested") {
            self.equal(Some(rows), Some(&Json::from(self.run.requested_rows)));
        }
        self.equal(self.kept.get("native_worker_warps"), self.run.at.path(&["selection", "compiler_worker_hints"]));
        for (asked, list, member) in REQUESTS {
            let Some(asked) = self.kept.get(asked) else { continue };
            for record in [self.kept, self.result] {
                for stage in record.get(list).and_then(Json::as_array).unwrap_or_default() {
                    self.equal(stage.get(member), Some(asked));
                }
            }
        }
    }

    /// Stages are numbered, take the launch's entry where nothing else was asked for, and have nothing that was not.
    fn stages(&mut self) {
        let launches =
            self.run.at.path(&["selection", "program_partition"]).and_then(Json::as_array).unwrap_or_default();
        let inputs = self.record.manifest(self.run).and_then(|manifest| manifest.get("inputs")?.as_array());
        let arguments = inputs.map_or(0, <[Json]>::len) + 1;
        for (list, name, stages) in [self.kept, self.result].into_iter().flat_map(|record| {
            let members = record.as_object().unwrap_or_default().iter();
            members.filter_map(move |(name, list)| Some((list, name, list.as_array()?)))
        }) {
            // What was not asked for may have no list of stages.
            let is_for_each = REQUESTS.iter().any(|(_, list, _)| list == name);
            if !name.starts_with("native_") || stages.is_empty() && !is_for_each {
                continue;
            }
            let expected = format_args!("{} stages, as were launched", launches.len());
            self.require(stages.len() == launches.len(), list, expected);
            for (number, (stage, launch)) in stages.iter().zip(launches).enumerate() {
                self.equal(Some(stage.get("stage").unwrap_or(stage)), Some(&Json::from(number)));
                if let Some(at) = stage.get("final_argument_mod16") {
                    let found = at.as_array().unwrap_or_default();
                    let holds = found.len() == arguments
                        && found.iter().all(|rest| rest.as_u64().is_some_and(|rest| rest < 16));
                    self.require(holds, at, format_args!("{arguments} remainders of 16, of the inputs and the output"));
                }
                let is_asked = |name: &str| stage.get(name).is_some_and(|asked| !is_nothing(asked));
                if self.run.requested_rows == 0 && !is_asked("chunk_requested") && !is_asked("requested") {
                    self.equal(stage.get("expected_selected_entry"), launch.get("expected_selected_entry"));
                }
                for (asked, members) in NOTHING_WITHOUT {
                    if stage.get(asked).is_none_or(|asked| !is_nothing(asked)) {
                        continue;
                    }
                    for member in members.iter().filter_map(|member| stage.get(member)) {
                        self.require(is_nothing(member), member, format_args!("nothing: {asked} is nothing"));
                    }
                }
            }
        }
    }
}

/// Whether a value says that there is nothing: null, false or zero.
fn is_nothing(value: &Json) -> bool {
    matches!(value, Json::Null | Json::Bool(false)) || value.as_f64() == Some(0.0)
}
