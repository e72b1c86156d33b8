//! What a campaign says, and how its processes are kept on processors.

use recount::package::json::Json;

use super::place::{COHORTS, IDS, Place};
use crate::common::json::{copy, pointers};
use crate::common::outcome::{Outcome, program};

/// Medians become `#`, columns are one space apart, and the folder is DIR: the rest is the same everywhere.
fn masked(place: &Place, text: &str) -> String {
    let text = text.replace(&place.path().display().to_string(), "DIR");
    let is_median =
        |word: &str| word.split_once('.').is_some_and(|(_, digits)| digits.len() == 4) && word.parse::<f64>().is_ok();
    let words = |line: &str| -> Vec<String> {
        line.split_whitespace().map(|word| if is_median(word) { "#".to_owned() } else { word.to_owned() }).collect()
    };
    text.lines().map(|line| words(line).join(" ") + "\n").collect()
}

#[test]
fn the_table_has_a_row_for_each_case_and_names_what_is_next() {
    let place = Place::new();
    let outcome = place.bench("out", &["--inject", "rows2/max=crash"]);
    insta::assert_snapshot!(masked(&place, &outcome.exits(1).stdout), @r"
    microseconds of one operation, medians (cpu)
    case default rows1 rows2 recheck
    reduce_sum 9x40 fp32 B4 # # # #
    reduce_max 6x33 fp16 B8 # # - #
    reduce_sum 17x65 bf16 B4 # # # #

    12 runs, 1 FAILED; they stay failed in the package
    package: DIR/out
    runs: DIR/out.runs (what the package has the hashes of; keep it, or remove it)
    next: recount verify DIR/out
    ");
    let says = outcome.stderr.contains("recount: rows2/max") && outcome.stderr.contains(" failed: signal 6 ended it");
    outcome.require(says || !cfg!(target_os = "linux"), "what failed is said at once");
}

#[test]
fn quiet_says_the_verdict_alone() {
    let place = Place::new();
    let outcome = place.bench("out", &["--quiet", "--inject", "rows2/max=late"]);
    insta::assert_snapshot!(masked(&place, &outcome.exits(1).stdout), @r"
    12 runs, 1 FAILED; they stay failed in the package
    package: DIR/out
    ");
    outcome.require(!outcome.stderr.contains("rows2"), "failures are counted, not listed");
}

#[test]
fn neither_verbose_nor_a_terminal_without_colour_changes_the_form() {
    let place = Place::new();
    let mut command = program();
    command.env("NO_COLOR", "1");
    let outcome = Outcome::with(&mut command, &place.arguments("out", &["-v"]), Some(place.path()));
    outcome.exits(0);
    for text in [&outcome.stdout, &outcome.stderr] {
        outcome.require(!text.contains('\u{1b}'), "there is no escape sequence");
    }
    outcome.require(outcome.stdout.contains("reduce_sum 17x65 bf16 B4"), "the table is there");
}

#[test]
#[cfg(target_os = "linux")]
fn every_run_is_kept_on_the_processors_that_were_named() {
    let place = Place::new();
    // The first that this process may use, in most places 0.
    let allowed = recount::bench::partition::affinity::current().expect("processors");
    let processor = allowed.first().expect("one");
    place.bench("out", &["--cpus", &processor.to_string()]).exits(0);
    let mask = recount::bench::partition::affinity::mask(Some(&[*processor]));
    assert!(*processor > 0 || mask == Json::from("0x1"));
    let before = recount::bench::partition::affinity::mask(Some(&allowed));
    for id in IDS {
        for cohort in COHORTS {
            let record = place.record("out", &format!("{cohort}/{id}"));
            for (name, expected) in [("/affinity_actual", &mask), ("/affinity_before", &before)] {
                let found = pointers(&record).into_iter().find(|pointer| pointer.ends_with(name));
                assert_eq!(&copy(&record, &found.expect("the processors")), expected, "{cohort}/{id}{name}");
            }
        }
    }
    place.verifies("out");
}
