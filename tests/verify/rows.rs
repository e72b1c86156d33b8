//! Rows and cells of samples.csv: each damage is named with its row and its column.

use recount::package::partition::samples::COLUMNS;

use crate::common::outcome::{Found, Outcome};
use crate::common::package::Package;

const TIME: usize = 6;

/// A package whose samples.csv has these lines (without line ends), sealed and verified.
fn with_lines(edit: impl FnOnce(&mut Vec<String>)) -> Outcome {
    let package = Package::valid();
    let mut lines: Vec<String> = package.text("samples.csv").lines().map(str::to_owned).collect();
    edit(&mut lines);
    package.write("samples.csv", lines.join("\n") + "\n").seal();
    package.verify(&[])
}

/// A package in which one cell of line `line` (from 1) is replaced.
fn with_cell(line: usize, column: usize, text: &str) -> Outcome {
    with_lines(|lines| {
        let mut cells: Vec<&str> = lines[line - 1].split(',').collect();
        cells[column] = text;
        lines[line - 1] = cells.join(",");
    })
}

fn cut_last_cell(line: &mut String) {
    line.truncate(line.rfind(',').expect("cells"));
}

fn in_cell(found: &Found, line: u64, column: usize) -> bool {
    found.file == "samples.csv" && found.line == line && found.field == COLUMNS[column]
}

#[test]
fn cells_that_are_no_measured_times_are_refused_where_they_stand() {
    for column in [TIME, TIME + 1] {
        for text in [
            "nan", "NaN", "inf", "-inf", "infinity", "", "-1.5", "0", "0.0", "-0.0", "1_0", " 1.5", "1.5 ", "+1.5",
            "1,5", "1.50", "01.5", "1.5e0", ".5", "1e999", "0x1p3", "abc",
        ] {
            let cell = if text.contains(',') { format!("\"{text}\"") } else { text.to_owned() };
            let outcome = with_cell(5, column, &cell);
            outcome.exits(1).only(&["sample-value"]);
            let finding = outcome.one("sample-value");
            assert!(in_cell(&finding, 5, column), "{text}: {finding:?}");
            assert_eq!(finding.found, format!("`{text}`"));
        }
    }
}

#[test]
fn a_time_that_validation_does_not_have_is_named_with_its_distance() {
    let package = Package::valid();
    let line = package.text("samples.csv").lines().nth(4).unwrap().to_owned();
    let cell = line.split(',').nth(TIME).unwrap();
    let next = recount::package::json::python_float(cell.parse::<f64>().unwrap().next_up());
    let outcome = with_cell(5, TIME, &next);
    let finding = outcome.exits(1).one("sample-mismatch");
    assert!(in_cell(&finding, 5, TIME), "{finding:?}");
    assert_eq!((finding.expected.as_str(), finding.found), (cell, format!("`{next}`")));
    outcome.require(outcome.stdout.contains("\"ulp\": 1,"), "the distance is one step");
}

#[test]
fn one_changed_digit_anywhere_in_a_time_is_found() {
    let package = Package::valid();
    let line = package.text("samples.csv").lines().nth(9).unwrap().to_owned();
    let cell = line.split(',').nth(TIME).unwrap().to_owned();
    for at in (0..cell.len()).filter(|&at| cell.as_bytes()[at].is_ascii_digit()) {
        let digit = if &cell[at..=at] == "7" { "3" } else { "7" };
        let changed = format!("{}{digit}{}", &cell[..at], &cell[at + 1..]);
        let outcome = with_cell(10, TIME, &changed);
        outcome.exits(1);
        let found = outcome.findings();
        let here = found.iter().any(|finding| {
            in_cell(finding, 10, TIME) && ["sample-mismatch", "sample-value"].contains(&finding.code.as_str())
        });
        outcome.require(here, &format!("{changed} for {cell} is found in its cell"));
    }
}

#[test]
fn a_median_that_is_not_its_samples_is_found() {
    let outcome = with_cell(5, TIME + 1, "1.25");
    outcome.exits(1).only(&["median-mismatch", "sample-mismatch"]);
    assert!(in_cell(&outcome.one("median-mismatch"), 5, TIME + 1));
}

#[test]
fn an_extra_or_missing_cell_spoils_its_row_only() {
    for edit in [
        (|line: &mut String| line.push_str(",1.0")) as fn(&mut String),
        cut_last_cell,
        |line| line.clear(),
        |line| line.insert(0, '"'),
    ] {
        let outcome = with_lines(|lines| edit(&mut lines[4]));
        outcome.exits(1);
        outcome.require(outcome.findings().len() < 200, "the findings are bounded");
        outcome.all("sample-rows");
    }
    let finding = with_lines(|lines| lines[4].push_str(",1.0")).one("csv-syntax");
    assert_eq!((finding.line, finding.column), (5, 1));
    assert!(finding.found.contains("9 cells instead of 8"), "{finding:?}");
    let finding = with_lines(|lines| cut_last_cell(&mut lines[4])).one("csv-syntax");
    assert!(finding.found.contains("7 cells instead of 8"), "{finding:?}");
}

#[test]
fn a_wrong_or_missing_header_is_found() {
    for edit in [
        (|lines: &mut Vec<String>| lines[0] = lines[0].replace("route", "path")) as fn(&mut Vec<String>),
        |lines| lines[0] = lines[0].replace("case,cohort", "cohort,case"),
        |lines| lines[0].push_str(",more"),
        |lines| lines[0] = lines[0].to_uppercase(),
        |lines| lines[0].insert(0, '\u{feff}'),
        |lines| {
            lines.remove(0);
        },
    ] {
        let outcome = with_lines(edit);
        assert_eq!(outcome.exits(1).one("csv-syntax").line, 1);
    }
}

#[test]
fn an_empty_table_has_no_samples() {
    let package = Package::valid();
    package.write("samples.csv", "").seal();
    let outcome = package.verify(&[]);
    outcome.exits(1).only(&["csv-syntax", "sample-rows"]);
    assert!(outcome.one("csv-syntax").found.contains("empty"));
}

#[test]
fn text_that_is_not_utf8_is_named_with_its_line() {
    let package = Package::valid();
    let mut bytes = package.bytes("samples.csv");
    let second_line = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    bytes[second_line] = 0xff;
    package.write("samples.csv", bytes).seal();
    let outcome = package.verify(&[]);
    assert_eq!(outcome.exits(1).one("csv-syntax").line, 2);
}

#[test]
fn a_row_that_stands_twice_is_found_once() {
    let outcome = with_lines(|lines| lines.insert(5, lines[4].clone()));
    outcome.exits(1);
    let again = outcome.all("sample-rows").into_iter().filter(|finding| finding.found == "the row again").count();
    assert_eq!(again, 1);
}

#[test]
fn a_row_that_was_removed_is_named() {
    let outcome = with_lines(|lines| {
        lines.remove(8);
    });
    outcome.exits(1);
    let missing =
        outcome.all("sample-rows").into_iter().find(|finding| finding.found == "none").expect("a missing row");
    assert_eq!(missing.expected, "a row demo-sum-10x300-fp16-br4,default,torch index 0");
}

#[test]
fn rows_in_another_order_are_found() {
    let outcome = with_lines(|lines| lines.swap(3, 4));
    outcome.exits(1);
    assert!(outcome.all("sample-rows").iter().any(|finding| finding.found == "another order"));
    let outcome = with_lines(|lines| lines[1..].reverse());
    outcome.exits(1);
    assert!(outcome.all("sample-rows").iter().any(|finding| finding.found == "another order"));
}

#[test]
fn a_gap_in_the_indexes_is_found_in_its_cell() {
    let outcome = with_cell(5, 5, "9");
    outcome.exits(1);
    let gap = outcome.all("sample-rows").into_iter().find(|finding| finding.expected == "3").expect("a gap");
    assert!(in_cell(&gap, 5, 5), "{gap:?}");
    for index in ["-1", "03", "3.0", "", "x"] {
        let outcome = with_cell(5, 5, index);
        outcome.exits(1);
        assert!(outcome.all("sample-rows").iter().any(|finding| in_cell(finding, 5, 5)), "{index}");
    }
}

#[test]
fn a_row_of_nothing_known_is_superfluous() {
    for (column, text) in [(0, "demo-other"), (1, "rows4"), (2, "cuda")] {
        let outcome = with_cell(5, column, text);
        outcome.exits(1);
        let superfluous = outcome.all("sample-rows").into_iter().any(|finding| finding.line == 5);
        outcome.require(superfluous, "the row is named");
    }
}

#[test]
fn a_status_that_contradicts_the_record_is_found_in_its_cell() {
    for (column, text) in [(3, "failed"), (3, ""), (4, "passed"), (4, "ok")] {
        let outcome = with_cell(5, column, text);
        outcome.exits(1).only(&["status-mismatch"]);
        assert!(in_cell(&outcome.one("status-mismatch"), 5, column), "{text}");
    }
}

#[test]
fn lines_are_counted_alike_whatever_ends_them() {
    for (end, blank) in [("\n", 0), ("\r\n", 0), ("\n", 3), ("\r\n", 2)] {
        let package = Package::valid();
        let mut lines: Vec<String> = package.text("samples.csv").lines().map(str::to_owned).collect();
        lines[4] = lines[4].replacen(",native,", ",cuda,", 1).replacen(",torch,", ",cuda,", 1);
        for _ in 0..blank {
            lines.insert(4, String::new());
        }
        package.write("samples.csv", lines.join(end) + end).reseal_file("samples.csv");
        let outcome = package.verify(&[]);
        outcome.exits(1);
        let line = 5 + blank;
        let superfluous = outcome.all("sample-rows").into_iter().any(|finding| finding.line == line);
        outcome.require(superfluous, &format!("the row is at line {line}"));
    }
}
