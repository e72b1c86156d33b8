//! The public suite of JSON texts: accepted, refused, or either, and never a panic.

use std::collections::BTreeMap;
use std::path::PathBuf;

use recount::package::json::{Document, JsonError, compact};

use crate::common::shared::shared;

/// Texts that the suite calls good and that are refused on purpose: one member name twice.
const TWICE: [&str; 2] = ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"];

fn texts() -> Option<BTreeMap<String, Vec<u8>>> {
    let folder: PathBuf = shared("conformance/json/test_parsing")?;
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let texts: BTreeMap<_, _> = entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).expect("a file"))
        })
        .collect();
    assert!(texts.len() > 300, "the suite has more than {} texts", texts.len());
    Some(texts)
}

#[test]
fn every_good_text_is_accepted_but_those_with_a_key_twice() {
    let Some(texts) = texts() else { return };
    for (name, bytes) in texts.iter().filter(|(name, _)| name.starts_with("y_")) {
        let text = String::from_utf8(bytes.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        match Document::parse(name, text) {
            Ok(document) => {
                assert!(!TWICE.contains(&name.as_str()), "{name}");
                // What was read can be written, and reads the same.
                let again = Document::parse(name, compact(document.root())).expect("our own text");
                assert_eq!(again.root(), document.root(), "{name}");
            }
            Err(error) => {
                assert!(TWICE.contains(&name.as_str()), "{name}: {error}");
                assert!(matches!(error, JsonError::DuplicateKey { .. }), "{name}: {error}");
            }
        }
    }
}

#[test]
fn every_bad_text_is_refused_with_a_place() {
    let Some(texts) = texts() else { return };
    for (name, bytes) in texts.iter().filter(|(name, _)| name.starts_with("n_")) {
        // What is not UTF-8 is refused before it is parsed.
        let Ok(text) = String::from_utf8(bytes.clone()) else { continue };
        let error = Document::parse(name, text.clone()).expect_err(name);
        let (line, column) = error.position();
        let lines = text.split('\n').count();
        assert!((1..=lines).contains(&line) && column >= 1, "{name}: line {line}, column {column}");
    }
}

#[test]
fn every_other_text_is_either_and_no_panic() {
    let Some(texts) = texts() else { return };
    for (name, bytes) in texts.iter().filter(|(name, _)| name.starts_with("i_")) {
        if let Ok(text) = String::from_utf8(bytes.clone()) {
            let _ = Document::parse(name, text).map(|document| compact(document.root()));
        }
    }
}

#[test]
fn every_text_as_a_file_of_a_package_gives_a_verdict() {
    let Some(texts) = texts() else { return };
    let package = crate::common::package::Package::valid();
    for (name, bytes) in &texts {
        package.write("device.json", bytes).reseal_file("device.json");
        let audit = package.audit();
        let codes: Vec<&str> = audit.findings().map(|finding| finding.code.name()).collect();
        let expected = match name.as_bytes()[0] {
            b'y' if TWICE.contains(&name.as_str()) => "duplicate-key",
            b'y' => "unsupported-schema",
            b'n' => "json-syntax",
            _ => continue,
        };
        assert_eq!(codes, [expected], "{name}");
    }
}
