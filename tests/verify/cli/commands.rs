//! Commands around the checks: explain, completions, man, help.

use recount::audit::CATALOGUE;

use crate::common::outcome::Outcome;
use crate::common::package::Package;

#[track_caller]
fn recount(args: &[&str]) -> Outcome {
    Outcome::of(args, None)
}

#[test]
fn every_code_is_explained_with_its_title_and_advice() {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for rule in CATALOGUE {
        let outcome = recount(&["explain", rule.name]);
        outcome.exits(0);
        let said = squeezed(&outcome.stdout);
        for text in [rule.name, rule.title, rule.explanation, rule.advice] {
            outcome.require(said.contains(&squeezed(text)), text);
        }
    }
}

#[test]
fn all_codes_are_listed_once() {
    let outcome = recount(&["explain"]);
    outcome.exits(0);
    for rule in CATALOGUE {
        let lines = outcome.stdout.lines().filter(|line| line.split_whitespace().next() == Some(rule.name)).count();
        outcome.require(lines == 1, &format!("{} is listed once, not {lines} times", rule.name));
    }
}

#[test]
fn an_unknown_code_is_a_bad_request_with_a_hint() {
    let outcome = recount(&["explain", "hash-mismach"]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("did you mean hash-mismatch"), "the nearest code comes first");
    outcome.require(outcome.stderr.matches(" or ").count() <= 2, "few are named");
    for name in ["zzzz", "", "HASH-MISMATCH\u{1b}[31m", "--"] {
        let outcome = recount(&["explain", "--", name]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("recount explain") && !outcome.stderr.contains('\u{1b}'), name);
    }
}

#[test]
fn each_shell_has_a_completion_script_with_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let outcome = recount(&["completions", shell]);
        outcome.exits(0);
        for word in ["verify", "refit", "predict", "diff", "seal", "explain", "selftest", "allow-absent", "tolerance"] {
            outcome.require(outcome.stdout.contains(word), &format!("{shell} knows {word}"));
        }
    }
    recount(&["completions", "cmd"]).exits(2);
    recount(&["completions"]).exits(2);
}

#[test]
fn the_manual_page_says_what_the_help_says() {
    let outcome = recount(&["man"]);
    outcome.exits(0);
    for text in [".TH recount 1", "verify", "Exit status", "1  something does not hold"] {
        outcome.require(outcome.stdout.contains(text), text);
    }
    let out = Package::empty();
    let folder = out.file("pages/man1");
    recount(&["man", "--dir", folder.to_str().unwrap()]).exits(0);
    for page in
        ["recount.1", "recount-verify.1", "recount-refit.1", "recount-predict.1", "recount-diff.1", "recount-seal.1"]
    {
        assert!(out.text(&format!("pages/man1/{page}")).contains(".TH"), "{page}");
    }
    out.write("file", "not a folder");
    let outcome = recount(&["man", "--dir", out.file("file/x").to_str().unwrap()]);
    outcome.exits(2);
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [&["--help"][..], &["-h"], &["help"], &["verify", "--help"], &["help", "verify"]] {
        let outcome = recount(args);
        outcome.exits(0);
        outcome.require(outcome.stdout.contains("Usage:") && outcome.stderr.is_empty(), "the help is on stdout");
    }
    let help = recount(&["--help"]).stdout;
    for line in ["0  everything that was checked holds", "1  something does not hold", "2  the request could not"] {
        assert!(help.contains(line), "{line}");
    }
    assert_eq!(recount(&["-V"]).exits(0).stdout, format!("recount {}\n", env!("CARGO_PKG_VERSION")));
    assert!(recount(&["--version"]).exits(0).stdout.contains("independent-partition-nnls-v1"));
}

#[test]
fn arguments_that_make_no_sense_are_bad_requests_on_standard_error() {
    for args in [
        &[][..],
        &["verfy"],
        &["verify"],
        &["verify", "--nope", "."],
        &["verify", ".", "--format"],
        &["refit"],
        &["predict", "model.json"],
        &["diff", "."],
        &["seal"],
        &["selftest", ".", "--mutations", "many"],
        &["selftest", ".", "--all", "--mutations", "3"],
    ] {
        let outcome = recount(args);
        outcome.exits(2);
        outcome.require(!outcome.stderr.is_empty() && outcome.stdout.is_empty(), "standard error says why");
    }
}

#[test]
fn the_definition_of_the_command_line_is_sound() {
    recount::cli::command().debug_assert();
}

#[test]
fn a_selftest_counts_what_it_forged_and_repeats_itself_by_seed() {
    let package = Package::valid();
    let run = |seed: &str| package.run("selftest", &["--mutations", "3", "--seed", seed]);
    let outcome = run("5");
    outcome.exits(0);
    assert_eq!(outcome.stdout, run("5").stdout);
    outcome.require(outcome.stdout.contains("validation.json"), "files are listed");
    package.run("selftest", &["--mutations", "3", "--at-least", "101"]).exits(1);
    package.verify(&[]).holds();
    let nothing = Package::of_text("notes.txt", "notes");
    let outcome = nothing.run("selftest", &[]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("validation.json"), "what could be forged is named");
}

#[test]
fn errors_are_one_line_that_starts_with_the_programs_name() {
    for args in [
        &["refit", "/nowhere"][..],
        &["predict", "/nowhere", "."],
        &["diff", "/nowhere", "/nowhere"],
        &["seal", "/nowhere"],
        &["selftest", "/nowhere"],
        &["verify", ".", "--allow-absent", "["],
        &["explain", "nope"],
    ] {
        let outcome = recount(args);
        outcome.exits(2);
        outcome.require(
            outcome.stderr.starts_with("recount: ") && outcome.stderr.lines().count() == 1,
            "one line on standard error",
        );
    }
}
