//! How people name a case in a table or a sentence: `reduce_sum 17x1024 fp16 B4`.

use super::case::{Case, Operation, Storage};

/// A case as named for people; its geometry lacks only the padded width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseLabel {
    /// What is computed.
    pub operation: Operation,
    /// R.
    pub rows: u64,
    /// N.
    pub columns: u64,
    /// How values are stored.
    pub storage: Storage,
    /// Original rows per program.
    pub block: u64,
}

impl CaseLabel {
    /// Reads `OPERATION RxN STORAGE Bn`; `None` for other texts.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let operation = Operation::from_name(words.next()?)?;
        let (rows, columns) = words.next()?.split_once('x')?;
        let storage = Storage::from_name(words.next()?)?;
        let block = words.next()?.strip_prefix('B')?;
        let label = Self { operation, rows: size(rows)?, columns: size(columns)?, storage, block: size(block)? };
        words.next().is_none().then_some(label)
    }

    /// The label of a case.
    pub fn of(case: &Case<'_>) -> Self {
        Self {
            operation: case.operation,
            rows: case.geometry.rows,
            columns: case.geometry.columns,
            storage: case.storage,
            block: case.geometry.block,
        }
    }
}

impl std::fmt::Display for CaseLabel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { operation, rows, columns, storage, block } = self;
        write!(formatter, "{} {rows}x{columns} {} B{block}", operation.name(), storage.name())
    }
}

/// A positive size within the limits of case records.
fn size(text: &str) -> Option<u64> {
    text.parse().ok().filter(|size| (1..=1 << 28).contains(size))
}
