//! `medians.csv`: one row for each case, with the medians as printed.

use std::collections::HashMap;

use super::decimal::Decimal;
use crate::fit::{Geometry, Interval, Schedule};
use crate::package::limits::MAX_MEDIAN_ROWS;
use crate::package::partition::CaseLabel;

/// The columns, in order: the case, the medians in microseconds per operation, and the policy's choice.
const HEADER: [&str; 7] = ["case", "default", "rows1", "rows2", "recheck", "torch", "selection"];

/// What stands in a cell without a median.
const MISSING: &str = "missing";

/// A column of medians.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// A native schedule.
    Native(Schedule),
    /// The default schedule, measured a second time.
    Recheck,
    /// The first Torch run.
    Torch,
}

impl Column {
    const ALL: [Column; 5] = [
        Column::Native(Schedule::Default),
        Column::Native(Schedule::Rows1),
        Column::Native(Schedule::Rows2),
        Column::Recheck,
        Column::Torch,
    ];

    /// The name in the header.
    pub(super) fn name(self) -> &'static str {
        match self {
            Column::Native(schedule) => schedule.name(),
            Column::Recheck => "recheck",
            Column::Torch => "torch",
        }
    }

    /// The column of that name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Whether a case may lack it: the fit needs every native schedule.
    fn may_be_missing(self) -> bool {
        !matches!(self, Column::Native(_))
    }
}

/// A case's row.
#[derive(Debug)]
pub(super) struct Row {
    /// Line in the file, from 1.
    pub(super) line: usize,
    /// The case.
    pub(super) label: CaseLabel,
    /// Its geometry; W is the power of two at or above N.
    pub(super) geometry: Geometry,
    /// The medians of the schedules, in the order of [`Schedule::ALL`], microseconds.
    pub(super) native: [Decimal; 3],
    recheck: Option<Decimal>,
    torch: Option<Decimal>,
    /// The schedule that the table says is selected.
    pub(super) selection: Schedule,
}

impl Row {
    /// A median as printed; `None` where it is missing.
    pub(super) fn printed(&self, column: Column) -> Option<Decimal> {
        match column {
            Column::Native(schedule) => Some(self.native[schedule as usize]),
            Column::Recheck => self.recheck,
            Column::Torch => self.torch,
        }
    }

    /// What a median may be, microseconds.
    pub(super) fn median(&self, column: Column) -> Option<Interval> {
        self.printed(column).map(Decimal::rounding)
    }
}

/// Something in the table that cannot be read.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) line: usize,
    /// The column, where it is one cell.
    pub(super) field: Option<&'static str>,
    pub(super) expected: String,
    pub(super) found: String,
}

/// The rows that could be read, and what could not.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    pub(super) problems: Vec<Problem>,
}

impl Table {
    /// Reads the bytes of `medians.csv`.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut table = Self::default();
        let mut lines = HashMap::new();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        let mut record = csv::StringRecord::new();
        let mut is_first = true;
        let at = |position: Option<&csv::Position>| {
            position.map_or(1, |position| usize::try_from(position.line()).unwrap_or(usize::MAX))
        };
        loop {
            match reader.read_record(&mut record) {
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => {
                    table.problem(at(error.position()), None, "a row of text", &error.to_string());
                    continue;
                }
            }
            let line = at(record.position());
            if std::mem::take(&mut is_first) {
                if record != HEADER[..] {
                    let found = record.iter().collect::<Vec<_>>().join(",");
                    table.problem(line, None, &HEADER.join(","), &found);
                    return table;
                }
            } else if record.len() != HEADER.len() {
                table.problem(line, None, &format!("{} cells", HEADER.len()), &record.len().to_string());
            } else if table.rows.len() == MAX_MEDIAN_ROWS {
                table.problem(line, None, &format!("at most {MAX_MEDIAN_ROWS} cases"), "more");
                return table;
            } else if let Some(row) = table.row(line, &record) {
                match lines.insert(row.label.to_string(), line) {
                    None => table.rows.push(row),
                    Some(first) => {
                        let expected = format!("a case other than that of line {first}");
                        table.problem(line, Some(HEADER[0]), &expected, &row.label.to_string());
                    }
                }
            }
        }
        if table.rows.is_empty() && table.problems.is_empty() {
            table.problem(1, None, "the header and at least one case", "none");
        }
        table
    }

    /// The row of a case.
    pub(super) fn find(&self, label: CaseLabel) -> Option<usize> {
        self.rows.iter().position(|row| row.label == label)
    }

    fn row(&mut self, line: usize, cells: &csv::StringRecord) -> Option<Row> {
        let cell = |column: usize| cells.get(column).unwrap_or_default();
        let label = CaseLabel::parse(cell(0));
        if label.is_none() {
            self.problem(line, Some(HEADER[0]), "a case such as reduce_sum 17x1024 fp16 B4", cell(0));
        }
        let [default, rows1, rows2, recheck, torch] =
            std::array::from_fn(|at| self.median(line, Column::ALL[at], cell(at + 1)));
        let selection = Schedule::from_name(cell(6));
        if selection.is_none() {
            self.problem(line, Some(HEADER[6]), "default, rows1 or rows2", cell(6));
        }
        let label = label?;
        Some(Row {
            line,
            label,
            geometry: Geometry {
                rows: label.rows,
                columns: label.columns,
                block: label.block,
                width: label.columns.next_power_of_two(),
            },
            native: [default??, rows1??, rows2??],
            recheck: recheck?,
            torch: torch?,
            selection: selection?,
        })
    }

    /// A cell with a median; the outer `None` where it is neither one nor missing.
    fn median(&mut self, line: usize, column: Column, cell: &str) -> Option<Option<Decimal>> {
        if cell == MISSING && column.may_be_missing() {
            return Some(None);
        }
        let starts_with_digit = cell.starts_with(|first: char| first.is_ascii_digit());
        let median = Decimal::parse(cell).filter(|median| starts_with_digit && median.value > 0.0);
        if median.is_none() {
            let or_missing = if column.may_be_missing() { ", or missing" } else { "" };
            let expected = format!("a positive decimal without sign and exponent{or_missing}");
            self.problem(line, Some(column.name()), &expected, cell);
        }
        median.map(Some)
    }

    fn problem(&mut self, line: usize, field: Option<&'static str>, expected: &str, found: &str) {
        let found = if found.is_empty() { "nothing" } else { found };
        self.problems.push(Problem { line, field, expected: expected.to_owned(), found: found.to_owned() });
    }
}
