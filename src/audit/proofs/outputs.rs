//! Outputs: every element rechecked, none failed, and what is recorded twice agrees.

use crate::audit::{Code, Recorder, same_value, show};
use crate::package::json::{Document, Json};
use crate::package::partition::{CaseRecord, RETEST, Reader, Route, Run, Validation};

pub(super) fn check<'d>(
    validation: &Validation<'d>,
    record: &CaseRecord<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) {
    let mut outputs = Vec::new();
    for run in &record.runs {
        check_eligible(validation, run, reader, recorder);
        for (route, recorded) in run.routes() {
            if recorded.timing.is_some()
                && let Some(at) = recorded.at
            {
                let mut check = RouteOutputs { document: validation.document, record, reader, recorder };
                outputs.extend(check.run(run.requested_rows == 0, route, at));
            }
        }
    }
    check_agreement(validation, &outputs, recorder);
}

/// A run counts as validated, and may be compared, if and only if its native route has times.
fn check_eligible<'d>(validation: &Validation<'d>, run: &Run<'d>, reader: &Reader<'d>, recorder: &mut Recorder) {
    let validated = run.native.timing.is_some();
    if let Some(status) = reader.member(run.at, "status") {
        let says_validated = status.as_str().is_some_and(|status| ["validated", "passed"].contains(&status));
        let expected = if validated { "validated" } else { "another status than that of a validated run" };
        recorder.require(
            says_validated == validated,
            Code::OutputCheck,
            validation.document,
            status,
            expected,
            show(status),
        );
    }
    let eligible = run.at.get("native_comparison_eligible");
    // A retry belongs to no cohort that it could be compared in.
    let eligible = if run.cohort == RETEST { eligible } else { reader.member(run.at, "native_comparison_eligible") };
    if let Some(eligible) = eligible {
        recorder.equal(Code::OutputCheck, validation.document, eligible, &Json::Bool(validated));
    }
}

/// An output's receipt with what makes it comparable to others.
pub(in crate::audit) struct Output<'d> {
    /// SHA-256 of the saved output.
    pub hash: &'d Json,
    /// Its largest error against the oracle.
    pub max_abs_error: &'d Json,
    /// Recorded by native runs only.
    over_bound: Option<&'d Json>,
    /// Set for native runs of the original entry: the same code on the same inputs.
    is_original: bool,
}

/// The checks of one route record's outputs, wherever it stands.
pub(in crate::audit) struct RouteOutputs<'c, 'd> {
    /// The file with the record.
    pub document: &'d Document,
    /// The case.
    pub record: &'c CaseRecord<'d>,
    /// The file's reader.
    pub reader: &'c Reader<'d>,
    /// Takes the findings.
    pub recorder: &'c mut Recorder,
}

impl<'d> RouteOutputs<'_, 'd> {
    /// Checks the outputs of a record `at`; `is_original_entry` where it asked for the original schedule.
    pub(in crate::audit) fn run(&mut self, is_original_entry: bool, route: Route, at: &'d Json) -> Option<Output<'d>> {
        let rows = self.record.case.geometry.rows;
        let saved = self.reader.member(at, "saved_output_recheck")?;
        self.counts(saved, "elements", rows);
        self.counts(saved, "failed_elements", 0);
        let receipt = self.reader.member(saved, "receipt")?;
        self.counts(receipt, "bytes", rows * self.record.case.storage.bytes());
        let max_abs_error = self.reader.member(saved, "max_abs_error")?;
        let recorded = self.reader.member(at, "recorded_correctness")?;
        match route {
            Route::Native => self.native(recorded, rows, max_abs_error)?,
            Route::Torch => self.torch(recorded, rows, max_abs_error)?,
        }
        Some(Output {
            hash: self.reader.member(receipt, "sha256")?,
            max_abs_error,
            over_bound: recorded.get("max_error_over_bound"),
            is_original: route == Route::Native && is_original_entry,
        })
    }

    fn native(&mut self, recorded: &'d Json, rows: u64, saved_error: &'d Json) -> Option<()> {
        self.counts(recorded, "elements_per_check", rows);
        self.counts(recorded, "errors", 0);
        for flag in ["inputs_unchanged", "guards_unchanged", "all_outputs_finite"] {
            let found = self.reader.member(recorded, flag)?;
            self.recorder.equal(Code::OutputCheck, self.document, found, &Json::Bool(true));
        }
        self.same_number(self.reader.member(recorded, "max_abs_error")?, saved_error);
        let over_bound = self.reader.number(recorded, "max_error_over_bound")?;
        let at = self.reader.member(recorded, "max_error_over_bound")?;
        let error = saved_error.as_f64()?;
        // Zero over its bound is zero; otherwise the ratio to the largest bound of all elements is the least it can be.
        let least = if error > 0.0 { self.largest_bound().map_or(0.0, |bound| error / bound) } else { 0.0 };
        let holds = if error == 0.0 { over_bound == 0.0 } else { over_bound >= least && over_bound > 0.0 };
        self.recorder.require(
            holds && over_bound <= 1.0,
            Code::OutputCheck,
            self.document,
            at,
            format_args!("from {least} to 1, and 0 only without error"),
            over_bound,
        );
        Some(())
    }

    /// Checks before and after the timing, whatever the mode is called that they were made in; both, or neither of a mode.
    fn torch(&mut self, recorded: &'d Json, rows: u64, saved_error: &'d Json) -> Option<()> {
        let checks = torch_checks(recorded);
        for (name, check) in &checks {
            if let Some(other) = counterpart(name) {
                let _ = self.reader.member(recorded, &other);
            }
            self.counts(check, "elements", rows);
            self.counts(check, "failed_elements", 0);
            self.same_number(self.reader.member(check, "max_abs_error")?, saved_error);
        }
        self.recorder.require(
            !checks.is_empty(),
            Code::OutputCheck,
            self.document,
            recorded,
            "a check of the outputs",
            "none",
        );
        let mut bounds = Vec::new();
        for (_, check) in &checks {
            bounds.push(self.reader.member(check, "max_allowed_bound")?);
        }
        let (&bound, others) = bounds.split_first()?;
        for other in others {
            self.same_number(other, bound);
        }
        let within = saved_error.as_f64()? <= bound.as_f64()?;
        self.recorder.require(
            within,
            Code::OutputCheck,
            self.document,
            saved_error,
            format_args!("at most the largest bound, {}", show(bound)),
            show(saved_error),
        );
        Some(())
    }

    /// The largest per-element bound of the case, which only Torch routes record.
    fn largest_bound(&self) -> Option<f64> {
        self.record.runs.iter().find_map(|run| {
            let checks = torch_checks(run.torch.at?.get("recorded_correctness")?);
            checks.iter().find_map(|(_, check)| check.get("max_allowed_bound")?.as_f64())
        })
    }

    fn counts(&mut self, at: &'d Json, member: &str, expected: u64) {
        if let Some(found) = self.reader.member(at, member) {
            self.recorder.equal(Code::OutputCheck, self.document, found, &Json::from(expected));
        }
    }

    /// Zero is written as an integer in one place and as a float in another.
    fn same_number(&mut self, found: &Json, expected: &Json) {
        self.recorder.require(
            found.as_f64().is_some() && found.as_f64() == expected.as_f64(),
            Code::OutputCheck,
            self.document,
            found,
            show(expected),
            show(found),
        );
    }
}

/// The checks of a Torch route: members such as `compiled_correctness_before`, or the record itself.
fn torch_checks(recorded: &Json) -> Vec<(&str, &Json)> {
    if recorded.get("failed_elements").is_some() {
        return vec![("", recorded)];
    }
    let members = recorded.as_object().unwrap_or_default().iter();
    let named = members.filter(|(name, _)| name.ends_with("correctness") || counterpart(name).is_some());
    named.map(|(name, check)| (name.as_str(), check)).collect()
}

/// `..._after` for `..._before`, and the other way round.
fn counterpart(name: &str) -> Option<String> {
    let swap = |from: &str, to: &str| Some(format!("{}{to}", name.strip_suffix(from)?));
    swap("correctness_before", "correctness_after").or_else(|| swap("correctness_after", "correctness_before"))
}

fn check_agreement(validation: &Validation<'_>, outputs: &[Output<'_>], recorder: &mut Recorder) {
    let is_exact = |output: &&Output<'_>| output.max_abs_error.as_f64() == Some(0.0);
    let groups: [Vec<&Output<'_>>; 2] = [
        outputs.iter().filter(is_exact).collect(),
        outputs.iter().filter(|output| output.is_original && !is_exact(output)).collect(),
    ];
    for group in groups {
        let Some((first, others)) = group.split_first() else { continue };
        for other in others {
            recorder.equal(Code::OutputDiffers, validation.document, other.hash, first.hash);
        }
    }
    // The same bytes have the same error against the same oracle.
    for (at, output) in outputs.iter().enumerate() {
        if let Some(same) = outputs[..at].iter().find(|earlier| same_value(earlier.hash, output.hash)) {
            recorder.require(
                same.max_abs_error.as_f64() == output.max_abs_error.as_f64(),
                Code::OutputDiffers,
                validation.document,
                output.max_abs_error,
                format_args!("{}, as for the same output elsewhere", show(same.max_abs_error)),
                show(output.max_abs_error),
            );
            if let (Some(expected), Some(found)) = (same.over_bound, output.over_bound) {
                recorder.equal(Code::OutputDiffers, validation.document, found, expected);
            }
        }
    }
}

/// How often outputs were checked is a setting of the protocol.
pub(super) fn check_settings<'d>(validation: &Validation<'d>, reader: &Reader<'d>, recorder: &mut Recorder) {
    let mut first = None;
    for (_, _, route, at) in routes(validation) {
        if route == Route::Native
            && let Some(checks) = at.get("recorded_correctness").and_then(|check| reader.member(check, "checks"))
        {
            let first = *first.get_or_insert(checks);
            recorder.equal(Code::ProtocolSetting, validation.document, checks, first);
        }
    }
    for cohort in &validation.cohorts {
        if let Some(eligible) = reader.member(cohort.at, "native_comparison_eligible") {
            let all_native = validation.cases.iter().all(|record| record.native_median(cohort.name).is_some());
            recorder.equal(Code::OutputCheck, validation.document, eligible, &Json::Bool(all_native));
        }
    }
}

fn routes<'v, 'd>(
    validation: &'v Validation<'d>,
) -> impl Iterator<Item = (&'v CaseRecord<'d>, &'v Run<'d>, Route, &'d Json)> {
    validation.timed().filter_map(|(record, run, route, _)| {
        let at = run.routes()[route as usize].1.at?;
        Some((record, run, route, at))
    })
}
