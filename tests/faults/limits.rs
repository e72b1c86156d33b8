//! Limits on what is read: all in one place, in the table of `docs/robustness.md`, each with its error.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;

use recount::package::json::{Document, KnownFloats, StreamOptions};
use recount::package::limits;
use serde_json::{Value, json};

use crate::common::outcome::Outcome;
use crate::common::package::Package;

const SOURCE: &str = include_str!("../../src/package/limits.rs");
const TABLE: &str = include_str!("../../docs/robustness.md");

/// The constants and their values, read from the source.
fn constants() -> BTreeMap<&'static str, u64> {
    let one = |line: &'static str| {
        let (name, rest) = line.strip_prefix("pub const ")?.split_once(':')?;
        let value = rest.split_once('=')?.1.trim().trim_end_matches(';').replace('_', "");
        let value = match value.split_once("<<") {
            Some((base, shift)) => base.trim().parse::<u64>().ok()? << shift.trim().parse::<u32>().ok()?,
            None => value.parse().ok()?,
        };
        Some((name, value))
    };
    SOURCE.lines().filter_map(one).collect()
}

/// Such as `256 MiB`, `2^25` or `20000`.
fn value(cell: &str) -> Option<u64> {
    let parts: Vec<&str> = cell.split(' ').collect();
    let number = |text: &str| match text.split_once('^') {
        Some((base, exponent)) => Some(base.parse::<u64>().ok()?.pow(exponent.parse().ok()?)),
        None => text.parse().ok(),
    };
    let unit =
        |text: &str| Some(1_u64 << (10 * (["B", "KiB", "MiB", "GiB", "TiB"].iter().position(|unit| *unit == text)?)));
    match parts.as_slice() {
        [count] => number(count),
        [count, of] => Some(number(count)? * unit(of)?),
        _ => None,
    }
}

/// Name, value and test of every row.
fn rows() -> Vec<(&'static str, u64, &'static str)> {
    let section = TABLE.split("\n## ").find(|section| section.starts_with("Limits")).expect("a section Limits");
    let lines = section.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [_, name, is, _, test] = cells.as_slice() else { panic!("five cells are needed: {line}") };
            let value = value(is).unwrap_or_else(|| panic!("{is} is no value"));
            (name.trim_matches('`'), value, test.trim_matches('`'))
        })
        .collect()
}

#[test]
fn the_table_has_every_limit_with_its_value() {
    let listed: BTreeMap<&str, u64> = rows().into_iter().map(|(name, value, _)| (name, value)).collect();
    assert_eq!(listed, constants());
    assert_eq!(SOURCE.matches("pub const ").count(), listed.len(), "every constant could be read");
}

#[test]
fn every_limit_names_a_test_that_is_there() {
    fn sources(folder: &Path, all: &mut String) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => sources(&entry.path(), all),
                _ if entry.path().extension().is_some_and(|extension| extension == "rs") => {
                    all.push_str(&fs::read_to_string(entry.path()).expect("a source"));
                }
                _ => {}
            }
        }
    }
    let mut all = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut all);
    for (name, _, test) in rows() {
        assert!(all.contains(&format!("fn {test}()")), "{name} is tested by {test}");
    }
    // The faults, too, name their tests.
    let section = TABLE.split("\n## ").find(|section| section.starts_with("Faults")).expect("a section Faults");
    let named: Vec<&str> = section.split('`').filter(|word| word.contains("::")).collect();
    assert!(named.len() > 20, "{named:?}");
    for test in named {
        let name = test.rsplit("::").next().unwrap_or_default();
        assert!(all.contains(&format!("fn {name}()")), "there is a test {test}");
    }
}

fn sparse(path: &Path, bytes: u64) -> bool {
    match File::create(path).expect("a file").set_len(bytes) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("skipped: no file of {bytes} bytes here ({error})");
            false
        }
    }
}

#[test]
fn a_document_is_nested_as_deep_as_the_limit_and_no_deeper() {
    let known = KnownFloats::default();
    let text = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let stream = |text: &str| {
        let options = StreamOptions { packed_from: 64, is_long: |_| true, shrink: |_| {}, known: &known };
        Document::stream("x.json", &mut text.as_bytes(), &options).is_ok()
    };
    let deepest = text(limits::MAX_JSON_DEPTH);
    assert!(Document::parse("x.json", deepest.clone()).is_ok() && stream(&deepest));
    let deeper = text(limits::MAX_JSON_DEPTH + 1);
    let error = Document::parse("x.json", deeper.clone()).expect_err("an error").to_string();
    assert!(error.contains("recursion limit"), "{error}");
    assert!(!stream(&deeper));
}

#[test]
#[ignore = "takes a gibibyte of memory"]
fn more_values_than_a_document_may_have_are_refused() {
    let text = format!("[{}0]", "0,".repeat(limits::MAX_JSON_VALUES));
    let error = Document::parse("x.json", text).expect_err("an error").to_string();
    assert!(error.contains("more than 33554432 values"), "{error}");
}

/// The same text again and again.
struct Repeated {
    text: &'static [u8],
    at: usize,
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        for byte in buffer.iter_mut() {
            *byte = self.text[self.at];
            self.at = (self.at + 1) % self.text.len();
        }
        Ok(buffer.len())
    }
}

#[test]
#[ignore = "reads a gibibyte"]
fn more_floats_than_a_stream_may_have_are_refused() {
    let known = KnownFloats::default();
    let options = StreamOptions { packed_from: 64, is_long: |_| true, shrink: |_| {}, known: &known };
    // Lists of a hundred floats, without end.
    let list: &'static [u8] = format!("[{}0.5],", "0.5,".repeat(99)).leak().as_bytes();
    let endless = b"[".chain(Repeated { text: list, at: 0 });
    let error = Document::stream("x.json", &mut BufReader::new(endless), &options).expect_err("an error").to_string();
    assert!(error.contains("more than 268435456 floats") || error.contains("more than 33554432 values"), "{error}");
}

#[test]
fn a_file_larger_than_what_is_hashed_is_refused_unread() {
    let package = Package::valid();
    if !sparse(&package.file("code/calibrate.py"), limits::MAX_HASHED_BYTES + 1) {
        return;
    }
    let finding = package.verify(&[]).exits(1).one("unreadable-file");
    assert_eq!(finding.file, "code/calibrate.py");
    let sealed = package.run("seal", &[]);
    sealed.exits(2);
    sealed.require(sealed.stderr.contains("at most 1099511627776 are read"), "the limit is named");
}

#[test]
#[ignore = "makes four million files"]
fn more_files_than_are_listed_are_refused() {
    let package = Package::of_text("a.txt", "a\n");
    for folder in 0..=limits::MAX_LISTED_FILES >> 12 {
        fs::create_dir(package.file(&folder.to_string())).expect("a folder");
        for file in 0..1 << 12 {
            File::create(package.file(&format!("{folder}/{file}"))).expect("a file");
        }
    }
    let finding = package.verify(&[]).exits(1).one("unreadable-file");
    assert!(finding.found.contains("more than 4194304 files"), "{finding:?}");
}

#[test]
fn a_list_of_what_is_not_published_has_a_limit() {
    let package = Package::of_text("a.txt", "a\n");
    let text = "nothing/*\n".repeat(limits::MAX_IGNORE_BYTES as usize / 10 + 1);
    package.write(".recountignore", text);
    let sealed = package.run("seal", &[]);
    sealed.exits(2);
    sealed.require(sealed.stderr.contains(".recountignore") && sealed.stderr.contains("65536"), "file and limit");
}

#[test]
fn a_receipt_file_has_a_limit() {
    let package = Package::empty();
    sparse(&package.file("receipt.json"), limits::MAX_RECEIPT_BYTES + 1);
    let path = package.file("receipt.json");
    let outcome = Outcome::of(&["verify", path.to_str().expect("UTF-8"), "--format", "json"], None);
    outcome.exits(2);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    outcome.require(said.contains("at most 67108864 are read"), "the limit is named");
}

/// What is found in the repository's divergence receipt after a change.
fn changed_receipt(pointer: &str, to: Value) -> Outcome {
    let text = include_str!("../../receipts/grid-sample-divergence.json");
    let mut receipt: Value = serde_json::from_str(text).expect("JSON");
    *receipt.pointer_mut(pointer).expect("a value") = to;
    let package = Package::empty();
    package.write("receipt.json", receipt.to_string());
    Outcome::of(&["verify", package.file("receipt.json").to_str().expect("UTF-8"), "--format", "json"], None)
}

#[test]
fn extents_and_trials_of_a_protocol_have_limits() {
    let outcome = changed_receipt("/protocol/output_resolutions/0", json!(limits::MAX_EXTENT + 1));
    assert_eq!(outcome.exits(1).one("malformed-field").pointer, "/protocol/output_resolutions");
    let outcome = changed_receipt("/protocol/trials_per_resolution", json!(limits::MAX_COUNTED_TRIALS + 1));
    outcome.exits(1).at("divergence-protocol", "receipt.json", "/protocol/trials_per_resolution");
}

#[test]
fn inputs_that_are_made_again_have_a_limit() {
    let package = Package::empty();
    let out = package.file("package");
    let out = out.to_str().expect("UTF-8");
    let run = ["divergence", "run", "--out", out, "--engine", "cpu", "--trials", "2", "--resolutions", "4", "-q"];
    Outcome::of(&run, None).exits(0);
    let name = "package/cpu/experiment_results.json";
    let mut results: Value = serde_json::from_str(&package.text(name)).expect("JSON");
    results["protocol"]["input_shape"] = json!([1, 3, 1 << 12, 1 << 12]);
    package.write(name, results.to_string());
    Outcome::of(&["seal", out, "-q"], None).exits(0);
    let outcome = Outcome::of(&["verify", out, "--format", "json"], None);
    outcome.exits(1);
    let said = outcome.checks().iter().any(|check| check["notes"].to_string().contains("more than 33554432 values"));
    outcome.require(said, "a note says that inputs were not made again");
}

#[test]
fn signatures_and_lists_of_signers_have_limits() {
    let package = Package::valid();
    package.write("receipts.json.sig", vec![b'-'; limits::MAX_SIGNATURE_BYTES as usize + 1]);
    let elsewhere = Package::empty();
    elsewhere.write(
        "few",
        "alice@example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS\n",
    );
    elsewhere.write("many", "# nobody\n".repeat(limits::MAX_ALLOWED_BYTES as usize / 9 + 1));
    let path = |name: &str| elsewhere.file(name).to_str().expect("UTF-8").to_owned();
    let finding = package.verify(&["--allowed-signers", &path("few")]).exits(1).one("signature-invalid");
    assert!(finding.found.contains("at most 65536 are read"), "{finding:?}");
    let outcome = package.run("verify", &["--allowed-signers", &path("many")]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("has more than 4194304 bytes"), "the limit is named");
}

#[test]
fn a_readme_has_limits() {
    let package = Package::valid();
    let readme = package.text("README.md");
    let more = "Words without a number.\n".repeat(limits::MAX_README_BYTES / 24 + 1);
    package.write("README.md", format!("{readme}\n{more}")).seal();
    let outcome = package.verify(&[]);
    outcome.exits(0);
    let prose = outcome.outcome_of("prose");
    outcome.require(prose.contains("at most 1048576 are read as prose"), "prose was not run, and why");

    let numbers = "It was 3.5 then.\n\n".repeat(limits::MAX_README_NUMBERS + 1);
    package.write("README.md", format!("{readme}\n{numbers}")).seal();
    let outcome = package.verify(&[]);
    let said = outcome.checks().iter().any(|check| check["notes"].to_string().contains("only the first 20000 numbers"));
    outcome.require(said, "a note says so");
}

#[test]
fn a_table_of_medians_has_a_limit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts/partition-rtx4060-published");
    let package = Package::empty();
    for name in ["claims.json", "README.md", "medians.csv"] {
        package.write(name, fs::read(folder.join(name)).expect("a published file"));
    }
    let rows: String = (0..limits::MAX_MEDIAN_ROWS)
        .map(|at| format!("reduce_sum {}x1024 fp16 B4,2.1989,0.9235,1.3005,2.1985,0.9790,rows1\n", at + 100))
        .collect();
    package.edit_text("medians.csv", |text| text + &rows).seal();
    let outcome = package.verify(&[]);
    let found = outcome.exits(1).all("claim-malformed");
    outcome.require(found.iter().any(|one| one.expected.contains("at most 1024 cases")), "the limit is named");
}
