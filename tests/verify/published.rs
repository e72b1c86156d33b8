//! The published package itself, where it lies beside the repository.

use crate::common::outcome::Outcome;
use crate::common::shared::shared;

const ALLOWED: [&str; 4] = ["--allow-absent", "code/*", "--allow-absent", "reproduce.py"];

fn verify(args: &[&str]) -> Option<Outcome> {
    let path = shared("packages/program-partition")?;
    let outcome =
        Outcome::of(&[&["verify", path.to_str().expect("UTF-8"), "--format", "json"], args].concat(), Some(&path));
    outcome.obeys_schema();
    Some(outcome)
}

#[test]
fn the_published_package_passes_with_its_code_left_out() {
    let Some(outcome) = verify(&ALLOWED) else { return };
    outcome.holds();
    for family in ["integrity", "samples", "timing", "proofs", "failures", "model", "exactness", "prose"] {
        outcome.require(outcome.outcome_of(family) == "passed", &format!("{family} passed"));
    }
    for (name, value) in [
        ("cases", "16"),
        ("cohorts", "4"),
        ("native executions", "65"),
        ("torch executions", "16"),
        ("samples", "567"),
        ("independent retest", "1"),
        ("failed run, kept as failed", "1"),
    ] {
        outcome.require(outcome.fact(name) == value, &format!("the package has {value} {name}"));
    }
    let strict = verify(&[&ALLOWED[..], &["--strict"]].concat()).expect("it is there");
    strict.holds();
}

#[test]
fn our_own_packages_are_found_again_to_the_last_bit() {
    for name in ["partition-h200-2026-11-30", "partition-h200-heldout-2026-11-30"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(name);
        let outcome =
            Outcome::of(&["verify", path.to_str().expect("UTF-8"), "--format", "json", "--strict"], Some(&path));
        outcome.holds();
        let tally = &outcome.report()["subjects"][0]["tally"];
        outcome.require(tally["within_tolerance"] == 0 && tally["exact"].as_u64() > Some(20_000), "every bit");
    }
}

#[test]
fn without_leave_exactly_the_three_files_of_code_are_absent() {
    let Some(outcome) = verify(&[]) else { return };
    outcome.exits(1).only(&["absent-file"]);
    let names: Vec<String> = outcome.all("absent-file").into_iter().map(|finding| finding.file).collect();
    assert_eq!(names, ["code/calibrate.py", "code/test_calibrate.py", "reproduce.py"]);
}

#[test]
fn the_published_model_is_refitted_within_rounding() {
    let Some(path) = shared("packages/program-partition") else { return };
    let outcome = Outcome::of(&["refit", path.to_str().expect("UTF-8"), "--diff", "--exact"], Some(&path));
    outcome.exits(0);
    outcome.require(outcome.stdout.contains("no other difference"), "only last bits differ");
}

#[test]
fn nine_forgeries_in_ten_of_the_published_package_are_caught() {
    let Some(path) = shared("packages/program-partition") else { return };
    let args = ["selftest", path.to_str().expect("UTF-8"), "--mutations", "12", "--at-least", "90", "--strict"];
    Outcome::of(&[&args[..], &ALLOWED].concat(), Some(&path)).exits(0);
}
