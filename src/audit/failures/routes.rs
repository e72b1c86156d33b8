//! The routes of a run: times, or a status that says why there are none and nothing that could pass for a time.

use super::PASSED;
use crate::audit::{Code, Recorder, show};
use crate::package::json::Json;
use crate::package::partition::{CaseRecord, FAILED, Route, Run, Validation};

/// The status of a route that the cohort did not ask for.
const NOT_REQUESTED: &str = "not_requested";
/// The status of a route that the machine does not have.
const UNAVAILABLE: &str = "unavailable";

/// What only a route without times has: the record of its failure, or why it was not timed.
const OF_FAILURES: [&str; 6] = ["raw_failure", "failure", "error", "exception", "traceback", "reason"];

/// What a failed Torch route is as a baseline.
const MISSING_BASELINE: &str = "missing_initial_torch_baseline";
/// What a Torch route that was not asked for is as a baseline.
const ABSENT_BASELINE: &str = "absent_native_only_calibration";

/// One run's routes.
pub(super) fn check(validation: &Validation<'_>, record: &CaseRecord<'_>, run: &Run<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    for (route, recorded) in run.routes() {
        let Some(at) = recorded.at else { continue };
        match (at.get("status").map(|status| status.as_str().unwrap_or_default()), &recorded.timing) {
            (None, None) => {
                let expected = "times, or a status that says why there are none";
                recorder.report_at(Code::FailureRecord, document, at, expected, "neither");
            }
            (None | Some(PASSED | "validated"), Some(_)) => check_timed(validation, route, at, recorder),
            (Some(FAILED), _) => {
                check_untimed(validation, route, at, FAILED, recorder);
                check_failed(validation, record, run, route, at, recorder);
            }
            (Some(status @ (NOT_REQUESTED | UNAVAILABLE)), _) => {
                check_untimed(validation, route, at, status, recorder);
            }
            (Some(other), _) => {
                let expected = "failed, not_requested or unavailable, or passed beside times";
                recorder.report_at(Code::FailureRelabelled, document, at, expected, other);
            }
        }
    }
}

/// A route with times has no record of a failure and no label of a baseline that is missing: it did one or the other.
fn check_timed(validation: &Validation<'_>, route: Route, at: &Json, recorder: &mut Recorder) {
    recorder.held();
    let document = validation.document;
    for (name, member) in at.as_object().unwrap_or_default() {
        let missing = member.as_str().is_some_and(|label| [MISSING_BASELINE, ABSENT_BASELINE].contains(&label));
        if OF_FAILURES.contains(&name.as_str()) && *member != Json::Null {
            let expected = format_args!("no {name}: the {} route has times", route.name());
            recorder.report_at(Code::FailureRelabelled, document, member, expected, show(member));
        } else if name == "comparison" && missing {
            let expected = format_args!("no such label: the {} route has times", route.name());
            recorder.report_at(Code::BaselineFilled, document, member, expected, show(member));
        }
    }
}

/// A route without times has its status, its label as a baseline and the record of its failure, and nothing else.
fn check_untimed(validation: &Validation<'_>, route: Route, at: &Json, status: &str, recorder: &mut Recorder) {
    let document = validation.document;
    for (name, member) in at.as_object().unwrap_or_default() {
        match name.as_str() {
            "status" | "comparison" => {}
            "reason" if status != FAILED && member.as_str().is_some() => {}
            "raw_failure" if status == FAILED => {}
            "raw_failure" => {
                let expected = format_args!("no record of a failure: the route is called {status}");
                recorder.report_at(Code::FailureRelabelled, document, member, expected, show(member));
            }
            _ => {
                let expected = format_args!("no {name}: the {} route has no times here", route.name());
                recorder.report_at(Code::BaselineFilled, document, member, expected, show(member));
            }
        }
    }
    let label = at.get("comparison");
    let expected = match (route, status) {
        (Route::Torch, FAILED) => MISSING_BASELINE,
        (Route::Torch, NOT_REQUESTED) => ABSENT_BASELINE,
        // There is no published word for the others; what a failure is called, only a failure is.
        _ => {
            if let Some(label) = label {
                let holds = label.as_str().is_some_and(|label| (label == MISSING_BASELINE) <= (status == FAILED));
                let expected = "a label that does not speak of a failure";
                recorder.require(holds, Code::FailureRelabelled, document, label, expected, show(label));
            }
            return;
        }
    };
    recorder.require(
        label.and_then(Json::as_str) == Some(expected),
        Code::FailureRelabelled,
        document,
        label.unwrap_or(at),
        expected,
        label.map_or("nothing".to_owned(), |label| show(label).to_string()),
    );
}

/// A failed route keeps the process's own record, with an exit status that is one of a failure.
fn check_failed(
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
    let is_failed = raw.and_then(Json::as_str) == Some(FAILED);
    recorder.require(is_failed, Code::FailureRecord, document, raw.unwrap_or(at), FAILED, "another status");
    recorder.require(
        run.case_status == FAILED,
        Code::FailureRelabelled,
        document,
        run.at.get("original_case_status").unwrap_or(run.at),
        format_args!("failed: the {} process of {} failed", route.name(), record.case.id),
        run.case_status,
    );
}

/// Torch is asked for by a cohort, not by a case: where one case of a cohort has run it, every case has, or has failed.
pub(super) fn check_asked(validation: &Validation<'_>, recorder: &mut Recorder) {
    for cohort in &validation.cohorts {
        let runs = || validation.runs().filter(|(_, run)| run.cohort == cohort.name);
        let is_asked = |run: &Run<'_>| run.torch.timing.is_some() || run.torch.has_failed();
        if !runs().any(|(_, run)| is_asked(run)) {
            continue;
        }
        for (record, run) in runs() {
            recorder.require(
                is_asked(run),
                Code::FailureRelabelled,
                validation.document,
                run.torch.at.or_else(|| run.at.get("routes")).unwrap_or(run.at),
                format_args!("the Torch route of {}, timed or failed, as in other cases of the cohort", record.case.id),
                run.torch.status().unwrap_or("nothing"),
            );
        }
    }
}
