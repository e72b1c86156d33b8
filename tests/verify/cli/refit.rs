//! `recount refit`.

use recount::package::json::Json;

use crate::common::json::{scale, set};
use crate::common::outcome::Outcome;
use crate::common::package::Package;

#[test]
fn a_refit_of_a_valid_package_agrees_and_says_so() {
    let outcome = Package::valid().run("refit", &["--exact", "--diff"]);
    outcome.exits(0);
    outcome.require(outcome.stdout.contains("no other difference"), "the models are the same");
    outcome.require(outcome.stdout.contains("0.9204858643596153"), "coefficients are shown whole");
}

#[test]
fn a_model_that_is_written_is_the_recorded_one() {
    let (package, out) = (Package::valid(), Package::empty());
    let path = out.file("model.json");
    package.run("refit", &["--model-out", path.to_str().unwrap()]).exits(0);
    let (written, recorded) = (out.json("model.json"), package.json("model.json"));
    assert_eq!(recount::package::json::compact(&written), recount::package::json::compact(&recorded));
    // It can take the recorded one's place.
    package.write("model.json", out.bytes("model.json")).seal().verify(&[]).holds();
}

#[test]
fn a_package_without_a_model_gets_one() {
    let (package, out) = (Package::valid(), Package::empty());
    let recorded = package.json("model.json");
    package.remove("model.json");
    let outcome = package.run("refit", &[]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("model.json: the file is not there"), "a declared model is missed");
    package.seal();
    let path = out.file("model.json");
    package.run("refit", &["--model-out", path.to_str().unwrap()]).exits(0);
    let written = out.json("model.json");
    for member in ["profile", "profile_id", "full_training_model", "outer_leave_geometry_out"] {
        assert_eq!(written.get(member), recorded.get(member), "{member}");
    }
    let outcome = package.run("refit", &["--diff"]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("model.json"), "what the difference needs is named");
}

#[test]
fn a_forged_coefficient_shows_in_the_difference() {
    let package = Package::valid();
    package.edit_json("model.json", |root| scale(root, "/full_training_model/coefficients/2", 1.001)).seal();
    let outcome = package.run("refit", &["--diff"]);
    outcome.exits(1);
    let Json::Float(forged) =
        package.json("model.json").pointer("/full_training_model/coefficients/2").unwrap().clone()
    else {
        panic!("a float")
    };
    let forged = recount::package::json::python_float(forged);
    let removed = outcome.stdout.lines().any(|line| line.starts_with('-') && line.contains(&forged));
    let added = outcome.stdout.lines().any(|line| line.starts_with('+') && line.contains("0.0003008381978"));
    outcome.require(removed && added, "the forged value is taken away and the refitted one put there");
}

#[test]
fn last_bits_are_no_difference_but_are_counted() {
    let package = Package::valid();
    package.edit_json("model.json", |root| scale(root, "/full_training_model/weighted_sse", 1.0 + 4e-16)).seal();
    let outcome = package.run("refit", &["--diff"]);
    outcome.exits(0);
    outcome.require(outcome.stdout.contains("1 floats differ within the tolerance"), "one float differs");
    outcome.require(outcome.stdout.contains("no other difference"), "by rounding alone");
    let outcome = package.run("refit", &["--diff", "--tolerance", "0"]);
    outcome.exits(1);
}

#[test]
fn a_forged_sample_changes_the_refit() {
    let package = Package::valid();
    package.edit_json("validation.json", |root| {
        set(root, "/cases/0/cohorts/rows1/routes/native/event_us/p50", 9.5);
    });
    let outcome = package.seal().run("refit", &[]);
    outcome.exits(1);
}

#[test]
fn every_format_of_a_refit_is_written() {
    let package = Package::valid();
    for format in ["text", "json", "markdown", "csv"] {
        let outcome =
            Outcome::of(&["refit", package.path().to_str().unwrap(), "--format", format], Some(package.path()));
        if outcome.status == 2 {
            outcome.require(outcome.stderr.contains("possible values"), "a format that does not exist is named");
        } else {
            outcome.exits(0);
            outcome.require(!outcome.stdout.is_empty(), format);
        }
    }
}

#[test]
fn what_cannot_be_refitted_is_said() {
    let package = Package::valid();
    package.edit_json("device.json", |root| set(root, "/sm_count", 0_u64));
    let outcome = package.seal().run("refit", &[]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("sm_count"), "the member is named");
    let notes = Package::of_text("notes.txt", "notes");
    let outcome = notes.run("refit", &[]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("not a partition package"), "the kind is named");
}
