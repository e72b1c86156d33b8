//! `samples.csv`: one row for each sample.

/// The columns, in order.
pub const COLUMNS: [&str; 8] = [
    "case",
    "cohort",
    "route",
    "original_case_status",
    "original_cohort_status",
    "sample_index",
    "event_us_per_op",
    "p50_us",
];

/// Number of the column with the sample index.
pub const INDEX: usize = 5;
/// Number of the column with the sample.
pub const TIME: usize = 6;
/// Number of the column with the median of the row's run.
pub const MEDIAN: usize = 7;

/// One row as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleRow {
    /// Line in the file, from 1.
    pub line: usize,
    /// The cells.
    pub cells: csv::StringRecord,
}

impl SampleRow {
    /// Text of a column.
    pub fn cell(&self, column: usize) -> &str {
        self.cells.get(column).unwrap_or_default()
    }

    /// Case, cohort and route.
    pub fn run(&self) -> [&str; 3] {
        [self.cell(0), self.cell(1), self.cell(2)]
    }
}

/// The rows that could be read, and what could not.
#[derive(Debug, Default)]
pub struct SampleTable {
    /// Good rows in the order of the file.
    pub rows: Vec<SampleRow>,
    /// Line, and what is wrong with it.
    pub problems: Vec<(usize, String)>,
}

impl SampleTable {
    /// Reads the bytes of `samples.csv`.
    pub fn read(bytes: &[u8]) -> Self {
        let mut table = Self::default();
        // The CSV reader would drop the mark in silence; to other readers it is a part of the first column's name.
        if bytes.starts_with("\u{feff}".as_bytes()) {
            table.problems.push((1, "the file starts with a byte order mark".to_owned()));
        }
        // Readers disagree on what these are; in a table of numbers nothing needs them.
        if let Some(line) = lone_return(bytes) {
            table.problems.push((line, "a carriage return that does not end a line".to_owned()));
        }
        let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let has_plain_header = first.strip_suffix(b"\r").unwrap_or(first) == COLUMNS.join(",").as_bytes();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        let mut record = csv::StringRecord::new();
        let mut is_first = true;
        loop {
            match reader.read_record(&mut record) {
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => {
                    let line = error.position().map_or(0, csv::Position::line);
                    table.problems.push((usize::try_from(line).unwrap_or(usize::MAX), error.to_string()));
                    // What cannot be read in place of the header is the header.
                    is_first = false;
                    continue;
                }
            }
            let line = record.position().map_or(0, |position| line_of(bytes, position));
            if is_first {
                is_first = false;
                if record != COLUMNS[..] || (!has_plain_header && table.problems.is_empty()) {
                    table.problems.push((line, format!("the header is not {}", COLUMNS.join(","))));
                }
            } else if record.iter().any(|cell| cell.contains(['\n', '\r'])) {
                table.problems.push((line, "a line break within a cell".to_owned()));
            } else if record.len() == COLUMNS.len() {
                table.rows.push(SampleRow { line, cells: record.clone() });
            } else {
                table.problems.push((line, format!("{} cells instead of {}", record.len(), COLUMNS.len())));
            }
        }
        if is_first {
            table.problems.push((1, "the file is empty".to_owned()));
        }
        table
    }
}

/// The line, from 1, of the first carriage return that no line feed follows.
fn lone_return(bytes: &[u8]) -> Option<usize> {
    let at = memchr::memchr_iter(b'\r', bytes).find(|at| bytes.get(at + 1) != Some(&b'\n'))?;
    Some(1 + memchr::memchr_iter(b'\n', &bytes[..at]).count())
}

/// The line, from 1, of a record. The reader's position is before the end of a CRLF and before blank lines.
fn line_of(bytes: &[u8], position: &csv::Position) -> usize {
    let begin = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let skipped = bytes.get(begin..).unwrap_or_default().iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let breaks = skipped.filter(|byte| **byte == b'\n').count();
    usize::try_from(position.line()).unwrap_or(usize::MAX).saturating_add(breaks)
}
