//! The rows of `samples.csv`, all of which are at hand.

use std::collections::HashMap;

use super::report_cell;
use crate::audit::{Code, Place, Recorder};
use crate::fit::median::median;
use crate::package::json::python_float;
use crate::package::partition::sample_runs::shortest_number;
use crate::package::partition::samples::{COLUMNS, INDEX, MEDIAN, TIME};
use crate::package::partition::{SampleRow, SampleTable, Validation, files};

/// Checks the rows, and compares them with the runs where there are any.
pub(super) fn check(table: &SampleTable, validation: Option<&Validation<'_>>, recorder: &mut Recorder) {
    check_table(table, recorder);
    if let Some(validation) = validation {
        compare_rows(table, validation, recorder);
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
        let index = index.to_string();
        if row.cell(INDEX) == index {
            recorder.held();
        } else {
            report_cell(Code::SampleRows, (row.line, INDEX), &index, row.cell(INDEX), recorder);
        }
        for column in [TIME, MEDIAN] {
            let cell = row.cell(column);
            match shortest_number(cell) {
                Ok(_) => recorder.held(),
                Err(problem) => {
                    report_cell(Code::SampleValue, (row.line, column), &problem.to_string(), cell, recorder);
                }
            }
        }
        samples.extend(shortest_number(row.cell(TIME)));
    }
    let Some(median) = median(&samples).filter(|_| samples.len() == rows.len()) else { return };
    for row in rows {
        let cell = row.cell(MEDIAN);
        match shortest_number(cell) {
            Ok(found) if found.to_bits() == median.to_bits() => recorder.held(),
            Ok(_) => report_cell(Code::MedianMismatch, (row.line, MEDIAN), &python_float(median), cell, recorder),
            // Reported above.
            Err(_) => {}
        }
    }
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
        for (index, sample) in timing.samples.numbers().enumerate() {
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
        if column >= TIME && shortest_number(found).is_err() {
            continue;
        }
        report_cell(code, (row.line, column), expected, found, recorder);
    }
}
