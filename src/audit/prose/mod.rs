//! Prose: the numbers in the package's README, in its tables and its sentences, against the data.
//!
//! [`markdown`] gives the text and [`tokens`] its numbers; [`figures`] and [`counts`] hold what the data says. [`table`]
//! compares medians tables cell by cell, [`claims`] judges the numbers of sentences by the figures that the words around
//! them name ([`candidates`], [`nouns`]). No sentence of any README is known here.

mod candidates;
mod caption;
mod cell;
mod claims;
mod counts;
mod derive;
mod elsewhere;
mod facts;
mod figures;
mod listing;
mod markdown;
mod named;
mod nouns;
mod numerals;
mod overlap;
mod owners;
mod printed;
mod stated;
mod table;
mod tokens;
mod words;

use super::completeness::is_missing;
use super::evidence::{Options, PartitionEvidence, RefitEvidence};
use super::{CheckReport, Code, Family, Place, Recorder};
use crate::package::limits::{MAX_README_BYTES, MAX_README_NUMBERS};
use crate::package::partition::files;
use caption::Caption;
use claims::{Judged, Judgement};
use figures::Figures;
use listing::Found;
use markdown::{Block, Locator, Table, Text};
use table::Name;

/// Runs the family.
pub(super) fn check(package: &PartitionEvidence<'_>, refit: &RefitEvidence<'_, '_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Prose, options.tolerance);
    let markdown = match package.evidence.text(files::README).and_then(readable) {
        Ok(markdown) => markdown,
        Err(reason) => return recorder.not_run(reason),
    };
    let validation = match package.validation() {
        Ok(validation) => validation,
        Err(reason) => return recorder.not_run(reason),
    };
    // Numbers of a model that is not there have nothing to be checked against: that the data would give the same ones does
    // not restore it. A reader who accepts its absence accepts the refit's.
    let without_model = is_missing(package.evidence, files::MODEL, options);
    let no_refit = Err(format!("{} is not in the package", files::MODEL));
    let refit = if without_model { &no_refit } else { refit };
    let mut figures = Figures::of(package, validation, refit, options.tolerance);
    let fitted = refit.as_ref().ok().map(|refitted| &refitted.refit);
    let blocks = markdown::blocks(markdown);
    if let Some(model) = &figures.facts.model {
        figures.facts.names_model = texts(&blocks).any(|text| model.is_named_in(&text.text));
    }
    let mut locator = Locator::new(markdown);
    let mut shown = table::Shown::default();
    let mut judged = 0;
    let mut has_unread = false;
    let mut caption = None;
    for (index, block) in blocks.iter().enumerate() {
        let headed;
        let (table, is_html) = match block {
            Block::Text(text) => {
                judged += check_text(text, MAX_README_NUMBERS - judged, &figures, &mut locator, &mut recorder);
                // What a section says of its tables ends with it.
                caption = Caption::of(text).or(caption.filter(|_| !text.is_heading));
                continue;
            }
            Block::Code(_) => continue,
            Block::Html(Found::Unread) => {
                has_unread = true;
                continue;
            }
            Block::Html(Found::Table(table)) => (table, true),
            Block::Table(table) => (table, false),
        };
        // Rows of HTML may begin without a header.
        let is_headless =
            is_html && table.rows.first().is_some_and(|row| !matches!(table::name(row.first(), &figures), Name::Other));
        let table = if is_headless {
            headed = table.with_empty_header();
            &headed
        } else {
            table
        };
        if overlap::check_table(table, &figures, &mut locator, &mut recorder) {
            continue;
        }
        let behind = || match blocks.get(index + 1) {
            Some(Block::Text(text)) if !text.is_heading => Caption::of(text),
            _ => None,
        };
        let around = caption.clone().or_else(behind);
        let around = around.as_ref();
        let is_left = if is_html {
            let context = (around, &*text_around(&blocks, index));
            table::check_foreign(table, &figures, fitted, context, &mut locator, &mut shown, &mut recorder)
        } else if shown.any() && is_introduced_as_other(&blocks, index, &figures) {
            continue;
        } else {
            table::check(table, &figures, fitted, around, &mut locator, &mut shown, &mut recorder)
        };
        if is_html && is_left.is_some() {
            continue;
        }
        if is_html && elsewhere::is_beside(&text_around(&blocks, index), figures.facts.model.as_ref()) {
            continue;
        }
        for text in rows_as_texts(table, is_left.as_deref()).iter().filter(|text| !text.text.is_empty()) {
            judged += check_text(text, MAX_README_NUMBERS - judged, &figures, &mut locator, &mut recorder);
        }
    }
    for (index, block) in blocks.iter().enumerate() {
        let Block::Code(range) = block else { continue };
        let code = &markdown[range.clone()];
        let tables = listing::in_code(code, range.start);
        has_unread |= tables.is_empty() && lists_cases(code, &figures);
        for table in tables {
            let Some(rows) = table::rows_of_cases(&table, &figures) else { continue };
            // A few rows may be an example of what a table looks like.
            let cases = figures.cases.len();
            if rows >= cases || (!shown.any() && rows.saturating_mul(2) >= cases) {
                let context = (None, &*text_around(&blocks, index));
                table::check_foreign(&table, &figures, fitted, context, &mut locator, &mut shown, &mut recorder);
            } else {
                has_unread = true;
            }
        }
    }
    if has_unread {
        recorder.note(format!("{}: a table in a code block or in HTML was not compared", files::README));
    }
    if judged == MAX_README_NUMBERS {
        recorder.note(format!(
            "{}: only the first {MAX_README_NUMBERS} numbers in sentences were looked at",
            files::README
        ));
    }
    table::check_complete(&shown, &figures, &mut locator, &mut recorder);
    if !shown.any() && !shown.has_foreign {
        recorder
            .note(format!("{}: no table of medians (a `default` column, rows named by case) was found", files::README));
    }
    if shown.without_refit && without_model {
        let expected = format_args!("no decisions of a model, or {}", files::MODEL);
        recorder.report(Code::IncompletePackage, files::README, Place::whole_file(), expected, "decisions without it");
    } else if shown.without_refit {
        recorder.note("the column of decisions was not compared: the model could not be fitted again".to_owned());
    }
    recorder.finish()
}

/// The README's text.
///
/// # Errors
/// The reason why it is not read.
fn readable(bytes: &[u8]) -> Result<&str, String> {
    let size = bytes.len();
    if size > MAX_README_BYTES {
        return Err(format!("{}: {size} bytes; at most {MAX_README_BYTES} are read as prose", files::README));
    }
    std::str::from_utf8(bytes)
        .map_err(|error| format!("{}: not UTF-8 text from byte {} on", files::README, error.valid_up_to()))
}

/// The rows of a table as sentences: all cells or, of a medians table, the case and the columns that are left to judge.
fn rows_as_texts(table: &Table, is_left: Option<&[bool]>) -> Vec<Text> {
    if is_left.is_some_and(|is_left| !is_left.contains(&true)) {
        return Vec::new();
    }
    let is_wanted = |index: usize| index == 0 || is_left.is_none_or(|is_left| is_left.get(index) == Some(&true));
    let cells = |row: &[Text]| {
        Text::of_row(row.iter().enumerate().filter(|&(index, _)| is_wanted(index)).map(|(_, cell)| cell))
    };
    table.rows.iter().skip(1).map(|row| cells(row)).collect()
}

/// Whether the words directly before a table, such as `Effective bandwidth:`, say that it shows no medians.
fn is_introduced_as_other(blocks: &[Block], index: usize, figures: &Figures<'_, '_>) -> bool {
    match index.checked_sub(1).and_then(|index| blocks.get(index)) {
        Some(Block::Text(text)) if text.text.trim_end().ends_with(':') => {
            elsewhere::is_beside(&text.text, figures.facts.model.as_ref())
        }
        _ => false,
    }
}

/// The text before a block, and one behind it that says what stands above.
fn text_around(blocks: &[Block], index: usize) -> String {
    let text = |index: usize| match blocks.get(index) {
        Some(Block::Text(text)) => text.text.as_str(),
        _ => "",
    };
    let behind = text(index + 1);
    let behind = if behind.to_lowercase().contains("above") { behind } else { "" };
    let before = index.checked_sub(1).map_or("", text);
    // A heading stands before the text that introduces a table.
    let heading = match index.checked_sub(2).and_then(|index| blocks.get(index)) {
        Some(Block::Text(text)) if text.is_heading => text.text.as_str(),
        _ => "",
    };
    [heading, before, behind].join(" ")
}

/// All texts of blocks and cells.
fn texts(blocks: &[Block]) -> impl Iterator<Item = &Text> {
    blocks.iter().flat_map(|block| {
        let (text, table) = match block {
            Block::Text(text) => (Some(text), None),
            Block::Table(table) | Block::Html(Found::Table(table)) => (None, Some(table)),
            _ => (None, None),
        };
        text.into_iter().chain(table.into_iter().flat_map(|table| table.rows.iter().flatten()))
    })
}

/// Whether some lines of a code block begin with a case and have a decimal number behind it.
fn lists_cases(code: &str, figures: &Figures<'_, '_>) -> bool {
    /// Words of a case's label.
    const LABEL: usize = 4;
    let lines = code.lines().filter(|line| {
        let words: Vec<&str> = line.split_whitespace().take(LABEL).collect();
        let has_decimal = || line.split_whitespace().any(|word| word.parse::<f64>().is_ok() && word.contains('.'));
        let is_case = words.first().is_some_and(|word| figures.by_name.contains_key(*word))
            || figures.by_name.contains_key(&words.join(" "));
        is_case && has_decimal()
    });
    lines.take(2).count() == 2
}

/// Judges the numbers of one text, at most `limit`; how many there were.
fn check_text(
    text: &Text,
    limit: usize,
    figures: &Figures<'_, '_>,
    locator: &mut Locator<'_>,
    recorder: &mut Recorder,
) -> usize {
    let judged = claims::judge(text, figures, limit);
    let count = judged.len().min(limit);
    for Judged { at, found, judgement } in judged.into_iter().take(limit) {
        match judgement {
            Judgement::Held => recorder.held(),
            Judgement::Silent => {}
            Judgement::Wrong(code, expected) => {
                let (line, column) = locator.position(text.source(at));
                recorder.report(code, files::README, Place::text(line, column), expected, found);
            }
        }
    }
    count
}
