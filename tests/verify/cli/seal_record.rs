//! `recount seal --redact`: what `provenance.json` keeps, and what is refused before anything is written.

use recount::package::digest::digest;
use recount::package::json::Json;

use super::seal_rewrite::{private, seal};
use crate::common::json::take;
use crate::common::package::Package;

fn text(package: &Package, name: &str, pointer: &str) -> String {
    package.json(name).pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned()
}

#[test]
fn what_would_not_hold_any_more_is_found_before_anything_is_written() {
    let package = private();
    package.write("crlf.txt", "/home/alice\r\n");
    let names = ["samples.csv", "validation.json", "notes.txt", "crlf.txt", "provenance.json", "receipts.json"];
    let before = names.map(|name| package.bytes(name));
    let rules = Package::empty();
    rules.write("rules", "native = ${ROUTE}\n");
    let redact = format!("--redact={}", rules.file("rules").display());
    for args in [&["--normalize", &redact][..], &["--normalize", &redact, "--check"]] {
        let outcome = seal(&package, args);
        outcome.exits(2);
        outcome.require(
            outcome.stderr.contains("would not hold any more") && outcome.stderr.contains("nothing was changed"),
            "the finding is named",
        );
        assert_eq!(names.map(|name| package.bytes(name)), before);
    }
    let around = package.path().parent().unwrap();
    let left = std::fs::read_dir(around).unwrap().flatten().any(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with(".recount-") && entry.path().join("crlf.txt").exists()
    });
    assert!(!left, "the copy is gone");
}

#[test]
fn the_hash_on_record_is_that_of_the_bytes_before_line_endings_were_changed() {
    let package = Package::empty();
    let original = "by carolina\r\nin /home/alice\r\n";
    package.write("a.txt", original).write("b.txt", "b\r\n").write("provenance.json", "{\"a\": 1}\r\n");
    seal(&package, &["--normalize", "--redact"]).exits(0);
    assert_eq!(package.text("a.txt"), "by ${USER}\nin ${USER_HOME}\n");
    assert_eq!(package.text("b.txt"), "b\n");
    assert_eq!(text(&package, "provenance.json", "/redaction/files/a.txt/sha256"), digest(original.as_bytes()).sha256);
    assert!(!package.text("provenance.json").contains('\r') && !package.text("provenance.json").contains("b.txt"));
    package.verify(&["--strict"]).holds();
}

#[test]
fn provenance_is_spliced_and_everything_else_in_it_stays() {
    let big = "123456789012345678901234567890";
    for (before, beginning) in [
        (format!("{{ \"n\" : {big}, \"f\":1.50e0 }}\n"), format!("{{ \"n\" : {big}, \"f\":1.50e0,\"redaction\":{{")),
        (
            format!("{{\n    \"n\": {big},\n    \"f\": 1.50\n}}\n"),
            format!("{{\n    \"n\": {big},\n    \"f\": 1.50,\n    \"redaction\": {{\n"),
        ),
        ("{}".to_owned(), "{\"redaction\":{".to_owned()),
        (
            format!("{{\"redaction\": {{\"files\": {{}}}}, \"n\": {big}}}"),
            "{\"redaction\": {\"files\":{\"a.txt\":{".to_owned(),
        ),
    ] {
        let package = Package::empty();
        package.write("a.txt", "/home/alice").write("provenance.json", &before);
        seal(&package, &["--redact"]).exits(0);
        let after = package.text("provenance.json");
        assert!(after.starts_with(&beginning), "{before} became {after}");
        assert_eq!(after.contains(big), before.contains(big), "{after}");
        assert_eq!(after.ends_with('\n'), before.ends_with('\n'), "{after}");
        assert!(serde_json::from_str::<serde::de::IgnoredAny>(&after).is_ok(), "{after}");
        seal(&package, &["--redact"]).exits(0);
        assert_eq!(package.text("provenance.json"), after);
    }
    let package = Package::empty();
    package.write("a.txt", "/home/alice").write("provenance.json", "[]");
    seal(&package, &["--redact"]).exits(2);
    assert_eq!(package.text("a.txt"), "/home/alice");
}

#[test]
fn the_id_before_is_the_original_one_where_none_is_named() {
    let package = private();
    let before = text(&package, "model.json", "/profile_id");
    for name in ["model.json", "provenance.json"] {
        package.edit_json(name, |root| {
            take(root, "/original_profile_id");
        });
    }
    package.seal();
    seal(&package, &["--redact"]).exits(0);
    assert_eq!(text(&package, "model.json", "/original_profile_id"), before);
    assert_eq!(text(&package, "provenance.json", "/original_profile_id"), before);
    assert_eq!(text(&package, "provenance.json", "/public_profile_id"), text(&package, "model.json", "/profile_id"));
    assert_ne!(text(&package, "model.json", "/profile_id"), before);
    package.verify(&["--strict"]).holds();
}

#[test]
fn a_record_counts_as_long_as_the_file_is_what_the_redaction_left() {
    let package = Package::empty();
    package.write("a.txt", "/home/alice").write("b.txt", "/home/bob");
    seal(&package, &["--redact"]).exits(0);
    let recorded = |name: &str| text(&package, "provenance.json", &format!("/redaction/files/{name}/sha256"));
    assert_eq!(recorded("a.txt"), digest(b"/home/alice").sha256);
    let quiet = seal(&package, &[]);
    quiet.require(quiet.stderr.is_empty(), "nothing was changed, nothing is said");
    package.write("a.txt", "new in /home/carol").write("b.txt", "new");
    let outcome = seal(&package, &[]);
    outcome.exits(0);
    outcome.require(outcome.stderr.contains("b.txt is not what its redaction left"), "it is said");
    let outcome = seal(&package, &["--redact"]);
    outcome.exits(0);
    outcome.require(outcome.stdout.contains("b.txt is not what its redaction left"), "it is said");
    assert_eq!(recorded("a.txt"), digest(b"new in /home/carol").sha256, "the bytes before this redaction");
    assert_eq!(recorded("b.txt"), "", "no hash of bytes that are not these");
    // The same file redacted again with more rules is what it was before the first redaction.
    let rules = Package::empty();
    rules.write("rules", "new = ${WORD}\n");
    seal(&package, &[&format!("--redact={}", rules.file("rules").display())]).exits(0);
    assert_eq!(package.text("a.txt"), "${WORD} in ${USER_HOME}");
    assert_eq!(recorded("a.txt"), digest(b"new in /home/carol").sha256);
    package.verify(&["--strict"]).holds();
}

#[test]
fn an_interrupted_redaction_can_be_run_again_and_counts_once() {
    let package = Package::empty();
    package.write("a.txt", "/home/alice").write("b.txt", "/home/bob");
    seal(&package, &["--redact"]).exits(0);
    let provenance = package.text("provenance.json");
    // As after the first of the new names.
    package.write("a.txt", "/home/alice").write("b.txt", "/home/bob");
    let outcome = seal(&package, &["--redact"]);
    outcome.exits(0);
    outcome.require(!outcome.stdout.contains("is not what"), "nothing is forgotten");
    assert_eq!(package.text("provenance.json"), provenance);
    assert_eq!((package.text("a.txt"), package.text("b.txt")), ("${USER_HOME}".into(), "${USER_HOME}".into()));
}

#[test]
fn other_places_that_name_the_hash_are_said() {
    let package = Package::empty();
    let hash = digest(b"/home/alice").sha256.to_uppercase();
    package.write("a.txt", "/home/alice").write("sums.txt", format!("x\n{hash}  a.txt\n"));
    let outcome = seal(&package, &["--redact"]);
    outcome.exits(0);
    outcome.require(outcome.stderr.contains("sums.txt:2 names the hash of a.txt"), "file and line");
}

#[test]
fn nothing_is_recorded_in_a_file_that_is_excluded() {
    let package = Package::empty();
    package.write("a.txt", "/home/alice");
    let outcome = seal(&package, &["--redact", "--exclude", "provenance.json"]);
    outcome.exits(0);
    outcome.require(outcome.stderr.contains("provenance.json is excluded"), "it is said");
    assert!(!package.file("provenance.json").exists());
    assert!(!package.text("receipts.json").contains("provenance.json"));
    assert_eq!(package.text("a.txt"), "${USER_HOME}");
    package.write("a.txt", "/home/alice").write("provenance.json", "{}").write(".recountignore", "provenance.json\n");
    seal(&package, &["--redact"]).exits(0);
    assert_eq!(package.text("provenance.json"), "{}");
}
