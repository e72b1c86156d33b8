//! What does not hold: place, expected, found, advice, and why each code matters.

use std::io::{self, Write};

use super::{prose, sign};
use crate::audit::{Code, Finding, SubjectReport};
use crate::render::escape::html;
use crate::render::words::{self, Mark};

/// Most findings of one package: nobody reads further, and a page has to open.
const MOST_FINDINGS: usize = 200;

/// Writes the findings, the worst first; nothing where there are none.
pub(super) fn write(subject: &SubjectReport, out: &mut dyn Write) -> io::Result<()> {
    let mut findings: Vec<&Finding> = subject.findings().collect();
    if findings.is_empty() {
        return Ok(());
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    writeln!(out, "<h3>Findings</h3>\n<p>{}</p>\n<ul class=\"findings\">", words::levels(subject.findings()))?;
    let mut codes: Vec<Code> = Vec::new();
    for finding in findings.iter().take(MOST_FINDINGS) {
        one(finding, !codes.contains(&finding.code), out)?;
        codes.push(finding.code);
    }
    writeln!(out, "</ul>")?;
    match findings.len().saturating_sub(MOST_FINDINGS) {
        0 => Ok(()),
        rest => {
            let rest = words::plural(rest, "more finding");
            writeln!(out, "<p>{rest} not shown here; <code>recount verify -v</code> shows all.</p>")
        }
    }
}

/// One finding; the explanation of its code comes with the first of that code.
fn one(finding: &Finding, first: bool, out: &mut dyn Write) -> io::Result<()> {
    let rule = finding.code.rule();
    let mark = sign(Mark::of_severity(finding.severity));
    let (level, name, title) = (finding.severity.name(), rule.name, html(rule.title));
    writeln!(out, "<li><p>{mark} {level} <strong>{name}</strong>: {title}</p>\n<dl>")?;
    let mut entry =
        |term: &str, text: String, class: &str| writeln!(out, "<div><dt>{term}</dt><dd{class}>{text}</dd></div>");
    let quoted = " class=\"quoted\"";
    entry("place", html(&words::place(finding)), quoted)?;
    entry("expected", html(&words::shown(&finding.expected)), quoted)?;
    entry("found", html(&words::shown(&finding.found)), quoted)?;
    if let Some(distance) = finding.distance {
        entry("apart", words::apart(distance), "")?;
    }
    entry("advice", prose(&finding.advice), "")?;
    writeln!(out, "</dl>")?;
    if first {
        writeln!(out, "<details><summary>Why {name} matters</summary><p>{}</p></details>", prose(rule.explanation))?;
    }
    writeln!(out, "</li>")
}
