//! The generated README: it passes the check of prose, and a number changed in it does not.

use super::campaign::{assembled, campaign, with_overlap};
use crate::common::content::{Parts, Recipe, variants};
use crate::common::package::Package;

/// Changes the first digit behind the point of the `number`th decimal of the line that starts with `line`.
fn forged(readme: &str, line: &str, number: usize) -> String {
    let start = readme.find(line).unwrap_or_else(|| panic!("no {line:?} in\n{readme}"));
    let end = readme[start..].find('\n').map_or(readme.len(), |length| start + length);
    let is_digit = |at: usize| readme.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let points = (start + 1..end).filter(|&at| readme.as_bytes()[at] == b'.' && is_digit(at - 1) && is_digit(at + 1));
    let at = points.into_iter().nth(number).unwrap_or_else(|| panic!("no number {number} in {line:?}")) + 1;
    let digit = if &readme[at..=at] == "9" { "2" } else { "9" };
    format!("{}{digit}{}", &readme[..at], &readme[at + 1..])
}

#[track_caller]
fn assert_caught(package: &Package, line: &str, number: usize) {
    let readme = package.text("README.md");
    package.write("README.md", forged(&readme, line, number)).seal();
    let outcome = package.verify(&["--strict"]);
    outcome.exits(1);
    let is_prose = |code: &str| ["prose-claim", "prose-table"].contains(&code);
    outcome.require(outcome.findings().iter().any(|finding| is_prose(&finding.code)), &format!("{line} is caught"));
    package.write("README.md", readme);
}

#[test]
fn a_changed_number_is_an_error() {
    let package = assembled(&with_overlap(&Recipe::default(), |_| {}));
    for (line, numbers) in [
        ("| reduce_sum 10x300 fp16 B4 | 1", 5),
        ("The drift of recheck", 2),
        ("The fastest of default", 1),
        ("The separate retry", 2),
        ("The geometric mean of overlap over plain", 1),
        ("The geometric mean of overlap over Torch", 1),
        ("The geometric mean of the selected medians", 1),
        ("The largest relative residual", 1),
        ("The largest absolute residual", 1),
        ("`a0=", 1),
    ] {
        for number in 0..numbers {
            assert_caught(&package, line, number);
        }
    }
    for schedule in ["rows1", "rows2", "default"] {
        let row = format!("| reduce_max 200x128 fp32 B4 | {schedule} |");
        if package.text("README.md").contains(&row) {
            (0..3).for_each(|number| assert_caught(&package, &row, number));
        }
    }
}

#[test]
fn regressions_are_there_and_checked() {
    let package = assembled(&campaign(&Recipe::default(), |_| {}));
    let readme = package.text("README.md");
    let regressions: Vec<_> = readme.lines().filter(|line| line.starts_with("- ") && line.contains("slower")).collect();
    assert!(!regressions.is_empty(), "{readme}");
    for line in regressions {
        assert_caught(&package, line, 0);
    }
}

#[test]
fn changed_counts_are_errors() {
    let package = assembled(&campaign(&Recipe::default(), |_| {}));
    let readme = package.text("README.md");
    for (from, to) in [
        ("4 cases in 4 cohorts", "5 cases in 4 cohorts"),
        ("4 cases in 4 cohorts", "4 cases in 6 cohorts"),
        ("16 native executions", "18 native executions"),
        ("3 Torch executions", "5 Torch executions"),
        ("147 samples in all", "146 samples in all"),
        ("100 operations per graph", "101 operations per graph"),
        ("target span of 100 ms", "target span of 90 ms"),
        ("6 multiprocessors", "7 multiprocessors"),
        ("capability 8.9", "capability 9.0"),
        ("commit `0123456", "commit `1123456"),
        ("12 observations of 3", "13 observations of 3"),
        ("of 3 geometries", "of 4 geometries"),
        ("more than 5% lower", "more than 6% lower"),
    ] {
        assert!(readme.contains(from), "no {from:?} in\n{readme}");
        package.write("README.md", readme.replacen(from, to, 1)).seal();
        let outcome = package.verify(&[]);
        let is_caught = outcome.findings().iter().any(|finding| finding.code == "prose-claim");
        outcome.require(is_caught, &format!("{to} is caught"));
    }
}

#[test]
fn names_with_marks_and_clocks_do_not_break_the_text() {
    let mut odd = campaign(&Recipe::default(), variants::without_torch);
    let name = "Some_CPU* [v2] | 8481C @ 2.70 GHz\nsecond";
    crate::common::json::set(&mut odd.device, "/identity/gpu", name);
    crate::common::json::set(
        &mut odd.device,
        "/identity/driver",
        format!("{name}, ${{GPU_UUID_REDACTED}}, 617.14, 8.9"),
    );
    odd.commit = None;
    let package = assembled(&odd);
    package.verify(&["--strict"]).holds();
    let first = package.text("README.md").lines().next().unwrap().to_owned();
    assert!(first.contains("SomeCPU v2 / 8481C, 2026-11-30"), "{first}");
}

#[test]
fn settings_are_told_and_a_decimal_that_was_not_recorded_is_a_warning() {
    let package = assembled(&campaign(&Recipe::default(), variants::without_torch as fn(&mut Parts)));
    let readme = package.text("README.md");
    for row in ["| load_average | 0.52, 0.61, 0.7 |", "| clocks.locked | no |", "| temperature | `43.5 C / 'idle'` |"] {
        assert!(readme.contains(row), "no {row:?} in\n{readme}");
    }
    assert!(!readme.contains("environment.json"), "receipts stand in the JSON alone");
    package.write("README.md", readme.replacen("0.52, 0.61", "0.52, 0.67", 1)).seal();
    let outcome = package.verify(&["--strict"]);
    outcome.exits(1).one("prose-untraced");
}
