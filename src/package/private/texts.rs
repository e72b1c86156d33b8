//! How the bytes of a file are read when what is private in them is looked for.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::package::divergence::files::engine_of;
use crate::package::endings::is_binary;
use crate::package::partition::files;

/// Shorter runs of letters in other bytes are chance.
const SHORTEST_RUN: usize = 12;

/// Files whose values are evidence, beside the results of divergence engines.
const EVIDENCE: [&str; 9] = [
    files::CASES,
    files::DEVICE,
    files::VALIDATION,
    files::MODEL,
    files::PROOF_RECEIPTS,
    files::OVERLAP,
    files::SAMPLES,
    "claims.json",
    "medians.csv",
];

/// Names of JSON texts, and of texts with one JSON text a line.
const JSON: [&str; 5] = [".json", ".jsonl", ".ndjson", ".ipynb", ".sarif"];

/// What is known of a text before it is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Only strings are looked at, decoded.
    pub is_json: bool,
    /// Names of machines and users are looked for in no value but those that describe the surroundings.
    pub is_evidence: bool,
}

impl Reading {
    /// Any text.
    pub const TEXT: Self = Self { is_json: false, is_evidence: false };
    /// A text that is known to be JSON.
    pub const JSON: Self = Self { is_json: true, is_evidence: false };

    /// How a file is read.
    pub fn of(name: &str, text: &str) -> Self {
        let is_evidence = EVIDENCE.contains(&name) || engine_of(name).is_some();
        Self { is_json: JSON.iter().any(|ending| name.ends_with(ending)) && is_json(text), is_evidence }
    }
}

/// Whether a text is one or more JSON values; large integers and members that stand twice are no hindrance.
fn is_json(text: &str) -> bool {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let first = values.next();
    first.is_some_and(|value| value.is_ok()) && values.all(|value| value.is_ok())
}

/// The letters in the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Legible<'b> {
    /// A text in UTF-8, without a NUL.
    Text(&'b str),
    /// What can be read of other texts and other files; it can be searched, but not put back.
    Lossy(String),
}

impl Legible<'_> {
    /// The letters.
    pub fn letters(&self) -> &str {
        match self {
            Legible::Text(text) => text,
            Legible::Lossy(text) => text,
        }
    }
}

/// Reads the bytes of a file as far as that can be done.
pub fn legible(bytes: &[u8]) -> Legible<'_> {
    if let Some(text) = utf16(bytes) {
        return Legible::Lossy(text);
    }
    if is_binary(bytes) {
        let is_letter = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
        let runs = bytes.split(|byte| !is_letter(byte)).filter(|run| run.len() >= SHORTEST_RUN);
        let lines: Vec<Cow<'_, str>> = runs.map(String::from_utf8_lossy).collect();
        return Legible::Lossy(lines.join("\n"));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Legible::Text(text),
        Err(_) => Legible::Lossy(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// A text of two bytes a letter: with a mark at its beginning, or with a NUL in nearly every other place.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (is_big, rest) = match bytes {
        [0xff, 0xfe, rest @ ..] => (false, rest),
        [0xfe, 0xff, rest @ ..] => (true, rest),
        _ => {
            let beginning = &bytes[..bytes.len().min(1024) & !1];
            let nuls = |odd: usize| beginning.iter().skip(odd).step_by(2).filter(|&&byte| byte == 0).count();
            let (even, odd) = (nuls(0), nuls(1));
            let most = beginning.len() / 2 * 9 / 10;
            match beginning.len() >= 16 {
                true if odd >= most && even == 0 => (false, bytes),
                true if even >= most && odd == 0 => (true, bytes),
                _ => return None,
            }
        }
    };
    let (pairs, _) = rest.as_chunks::<2>();
    let units = pairs.iter().map(|pair| if is_big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) });
    Some(char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}
