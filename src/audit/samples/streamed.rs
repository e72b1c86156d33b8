//! The rows of a `samples.csv` that was read in a stream: compared run by run, by the hash of a run's samples. Only where
//! those differ the file is read again, to say in which rows.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use super::report_cell;
use crate::audit::evidence::StreamedSamples;
use crate::audit::{Code, Place, Recorder};
use crate::package::folder::FileError;
use crate::package::json::python_float;
use crate::package::limits::MAX_STREAMED_BYTES;
use crate::package::partition::sample_runs::{Fault, FaultKind, SampleRun, row_cells, samples_sha256, shortest_number};
use crate::package::partition::samples::{COLUMNS, INDEX, MEDIAN, TIME};
use crate::package::partition::{Timing, Validation, files};

/// Comparisons of a row with those around it: the index, two numbers, and the median.
const OWN_COMPARISONS: u64 = 4;
/// Comparisons of a row with its run: two statuses, the sample, and the median.
const RUN_COMPARISONS: u64 = 4;

/// Checks the rows, and compares them with the runs where there are any.
pub(super) fn check(samples: &StreamedSamples, validation: Option<&Validation<'_>>, recorder: &mut Recorder) {
    let runs = &samples.runs;
    runs.faults.iter().for_each(|fault| report_fault(fault, recorder));
    let unlisted = runs.fault_count - runs.faults.len() as u64;
    if unlisted > 0 {
        let found = format!("{unlisted} more rows with something wrong, which are counted and not listed");
        recorder.report(Code::CsvSyntax, files::SAMPLES, Place::whole_file(), "no such row", found);
    }
    let mut held = (OWN_COMPARISONS * runs.rows()).saturating_sub(runs.fault_count);
    for run in &runs.runs {
        let Some(median) = run.median else { continue };
        for (line, stated, rows) in &run.stated {
            if shortest_number(stated).is_ok_and(|stated| stated.to_bits() != median.to_bits()) {
                held = held.saturating_sub(*rows);
                report_cell(Code::MedianMismatch, (*line, MEDIAN), &python_float(median), stated, recorder);
            }
        }
    }
    recorder.held_many(held);
    if let Some(validation) = validation {
        Comparison { samples, recorder, again: None }.all(validation);
    }
}

fn report_fault(fault: &Fault, recorder: &mut Recorder) {
    let line = fault.line;
    match &fault.kind {
        FaultKind::Form(problem) => {
            let place = Place::text(line, 1);
            recorder.report(Code::CsvSyntax, files::SAMPLES, place, "the published columns", problem);
        }
        FaultKind::Index { expected, found } => {
            report_cell(Code::SampleRows, (line, INDEX), &expected.to_string(), found, recorder);
        }
        FaultKind::Number { column, problem, found } => {
            report_cell(Code::SampleValue, (line, *column), &problem.to_string(), found, recorder);
        }
    }
}

/// Rows against the runs that they are of.
struct Comparison<'c> {
    samples: &'c StreamedSamples,
    recorder: &'c mut Recorder,
    /// The file again, and the number of the line read last. Runs are looked at in its order, so that one pass serves all.
    again: Option<(BufReader<File>, usize)>,
}

/// A run as its rows should say it.
struct Expected<'v, 'd> {
    statuses: [&'d str; 2],
    timing: &'v Timing<'d>,
    /// How many runs come before it.
    position: usize,
    is_found: bool,
}

impl Comparison<'_> {
    fn all(&mut self, validation: &Validation<'_>) {
        let mut expected: HashMap<[&str; 3], Expected<'_, '_>> = HashMap::new();
        for (position, (record, run, route, timing)) in validation.timed().enumerate() {
            let statuses = [run.case_status, run.cohort_status];
            let wanted = Expected { statuses, timing, position, is_found: false };
            // A run that is there twice is reported by its case or cohort.
            expected.entry([record.case.id, run.cohort, route.name()]).or_insert(wanted);
        }
        let (mut last, mut in_order) = (None, true);
        for run in &self.samples.runs.runs {
            let names = [0, 1, 2].map(|at| run.names[at].as_str());
            match expected.get_mut(&names) {
                Some(wanted) if !wanted.is_found => {
                    wanted.is_found = true;
                    in_order &= last.is_none_or(|last| wanted.position > last);
                    last = Some(wanted.position);
                    self.run(run, wanted);
                }
                Some(_) => {
                    self.rows(run.line, "one row for each sample, those of a run together", "rows of the run again")
                }
                None => self.rows(run.line, "a sample that validation.json has", &names.join(",")),
            }
        }
        if !in_order {
            let expected = "rows in the order of cases, cohorts, routes and indexes";
            self.recorder.report(Code::SampleRows, files::SAMPLES, Place::whole_file(), expected, "another order");
        }
        let mut missing: Vec<_> =
            expected.iter().filter(|(_, wanted)| !wanted.is_found && !wanted.timing.samples.is_empty()).collect();
        missing.sort_by_key(|(_, wanted)| wanted.position);
        for (names, wanted) in missing {
            let rows = format_args!("{} rows {}", wanted.timing.samples.len(), names.join(","));
            self.recorder.report(Code::SampleRows, files::SAMPLES, Place::whole_file(), rows, "none");
        }
    }

    fn rows(&mut self, line: usize, expected: &str, found: &str) {
        self.recorder.report(Code::SampleRows, files::SAMPLES, Place::cell(line, COLUMNS[0]), expected, found);
    }

    fn run(&mut self, run: &SampleRun, wanted: &Expected<'_, '_>) {
        let samples = wanted.timing.samples;
        if run.rows != samples.len() as u64 {
            let (expected, found) = (format!("{} rows of the run", samples.len()), format!("{} rows", run.rows));
            self.rows(run.line, &expected, &found);
        }
        let mut held = RUN_COMPARISONS * run.rows.min(samples.len() as u64);
        for (at, status) in wanted.statuses.into_iter().enumerate() {
            if run.names[3 + at] != status {
                held = held.saturating_sub(run.rows);
                report_cell(Code::StatusMismatch, (run.line, 3 + at), status, &run.names[3 + at], self.recorder);
            }
        }
        let p50 = python_float(wanted.timing.p50);
        for (line, stated, rows) in &run.stated {
            // What is no number at all was reported already.
            if *stated != p50 && shortest_number(stated).is_ok() {
                held = held.saturating_sub(*rows);
                report_cell(Code::SampleMismatch, (*line, MEDIAN), &p50, stated, self.recorder);
            }
        }
        if run.sha256 != Some(samples_sha256(samples.numbers())) {
            let before = held;
            match self.differing(run, wanted.timing) {
                Ok(wrong) => held = held.saturating_sub(wrong),
                Err(error) => {
                    let place = Place::whole_file();
                    let expected = "the same bytes as a moment before";
                    self.recorder.report(Code::UnreadableFile, files::SAMPLES, place, expected, error);
                }
            }
            // The hashes differ: a sample does, or one is no number, or one is missing.
            if held == before && run.rows == samples.len() as u64 && run.sha256.is_some() {
                let expected = "the same bytes as a moment before";
                self.rows(run.line, expected, "rows that changed while they were read");
            }
        }
        self.recorder.held_many(held);
    }

    /// Reports the rows whose sample is not the run's; gives back how many.
    fn differing(&mut self, run: &SampleRun, timing: &Timing<'_>) -> Result<u64, FileError> {
        let (reader, number) = match &mut self.again {
            Some(again) => again,
            again => {
                let (file, _) = self.samples.folder.open(files::SAMPLES, MAX_STREAMED_BYTES)?;
                again.insert((BufReader::with_capacity(1 << 20, file), 0))
            }
        };
        let mut line = Vec::new();
        let (mut rows, mut wrong) = (0, 0);
        while rows < run.rows {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            *number += 1;
            if *number < run.line {
                continue;
            }
            // A row that cannot be read, or whose index is none, was reported.
            let Some((_, [index, cell, _])) = row_cells(&line).filter(|(names, _)| *names == run.names) else {
                continue;
            };
            rows += 1;
            let index = index.parse().unwrap_or(usize::MAX);
            if let (Some(expected), Ok(found)) = (timing.samples.number(index), shortest_number(&cell))
                && found.to_bits() != expected.to_bits()
            {
                wrong += 1;
                report_cell(Code::SampleMismatch, (*number, TIME), &python_float(expected), &cell, self.recorder);
            }
        }
        Ok(wrong)
    }
}
