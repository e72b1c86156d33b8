//! Identities of devices in a table: under the name of a column, where nothing beside them says what they are.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::identities::{is_bare, is_identity, is_of_devices, names_identity};
use super::rules::compiled;

/// What may stand between the cells of a row.
const BETWEEN: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The columns of a table that hold identities.
struct Header {
    between: u8,
    columns: Vec<usize>,
}

/// The places of bare UUIDs in columns that are called so, up to the next empty line.
pub(super) fn identities(text: &str) -> Vec<Range<usize>> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| compiled("(?i-u:uuid)"));
    let mut found = Vec::new();
    if !text.contains('\n') {
        return found;
    }
    let Some(first) = NAME.as_ref().and_then(|name| name.find(text)) else { return found };
    let (mut at, mut header): (usize, Option<Header>) =
        (text[..first.start()].rfind('\n').map_or(0, |end| end + 1), None);
    for line in text[at..].split_inclusive('\n') {
        if line.trim().is_empty() {
            header = None;
        } else if let Some(new) = NAME.as_ref().filter(|name| name.is_match(line)).and_then(|_| header_of(line)) {
            header = Some(new);
        } else if let Some(header) = &header {
            let cells = cells(line, header.between).enumerate().filter(|(column, _)| header.columns.contains(column));
            let identities = cells.filter(|(_, cell)| is_identity(&line[cell.clone()]));
            found.extend(identities.map(|(_, cell)| at + cell.start..at + cell.end));
        }
        at += line.len();
    }
    found
}

fn header_of(line: &str) -> Option<Header> {
    BETWEEN.iter().find_map(|&between| {
        let names = || cells(line, between).map(|cell| &line[cell]);
        let has_bare = names().any(is_bare) && is_of_devices(names());
        let named = names().enumerate().filter(|(_, name)| names_identity(name) || (has_bare && is_bare(name)));
        let columns: Vec<usize> = named.map(|(column, _)| column).collect();
        (!columns.is_empty()).then_some(Header { between, columns })
    })
}

/// The cells of a row without blanks and quotes around them.
fn cells(line: &str, between: u8) -> impl Iterator<Item = Range<usize>> {
    let (mut start, mut is_quoted) = (0, false);
    let ends = line.bytes().enumerate().map(move |(at, byte)| {
        is_quoted ^= byte == b'"';
        (at, byte == between && !is_quoted)
    });
    let ends = ends.filter(|(_, is_end)| *is_end).map(|(at, _)| at).chain([line.len()]);
    ends.map(move |end| {
        let cell = &line[start..end];
        let is_around = |symbol: char| symbol.is_whitespace() || matches!(symbol, '"' | '\'' | '`');
        let inner = cell.trim_start_matches(is_around);
        let begin = end - inner.len();
        start = end + 1;
        begin..begin + inner.trim_end_matches(is_around).len()
    })
}
