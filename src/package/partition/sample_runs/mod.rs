//! A large `samples.csv`, read in a stream: what its rows say run by run, without the rows being kept.
//!
//! Blocks of whole lines are read one after the other, hashed, and taken apart side by side; what neighbours have of the
//! same run is put together in order. Kept are the samples of the run that is being read, and of all others what they come to.

mod block;
mod merge;
mod number;

use std::io::{self, Read};

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::package::digest::{Digest, Hash};
use crate::package::limits::MAX_LINE_BYTES;
pub use number::{Malformed, shortest_number};

/// Bytes of a block, which is cut after its last line feed.
const BLOCK_BYTES: usize = 1 << 20;

/// Rows that something is wrong with, of which more are only counted.
pub const LISTED_FAULTS: usize = 10_000;

/// What the rows of a file say.
#[derive(Debug, Default)]
pub struct SampleRuns {
    /// The runs, in the order of the file.
    pub runs: Vec<SampleRun>,
    /// Rows that something is wrong with, in the order of the file, at most [`LISTED_FAULTS`].
    pub faults: Vec<Fault>,
    /// Number of all such rows.
    pub fault_count: u64,
}

/// Rows of one run that follow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleRun {
    /// Line of the first row, from 1.
    pub line: usize,
    /// Case, cohort, route, and the original statuses of case and cohort.
    pub names: [String; 5],
    /// Number of rows with as many cells as there are columns.
    pub rows: u64,
    /// The true median of the samples; `None` where one is no number.
    pub median: Option<f64>,
    /// Each text that stands for the median, with the line and the number of rows from there on that have it.
    pub stated: Vec<(usize, String, u64)>,
    /// [`samples_sha256`] of the samples; `None` where one is no number.
    pub sha256: Option<[u8; 32]>,
}

/// Something that is wrong with one row, whatever the other files say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Line, from 1.
    pub line: usize,
    /// What.
    pub kind: FaultKind,
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// It cannot be read as a row of this table.
    Form(String),
    /// Its index is not the number of rows before it in its run.
    Index {
        /// What it should be.
        expected: u64,
        /// What stands there.
        found: String,
    },
    /// A time is no number, or not in its shortest form.
    Number {
        /// Number of the column.
        column: usize,
        /// What is wrong with it.
        problem: Malformed,
        /// What stands there.
        found: String,
    },
}

/// SHA-256 of samples as little-endian binary64.
pub fn samples_sha256(samples: impl Iterator<Item = f64>) -> [u8; 32] {
    let mut hash = Sha256::new();
    samples.for_each(|sample| hash.update(sample.to_le_bytes()));
    hash.finalize().into()
}

/// The names, and index, sample and median, of one line; `None` for one that cannot be read as a row.
pub fn row_cells(line: &[u8]) -> Option<([String; 5], [String; 3])> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    block::cells(line.strip_suffix(b"\r").unwrap_or(line)).ok().map(|(names, numbers, _)| (names, numbers))
}

impl SampleRuns {
    /// Reads a table, of which no more than `limit` bytes, and hashes it on the way; `progress` is told how many bytes were.
    ///
    /// # Errors
    /// Those of the reader, and `FileTooLarge` when there are more than `limit` bytes.
    pub fn read(reader: &mut dyn Read, limit: u64, progress: &dyn Fn(u64)) -> io::Result<(Digest, Self)> {
        let mut merged = merge::Merge::default();
        let mut hash = Hash::default();
        let mut bytes = 0;
        let side_by_side = 4 * rayon::current_num_threads();
        let mut rest = Vec::new();
        let mut is_first = true;
        loop {
            let mut blocks = Vec::with_capacity(side_by_side);
            while blocks.len() < side_by_side {
                let block = next_block(reader, &mut rest)?;
                bytes += block.len() as u64;
                progress(block.len() as u64);
                if bytes > limit {
                    return Err(io::Error::from(io::ErrorKind::FileTooLarge));
                }
                if block.is_empty() {
                    break;
                }
                blocks.push(block);
            }
            if blocks.is_empty() {
                break;
            }
            let ((), taken) = rayon::join(
                || blocks.iter().for_each(|block| hash.update(block)),
                || {
                    let numbered = blocks.par_iter().enumerate();
                    numbered.map(|(at, block)| block::take_apart(block, is_first && at == 0)).collect::<Vec<_>>()
                },
            );
            is_first = false;
            taken.into_iter().for_each(|block| merged.add(block));
        }
        Ok((hash.finish(), merged.finish()))
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.runs.iter().map(|run| run.rows).sum()
    }
}

/// The next whole lines; `rest` has what was read beyond them. Empty at the end.
fn next_block(reader: &mut dyn Read, rest: &mut Vec<u8>) -> io::Result<Vec<u8>> {
    let mut block = Vec::with_capacity(BLOCK_BYTES + rest.len());
    block.append(rest);
    loop {
        let before = block.len();
        reader.take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
        let is_end = block.len() == before;
        if let Some(end) = memchr::memrchr(b'\n', &block[before..]) {
            rest.extend_from_slice(&block[before + end + 1..]);
            block.truncate(before + end + 1);
            return Ok(block);
        }
        if is_end {
            return Ok(block);
        }
        if block.len() > MAX_LINE_BYTES + BLOCK_BYTES {
            return Err(io::Error::other(format!("a line is longer than {MAX_LINE_BYTES} bytes")));
        }
    }
}
