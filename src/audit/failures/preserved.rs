//! The original failure, kept whole beside the runs: both tell the same, and neither can be taken away alone.

use super::native::Native;
use super::{affinity, command, process};
use crate::audit::{Code, Recorder, compare, show};
use crate::package::json::{Document, Json, Series};
use crate::package::partition::{CaseRecord, DEFAULT, FAILED, Reader, Route, Run, Validation};

/// The preserved failure against the runs.
pub(super) fn check<'d>(validation: &Validation<'d>, reader: &Reader<'d>, recorder: &mut Recorder) -> Option<()> {
    let document = validation.document;
    let stated = document.root().get("native_revalidation")?;
    let default = validation.cohorts.iter().find(|cohort| cohort.name == DEFAULT);
    let status = reader.member(stated, "original_cohort_status")?;
    if let Some(default) = default {
        recorder.equal(Code::FailureRelabelled, document, status, &Json::from(default.original_status));
    }
    let Some(preserved) = stated.get("original_failure") else {
        let holds = status.as_str() != Some(FAILED);
        let expected = "the original failure, which made the cohort a failed one";
        recorder.require(holds, Code::FailureRecord, document, stated, expected, "nothing");
        return None;
    };
    let case = reader.member(preserved, "case")?;
    let id = reader.text(case, "id")?;
    let Some(record) = validation.cases.iter().find(|record| record.case.id == id) else {
        recorder.report_at(Code::FailureRecord, document, case, "a case of the package", id);
        return None;
    };
    compare(recorder, document, case, record.case.at, &|_| Code::FailureRecord);
    let Some(run) = record.run(DEFAULT) else {
        recorder.report_at(Code::FailureRelabelled, document, record.at, "the run that failed", "none");
        return None;
    };
    check_still_failed(document, preserved, record, run, recorder);
    check_processes(document, preserved, (record, run), recorder);
    check_routes(document, preserved, record, run, reader, recorder)
}

/// What was preserved as failed is failed in the record, and so is its case.
fn check_still_failed(
    document: &Document,
    preserved: &Json,
    record: &CaseRecord<'_>,
    run: &Run<'_>,
    recorder: &mut Recorder,
) {
    let is_failed = |at: &Json| at.get("status").and_then(Json::as_str) == Some(FAILED);
    let status = preserved.get("status").unwrap_or(preserved);
    recorder.require(is_failed(preserved), Code::FailureRecord, document, status, FAILED, show(status));
    recorder.require(
        run.case_status == FAILED,
        Code::FailureRelabelled,
        document,
        run.at.get("original_case_status").unwrap_or(run.at),
        format_args!("failed: the failure of {} is preserved in native_revalidation", record.case.id),
        run.case_status,
    );
    let mut some_failed = false;
    for (route, recorded) in run.routes() {
        let kept = preserved.path(&["runs", route.name()]).is_some_and(is_failed);
        some_failed |= kept;
        if kept || recorded.has_failed() {
            recorder.require(
                kept && recorded.has_failed(),
                Code::FailureRelabelled,
                document,
                recorded.at.or_else(|| run.at.get("routes")).unwrap_or(run.at),
                format_args!("the {} process {}", route.name(), if kept { "failed" } else { "did not fail" }),
                recorded.status().unwrap_or("no failure"),
            );
        }
    }
    let runs = preserved.get("runs").unwrap_or(preserved);
    recorder.require(some_failed, Code::FailureRecord, document, runs, "the process that failed", "none");
}

/// Each process is possible, ran within the time of the whole, and on the same machine.
fn check_processes(
    document: &Document,
    preserved: &Json,
    (record, run): (&CaseRecord<'_>, &Run<'_>),
    recorder: &mut Recorder,
) {
    process::check_times(document, preserved, recorder);
    let mut first = None;
    for (route, recorded) in run.routes() {
        let Some(process) = preserved.path(&["runs", route.name(), "process"]) else { continue };
        if process.get("returncode").is_none() {
            recorder.report_at(Code::FailureRecord, document, process, "the exit status of the process", "nothing");
        }
        process::check(document, process, recorded.timing.is_some(), recorder);
        process::check_within(document, process, preserved, recorder);
        command::check(document, process, preserved, (record, run), recorder);
        if let Some(system) = process.path(&["affinity_before", "system_mask"]) {
            affinity::same_processors(document, system, first.get_or_insert(system), recorder);
        }
    }
}

/// Both processes' own records are what the run's record was made from.
fn check_routes<'d>(
    document: &'d Document,
    preserved: &'d Json,
    record: &CaseRecord<'d>,
    run: &Run<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) -> Option<()> {
    let runs = reader.member(preserved, "runs")?;
    for (route, recorded) in run.routes() {
        if let (Some(kept), Some(raw)) = (runs.get(route.name()), recorded.at.and_then(|at| at.get("raw_failure"))) {
            compare(recorder, document, kept, raw, &|_| Code::FailureRecord);
        }
    }
    let fixtures = run.at.get("fixture_sha256")?;
    compare(recorder, document, reader.member(preserved, "tensor_sha256")?, fixtures, &|_| Code::FailureRecord);
    if run.routes()[Route::Native as usize].1.timing.is_none() {
        return Some(());
    }
    // The native process passed; its raw result is what the run's record was made from.
    let native = reader.member(runs, Route::Native.name())?;
    compare(recorder, document, reader.member(native, "fixture_sha256")?, fixtures, &|_| Code::FailureRecord);
    let launch = run.at.path(&["selection", "program_partition"])?;
    compare(recorder, document, reader.member(native, "native_program_partition")?, launch, &|_| Code::FailureRecord);
    let result = reader.member(native, "result")?;
    check_native(document, result, run, recorder);
    Native { document, record, run, kept: native, result, recorder }.check(runs.get(Route::Torch.name()));
    Some(())
}

/// The raw result of the native process, member by member; what one side has, the other has.
fn check_native(document: &Document, result: &Json, run: &Run<'_>, recorder: &mut Recorder) {
    let Some(route) = run.native.at else { return };
    let sampling = |name: &str| route.path(&["sampling", name]);
    let cold = |name: &str| route.path(&["cold_ms", name]);
    let pairs = [
        ("graph_protocol", sampling("protocol")),
        ("graph_replays_per_sample", sampling("replays_per_sample")),
        ("graph_operations_per_sample", sampling("operations_per_sample")),
        ("graph_sample_target_ms", sampling("sample_target_ms")),
        ("graph_replay_cap", sampling("replay_cap")),
        ("graph_operation_cap", sampling("operation_cap")),
        ("graph_calibration_target_reached", sampling("calibration_target_reached")),
        ("graph_prime_event_ms", sampling("prime_event_ms")),
        ("graph_prime_host_ms", sampling("prime_host_ms")),
        ("graph_calibration", sampling("calibration")),
        ("graph_stage_dispatches_per_sample", sampling("kernel_stage_dispatches_per_sample")),
        ("graph_event_span_ms", route.path(&["sampling", "event_span_ms", "samples"])),
        ("graph_host_span_ms", route.path(&["sampling", "host_span_ms", "samples"])),
        ("graph_event_stream_span_us_per_op", route.path(&["event_us", "samples"])),
        ("graph_warmup_replays", route.path(&["warmup", "replays"])),
        ("graph_warmup_actual_ms", route.path(&["warmup", "actual_ms"])),
        ("correctness", route.get("recorded_correctness")),
        ("realization", route.get("realization")),
        ("fixture_ms", cold("fixture_ms")),
        ("runtime_ms", cold("runtime_ms")),
        ("compile_ms", cold("compile_ms")),
        ("allocation_upload_ms", cold("allocation_upload_ms")),
        ("cold_ms", cold("cold_ms")),
        ("graph_build_ms", cold("graph_build_ms")),
        ("native_program_partition", run.at.path(&["selection", "program_partition"])),
    ];
    for (name, recorded) in pairs {
        match (result.get(name), recorded) {
            (Some(found), Some(expected)) => {
                compare(recorder, document, found, expected, &|_| Code::FailureRecord);
            }
            (Some(found), None) => {
                let expected = format_args!("{name} in the run's record, too");
                recorder.report_at(Code::FailureRecord, document, found, expected, "nothing there");
            }
            (None, Some(expected)) => {
                let expected = format_args!("{name}: {}", show(expected));
                recorder.report_at(Code::FailureRecord, document, result, expected, "nothing");
            }
            (None, None) => {}
        }
    }
    let operations = sampling("operations_per_sample").and_then(Json::as_f64);
    let spans = route.path(&["sampling", "host_span_ms", "samples"]).and_then(Series::of);
    let (Some(operations), Some(spans)) = (operations, spans) else { return };
    let per_operation = result.get("graph_host_wall_us_per_op");
    let values = per_operation.and_then(Series::of);
    let count = values.map_or(0, Series::len);
    recorder.require(
        count == spans.len(),
        Code::FailureRecord,
        document,
        per_operation.unwrap_or(result),
        format_args!("graph_host_wall_us_per_op for {} host spans", spans.len()),
        count,
    );
    let Some(values) = values else { return };
    for (index, span) in spans.numbers().take(count).enumerate() {
        let expected = Json::Float(span * 1000.0 / operations);
        recorder.equal_item(Code::FailureRecord, document, (values, index), &expected);
    }
}
