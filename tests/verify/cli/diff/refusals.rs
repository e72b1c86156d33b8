//! Packages and models that `recount diff` cannot compare, or only in part.

use super::{SCHEMA, compared, document, medians, number};
use crate::common::content::{Parts, Recipe};
use crate::common::json::{add, set, take};
use crate::common::package::Package;

#[test]
fn without_a_common_case_there_is_nothing_to_compare() {
    let (old, new) = (Package::valid(), Package::of(&Recipe { seed: 7, ..Recipe::default() }));
    let outcome = compared(&old, &new, &[]);
    outcome.exits(2);
    for text in ["nothing to compare", "OLD has demo-sum-10x300-fp16-br4, ", "(seed 20261003 against 7)"] {
        outcome.require(outcome.stderr.contains(text), text);
    }
    outcome.require(outcome.stdout.is_empty() && outcome.stderr.lines().count() == 1, "one line on standard error");
}

#[test]
fn models_that_cannot_be_read_leave_the_rest() {
    type Edit = fn(&mut recount::package::json::Json);
    let table: &[(Edit, &str)] = &[
        (|root| drop(take(root, "/full_training_metrics/cases")), "/full_training_metrics"),
        (|root| drop(take(root, "/profile/coefficients/0")), "/profile/coefficients"),
        (|root| set(root, "/schema", "v9"), "schema"),
        (|root| drop(take(root, "/outer_leave_geometry_out/folds/0/decisions")), "/outer_leave_geometry_out/folds"),
        (|root| set(root, "/full_training_evaluation/decisions", 1_u64), "/full_training_evaluation/decisions"),
    ];
    let old = Package::valid();
    for (edit, said) in table {
        let new = Package::valid();
        new.edit_json("model.json", edit).seal();
        let outcome = compared(&old, &new, &["--format", "json"]);
        outcome.exits(1).obeys(SCHEMA);
        let reason = outcome.report()["model_not_compared"].as_str().unwrap_or_default();
        outcome.require(reason.starts_with("NEW: ") && reason.contains(said), said);
        assert_eq!(medians(outcome.report()).len(), 21);
    }
}

#[test]
fn what_cannot_be_compared_is_a_bad_request() {
    let package = Package::valid();
    let notes = Package::of_text("notes.txt", "notes");
    for (outcome, said) in [
        (compared(&package, &notes, &[]), "it is not a partition package"),
        (compared(&notes, &package, &[]), "it is not a partition package"),
        (package.run("diff", &["/nowhere"]), "no such file"),
        (package.run("diff", &[]), "<NEW>"),
    ] {
        outcome.exits(2);
        outcome.require(outcome.stderr.contains(said) && outcome.stdout.is_empty(), said);
    }
    let twice = Package::valid();
    twice.edit_json("validation.json", |root| set(root, "/cases/1/case/id", "demo-sum-10x300-fp16-br4")).seal();
    let outcome = compared(&package, &twice, &[]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("stands for more than one case of NEW"), "which case of which package");
}

#[test]
fn an_environment_without_end_is_bounded() {
    let package = Package::derived(&Recipe::default(), |parts: &mut Parts| {
        let mut deep = obj! { "leaf": 1_u64 };
        for _ in 0..100 {
            deep = obj! { "a name that is rather long": deep };
        }
        let many = (0..9000_usize).map(|at| (format!("field{at}"), recount::package::json::Json::from(at)));
        let many = recount::package::json::Json::Object(many.collect());
        let hostile = obj! { "deep": deep, "many": many, "a\u{1b}[31m\n|": "\u{202e}" };
        add(&mut parts.validation, "", "environment", hostile);
    });
    let found = document(&Package::valid(), &package);
    assert!(found["environment"].as_array().unwrap().len() < 5000);
    assert!(number(&found["environment_left_out"]) > 4000.0);
    for format in ["text", "markdown"] {
        let outcome = compared(&Package::valid(), &package, &["-v", "--format", format]);
        outcome.exits(0);
        outcome.require(!outcome.stdout.contains(['\u{1b}', '\u{202e}']), "nothing acts on the terminal");
    }
}
