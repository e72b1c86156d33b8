//! Blocks put together in order.

use super::block::{Block, Part};
use super::{Fault, FaultKind, LISTED_FAULTS, SampleRun, SampleRuns, samples_sha256};
use crate::fit::median::median_of;
use crate::package::json::whole_number;
use crate::package::limits::MAX_SAMPLE_RUNS;

/// What was put together so far.
#[derive(Debug, Default)]
pub(super) struct Merge {
    /// Lines in the blocks before.
    lines: usize,
    is_begun: bool,
    /// The run that the next block may go on with, and its samples.
    open: Option<(SampleRun, Vec<f64>)>,
    found: SampleRuns,
}

impl Merge {
    /// Adds the block that follows.
    pub(super) fn add(&mut self, block: Block) {
        self.is_begun = true;
        let before = self.lines + 1;
        block.faults.into_iter().for_each(|fault| self.fault(Fault { line: before + fault.line, ..fault }));
        block.parts.into_iter().for_each(|part| self.part(before, part));
        self.lines += block.lines;
    }

    fn part(&mut self, before: usize, part: Part) {
        if self.open.as_ref().is_none_or(|(run, _)| run.names != part.names) {
            self.close();
            let run = SampleRun {
                line: before + part.line,
                names: part.names,
                rows: 0,
                median: None,
                stated: Vec::new(),
                sha256: None,
            };
            self.open = Some((run, Vec::new()));
        }
        let Some((run, samples)) = &mut self.open else { return };
        let expected = run.rows;
        let is_next = whole_number(&part.first_index) == Some(expected);
        run.rows += part.rows;
        samples.extend(part.samples);
        let mut unlisted = 0;
        for (line, text, rows) in part.stated {
            let is_full = run.stated.len() >= LISTED_FAULTS;
            match run.stated.last_mut() {
                Some((_, last, more)) if *last == text => *more += rows,
                // At most one of so many texts is the median; the others are wrong rows that are counted only.
                _ if is_full => unlisted += rows,
                _ => run.stated.push((before + line, text, rows)),
            }
        }
        self.found.fault_count += unlisted;
        if !is_next {
            let kind = FaultKind::Index { expected, found: part.first_index };
            self.fault(Fault { line: before + part.line, kind });
        }
    }

    fn close(&mut self) {
        let Some((mut run, samples)) = self.open.take() else { return };
        if samples.len() as u64 == run.rows {
            run.sha256 = Some(samples_sha256(samples.iter().copied()));
            run.median = median_of(samples.into_iter());
        }
        if self.found.runs.len() == MAX_SAMPLE_RUNS {
            let problem = format!("more than {MAX_SAMPLE_RUNS} runs, or rows of runs that are not together");
            self.fault(Fault { line: run.line, kind: FaultKind::Form(problem) });
            return;
        }
        self.found.runs.push(run);
    }

    fn fault(&mut self, fault: Fault) {
        self.found.fault_count += 1;
        if self.found.faults.len() < LISTED_FAULTS {
            self.found.faults.push(fault);
        }
    }

    /// Everything, after the last block.
    pub(super) fn finish(mut self) -> SampleRuns {
        self.close();
        if !self.is_begun {
            self.fault(Fault { line: 1, kind: FaultKind::Form("the file is empty".to_owned()) });
        }
        self.found.faults.sort_by_key(|fault| fault.line);
        self.found
    }
}
