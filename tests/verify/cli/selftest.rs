//! `recount selftest`.

use std::collections::BTreeSet;

use recount::selftest::leaves;

use crate::common::outcome::Outcome;
use crate::common::package::Package;

fn selftest(package: &Package, args: &[&str]) -> Outcome {
    package.run("selftest", &[&["--mutations", "3"], args].concat())
}

#[test]
fn statuses_in_json_are_forged() {
    let text = r#"{"status": "passed", "items": ["failed", "other", "passed "], "flag": true}"#;
    let mut random = fastrand::Rng::with_seed(1);
    let forged: BTreeSet<String> = leaves("x.json", text)
        .into_iter()
        .map(|leaf| {
            let forgery = leaf.forge(text, &mut random);
            let mut forged = text.to_owned();
            forged.replace_range(forgery.range, &forgery.replacement);
            forged
        })
        .collect();
    let expected = [
        text.replacen("passed", "failed", 1),
        text.replacen("\"failed", "\"passed", 1),
        text.replacen("true", "false", 1),
    ];
    assert_eq!(forged, expected.into_iter().collect());
}

#[test]
fn errors_and_warnings_are_told_apart_in_table_and_document() {
    let package = Package::valid();
    let table = selftest(&package, &[]);
    table.exits(0);
    for text in
        ["fails by default", "only --strict", "missed", "signature", "by default", "under --strict", "with a signature"]
    {
        table.require(table.stdout.contains(text), text);
    }
    let outcome = selftest(&package, &["--format", "json"]);
    outcome.exits(0).obeys(include_str!("../../../docs/schema/recount-selftest-v1.json"));
    for file in outcome.report()["files"].as_array().unwrap() {
        let count = |name: &str| file[name].as_u64().unwrap();
        let missed: u64 = file["missed"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(count("caught_by_signature"), count("forged"), "{file}");
        let names = |member: &str| file[member].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names("missed"), names("reasons"), "every class that is missed has a reason or null");
        assert_eq!(count("fails_by_default") + count("only_under_strict") + missed, count("forged"), "{file}");
    }
    let share = |name: &str| outcome.report()[name].as_f64().unwrap();
    assert!(share("share_by_default") <= share("share_under_strict"));
    // The bound is about errors unless warnings are to count.
    let between = 100.0 * (share("share_by_default") + share("share_under_strict")) / 2.0;
    if share("share_by_default") < share("share_under_strict") {
        let between = between.to_string();
        selftest(&package, &["--at-least", &between]).exits(1);
        selftest(&package, &["--at-least", &between, "--strict"]).exits(0);
    }
}

#[test]
fn a_checkout_with_crlf_is_forged_as_it_was_recorded() {
    let package = Package::valid();
    let plain = selftest(&package, &["--format", "json"]).stdout;
    for name in ["README.md", "samples.csv", "validation.json"] {
        package.edit_text(name, |text| text.replace('\n', "\r\n"));
    }
    let before = package.bytes("samples.csv");
    let outcome = selftest(&package, &["--format", "json"]);
    assert_eq!(outcome.exits(0).stdout, plain);
    assert_eq!(package.bytes("samples.csv"), before);
}

#[test]
fn crlf_that_the_receipts_record_is_refused_by_name() {
    let package = Package::valid();
    package.edit_text("README.md", |text| text.replace('\n', "\r\n")).reseal_file("README.md");
    let outcome = selftest(&package, &[]);
    outcome.exits(2);
    let said = &outcome.stderr;
    outcome.require(said.contains("README.md") && said.contains("CRLF"), "the file and the reason are named");
}

#[test]
#[cfg(unix)]
fn what_cannot_be_copied_is_named_and_not_left_out() {
    let package = Package::valid();
    std::os::unix::fs::symlink("README.md", package.file("link.md")).unwrap();
    let outcome = selftest(&package, &[]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("link.md is a symbolic link"), "the link is named");
}

/// Classes that `package`'s selftest misses, with what is said of them.
fn missed(path: &str, mutations: &str) -> Vec<(String, serde_json::Value)> {
    let absent = ["--allow-absent", "code/*", "--allow-absent", "reproduce.py"];
    let args = [&["selftest", path, "--mutations", mutations, "--format", "json"][..], &absent].concat();
    let outcome = Outcome::of(&args, None);
    outcome.exits(0).obeys(include_str!("../../../docs/schema/recount-selftest-v1.json"));
    let files = outcome.report()["files"].as_array().unwrap().clone();
    let reasons = files.iter().flat_map(|file| {
        let name = file["name"].as_str().unwrap().to_owned();
        let reasons = file["reasons"].as_object().unwrap().clone();
        reasons.into_iter().map(move |(pattern, why)| (format!("{name} {pattern}"), why))
    });
    reasons.collect()
}

#[test]
fn every_class_that_is_missed_in_a_published_package_has_a_reason() {
    let artifacts = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    let mut packages: Vec<_> = std::fs::read_dir(artifacts).unwrap().flatten().map(|entry| entry.path()).collect();
    packages.extend(crate::common::shared::shared("packages/program-partition"));
    let mut seen = 0;
    for package in packages {
        let missed = missed(package.to_str().unwrap(), "20");
        let unknown: Vec<_> = missed.iter().filter(|(_, why)| why.is_null()).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", package.display());
        seen += missed.len();
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn reasons_are_given_once_for_all_leaves_they_are_about() {
    let published = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts/partition-rtx4060-published");
    let outcome = Outcome::of(&["selftest", published.to_str().unwrap(), "--mutations", "10"], None);
    let said = outcome.exits(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let reason = "in medians.csv: a median as it was printed: the claims hold at their own printed precision";
    assert_eq!(said.matches(reason).count(), 1, "{said}");
    assert!(said.contains("Bound by: the samples that it is the median of"), "{said}");
    assert!(said.contains("with a signature"), "{said}");
}

#[test]
fn what_cannot_be_verified_cannot_be_measured() {
    let all_ones = Package::valid();
    for name in ["cases.json", "device.json", "model.json", "provenance.json", "validation.json"] {
        all_ones.write(name, "1");
    }
    all_ones.seal();
    let receipts = Package::valid();
    receipts.edit_json("receipts.json", |root| crate::common::json::set(root, "/schema", 7_u64));
    for (package, file) in [(all_ones, "cases.json"), (receipts, "receipts.json")] {
        package.verify(&[]).exits(2);
        let outcome = selftest(&package, &[]);
        outcome.exits(2);
        outcome.require(outcome.stdout.is_empty() && outcome.stderr.lines().count() == 1, "one line, and no result");
        for text in ["cannot be verified", "unsupported-schema", file] {
            outcome.require(outcome.stderr.contains(text), text);
        }
    }
}

#[test]
fn a_package_that_does_not_hold_is_measured_and_does_not_pass() {
    let package = Package::valid();
    package.edit_json("device.json", |root| crate::common::json::set(root, "/sm_count", 7_u64)).seal();
    package.verify(&[]).exits(1);
    let outcome = selftest(&package, &["--format", "json", "--at-least", "0"]);
    outcome.exits(1).obeys(include_str!("../../../docs/schema/recount-selftest-v1.json"));
    assert_eq!(outcome.report()["holds"], false);
    outcome
        .require(outcome.stderr.contains("device.json") || outcome.stderr.contains("model.json"), "errors are named");
    outcome.require(outcome.stderr.contains("the package itself does not hold"), "and so is what they mean");
    // What verify is told, selftest is told, too; warnings do not count against the package.
    let absent = Package::valid();
    absent
        .write("extra.txt", "more")
        .write("notes.txt", "mine")
        .seal()
        .remove("notes.txt")
        .write("other.txt", "undeclared");
    selftest(&absent, &[]).exits(1);
    let outcome = selftest(&absent, &["--allow-absent", "notes.txt", "--format", "json"]);
    assert_eq!(outcome.exits(0).report()["holds"], true);
    outcome.require(outcome.stderr.is_empty(), "nothing is said against it");
}
