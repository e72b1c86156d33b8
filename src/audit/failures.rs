//! Failures: a failed process stays failed, its missing baseline stays missing, a retry stays apart.

use super::evidence::{Options, PartitionEvidence};
use super::{CheckReport, Code, Family, Place, Recorder, compare, report_problems, show};
use crate::package::json::{Document, Json};
use crate::package::partition::samples::{COLUMNS, TIME};
use crate::package::partition::{CaseRecord, DEFAULT, RETEST, Reader, Route, Run, Validation, files};

/// Members of a route that only a run that was timed may have.
const TIMED_MEMBERS: [&str; 5] = ["event_us", "sampling", "warmup", "cold_ms", "saved_output_recheck"];

/// Runs the family.
pub(super) fn check(package: &PartitionEvidence<'_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Failures, options.tolerance);
    let validation = match package.validation() {
        Ok(validation) => validation,
        Err(reason) => return recorder.not_run(reason),
    };
    let reader = Reader::new(validation.document);
    for (record, run) in validation.runs() {
        check_routes(validation, record, run, &mut recorder);
        check_statuses(validation, run, &reader, &mut recorder);
    }
    check_cohorts(validation, &mut recorder);
    for record in &validation.cases {
        check_retest(validation, record, &reader, &mut recorder);
    }
    check_preserved_failure(validation, &reader, &mut recorder);
    if let Ok(table) = &package.samples {
        check_rows(validation, table, &mut recorder);
    }
    report_problems(&mut recorder, validation.document, reader.into_problems());
    recorder.finish()
}

/// Whether the record of a route says that its process failed.
fn has_failed(route: Option<&Json>) -> bool {
    route.and_then(|route| route.get("status")?.as_str()) == Some("failed")
}

fn check_routes(validation: &Validation<'_>, record: &CaseRecord<'_>, run: &Run<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    for (route, recorded) in run.routes() {
        let Some(at) = recorded.at else { continue };
        let status = at.get("status").and_then(Json::as_str);
        match status {
            None => {
                recorder.require(
                    recorded.timing.is_some(),
                    Code::FailureRecord,
                    document,
                    at,
                    "times, or a status that says why there are none",
                    "neither",
                );
                continue;
            }
            Some("failed" | "not_requested") => recorder.held(),
            Some(other) => {
                let expected = "failed, not_requested, or no status beside times";
                recorder.report_at(Code::FailureRelabelled, document, at, expected, other);
                continue;
            }
        }
        for member in TIMED_MEMBERS {
            match at.get(member) {
                Some(found) => {
                    let expected = format_args!("no {member}: the {} route has no times here", route.name());
                    recorder.report_at(Code::BaselineFilled, document, found, expected, show(found));
                }
                None => recorder.held(),
            }
        }
        if has_failed(Some(at)) {
            check_failed_route(validation, record, run, route, at, recorder);
        }
    }
}

/// A failed route keeps the process's own record, with an exit status that is one of a failure.
fn check_failed_route(
    validation: &Validation<'_>,
    record: &CaseRecord<'_>,
    run: &Run<'_>,
    route: Route,
    at: &Json,
    recorder: &mut Recorder,
) {
    let document = validation.document;
    let exit = at.path(&["raw_failure", "process", "returncode"]);
    let failed = exit.is_some_and(|exit| exit.as_f64().is_some_and(|code| code != 0.0));
    recorder.require(
        failed,
        Code::FailureRecord,
        document,
        exit.unwrap_or(at),
        format_args!("the exit status of the failed {} process, not 0", route.name()),
        exit.map_or("nothing".to_owned(), |exit| show(exit).to_string()),
    );
    let raw = at.path(&["raw_failure", "status"]);
    let is_failed = raw.and_then(Json::as_str) == Some("failed");
    recorder.require(is_failed, Code::FailureRecord, document, raw.unwrap_or(at), "failed", "another status");
    recorder.require(
        run.case_status == "failed",
        Code::FailureRelabelled,
        document,
        run.at.get("original_case_status").unwrap_or(run.at),
        format_args!("failed: the {} process of {} failed", route.name(), record.case.id),
        run.case_status,
    );
}

/// The status repeated in each run is its cohort's; a case that failed has a route that did.
fn check_statuses<'d>(validation: &Validation<'d>, run: &Run<'d>, reader: &Reader<'d>, recorder: &mut Recorder) {
    let document = validation.document;
    if run.case_status == "failed" {
        let some_route_failed = run.routes().iter().any(|(_, route)| has_failed(route.at));
        recorder.require(
            some_route_failed,
            Code::FailureRelabelled,
            document,
            run.at.get("original_case_status").unwrap_or(run.at),
            "passed: every route has its times",
            run.case_status,
        );
    }
    let Some(cohort) = validation.cohorts.iter().find(|cohort| cohort.name == run.cohort) else { return };
    if let Some(found) = reader.member(run.at, "original_cohort_status") {
        recorder.equal(Code::FailureRelabelled, document, found, &Json::from(cohort.original_status));
    }
}

/// A cohort failed if and only if one of its cases did.
fn check_cohorts(validation: &Validation<'_>, recorder: &mut Recorder) {
    for cohort in &validation.cohorts {
        let mut runs = validation.runs().filter(|(_, run)| run.cohort == cohort.name);
        let failed = runs
            .any(|(_, run)| run.case_status == "failed" || run.routes().iter().any(|(_, route)| has_failed(route.at)));
        recorder.require(
            (cohort.original_status == "failed") == failed,
            Code::FailureRelabelled,
            validation.document,
            cohort.at.get("original_status").unwrap_or(cohort.at),
            if failed { "failed: one of its cases failed" } else { "passed: none of its cases failed" },
            cohort.original_status,
        );
    }
}

/// A retry exists for a case that failed, ran again by itself, and lends nothing to the original record.
fn check_retest<'d>(
    validation: &Validation<'d>,
    record: &CaseRecord<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) {
    let document = validation.document;
    let Some(retest) = record.retest else { return };
    let Some(run) = record.run(RETEST) else { return };
    let default_failed = record.run(DEFAULT).is_some_and(|default| default.case_status == "failed");
    recorder.require(
        default_failed,
        Code::RetrySubstituted,
        document,
        retest,
        "a retry only of a case that failed",
        format_args!("a retry of {}, whose original run is not recorded as failed", record.case.id),
    );
    let receipt = |run: &Run<'d>| run.at.get("case_receipt").cloned();
    if let Some(own) = reader.member(run.at, "case_receipt") {
        let shared = record.runs.iter().any(|other| other.cohort != RETEST && receipt(other).as_ref() == Some(own));
        recorder.require(!shared, Code::RetrySubstituted, document, own, "a receipt of its own", show(own));
    }
    for (route, recorded) in run.routes() {
        let Some(timing) = &recorded.timing else { continue };
        for other in record.runs.iter().filter(|other| other.cohort != RETEST) {
            let other_timing = &other.routes()[route as usize].1.timing;
            let same = other_timing.as_ref().is_some_and(|other| other.samples == timing.samples);
            recorder.require(
                !same,
                Code::RetrySubstituted,
                document,
                timing.p50_at,
                "samples of its own",
                format_args!("the samples of cohort {}", other.cohort),
            );
        }
    }
}

/// The original failure is kept whole beside the runs; both tell the same.
fn check_preserved_failure<'d>(
    validation: &Validation<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) -> Option<()> {
    let document = validation.document;
    let stated = document.root().get("native_revalidation")?;
    let preserved = stated.get("original_failure")?;
    if let Some(status) = reader.member(stated, "original_cohort_status") {
        let default = validation.cohorts.iter().find(|cohort| cohort.name == DEFAULT)?;
        recorder.equal(Code::FailureRelabelled, document, status, &Json::from(default.original_status));
    }
    let case = reader.member(preserved, "case")?;
    let id = reader.text(case, "id")?;
    let Some(record) = validation.cases.iter().find(|record| record.case.id == id) else {
        recorder.report_at(Code::FailureRecord, document, case, "a case of the package", id);
        return None;
    };
    compare(recorder, document, case, record.case.at, &|_| Code::FailureRecord);
    let run = record.run(DEFAULT)?;
    if let (Some(kept), Some(raw)) =
        (preserved.path(&["runs", "torch"]), run.torch.at.and_then(|route| route.get("raw_failure")))
    {
        compare(recorder, document, kept, raw, &|_| Code::FailureRecord);
    }
    let fixtures = run.at.get("fixture_sha256")?;
    let kept = [preserved.get("tensor_sha256"), preserved.path(&["runs", "native", "fixture_sha256"])];
    for kept in kept.into_iter().flatten() {
        compare(recorder, document, kept, fixtures, &|_| Code::FailureRecord);
    }
    let native = preserved.path(&["runs", "native"])?;
    if let Some(partition) = native.get("native_program_partition") {
        let launch = run.at.path(&["selection", "program_partition"])?;
        compare(recorder, document, partition, launch, &|_| Code::FailureRecord);
    }
    check_preserved_native(document, native.get("result")?, run, recorder);
    Some(())
}

/// The native process of the failed case passed; its raw result is what the run's record was made from.
fn check_preserved_native(document: &Document, result: &Json, run: &Run<'_>, recorder: &mut Recorder) {
    let Some(route) = run.native.at else { return };
    let sampling = |name: &str| route.path(&["sampling", name]);
    let selection = |name: &str| run.at.path(&["selection", name]);
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
        ("fixture_ms", route.path(&["cold_ms", "fixture_ms"])),
        ("runtime_ms", route.path(&["cold_ms", "runtime_ms"])),
        ("compile_ms", route.path(&["cold_ms", "compile_ms"])),
        ("allocation_upload_ms", route.path(&["cold_ms", "allocation_upload_ms"])),
        ("cold_ms", route.path(&["cold_ms", "cold_ms"])),
        ("graph_build_ms", route.path(&["cold_ms", "graph_build_ms"])),
        ("native_program_partition", selection("program_partition")),
    ];
    for (name, expected) in pairs {
        if let (Some(found), Some(expected)) = (result.get(name), expected) {
            compare(recorder, document, found, expected, &|_| Code::FailureRecord);
        }
    }
    let operations = sampling("operations_per_sample").and_then(Json::as_f64);
    let spans = route.path(&["sampling", "host_span_ms", "samples"]).and_then(Json::as_array);
    let per_operation = result.get("graph_host_wall_us_per_op").and_then(Json::as_array);
    if let (Some(operations), Some(spans), Some(per_operation)) = (operations, spans, per_operation) {
        for (found, span) in per_operation.iter().zip(spans.iter().filter_map(Json::as_f64)) {
            recorder.equal_float(Code::FailureRecord, document, found, span * 1000.0 / operations);
        }
    }
}

/// samples.csv has no rows for a route that has no times.
fn check_rows(validation: &Validation<'_>, table: &crate::package::partition::SampleTable, recorder: &mut Recorder) {
    let without_times: std::collections::HashSet<[&str; 3]> = validation
        .runs()
        .flat_map(|(record, run)| {
            run.routes()
                .into_iter()
                .filter(|(_, route)| route.timing.is_none())
                .map(|(route, _)| [record.case.id, run.cohort, route.name()])
        })
        .collect();
    for row in &table.rows {
        if without_times.contains(&row.run()) {
            let place = Place::cell(row.line, COLUMNS[TIME]);
            let expected = format_args!("no row: {} has no times", row.run().join(" "));
            recorder.report(Code::BaselineFilled, files::SAMPLES, place, expected, row.cell(TIME));
        } else {
            recorder.held();
        }
    }
}
