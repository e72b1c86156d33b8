//! Text for a person on a terminal: for each subject the checks, the findings by code, notes and figures; then what a pass
//! does not prove; then the verdict.
//!
//! Symbols and words carry the meaning; colour only repeats it. Nothing but a word longer than the line exceeds the width.

use std::io::{self, Write};

use crate::audit::{CheckReport, Code, Finding, Outcome, Report, SubjectReport};

use super::escape::visible;
use super::words::{self, Mark};
use super::wrap::wrap;
use super::{Style, Verbosity};

/// Most places shown of one code unless all are asked for.
const MOST_PLACES: usize = 5;

/// Least width that is filled; below it lines are too short to read.
const LEAST_WIDTH: usize = 40;

pub(super) fn write(report: &Report, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style, out);
    if page.verbosity > Verbosity::Quiet {
        for subject in &report.subjects {
            write_subject(subject, report.strict, &mut page)?;
        }
        write_limits(report, &mut page)?;
    }
    for error in &report.errors {
        let text = format!("{} error: {}: {}", Mark::Bad.symbol(), visible(&error.path), visible(&error.reason));
        page.paragraph("", "  ", page.paint.mark(Mark::Bad), &text)?;
    }
    // One subject's verdict is the report's, unless something could not be looked at.
    let alone = report.subjects.len() == 1 && report.errors.is_empty();
    for subject in &report.subjects {
        let mark = Mark::of_verdict(subject.verdict(report.strict));
        let path = visible(&subject.path);
        let text = format!("{} {path}: {}", mark.symbol(), words::subject_verdict(subject, report.strict));
        page.paragraph("", "  ", page.paint.mark(mark), &text)?;
    }
    if !alone && (page.verbosity > Verbosity::Quiet || report.subjects.is_empty()) {
        let mark = Mark::of_verdict(report.verdict());
        let text = format!("{} {}", mark.symbol(), words::report_verdict(report));
        page.paragraph("", "  ", page.paint.mark(mark), &text)?;
    }
    Ok(())
}

/// Lines of one width and one palette.
pub(super) struct Page<'a> {
    out: &'a mut dyn Write,
    pub(super) paint: Paint,
    pub(super) verbosity: Verbosity,
    pub(super) width: usize,
}

impl<'a> Page<'a> {
    pub(super) fn new(style: &Style, out: &'a mut dyn Write) -> Self {
        Self { out, paint: Paint::new(style.color), verbosity: style.verbosity, width: style.width.max(LEAST_WIDTH) }
    }

    /// Text broken to the width, with `lead` before its first line and `rest` before the others (both of the same width,
    /// or `lead` empty).
    pub(super) fn paragraph(&mut self, lead: &str, rest: &str, style: anstyle::Style, text: &str) -> io::Result<()> {
        let width = self.width.saturating_sub(rest.chars().count().max(lead.chars().count()));
        for (index, line) in wrap(text, width).iter().enumerate() {
            let indent = if index == 0 { lead } else { rest };
            if line.is_empty() {
                writeln!(self.out, "{}", indent.trim_end())?;
            } else {
                writeln!(self.out, "{indent}{style}{line}{style:#}")?;
            }
        }
        Ok(())
    }

    /// Text after something of the width of `rest`, which begins the further lines.
    fn rest_of_line(&mut self, rest: &str, text: &str) -> io::Result<()> {
        for (index, line) in wrap(text, self.width.saturating_sub(rest.len())).iter().enumerate() {
            let indent = if index == 0 { "" } else { rest };
            writeln!(self.out, "{indent}{line}")?;
        }
        Ok(())
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    pub(super) fn verbatim(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }
}

/// The colours; without colour every one of them writes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Paint {
    good: anstyle::Style,
    warned: anstyle::Style,
    bad: anstyle::Style,
    pub(super) faint: anstyle::Style,
    pub(super) strong: anstyle::Style,
    pub(super) none: anstyle::Style,
}

impl Paint {
    fn new(color: bool) -> Self {
        if !color {
            return Self::default();
        }
        Self {
            good: anstyle::AnsiColor::Green.on_default(),
            warned: anstyle::AnsiColor::Yellow.on_default(),
            bad: anstyle::AnsiColor::Red.on_default().bold(),
            faint: anstyle::Style::new().dimmed(),
            strong: anstyle::Style::new().bold(),
            none: anstyle::Style::new(),
        }
    }

    pub(super) fn mark(self, mark: Mark) -> anstyle::Style {
        match mark {
            Mark::Good => self.good,
            Mark::Warned => self.warned,
            Mark::Bad => self.bad,
            Mark::NotRun => self.faint,
        }
    }
}

fn write_subject(subject: &SubjectReport, strict: bool, page: &mut Page<'_>) -> io::Result<()> {
    let title = format!("{} ({})", visible(&subject.path), subject.kind.title());
    page.paragraph("", "  ", page.paint.strong, &title)?;
    if let Some(hash) = &subject.receipts_sha256 {
        page.paragraph("  ", "    ", page.paint.faint, &format!("SHA-256 of receipts.json: {}", visible(hash)))?;
    }
    page.blank()?;
    write_checks(subject, page)?;
    write_findings(subject, strict, page)?;
    let mut told = false;
    for check in &subject.checks {
        for note in &check.notes {
            if !told {
                page.blank()?;
                told = true;
            }
            let text = format!("note ({}): {}", check.family.name(), visible(note));
            page.paragraph("  ", "    ", page.paint.none, &text)?;
        }
    }
    if !subject.facts.is_empty() {
        page.blank()?;
        let text = format!("derived: {}", words::facts(subject).join("; "));
        page.paragraph("  ", "    ", page.paint.none, &text)?;
    }
    page.blank()
}

fn write_checks(subject: &SubjectReport, page: &mut Page<'_>) -> io::Result<()> {
    let checks = &subject.checks;
    let longest = |header: &str, text: fn(&CheckReport) -> &'static str| {
        checks.iter().map(|check| text(check).len()).fold(header.len(), usize::max)
    };
    let name = longest("check", |check| check.family.name());
    let outcome = longest("outcome", |check| Mark::of_check(check).outcome());
    let header = format!("    {:name$}  {:outcome$}  bit-exact  within tolerance  findings", "check", "outcome");
    let fits = header.len() <= page.width;
    if fits {
        page.verbatim(&format!("{header}\n"))?;
    }
    for check in checks {
        if fits {
            write_check_row(check, name, outcome, page)?
        } else {
            write_check_line(check, page)?
        }
        if page.verbosity == Verbosity::Verbose {
            let proves = format!("a pass proves: {}", check.family.proves());
            page.paragraph("      ", "      ", page.paint.faint, &proves)?;
        }
    }
    Ok(())
}

/// A row of the table; for a check that compared nothing the reason stands in place of the counts.
fn write_check_row(check: &CheckReport, name: usize, outcome: usize, page: &mut Page<'_>) -> io::Result<()> {
    let mark = Mark::of_check(check);
    let paint = page.paint.mark(mark);
    let (symbol, family, words) = (mark.symbol(), check.family.name(), mark.outcome());
    page.verbatim(&format!("  {paint}{symbol}{paint:#} {family:name$}  {paint}{words:outcome$}{paint:#}  "))?;
    let tally = check.tally;
    let counts = format!("{:>9}  {:>16}  {:>8}", tally.exact, tally.within_tolerance, tally.wrong);
    match &check.outcome {
        Outcome::NotRun(reason) if tally.total() == 0 => {
            let start = " ".repeat(name + outcome + 8);
            page.rest_of_line(&start, &visible(reason))
        }
        Outcome::NotRun(reason) => {
            page.verbatim(&format!("{counts}\n"))?;
            page.paragraph("      ", "      ", page.paint.none, &visible(reason))
        }
        Outcome::Passed | Outcome::Failed => page.verbatim(&format!("{counts}\n")),
    }
}

/// A check where the table is too wide.
fn write_check_line(check: &CheckReport, page: &mut Page<'_>) -> io::Result<()> {
    let mark = Mark::of_check(check);
    let reason = match &check.outcome {
        Outcome::NotRun(reason) => format!(", {}", visible(reason)),
        Outcome::Passed | Outcome::Failed => String::new(),
    };
    let (symbol, family, words) = (mark.symbol(), check.family.name(), mark.outcome());
    let text = format!("{symbol} {family}: {words}{reason}; {}", words::tally(check.tally));
    page.paragraph("  ", "    ", page.paint.mark(mark), &text)
}

/// Findings by code, in the order in which the codes first appear.
fn write_findings(subject: &SubjectReport, strict: bool, page: &mut Page<'_>) -> io::Result<()> {
    let mut groups: Vec<(Code, Vec<&Finding>)> = Vec::new();
    let mut group_of: Vec<Option<usize>> = vec![None; Code::ALL.len()];
    for finding in subject.findings() {
        match group_of[finding.code as usize] {
            Some(index) => groups[index].1.push(finding),
            None => {
                group_of[finding.code as usize] = Some(groups.len());
                groups.push((finding.code, vec![finding]));
            }
        }
    }
    for (code, findings) in &groups {
        page.blank()?;
        write_group(*code, findings, strict, page)?;
    }
    if !groups.is_empty() && page.verbosity < Verbosity::Verbose {
        page.blank()?;
        page.paragraph("  ", "  ", page.paint.faint, "`recount explain CODE` says why a code matters.")?;
    }
    Ok(())
}

fn write_group(code: Code, findings: &[&Finding], strict: bool, page: &mut Page<'_>) -> io::Result<()> {
    let rule = code.rule();
    let mark = Mark::of_severity(rule.severity);
    let count = if findings.len() > 1 { format!(" in {} places", findings.len()) } else { String::new() };
    let fails = if strict && mark == Mark::Warned { ", fails under --strict" } else { "" };
    let title = format!("{} {} ({}{fails}){count}: {}", mark.symbol(), rule.name, rule.severity.name(), rule.title);
    page.paragraph("  ", "    ", page.paint.mark(mark), &title)?;
    let shown = if page.verbosity == Verbosity::Verbose {
        page.paragraph("    ", "    ", page.paint.faint, rule.explanation)?;
        findings.len()
    } else {
        findings.len().min(MOST_PLACES)
    };
    for finding in &findings[..shown] {
        write_place(finding, page)?;
    }
    if findings.len() > shown {
        let text = format!("and {} more (-v shows all)", findings.len() - shown);
        page.paragraph("    ", "    ", page.paint.faint, &text)?;
    }
    let advice = findings.first().map_or(rule.advice, |finding| &finding.advice);
    page.paragraph("    ", "      ", page.paint.none, &format!("advice: {}", visible(advice)))
}

fn write_place(finding: &Finding, page: &mut Page<'_>) -> io::Result<()> {
    page.paragraph("    ", "      ", page.paint.strong, &words::place(finding))?;
    let (none, rest) = (page.paint.none, " ".repeat(15));
    page.paragraph("      expected ", &rest, none, &words::shown(&finding.expected))?;
    page.paragraph("      found    ", &rest, none, &words::shown(&finding.found))?;
    match finding.distance {
        Some(distance) => page.paragraph("      apart    ", &rest, none, &words::apart(distance)),
        None => Ok(()),
    }
}

fn write_limits(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let lists = words::limits(report);
    let several = lists.len() > 1;
    for (subjects, limits) in &lists {
        let heading = if several {
            let paths: Vec<_> = subjects.iter().map(|subject| visible(&subject.path)).collect();
            format!("A pass of {} does not prove:", paths.join(", "))
        } else {
            "A pass does not prove:".to_owned()
        };
        page.paragraph("", "  ", page.paint.none, &heading)?;
        for limit in *limits {
            page.paragraph("  - ", "    ", page.paint.none, &visible(limit))?;
        }
        page.blank()?;
    }
    Ok(())
}
