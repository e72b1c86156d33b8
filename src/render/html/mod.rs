//! A report as one HTML file: no network, no scripts, light and dark, for phones and for paper.
//!
//! `charts` draws, `numbers` puts the same into tables, `findings` shows what does not hold.

pub mod charts;
mod findings;
pub(super) mod numbers;

use std::io::{self, Write};

use super::escape::html;
use super::words::{self, Mark};
use crate::audit::{CheckReport, Outcome, Report, SubjectKind, SubjectReport};
use crate::report::figures::Figures;

/// What the page may do: nothing but show itself.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The look of the page.
const STYLE: &str = include_str!("style.css");

/// Most rows of a table of numbers.
const MOST_ROWS: usize = 512;

/// Writes the page; `figures` belong to the subjects, one each. The only errors are those of `out` and of drawing.
pub fn page(report: &Report, figures: &[Figures], out: &mut dyn Write) -> io::Result<()> {
    let mut buffered = io::BufWriter::new(out);
    let out = &mut buffered;
    let (verdict, mark) = (words::headline(report), Mark::of_verdict(report.verdict()));
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<meta name=\"color-scheme\" content=\"light dark\">")?;
    writeln!(out, "<title>recount: {verdict}</title>\n<style>\n{STYLE}{}</style>", charts::STYLE)?;
    writeln!(out, "</head>\n<body>\n<header>")?;
    writeln!(out, "<h1>{} recount: {verdict}</h1>", sign(mark))?;
    writeln!(out, "<p>{}</p>", html(&words::report_verdict(report)))?;
    errors(report, out)?;
    contents(report, out)?;
    writeln!(out, "</header>\n<main>")?;
    let none = Figures::None;
    for (index, subject) in report.subjects.iter().enumerate() {
        let figures = figures.get(index).unwrap_or(&none);
        section(index + 1, subject, figures, report.strict, out)?;
    }
    writeln!(out, "</main>\n<footer><p>Written by <code>recount report</code> {}. ", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "<code>recount verify</code> checks the same again.</p></footer>\n</body>\n</html>")?;
    buffered.flush()
}

/// A sentence as HTML, in which no option of a command is broken at the end of a line.
fn prose(text: &str) -> String {
    let (escaped, mut marked, mut end) = (html(text), String::new(), 0);
    for (at, _) in escaped.match_indices("--") {
        let is_of_option = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
        let length = escaped.bytes().skip(at).take_while(|byte| is_of_option(byte)).count();
        let is_first = at >= end && !escaped[..at].ends_with(|before: char| before == '-' || before.is_alphanumeric());
        if is_first && escaped[at + 2..].starts_with(|first: char| first.is_ascii_lowercase()) {
            let option = &escaped[at..at + length];
            marked.push_str(&format!("{}<code class=\"option\">{option}</code>", &escaped[end..at]));
            end = at + length;
        }
    }
    marked + &escaped[end..]
}

/// A sign that is more than a colour; the words beside it say the same.
fn sign(mark: Mark) -> String {
    let class = match mark {
        Mark::Good => "good",
        Mark::Warned => "warned",
        Mark::Bad => "bad",
        Mark::NotRun => "notrun",
    };
    format!("<span class=\"sign {class}\" aria-hidden=\"true\">{}</span>", mark.symbol())
}

fn errors(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.errors.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul class=\"plain\">")?;
    for error in &report.errors {
        let (path, reason) = (html(&error.path), html(&error.reason));
        writeln!(out, "<li>{} <code>{path}</code> could not be looked at: {reason}</li>", sign(Mark::Bad))?;
    }
    writeln!(out, "</ul>")
}

fn contents(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.subjects.len() < 2 {
        return Ok(());
    }
    writeln!(out, "<nav aria-label=\"Packages\"><ul class=\"plain\">")?;
    for (index, subject) in report.subjects.iter().enumerate() {
        let (sign, path) = (sign(Mark::of_verdict(subject.verdict(report.strict))), html(&subject.path));
        let words = words::subject_headline(subject, report.strict);
        writeln!(out, "<li>{sign} <a href=\"#package-{}\">{path}</a>: {words}</li>", index + 1)?;
    }
    writeln!(out, "</ul></nav>")
}

fn section(
    number: usize,
    subject: &SubjectReport,
    figures: &Figures,
    strict: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mark = sign(Mark::of_verdict(subject.verdict(strict)));
    writeln!(out, "<section id=\"package-{number}\" aria-labelledby=\"package-{number}-name\">")?;
    let (path, kind) = (html(&subject.path), subject.kind.title());
    writeln!(out, "<h2 id=\"package-{number}-name\">{mark} {path} <small>{kind}</small></h2>")?;
    writeln!(out, "<p class=\"verdict\">{}</p>", html(&words::subject_verdict(subject, strict)))?;
    if let Some(hash) = &subject.receipts_sha256 {
        writeln!(out, "<p>SHA-256 of receipts.json: <code class=\"hash\">{}</code></p>", html(hash))?;
    }
    if !subject.facts.is_empty() {
        let facts: Vec<_> = words::facts(subject).iter().map(|fact| html(fact)).collect();
        writeln!(out, "<p>Derived from the data: {}.</p>", facts.join("; "))?;
    }
    checks(subject, out)?;
    findings::write(subject, out)?;
    remarks(subject, out)?;
    pictures(number, subject.kind, figures, out)?;
    limits(subject, out)?;
    writeln!(out, "</section>")
}

fn checks(subject: &SubjectReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h3>Checks</h3>")?;
    let heads = ["check", "outcome", "bit-exact", "within tolerance", "findings"];
    begin_table("Checks", heads.iter().copied(), 2, out)?;
    for check in &subject.checks {
        let mark = Mark::of_check(check);
        let tally = check.tally;
        writeln!(
            out,
            "<tr><th scope=\"row\">{} {}</th><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td></tr>",
            sign(mark),
            check.family.name(),
            mark.outcome(),
            tally.exact,
            tally.within_tolerance,
            tally.wrong
        )?;
    }
    writeln!(out, "</tbody></table></div>")
}

/// What is worth saying besides, and why checks were not run.
fn remarks(subject: &SubjectReport, out: &mut dyn Write) -> io::Result<()> {
    let notes: Vec<String> = subject.checks.iter().flat_map(notes).collect();
    if !notes.is_empty() {
        writeln!(out, "<h3>Notes</h3>\n<ul>\n{}</ul>", notes.concat())?;
    }
    Ok(())
}

fn notes(check: &CheckReport) -> Vec<String> {
    let family = check.family.name();
    let reason = match &check.outcome {
        Outcome::NotRun(reason) => Some(format!("<li>{family} was not run: {}</li>\n", prose(reason))),
        _ => None,
    };
    let notes = check.notes.iter().map(|note| format!("<li>{family}: {}</li>\n", prose(note)));
    reason.into_iter().chain(notes).collect()
}

/// A table that scrolls by itself where it is too wide; the first `texts` columns are no numbers.
fn begin_table<'h>(
    name: &str,
    heads: impl Iterator<Item = &'h str>,
    texts: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = html(name);
    writeln!(out, "<div class=\"scroll\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\"><table><thead><tr>")?;
    for (column, head) in heads.enumerate() {
        let class = if column < texts { "" } else { " class=\"number\"" };
        writeln!(out, "<th scope=\"col\"{class}>{}</th>", html(head))?;
    }
    writeln!(out, "</tr></thead><tbody>")
}

fn pictures(number: usize, kind: SubjectKind, figures: &Figures, out: &mut dyn Write) -> io::Result<()> {
    let charts = charts::charts(figures)?;
    let mut notes = drawing_notes(figures);
    if charts.is_empty() {
        notes.push(why_no_charts(kind).to_owned());
    }
    writeln!(out, "<h3>Charts</h3>")?;
    for note in notes {
        writeln!(out, "<p>{}</p>", html(&note))?;
    }
    if charts.is_empty() {
        return Ok(());
    }
    writeln!(out, "<div class=\"charts\">")?;
    for chart in &charts {
        let picture = chart.inline(&format!("p{number}-{}", chart.name));
        writeln!(out, "<figure>\n{picture}<figcaption>{}</figcaption>\n</figure>", html(&chart.reading))?;
    }
    writeln!(out, "</div>")?;
    let Some((heads, rows)) = numbers::table(figures) else { return Ok(()) };
    let title = numbers::title(figures);
    writeln!(out, "<details><summary>{title}</summary>")?;
    begin_table(title, heads.iter().map(String::as_str), 1, out)?;
    for row in rows.iter().take(MOST_ROWS) {
        let (name, cells) = row.split_first().map_or(("", &row[..]), |(name, cells)| (name.as_str(), cells));
        let cells: String = cells.iter().map(|cell| format!("<td class=\"number\">{}</td>", html(cell))).collect();
        writeln!(out, "<tr><th scope=\"row\">{}</th>{cells}</tr>", html(name))?;
    }
    writeln!(out, "</tbody></table></div>")?;
    if rows.len() > MOST_ROWS {
        writeln!(out, "<p>and {} rows more</p>", rows.len() - MOST_ROWS)?;
    }
    writeln!(out, "</details>")
}

/// Why nothing is drawn at all.
fn why_no_charts(kind: SubjectKind) -> &'static str {
    match kind {
        SubjectKind::Claims => {
            "There are no charts: printed medians come without the samples that they are of, and nothing here was measured."
        }
        SubjectKind::Files => "There are no charts: what the files hold is of no kind that is known here.",
        SubjectKind::Partition | SubjectKind::Divergence | SubjectKind::DivergenceReceipt => {
            "There are no charts: no figures of this package could be read."
        }
    }
}

/// What is not drawn, and why.
fn drawing_notes(figures: &Figures) -> Vec<String> {
    let left_out = |count: usize, what: &str| {
        (count > 0).then(|| format!("{} not drawn: a report has room for so many only.", words::plural(count, what)))
    };
    match figures {
        Figures::None => Vec::new(),
        Figures::Partition(figures) => {
            let model = figures.model.as_ref().and_then(|model| model.as_ref().err());
            let model =
                model.map(|reason| format!("There are no charts of the model, as it could not be fitted: {reason}"));
            let failed = figures.cases.iter().filter(|case| !case.failed.is_empty());
            let failed =
                failed.map(|case| format!("{}: {} failed, and has no times.", case.label, case.failed.join(", ")));
            failed.take(20).chain(model).chain(left_out(figures.left_out, "case")).collect()
        }
        Figures::Divergence(figures) => left_out(figures.left_out, "device").into_iter().collect(),
    }
}

fn limits(subject: &SubjectReport, out: &mut dyn Write) -> io::Result<()> {
    if subject.limits.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h3>A pass does not prove</h3>\n<ul>")?;
    for limit in &subject.limits {
        writeln!(out, "<li>{}</li>", prose(limit))?;
    }
    writeln!(out, "</ul>")
}
