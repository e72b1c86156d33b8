//! Laws of every report, whatever was verified.

use std::fs;
use std::path::Path;

use recount::audit::{Report, SubjectReport};
use recount::package::json::Document;
use recount::package::partition::Problem;
use recount::render::escape::is_hidden;
use recount::render::{Format, Style, Verbosity, render};

/// Every place of a finding lies in its file, and a format shows the report without acting on the display.
pub(super) fn report(report: &SubjectReport, folder: &Path) {
    let mut read: Option<(&str, Option<String>)> = None;
    for finding in report.findings() {
        if read.as_ref().is_none_or(|(name, _)| *name != finding.file) {
            let path = folder.join(&finding.file);
            // What is no file may be a pipe, which nobody writes to.
            let is_file = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
            let bytes = if is_file { fs::read(path).ok() } else { None };
            read = Some((&finding.file, bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())));
        }
        let Some((_, Some(text))) = &read else { continue };
        if let Some(line) = finding.place.line {
            let lines = text.split('\n').count();
            assert!((1..=lines).contains(&line), "{finding:?} is not within {lines} lines");
            if let Some(column) = finding.place.column {
                let length = text.split('\n').nth(line - 1).map_or(0, |line| line.chars().count());
                assert!((1..=length + 1).contains(&column), "{finding:?} is not within {length} columns");
            }
        }
    }
    shown(report);
}

/// One format for each report: which one is left to how much was found.
fn shown(report: &SubjectReport) {
    let formats = [Format::Text, Format::Json, Format::Markdown, Format::Junit, Format::Sarif];
    let format = formats[report.findings().count() % formats.len()];
    let report = Report { subjects: vec![report.clone()], errors: Vec::new(), strict: false };
    let style = Style { verbosity: Verbosity::Verbose, ..Style::default() };
    let mut out = Vec::new();
    render(&report, format, &style, &mut out).expect("a buffer takes everything");
    let text = String::from_utf8(out).expect("reports are UTF-8 text");
    let hidden = text.chars().find(|&character| character != '\n' && is_hidden(character));
    assert!(hidden.is_none(), "{format:?} has {hidden:?}");
    if matches!(format, Format::Json | Format::Sarif) {
        serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON");
    }
}

/// Every problem of a reader is at a value of the document, or at a member that an object of it lacks.
pub(super) fn problems(document: &Document, problems: &[Problem]) {
    for problem in problems {
        let parent = problem.pointer.rsplit_once('/').map(|(parent, _)| parent);
        let found = document.root().pointer(&problem.pointer).or_else(|| document.root().pointer(parent?));
        assert!(found.is_some(), "{problem:?} is nowhere");
        let (line, column) =
            document.position(&problem.pointer).unwrap_or_else(|| panic!("{problem:?} has no position"));
        let lines: Vec<&str> = document.text().split('\n').collect();
        assert!(line <= lines.len() && column <= lines[line - 1].chars().count(), "{problem:?}: {line}:{column}");
    }
}
