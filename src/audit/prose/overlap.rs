//! Figures of overlapping operations, and tables of them: rows named by case, columns of the route's own medians and ratios.
//!
//! They follow from the medians in `overlap.json` and the plain ones; what that file itself says of them is checked elsewhere.

use super::super::evidence::PartitionEvidence;
use super::super::{Code, Place, Recorder};
use super::cell::{is_missing, number_cell};
use super::derive::{Builder, recorded};
use super::figures::{Figure, Figures};
use super::markdown::{Locator, Table, Text};
use super::printed::Unit;
use super::table::{Name, name};
use crate::fit::Schedule;
use crate::package::json::Json;
use crate::package::partition::overlap::{OverlapFigures, geometric_means};
use crate::package::partition::{Validation, files};

/// What `overlap.json` gives.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// By case, in the order of the cases; `None` where the file has none of it.
    pub cases: Vec<Option<OverlapFigures>>,
    /// Medians of the route and their ratios.
    pub figures: Vec<Figure>,
    /// Geometric means over the cases.
    pub geomeans: Vec<Figure>,
}

impl Overlap {
    /// Derives everything from the medians.
    pub(super) fn of(package: &PartitionEvidence<'_>, validation: &Validation<'_>, build: &Builder) -> Self {
        let Ok(document) = package.evidence.document(files::OVERLAP) else { return Self::default() };
        let records = document.root().get("cases").and_then(Json::as_array).unwrap_or_default();
        let mut overlap = Self::default();
        for record in &validation.cases {
            let is_own = |at: &&Json| at.get("case").and_then(Json::as_str) == Some(record.case.id);
            let figures = records.iter().find(is_own).map(|at| {
                let median = |cohort: &str| at.path(&["cohorts", cohort, "event_us", "p50"])?.as_f64();
                for cohort in &validation.cohorts {
                    let median =
                        median(cohort.name).map(|us| recorded(us, Unit::Us, "a median of overlapping operations"));
                    overlap.figures.extend(median);
                }
                let plain = |schedule: Schedule| record.native_median(schedule.name());
                OverlapFigures::of(|schedule| median(schedule.name()), plain, record.torch_median())
            });
            let ratios = figures.and_then(|figures| figures.over_plain()).into_iter();
            for ratio in ratios.chain(figures.and_then(|figures| figures.over_torch())) {
                build.ratio(ratio, "a ratio of overlapping operations", &mut overlap.figures);
            }
            overlap.cases.push(figures);
        }
        let of_cases: Vec<OverlapFigures> = overlap.cases.iter().copied().flatten().collect();
        let names = ["geometric mean of overlap over plain", "geometric mean of overlap over Torch"];
        for (mean, what) in geometric_means(&of_cases).into_iter().zip(names) {
            if let Some(mean) = mean {
                build.geomean(mean, what, &mut overlap.geomeans);
            }
        }
        overlap
    }
}

/// What a column of such a table holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    Schedule,
    Time,
    OverPlain,
    OverTorch,
}

/// The column that a header names.
fn column(header: &str) -> Option<Column> {
    let lower = header.to_lowercase();
    let words: Vec<&str> = lower.split(|next: char| !next.is_alphanumeric()).collect();
    let has = |word: &str| words.contains(&word);
    match () {
        () if has("over") && has("plain") => Some(Column::OverPlain),
        () if has("over") && has("torch") => Some(Column::OverTorch),
        () if has("overlap") && (has("schedule") || has("cohort")) => Some(Column::Schedule),
        () if has("overlap") => Some(Column::Time),
        () => None,
    }
}

/// Checks a table if it is one of overlapping operations: a column of their times, and rows named by case. Whether it was.
pub(super) fn check_table(
    table: &Table,
    figures: &Figures<'_, '_>,
    locator: &mut Locator<'_>,
    recorder: &mut Recorder,
) -> bool {
    let Some((header, rows)) = table.rows.split_first() else { return false };
    let columns: Vec<Option<Column>> = header.iter().map(|cell| column(&cell.text)).collect();
    let names: Vec<Name<'_>> = rows.iter().map(|row| name(row.first(), figures)).collect();
    let has_case = names.iter().any(|name| !matches!(name, Name::Other));
    if figures.overlap.cases.is_empty() || !columns.contains(&Some(Column::Time)) || !has_case {
        return false;
    }
    let mut used = vec![false; figures.cases.len()];
    for ((row, name), &start) in rows.iter().zip(names).zip(table.starts.iter().skip(1)) {
        let case = match &name {
            Name::Case(alike) => alike.iter().copied().find(|&case| !std::mem::replace(&mut used[case], true)),
            Name::Unknown(_) => None,
            Name::Other => continue,
        };
        let recorded = case.and_then(|case| figures.overlap.cases.get(case).copied().flatten());
        let mut place = |cell: Option<&Text>| {
            let (line, column) = locator.position(cell.map_or(start, |cell| cell.source(0)));
            Place::text(line, column)
        };
        let Some(recorded) = recorded else {
            let found = row.first().map_or("", |cell| cell.text.trim());
            recorder.report(Code::ProseTable, files::README, place(row.first()), "a case of overlap.json, once", found);
            continue;
        };
        for (index, column) in columns.iter().enumerate() {
            let Some(column) = column else { continue };
            let cell = row.get(index).filter(|cell| !cell.text.is_empty());
            let text = cell.map_or("", |cell| cell.text.trim());
            match judge(text, *column, &recorded) {
                Ok(()) => recorder.held(),
                Err(expected) => recorder.report(Code::ProseTable, files::README, place(cell), expected, text),
            }
        }
    }
    true
}

/// Whether a cell prints the figure; if not, what it should print.
fn judge(text: &str, column: Column, figures: &OverlapFigures) -> Result<(), String> {
    let number = match column {
        Column::Schedule => {
            let schedule = figures.best.map(|(schedule, _)| schedule);
            let holds = Schedule::from_name(text) == schedule && (schedule.is_some() || is_missing(text));
            return if holds { Ok(()) } else { Err(schedule.map_or("missing", Schedule::name).to_owned()) };
        }
        Column::Time => figures.best.map(|(_, us)| us),
        Column::OverPlain => figures.over_plain(),
        Column::OverTorch => figures.over_torch(),
    };
    number_cell(text, number, column == Column::Time)
}
