//! JSON: a text as it stands; a number by its bits after `F`; or, after a byte 255, entries of what Python wrote, put together.

use arbitrary::Unstructured;
use recount::package::json::{Document, Json, canonical, compact, indented, python_float};
use serde_json::Value;

use super::naive_canonical;

/// Inputs and what Python wrote of them; see `tests/data/python-json.py`.
const CORPUS: &str = include_str!("../../data/python-json.txt");

/// What is accepted is written as Python writes it, read again as the same, and everything in it can be found.
pub(super) fn run(data: &[u8]) {
    match data {
        [b'F', bits @ ..] if bits.len() == 8 => float(f64::from_le_bytes(bits.try_into().expect("8 bytes"))),
        [255, rest @ ..] => composed(rest),
        _ => {
            if let Ok(text) = std::str::from_utf8(data) {
                any_text(text);
            }
        }
    }
}

fn float(value: f64) {
    if value.is_finite() {
        let text = python_float(value);
        assert_eq!(text, naive_canonical(&Value::from(value)));
        assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(value.to_bits()));
        any_text(&text);
    }
}

fn any_text(text: &str) {
    let document = match Document::parse("any.json", text.to_owned()) {
        Ok(document) => document,
        Err(error) => {
            let (line, column) = error.position();
            let length = text.split('\n').nth(line - 1).map(|line| line.chars().count());
            assert!(length.is_some_and(|length| (1..=length + 1).contains(&column)), "{error}: {line}:{column}");
            return;
        }
    };
    let root = document.root();
    let other: Value = serde_json::from_str(text).expect("no other reader refuses what this one accepts");
    let written = canonical(root);
    // The integer -0 is 0 here, as in Python, and a float to the other reader.
    let has_zero = text.match_indices("-0").any(|(at, _)| !text[at + 2..].starts_with(['.', 'e', 'E']));
    if !has_zero {
        assert_eq!(written, naive_canonical(&other));
    }
    let again = |text: String| Document::parse("again.json", text).expect("our own text");
    assert_eq!(canonical(again(written.clone()).root()), written);
    for text in [compact(root), indented(root)] {
        let again = again(text);
        assert_eq!(again.root(), root);
        assert_eq!(canonical(again.root()), written);
    }
    places(&document, text);
}

/// Every value has a pointer that leads back to it, and a position where its literal stands.
fn places(document: &Document, text: &str) {
    let mut values = Vec::new();
    collect(document.root(), &mut values);
    let offsets = document.offsets();
    assert_eq!(offsets.len(), values.len());
    assert!(offsets.is_sorted());
    for (value, &offset) in values.iter().zip(&offsets) {
        let rest = &text[offset..];
        let begins = match value {
            Json::Object(_) => rest.starts_with('{'),
            Json::Str(_) => rest.starts_with('"'),
            Json::Null => rest.starts_with("null"),
            Json::Bool(flag) => rest.starts_with(if *flag { "true" } else { "false" }),
            _ => rest.starts_with(|first: char| first == '[' || first == '-' || first.is_ascii_digit()),
        };
        assert!(begins, "{} at {offset}", value.kind());
    }
    // Pointers are made of all names on the way; a deep or large text would only be slow.
    for value in values.into_iter().take(64) {
        let pointer = document.pointer_of(value).expect("a value of this document");
        let found = document.root().pointer(&pointer).expect("the pointer leads somewhere");
        assert!(std::ptr::eq(found, value) || pointer.len() > 4096, "{pointer} leads elsewhere");
        assert!(document.position(&pointer).is_some(), "{pointer} has no position");
    }
}

fn collect<'j>(value: &'j Json, values: &mut Vec<&'j Json>) {
    values.push(value);
    if let Some(items) = value.as_array() {
        items.iter().for_each(|item| collect(item, values));
    }
    for (_, member) in value.as_object().unwrap_or_default() {
        collect(member, values);
    }
}

/// Arrays and objects of entries of the corpus, nested as the bytes say; Python's text of them follows from its texts of
/// the entries.
fn composed(data: &[u8]) {
    thread_local! {
        static ENTRIES: Vec<(String, &'static str)> = CORPUS
            .lines()
            .filter_map(|line| {
                let mut cells = line.split('\t');
                let (kind, source, expected) = (cells.next()?, cells.next()?, cells.next()?);
                // A float's source is its bits, of which there is no JSON; its 17 digits are another text of it.
                let bits = || u64::from_str_radix(source, 16).expect("hexadecimal digits");
                let source = if kind == "float" { format!("{:.16e}", f64::from_bits(bits())) } else { source.to_owned() };
                Some((source, expected))
            })
            .collect();
    }
    ENTRIES.with(|entries| {
        let mut data = Unstructured::new(data);
        let (mut source, mut expected) = ("null".to_owned(), "null".to_owned());
        while let (false, Ok(kind), Ok((one, python))) = (data.is_empty(), data.arbitrary::<u8>(), data.choose(entries))
        {
            (source, expected) = match kind % 4 {
                0 => (format!("[{source}, {one}]"), format!("[{expected},{python}]")),
                1 => (format!("[ {one},{source} ]"), format!("[{python},{expected}]")),
                2 => (format!("{{\"b\": {source}, \"a\": {one}}}"), format!("{{\"a\":{python},\"b\":{expected}}}")),
                _ => (
                    format!("{{\"\\u00e9\":{one},\"z\":{source}}}"),
                    format!("{{\"z\":{expected},\"\\u00e9\":{python}}}"),
                ),
            };
            if source.len() > 1 << 13 {
                break;
            }
        }
        match Document::parse("composed.json", source.clone()) {
            Ok(document) => assert_eq!(canonical(document.root()), expected),
            Err(error) => assert!(error.to_string().contains("recursion"), "{error} in {source}"),
        }
    });
}

/// The inputs of the corpus, some floats, and some compositions.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let cells = CORPUS.lines().filter_map(|line| line.split('\t').nth(1).map(|cell| (line.starts_with("tree"), cell)));
    let trees = cells.filter(|(is_tree, _)| *is_tree).map(|(_, cell)| cell.as_bytes().to_vec());
    let floats = [0.1_f64, 1e16, 5e-324].map(|value| [&b"F"[..], &value.to_le_bytes()].concat());
    let composed = (0..4_u8).map(|kind| [255, kind, 7, 1, kind + 1, 9, 2, kind + 2, 200, 1].to_vec());
    let texts = [
        "[1.5,\n 18446744073709551616]",
        "{\"a\":{\"a/~\":[0]},\"a\":1}",
        "[1e400]",
        "[[[[[[0]]]]]]",
        "-0",
        "\"\\ud800\"",
    ];
    trees.chain(floats).chain(composed).chain(texts.map(|text| text.as_bytes().to_vec())).collect()
}
