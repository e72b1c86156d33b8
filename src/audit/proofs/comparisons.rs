//! Recorded comparisons are the ratios of the medians beside them.

use super::launch::takes_partition;
use crate::audit::{Code, Recorder, compare, show};
use crate::package::json::{Document, Json, object};
use crate::package::partition::{CaseRecord, DEFAULT, RECHECK, RETEST, Run, Validation};

/// Medians closer than this fraction are called equal in words.
const ROBUST_FRACTION: f64 = 0.05;

/// The words for a run of the same schedule.
const REPEATED: &str = "default_recheck";

pub(super) fn check(validation: &Validation<'_>, recorder: &mut Recorder) {
    for record in &validation.cases {
        check_case(validation, record, recorder);
    }
}

fn check_case(validation: &Validation<'_>, record: &CaseRecord<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    let torch = record.run(DEFAULT).and_then(|run| Some(run.torch.timing.as_ref()?.p50));
    let mut pairs = Vec::new();
    for run in record.runs.iter().filter(|run| run.cohort != DEFAULT && run.cohort != RETEST) {
        pairs.push((run.cohort.to_owned(), DEFAULT, run.cohort));
        if run.cohort != RECHECK {
            pairs.push((format!("{}_vs_recheck", run.cohort), RECHECK, run.cohort));
        }
    }
    let Some(comparisons) = record.at.get("comparisons") else {
        if !pairs.is_empty() {
            recorder.report_at(Code::Comparison, document, record.at, "comparisons", "none");
        }
        return;
    };
    for (name, base, candidate) in &pairs {
        let (Some(base_median), Some(median)) = (record.native_median(base), record.native_median(candidate)) else {
            check_absent(document, comparisons.get(name), recorder);
            continue;
        };
        let Some(found) = comparisons.get(name) else {
            recorder.report_at(Code::Comparison, document, comparisons, format!("a comparison {name}"), "none");
            continue;
        };
        let schedule = record.run(candidate).map_or(Schedule::Original, Schedule::of);
        check_pair(document, found, base_median, median, schedule, recorder);
        // Torch was timed in the default cohort only; a comparison with the recheck has no such baseline.
        let torch = torch.filter(|_| *base == DEFAULT);
        match (found.get("candidate_over_baseline_torch"), torch) {
            (Some(ratio), Some(torch)) => {
                recorder.equal_float(Code::Comparison, document, ratio, median / torch);
            }
            (Some(ratio), None) => {
                recorder.report_at(
                    Code::BaselineFilled,
                    document,
                    ratio,
                    "no ratio to a missing baseline",
                    show(ratio),
                );
            }
            (None, Some(_)) => {
                recorder.report_at(Code::Comparison, document, found, "candidate_over_baseline_torch", "nothing");
            }
            (None, None) => {}
        }
    }
    for (name, found) in comparisons.as_object().unwrap_or_default() {
        if pairs.iter().all(|(known, _, _)| known != name) {
            recorder.report_at(Code::Comparison, document, found, "a comparison of two cohorts of the case", name);
        }
    }
    check_retest(document, record, recorder);
}

/// A retry against the run that it repeats.
fn check_retest(document: &Document, record: &CaseRecord<'_>, recorder: &mut Recorder) {
    let (Some(retest), Some(again)) = (record.retest, record.run(RETEST)) else { return };
    let found = retest.get("native_retest_vs_initial");
    let initial = record.original_runs().find(|run| run.requested_rows == again.requested_rows);
    let initial = initial.and_then(|run| Some(run.native.timing.as_ref()?.p50));
    match (found, initial, record.native_median(RETEST)) {
        (Some(found), Some(base), Some(median)) => {
            check_pair(document, found, base, median, Schedule::of(again), recorder);
        }
        (None, Some(_), Some(_)) => {
            recorder.report_at(Code::Comparison, document, retest, "native_retest_vs_initial", "nothing");
        }
        (found, _, _) => check_absent(document, found, recorder),
    }
}

/// A comparison of a run that has no times has no numbers either.
fn check_absent(document: &Document, found: Option<&Json>, recorder: &mut Recorder) {
    match found.and_then(first_number) {
        Some(number) => {
            let expected = "no comparison: one of its runs has no times";
            recorder.report_at(Code::BaselineFilled, document, number, expected, show(number));
        }
        None => recorder.held(),
    }
}

fn first_number(value: &Json) -> Option<&Json> {
    match value {
        Json::Array(items) => items.iter().find_map(first_number),
        Json::Floats(floats) => (!floats.is_empty()).then_some(value),
        Json::Object(members) => members.iter().find_map(|(_, member)| first_number(member)),
        other => other.as_f64().map(|_| other),
    }
}

/// What a candidate ran, as far as the words of a comparison depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Schedule {
    /// The original schedule, again.
    Original,
    /// The partition entry.
    Partitioned,
    /// Asked for the partition entry, and fell back to the original one.
    FellBack,
}

impl Schedule {
    fn of(run: &Run<'_>) -> Self {
        match (run.requested_rows, takes_partition(run)) {
            (0, _) => Schedule::Original,
            (_, true) => Schedule::Partitioned,
            (_, false) => Schedule::FellBack,
        }
    }
}

fn check_pair(document: &Document, found: &Json, base: f64, median: f64, schedule: Schedule, recorder: &mut Recorder) {
    let expected = expected_comparison(base, median, schedule);
    for (name, expected) in expected.as_object().unwrap_or_default() {
        match found.get(name) {
            // What fell back ran the original schedule; both sets of words say so.
            Some(Json::Str(words)) if schedule == Schedule::FellBack && words == REPEATED => recorder.held(),
            Some(found) => compare(recorder, document, found, expected, &|_| Code::Comparison),
            None => recorder.report_at(Code::Comparison, document, found, name, "nothing"),
        }
    }
}

/// The record of a candidate's median against another's, in microseconds.
fn expected_comparison(base: f64, median: f64, schedule: Schedule) -> Json {
    let ratio = median / base;
    let words = if schedule == Schedule::Original {
        REPEATED
    } else if ratio < 1.0 - ROBUST_FRACTION {
        "observed_lower_median"
    } else if ratio > 1.0 + ROBUST_FRACTION {
        "selected_candidate_regression"
    } else {
        "within_5_percent_no_robust_gain_claim"
    };
    object([
        ("status", Json::from("valid_matched_pair")),
        ("default_p50_us", Json::Float(base)),
        ("candidate_p50_us", Json::Float(median)),
        ("candidate_over_default", Json::Float(ratio)),
        ("delta_percent", Json::Float(100.0 * (ratio - 1.0))),
        ("specialization_selected", Json::Bool(schedule == Schedule::Partitioned)),
        ("interpretation", Json::from(words)),
    ])
}
