//! Which leaves a file has, and how one is forged.

use std::ops::Range;

use crate::package::json::{Document, Json, indented, python_float};
use crate::package::partition::files::SAMPLES;
use crate::package::partition::samples::{COLUMNS, INDEX};

/// The member of a claim that holds a number as it was printed.
const PRINTED: &str = "printed";

/// Texts that are flags, too.
const STATUSES: [&str; 2] = ["passed", "failed"];

/// What kind of value a leaf is, which decides how it is forged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafKind {
    /// Multiplied by one and a millionth.
    Float,
    /// One more or less.
    Integer,
    /// One hexadecimal digit changed.
    Hash,
    /// Flipped: true and false, passed and failed.
    Flag,
    /// The last printed digit changed.
    PrintedDecimal,
}

/// A leaf that can be forged.
#[derive(Debug, Clone)]
pub struct Leaf {
    kind: LeafKind,
    range: Range<usize>,
    pattern: String,
}

/// One change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgery {
    /// Bytes that are replaced.
    pub range: Range<usize>,
    /// By what.
    pub replacement: String,
    /// Where the leaf is, with positions and names of cases left out.
    pub pattern: String,
}

/// All leaves of a file, in order.
pub fn leaves(file: &str, text: &str) -> Vec<Leaf> {
    match file.rsplit('.').next() {
        Some("json") => json_leaves(file, text),
        Some("csv") if file == SAMPLES => csv_leaves(text),
        Some("csv") => printed_leaves(text),
        Some("md") => prose_leaves(text),
        _ => Vec::new(),
    }
}

impl Leaf {
    /// Forges the leaf of `text`.
    pub fn forge(self, text: &str, random: &mut fastrand::Rng) -> Forgery {
        let literal = &text[self.range.clone()];
        let replacement = match self.kind {
            LeafKind::Float => forged_float(literal),
            LeafKind::Integer => forged_integer(literal, random.bool()),
            LeafKind::Hash => forged_digit(literal, random.usize(..literal.len().max(1)), 16),
            LeafKind::Flag => match literal {
                "true" => "false",
                "false" => "true",
                "passed" => "failed",
                _ => "passed",
            }
            .to_owned(),
            LeafKind::PrintedDecimal => forged_digit(literal, literal.len().saturating_sub(1), 10),
        };
        Forgery { range: self.range, replacement, pattern: self.pattern }
    }
}

fn forged_float(literal: &str) -> String {
    let value: f64 = literal.parse().unwrap_or(0.0);
    // A part of zero is zero; a millionth is the least that can be told from it at the scale of the formats.
    python_float(if value == 0.0 { 1e-6 } else { value * (1.0 + 1e-6) })
}

fn forged_integer(literal: &str, up: bool) -> String {
    let value: i128 = literal.parse().unwrap_or(0);
    (if up || value == 0 { value + 1 } else { value - 1 }).to_string()
}

fn forged_digit(literal: &str, at: usize, radix: u32) -> String {
    let replaced = |character: char| {
        let next = character.to_digit(radix).map(|digit| (digit + 1) % radix);
        next.and_then(|digit| char::from_digit(digit, radix)).unwrap_or(character)
    };
    literal
        .chars()
        .enumerate()
        .map(|(index, character)| if index == at { replaced(character) } else { character })
        .collect()
}

fn json_leaves(file: &str, text: &str) -> Vec<Leaf> {
    let Ok(document) = Document::parse(file, text.to_owned()) else { return Vec::new() };
    let mut leaves = Vec::new();
    let offsets = document.offsets();
    collect(text, document.root(), &mut offsets.into_iter(), &mut Vec::new(), &mut leaves);
    leaves
}

/// Walks the tree in the order of the text; `offsets` gives each value's start.
fn collect<'d>(
    text: &str,
    value: &'d Json,
    offsets: &mut std::vec::IntoIter<usize>,
    names: &mut Vec<&'d str>,
    leaves: &mut Vec<Leaf>,
) {
    let Some(start) = offsets.next() else { return };
    let kind = match value {
        Json::Array(items) => {
            names.push("*");
            items.iter().for_each(|item| collect(text, item, offsets, names, leaves));
            names.pop();
            return;
        }
        Json::Object(members) => {
            for (name, member) in members {
                let is_key = name.contains(['/', '\\', ':']) || name.bytes().all(|byte| byte.is_ascii_digit());
                names.push(if is_key { "*" } else { name });
                collect(text, member, offsets, names, leaves);
                names.pop();
            }
            return;
        }
        Json::Float(_) => LeafKind::Float,
        Json::Int(_) | Json::Large(_) => LeafKind::Integer,
        Json::Bool(_) => LeafKind::Flag,
        Json::Str(content) if is_hash(content) => LeafKind::Hash,
        Json::Str(content) if STATUSES.contains(&content.as_str()) => LeafKind::Flag,
        Json::Str(content)
            if names.last() == Some(&PRINTED) && content.ends_with(|last: char| last.is_ascii_digit()) =>
        {
            LeafKind::PrintedDecimal
        }
        // Lists are packed only in streams.
        Json::Str(_) | Json::Null | Json::Floats(_) => return,
    };
    let (start, length) = match value {
        // Hashes and statuses, in quotes and without escapes.
        Json::Str(content) if text[start + 1..].starts_with(content.as_str()) => (start + 1, content.len()),
        Json::Str(_) => return,
        _ => (start, text[start..].find([',', '}', ']', ' ', '\n', '\r', '\t']).unwrap_or(text.len() - start)),
    };
    leaves.push(Leaf { kind, range: start..start + length, pattern: format!("/{}", names.join("/")) });
}

/// A SHA-1 or SHA-256 in lower case.
fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn csv_leaves(text: &str) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let mut cell_start = start;
        for (column, cell) in line.trim_end().split(',').enumerate() {
            let kind = match COLUMNS.get(column) {
                _ if number == 0 => None,
                Some(name) if name.ends_with("status") => Some(LeafKind::Flag),
                Some(_) if column == INDEX => Some(LeafKind::Integer),
                Some(_) if column > INDEX => Some(LeafKind::Float),
                _ => None,
            };
            if let Some(kind) = kind {
                let pattern = COLUMNS[column].to_owned();
                leaves.push(Leaf { kind, range: cell_start..cell_start + cell.len(), pattern });
            }
            cell_start += cell.len() + 1;
        }
        start += line.len();
    }
    leaves
}

/// Decimals in a table that was printed, by column.
fn printed_leaves(text: &str) -> Vec<Leaf> {
    let columns: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let mut leaves = Vec::new();
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let mut cell_start = start;
        for (column, cell) in line.trim_end().split(',').enumerate() {
            if number > 0 && cell.contains('.') && cell.parse::<f64>().is_ok_and(f64::is_finite) {
                let pattern = columns.get(column).copied().unwrap_or_default().to_owned();
                let range = cell_start..cell_start + cell.len();
                leaves.push(Leaf { kind: LeafKind::PrintedDecimal, range, pattern });
            }
            cell_start += cell.len() + 1;
        }
        start += line.len();
    }
    leaves
}

/// Decimals in prose; version numbers, which have two points, are none.
fn prose_leaves(text: &str) -> Vec<Leaf> {
    let bytes = text.as_bytes();
    let part = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let mut leaves = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !part(bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|&&byte| part(byte)).count();
        let token = text[at..end].trim_end_matches('.');
        let line = text[..at].matches('\n').count() + 1;
        let is_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        if !is_word && token.split('.').count() == 2 && !token.starts_with('.') {
            let range = at..at + token.len();
            leaves.push(Leaf { kind: LeafKind::PrintedDecimal, range, pattern: format!("line {line}: {token}") });
        }
        at = end;
    }
    leaves
}

/// `sealed` with the entries of `recorded` for files that are not there.
pub(super) fn with_absent_entries(sealed: &str, recorded: &str) -> String {
    let parse = |text: &str| Document::parse("receipts.json", text.to_owned()).ok();
    let (Some(new), Some(old)) = (parse(sealed), parse(recorded)) else { return sealed.to_owned() };
    let (Some(files), Some(old_files)) =
        (new.root().get("files").and_then(Json::as_object), old.root().get("files").and_then(Json::as_object))
    else {
        return sealed.to_owned();
    };
    let mut files = files.to_vec();
    let absent = old_files.iter().filter(|(name, _)| files.iter().all(|(other, _)| other != name));
    let absent: Vec<_> = absent.cloned().collect();
    files.extend(absent);
    let members = vec![("schema".to_owned(), Json::Int(1)), ("files".to_owned(), Json::Object(files))];
    indented(&Json::Object(members)) + "\n"
}
