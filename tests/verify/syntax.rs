//! Files that are not the JSON, or the schema, that they should be.

use std::fmt::Write;

use crate::common::json::{set, take};
use crate::common::outcome::Outcome;
use crate::common::package::Package;

const DOCUMENTS: [&str; 6] =
    ["cases.json", "device.json", "model.json", "proof-receipts.json", "provenance.json", "validation.json"];

#[test]
fn a_file_that_is_cut_in_half_is_one_finding_with_its_place() {
    for name in DOCUMENTS {
        let package = Package::valid();
        let text = package.text(name);
        package.write(name, &text[..text.len() / 2]).seal();
        let outcome = package.verify(&[]);
        outcome.exits(1).only(&["json-syntax"]);
        let finding = outcome.one("json-syntax");
        assert_eq!((finding.file.as_str(), finding.line), (name, 1), "{finding:?}");
        let end = text.len() as u64 / 2;
        assert!((end - 1..=end + 1).contains(&finding.column), "column {} of {end} in {name}", finding.column);
        assert_eq!(outcome.outcome_of("integrity"), "failed");
    }
}

#[test]
fn checks_that_need_a_cut_file_say_that_they_were_not_run() {
    let not_run = |name: &str, families: &[&str]| {
        let package = Package::valid();
        let text = package.text(name);
        package.write(name, &text[..text.len() / 2]).seal();
        let outcome = package.verify(&[]);
        for family in families {
            let result = outcome.outcome_of(family);
            outcome.require(result.starts_with("not-run: ") && result.contains(name), &format!("{family} was not run"));
        }
    };
    not_run("validation.json", &["samples", "timing", "proofs", "failures", "model", "exactness"]);
    not_run("model.json", &["model", "exactness"]);
    not_run("device.json", &["model", "exactness"]);
}

#[test]
fn receipts_that_are_cut_in_half_leave_the_content_checked() {
    let package = Package::valid();
    package.edit_text("receipts.json", |text| text[..text.len() / 2].to_owned());
    let outcome = package.verify(&[]);
    outcome.exits(1).only(&["json-syntax"]);
    assert_eq!(outcome.one("json-syntax").file, "receipts.json");
    assert!(outcome.one("json-syntax").line > 1);
    for family in ["samples", "timing", "proofs", "failures", "model", "exactness"] {
        outcome.require(outcome.outcome_of(family) == "passed", &format!("{family} passed"));
    }
}

/// The outcome for a package whose device.json is this text.
fn with_device(text: impl AsRef<[u8]>) -> Outcome {
    let package = Package::valid();
    package.write("device.json", text).seal();
    package.verify(&[])
}

#[test]
fn nesting_without_end_is_an_error_and_no_crash() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [200, 100_000] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let finding = with_device(text).exits(1).one("json-syntax");
            assert_eq!((finding.file.as_str(), finding.line), ("device.json", 1));
            with_device(open.repeat(depth)).exits(1).one("json-syntax");
        }
    }
}

#[test]
fn numbers_that_json_does_not_have_are_refused() {
    for literal in
        ["NaN", "Infinity", "-Infinity", "nan", "1e999", "-1e999", "+1", "01", "1.", ".5", "0x10", "1_000", "1e", "--1"]
    {
        let text = format!("{{\"schema\":1,\n\"sm_count\":{literal}}}\n");
        let finding = with_device(text).exits(1).one("json-syntax");
        assert_eq!((finding.file.as_str(), finding.line), ("device.json", 2), "{literal}");
        assert!(finding.column >= 11, "{literal}: {finding:?}");
    }
}

#[test]
fn integers_that_no_reader_keeps_are_refused_with_their_pointer() {
    let finding = with_device("{\"schema\":1,\"sm_count\":123456789012345678901234567890}").exits(1).one("json-syntax");
    assert_eq!((finding.line, finding.column), (1, 24));
    assert!(finding.found.contains("/sm_count"), "{finding:?}");
}

#[test]
fn texts_that_are_no_json_are_refused() {
    for text in [
        &b""[..],
        b" ",
        b"\xef\xbb\xbf{\"schema\":1}",
        b"{\"schema\":1}{}",
        b"{\"schema\":1,}",
        b"{'schema':1}",
        b"{\"schema\":1} // comment",
        b"{\"schema\":1,\"a\":\"\xff\xfe\"}",
        b"{\"schema\":1,\"a\":\"\\ud800\"}",
        b"{\"schema\":1,\"a\":\"\x01\"}",
        b"\xff\xfe{\0}\0",
        b"PK\x03\x04",
    ] {
        let outcome = with_device(text);
        let finding = outcome.exits(1).one("json-syntax");
        assert_eq!((finding.file.as_str(), finding.line > 0, finding.column > 0), ("device.json", true, true));
    }
}

#[test]
fn a_syntax_error_shows_no_more_of_the_text_than_it_needs() {
    let mut text = "{\"schema\":1,\"a\":\"".to_owned();
    for number in 0..20_000 {
        let _ = write!(text, "{number} ");
    }
    let outcome = with_device(text);
    outcome.exits(1);
    assert!(outcome.stdout.len() < 20_000, "{} bytes", outcome.stdout.len());
}

#[test]
fn an_unknown_schema_cannot_be_judged_and_the_field_is_named() {
    for (name, field) in [
        ("receipts.json", "schema"),
        ("cases.json", "schema"),
        ("device.json", "schema"),
        ("validation.json", "schema"),
        ("validation.json", "kind"),
        ("model.json", "schema"),
    ] {
        for value in ["\"v99\"", "99", "1.0", "null", "\"1\"", "[1]"] {
            let package = Package::valid();
            package.edit_json(name, |root| set(root, &format!("/{field}"), crate::common::json::parse(value)));
            if name != "receipts.json" {
                package.seal();
            }
            let outcome = package.verify(&[]);
            let finding = outcome.exits(2).one("unsupported-schema");
            assert_eq!((finding.file.as_str(), finding.pointer.as_str()), (name, format!("/{field}").as_str()));
            assert!(finding.expected.contains(field) && finding.found == value.replace(' ', ""), "{finding:?}");
        }
    }
}

#[test]
fn a_missing_schema_cannot_be_judged_either() {
    for name in ["receipts.json", "cases.json", "device.json", "validation.json", "model.json"] {
        let package = Package::valid();
        package.edit_json(name, |root| {
            take(root, "/schema");
        });
        if name != "receipts.json" {
            package.seal();
        }
        let finding = package.verify(&[]).exits(2).one("unsupported-schema");
        assert_eq!((finding.file.as_str(), finding.found.as_str()), (name, "nothing"));
    }
}

#[test]
fn files_that_are_not_there_make_their_checks_not_run() {
    for (name, families) in [
        ("validation.json", &[][..]),
        ("samples.csv", &["samples"]),
        ("model.json", &["model", "exactness"]),
        ("device.json", &["model", "exactness"]),
    ] {
        let package = Package::valid();
        package.remove(name);
        let outcome = package.verify(&[]);
        assert_eq!(outcome.exits(1).one("absent-file").file, name);
        for family in families {
            let result = outcome.outcome_of(family);
            outcome.require(result.starts_with("not-run"), &format!("{family} was not run but {result}"));
        }
        package.verify(&["--allow-absent", name]).exits(0);
    }
}

#[test]
fn a_finding_has_the_line_and_the_column_in_characters() {
    let package = Package::valid();
    package.edit_text("validation.json", |text| {
        text.replacen("{\"schema\":1,", "{\n\"schema\":1,\n\"note\":\"caf\u{e9} \u{1f600}\",", 1).replacen(
            "\"native_executions\":16",
            "\"native_executions\":15",
            1,
        )
    });
    let text = package.text("validation.json");
    let line = text.lines().nth(2).expect("a third line");
    let before = line.find("\"native_executions\":").expect("the member") + "\"native_executions\":".len();
    let outcome = package.seal().verify(&[]);
    let finding = outcome.exits(1).at("count-mismatch", "validation.json", "/native_revalidation/native_executions");
    assert_eq!((finding.line, finding.column), (3, line[..before].chars().count() as u64 + 1));
}
