//! Whole lines of the table, taken apart on their own.

use super::number::shortest_number;
use super::{Fault, FaultKind};
use crate::package::json::whole_number;
use crate::package::limits::MAX_LINE_BYTES;
use crate::package::partition::samples::{COLUMNS, INDEX, MEDIAN, TIME};

/// What a block's lines say. Lines are counted from 0 within the block.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Number of lines.
    pub(super) lines: usize,
    /// Rows of one run that follow each other, in order.
    pub(super) parts: Vec<Part>,
    /// Rows that something is wrong with, whatever precedes the block.
    pub(super) faults: Vec<Fault>,
}

/// Rows of one run that follow each other within a block.
#[derive(Debug)]
pub(super) struct Part {
    /// Line of the first.
    pub(super) line: usize,
    /// Case, cohort, route and statuses.
    pub(super) names: [String; 5],
    /// Number of rows.
    pub(super) rows: u64,
    /// The first row's index, as it stands there.
    pub(super) first_index: String,
    /// The samples that are numbers.
    pub(super) samples: Vec<f64>,
    /// Each text for the median, with its line and number of rows.
    pub(super) stated: Vec<(usize, String, u64)>,
    /// Bytes of the names with their commas, where no cell is quoted: the next row of the run begins alike.
    prefix: Vec<u8>,
    /// The next row's index where all before it are in order.
    next_index: Option<u64>,
}

/// Takes a block apart; the first line of the first block is the header.
pub(super) fn take_apart(block: &[u8], is_first: bool) -> Block {
    let mut taken = Block::default();
    let mut at = 0;
    while at < block.len() {
        let end = memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |length| at + length);
        let line = &block[at..end];
        // A return that no line feed follows ends nothing, at the end of the file neither.
        let line = line.strip_suffix(b"\r").filter(|_| end < block.len()).unwrap_or(line);
        if is_first && at == 0 {
            taken.header(line);
        } else if !line.is_empty() {
            taken.line(line);
        }
        taken.lines += 1;
        at = end + 1;
    }
    taken
}

impl Block {
    fn header(&mut self, line: &[u8]) {
        let header = COLUMNS.join(",");
        if line != header.as_bytes() {
            let has_mark = line.starts_with("\u{feff}".as_bytes());
            let problem = if has_mark {
                "the file starts with a byte order mark".to_owned()
            } else {
                format!("the header is not {header}")
            };
            self.faults.push(Fault { line: 0, kind: FaultKind::Form(problem) });
        }
    }

    fn line(&mut self, line: &[u8]) {
        if let Some(part) = self.parts.last_mut()
            && let Some(rest) = line.strip_prefix(part.prefix.as_slice()).filter(|_| !part.prefix.is_empty())
            && let Some([index, time, median]) = three_cells(rest)
        {
            part.row(self.lines, [index, time, median], &mut self.faults);
            return;
        }
        match cells(line) {
            Ok((names, rest, prefix)) => {
                if self.parts.last().is_none_or(|part| part.names != names) {
                    self.parts.push(Part {
                        line: self.lines,
                        names,
                        rows: 0,
                        first_index: rest[0].clone(),
                        samples: Vec::new(),
                        stated: Vec::new(),
                        prefix,
                        next_index: None,
                    });
                }
                if let Some(part) = self.parts.last_mut() {
                    part.row(self.lines, rest.each_ref().map(String::as_str), &mut self.faults);
                }
            }
            Err(problem) => self.faults.push(Fault { line: self.lines, kind: FaultKind::Form(problem) }),
        }
    }
}

impl Part {
    fn row(&mut self, line: usize, [index, time, median]: [&str; 3], faults: &mut Vec<Fault>) {
        let number = whole_number(index);
        match self.next_index {
            Some(expected) if number != Some(expected) => {
                faults.push(Fault { line, kind: FaultKind::Index { expected, found: index.to_owned() } });
                self.next_index = Some(expected + 1);
            }
            // The first row's is judged where it is known what precedes the block.
            None if self.rows == 0 => self.next_index = number.map(|number| number.saturating_add(1)),
            next => self.next_index = next.map(|next| next.saturating_add(1)),
        }
        match shortest_number(time) {
            Ok(sample) => self.samples.push(sample),
            Err(problem) => {
                faults.push(Fault { line, kind: FaultKind::Number { column: TIME, problem, found: time.to_owned() } });
            }
        }
        match self.stated.last_mut() {
            Some((_, text, rows)) if text == median => *rows += 1,
            _ => {
                if let Err(problem) = shortest_number(median) {
                    let found = median.to_owned();
                    faults.push(Fault { line, kind: FaultKind::Number { column: MEDIAN, problem, found } });
                }
                self.stated.push((line, median.to_owned(), 1));
            }
        }
        self.rows += 1;
    }
}

/// Exactly three cells without quotes.
fn three_cells(line: &[u8]) -> Option<[&str; 3]> {
    if line.contains(&b'"') {
        return None;
    }
    let mut cells = std::str::from_utf8(line).ok()?.split(',');
    let found = [cells.next()?, cells.next()?, cells.next()?];
    cells.next().is_none().then_some(found)
}

/// Names, the three numbers, and the bytes of the names where no cell is quoted.
type Cells = ([String; 5], [String; 3], Vec<u8>);

/// A row's cells, whichever way they are quoted.
pub(super) fn cells(line: &[u8]) -> Result<Cells, String> {
    // What the CSV reader would take for the end of a row or of the file, or pass over, is none: a row is a line.
    if line.len() > MAX_LINE_BYTES {
        return Err(format!("a line is longer than {MAX_LINE_BYTES} bytes"));
    }
    if line.contains(&b'\r') {
        return Err("a carriage return within a line".to_owned());
    }
    if line.starts_with("\u{feff}".as_bytes()) {
        return Err("a byte order mark before the row".to_owned());
    }
    if line.iter().filter(|&&byte| byte == b'"').count() % 2 == 1 {
        return Err("a quotation mark that is not closed in its line".to_owned());
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line);
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) => {}
        Ok(false) => return Err("no cells".to_owned()),
        Err(error) => return Err(error.to_string()),
    }
    if record.len() != COLUMNS.len() {
        return Err(format!("{} cells instead of {}", record.len(), COLUMNS.len()));
    }
    let cell = |column: usize| record.get(column).unwrap_or_default().to_owned();
    let names = [0, 1, 2, 3, 4].map(cell);
    let plain = format!("{},", names.join(","));
    let prefix =
        if line.starts_with(plain.as_bytes()) && !line.contains(&b'"') { plain.into_bytes() } else { Vec::new() };
    Ok((names, [INDEX, TIME, MEDIAN].map(cell), prefix))
}
