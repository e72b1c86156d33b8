//! JUnit XML: a suite for each subject, a case for each check family.
//!
//! A dashboard is red exactly where the exit status is not 0: warnings under `--strict` fail, what cannot be judged and
//! what cannot be looked at are errors, and a subject in which nothing was compared gets a failing case of its own.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use crate::audit::{CheckReport, Outcome, Report, RequestError, Severity, SubjectReport, Verdict};

use super::escape::visible;
use super::words;

/// Name of the document, and of the suite for what belongs to no subject.
const NAME: &str = "recount";

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut document = quick_junit::Report::new(NAME);
    for subject in &report.subjects {
        document.add_test_suite(suite(subject, report.strict));
    }
    let mut request = TestSuite::new(NAME);
    request.add_test_cases(report.errors.iter().map(error_case));
    if report.subjects.is_empty() && report.errors.is_empty() {
        request.add_test_case(case("verdict", NAME, broken(NonSuccessKind::Error, &words::report_verdict(report), "")));
    }
    if !request.test_cases.is_empty() {
        document.add_test_suite(request);
    }
    let text = document.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

fn suite(subject: &SubjectReport, strict: bool) -> TestSuite {
    let path = visible(&subject.path);
    let mut suite = TestSuite::new(&path);
    suite.add_property(("kind", subject.kind.title()));
    if let Some(hash) = &subject.receipts_sha256 {
        suite.add_property(("receipts_sha256", &*visible(hash)));
    }
    for fact in &subject.facts {
        suite.add_property((visible(&fact.name), visible(&fact.value)));
    }
    suite.add_test_cases(subject.checks.iter().map(|check| check_case(check, &path, strict)));
    if subject.verdict(strict) != Verdict::Holds && suite.failures + suite.errors == 0 {
        let verdict = words::subject_verdict(subject, strict);
        suite.add_test_case(case("verdict", &path, broken(NonSuccessKind::Failure, &verdict, "")));
    }
    suite
}

fn check_case(check: &CheckReport, path: &str, strict: bool) -> TestCase {
    let worst = check.findings.iter().map(|finding| finding.severity).max();
    let summary = words::levels(check.findings.iter());
    let status = match (worst, &check.outcome) {
        (Some(Severity::Unsupported), _) => broken(NonSuccessKind::Error, &summary, &findings(check)),
        (Some(Severity::Error), _) => broken(NonSuccessKind::Failure, &summary, &findings(check)),
        (Some(Severity::Warning), _) if strict => {
            broken(NonSuccessKind::Failure, &format!("{summary} (--strict)"), &findings(check))
        }
        (_, Outcome::Failed) => broken(NonSuccessKind::Failure, &summary, &findings(check)),
        (_, Outcome::NotRun(reason)) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(visible(reason));
            status
        }
        (_, Outcome::Passed) => TestCaseStatus::success(),
    };
    let told = matches!(status, TestCaseStatus::NonSuccess { .. });
    let mut case = case(check.family.name(), path, status);
    case.set_assertions(usize::try_from(check.tally.total()).unwrap_or(usize::MAX));
    let mut output = String::new();
    if check.tally.total() > 0 {
        output.push_str(&format!("{}\n", words::tally(check.tally)));
    }
    if let (Outcome::NotRun(reason), true) = (&check.outcome, told) {
        output.push_str(&format!("not run: {}\n", visible(reason)));
    }
    for note in &check.notes {
        output.push_str(&format!("note: {}\n", visible(note)));
    }
    if !told {
        output.push_str(&findings(check));
    }
    if !output.is_empty() {
        case.set_system_out(output);
    }
    case
}

fn error_case(error: &RequestError) -> TestCase {
    case(&visible(&error.path), NAME, broken(NonSuccessKind::Error, &visible(&error.reason), ""))
}

fn case(name: &str, class: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case
}

fn broken(kind: NonSuccessKind, message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(message);
    if !description.is_empty() {
        status.set_description(description);
    }
    status
}

fn findings(check: &CheckReport) -> String {
    let mut text = String::new();
    for finding in &check.findings {
        words::push_finding(&mut text, finding, "  ");
    }
    text
}
