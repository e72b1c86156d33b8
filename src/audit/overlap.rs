//! `overlap.json`: its records are held to what native routes are held to, its figures follow from medians, and none of its
//! samples are those of a plain run.

use std::collections::HashSet;

use super::evidence::{Options, PartitionEvidence};
use super::proofs::RouteOutputs;
use super::samples::sample_values;
use super::timing::{HostTimes, RouteCheck, check_clocks, is_cuda, names_cuda_device};
use super::{CheckReport, Code, Family, Recorder, compare, report_problems, show};
use crate::fit::Schedule;
use crate::fit::median::median_of;
use crate::package::json::{Document, Json};
use crate::package::partition::overlap::{OverlapFigures, ROUTE, SCHEMA, geometric_means};
use crate::package::partition::{CaseRecord, DEFAULT, FAILED, Reader, Route, Run, Timing, Validation, files};

/// What the file must say that it is not.
const SCOPE_WORDS: [&str; 3] = ["overlap", "dependent launch", "throughput"];

/// Checks the file, where there is one; belongs to the family of timing.
pub(super) fn check(package: &PartitionEvidence<'_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Timing, options.tolerance);
    let Ok(validation) = package.validation() else { return recorder.finish() };
    check_apart(validation, &mut recorder);
    let Ok(document) = package.evidence.document(files::OVERLAP) else { return recorder.finish() };
    let reader = Reader::new(document);
    let mut check = OverlapCheck {
        document,
        validation,
        reader: &reader,
        recorder: &mut recorder,
        device_is_cuda: names_cuda_device(package.evidence),
        host_times: Vec::new(),
        settings: None,
        checks: None,
    };
    // A member that is missing ends the check of what it is needed for; the reader has written it down.
    let _ = check.whole();
    let host_times = std::mem::take(&mut check.host_times);
    check_clocks(document, &host_times, &mut recorder);
    report_problems(&mut recorder, document, reader.into_problems());
    recorder.finish()
}

/// How many runs of the route have times.
pub(super) fn executions(package: &PartitionEvidence<'_>) -> usize {
    let Ok(document) = package.evidence.document(files::OVERLAP) else { return 0 };
    let cases = document.root().get("cases").and_then(Json::as_array).unwrap_or_default();
    let cohorts = cases.iter().filter_map(|case| case.get("cohorts")?.as_object()).flatten();
    cohorts.filter(|(_, route)| route.get("event_us").is_some()).count()
}

/// The route is in no run of the plain ones.
fn check_apart(validation: &Validation<'_>, recorder: &mut Recorder) {
    for (_, run) in validation.runs() {
        if let Some(route) = run.at.path(&["routes", ROUTE]) {
            let expected = format_args!("no route {ROUTE} here: it has a file of its own");
            recorder.report_at(Code::OverlapMixed, validation.document, route, expected, ROUTE);
        }
    }
}

struct OverlapCheck<'c, 'd> {
    document: &'d Document,
    validation: &'c Validation<'d>,
    reader: &'c Reader<'d>,
    recorder: &'c mut Recorder,
    device_is_cuda: bool,
    host_times: Vec<HostTimes<'d>>,
    /// The first record, whose settings the others have.
    settings: Option<&'d Json>,
    /// How often its outputs were checked, as all others' were.
    checks: Option<&'d Json>,
}

impl<'d> OverlapCheck<'_, 'd> {
    fn whole(&mut self) -> Option<()> {
        let root = self.document.root();
        self.declared(root);
        let mut figures = Vec::new();
        let mut seen = HashSet::new();
        for at in self.reader.array(root, "cases")? {
            let Some(id) = self.reader.text(at, "case") else { continue };
            let validation = self.validation;
            let record = validation.cases.iter().find(|record| record.case.id == id);
            let name = at.get("case").unwrap_or(at);
            let is_one = record.is_some() && seen.insert(id);
            self.require(is_one, Code::OverlapMixed, name, "a case of validation.json, once", id);
            figures.extend(record.and_then(|record| self.case(record, at)));
        }
        let means = self.reader.member(root, "geometric_means")?;
        for (name, mean) in ["over_plain", "over_torch"].into_iter().zip(geometric_means(&figures)) {
            let Some(found) = self.reader.member(means, name) else { continue };
            match mean {
                // Logarithms differ in their last bits from one machine to another.
                Some(mean) => {
                    self.recorder.close(Code::OverlapFigure, self.document, found, mean, 1.0);
                }
                None => {
                    let expected = "null: no case has both medians";
                    self.require(*found == Json::Null, Code::OverlapFigure, found, expected, show(found));
                }
            }
        }
        Some(())
    }

    /// The file says what it is, in words that a reader cannot mistake.
    fn declared(&mut self, root: &'d Json) {
        for (member, expected) in [("schema", SCHEMA), ("route", ROUTE)] {
            let Some(found) = self.reader.member(root, member) else { continue };
            let code = if member == "schema" { Code::UnsupportedSchema } else { Code::OverlapMixed };
            self.require(found.as_str() == Some(expected), code, found, expected, show(found));
        }
        if let Some(scope) = self.reader.text(root, "scope") {
            let lower = scope.to_lowercase();
            let says = SCOPE_WORDS.iter().all(|word| lower.contains(word));
            let at = root.get("scope").unwrap_or(root);
            let expected = "that it is throughput of overlapping operations under programmatic dependent launch";
            self.require(says, Code::OverlapMixed, at, expected, scope);
        }
    }

    fn case(&mut self, record: &CaseRecord<'d>, at: &'d Json) -> Option<OverlapFigures> {
        let cohorts = self.reader.member(at, "cohorts")?;
        for (name, route) in cohorts.as_object().unwrap_or_default() {
            let validation = self.validation;
            let is_declared = validation.cohorts.iter().any(|cohort| cohort.name == name);
            self.require(is_declared, Code::OverlapMixed, route, "a cohort of validation.json", name);
            if let Some(run) = record.run(name).filter(|_| is_declared) {
                let _ = self.route(record, run, route);
            }
        }
        self.sources(cohorts);
        let p50 = |schedule: Schedule| cohorts.get(schedule.name())?.path(&["event_us", "p50"])?.as_f64();
        let plain = |schedule: Schedule| record.native_median(schedule.name());
        let figures = OverlapFigures::of(p50, plain, record.torch_median());
        self.best(at, &figures);
        self.figure(at, "plain_native_us", figures.plain_us);
        self.figure(at, "torch_us", figures.torch_us);
        self.figure(at, "over_plain", figures.over_plain());
        self.figure(at, "over_torch", figures.over_torch());
        Some(figures)
    }

    fn best(&mut self, at: &'d Json, figures: &OverlapFigures) -> Option<()> {
        let best = self.reader.member(at, "best")?;
        let Some((schedule, us)) = figures.best else {
            self.require(*best == Json::Null, Code::OverlapFigure, best, "null: no run has times", show(best));
            return Some(());
        };
        if best.as_object().is_none() {
            self.require(false, Code::OverlapFigure, best, format_args!("the run {}", schedule.name()), show(best));
            return Some(());
        }
        let cohort = self.reader.member(best, "cohort")?;
        self.recorder.equal(Code::OverlapFigure, self.document, cohort, &Json::from(schedule.name()));
        self.figure(best, "us", Some(us));
        Some(())
    }

    /// A median, or a ratio of medians, to the last bit; `null` where there is none.
    fn figure(&mut self, at: &'d Json, name: &str, expected: Option<f64>) {
        let Some(found) = self.reader.member(at, name) else { return };
        match expected {
            Some(value) => {
                self.recorder.equal_float(Code::OverlapFigure, self.document, found, value);
            }
            None => {
                self.require(
                    *found == Json::Null,
                    Code::OverlapFigure,
                    found,
                    "null: a median is missing",
                    show(found),
                );
            }
        }
    }

    /// One run of the route, as a native one, and against the plain run of its cohort.
    fn route(&mut self, record: &CaseRecord<'d>, run: &Run<'d>, at: &'d Json) -> Option<()> {
        if let Some(status) = at.get("status").and_then(Json::as_str) {
            if status == FAILED {
                self.failed(at);
                return Some(());
            }
            let status_at = at.get("status").unwrap_or(at);
            let expected = "failed, or passed beside times";
            self.require(
                ["passed", "validated"].contains(&status),
                Code::FailureRelabelled,
                status_at,
                expected,
                status,
            );
        }
        let event = self.reader.member(at, "event_us")?;
        let timing = Timing {
            samples: self.reader.numbers(event, "samples")?,
            p50_at: self.reader.member(event, "p50")?,
            p50: self.reader.number(event, "p50")?,
        };
        self.samples(record, &timing);
        let manifest = record.manifest(run);
        let mut routes = RouteCheck {
            document: self.document,
            reader: self.reader,
            recorder: self.recorder,
            host_times: &mut self.host_times,
            is_cuda: is_cuda(self.device_is_cuda, manifest),
        };
        let _ = routes.run(manifest, Route::Native, &timing, at, &mut self.settings);
        let mut outputs =
            RouteOutputs { document: self.document, record, reader: self.reader, recorder: self.recorder };
        let output = outputs.run(run.requested_rows == 0, Route::Native, at)?;
        self.launch(run, at);
        let checks = self.reader.member(self.reader.member(at, "recorded_correctness")?, "checks")?;
        let first = *self.checks.get_or_insert(checks);
        self.recorder.equal(Code::ProtocolSetting, self.document, checks, first);
        let plain = run.native.timing.as_ref().and(run.native.at)?.get("saved_output_recheck")?;
        let is_exact = |error: Option<&Json>| error.and_then(Json::as_f64) == Some(0.0);
        if is_exact(Some(output.max_abs_error)) && is_exact(plain.get("max_abs_error")) {
            let hash = plain.path(&["receipt", "sha256"])?;
            self.recorder.equal(Code::OutputDiffers, self.document, output.hash, hash);
        }
        Some(())
    }

    /// What was launched is what the plain run of the cohort launched, and operations that overlap still end in order.
    fn launch(&mut self, run: &Run<'d>, at: &'d Json) {
        let plain = run.native.timing.as_ref().and(run.at.get("selection"));
        if let (Some(found), Some(plain)) = (at.get("selection"), plain) {
            compare(self.recorder, self.document, found, plain, &|_| Code::Selection);
        }
        if let Some(in_order) = at.path(&["order_check", "all_in_order"]) {
            self.recorder.equal(Code::OutputCheck, self.document, in_order, &Json::Bool(true));
        }
    }

    /// Sources begin with the one of the default schedule, which has nothing appended.
    fn sources(&mut self, cohorts: &'d Json) {
        let source_files = |route: &'d Json| route.get("source_files").and_then(Json::as_object).unwrap_or_default();
        let Some(default) = cohorts.get(DEFAULT) else { return };
        for (name, original) in source_files(default) {
            let Some(whole) = original.get("normalized_source_sha256") else { continue };
            if let Some(found) = original.get("sha256") {
                self.recorder.equal(Code::SourcePrefix, self.document, found, whole);
            }
            for (_, route) in cohorts.as_object().unwrap_or_default() {
                if let Some(found) = route.path(&["source_files", name, "original_source_sha256"]) {
                    self.recorder.equal(Code::SourcePrefix, self.document, found, whole);
                }
            }
        }
    }

    fn failed(&mut self, at: &'d Json) {
        for (name, member) in at.as_object().unwrap_or_default() {
            let is_known = ["status", "raw_failure"].contains(&name.as_str());
            self.require(is_known, Code::BaselineFilled, member, "nothing: the route has no times here", name);
        }
        let exit = at.path(&["raw_failure", "process", "returncode"]);
        let failed = exit.and_then(Json::as_f64).is_some_and(|code| code != 0.0);
        let found = exit.map_or("nothing".to_owned(), |exit| show(exit).to_string());
        self.require(failed, Code::FailureRecord, exit.unwrap_or(at), "an exit status other than 0", found);
    }

    /// Samples are times, their median is theirs, and they are no plain run's.
    fn samples(&mut self, record: &CaseRecord<'d>, timing: &Timing<'d>) {
        sample_values(self.recorder, self.document, timing.samples);
        match median_of(timing.samples.numbers()) {
            Some(median) => {
                self.recorder.equal_float(Code::MedianMismatch, self.document, timing.p50_at, median);
            }
            None => self.require(false, Code::SampleRows, timing.p50_at, "at least one sample", "none"),
        }
        for run in &record.runs {
            let plain = run.native.timing.as_ref().filter(|plain| plain.samples == timing.samples);
            let found = format_args!("the samples of the plain run {}", run.cohort);
            self.require(plain.is_none(), Code::OverlapMixed, timing.p50_at, "samples of its own", found);
        }
    }

    fn require(
        &mut self,
        holds: bool,
        code: Code,
        at: &Json,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) {
        self.recorder.require(holds, code, self.document, at, expected, found);
    }
}
