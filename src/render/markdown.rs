//! Markdown for a comment on a pull request: the verdict, the checks, and the findings folded away and bounded.
//!
//! Everything that a report holds stands in code spans, where no markup, link, mention or HTML is read.

use std::io::{self, Write};

use crate::audit::{CheckReport, Code, Outcome, Report, SubjectReport};

use super::escape::{code_span, markdown};
use super::table::{Cell, Table, code};
use super::words::{self, Mark};

/// Most findings shown in one document: a comment has a largest size, and nobody reads further.
const MOST_ROWS: usize = 50;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mark = Mark::of_verdict(report.verdict());
    writeln!(out, "## {} recount: {}\n", mark.symbol(), words::headline(report))?;
    writeln!(out, "{}", markdown(&words::report_verdict(report)))?;
    if !report.errors.is_empty() {
        writeln!(out)?;
    }
    for error in &report.errors {
        writeln!(out, "- {} {}: {}", Mark::Bad.symbol(), code_span(&error.path), code_span(&error.reason))?;
    }
    let mut rows_left = MOST_ROWS;
    for subject in &report.subjects {
        write_subject(subject, report.strict, &mut rows_left, out)?;
    }
    write_limits(report, out)
}

fn write_subject(subject: &SubjectReport, strict: bool, rows_left: &mut usize, out: &mut dyn Write) -> io::Result<()> {
    let mark = Mark::of_verdict(subject.verdict(strict));
    writeln!(out, "\n### {} {} ({})\n", mark.symbol(), code_span(&subject.path), subject.kind.title())?;
    writeln!(out, "{}\n", markdown(&words::subject_verdict(subject, strict)))?;
    let mut table = Table::new(["", "check", "outcome", "bit-exact", "within tolerance", "findings"]);
    for check in &subject.checks {
        table.row(check_row(check));
    }
    write!(out, "{}", table.markdown())?;
    let mut lines = Vec::new();
    for check in &subject.checks {
        if let Outcome::NotRun(reason) = &check.outcome {
            lines.push(format!("- {} not run: {}", check.family.name(), code_span(reason)));
        }
        lines.extend(check.notes.iter().map(|note| format!("- note ({}): {}", check.family.name(), code_span(note))));
    }
    if !subject.facts.is_empty() {
        let facts: Vec<String> = words::facts(subject).iter().map(|fact| code_span(fact)).collect();
        lines.push(format!("- derived: {}", facts.join(", ")));
    }
    if let Some(hash) = &subject.receipts_sha256 {
        lines.push(format!("- SHA-256 of receipts.json: {}", code_span(hash)));
    }
    if !lines.is_empty() {
        writeln!(out, "\n{}", lines.join("\n"))?;
    }
    write_findings(subject, rows_left, out)
}

fn check_row(check: &CheckReport) -> [Cell; 6] {
    let mark = Mark::of_check(check);
    [
        mark.symbol().into(),
        check.family.name().into(),
        mark.outcome().into(),
        check.tally.exact.to_string().into(),
        check.tally.within_tolerance.to_string().into(),
        check.tally.wrong.to_string().into(),
    ]
}

fn write_findings(subject: &SubjectReport, rows_left: &mut usize, out: &mut dyn Write) -> io::Result<()> {
    let count = subject.findings().count();
    if count == 0 {
        return Ok(());
    }
    let mut table = Table::new(["level", "code", "where", "expected", "found", "apart"]);
    let mut codes: Vec<Code> = Vec::new();
    for finding in subject.findings().take(*rows_left) {
        table.row([
            finding.severity.name().into(),
            code(finding.code.name()),
            code(words::place(finding)),
            code(words::shown(&finding.expected)),
            code(words::shown(&finding.found)),
            finding.distance.map(words::apart).unwrap_or_default().into(),
        ]);
        if !codes.contains(&finding.code) {
            codes.push(finding.code);
        }
    }
    let levels = words::levels(subject.findings());
    writeln!(out, "\n<details><summary>{} ({levels})</summary>\n", words::plural(count, "finding"))?;
    if !table.is_empty() {
        writeln!(out, "{}", table.markdown())?;
    }
    for code in codes {
        let rule = code.rule();
        writeln!(out, "- {}: {}. {}", code_span(rule.name), markdown(rule.title), markdown(rule.advice))?;
    }
    if count > table.len() {
        let rest = words::plural(count - table.len(), "more finding");
        writeln!(out, "\n{rest} not shown here; `recount verify -v` shows all.")?;
    }
    *rows_left -= table.len();
    writeln!(out, "\n</details>")
}

fn write_limits(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let lists = words::limits(report);
    let several = lists.len() > 1;
    for (subjects, limits) in &lists {
        let paths: Vec<String> = subjects.iter().map(|subject| code_span(&subject.path)).collect();
        writeln!(out, "\n<details><summary>A pass does not prove</summary>\n")?;
        if several {
            writeln!(out, "For {}:\n", paths.join(", "))?;
        }
        for limit in *limits {
            writeln!(out, "- {}", markdown(limit))?;
        }
        writeln!(out, "\n</details>")?;
    }
    Ok(())
}
