//! The public suite of JSON texts: accepted, refused, or either, and never a panic.

use std::collections::BTreeMap;
use std::path::PathBuf;

use recount::package::json::{Document, JsonError, KnownFloats, StreamOptions, compact};

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

/// Texts that are refused in a stream alone: the integer -0.
const IN_A_STREAM: [&str; 2] = ["y_number_minus_zero.json", "y_number_negative_zero.json"];

#[test]
fn every_text_is_read_in_a_stream_as_it_is_whole() {
    let Some(texts) = texts() else { return };
    for (name, bytes) in &texts {
        let whole = String::from_utf8(bytes.clone()).ok().and_then(|text| Document::parse(name, text).ok());
        let options =
            StreamOptions { packed_from: 64, is_long: |_| true, shrink: |_| {}, known: &KnownFloats::default() };
        let streamed = Document::stream(name, &mut bytes.as_slice(), &options);
        if IN_A_STREAM.contains(&name.as_str()) {
            let error = streamed.expect_err(name);
            assert!(whole.is_some() && error.to_string().contains("the integer -0"), "{name}: {error}");
        } else {
            let streamed = streamed.ok();
            assert_eq!(whole.as_ref().map(Document::root), streamed.as_ref().map(Document::root), "{name}");
        }
    }
}

#[test]
fn every_bad_text_is_refused_where_it_goes_wrong() {
    let Some(texts) = texts() else { return };
    let mut refused = 0;
    let mut late = Vec::new();
    for (name, bytes) in texts.iter().filter(|(name, _)| name.starts_with("n_")) {
        // What is not UTF-8 is refused before it is parsed; see the test of packages below.
        let Ok(text) = String::from_utf8(bytes.clone()) else { continue };
        let error = Document::parse(name, text.clone()).expect_err(name);
        let (line, column) = error.position();
        require_within(&text, line, column, name);
        // Whatever stands before that place is right as far as it goes.
        let before = prefix(&text, line, column);
        if Document::parse(name, before).is_err_and(|earlier| !is_unfinished(&earlier)) {
            late.push(name.as_str());
        }
        refused += 1;
    }
    assert!(refused > 150, "{refused} texts");
    assert!(late.is_empty(), "the place is behind what is wrong: {late:?}");
}

#[test]
fn a_line_break_in_a_string_is_refused_where_it_stands() {
    let error = Document::parse("x.json", "[\"new\nline\"]".to_owned()).expect_err("a control character");
    assert_eq!(error.position(), (1, 6));
}

fn require_within(text: &str, line: usize, column: usize, name: &str) {
    let length = text.split('\n').nth(line.wrapping_sub(1)).map(|line| line.chars().count());
    assert!(length.is_some_and(|length| (1..=length + 1).contains(&column)), "{name}: line {line}, column {column}");
}

/// What of a text stands before a place.
fn prefix(text: &str, line: usize, column: usize) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let begun: String = lines[line - 1].chars().take(column - 1).collect();
    lines[..line - 1].iter().map(|line| format!("{line}\n")).collect::<String>() + &begun
}

fn is_unfinished(error: &JsonError) -> bool {
    matches!(error, JsonError::Syntax { reason, .. } if reason.starts_with("EOF"))
}

#[test]
fn every_other_text_is_treated_as_the_documentation_says() {
    let Some(texts) = texts() else { return };
    let documented = documented();
    let names = |names: &mut dyn Iterator<Item = &String>| names.cloned().collect::<Vec<_>>();
    let others = names(&mut texts.keys().filter(|name| name.starts_with("i_")));
    assert_eq!(names(&mut documented.keys()), others, "the table has exactly the suite's texts");
    let package = crate::common::package::Package::valid();
    for (name, is_accepted) in documented {
        let audit = package.write("device.json", &texts[&name]).reseal_file("device.json").audit();
        let codes: Vec<&str> = audit.findings().map(|finding| finding.code.name()).collect();
        assert_eq!(codes, [if is_accepted { "unsupported-schema" } else { "json-syntax" }], "{name}");
        // What was read can be written, and reads the same.
        if let Some(document) =
            String::from_utf8(texts[&name].clone()).ok().and_then(|text| Document::parse(&name, text).ok())
        {
            assert!(is_accepted, "{name}");
            assert_eq!(Document::parse(&name, compact(document.root())).expect("our own text").root(), document.root());
        }
    }
}

/// The rows of the table in the documentation: names, and whether the text is accepted.
fn documented() -> BTreeMap<String, bool> {
    let page = include_str!("../../docs/robustness.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `i_"));
    let rows = rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [name, here, why, ""] = cells[..] else { panic!("{row} has not three cells") };
        assert!(["accepted", "refused"].contains(&here) && why.len() > 20, "{row}");
        (format!("i_{}", name.trim_end_matches('`')), here == "accepted")
    });
    rows.collect()
}

#[test]
fn every_text_as_a_file_of_a_package_gives_a_verdict_with_a_place() {
    let Some(texts) = texts() else { return };
    let package = crate::common::package::Package::valid();
    let mut not_utf8 = 0;
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
        if expected == "unsupported-schema" {
            continue;
        }
        let place = &audit.findings().next().expect("there is one").place;
        let (line, column) = place.line.zip(place.column).unwrap_or_else(|| panic!("{name}: no place"));
        require_within(&String::from_utf8_lossy(bytes), line, column, name);
        if let Err(error) = std::str::from_utf8(bytes) {
            // The first byte that is none of UTF-8's.
            let before = String::from_utf8(bytes[..error.valid_up_to()].to_vec()).expect("checked");
            assert_eq!(prefix(&String::from_utf8_lossy(bytes), line, column), before, "{name}");
            not_utf8 += 1;
        }
    }
    assert!(not_utf8 >= 10, "{not_utf8} texts are not UTF-8");
}
