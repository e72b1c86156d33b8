//! CRLF is a warning where the text is otherwise the sealed one, and nothing else is.

use recount::package::digest::{LfNormalizer, digest, lf_digest_reader};

use crate::common::package::Package;

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

#[test]
fn samples_checked_out_with_crlf_are_a_warning_that_says_what_to_do() {
    let package = Package::valid();
    package.edit_text("samples.csv", |text| crlf(&text));
    let outcome = package.verify(&[]);
    outcome.exits(0).only(&["line-endings"]);
    let finding = outcome.one("line-endings");
    assert_eq!((finding.file.as_str(), finding.severity.as_str()), ("samples.csv", "warning"));
    assert!(finding.advice.contains(".gitattributes") && finding.advice.contains("autocrlf"), "{}", finding.advice);
    let strict = package.verify(&["--strict"]);
    strict.exits(1).only(&["line-endings"]);
}

#[test]
fn a_whole_checkout_with_crlf_warns_once_for_each_file_and_checks_everything() {
    let package = Package::valid();
    let names = ["cases.json", "device.json", "model.json", "samples.csv", "validation.json", "README.md"];
    for name in names {
        package.edit_text(name, |text| crlf(&text));
    }
    let outcome = package.verify(&[]);
    outcome.exits(0).only(&["line-endings"]);
    outcome.require(outcome.all("line-endings").len() == names.len(), "one warning for each file");
    for family in ["samples", "timing", "proofs", "failures", "model", "exactness"] {
        outcome.require(outcome.outcome_of(family) == "passed", &format!("{family} passed"));
    }
}

#[test]
fn a_lone_cr_in_a_text_is_a_changed_text() {
    let package = Package::valid();
    package.edit_text("code/calibrate.py", |text| text.replacen("the tests", "the\r tests", 1));
    package.verify(&[]).exits(1).only(&["hash-mismatch"]);
}

#[test]
fn a_lone_cr_among_crlf_is_a_changed_text() {
    let package = Package::valid();
    package.edit_text("code/calibrate.py", |text| crlf(&text).replacen("\r\n", "\r\r\n", 1));
    package.verify(&[]).exits(1).only(&["hash-mismatch"]);
}

#[test]
fn crlf_and_one_changed_digit_is_a_changed_text() {
    let package = Package::valid();
    package.edit_text("samples.csv", |text| {
        let changed = text.replacen(",0,1.", ",0,2.", 1);
        assert_ne!(changed, text);
        crlf(&changed)
    });
    let outcome = package.verify(&[]);
    outcome.exits(1);
    assert_eq!(outcome.one("hash-mismatch").file, "samples.csv");
    outcome.require(!outcome.codes().contains(&"line-endings".to_owned()), "it is not called line endings");
    outcome.require(outcome.codes().contains(&"sample-mismatch".to_owned()), "the sample is compared all the same");
}

#[test]
fn a_text_sealed_with_crlf_and_checked_out_with_lf_is_a_changed_text() {
    let package = Package::of_text("notes.txt", "one\ntwo\n");
    package.write("notes.txt", "one\r\ntwo\r\n").reseal_file("notes.txt").write("notes.txt", "one\ntwo\n");
    package.verify(&[]).exits(1).only(&["hash-mismatch"]);
}

#[test]
fn a_binary_file_with_crlf_bytes_is_never_normalised() {
    let package = Package::of_text("data.bin", b"\0one\ntwo\n");
    package.write("data.bin", b"\0one\r\ntwo\r\n");
    package.verify(&[]).exits(1).only(&["hash-mismatch"]);
}

#[test]
fn a_crlf_across_the_boundary_of_two_reads_is_one_line_ending() {
    const CHUNK: usize = 256 << 10;
    for first_line in [CHUNK - 2, CHUNK - 1, CHUNK] {
        let text = format!("{}\n{}\nend\n", "a".repeat(first_line), "b".repeat(CHUNK - 1));
        let package = Package::of_text("long.txt", &text);
        package.verify(&[]).holds();
        package.write("long.txt", crlf(&text));
        package.verify(&[]).exits(0).only(&["line-endings"]);
        package.write("long.txt", text.replacen('\n', "\r", 1));
        package.verify(&[]).exits(1).only(&["hash-mismatch"]);
    }
}

#[test]
fn every_division_of_a_text_into_chunks_normalises_alike() {
    let text = b"a\r\nb\r\r\nc\n\rd\r\n\r\ne\r";
    let expected = b"a\nb\r\nc\n\rd\n\ne\r";
    for first in 0..=text.len() {
        for second in first..=text.len() {
            let mut normalizer = LfNormalizer::default();
            let mut normalised = Vec::new();
            for chunk in [&text[..first], &text[first..second], &text[second..]] {
                normalizer.push(chunk, &mut normalised);
            }
            normalizer.finish(&mut normalised);
            assert_eq!(normalised, expected, "divided at {first} and {second}");
        }
    }
    let whole = lf_digest_reader(&mut text.as_slice(), 1000).unwrap();
    assert_eq!(whole, Some(digest(expected)));
}
