//! Every format, rendered from one report that holds a clean subject and a hostile one.

// The helpers below are outside of test functions, where the exemption for tests does not reach.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use recount::audit::{
    CATALOGUE, CheckReport, Code, Distance, Fact, Family, Finding, Outcome, Place, Report, RequestError, SubjectKind,
    SubjectReport, Tally,
};
use recount::render::escape::is_hidden;
use recount::render::{Format, Style, Verbosity, explain, list, render};
use serde::Deserialize;

const FORMATS: [Format; 5] = [Format::Text, Format::Json, Format::Markdown, Format::Junit, Format::Sarif];

/// Escape sequence, bar, HTML, quotes, line break, bidi override, braces, Markdown, a mention.
const HOSTILE: &str = "\u{1b}[31m|<script>\"'`\r\n\u{202e}{0}[x](y)*@me*\u{0}\u{fffe}&";

fn check(family: Family, outcome: Outcome, tally: (u64, u64, u64)) -> CheckReport {
    let tally = Tally { exact: tally.0, within_tolerance: tally.1, wrong: tally.2 };
    CheckReport { family, outcome, tally, findings: Vec::new(), notes: Vec::new() }
}

fn finding(code: Code, file: &str, place: Place, expected: &str, found: &str) -> Finding {
    let distance = match (expected.parse(), found.parse()) {
        (Ok(expected), Ok(found)) => Distance::between(expected, found),
        _ => None,
    };
    Finding {
        code,
        severity: code.severity(),
        file: file.to_owned(),
        place,
        expected: expected.to_owned(),
        found: found.to_owned(),
        distance,
        advice: code.advice().to_owned(),
    }
}

fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.to_owned(), value: value.to_owned() }
}

/// Passes, with values within tolerance and a note.
fn clean() -> SubjectReport {
    let mut model = check(Family::Model, Outcome::Passed, (1204, 31, 0));
    model.notes.push("the largest distance seen is 9 ulp, at /fit/coefficients/0".to_owned());
    SubjectReport {
        path: "evidence/partition".to_owned(),
        kind: SubjectKind::Partition,
        receipts_sha256: Some("3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8550".to_owned()),
        checks: vec![
            check(Family::Integrity, Outcome::Passed, (32, 0, 0)),
            check(Family::Samples, Outcome::Passed, (1215, 0, 0)),
            model,
        ],
        facts: vec![fact("cases", "16"), fact("samples", "567"), fact("a0", "0.9028899747245084")],
        limits: vec![
            "that the device was idle, or that anything was measured at all: a consistent invention passes".to_owned(),
            "who made the package".to_owned(),
        ],
    }
}

/// An error in several places, a warning, a check that was not run, and text that wants to be more than text.
fn hostile() -> SubjectReport {
    let mut integrity = check(Family::Integrity, Outcome::Passed, (9, 0, 1));
    integrity.findings.push(finding(
        Code::UndeclaredFile,
        &format!("notes {HOSTILE}.txt"),
        Place::whole_file(),
        "a receipt",
        HOSTILE,
    ));
    let mut samples = check(Family::Samples, Outcome::Failed, (560, 0, 8));
    for line in 2..9 {
        samples.findings.push(finding(
            Code::SampleMismatch,
            "samples.csv",
            Place::cell(line, "event_us"),
            "1.5",
            "1.6",
        ));
    }
    let place = Place { line: Some(12), column: Some(7), ..Place::pointer("/cases/0/p50") };
    samples.findings.push(finding(Code::MedianMismatch, "validation.json", place, "1.0", "1.0000000000000002"));
    SubjectReport {
        path: format!("evidence/{HOSTILE}"),
        kind: SubjectKind::Claims,
        receipts_sha256: None,
        checks: vec![
            integrity,
            samples,
            check(Family::Model, Outcome::NotRun(format!("model.json has no fit {HOSTILE}")), (0, 0, 0)),
        ],
        facts: vec![fact("device", HOSTILE)],
        limits: vec!["anything about samples that were not published".to_owned()],
    }
}

fn report() -> Report {
    let errors = vec![RequestError {
        path: "nowhere".to_owned(),
        reason: "no such file or folder; check the spelling".to_owned(),
    }];
    Report { subjects: vec![clean(), hostile()], errors, strict: false }
}

fn alone(subject: SubjectReport) -> Report {
    Report { subjects: vec![subject], errors: Vec::new(), strict: false }
}

fn empty() -> Report {
    Report { subjects: Vec::new(), errors: Vec::new(), strict: false }
}

fn rendered_as(report: &Report, format: Format, style: &Style) -> String {
    let mut bytes = Vec::new();
    render(report, format, style, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn rendered(report: &Report, format: Format) -> String {
    rendered_as(report, format, &Style::default())
}

/// With the version taken out, so that a release changes no snapshot.
fn without_version(text: &str) -> String {
    text.replace(&format!("\"{}\"", env!("CARGO_PKG_VERSION")), "\"[version]\"")
}

fn verbosity(verbosity: Verbosity) -> Style {
    Style { verbosity, ..Style::default() }
}

#[test]
fn a_clean_subject_reads_well() {
    insta::assert_snapshot!(rendered(&alone(clean()), Format::Text), @r#"
    evidence/partition (partition package)
      SHA-256 of receipts.json:
        3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8550

        check      outcome  bit-exact  within tolerance  findings
      ✓ integrity  passed          32                 0         0
      ✓ samples    passed        1215                 0         0
      ✓ model      passed        1204                31         0

      note (model): the largest distance seen is 9 ulp, at /fit/coefficients/0

      derived: 16 cases; 567 samples; a0 = 0.9028899747245084

    A pass does not prove:
      - that the device was idle, or that anything was measured at all: a consistent
        invention passes
      - who made the package

    ✓ evidence/partition: everything checked holds; 2451 bit-exact, 31 within
      tolerance
    "#);
}

#[test]
fn several_subjects_get_a_closing_summary() {
    insta::assert_snapshot!(rendered(&report(), Format::Text), @r#"
    evidence/partition (partition package)
      SHA-256 of receipts.json:
        3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8550

        check      outcome  bit-exact  within tolerance  findings
      ✓ integrity  passed          32                 0         0
      ✓ samples    passed        1215                 0         0
      ✓ model      passed        1204                31         0

      note (model): the largest distance seen is 9 ulp, at /fit/coefficients/0

      derived: 16 cases; 567 samples; a0 = 0.9028899747245084

    evidence/\x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe& (claims over
      printed medians)

        check      outcome               bit-exact  within tolerance  findings
      ! integrity  passed with warnings          9                 0         1
      ✗ samples    failed                      560                 0         8
      - model      not run               model.json has no fit
                                         \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me
                                         *\x00\ufffe&

      ! undeclared-file (warning): A file in the package has no receipt
        notes \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&.txt
          expected a receipt
          found    \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&
        advice: Remove the file, or seal the package again with it.

      ✗ sample-mismatch (error) in 7 places: samples.csv and validation.json
        disagree on a sample
        samples.csv:2 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:3 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:4 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:5 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:6 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        and 2 more (-v shows all)
        advice: Find out which of the two files was changed.

      ✗ median-mismatch (error): A recorded median is not the median of its
        samples
        validation.json:12:7 /cases/0/p50
          expected 1.0
          found    1.0000000000000002
          apart    1 ulp, 2.2e-16 relative
        advice: Recompute the median; find out which run the recorded one came
          from.

      `recount explain CODE` says why a code matters.

      derived: device = \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&

    A pass of evidence/partition does not prove:
      - that the device was idle, or that anything was measured at all: a consistent
        invention passes
      - who made the package

    A pass of evidence/\x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&
      does not prove:
      - anything about samples that were not published

    ✗ error: nowhere: no such file or folder; check the spelling
    ✓ evidence/partition: everything checked holds; 2451 bit-exact, 31 within
      tolerance
    ✗ evidence/\x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&: something
      does not hold (8 errors, 1 warning); 569 bit-exact, 0 within tolerance; 1
      check not run (model)
    ✗ could not be verified; 1 of 2 subjects holds; 3020 bit-exact, 31 within
      tolerance; 1 path could not be looked at
    "#);
}

#[test]
fn quiet_text_is_the_verdicts_and_the_errors() {
    insta::assert_snapshot!(rendered_as(&report(), Format::Text, &verbosity(Verbosity::Quiet)), @r#"
    ✗ error: nowhere: no such file or folder; check the spelling
    ✓ evidence/partition: everything checked holds; 2451 bit-exact, 31 within
      tolerance
    ✗ evidence/\x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&: something
      does not hold (8 errors, 1 warning); 569 bit-exact, 0 within tolerance; 1
      check not run (model)
    "#);
}

#[test]
fn verbose_text_shows_every_place_and_the_reasons() {
    insta::assert_snapshot!(rendered_as(&alone(hostile()), Format::Text, &verbosity(Verbosity::Verbose)), @r#"
    evidence/\x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe& (claims over
      printed medians)

        check      outcome               bit-exact  within tolerance  findings
      ! integrity  passed with warnings          9                 0         1
          a pass proves: every declared file is there, inside the package, with the
          recorded bytes and hash
      ✗ samples    failed                      560                 0         8
          a pass proves: samples.csv and validation.json hold the same samples, and
          every median is theirs
      - model      not run               model.json has no fit
                                         \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me
                                         *\x00\ufffe&
          a pass proves: observations, subsets, folds, residuals, decisions and
          metrics are what a refit gives

      ! undeclared-file (warning): A file in the package has no receipt
        The file lies in the package folder but receipts.json does not list it, so
        nothing binds its content.
        notes \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&.txt
          expected a receipt
          found    \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&
        advice: Remove the file, or seal the package again with it.

      ✗ sample-mismatch (error) in 7 places: samples.csv and validation.json
        disagree on a sample
        Each sample stands in both files. They must be the same binary64 number, bit
        for bit.
        samples.csv:2 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:3 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:4 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:5 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:6 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:7 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        samples.csv:8 event_us
          expected 1.5
          found    1.6
          apart    4.5e14 ulp, 6.2e-2 relative
        advice: Find out which of the two files was changed.

      ✗ median-mismatch (error): A recorded median is not the median of its
        samples
        The p50 must equal the true median of the samples beside it (the mean of the
        middle two for an even count), to the last bit.
        validation.json:12:7 /cases/0/p50
          expected 1.0
          found    1.0000000000000002
          apart    1 ulp, 2.2e-16 relative
        advice: Recompute the median; find out which run the recorded one came
          from.

      derived: device = \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&

    A pass does not prove:
      - anything about samples that were not published

    ✗ evidence/\x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&: something
      does not hold (8 errors, 1 warning); 569 bit-exact, 0 within tolerance; 1
      check not run (model)
    "#);
}

#[test]
fn text_keeps_to_its_width() {
    for width in [40, 60, 80, 120] {
        let style = Style { width, ..verbosity(Verbosity::Verbose) };
        for line in rendered_as(&report(), Format::Text, &style).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn colour_changes_no_word() {
    let plain = rendered(&report(), Format::Text);
    let colored = rendered_as(&report(), Format::Text, &Style { color: true, ..Style::default() });
    assert_ne!(plain, colored);
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
    for format in [Format::Json, Format::Markdown, Format::Junit, Format::Sarif] {
        let colored = rendered_as(&report(), format, &Style { color: true, ..Style::default() });
        assert_eq!(colored, rendered(&report(), format));
    }
}

#[test]
fn strict_says_that_warnings_fail() {
    let mut subject = hostile();
    subject.checks.truncate(1);
    let lenient = rendered_as(&alone(subject.clone()), Format::Text, &verbosity(Verbosity::Quiet));
    assert!(lenient.replace("\n  ", " ").contains("everything checked holds (1 warning); 9 bit-exact"), "{lenient}");
    let report = Report { strict: true, ..alone(subject) };
    let strict = rendered_as(&report, Format::Text, &verbosity(Verbosity::Quiet));
    assert!(
        strict.replace("\n  ", " ").contains("something does not hold, as warnings fail under --strict"),
        "{strict}"
    );
    assert!(rendered(&report, Format::Junit).contains("<failure message=\"1 warning (--strict)\">"));
}

#[test]
fn strict_names_the_checks_that_were_not_run() {
    let mut subject = hostile();
    subject.checks.retain(|check| matches!(check.outcome, Outcome::NotRun(_)));
    let not_run = subject.checks[0].family.name();
    let said = |subject: &SubjectReport| {
        let report = Report { strict: true, ..alone(subject.clone()) };
        rendered_as(&report, Format::Text, &Style { width: 400, ..verbosity(Verbosity::Quiet) })
    };
    subject.checks[0].tally.exact = 1;
    let strict = said(&subject);
    assert!(strict.contains("does not hold, as checks that were not run fail under --strict;"), "{strict}");
    assert!(strict.contains(&format!("1 check not run ({not_run})")), "{strict}");
    let warned = hostile().checks.remove(0);
    assert!(warned.findings.iter().any(|finding| finding.severity == recount::audit::Severity::Warning));
    subject.checks.insert(0, warned);
    let strict = said(&subject);
    assert!(strict.contains(", as warnings and checks that were not run fail under --strict"), "{strict}");
}

#[test]
fn no_format_lets_a_hidden_character_through() {
    let mut report = report();
    report.errors.push(RequestError { path: HOSTILE.to_owned(), reason: HOSTILE.to_owned() });
    report.subjects[1].limits.push(HOSTILE.to_owned());
    report.subjects[1].checks[0].notes.push(HOSTILE.to_owned());
    report.subjects[1].facts.push(fact(HOSTILE, HOSTILE));
    for finding in &mut report.subjects[1].checks[1].findings {
        finding.advice = HOSTILE.to_owned();
        finding.place.pointer = Some(format!("/{HOSTILE}"));
        finding.place.field = Some(HOSTILE.to_owned());
    }
    for format in FORMATS {
        let text = rendered_as(&report, format, &verbosity(Verbosity::Verbose));
        let hidden: Vec<char> = text.chars().filter(|character| is_hidden(*character) && *character != '\n').collect();
        assert!(hidden.is_empty(), "{format:?}: {hidden:?}");
    }
}

#[test]
fn an_empty_report_renders_in_every_format() {
    let text: Vec<String> = FORMATS.iter().map(|format| rendered(&empty(), *format)).collect();
    assert_eq!(text[0], "✗ could not be verified; nothing was asked for\n");
    assert_eq!(text[2], "## ✗ recount: could not be verified\n\ncould not be verified; nothing was asked for\n");
    assert!(quick_junit::Report::deserialize_from_str(&text[3]).unwrap().errors == 1);
    validate_json(&text[1]);
    let log: Log = serde_json::from_str(&text[4]).unwrap();
    assert!(log.runs[0].results.is_empty() && !log.runs[0].invocations[0].execution_successful);
}

#[test]
fn rendering_twice_gives_the_same_bytes() {
    for format in FORMATS {
        assert_eq!(rendered(&report(), format), rendered(&report(), format));
    }
}

#[test]
fn a_hundred_thousand_findings_render_in_every_format() {
    let mut subject = hostile();
    let findings = &mut subject.checks[1].findings;
    let row = findings[0].clone();
    findings.extend((0..100_000).map(|line| Finding { place: Place::cell(line + 9, "event_us"), ..row.clone() }));
    let report = alone(subject);
    for format in FORMATS {
        let start = Instant::now();
        let text = rendered_as(&report, format, &verbosity(Verbosity::Verbose));
        assert!(!text.is_empty() && start.elapsed() < Duration::from_secs(20), "{format:?}: {:?}", start.elapsed());
    }
    assert!(rendered(&report, Format::Text).lines().count() < 100);
    assert!(rendered(&report, Format::Markdown).len() < 65_536);
}

#[test]
fn a_writers_error_comes_back_as_it_is() {
    struct Broken;
    impl std::io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in FORMATS {
        let error = render(&report(), format, &Style::default(), &mut Broken).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{format:?}");
    }
}

#[test]
fn json_is_the_report_in_an_envelope() {
    insta::assert_snapshot!(without_version(&rendered(&report(), Format::Json)), @r#"
    {
      "schema": "recount-report-v1",
      "tool": {
        "name": "recount",
        "version": "[version]"
      },
      "verdict": "could-not-verify",
      "exit_code": 2,
      "strict": false,
      "subjects": [
        {
          "verdict": "holds",
          "tally": {
            "exact": 2451,
            "within_tolerance": 31,
            "wrong": 0
          },
          "path": "evidence/partition",
          "kind": "partition",
          "receipts_sha256": "3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8550",
          "checks": [
            {
              "family": "integrity",
              "outcome": {
                "result": "passed"
              },
              "tally": {
                "exact": 32,
                "within_tolerance": 0,
                "wrong": 0
              },
              "findings": [],
              "notes": []
            },
            {
              "family": "samples",
              "outcome": {
                "result": "passed"
              },
              "tally": {
                "exact": 1215,
                "within_tolerance": 0,
                "wrong": 0
              },
              "findings": [],
              "notes": []
            },
            {
              "family": "model",
              "outcome": {
                "result": "passed"
              },
              "tally": {
                "exact": 1204,
                "within_tolerance": 31,
                "wrong": 0
              },
              "findings": [],
              "notes": [
                "the largest distance seen is 9 ulp, at /fit/coefficients/0"
              ]
            }
          ],
          "facts": [
            {
              "name": "cases",
              "value": "16"
            },
            {
              "name": "samples",
              "value": "567"
            },
            {
              "name": "a0",
              "value": "0.9028899747245084"
            }
          ],
          "limits": [
            "that the device was idle, or that anything was measured at all: a consistent invention passes",
            "who made the package"
          ]
        },
        {
          "verdict": "does-not-hold",
          "tally": {
            "exact": 569,
            "within_tolerance": 0,
            "wrong": 9
          },
          "path": "evidence/\u001b[31m|<script>\"'`\r\n\u202e{0}[x](y)*@me*\u0000\ufffe&",
          "kind": "claims",
          "checks": [
            {
              "family": "integrity",
              "outcome": {
                "result": "passed"
              },
              "tally": {
                "exact": 9,
                "within_tolerance": 0,
                "wrong": 1
              },
              "findings": [
                {
                  "code": "undeclared-file",
                  "severity": "warning",
                  "file": "notes \u001b[31m|<script>\"'`\r\n\u202e{0}[x](y)*@me*\u0000\ufffe&.txt",
                  "expected": "a receipt",
                  "found": "\u001b[31m|<script>\"'`\r\n\u202e{0}[x](y)*@me*\u0000\ufffe&",
                  "advice": "Remove the file, or seal the package again with it."
                }
              ],
              "notes": []
            },
            {
              "family": "samples",
              "outcome": {
                "result": "failed"
              },
              "tally": {
                "exact": 560,
                "within_tolerance": 0,
                "wrong": 8
              },
              "findings": [
                {
                  "code": "sample-mismatch",
                  "severity": "error",
                  "file": "samples.csv",
                  "line": 2,
                  "field": "event_us",
                  "expected": "1.5",
                  "found": "1.6",
                  "distance": {
                    "ulp": 450359962737050,
                    "relative": 0.0625
                  },
                  "advice": "Find out which of the two files was changed."
                },
                {
                  "code": "sample-mismatch",
                  "severity": "error",
                  "file": "samples.csv",
                  "line": 3,
                  "field": "event_us",
                  "expected": "1.5",
                  "found": "1.6",
                  "distance": {
                    "ulp": 450359962737050,
                    "relative": 0.0625
                  },
                  "advice": "Find out which of the two files was changed."
                },
                {
                  "code": "sample-mismatch",
                  "severity": "error",
                  "file": "samples.csv",
                  "line": 4,
                  "field": "event_us",
                  "expected": "1.5",
                  "found": "1.6",
                  "distance": {
                    "ulp": 450359962737050,
                    "relative": 0.0625
                  },
                  "advice": "Find out which of the two files was changed."
                },
                {
                  "code": "sample-mismatch",
                  "severity": "error",
                  "file": "samples.csv",
                  "line": 5,
                  "field": "event_us",
                  "expected": "1.5",
                  "found": "1.6",
                  "distance": {
                    "ulp": 450359962737050,
                    "relative": 0.0625
                  },
                  "advice": "Find out which of the two files was changed."
                },
                {
                  "code": "sample-mismatch",
                  "severity": "error",
                  "file": "samples.csv",
                  "line": 6,
                  "field": "event_us",
                  "expected": "1.5",
                  "found": "1.6",
                  "distance": {
                    "ulp": 450359962737050,
                    "relative": 0.0625
                  },
                  "advice": "Find out which of the two files was changed."
                },
                {
                  "code": "sample-mismatch",
                  "severity": "error",
                  "file": "samples.csv",
                  "line": 7,
                  "field": "event_us",
                  "expected": "1.5",
                  "found": "1.6",
                  "distance": {
                    "ulp": 450359962737050,
                    "relative": 0.0625
                  },
                  "advice": "Find out which of the two files was changed."
                },
                {
                  "code": "sample-mismatch",
                  "severity": "error",
                  "file": "samples.csv",
                  "line": 8,
                  "field": "event_us",
                  "expected": "1.5",
                  "found": "1.6",
                  "distance": {
                    "ulp": 450359962737050,
                    "relative": 0.0625
                  },
                  "advice": "Find out which of the two files was changed."
                },
                {
                  "code": "median-mismatch",
                  "severity": "error",
                  "file": "validation.json",
                  "pointer": "/cases/0/p50",
                  "line": 12,
                  "column": 7,
                  "expected": "1.0",
                  "found": "1.0000000000000002",
                  "distance": {
                    "ulp": 1,
                    "relative": 2.220446049250313e-16
                  },
                  "advice": "Recompute the median; find out which run the recorded one came from."
                }
              ],
              "notes": []
            },
            {
              "family": "model",
              "outcome": {
                "result": "not-run",
                "reason": "model.json has no fit \u001b[31m|<script>\"'`\r\n\u202e{0}[x](y)*@me*\u0000\ufffe&"
              },
              "tally": {
                "exact": 0,
                "within_tolerance": 0,
                "wrong": 0
              },
              "findings": [],
              "notes": []
            }
          ],
          "facts": [
            {
              "name": "device",
              "value": "\u001b[31m|<script>\"'`\r\n\u202e{0}[x](y)*@me*\u0000\ufffe&"
            }
          ],
          "limits": [
            "anything about samples that were not published"
          ]
        }
      ],
      "errors": [
        {
          "path": "nowhere",
          "reason": "no such file or folder; check the spelling"
        }
      ]
    }
    "#);
}

#[test]
fn json_agrees_with_its_schema() {
    for report in [report(), alone(clean()), empty()] {
        validate_json(&rendered(&report, Format::Json));
    }
    let value: serde_json::Value = serde_json::from_str(&rendered(&report(), Format::Json)).unwrap();
    assert_eq!(value["subjects"][1]["path"], format!("evidence/{HOSTILE}"), "escapes change no value");
    assert_eq!(value["subjects"][0]["verdict"], "holds");
    assert_eq!(value["exit_code"], 2);
}

#[test]
fn the_schema_is_closed_and_described() {
    fn walk(value: &serde_json::Value, at: &str) {
        if let Some(properties) = value.get("properties").and_then(|properties| properties.as_object()) {
            assert_eq!(value["additionalProperties"], false, "{at}");
            for (name, property) in properties {
                assert!(property["description"].is_string(), "{at}/{name}");
                walk(property, &format!("{at}/{name}"));
            }
        }
        for (name, definition) in
            value.get("$defs").and_then(|definitions| definitions.as_object()).into_iter().flatten()
        {
            assert!(definition["description"].is_string(), "{name}");
            walk(definition, name);
        }
        for (index, choice) in
            value.get("oneOf").and_then(|choices| choices.as_array()).into_iter().flatten().enumerate()
        {
            walk(choice, &format!("{at}/{index}"));
        }
    }
    walk(&schema(), "");
    let name = |name: &str| name.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit());
    assert!(CATALOGUE.iter().all(|rule| name(rule.name)) && Family::ALL.iter().all(|family| name(family.name())));
}

fn schema() -> serde_json::Value {
    serde_json::from_str(include_str!("../docs/schema/recount-report-v1.json")).unwrap()
}

fn validate_json(text: &str) {
    assert!(text.ends_with("}\n"));
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn markdown_is_a_comment_on_a_pull_request() {
    insta::assert_snapshot!(rendered(&report(), Format::Markdown), @r#"
    ## ✗ recount: could not be verified

    could not be verified; 1 of 2 subjects holds; 3020 bit-exact, 31 within tolerance; 1 path could not be looked at

    - ✗ `nowhere`: `no such file or folder; check the spelling`

    ### ✓ `evidence/partition` (partition package)

    everything checked holds; 2451 bit-exact, 31 within tolerance

    |  | check | outcome | bit-exact | within tolerance | findings |
    | --- | --- | --- | ---: | ---: | ---: |
    | ✓ | integrity | passed | 32 | 0 | 0 |
    | ✓ | samples | passed | 1215 | 0 | 0 |
    | ✓ | model | passed | 1204 | 31 | 0 |

    - note (model): `the largest distance seen is 9 ulp, at /fit/coefficients/0`
    - derived: `16 cases`, `567 samples`, `a0 = 0.9028899747245084`
    - SHA-256 of receipts.json: `3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8550`

    ### ✗ ``evidence/\x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&`` (claims over printed medians)

    something does not hold (8 errors, 1 warning); 569 bit-exact, 0 within tolerance; 1 check not run (model)

    |  | check | outcome | bit-exact | within tolerance | findings |
    | --- | --- | --- | ---: | ---: | ---: |
    | ! | integrity | passed with warnings | 9 | 0 | 1 |
    | ✗ | samples | failed | 560 | 0 | 8 |
    | \- | model | not run | 0 | 0 | 0 |

    - model not run: ``model.json has no fit \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&``
    - derived: ``device = \x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&``

    <details><summary>9 findings (8 errors, 1 warning)</summary>

    | level | code | where | expected | found | apart |
    | --- | --- | --- | --- | --- | --- |
    | warning | `undeclared-file` | ``notes \x1b[31m\|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&.txt`` | `a receipt` | ``\x1b[31m\|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&`` |  |
    | error | `sample-mismatch` | `samples.csv:2 event_us` | `1.5` | `1.6` | 4.5e14 ulp, 6.2e-2 relative |
    | error | `sample-mismatch` | `samples.csv:3 event_us` | `1.5` | `1.6` | 4.5e14 ulp, 6.2e-2 relative |
    | error | `sample-mismatch` | `samples.csv:4 event_us` | `1.5` | `1.6` | 4.5e14 ulp, 6.2e-2 relative |
    | error | `sample-mismatch` | `samples.csv:5 event_us` | `1.5` | `1.6` | 4.5e14 ulp, 6.2e-2 relative |
    | error | `sample-mismatch` | `samples.csv:6 event_us` | `1.5` | `1.6` | 4.5e14 ulp, 6.2e-2 relative |
    | error | `sample-mismatch` | `samples.csv:7 event_us` | `1.5` | `1.6` | 4.5e14 ulp, 6.2e-2 relative |
    | error | `sample-mismatch` | `samples.csv:8 event_us` | `1.5` | `1.6` | 4.5e14 ulp, 6.2e-2 relative |
    | error | `median-mismatch` | `validation.json:12:7 /cases/0/p50` | `1.0` | `1.0000000000000002` | 1 ulp, 2.2e-16 relative |

    - `undeclared-file`: A file in the package has no receipt. Remove the file, or seal the package again with it.
    - `sample-mismatch`: samples.csv and validation.json disagree on a sample. Find out which of the two files was changed.
    - `median-mismatch`: A recorded median is not the median of its samples. Recompute the median; find out which run the recorded one came from.

    </details>

    <details><summary>A pass does not prove</summary>

    For `evidence/partition`:

    - that the device was idle, or that anything was measured at all: a consistent invention passes
    - who made the package

    </details>

    <details><summary>A pass does not prove</summary>

    For ``evidence/\x1b[31m|<script>"'`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&``:

    - anything about samples that were not published

    </details>
    "#);
}

#[test]
fn markdown_reads_untrusted_text_as_text() {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    let markdown = rendered(&report(), Format::Markdown);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let mut cells = Vec::new();
    for event in Parser::new_ext(&markdown, options) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let known = ["<details>", "</details>", "<!-- -->"];
                assert!(known.iter().any(|known| html.starts_with(known)), "{html}");
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::Strong) => panic!("{event:?}"),
            Event::Code(code) => cells.push(code.into_string()),
            Event::Text(text) => assert!(!text.contains("script"), "{text}"),
            _ => {}
        }
    }
    let shown = "\\x1b[31m|<script>\"'`\\r\\n\\u202e{0}[x](y)*@me*\\x00\\ufffe&";
    assert!(cells.iter().any(|cell| cell == shown), "{cells:#?}");
}

#[test]
fn junit_has_a_suite_for_each_subject() {
    insta::assert_snapshot!(rendered(&report(), Format::Junit), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="recount" tests="7" skipped="1" failures="1" errors="1">
        <testsuite name="evidence/partition" tests="3" skipped="0" errors="0" failures="0">
            <properties>
                <property name="kind" value="partition package"/>
                <property name="receipts_sha256" value="3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8550"/>
                <property name="cases" value="16"/>
                <property name="samples" value="567"/>
                <property name="a0" value="0.9028899747245084"/>
            </properties>
            <testcase name="integrity" classname="evidence/partition" assertions="32">
                <system-out>32 bit-exact, 0 within tolerance
    </system-out>
            </testcase>
            <testcase name="samples" classname="evidence/partition" assertions="1215">
                <system-out>1215 bit-exact, 0 within tolerance
    </system-out>
            </testcase>
            <testcase name="model" classname="evidence/partition" assertions="1235">
                <system-out>1204 bit-exact, 31 within tolerance
    note: the largest distance seen is 9 ulp, at /fit/coefficients/0
    </system-out>
            </testcase>
        </testsuite>
        <testsuite name="evidence/\x1b[31m|&lt;script&gt;&quot;&apos;`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&amp;" tests="3" skipped="1" errors="0" failures="1">
            <properties>
                <property name="kind" value="claims over printed medians"/>
                <property name="device" value="\x1b[31m|&lt;script&gt;&quot;&apos;`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&amp;"/>
            </properties>
            <testcase name="integrity" classname="evidence/\x1b[31m|&lt;script&gt;&quot;&apos;`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&amp;" assertions="10">
                <system-out>9 bit-exact, 0 within tolerance
    warning undeclared-file: A file in the package has no receipt
      notes \x1b[31m|&lt;script&gt;&quot;&apos;`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&amp;.txt
      expected a receipt
      found    \x1b[31m|&lt;script&gt;&quot;&apos;`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&amp;
      advice   Remove the file, or seal the package again with it.
    </system-out>
            </testcase>
            <testcase name="samples" classname="evidence/\x1b[31m|&lt;script&gt;&quot;&apos;`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&amp;" assertions="568">
                <failure message="8 errors">error sample-mismatch: samples.csv and validation.json disagree on a sample
      samples.csv:2 event_us
      expected 1.5
      found    1.6
      apart    4.5e14 ulp, 6.2e-2 relative
      advice   Find out which of the two files was changed.
    error sample-mismatch: samples.csv and validation.json disagree on a sample
      samples.csv:3 event_us
      expected 1.5
      found    1.6
      apart    4.5e14 ulp, 6.2e-2 relative
      advice   Find out which of the two files was changed.
    error sample-mismatch: samples.csv and validation.json disagree on a sample
      samples.csv:4 event_us
      expected 1.5
      found    1.6
      apart    4.5e14 ulp, 6.2e-2 relative
      advice   Find out which of the two files was changed.
    error sample-mismatch: samples.csv and validation.json disagree on a sample
      samples.csv:5 event_us
      expected 1.5
      found    1.6
      apart    4.5e14 ulp, 6.2e-2 relative
      advice   Find out which of the two files was changed.
    error sample-mismatch: samples.csv and validation.json disagree on a sample
      samples.csv:6 event_us
      expected 1.5
      found    1.6
      apart    4.5e14 ulp, 6.2e-2 relative
      advice   Find out which of the two files was changed.
    error sample-mismatch: samples.csv and validation.json disagree on a sample
      samples.csv:7 event_us
      expected 1.5
      found    1.6
      apart    4.5e14 ulp, 6.2e-2 relative
      advice   Find out which of the two files was changed.
    error sample-mismatch: samples.csv and validation.json disagree on a sample
      samples.csv:8 event_us
      expected 1.5
      found    1.6
      apart    4.5e14 ulp, 6.2e-2 relative
      advice   Find out which of the two files was changed.
    error median-mismatch: A recorded median is not the median of its samples
      validation.json:12:7 /cases/0/p50
      expected 1.0
      found    1.0000000000000002
      apart    1 ulp, 2.2e-16 relative
      advice   Recompute the median; find out which run the recorded one came from.
    </failure>
                <system-out>560 bit-exact, 0 within tolerance
    </system-out>
            </testcase>
            <testcase name="model" classname="evidence/\x1b[31m|&lt;script&gt;&quot;&apos;`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&amp;" assertions="0">
                <skipped message="model.json has no fit \x1b[31m|&lt;script&gt;&quot;&apos;`\r\n\u202e{0}[x](y)*@me*\x00\ufffe&amp;"/>
            </testcase>
        </testsuite>
        <testsuite name="recount" tests="1" skipped="0" errors="1" failures="0">
            <testcase name="nowhere" classname="recount">
                <error message="no such file or folder; check the spelling"/>
            </testcase>
        </testsuite>
    </testsuites>
    "#);
}

#[test]
fn junit_reads_back_with_its_counts() {
    let junit = quick_junit::Report::deserialize_from_str(&rendered(&report(), Format::Junit)).unwrap();
    assert_eq!((junit.tests, junit.failures, junit.errors, junit.skipped), (7, 1, 1, 1));
    assert_eq!(junit.test_suites.len(), 3);
    let nothing = alone(SubjectReport { checks: Vec::new(), ..clean() });
    let junit = quick_junit::Report::deserialize_from_str(&rendered(&nothing, Format::Junit)).unwrap();
    assert_eq!(junit.failures, 1, "a subject in which nothing was compared is not green");
}

#[test]
fn sarif_has_results_for_findings_and_notifications_for_the_rest() {
    let mut value: serde_json::Value = serde_json::from_str(&rendered(&report(), Format::Sarif)).unwrap();
    let driver = &mut value["runs"][0]["tool"]["driver"];
    driver["rules"].as_array_mut().unwrap().truncate(1);
    driver["semanticVersion"] = "[version]".into();
    let results = value["runs"][0]["results"].as_array_mut().unwrap();
    results.drain(2..results.len() - 1);
    // A new code in the catalogue moves the indexes; that they point to their rule is another test's matter.
    for result in results {
        result.as_object_mut().unwrap().remove("ruleIndex");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap(), @r#"
    {
      "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
      "runs": [
        {
          "columnKind": "unicodeCodePoints",
          "invocations": [
            {
              "executionSuccessful": false,
              "exitCode": 2,
              "toolExecutionNotifications": [
                {
                  "descriptor": {
                    "id": "check-not-run",
                    "index": 0
                  },
                  "level": "warning",
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "evidence/%1B%5B31m%7C%3Cscript%3E%22%27%60%0D%0A%E2%80%AE%7B0%7D%5Bx%5D%28y%29%2A%40me%2A%00%EF%BF%BE%26"
                        }
                      }
                    }
                  ],
                  "message": {
                    "text": "model: not run: model.json has no fit \\x1b[31m|<script>\"'`\\r\\n\\u202e{{0}}[x] (y)*@me*\\x00\\ufffe&"
                  }
                },
                {
                  "descriptor": {
                    "id": "path-not-verified",
                    "index": 1
                  },
                  "level": "error",
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "nowhere"
                        }
                      }
                    }
                  ],
                  "message": {
                    "text": "nowhere: no such file or folder; check the spelling"
                  }
                }
              ]
            }
          ],
          "properties": {
            "strict": false,
            "verdict": "could-not-verify"
          },
          "results": [
            {
              "level": "warning",
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "evidence/%1B%5B31m%7C%3Cscript%3E%22%27%60%0D%0A%E2%80%AE%7B0%7D%5Bx%5D%28y%29%2A%40me%2A%00%EF%BF%BE%26/notes%20%1B%5B31m%7C%3Cscript%3E%22%27%60%0D%0A%E2%80%AE%7B0%7D%5Bx%5D%28y%29%2A%40me%2A%00%EF%BF%BE%26.txt"
                    }
                  }
                }
              ],
              "message": {
                "text": "A file in the package has no receipt: expected a receipt, found \\x1b[31m|<script>\"'`\\r\\n\\u202e{{0}}[x] (y)*@me*\\x00\\ufffe&, at notes \\x1b[31m|<script>\"'`\\r\\n\\u202e{{0}}[x] (y)*@me*\\x00\\ufffe&.txt. Remove the file, or seal the package again with it."
              },
              "partialFingerprints": {
                "recountFinding/v1": "61ebee1cc5012cdbb2e316fdab2dc3ac:1"
              },
              "ruleId": "undeclared-file"
            },
            {
              "level": "error",
              "locations": [
                {
                  "logicalLocations": [
                    {
                      "fullyQualifiedName": "event_us",
                      "kind": "column"
                    }
                  ],
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "evidence/%1B%5B31m%7C%3Cscript%3E%22%27%60%0D%0A%E2%80%AE%7B0%7D%5Bx%5D%28y%29%2A%40me%2A%00%EF%BF%BE%26/samples.csv"
                    },
                    "region": {
                      "startLine": 2
                    }
                  }
                }
              ],
              "message": {
                "text": "samples.csv and validation.json disagree on a sample: expected 1.5, found 1.6 (apart 4.5e14 ulp, 6.2e-2 relative), at samples.csv:2 event_us. Find out which of the two files was changed."
              },
              "partialFingerprints": {
                "recountFinding/v1": "65c96fb1c5eec71fc3d6d4e895f9e97b:1"
              },
              "ruleId": "sample-mismatch"
            },
            {
              "level": "error",
              "locations": [
                {
                  "logicalLocations": [
                    {
                      "fullyQualifiedName": "/cases/0/p50",
                      "kind": "value"
                    }
                  ],
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "evidence/%1B%5B31m%7C%3Cscript%3E%22%27%60%0D%0A%E2%80%AE%7B0%7D%5Bx%5D%28y%29%2A%40me%2A%00%EF%BF%BE%26/validation.json"
                    },
                    "region": {
                      "startColumn": 7,
                      "startLine": 12
                    }
                  }
                }
              ],
              "message": {
                "text": "A recorded median is not the median of its samples: expected 1.0, found 1.0000000000000002 (apart 1 ulp, 2.2e-16 relative), at validation.json:12:7 /cases/0/p50. Recompute the median; find out which run the recorded one came from."
              },
              "partialFingerprints": {
                "recountFinding/v1": "4d65955c20df09e3d28db6030aadb833:1"
              },
              "ruleId": "median-mismatch"
            }
          ],
          "tool": {
            "driver": {
              "name": "recount",
              "notifications": [
                {
                  "defaultConfiguration": {
                    "level": "warning"
                  },
                  "id": "check-not-run",
                  "shortDescription": {
                    "text": "A check could not be made, so nothing is known about what it covers"
                  }
                },
                {
                  "defaultConfiguration": {
                    "level": "error"
                  },
                  "id": "path-not-verified",
                  "shortDescription": {
                    "text": "A path could not be looked at at all"
                  }
                }
              ],
              "rules": [
                {
                  "defaultConfiguration": {
                    "level": "error"
                  },
                  "fullDescription": {
                    "text": "The SHA-256 of the file differs from its entry in receipts.json, and so does that of its text with line endings normalised to LF. The file was changed after it was sealed, or the receipt was."
                  },
                  "help": {
                    "text": "The SHA-256 of the file differs from its entry in receipts.json, and so does that of its text with line endings normalised to LF. The file was changed after it was sealed, or the receipt was. Fetch the file again from its source; if you changed it on purpose, seal the package again."
                  },
                  "id": "hash-mismatch",
                  "properties": {
                    "tags": [
                      "integrity"
                    ]
                  },
                  "shortDescription": {
                    "text": "A file's bytes are not the recorded ones"
                  }
                }
              ],
              "semanticVersion": "[version]"
            }
          }
        }
      ],
      "version": "2.1.0"
    }
    "#);
}

#[test]
fn sarif_meets_the_standard() {
    let log: Log = serde_json::from_str(&rendered(&report(), Format::Sarif)).unwrap();
    assert_eq!(log.version, "2.1.0");
    assert!(log.schema.starts_with("https://") && log.schema.ends_with("sarif-schema-2.1.0.json"));
    let [run] = &log.runs[..] else { panic!("one run") };
    let driver = &run.tool.driver;
    assert_eq!(driver.name, "recount");
    assert_eq!(driver.semantic_version, env!("CARGO_PKG_VERSION"));
    assert_eq!(run.column_kind, "unicodeCodePoints");
    assert_eq!(driver.rules.len(), CATALOGUE.len());
    for (rule, row) in driver.rules.iter().zip(CATALOGUE) {
        assert_eq!(rule.id, row.name);
        assert!(rule.full_description.is_some() && rule.help.is_some() && rule.properties.is_some());
        assert!(matches!(rule.default_configuration.level.as_str(), "error" | "warning"));
    }
    assert_eq!(run.results.len(), report().findings().count());
    let mut fingerprints = BTreeMap::new();
    for result in &run.results {
        assert_eq!(driver.rules[result.rule_index].id, result.rule_id);
        assert!(matches!(result.level.as_str(), "error" | "warning"));
        let [location] = &result.locations[..] else { panic!("one location") };
        let uri = &location.physical_location.artifact_location.uri;
        assert!(uri.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte)), "{uri}");
        let [(key, fingerprint)] = &result.partial_fingerprints.iter().collect::<Vec<_>>()[..] else { panic!("one") };
        assert_eq!(*key, "recountFinding/v1");
        *fingerprints.entry(fingerprint.to_string()).or_insert(0) += 1;
    }
    assert!(fingerprints.values().all(|count| *count == 1), "{fingerprints:?}");
    let [invocation] = &run.invocations[..] else { panic!("one invocation") };
    assert!(!invocation.execution_successful);
    assert_eq!(invocation.exit_code, 2);
    let ids: Vec<&str> =
        invocation.tool_execution_notifications.iter().map(|notification| &*notification.descriptor.id).collect();
    assert_eq!(ids, ["check-not-run", "path-not-verified"]);
    for notification in &invocation.tool_execution_notifications {
        assert_eq!(driver.notifications[notification.descriptor.index].id, notification.descriptor.id);
    }
}

#[test]
fn a_sarif_fingerprint_does_not_depend_on_what_was_measured() {
    let fingerprints = |report: &Report| -> Vec<BTreeMap<String, String>> {
        let log: Log = serde_json::from_str(&rendered(report, Format::Sarif)).unwrap();
        log.runs.into_iter().flat_map(|run| run.results).map(|result| result.partial_fingerprints).collect()
    };
    let before = fingerprints(&report());
    let mut changed = report();
    for finding in changed.subjects[1].checks.iter_mut().flat_map(|check| &mut check.findings) {
        finding.found = "7.25".to_owned();
        finding.expected = "8.5".to_owned();
        finding.distance = None;
    }
    assert_eq!(fingerprints(&changed), before);
    changed.subjects[1].checks[1].findings[0].file = "other.csv".to_owned();
    assert_ne!(fingerprints(&changed), before);
}

#[test]
fn what_cannot_be_judged_is_an_error_in_sarif_and_junit() {
    let mut subject = clean();
    let row = finding(Code::UnsupportedSchema, "model.json", Place::pointer("/schema"), "a known schema", "\"v9\"");
    subject.checks[0].outcome = Outcome::Failed;
    subject.checks[0].findings.push(row);
    let report = alone(subject);
    let log: Log = serde_json::from_str(&rendered(&report, Format::Sarif)).unwrap();
    assert_eq!(log.runs[0].results[0].level, "error");
    assert!(!log.runs[0].invocations[0].execution_successful);
    let junit = quick_junit::Report::deserialize_from_str(&rendered(&report, Format::Junit)).unwrap();
    assert_eq!(junit.errors, 1);
}

#[test]
fn a_code_is_explained_at_length() {
    let mut bytes = Vec::new();
    explain(Code::CalibrationEnd, &mut bytes, &Style::default()).unwrap();
    insta::assert_snapshot!(String::from_utf8(bytes).unwrap(), @r#"
    calibration-end (warning, timing check)
    The calibration ended otherwise than in the published package

    There the samples use the last calibrated count, the target counts as reached
    from half its span on, and as missed only at a cap. Another producer may do
    otherwise, so this is a warning.

    advice: Check how the replay count was chosen.
    "#);
}

#[test]
fn the_listing_has_every_code_once_within_the_width() {
    let mut bytes = Vec::new();
    list(&mut bytes, &Style::default()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    for code in Code::ALL {
        let rows = text.lines().filter(|line| line.starts_with(&format!("  {} ", code.name()))).count();
        assert_eq!(rows, 1, "{}", code.name());
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text.split("\n\n").find(|part| part.starts_with("claims")).unwrap(), @r#"
    claims: each claim follows from the printed medians within their rounding
      code                   level        title
      claim-inconsistent     error        A claim cannot follow from the printed
                                          medians
      claim-malformed        error        A claim or a medians table cannot be read
    "#);
}

// SARIF 2.1.0 as strict types: an unknown or missing property fails to decode.

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Log {
    #[serde(rename = "$schema")]
    schema: String,
    version: String,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Run {
    tool: Tool,
    invocations: Vec<Invocation>,
    column_kind: String,
    results: Vec<SarifResult>,
    #[serde(rename = "properties")]
    _properties: serde_json::Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    driver: Driver,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Driver {
    name: String,
    semantic_version: String,
    rules: Vec<Descriptor>,
    notifications: Vec<Descriptor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Descriptor {
    id: String,
    #[serde(rename = "shortDescription")]
    _short_description: Message,
    full_description: Option<Message>,
    help: Option<Message>,
    default_configuration: Configuration,
    properties: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configuration {
    level: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    #[serde(rename = "text")]
    _text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    exit_code: u8,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notification {
    descriptor: DescriptorReference,
    #[serde(rename = "level")]
    _level: String,
    #[serde(rename = "message")]
    _message: Message,
    #[serde(rename = "locations")]
    _locations: Vec<Location>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescriptorReference {
    id: String,
    index: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    rule_index: usize,
    level: String,
    #[serde(rename = "message")]
    _message: Message,
    locations: Vec<Location>,
    partial_fingerprints: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    #[serde(default, rename = "logicalLocations")]
    _logical_locations: Vec<LogicalLocation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(rename = "region")]
    _region: Option<Region>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Region {
    #[serde(rename = "startLine")]
    _start_line: std::num::NonZeroUsize,
    #[serde(rename = "startColumn")]
    _start_column: Option<std::num::NonZeroUsize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LogicalLocation {
    #[serde(rename = "fullyQualifiedName")]
    _fully_qualified_name: String,
    #[serde(rename = "kind")]
    _kind: String,
}
