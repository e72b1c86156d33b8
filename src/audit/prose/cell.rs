//! What a cell of a medians table prints, and what it should.

use super::caption;
use super::figures::CaseFigures;
use super::printed::{Printed, Unit};
use crate::fit::Schedule;
use crate::package::partition::Route;

/// Digits of an expected value where the cell has none to go by.
const DECIMALS: usize = 4;

/// What came of a cell.
#[derive(Debug, PartialEq)]
pub(super) enum Cell {
    /// It prints what the data gives.
    Holds,
    /// It prints something else than this.
    Wrong(String),
    /// It would hold in microseconds, but a text says that it is not in these.
    OtherUnit,
}

/// Where a column's unit comes from, as what microseconds are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// Its header names it.
    Header(f64),
    /// The text around the table, if any, does.
    Around(f64),
}

/// Whether a cell says that there is no time.
pub(super) fn is_missing(text: &str) -> bool {
    let words = [
        "missing",
        "",
        "-",
        "\u{2013}",
        "\u{2014}",
        "n/a",
        "n.a.",
        "na",
        "nan",
        "none",
        "failed",
        "crashed",
        "error",
        "absent",
        "not measured",
    ];
    words.contains(&bare(text).as_str())
}

/// A cell's words in lower case, without marks, footnotes and what is added in brackets.
fn bare(text: &str) -> String {
    let lower = text.to_lowercase();
    let lower = lower.trim().trim_matches(['(', ')']);
    let opens = lower.find(['(', '[']).filter(|&at| at > 0 && !has_decimal(&lower[at..])).unwrap_or(lower.len());
    let is_mark = |next: char| {
        next.is_whitespace()
            || matches!(next, '*' | '`' | '_' | '^')
            || matches!(next, '\u{2020}' | '\u{2021}' | '\u{a7}' | '\u{b9}' | '\u{b2}' | '\u{b3}')
            || matches!(next, '\u{2713}' | '\u{2714}' | '\u{2717}' | '\u{2718}' | '\u{274c}' | '\u{2705}')
    };
    lower[..opens].trim_matches(is_mark).to_owned()
}

/// Whether a text has a decimal number, which no footnote is.
fn has_decimal(text: &str) -> bool {
    text.as_bytes()
        .windows(3)
        .any(|bytes| bytes[0].is_ascii_digit() && matches!(bytes[1], b'.' | b',') && bytes[2].is_ascii_digit())
}

/// The first number of a cell, such as that of `1.2831 us`, and what stands behind it.
fn number_and_rest(text: &str) -> Option<(Printed, &str)> {
    let start = text.find(|next: char| !next.is_whitespace() && !matches!(next, '*' | '~' | '`'))?;
    let text = &text[start..];
    // Letters end a number, but an exponent is one.
    let whole = text.split_whitespace().next()?;
    let literal = text
        .split(|next: char| next.is_whitespace() || next.is_alphabetic() || ends_number(next))
        .next()
        .unwrap_or_default()
        .trim_end_matches([',', ';', ':']);
    [whole, literal].iter().find_map(|literal| Some((Printed::parse(literal)?, &text[literal.len()..])))
}

/// Whether a mark behind a number is no part of it.
fn ends_number(next: char) -> bool {
    matches!(next, '*' | '`' | '[' | '(' | '^' | '\u{2020}' | '\u{2021}' | '\u{a7}' | '\u{b9}' | '\u{b2}' | '\u{b3}')
}

/// The unit of time that stands behind a number, and what stands behind that.
fn unit_and_rest(rest: &str) -> (Option<f64>, &str) {
    let behind = rest.trim_start_matches(|next: char| next.is_whitespace() || matches!(next, '*' | '`' | '('));
    let end = behind.find(|next: char| !next.is_alphabetic()).unwrap_or(behind.len());
    match caption::factor(&behind[..end]) {
        Some(factor) => (Some(factor), &behind[end..]),
        None => (None, rest),
    }
}

/// Another number in what stands behind a cell's number, that is no spread, ratio or footnote and that `explains` does not know.
fn is_followed_by_another(rest: &str, explains: impl Fn(&Printed) -> bool) -> bool {
    let mut depth = 0_usize;
    let mut is_spread = false;
    for word in rest.split_whitespace() {
        let opens = word.matches(['(', '[', '{']).count();
        let is_inside = depth > 0 || opens > 0;
        depth = (depth + opens).saturating_sub(word.matches([')', ']', '}']).count());
        let literal = word.trim_matches([',', ';', '/', '*', '`', '|', '\u{2192}', '=', '~']);
        let number = Printed::parse(literal).filter(|printed| !printed.is_integer() && !is_inside && !is_spread);
        if number.is_some_and(|printed| !explains(&printed)) {
            return true;
        }
        is_spread =
            ["\u{b1}", "+/-", "+-", "\u{3c3}", "sd", "std", "iqr", "mad"].iter().any(|mark| word.contains(mark));
    }
    false
}

/// Whether a cell prints the median; if not, what it should print.
pub(super) fn median_cell(
    text: &str,
    case: &CaseFigures<'_, '_>,
    (cohort, route): (&str, Route),
    scale: Scale,
) -> Cell {
    let run = case.record.run(cohort);
    let median = run.and_then(|run| run.routes()[route as usize].1.timing.as_ref()).map(|timing| timing.p50);
    let read = number_and_rest(text).map(|(printed, rest)| (printed, unit_and_rest(rest)));
    let (Scale::Header(factor) | Scale::Around(factor)) = scale;
    match (median, read) {
        (Some(median), Some((printed, (unit, rest)))) => {
            let factor = unit.unwrap_or(factor);
            if printed.agrees(median * factor, 0.0) {
                let known = case
                    .times
                    .iter()
                    .chain(&case.extremes)
                    .chain(&case.comparisons)
                    .chain(&case.other_comparisons)
                    .chain(&case.differences);
                let explains = |other: &Printed| {
                    let scaled = |figure: &super::figures::Figure| {
                        let factor = if figure.unit == Unit::Us { factor } else { 1.0 };
                        other.agrees(figure.value * factor, figure.slack)
                    };
                    known.clone().any(scaled)
                };
                let is_double = is_followed_by_another(rest, explains);
                return if is_double {
                    Cell::Wrong(format!("{} alone", printed.like(median * factor)))
                } else {
                    Cell::Holds
                };
            }
            if unit.is_none() && matches!(scale, Scale::Around(_)) && printed.agrees(median, 0.0) {
                return Cell::OtherUnit;
            }
            Cell::Wrong(printed.like(median * factor))
        }
        (Some(median), None) => Cell::Wrong(format!("{:.DECIMALS$}", median * factor)),
        (None, None) if is_missing(text) => Cell::Holds,
        (None, _) => Cell::Wrong("missing".to_owned()),
    }
}

/// Whether a cell prints a number, which is a time in microseconds or none; if not, what it should print.
pub(super) fn number_cell(text: &str, number: Option<f64>, is_time: bool) -> Result<(), String> {
    let read = number_and_rest(text).map(|(printed, rest)| (printed, unit_and_rest(rest)));
    match (number, read) {
        (Some(number), Some((printed, (unit, rest)))) => {
            let number = number * unit.filter(|_| is_time).unwrap_or(1.0);
            if !printed.agrees(number, 0.0) || (unit.is_some() && !is_time) {
                Err(printed.like(number))
            } else if is_followed_by_another(rest, |_| false) {
                Err(format!("{} alone", printed.like(number)))
            } else {
                Ok(())
            }
        }
        (Some(number), None) => Err(format!("{number:.DECIMALS$}")),
        (None, _) if is_missing(text) => Ok(()),
        (None, _) => Err("missing".to_owned()),
    }
}

/// Whether a cell names the schedule that was selected.
pub(super) fn decision_cell(text: &str, selected: Schedule) -> Cell {
    let printed = match bare(text).as_str() {
        "original" | "retain" | "retained" | "keep" => Some(Schedule::Default),
        other => Schedule::from_name(&other.replace(' ', "")),
    };
    if printed == Some(selected) { Cell::Holds } else { Cell::Wrong(selected.name().to_owned()) }
}
