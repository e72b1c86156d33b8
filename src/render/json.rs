//! JSON: the domain types in an envelope with a schema name, see docs/schema/recount-report-v1.json.

use std::io::{self, Write};

use serde::Serialize;

use crate::audit::{Report, RequestError, SubjectReport, Tally, Verdict};

use super::escape;

/// Name and version of the format. Members may be added under the same name; none is removed or changes its meaning.
const SCHEMA: &str = "recount-report-v1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tool: Tool,
    verdict: Verdict,
    exit_code: u8,
    strict: bool,
    subjects: Vec<Subject<'a>>,
    errors: &'a [RequestError],
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Subject<'a> {
    verdict: Verdict,
    tally: Tally,
    #[serde(flatten)]
    report: &'a SubjectReport,
}

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let subject = |subject| Subject {
        verdict: SubjectReport::verdict(subject, report.strict),
        tally: subject.tally(),
        report: subject,
    };
    let document = Document {
        schema: SCHEMA,
        tool: Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
        verdict: report.verdict(),
        exit_code: report.verdict().exit_code(),
        strict: report.strict,
        subjects: report.subjects.iter().map(subject).collect(),
        errors: &report.errors,
    };
    write_pretty(&document, out)
}

/// One value as indented JSON with a final line feed, hidden characters as escapes.
pub(super) fn write_pretty(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    out.write_all(escape::json(&text).as_bytes())?;
    out.write_all(b"\n")
}
