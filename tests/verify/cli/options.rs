//! Options of `verify`: absences, tolerance, strictness, loudness, colour.

use crate::common::outcome::{Outcome, program};
use crate::common::package::Package;

#[test]
fn absences_are_allowed_by_glob_and_noted() {
    let package = Package::valid();
    package.remove("code/calibrate.py");
    assert_eq!(package.verify(&[]).exits(1).one("absent-file").file, "code/calibrate.py");
    for glob in ["code/*", "code/calibrate.py", "**/*.py", "**", "code/**", "{code,other}/*.py", "code/[a-c]*"] {
        let outcome = package.verify(&["--allow-absent", glob]);
        outcome.holds();
        outcome.require(outcome.stdout.contains("code/calibrate.py is absent, which was allowed"), glob);
    }
    for glob in ["*", "*.py", "code", "calibrate.py", "CODE/*", "code/?", ""] {
        package.verify(&["--allow-absent", glob]).exits(1).only(&["absent-file"]);
    }
    package.verify(&["--allow-absent", "nothing", "--allow-absent", "code/*"]).holds();
}

#[test]
fn an_allowed_absence_is_no_licence_to_change_the_file() {
    let package = Package::valid();
    package.edit_text("code/calibrate.py", |text| text + "# more\n");
    package.verify(&["--allow-absent", "code/*"]).exits(1).only(&["hash-mismatch"]);
}

#[test]
fn a_glob_that_cannot_be_read_is_a_bad_request() {
    for glob in ["[", "a[b", "{a", "a**\\"] {
        let outcome = Package::valid().run("verify", &["--allow-absent", glob]);
        outcome.exits(2);
        outcome.require(
            outcome.stderr.contains("--allow-absent") && outcome.stdout.is_empty(),
            "the message names the option",
        );
    }
}

#[test]
fn without_tolerance_floats_are_compared_to_the_last_bit() {
    let package = Package::valid();
    // The model was fitted by the same code, and its coefficients are the optimum without rounding, rounded once.
    package.verify(&["--tolerance", "0"]).holds();
    package
        .edit_json("model.json", |root| {
            crate::common::json::scale(root, "/full_training_model/weighted_sse", 1.0 + 4e-16);
        })
        .seal();
    package.verify(&["--tolerance", "0"]).exits(1).only(&["coefficient"]);
    package.verify(&["--tolerance", "1e-12"]).holds();
    package.verify(&["--tolerance", "0.999"]).holds();
}

#[test]
fn a_tolerance_that_is_none_is_a_bad_request() {
    for value in ["-1", "-1e-12", "1", "2", "nan", "inf", "abc", "", "1e-12x"] {
        let outcome = Package::valid().run("verify", &[&format!("--tolerance={value}")]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("--tolerance") && outcome.stdout.is_empty(), value);
    }
}

#[test]
fn a_generous_tolerance_forgives_no_discrete_difference() {
    let outcome = Package::valid()
        .edit_json("model.json", |root| crate::common::json::bump(root, "/full_training_metrics/selected", 1))
        .seal()
        .verify(&["--tolerance", "0.999"]);
    outcome.exits(1).only(&["metric"]);
}

#[test]
fn quiet_says_the_verdict_alone_and_verbose_everything() {
    let package = Package::valid();
    let lines = |args: &[&str]| package.run("verify", args).stdout.lines().count();
    let (quiet, normal, verbose) = (lines(&["-q"]), lines(&[]), lines(&["-v"]));
    assert!(quiet <= 3 && quiet < normal && normal < verbose, "{quiet} {normal} {verbose}");
    let quiet = package.run("verify", &["-q"]);
    quiet.exits(0);
    assert!(quiet.stdout.contains("everything checked holds"));
    package.remove("samples.csv");
    let quiet = package.run("verify", &["-q"]);
    quiet.exits(1);
    assert!(quiet.stdout.lines().count() <= 3);
    package.run("verify", &["-q", "-v"]).exits(2);
}

#[test]
fn quiet_and_verbose_change_no_machine_format() {
    let package = Package::valid();
    let json = package.verify(&[]).stdout;
    assert_eq!(package.verify(&["-q"]).stdout, json);
    assert_eq!(package.verify(&["-v"]).stdout, json);
}

#[test]
fn the_same_package_gives_the_same_report_every_time() {
    let package = Package::valid();
    package.edit_text("validation.json", |text| text.replace("\"errors\":0", "\"errors\":1"));
    let first = package.verify(&[]).stdout;
    for _ in 0..3 {
        assert_eq!(package.verify(&[]).stdout, first);
    }
}

#[test]
fn colour_is_for_those_who_ask_and_for_text_alone() {
    let package = Package::valid();
    let escapes = |args: &[&str]| package.run("verify", args).stdout.contains('\u{1b}');
    assert!(!escapes(&[]), "a pipe is no terminal");
    assert!(!escapes(&["--color", "never"]));
    assert!(escapes(&["--color", "always"]));
    for format in ["json", "markdown", "junit", "sarif"] {
        assert!(!escapes(&["--color", "always", "--format", format]), "{format}");
    }
    package.run("verify", &["--color", "sometimes"]).exits(2);
}

#[test]
fn no_color_is_respected_until_colour_is_asked_for() {
    let package = Package::valid();
    let path = package.path().to_str().unwrap();
    for (value, args, expected) in [("1", &[][..], false), ("1", &["--color", "always"], true), ("", &[], false)] {
        let mut command = program();
        command.env("NO_COLOR", value);
        let outcome = Outcome::with(&mut command, &[&["verify", path], args].concat(), None);
        assert_eq!(outcome.exits(0).stdout.contains('\u{1b}'), expected, "NO_COLOR={value} {args:?}");
    }
}

#[test]
fn text_fits_the_width_that_is_asked_for() {
    let package = Package::valid();
    package.edit_text("samples.csv", |text| text.replace("native,passed", "native,failed"));
    let path = package.path().to_str().unwrap();
    for columns in ["60", "100", "1", "0", "banana", "99999999999999999999"] {
        let mut command = program();
        command.env("COLUMNS", columns);
        Outcome::with(&mut command, &["verify", path], None).exits(1);
    }
}

#[test]
fn every_format_is_one_document_on_standard_output() {
    let package = Package::valid();
    package.remove("samples.csv");
    for (format, start) in [("json", "{"), ("sarif", "{"), ("junit", "<?xml"), ("markdown", "#"), ("text", "")] {
        let outcome = package.run("verify", &["--format", format]);
        outcome.exits(1);
        outcome.require(outcome.stdout.starts_with(start) && outcome.stdout.ends_with('\n'), format);
        outcome.require(outcome.stderr.is_empty(), "nothing is said besides");
    }
    package.run("verify", &["--format", "yaml"]).exits(2);
}
