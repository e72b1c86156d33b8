//! Results never take the place of what they are about, and neither does a key.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[macro_use]
#[allow(dead_code, unused_macros)]
mod common;

use common::package::Package;

#[test]
fn no_result_replaces_evidence() {
    let package = Package::valid();
    let outside = tempfile::tempdir().expect("a folder");
    for name in ["receipts.json", "samples.csv", "code/calibrate.py"] {
        let place = package.file(name);
        let before = package.bytes(name);
        let path = place.to_str().expect("UTF-8");
        for (command, args) in [
            ("verify", vec!["-o", path]),
            ("verify", vec!["--attest", path]),
            ("report", vec!["--html", path]),
            ("report", vec!["--markdown", path]),
            ("refit", vec!["-o", path]),
            ("selftest", vec!["--mutations", "1", "-o", path]),
        ] {
            let outcome = package.run(command, &args);
            outcome.exits(2);
            outcome.require(outcome.stderr.contains(path), "the place is named");
            assert_eq!(package.bytes(name), before, "{command} {args:?}");
        }
    }
    // A file of its own may lie there, and again.
    for _ in 0..2 {
        package.run("verify", &["-o", package.file("report.txt").to_str().expect("UTF-8")]).exits(0);
    }
    package.remove("report.txt");
    let signers = outside.path().join("signers");
    std::fs::write(&signers, "# nobody\n").expect("a file");
    let signers = signers.to_str().expect("UTF-8");
    package.run("verify", &["--allowed-signers", signers, "-o", signers]).exits(2);
    assert_eq!(std::fs::read_to_string(signers).expect("a file"), "# nobody\n");
}

#[test]
fn a_key_in_the_package_does_not_sign_it() {
    let package = Package::valid();
    let key = package.file("id_ed25519");
    let made =
        std::process::Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status();
    assert!(made.expect("ssh-keygen").success());
    let before = package.bytes("receipts.json");
    let outcome = package.run("seal", &["--sign", key.to_str().expect("UTF-8")]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("lies in the package"), "it is said why");
    assert_eq!(package.bytes("receipts.json"), before);
    assert!(!package.file("receipts.json.sig").exists());
}

#[test]
fn what_is_no_folder_and_lists_that_cannot_be_read_are_said_once() {
    let package = Package::valid();
    let file = package.file("README.md");
    let outcome = common::outcome::Outcome::of(&["seal", file.to_str().expect("UTF-8")], None);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("is a file; name the folder"), "it is said what it is");
    package.write(".recountignore", "[bad\n");
    let outcome = package.run("seal", &[]);
    outcome.exits(2);
    assert_eq!(outcome.stderr.matches("line 1").count(), 1, "{}", outcome.stderr);
}

#[test]
fn what_an_author_wrote_of_a_redaction_stays() {
    let package = Package::empty();
    package.write("notes.txt", "run in /home/alice/runs\n");
    package.write("provenance.json", "{\"k\": 1, \"redaction\": {\"comment\": \"by hand, ticket 7\"}}\n");
    package.run("seal", &["--redact"]).exits(0);
    let text = package.text("provenance.json");
    assert!(
        text.contains("\"comment\"") && text.contains("by hand, ticket 7") && text.contains("redacted_sha256"),
        "{text}"
    );
    for other in ["\"done\"", "[1]", "{\"files\": []}", "{\"rules\": {}}"] {
        let package = Package::empty();
        package.write("notes.txt", "run in /home/alice/runs\n");
        let before = format!("{{\"redaction\": {other}}}\n");
        package.write("provenance.json", &before);
        let outcome = package.run("seal", &["--redact"]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("redaction"), "the member is named");
        assert_eq!(
            (package.text("provenance.json"), package.text("notes.txt")),
            (before, "run in /home/alice/runs\n".to_owned())
        );
    }
}
