//! The catalogue for a reader: one code at length, or all of them as tables.

use std::io::{self, Write};

use crate::audit::{Code, Family};

use super::text::Page;
use super::words::Mark;
use super::{Style, Table};

/// Writes what a code means, why it matters and what to do about it.
pub fn explain(code: Code, out: &mut dyn Write, style: &Style) -> io::Result<()> {
    let rule = code.rule();
    let mut page = Page::new(style, out);
    let paint = page.paint;
    let heading = format!("{} ({}, {} check)", rule.name, rule.severity.name(), rule.family.name());
    page.paragraph("", "  ", paint.mark(Mark::of_severity(rule.severity)), &heading)?;
    page.paragraph("", "", paint.strong, rule.title)?;
    page.blank()?;
    page.paragraph("", "", paint.none, rule.explanation)?;
    page.blank()?;
    page.paragraph("", "  ", paint.none, &format!("advice: {}", rule.advice))
}

/// Writes all codes with level and title, a table for each family.
pub fn list(out: &mut dyn Write, style: &Style) -> io::Result<()> {
    let mut page = Page::new(style, out);
    let (paint, width) = (page.paint, page.width);
    let longest = |name: fn(Code) -> &'static str| Code::ALL.iter().map(|code| name(*code).len()).max().unwrap_or(0);
    for family in Family::ALL {
        let mut table = Table::new(["code", "level", "title"]);
        table.at_least(0, longest(Code::name)).at_least(1, longest(|code| code.severity().name()));
        for rule in Code::ALL.iter().map(|code| code.rule()).filter(|rule| rule.family == family) {
            table.row([rule.name, rule.severity.name(), rule.title]);
        }
        if table.is_empty() {
            continue;
        }
        page.paragraph("", "  ", paint.strong, &format!("{}: {}", family.name(), family.proves()))?;
        for line in table.plain(width - 2).lines() {
            page.verbatim(&format!("  {line}\n"))?;
        }
        page.blank()?;
    }
    page.paragraph("", "", paint.faint, "`recount explain CODE` says more about one of them.")
}
