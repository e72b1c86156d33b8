//! Tables of medians: one row for each case, one column for each cohort.

use std::collections::HashMap;

use super::super::{Code, Family, Place, Recorder};
use super::caption::{self, Caption};
use super::cell::{Cell, Scale, decision_cell, median_cell};
use super::elsewhere;
use super::figures::{CaseFigures, Figures};
use super::markdown::{Locator, Table, Text};
use crate::fit::Schedule;
use crate::package::partition::{CaseLabel, DEFAULT, RECHECK, RETEST, Route, files};
use crate::refit::Refit;

/// What a column of a medians table holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    /// A route's medians of one cohort; the header's unit, where it names one, is microseconds times the factor.
    Median { cohort: &'static str, route: Route, factor: Option<f64> },
    /// The decision when the case's geometry is held out, or that of the full fit.
    Decision { is_full: bool },
    /// Something else.
    Other,
}

/// What the medians tables of a README have shown so far.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Whether there is a row for each case.
    has_row: Vec<bool>,
    /// Where the last table starts, in bytes.
    last_table: Option<usize>,
    /// Whether a table that is none of Markdown was left out of this.
    pub has_foreign: bool,
    /// Whether a column of decisions could not be compared.
    pub without_refit: bool,
}

impl Shown {
    /// Whether there was any medians table.
    pub(super) fn any(&self) -> bool {
        self.last_table.is_some()
    }
}

/// Checks a table if it is one of medians; says of each column whether it is left to
/// others, or `None` if the table is none.
pub(super) fn check(
    table: &Table,
    figures: &Figures<'_, '_>,
    refit: Option<&Refit<'_, '_>>,
    caption: Option<&Caption>,
    locator: &mut Locator<'_>,
    shown: &mut Shown,
    recorder: &mut Recorder,
) -> Option<Vec<bool>> {
    let (header, rows) = table.rows.split_first()?;
    let columns: Vec<Column> = header.iter().map(|cell| column(&cell.text)).collect();
    let is_default = |column: &Column| matches!(column, Column::Median { cohort: DEFAULT, route: Route::Native, .. });
    let names: Vec<Name<'_>> = rows.iter().map(|row| name(row.first(), figures)).collect();
    let has_cases = names.iter().any(|name| matches!(name, Name::Case(_) | Name::Unknown(_)));
    // A header alone still promises the medians of which it names two kinds.
    let promised = columns.iter().skip(1).filter(|column| **column != Column::Other).count();
    let is_empty = promised > 1 && rows.iter().flatten().all(|cell| is_blank(&cell.text));
    if !columns.iter().skip(1).any(is_default) || !(has_cases || is_empty) {
        return None;
    }
    let around = caption.map_or(1.0, |caption| caption.factor);
    let mut is_other_unit = false;
    shown.has_row.resize(figures.cases.len(), false);
    shown.last_table = table.starts.first().copied();
    let mut used: HashMap<usize, usize> = HashMap::new();
    for ((row, name), &start) in rows.iter().zip(names).zip(&table.starts[1..]) {
        let first = row.first().filter(|cell| !cell.text.is_empty());
        let mut place = |cell: Option<&Text>, column: usize| {
            let (line, character) = locator.position(cell.map_or(start, |cell| cell.source(0)));
            let field = header.get(column).map_or("", |cell| cell.text.trim());
            Place { column: Some(character), ..Place::cell(line, field) }
        };
        let case = match name {
            Name::Case(alike) => {
                // Cases with one label take their rows in the order of the cases.
                let turn = used.entry(alike[0]).or_default();
                let case = alike.get(*turn).copied();
                *turn += 1;
                case
            }
            Name::Unknown(label) => {
                recorder.report(Code::ProseTable, files::README, place(first, 0), "a case of the package", label);
                continue;
            }
            Name::Other => continue,
        };
        let Some(case) = case else {
            let found = first.map_or("", |cell| cell.text.trim());
            recorder.report(
                Code::ProseTable,
                files::README,
                place(first, 0),
                "one row for each case",
                format_args!("{found} again"),
            );
            continue;
        };
        shown.has_row[case] = true;
        recorder.held();
        let case = &figures.cases[case];
        for (index, column) in columns.iter().enumerate().skip(1) {
            let cell = row.get(index);
            let text = cell.map_or("", |cell| cell.text.trim());
            let verdict = match *column {
                Column::Median { cohort, route, factor } => {
                    let scale = factor.map_or(Scale::Around(around), Scale::Header);
                    median_cell(text, case, (cohort, route), scale)
                }
                Column::Decision { is_full } => match refit.and_then(|refit| decision(refit, case, is_full)) {
                    Some(schedule) => decision_cell(text, schedule),
                    None => {
                        shown.without_refit = true;
                        continue;
                    }
                },
                Column::Other => continue,
            };
            match verdict {
                Cell::Holds => recorder.held(),
                Cell::OtherUnit => is_other_unit = true,
                Cell::Wrong(expected) => {
                    let cell = cell.filter(|cell| !cell.text.is_empty());
                    let found = if text.is_empty() { "nothing" } else { text };
                    recorder.report(Code::ProseTable, files::README, place(cell, index), expected, found);
                }
            }
        }
    }
    if let Some(caption) = caption.filter(|_| is_other_unit) {
        let (line, column) = locator.position(caption.at);
        let expected = "microseconds, which the medians are in";
        recorder.report(Code::ProseStatement, files::README, Place::text(line, column), expected, &caption.word);
    }
    Some(columns.iter().enumerate().map(|(index, column)| index > 0 && *column == Column::Other).collect())
}

/// Checks a table of HTML or of a code block, which may show something else than medians: one warning for all of it.
pub(super) fn check_foreign(
    table: &Table,
    figures: &Figures<'_, '_>,
    refit: Option<&Refit<'_, '_>>,
    (caption, around): (Option<&Caption>, &str),
    locator: &mut Locator<'_>,
    shown: &mut Shown,
    recorder: &mut Recorder,
) -> Option<Vec<bool>> {
    let rows = rows_of_cases(table, figures)?;
    let mut trial = Recorder::new(Family::Prose, 0.0);
    let columns = check(table, figures, refit, caption, locator, &mut Shown::default(), &mut trial)?;
    if let Some(first) = trial.finish().findings.into_iter().next() {
        shown.has_foreign = true;
        let header = table.rows.first().into_iter().flatten().map(|cell| cell.text.as_str());
        let is_beside = |text: &str| elsewhere::is_beside(text, figures.facts.model.as_ref());
        if !(is_beside(around) || header.into_iter().any(is_beside)) {
            recorder.report(Code::ProseStatement, files::README, first.place, first.expected, first.found);
        }
    } else if rows < figures.cases.len() {
        // A part of the cases is an excerpt.
        shown.has_foreign = true;
        check(table, figures, refit, caption, locator, &mut Shown::default(), recorder);
    } else {
        check(table, figures, refit, caption, locator, shown, recorder);
    }
    Some(columns)
}

/// Whether a cell shows nothing, or that something was left out.
fn is_blank(text: &str) -> bool {
    text.chars().all(|next| next.is_whitespace() || matches!(next, '.' | '\u{2026}' | '\u{22ee}'))
}

/// Whether a table is one of medians, and how many of its rows name a case.
pub(super) fn rows_of_cases(table: &Table, figures: &Figures<'_, '_>) -> Option<usize> {
    let (header, rows) = table.rows.split_first()?;
    let is_median = |cell: &Text| matches!(column(&cell.text), Column::Median { .. });
    let cases = rows.iter().filter(|row| matches!(name(row.first(), figures), Name::Case(_))).count();
    (cases > 0 && header.iter().skip(1).any(is_median)).then_some(cases)
}

/// Reports the cases that have no row in any medians table.
pub(super) fn check_complete(
    shown: &Shown,
    figures: &Figures<'_, '_>,
    locator: &mut Locator<'_>,
    recorder: &mut Recorder,
) {
    let Some(start) = shown.last_table else { return };
    let (line, column) = locator.position(start);
    for (case, _) in figures.cases.iter().zip(&shown.has_row).filter(|(_, has_row)| !**has_row) {
        let expected = format_args!("a row for {}", case.label);
        recorder.report(Code::ProseTable, files::README, Place::text(line, column), expected, "none");
    }
}

/// The column that a header names. Ratios, changes and unknown columns are not judged here.
fn column(header: &str) -> Column {
    let lower = header.to_lowercase();
    let words: Vec<&str> = lower.split(|next: char| !next.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let starts = |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|stem| word.starts_with(stem)));
    if has(&["selection", "selected", "decision", "decisions", "policy"]) && !lower.contains('%') {
        return Column::Decision { is_full: has(&["full"]) && !has(&["logo", "fold"]) };
    }
    let is_relative = lower.contains(['/', '%', '\u{394}', '\u{d7}'])
        || starts(&[
            "ratio", "delta", "speedup", "over", "vs", "versus", "drift", "residual", "predict", "change", "gain",
            "saving",
        ])
        || has(&["stdev", "std", "min", "max", "mean", "mad", "iqr", "samples", "score"]);
    if is_relative && !is_time_per_operation(&lower) {
        return Column::Other;
    }
    let of_seconds = ["(s)", "[s]", "s/op"].iter().any(|unit| lower.split_whitespace().any(|word| word == *unit));
    let unit = words.iter().filter(|word| **word != "s").find_map(|word| caption::factor(word));
    let factor = unit.or(of_seconds.then_some(1e-6));
    let median = |cohort, route| Column::Median { cohort, route, factor };
    let is_retest = starts(&["retr", "retest", "rerun"]);
    if lower.contains("torch") {
        return median(if is_retest { RETEST } else { DEFAULT }, Route::Torch);
    }
    let cohorts = [DEFAULT, Schedule::Rows1.name(), Schedule::Rows2.name(), RECHECK];
    let joined = lower.replace("rows ", "rows").replace("row ", "rows");
    let named = |cohort: &&str| joined.split(|next: char| !next.is_alphanumeric()).any(|word| word == *cohort);
    let mut named = cohorts.into_iter().filter(named);
    match (named.next(), named.next()) {
        // `default recheck` is the recheck.
        (Some(DEFAULT), Some(RECHECK)) => median(RECHECK, Route::Native),
        (Some(_), Some(_)) | (None, _) => Column::Other,
        (Some(cohort), None) => median(if is_retest { RETEST } else { cohort }, Route::Native),
    }
}

/// `default (us/op)` has a slash and is no ratio.
fn is_time_per_operation(lower: &str) -> bool {
    let units = ["us/op", "\u{b5}s/op", "\u{3bc}s/op", "ms/op", "ns/op"];
    units.iter().any(|unit| lower.contains(unit)) && lower.matches('/').count() == 1
}

/// What the first cell of a row names.
pub(super) enum Name<'f> {
    /// Cases with this label.
    Case(&'f [usize]),
    /// A case that the package does not have.
    Unknown(String),
    /// No case: a summary, a caption.
    Other,
}

pub(super) fn name<'f>(cell: Option<&Text>, figures: &'f Figures<'_, '_>) -> Name<'f> {
    let text = cell.map_or("", |cell| cell.text.trim());
    if let Some(alike) = figures.by_name.get(text) {
        return Name::Case(alike);
    }
    match CaseLabel::parse(text) {
        Some(label) => match figures.by_name.get(&label.to_string()) {
            Some(alike) => Name::Case(alike),
            None => Name::Unknown(text.to_owned()),
        },
        None => Name::Other,
    }
}

fn decision(refit: &Refit<'_, '_>, case: &CaseFigures<'_, '_>, is_full: bool) -> Option<Schedule> {
    let evaluated = if is_full {
        &refit.full
    } else {
        let fold = refit.groups.binary_search(&case.record.case.geometry.key()).ok()?;
        &refit.folds.get(fold)?.evaluated
    };
    // Decisions are sorted by case id.
    let index =
        evaluated.decisions.binary_search_by(|decision| decision.case_id.as_str().cmp(case.record.case.id)).ok()?;
    Some(evaluated.decisions[index].decision.selected)
}
