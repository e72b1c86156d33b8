//! Recorded comparisons are the ratios of the medians beside them.

use crate::audit::{Code, Recorder, compare, show};
use crate::package::json::{Document, Json, object};
use crate::package::partition::{CaseRecord, DEFAULT, RECHECK, RETEST, Validation};

/// Medians closer than this fraction are called equal in words.
const ROBUST_FRACTION: f64 = 0.05;

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
            continue;
        };
        let Some(found) = comparisons.get(name) else {
            recorder.report_at(Code::Comparison, document, comparisons, format!("a comparison {name}"), "none");
            continue;
        };
        let partitioned = record.run(candidate).is_some_and(|run| run.requested_rows > 0);
        check_pair(document, found, base_median, median, partitioned, recorder);
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
    let retest = record.retest.and_then(|retest| retest.get("native_retest_vs_initial"));
    if let (Some(found), Some(base), Some(median)) =
        (retest, record.native_median(DEFAULT), record.native_median(RETEST))
    {
        check_pair(document, found, base, median, false, recorder);
    }
}

fn check_pair(document: &Document, found: &Json, base: f64, median: f64, partitioned: bool, recorder: &mut Recorder) {
    let expected = expected_comparison(base, median, partitioned);
    for (name, expected) in expected.as_object().unwrap_or_default() {
        match found.get(name) {
            Some(found) => compare(recorder, document, found, expected, &|_| Code::Comparison),
            None => recorder.report_at(Code::Comparison, document, found, name, "nothing"),
        }
    }
}

/// The record of a candidate's median against another's, in microseconds.
fn expected_comparison(base: f64, median: f64, partitioned: bool) -> Json {
    let ratio = median / base;
    let words = if !partitioned {
        "default_recheck"
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
        ("specialization_selected", Json::Bool(partitioned)),
        ("interpretation", Json::from(words)),
    ])
}
