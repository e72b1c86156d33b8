//! Samples: `samples.csv` against `validation.json` bit for bit, indexes, statuses, medians, and stated counts.

use std::collections::{HashMap, HashSet};

use super::evidence::{Options, PartitionEvidence};
use super::{CheckReport, Code, Family, Place, Recorder};
use crate::fit::median::median;
use crate::package::json::{Json, python_float};
use crate::package::partition::samples::{COLUMNS, INDEX, MEDIAN, TIME};
use crate::package::partition::{RETEST, Route, SampleRow, SampleTable, Validation, files};

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
        Ok(table) => {
            check_table(table, &mut recorder);
            if let Ok(validation) = package.validation() {
                compare_rows(table, validation, &mut recorder);
            }
        }
        Err(reason) => missing.push(reason.clone()),
    }
    if missing.is_empty() { recorder.finish() } else { recorder.not_run(missing.join("; ")) }
}

fn check_medians(validation: &Validation<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    for (record, run, route, timing) in validation.timed() {
        for (value, &sample) in timing.sample_values.iter().zip(&timing.samples) {
            recorder.require(
                sample.is_finite() && sample > 0.0 && matches!(value, Json::Float(_)),
                Code::SampleValue,
                document,
                value,
                "a positive finite float",
                super::show(value),
            );
        }
        match median(&timing.samples) {
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

/// What can be said of the table alone: numbers, indexes, one median for each run that is its samples'.
fn check_table(table: &SampleTable, recorder: &mut Recorder) {
    for (line, problem) in &table.problems {
        recorder.report(Code::CsvSyntax, files::SAMPLES, Place::text(*line, 1), "the published columns", problem);
    }
    let mut at = 0;
    while at < table.rows.len() {
        let run = table.rows[at].run();
        let length = table.rows[at..].iter().take_while(|row| row.run() == run).count();
        check_run(&table.rows[at..at + length], recorder);
        at += length;
    }
}

fn check_run(rows: &[SampleRow], recorder: &mut Recorder) {
    let mut samples = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let cell = |column: usize| Place::cell(row.line, COLUMNS[column]);
        if row.cell(INDEX) == index.to_string() {
            recorder.held();
        } else {
            recorder.report(Code::SampleRows, files::SAMPLES, cell(INDEX), index, quoted(row.cell(INDEX)));
        }
        for column in [TIME, MEDIAN] {
            match number(row.cell(column)) {
                Ok(_) => recorder.held(),
                Err(problem) => {
                    recorder.report(Code::SampleValue, files::SAMPLES, cell(column), problem, quoted(row.cell(column)));
                }
            }
        }
        samples.extend(number(row.cell(TIME)));
    }
    let Some(median) = median(&samples).filter(|_| samples.len() == rows.len()) else { return };
    for row in rows {
        if let Ok(found) = number(row.cell(MEDIAN)) {
            if found.to_bits() == median.to_bits() {
                recorder.held();
            } else {
                let place = Place::cell(row.line, COLUMNS[MEDIAN]);
                recorder.report(
                    Code::MedianMismatch,
                    files::SAMPLES,
                    place,
                    python_float(median),
                    quoted(row.cell(MEDIAN)),
                );
                recorder.add_distance(&Json::Float(median), &Json::Float(found));
            }
        }
    }
}

/// A cell's time, or what it should have been.
fn number(cell: &str) -> Result<f64, &'static str> {
    match cell.parse::<f64>() {
        Ok(value) if !value.is_finite() || value <= 0.0 => Err("a positive finite number"),
        Ok(value) if python_float(value) == cell => Ok(value),
        Ok(_) => Err("a number in its shortest form"),
        Err(_) => Err("a number"),
    }
}

fn quoted(cell: &str) -> String {
    format!("`{cell}`")
}

/// Case, cohort and route of a row, and its sample index as it stands in the file.
type RowKey<'t> = ([&'t str; 3], &'t str);

fn compare_rows(table: &SampleTable, validation: &Validation<'_>, recorder: &mut Recorder) {
    let mut by_key: HashMap<RowKey<'_>, Vec<(usize, &SampleRow)>> = HashMap::new();
    for (position, row) in table.rows.iter().enumerate() {
        by_key.entry((row.run(), row.cell(INDEX))).or_default().push((position, row));
    }
    let mut matched = vec![false; table.rows.len()];
    let mut last_position = None;
    let mut in_order = true;
    for (record, run, route, timing) in validation.timed() {
        // A retry belongs to no cohort; its status is its own.
        let statuses = [run.case_status, run.cohort_status];
        for (index, &sample) in timing.samples.iter().enumerate() {
            let index = index.to_string();
            let key = ([record.case.id, run.cohort, route.name()], index.as_str());
            let Some(rows) = by_key.get(&key) else {
                recorder.report(
                    Code::SampleRows,
                    files::SAMPLES,
                    Place::whole_file(),
                    format_args!("a row {},{},{} index {index}", record.case.id, run.cohort, route.name()),
                    "none",
                );
                continue;
            };
            rows.iter().for_each(|&(position, _)| matched[position] = true);
            for &(_, row) in &rows[1..] {
                let place = Place::cell(row.line, COLUMNS[INDEX]);
                recorder.report(Code::SampleRows, files::SAMPLES, place, "one row for each sample", "the row again");
            }
            let (position, row) = rows[0];
            in_order &= last_position.is_none_or(|last| position > last);
            last_position = Some(position);
            compare_row(row, &python_float(sample), &python_float(timing.p50), statuses, recorder);
        }
    }
    if !in_order {
        recorder.report(
            Code::SampleRows,
            files::SAMPLES,
            Place::whole_file(),
            "rows in the order of cases, cohorts, routes and indexes",
            "another order",
        );
    }
    for (row, _) in table.rows.iter().zip(matched).filter(|(_, matched)| !matched) {
        let found = format!("{} index {}", row.run().join(","), row.cell(INDEX));
        let place = Place::cell(row.line, COLUMNS[0]);
        recorder.report(Code::SampleRows, files::SAMPLES, place, "a sample that validation.json has", found);
    }
}

fn compare_row(row: &SampleRow, sample: &str, p50: &str, statuses: [&str; 2], recorder: &mut Recorder) {
    for (code, column, expected) in [
        (Code::StatusMismatch, 3, statuses[0]),
        (Code::StatusMismatch, 4, statuses[1]),
        (Code::SampleMismatch, TIME, sample),
        (Code::SampleMismatch, MEDIAN, p50),
    ] {
        let found = row.cell(column);
        if found == expected {
            recorder.held();
            continue;
        }
        // A cell that is no number at all was reported already.
        if column >= TIME && number(found).is_err() {
            continue;
        }
        recorder.report(code, files::SAMPLES, Place::cell(row.line, COLUMNS[column]), expected, quoted(found));
        if let (Ok(expected), Ok(found)) = (expected.parse(), found.parse()) {
            recorder.add_distance(&Json::Float(expected), &Json::Float(found));
        }
    }
}
