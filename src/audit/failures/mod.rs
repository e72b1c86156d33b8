//! Failures: a failed process stays failed, its missing baseline stays missing, a retry stays apart.

mod affinity;
mod command;
mod moment;
mod native;
mod preserved;
mod process;
mod routes;
mod spans;

use super::evidence::{Options, PartitionEvidence, Samples};
use super::{CheckReport, Code, Family, Place, Recorder, report_problems, show};
use crate::package::json::Json;
use crate::package::partition::samples::{COLUMNS, TIME};
use crate::package::partition::{CaseRecord, FAILED, RETEST, Reader, Run, Validation, files};

/// The status of what did not fail.
const PASSED: &str = "passed";

/// Runs the family.
pub(super) fn check(package: &PartitionEvidence<'_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Failures, options.tolerance);
    let validation = match package.validation() {
        Ok(validation) => validation,
        Err(reason) => return recorder.not_run(reason),
    };
    let reader = Reader::new(validation.document);
    for (record, run) in validation.runs() {
        routes::check(validation, record, run, &mut recorder);
        check_statuses(validation, run, &reader, &mut recorder);
    }
    check_cohorts(validation, &mut recorder);
    routes::check_asked(validation, &mut recorder);
    process::check_runs(validation, &mut recorder);
    for record in &validation.cases {
        check_case_status(validation, record, &mut recorder);
        check_retest(validation, record, &reader, &mut recorder);
    }
    check_whole(validation, &mut recorder);
    preserved::check(validation, &reader, &mut recorder);
    if let Ok(samples) = &package.samples {
        check_rows(validation, samples, &mut recorder);
    }
    report_problems(&mut recorder, validation.document, reader.into_problems());
    recorder.finish()
}

/// A status is one of two words; whatever else it says is neither.
fn check_status(validation: &Validation<'_>, at: &Json, member: &str, recorder: &mut Recorder) {
    let Some(status) = at.get(member) else { return };
    let is_known = status.as_str().is_some_and(|status| [PASSED, FAILED].contains(&status));
    let expected = format_args!("{PASSED} or {FAILED}");
    recorder.require(is_known, Code::FailureRelabelled, validation.document, status, expected, show(status));
}

/// The status repeated in each run is its cohort's; a case that failed has a route that did.
fn check_statuses<'d>(validation: &Validation<'d>, run: &Run<'d>, reader: &Reader<'d>, recorder: &mut Recorder) {
    let document = validation.document;
    check_status(validation, run.at, "original_case_status", recorder);
    if run.case_status == FAILED {
        let some_route_failed = run.routes().iter().any(|(_, route)| route.has_failed());
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

/// A case, or its retry, that says how it went as a whole says what its runs do.
fn check_case_status(validation: &Validation<'_>, record: &CaseRecord<'_>, recorder: &mut Recorder) {
    let of_case =
        ["status", "original_case_status"].map(|name| (record.at.get(name), record.original_runs().collect()));
    let of_retry = (record.retest.and_then(|retest| retest.get("status")), record.run(RETEST).into_iter().collect());
    for (status, runs) in of_case.into_iter().chain([of_retry]) {
        let (Some(status), runs): (_, Vec<&Run<'_>>) = (status, runs) else { continue };
        let text = status.as_str().unwrap_or_default();
        let some_failed = runs.iter().any(|run| run.has_failed());
        let all_native = runs.iter().all(|run| run.native.timing.is_some());
        // A word of the producer's own says nothing that could be held against the runs.
        let holds = match text {
            FAILED => some_failed,
            PASSED => !some_failed,
            "validated" => all_native,
            text => !text.is_empty() && (!text.contains("fail") || some_failed),
        };
        let expected = if some_failed { "failed: one of its runs failed" } else { "passed: none of its runs failed" };
        recorder.require(holds, Code::FailureRelabelled, validation.document, status, expected, show(status));
    }
}

/// A cohort failed if and only if one of its cases did.
fn check_cohorts(validation: &Validation<'_>, recorder: &mut Recorder) {
    for cohort in &validation.cohorts {
        check_status(validation, cohort.at, "original_status", recorder);
        let failed = validation.runs().any(|(_, run)| run.cohort == cohort.name && run.has_failed());
        recorder.require(
            (cohort.original_status == FAILED) == failed,
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
    let failed_before =
        record.original_runs().any(|other| other.requested_rows == run.requested_rows && other.has_failed());
    recorder.require(
        failed_before,
        Code::RetrySubstituted,
        document,
        retest,
        "a retry only of a case that failed, with the rows that it failed with",
        format_args!("a retry of {}, whose original run is not recorded as failed", record.case.id),
    );
    if let Some(own) = reader.member(run.at, "case_receipt") {
        let shared = record.original_runs().any(|other| other.at.get("case_receipt") == Some(own));
        recorder.require(!shared, Code::RetrySubstituted, document, own, "a receipt of its own", show(own));
    }
    for (route, recorded) in run.routes() {
        let Some(timing) = &recorded.timing else { continue };
        for other in record.original_runs() {
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

/// What the file says of itself as a whole follows from its runs: whether all native runs have times, and whether
/// anything failed at all.
fn check_whole(validation: &Validation<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    let root = document.root();
    let all_native = validation.runs().all(|(_, run)| run.native.timing.is_some());
    if let Some(status) = root.get("status") {
        let text = status.as_str().unwrap_or_default();
        // The words are the producer's own; only what they say of failure can be held against the runs.
        let says_failed = text.contains("fail");
        let says_validated = text == PASSED || text.contains("validated");
        let holds = !text.is_empty() && if all_native { !says_failed } else { !says_validated };
        let expected = if all_native { "no failure: every native run has times" } else { "a native run failed" };
        recorder.require(holds, Code::FailureRelabelled, document, status, expected, show(status));
    }
    if let Some(status) = root.path(&["native_revalidation", "status"]) {
        let expected = if all_native { PASSED } else { FAILED };
        recorder.equal(Code::FailureRelabelled, document, status, &Json::from(expected));
    }
    let some_failed = validation.runs().any(|(_, run)| run.has_failed());
    for member in ["original_failed_queue", "original_failed_aggregate", "rescue_queue_receipt"] {
        if let Some(at) = root.get(member) {
            let expected = "no record of a failed queue: no run failed";
            recorder.require(some_failed, Code::FailureRelabelled, document, at, expected, member);
        }
    }
}

/// samples.csv has no rows for a route that has no times.
fn check_rows(validation: &Validation<'_>, samples: &Samples<'_>, recorder: &mut Recorder) {
    let without_times: std::collections::HashSet<[&str; 3]> = validation
        .runs()
        .flat_map(|(record, run)| {
            run.routes()
                .into_iter()
                .filter(|(_, route)| route.timing.is_none())
                .map(|(route, _)| [record.case.id, run.cohort, route.name()])
        })
        .collect();
    let mut rows = |run: [&str; 3], line: usize, found: &str, count: u64| {
        if without_times.contains(&run) {
            let place = Place::cell(line, COLUMNS[TIME]);
            let expected = format_args!("no row: {} has no times", run.join(" "));
            recorder.report(Code::BaselineFilled, files::SAMPLES, place, expected, found);
        } else {
            recorder.held_many(count);
        }
    };
    match samples {
        Samples::Table(table) => table.rows.iter().for_each(|row| rows(row.run(), row.line, row.cell(TIME), 1)),
        Samples::Streamed(samples) => {
            for run in &samples.runs.runs {
                let found = format!("{} rows", run.rows);
                rows([0, 1, 2].map(|at| run.names[at].as_str()), run.line, &found, run.rows);
            }
        }
    }
}
