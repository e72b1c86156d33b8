//! Models and packages that `recount predict` cannot use.

use recount::package::json::Json;

use super::{path, predicted, with_coefficients, written};
use crate::common::json::{copy, set, take};
use crate::common::package::Package;

#[test]
fn a_model_that_cannot_be_used_says_where_and_why() {
    let package = Package::valid();
    type Edit = fn(&mut Json);
    let table: &[(Edit, bool, &[&str])] = &[
        (|root| set(root, "/schema", "independent-partition-nnls-v2"), true, &["/schema: expected", "nnls-v2"]),
        (|root| drop(take(root, "/schema")), true, &[" /schema: ", "found nothing"]),
        (|root| set(root, "/profile/schema", 1_u64), true, &["/profile/schema: expected", "found 1;"]),
        (|root| drop(take(root, "/profile")), false, &["/profile/schema: ", "found nothing", "--model-out"]),
        (|root| set(root, "/profile/formula", "q = a0"), true, &["/profile/formula: ", "ceil(P/6)", "q = a0"]),
        (|root| drop(take(root, "/profile/feature_names/2")), true, &["/profile/feature_names: "]),
        (
            |root| set(root, "/profile/fixed_policy/processor_reference", 0_u64),
            true,
            &["/processor_reference: ", "found 0"],
        ),
        (|root| set(root, "/profile/fixed_policy/improvement_fraction", 0.1), true, &["expected 0.05, found 0.1"]),
        (|root| set(root, "/profile/fixed_policy/candidates", vec![0_u64, 1]), true, &["[0,1,2], found [0,1]"]),
        (|root| drop(take(root, "/profile/coefficients")), true, &["/profile/coefficients: expected an array"]),
        (|root| drop(take(root, "/profile/coefficients/1")), true, &["/profile/coefficients: expected three numbers"]),
        (|root| set(root, "/profile/coefficients/1", "0"), true, &["/profile/coefficients: expected three numbers"]),
        (
            |root| set(root, "/profile/coefficients/2", -1e-9),
            true,
            &["/profile/coefficients/2: ", "not negative, found -1e-09"],
        ),
        (
            |root| set(root, "/profile/coefficients/2", 0.5),
            true,
            &["/full_training_model/coefficients: ", "was changed"],
        ),
        (
            |root| drop(take(root, "/full_training_model/training_groups")),
            true,
            &["training_groups: ", "found nothing"],
        ),
        (
            |root| set(root, "/full_training_model/training_groups", Vec::<u64>::new()),
            true,
            &["training_groups: ", "found []"],
        ),
        (
            |root| set(root, "/profile/confidence", "calibrated"),
            false,
            &["/profile_id: expected \"", "was changed after the fit"],
        ),
        (|root| set(root, "/profile_id", "0"), false, &["/profile_id: expected \"", "found \"0\""]),
    ];
    for (edit, renamed, said) in table {
        let mut model = package.json("model.json");
        edit(&mut model);
        let text = if *renamed { written(&model) } else { recount::package::json::compact(&model) };
        let out = Package::empty();
        out.write("model.json", text);
        let outcome = predicted(&path(&out, "model.json"), &package);
        outcome.exits(2);
        outcome.require(outcome.stdout.is_empty() && outcome.stderr.lines().count() == 1, "one line on standard error");
        for text in said.iter().chain(&["model.json"]) {
            outcome.require(outcome.stderr.contains(text), text);
        }
    }
}

#[test]
fn a_file_that_is_no_model_says_so() {
    let package = Package::valid();
    let out = Package::empty();
    for (text, said) in [
        ("{", "line 1, column 1: EOF"),
        ("{\"profile\":{\"coefficients\":[NaN]}}", "line 1, column 29"),
        ("{\"profile\":{\"coefficients\":[1e999]}}", "line 1, column"),
        ("[]", "/schema: expected \"independent-partition-nnls-v1\", found nothing"),
        ("{\"schema\":1,\"schema\":2}", "appears twice"),
    ] {
        out.write("model.json", text);
        let outcome = predicted(&path(&out, "model.json"), &package);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains(said) && outcome.stderr.contains("model.json"), said);
    }
    out.write("model.json", b"\xff");
    predicted(&path(&out, "model.json"), &package).exits(2);
    predicted(&path(&out, "nowhere.json"), &package).exits(2);
    let outcome = predicted(&path(&out, ""), &package);
    outcome.exits(2);
    let notes = Package::of_text("notes.txt", "notes");
    let outcome = predicted(&path(&notes, ""), &package);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("it is not a partition package"), "the kind is named");
    let outcome = predicted(&path(&package, "model.json"), &notes);
    outcome.exits(2);
    // A model whose scores are no times decides nothing.
    out.write("model.json", with_coefficients(&package, &[0.0, 0.0, 0.0]));
    let outcome = predicted(&path(&out, "model.json"), &package);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("case demo-max-10x300-fp32-br4: the score 0 of default"), "which score");
}

#[test]
fn what_has_no_decision_is_an_error_and_no_panic() {
    let home = Package::valid();
    type Edit = fn(&mut Json);
    let table: &[(Edit, &str)] = &[
        (|root| drop(take(root, "/cohorts/1")), "unsupported cohort set [default, rows2, recheck]"),
        (
            |root| set(root, "/cases/0/cohorts/rows2/routes/native/event_us/p50", 0.0),
            "rows2, 0, is not finite and positive",
        ),
        (|root| set(root, "/cases/0/cohorts/default/routes/native/event_us/p50", 1e-320), "the ratio inf"),
        (|root| set(root, "/cases", Vec::<u64>::new()), "no rows"),
        (
            |root| {
                let id = copy(root, "/cases/0/case/id");
                set(root, "/cases/1/case/id", id);
            },
            "the case id demo-sum-10x300-fp16-br4 stands for more than one case",
        ),
    ];
    for (edit, said) in table {
        let package = Package::valid();
        package.edit_json("validation.json", edit).seal();
        let outcome = predicted(&path(&home, "model.json"), &package);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains(said), said);
    }
}
