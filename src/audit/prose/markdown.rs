//! A README as plain texts: paragraphs, headings, list items and tables, each character with its place in the file.

use std::ops::Range;

use super::listing::{self, Found};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// The text of one block or table cell: inline code and emphasis are text, link targets, images and HTML are not.
#[derive(Debug, Default, Clone)]
pub(super) struct Text {
    /// What a reader sees.
    pub text: String,
    /// Ranges of `text` that are inline code.
    pub code: Vec<Range<usize>>,
    /// Whether the block is a heading.
    pub is_heading: bool,
    /// Whether it is a table's row; what its cells count stands in the header, not here.
    pub is_row: bool,
    /// Where parts of `text` start, and where they come from in the file; ascending.
    segments: Vec<(usize, usize)>,
}

impl Text {
    /// Where the character at `at` of the text stands in the file, in bytes.
    pub(super) fn source(&self, at: usize) -> usize {
        let next = self.segments.partition_point(|&(start, _)| start <= at);
        next.checked_sub(1).map_or(0, |index| {
            let (start, source) = self.segments[index];
            source + (at - start)
        })
    }

    /// Adds another text as one more cell of a row.
    fn append(&mut self, other: &Text) {
        if !self.text.is_empty() {
            self.text.push_str(" | ");
        }
        let shift = self.text.len();
        self.text.push_str(&other.text);
        self.code.extend(other.code.iter().map(|range| range.start + shift..range.end + shift));
        self.segments.extend(other.segments.iter().map(|&(start, source)| (start + shift, source)));
    }

    /// The cells of a table's row as one text, parted by `|`.
    pub(super) fn of_row<'c>(cells: impl Iterator<Item = &'c Text>) -> Self {
        let mut row = Self { is_row: true, ..Self::default() };
        cells.filter(|cell| !cell.text.is_empty()).for_each(|cell| row.append(cell));
        row
    }

    /// Adds what stands at `source` in the file.
    pub(super) fn push(&mut self, text: &str, source: usize) {
        self.segments.push((self.text.len(), source));
        self.text.push_str(text);
    }
}

/// A table; the first row is its header.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// All rows, the header first.
    pub rows: Vec<Vec<Text>>,
    /// Where each row starts in the file, in bytes.
    pub starts: Vec<usize>,
}

impl Table {
    /// The same rows below a header without words.
    pub(super) fn with_empty_header(&self) -> Self {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let header = std::iter::repeat_with(Text::default).take(columns).collect();
        let start = self.starts.first().copied().unwrap_or(0);
        Self {
            rows: std::iter::once(header).chain(self.rows.iter().cloned()).collect(),
            starts: std::iter::once(start).chain(self.starts.iter().copied()).collect(),
        }
    }
}

/// A part of the README.
#[derive(Debug)]
pub(super) enum Block {
    /// A paragraph, heading or list item.
    Text(Text),
    /// A table.
    Table(Table),
    /// A table of HTML.
    Html(Found),
    /// A code block: where it stands in the file.
    Code(Range<usize>),
}

/// The blocks of a Markdown file, in order. Of HTML only tables are read.
pub(super) fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut current = Text::default();
    let mut table: Option<Table> = None;
    let mut skipped = 0_usize;
    for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if skipped > 0 || is_skipped(&tag) {
                    if skipped == 0 && matches!(tag, Tag::CodeBlock(_) | Tag::HtmlBlock) {
                        flush(&mut current, table.is_some(), &mut blocks);
                        match tag {
                            Tag::CodeBlock(_) => blocks.push(Block::Code(range)),
                            _ => blocks.extend(
                                listing::in_html(&markdown[range.clone()], range.start).into_iter().map(Block::Html),
                            ),
                        }
                    }
                    skipped += 1;
                    continue;
                }
                if !is_inline(&tag.to_end()) {
                    flush(&mut current, table.is_some(), &mut blocks);
                }
                match tag {
                    Tag::Heading { .. } => current.is_heading = true,
                    Tag::Table(_) => table = Some(Table::default()),
                    Tag::TableHead | Tag::TableRow => {
                        if let Some(table) = &mut table {
                            table.rows.push(Vec::new());
                            table.starts.push(range.start);
                        }
                    }
                    _ => {}
                }
            }
            Event::End(_) if skipped > 0 => skipped -= 1,
            Event::End(TagEnd::TableCell) => {
                let cell = std::mem::take(&mut current);
                if let Some(row) = table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            Event::End(TagEnd::Table) => blocks.extend(table.take().map(Block::Table)),
            Event::End(tag) if !is_inline(&tag) => flush(&mut current, table.is_some(), &mut blocks),
            _ if skipped > 0 => {}
            Event::Text(text) => current.push(&text, range.start),
            Event::Code(code) => {
                let start = current.text.len();
                let shift = markdown[range.clone()].find(&*code).unwrap_or(0);
                current.push(&code, range.start + shift);
                current.code.push(start..current.text.len());
            }
            Event::InlineHtml(tag) => {
                // A footnote's mark is no digit of the number before it.
                let tag = tag.to_ascii_lowercase();
                let shown = match tag.as_str() {
                    "<sup>" => " [",
                    "</sup>" => "]",
                    _ if tag.starts_with("<br") => " ",
                    _ => "",
                };
                if !shown.is_empty() {
                    current.push(shown, range.start);
                }
            }
            Event::SoftBreak | Event::HardBreak => current.push(" ", range.start),
            _ => {}
        }
    }
    flush(&mut current, false, &mut blocks);
    blocks
}

fn flush(current: &mut Text, in_table: bool, blocks: &mut Vec<Block>) {
    let text = std::mem::take(current);
    if !in_table && !text.text.is_empty() {
        blocks.push(Block::Text(text));
    }
}

/// What holds no words of the author's: code to be typed, pictures, addresses.
fn is_skipped(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::MetadataBlock(_)
            | Tag::Image { .. }
            | Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. }
    )
}

fn is_inline(tag: &TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link)
}

/// Turns byte offsets into lines and columns. Within a line offsets mostly ascend, so that a whole file costs one pass.
#[derive(Debug)]
pub(super) struct Locator<'t> {
    text: &'t str,
    line_starts: Vec<usize>,
    /// Where the last question ended: line from 0, byte, column.
    last: (usize, usize, usize),
}

impl<'t> Locator<'t> {
    /// At the start of `text`.
    pub(super) fn new(text: &'t str) -> Self {
        let starts = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        Self { text, line_starts: std::iter::once(0).chain(starts).collect(), last: (0, 0, 1) }
    }

    /// Line and column (both from 1, columns in characters) of a byte offset.
    pub(super) fn position(&mut self, offset: usize) -> (usize, usize) {
        // A NUL or an entity has another length in the file than in the text, so that an offset may miss by some bytes.
        let offset = (0..=offset.min(self.text.len())).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0);
        let line = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let (at, column) = match self.last {
            (last_line, at, column) if last_line == line && at <= offset => (at, column),
            _ => (self.line_starts[line], 1),
        };
        let column = column + self.text[at..].char_indices().take_while(|&(index, _)| at + index < offset).count();
        self.last = (line, offset, column);
        (line + 1, column)
    }
}
