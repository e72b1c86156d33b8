//! What became of forged copies, as a table.

use std::io::{self, Write};

use super::wrap::wrap;
use super::{Style, Table, TableFormat, Verbosity, escape};
use crate::package::json::{Json, indented, object};
use crate::package::partition::files;
use crate::selftest::{FileResult, SelftestReport, Unbound, unbound};

/// Columns that are filled at least.
const MIN_WIDTH: usize = 40;

/// Before the lines after the first of a reason.
const INDENT: &str = "    ";

/// What is said of a class that has no reason yet.
const UNKNOWN: &str = "nobody has said why yet";

/// Classes of missed leaves that are shown for each file unless everything is asked for.
const SHOWN_CLASSES: usize = 8;

/// Writes the report. The only errors are those of `out`.
pub fn selftest(report: &SelftestReport, format: TableFormat, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if format == TableFormat::Json {
        return out.write_all((indented(&json(report)) + "\n").as_bytes());
    }
    let markdown = format == TableFormat::Markdown;
    let mut table =
        Table::new(["file", "leaves", "forged", "fails by default", "only --strict", "missed", "signature"]);
    for file in &report.files {
        table.row([
            file.name.clone(),
            file.leaves.to_string(),
            file.forged.to_string(),
            counted(file.fails_by_default, file.forged),
            counted(file.only_under_strict, file.forged),
            counted(file.forged - file.caught(true), file.forged),
            counted(file.caught_by_signature, file.forged),
        ]);
    }
    if style.verbosity > Verbosity::Quiet {
        let rendered = if markdown { table.markdown() } else { table.plain(style.width) };
        writeln!(out, "{}", rendered.trim_end())?;
        for file in &report.files {
            write_missed(file, style, markdown, out)?;
        }
        write_reasons(report, style, markdown, out)?;
        writeln!(out)?;
    }
    let total = format!(
        "caught of all leaves: {} by default, {} under --strict (each file's share weighted by its leaves; without {}); \
         seed {}",
        percent(report.share(false)),
        percent(report.share(true)),
        files::PROOF_RECEIPTS,
        report.seed
    );
    writeln!(out, "{total}")?;
    let sum = |count: fn(&FileResult) -> usize| report.files.iter().map(count).sum::<usize>();
    let (caught, forged) = (sum(|file| file.caught_by_signature), sum(|file| file.forged));
    let line = if markdown { "\n" } else { "" };
    writeln!(out, "{line}caught with a signature (recount seal --sign): {caught} of {forged}")
}

fn write_missed(file: &FileResult, style: &Style, markdown: bool, out: &mut dyn Write) -> io::Result<()> {
    if file.missed.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nmissed in {}:", file.name)?;
    if markdown {
        writeln!(out)?;
    }
    let mut classes: Vec<_> = file.missed.iter().collect();
    classes.sort_by_key(|&(pattern, count)| (std::cmp::Reverse(*count), pattern));
    let shown = if style.verbosity == Verbosity::Verbose { classes.len() } else { SHOWN_CLASSES };
    for (pattern, count) in classes.iter().take(shown) {
        let pattern = if markdown { escape::code_span(pattern) } else { escape::visible(pattern).into_owned() };
        writeln!(out, "{}{count} x {pattern}", if markdown { "- " } else { "  " })?;
    }
    if classes.len() > shown {
        writeln!(
            out,
            "{}and {} more places (-v shows all)",
            if markdown { "- " } else { "  " },
            classes.len() - shown
        )?;
    }
    Ok(())
}

/// Why forged leaves were missed: each reason once, with the number of leaves and the files that it is about.
fn write_reasons(report: &SelftestReport, style: &Style, markdown: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut reasons: Vec<(Option<Unbound>, usize, Vec<&str>)> = Vec::new();
    for file in &report.files {
        for (pattern, count) in &file.missed {
            let why = unbound(&file.name, pattern);
            let at = reasons.iter().position(|(other, ..)| *other == why);
            let at = at.unwrap_or_else(|| {
                reasons.push((why, 0, Vec::new()));
                reasons.len() - 1
            });
            reasons[at].1 += count;
            if !reasons[at].2.contains(&file.name.as_str()) {
                reasons[at].2.push(&file.name);
            }
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    reasons.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    writeln!(out, "\nwhy they were missed, and what would bind them:")?;
    if markdown {
        writeln!(out)?;
    }
    for (why, count, files) in reasons {
        let (reason, bound_by) = why.map_or((UNKNOWN, "a look at the class"), |why| (why.reason, why.bound_by));
        let names: Vec<_> = files.iter().map(|name| escape::visible(name)).collect();
        let line = format!("{count} in {}: {reason}. Bound by: {bound_by}", names.join(", "));
        if markdown {
            writeln!(out, "- {line}")?;
            continue;
        }
        for (number, part) in wrap(&line, style.width.max(MIN_WIDTH) - INDENT.len()).iter().enumerate() {
            writeln!(out, "{}{part}", if number == 0 { "  " } else { INDENT })?;
        }
    }
    Ok(())
}

fn json(report: &SelftestReport) -> Json {
    let files = report.files.iter().map(|file| {
        let missed = file.missed.iter().map(|(pattern, &count)| (pattern.clone(), Json::from(count)));
        let reasons = file.missed.keys().map(|pattern| {
            let why = unbound(&file.name, pattern).map_or(Json::Null, |why| {
                object([("reason", Json::from(why.reason)), ("bound_by", Json::from(why.bound_by))])
            });
            (pattern.clone(), why)
        });
        object([
            ("name", Json::from(file.name.clone())),
            ("leaves", Json::from(file.leaves)),
            ("forged", Json::from(file.forged)),
            ("fails_by_default", Json::from(file.fails_by_default)),
            ("only_under_strict", Json::from(file.only_under_strict)),
            ("caught_by_signature", Json::from(file.caught_by_signature)),
            ("missed", Json::Object(missed.collect())),
            ("reasons", Json::Object(reasons.collect())),
        ])
    });
    object([
        ("schema", Json::from("recount-selftest-v1")),
        ("package", Json::from(report.package.clone())),
        ("seed", Json::from(report.seed)),
        ("holds", Json::from(report.holds)),
        ("share_by_default", Json::Float(report.share(false))),
        ("share_under_strict", Json::Float(report.share(true))),
        ("files", Json::Array(files.collect())),
    ])
}

/// A number and its share of all.
fn counted(count: usize, of: usize) -> String {
    format!("{count} ({})", percent(count as f64 / of.max(1) as f64))
}

/// Nothing that is missed is rounded away, and nothing that is caught.
fn percent(share: f64) -> String {
    let tenths = (1000.0 * share).round();
    let tenths = match share {
        some if some > 0.0 && tenths == 0.0 => 1.0,
        nearly if nearly < 1.0 && tenths == 1000.0 => 999.0,
        _ => tenths,
    };
    format!("{:.1} %", tenths / 10.0)
}
