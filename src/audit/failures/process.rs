//! The record of a process: how it ended, when, on which processors. What it says once has to be possible; what it says twice
//! has to agree.

use super::affinity::{Mask, same_processors};
use super::moment::{Moment, Passed};
use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};
use crate::package::partition::Validation;

/// Words for an end that no process has that did its work.
const ENDED_BADLY: [&str; 8] =
    ["failed", "killed", "timed_out", "timeout", "stopped", "crashed", "aborted", "signaled"];

/// How far the time that passed between two readings of one clock may be from the time that another clock counted: between
/// the readings of both a busy machine starts the process, which may take a while.
const SLACK_SECONDS: f64 = 1.0;

/// How much longer that may take for a longer process, as a fraction of its time.
const SLACK_FRACTION: f64 = 0.01;

/// The processes that the runs record, and those of their failures.
pub(super) fn check_runs(validation: &Validation<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    for (_, run) in validation.runs() {
        for (route, recorded) in run.routes() {
            if let Some(process) = run.at.path(&["process", route.name()]) {
                check(document, process, recorded.timing.is_some(), recorder);
            }
            if let Some(process) = recorded.at.and_then(|at| at.path(&["raw_failure", "process"])) {
                check(document, process, false, recorder);
            }
        }
    }
}

/// One process; `passed` where the package has times of it. What it does not record is not asked for.
pub(super) fn check(document: &Document, process: &Json, passed: bool, recorder: &mut Recorder) {
    if passed && let Some(code) = process.get("returncode") {
        let expected = "0: the package has times of this process";
        recorder.require(code.as_f64() == Some(0.0), Code::FailureRelabelled, document, code, expected, show(code));
    }
    if passed && let Some(status) = process.get("status") {
        let is_bad = status.as_str().is_none_or(|status| ENDED_BADLY.contains(&status));
        let expected = "no failure: the package has times of this process";
        recorder.require(!is_bad, Code::FailureRelabelled, document, status, expected, show(status));
    }
    if let Some(pid) = process.get("pid") {
        let holds = pid.as_u64().is_some_and(|pid| pid > 0);
        recorder.require(holds, Code::FailureRecord, document, pid, "the number of a process", show(pid));
    }
    check_times(document, process, recorder);
    check_processors(document, process, recorder);
}

/// Start and end of a record are points in time, in this order, and as far apart as the record says.
pub(super) fn check_times(document: &Document, record: &Json, recorder: &mut Recorder) {
    let moments = ["started", "finished"].map(|name| moment(document, record, name, recorder));
    let passed = match moments {
        [Some(started), Some(finished)] => started.to(finished),
        _ => None,
    };
    let finished = record.get("finished").unwrap_or(record);
    if let Some(Passed { seconds, slack }) = passed {
        let expected = "a time that is not before the start";
        recorder.require(seconds >= -slack, Code::FailureRecord, document, finished, expected, show(finished));
    }
    let Some(elapsed) = record.get("elapsed_seconds") else { return };
    let counted = elapsed.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    let expected = "a number of seconds, not negative";
    recorder.require(counted.is_some(), Code::FailureRecord, document, elapsed, expected, show(elapsed));
    if let (Some(counted), Some(Passed { seconds, slack })) = (counted, passed) {
        let holds = (counted - seconds).abs() <= slack + SLACK_SECONDS + SLACK_FRACTION * counted;
        let expected = format_args!("{seconds} seconds, from start to end");
        recorder.require(holds, Code::FailureRecord, document, elapsed, expected, show(elapsed));
    }
}

/// A member that is a point in time, where there is one in a notation that is understood.
fn moment(document: &Document, record: &Json, name: &str, recorder: &mut Recorder) -> Option<Moment> {
    let at = record.get(name)?;
    let moment = Moment::read(at);
    let holds = moment.is_some() || Moment::may_be(at);
    recorder.require(holds, Code::FailureRecord, document, at, "a date and a time", show(at));
    moment
}

/// A process ran within the time of the record around it.
pub(super) fn check_within(document: &Document, process: &Json, around: &Json, recorder: &mut Recorder) {
    let read = |record: &Json, name: &str| Moment::read(record.get(name)?);
    for (name, is_first) in [("started", true), ("finished", false)] {
        let (Some(own), Some(outer), Some(at)) = (read(process, name), read(around, name), around.get(name)) else {
            continue;
        };
        let Some(Passed { seconds, slack }) = outer.to(own) else { continue };
        let holds = if is_first { seconds >= -slack } else { seconds <= slack };
        let order = if is_first { "not after" } else { "not before" };
        let own = process.get(name).unwrap_or(process);
        let expected = format_args!("a time {order} that of a process within, {}", show(own));
        recorder.require(holds, Code::FailureRecord, document, at, expected, show(at));
    }
}

/// A process runs on processors that the system has, and the system has the same ones before and after.
fn check_processors(document: &Document, process: &Json, recorder: &mut Recorder) {
    let mut first = None;
    for name in ["affinity_before", "affinity_actual"] {
        let Some(affinity) = process.get(name) else { continue };
        if let Some(system) = affinity.get("system_mask") {
            same_processors(document, system, first.get_or_insert(system), recorder);
        }
        let masks = ["process_mask", "system_mask"].map(|name| Mask::read(affinity.get(name)?));
        if let (Some(at), [Some(own), Some(system)]) = (affinity.get("process_mask"), masks) {
            let expected = format_args!("processors of the system's, {system}");
            recorder.require(own.is_part_of(&system), Code::FailureRecord, document, at, expected, show(at));
        }
    }
}
