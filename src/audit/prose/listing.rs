//! Tables that are no Markdown tables: of pipes within a code block, and of HTML. Only simple ones are read.

use super::markdown::{Table, Text};

/// A table, or something that looks like one.
#[derive(Debug)]
pub(super) enum Found {
    /// A table.
    Table(Table),
    /// Something that looks like a table and is none that is read.
    Unread,
}

/// The tables of pipes in a code block that starts at `offset` of the file.
pub(super) fn in_code(block: &str, offset: usize) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut lines = lines(block, offset).peekable();
    while let Some((header, at)) = lines.next() {
        if !header.contains('|') || !lines.peek().is_some_and(|(rule, _)| is_rule(rule)) {
            continue;
        }
        lines.next();
        let mut table = Table { rows: vec![cells(header, at)], starts: vec![at] };
        while let Some((row, at)) = lines.next_if(|(row, _)| row.contains('|')) {
            table.rows.push(cells(row, at));
            table.starts.push(at);
        }
        tables.push(table);
    }
    tables
}

/// The lines of a text with where they start in the file.
fn lines(text: &str, offset: usize) -> impl Iterator<Item = (&str, usize)> {
    text.split_inclusive('\n').scan(offset, |at, line| {
        let start = *at;
        *at += line.len();
        Some((line.trim_end_matches(['\n', '\r']), start))
    })
}

/// The line between header and rows: `|---|---:|`.
fn is_rule(line: &str) -> bool {
    line.contains('|')
        && line.contains('-')
        && line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t' | b'>' | b'+'))
}

fn cells(line: &str, start: usize) -> Vec<Text> {
    let first = line.find('|').filter(|&first| line[..first].trim_matches([' ', '\t', '>']).is_empty());
    let from = first.map_or(0, |first| first + 1);
    let body = line[from..].trim_end();
    let body = body.strip_suffix('|').unwrap_or(body);
    let mut at = start + from;
    let cell = |cell: &str| {
        let mut text = Text::default();
        text.push(cell.trim(), at + cell.len() - cell.trim_start().len());
        at += cell.len() + 1;
        text
    };
    body.split('|').map(cell).collect()
}

/// The tables of a block of HTML that starts at `offset` of the file.
pub(super) fn in_html(html: &str, offset: usize) -> Vec<Found> {
    let mut found = Vec::new();
    let mut reader = HtmlTable::default();
    let mut at = 0;
    while let Some(rest) = html.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(comment) = rest.strip_prefix("<!--") {
            at += 4 + comment.find("-->").map_or(comment.len(), |end| end + 3);
        } else if rest.starts_with('<') {
            let length = rest.find('>').map_or(rest.len(), |end| end + 1);
            found.extend(reader.tag(&rest[1..length], offset + at));
            at += length;
        } else {
            let length = rest.find('<').unwrap_or(rest.len());
            reader.text(&rest[..length], offset + at);
            at += length;
        }
    }
    found.extend(reader.is_open.then_some(Found::Unread));
    found
}

/// A table that is being read.
#[derive(Debug, Default)]
struct HtmlTable {
    is_open: bool,
    is_odd: bool,
    table: Table,
    in_cell: bool,
}

impl HtmlTable {
    /// Takes a tag without its `<`; what has ended with it.
    fn tag(&mut self, tag: &str, at: usize) -> Option<Found> {
        let is_end = tag.starts_with('/');
        let name = tag.trim_start_matches('/');
        let end = name.find(|next: char| !next.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = name[..end].to_ascii_lowercase();
        match (name.as_str(), is_end) {
            ("table", false) if self.is_open => self.is_odd = true,
            ("table", false) => *self = Self { is_open: true, ..Self::default() },
            ("table", true) => return self.ended(),
            ("tr", false) => {
                self.in_cell = false;
                self.table.rows.push(Vec::new());
                self.table.starts.push(at);
            }
            ("td" | "th", false) => {
                self.is_odd |= tag.contains("span") || self.table.rows.is_empty();
                if let Some(row) = self.table.rows.last_mut() {
                    row.push(Text::default());
                    self.in_cell = true;
                }
            }
            ("td" | "th" | "tr", true) => self.in_cell = false,
            ("br", _) => self.text(" ", at),
            _ => {}
        }
        None
    }

    fn ended(&mut self) -> Option<Found> {
        let Self { is_open, is_odd, table, .. } = std::mem::take(self);
        is_open.then_some(if is_odd { Found::Unread } else { Found::Table(table) })
    }

    fn text(&mut self, text: &str, at: usize) {
        let Some(cell) = self.table.rows.last_mut().and_then(|row| row.last_mut()).filter(|_| self.in_cell) else {
            return;
        };
        let mut from = 0;
        while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
            let (shown, length) = match entity(rest) {
                Some((shown, length)) => (shown.to_string(), length),
                None => {
                    let mut marks = rest.char_indices().skip(1).filter(|&(_, next)| next == '&');
                    let next = marks.next().map_or(rest.len(), |(next, _)| next);
                    (rest[..next].replace(['\n', '\r', '\t'], " "), next)
                }
            };
            // Space at the start of a cell is not shown.
            let is_shown = !(cell.text.is_empty() && shown.trim().is_empty());
            if is_shown {
                let lead = if cell.text.is_empty() { shown.len() - shown.trim_start().len() } else { 0 };
                cell.push(&shown[lead..], at + from + lead);
            }
            from += length;
        }
    }
}

/// The character that an entity at the start of a text stands for, and the entity's length.
fn entity(text: &str) -> Option<(char, usize)> {
    /// Longest name that is looked for.
    const LONGEST: usize = 8;
    let behind = text.strip_prefix('&')?;
    let end = behind.bytes().take(LONGEST + 1).position(|byte| byte == b';')?;
    let name = &behind[..end];
    let number = name.strip_prefix('#').map(|number| match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => number.parse().ok(),
    });
    let shown = match (name, number) {
        (_, Some(number)) => char::from_u32(number?)?,
        ("amp", _) => '&',
        ("lt", _) => '<',
        ("gt", _) => '>',
        ("quot", _) => '"',
        ("nbsp", _) => ' ',
        ("times", _) => '\u{d7}',
        ("micro", _) => '\u{b5}',
        ("minus", _) => '\u{2212}',
        ("period", _) => '.',
        _ => return None,
    };
    Some((shown, name.len() + 2))
}
