//! Samples: `samples.csv` against `validation.json` bit for bit, indexes, statuses, medians, and stated counts.

mod rows;
mod streamed;

use std::collections::HashSet;

use super::evidence::{Options, PartitionEvidence, Samples};
use super::{CheckReport, Code, Family, Place, Recorder};
use crate::fit::median::median_of;
use crate::package::json::{Document, Json, Series};
use crate::package::partition::samples::{COLUMNS, TIME};
use crate::package::partition::{RETEST, Route, Validation, files};

/// Runs the family.
pub(super) fn check(package: &PartitionEvidence<'_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Samples, options.tolerance);
    let mut missing = Vec::new();
    match package.validation() {
        Ok(validation) => {
            check_medians(validation, &mut recorder);
            check_counts(validation, &mut recorder);
        }
        Err(reason) => missing.push(reason),
    }
    match &package.samples {
        Ok(Samples::Table(table)) => rows::check(table, package.validation().ok(), &mut recorder),
        Ok(Samples::Streamed(samples)) => streamed::check(samples, package.validation().ok(), &mut recorder),
        Err(reason) => missing.push(reason.clone()),
    }
    if missing.is_empty() { recorder.finish() } else { recorder.not_run(missing.join("; ")) }
}

fn check_medians(validation: &Validation<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    for (record, run, route, timing) in validation.timed() {
        sample_values(recorder, document, timing.samples);
        match median_of(timing.samples.numbers()) {
            Some(median) => {
                recorder.equal_float(Code::MedianMismatch, document, timing.p50_at, median);
            }
            None => recorder.report_at(
                Code::SampleRows,
                document,
                timing.p50_at,
                "at least one sample",
                format_args!("none for {} {} {}", record.case.id, run.cohort, route.name()),
            ),
        }
    }
}

/// Samples are times.
pub(super) fn sample_values(recorder: &mut Recorder, document: &Document, samples: Series<'_>) {
    for (index, sample) in samples.numbers().enumerate() {
        let is_time = sample.is_finite() && sample > 0.0 && samples.is_float(index);
        recorder.require_item(is_time, Code::SampleValue, document, (samples, index), "a positive finite float");
    }
}

/// Reports a cell of the table, and how far apart two times are.
fn report_cell(code: Code, (line, column): (usize, usize), expected: &str, found: &str, recorder: &mut Recorder) {
    let place = Place::cell(line, COLUMNS[column]);
    recorder.report(code, files::SAMPLES, place, expected, format_args!("`{found}`"));
    if let (Ok(expected), Ok(found)) = (expected.parse(), found.parse())
        && column >= TIME
    {
        recorder.add_distance(&Json::Float(expected), &Json::Float(found));
    }
}

/// Counts that the package states about itself, and the cases that it repeats.
fn check_counts(validation: &Validation<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    let root = document.root();
    let ids = validation.cases.iter().map(|record| (record.case.at, "id", record.case.id));
    let names = validation.cohorts.iter().map(|cohort| (cohort.at, "name", cohort.name));
    let mut seen = HashSet::new();
    for (record, member, id) in ids.chain(names) {
        let at = record.get(member).unwrap_or(record);
        let expected = format_args!("{member}: one of its own");
        recorder.require(seen.insert((member, id)), Code::CountMismatch, document, at, expected, id);
    }
    let Some(stated) = root.get("native_revalidation") else { return };
    let main_native =
        validation.timed().filter(|(_, run, route, _)| *route == Route::Native && run.cohort != RETEST).count();
    for (member, counted) in [("cases", validation.cases.len()), ("native_executions", main_native)] {
        match stated.get(member) {
            Some(value) => {
                recorder.equal(Code::CountMismatch, document, value, &Json::from(counted));
            }
            None => recorder.report_at(
                Code::CountMismatch,
                document,
                stated,
                format_args!("{member}: {counted}"),
                "nothing",
            ),
        }
    }
}
