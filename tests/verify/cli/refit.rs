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
    outcome.require(outcome.stdout.contains("0.9204858643596148"), "coefficients are shown whole");
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
fn the_json_of_a_refit_obeys_its_schema() {
    let package = Package::valid();
    for more in [&["--format", "json"][..], &["--format", "json", "--exact"]] {
        package.run("refit", more).exits(0).obeys(include_str!("../../../docs/schema/recount-refit-v1.json"));
    }
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

#[test]
fn a_tampered_package_fails_even_where_its_model_agrees() {
    let package = Package::valid();
    // The same values in other bytes: the model cannot tell.
    package.edit_text("validation.json", |text| text.replacen('{', "{ ", 1));
    let outcome = package.run("refit", &[]);
    outcome.exits(1);
    outcome.require(outcome.stderr.contains("error hash-mismatch: validation.json: expected "), "the file is named");
    outcome.require(outcome.stderr.contains("the package itself does not hold"), "and what follows is said");
    package.seal().run("refit", &[]).exits(0);
}

#[test]
fn a_warning_is_shown_and_an_absent_file_that_no_fit_needs_fails_nothing() {
    let package = Package::valid();
    package.edit_text("validation.json", |text| text.replace('\n', "\r\n")).remove("code/calibrate.py");
    let outcome = package.run("refit", &[]);
    outcome.exits(0);
    for text in ["warning line-endings: validation.json", "error absent-file: code/calibrate.py"] {
        outcome.require(outcome.stderr.contains(text), text);
    }
    let outcome = package.run("refit", &["--allow-absent", "code/*"]);
    outcome.exits(0);
    outcome.require(!outcome.stderr.contains("absent-file"), "an absence that was allowed is not named");
}

#[test]
fn json_that_was_cut_has_its_line_and_column() {
    let package = Package::valid();
    package.edit_text("validation.json", |text| text[..text.len() / 2].to_owned()).seal();
    let length = package.text("validation.json").lines().last().unwrap().chars().count();
    let outcome = package.run("refit", &[]);
    outcome.exits(2);
    let place = format!("error json-syntax: validation.json:1:{length}: ");
    outcome.require(outcome.stderr.contains(&place), &place);
}

#[test]
fn a_case_that_cannot_be_read_is_not_left_out_in_silence() {
    let package = Package::valid();
    package.edit_json("validation.json", |root| {
        crate::common::json::take(root, "/cases/1/case/operation");
    });
    let outcome = package.seal().run("refit", &[]);
    outcome.exits(1);
    outcome.require(outcome.stderr.contains("malformed-field: validation.json:1:"), "it has a place");
    outcome.require(outcome.stderr.contains("/cases/1/case/operation"), "and a name");
}

#[test]
fn many_findings_are_bounded() {
    let package = Package::valid();
    for at in 0..50 {
        package.write(&format!("extra/{at}.txt"), "");
    }
    let outcome = package.run("refit", &[]);
    outcome.exits(0);
    outcome.require(outcome.stderr.lines().count() == 21, "twenty and a line for the others");
    outcome.require(outcome.stderr.contains("and 30 more"), "their number");
}

#[test]
fn two_results_do_not_go_to_one_place() {
    let (package, out) = (Package::valid(), Package::empty());
    out.write("there.json", "before");
    std::fs::create_dir(out.file("folder")).unwrap();
    let path = |name: &str| out.file(name).to_str().unwrap().to_owned();
    for (output, model) in [
        (path("new.json"), path("new.json")),
        (path("new.json"), path("folder/../new.json")),
        (path("there.json"), path("there.json")),
        ("-".to_owned(), "-".to_owned()),
    ] {
        let outcome = package.run("refit", &["-o", &output, "--model-out", &model]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("--model-out"), "the option is named");
    }
    assert!(!out.file("new.json").exists());
    assert_eq!(out.text("there.json"), "before");
    package.run("refit", &["-o", &path("a.txt"), "--model-out", &path("b.json")]).exits(0);
}
