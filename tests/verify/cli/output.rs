//! Where results go: files that appear whole, standard output, pipes that close.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};

use crate::common::outcome::Outcome;
use crate::common::package::Package;

#[test]
fn a_report_in_a_file_is_the_report_and_nothing_lies_beside_it() {
    let (package, out) = (Package::valid(), Package::empty());
    let expected = package.verify(&[]).stdout;
    out.write("report.json", "an older report");
    let outcome = package.verify(&["--output", out.file("report.json").to_str().unwrap()]);
    outcome.exits(0);
    assert!(outcome.stdout.is_empty() && outcome.stderr.is_empty());
    assert_eq!(out.text("report.json"), expected);
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);
}

#[test]
fn a_report_keeps_the_exit_status_of_a_failed_check() {
    let (package, out) = (Package::valid(), Package::empty());
    package.remove("samples.csv");
    package.verify(&["-o", out.file("report.json").to_str().unwrap()]).exits(1);
    assert!(out.text("report.json").contains("absent-file"));
}

#[test]
fn a_report_may_be_written_into_the_package_without_disturbing_it() {
    let package = Package::valid();
    let report = package.file("report.json");
    package.verify(&["--strict", "--output", report.to_str().unwrap()]).exits(0);
    let text = package.text("report.json");
    assert!(text.contains("\"holds\"") && !text.contains("undeclared-file"), "{text}");
    // From now on it lies there, and nobody sealed it.
    package.verify(&[]).exits(0).only(&["undeclared-file"]);
}

#[test]
fn a_file_gets_no_colour_and_a_dash_is_standard_output() {
    let (package, out) = (Package::valid(), Package::empty());
    let file = out.file("report.txt");
    package.run("verify", &["--color", "always", "--output", file.to_str().unwrap()]).exits(0);
    assert!(!out.text("report.txt").contains('\u{1b}'));
    let outcome = package.run("verify", &["--output", "-", "--format", "json"]);
    outcome.holds();
}

#[test]
fn a_place_that_cannot_be_written_is_known_before_any_work() {
    let (package, out) = (Package::valid(), Package::empty());
    out.write("file", "not a folder");
    fs::create_dir(out.file("folder")).unwrap();
    for place in ["missing/report.json", "file/report.json", "folder"] {
        let path = out.file(place);
        let path = path.to_str().unwrap();
        for command in ["verify", "refit"] {
            let outcome = package.run(command, &["--output", path]);
            outcome.exits(2);
            outcome.require(outcome.stderr.contains(path) && outcome.stdout.is_empty(), "the place is named");
        }
        // Even the path is not looked at.
        let outcome = Outcome::of(&["verify", "/nowhere", "--output", path], None);
        outcome.exits(2);
        assert!(outcome.stderr.contains(path) && !outcome.stderr.contains("/nowhere"));
    }
}

#[test]
fn a_failed_request_leaves_an_older_report_alone() {
    let out = Package::empty();
    out.write("report.json", "an older report");
    let path = out.file("report.json");
    Outcome::of(&["refit", "/nowhere", "--output", path.to_str().unwrap()], None).exits(2);
    assert_eq!(out.text("report.json"), "an older report");
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);
}

#[test]
fn a_pipe_is_written_to_and_not_replaced() {
    let (package, out) = (Package::valid(), Package::empty());
    let pipe = out.file("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::read_to_string(pipe).unwrap())
    };
    package.verify(&["--output", pipe.to_str().unwrap()]).exits(0);
    assert!(!fs::symlink_metadata(&pipe).unwrap().is_file(), "the pipe is still a pipe");
    assert_eq!(reader.join().unwrap(), package.verify(&[]).stdout);
}

#[test]
fn a_full_device_is_an_error_and_not_a_panic() {
    let package = Package::valid();
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    for format in ["text", "json", "markdown", "junit", "sarif"] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_recount"))
            .arg("verify")
            .arg(package.path())
            .args(["--format", format])
            .stdout(full)
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{format}: {stderr}");
        assert!(stderr.contains("standard output") && stderr.lines().count() == 1, "{format}: {stderr}");
    }
}

/// Runs the program with a reader that is gone before anything is written.
fn with_closed_pipe(args: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = Command::new(env!("CARGO_BIN_EXE_recount"));
    let output = child.args(args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_reader_that_leaves_early_changes_no_exit_status() {
    let good = Package::valid();
    let bad = Package::valid();
    bad.edit_text("samples.csv", |text| text.replace("native,passed", "native,failed"));
    for format in ["text", "json", "markdown", "junit", "sarif"] {
        for (package, status) in [(&good, 0), (&bad, 1)] {
            let path = package.path().to_str().unwrap();
            let args = ["verify", path, "-v", "--format", format];
            assert_eq!(with_closed_pipe(&args), (Some(status), String::new()), "{format}");
        }
    }
    assert_eq!(with_closed_pipe(&["verify", "/nowhere"]).0, Some(2));
    let path = good.path().to_str().unwrap();
    for args in [
        &["explain"][..],
        &["explain", "hash-mismatch"],
        &["completions", "zsh"],
        &["man"],
        &["--help"],
        &["--version"],
        &["refit", path],
        &["seal", path],
    ] {
        assert_eq!(with_closed_pipe(args), (Some(0), String::new()), "{args:?}");
    }
}

#[test]
fn a_shell_pipeline_that_ends_early_prints_no_error() {
    let package = Package::valid();
    let script = "\"$1\" verify \"$2\" --format json -v | true; echo \"${PIPESTATUS[0]}\"";
    let output = Command::new("bash")
        .args(["-c", script, "bash", env!("CARGO_BIN_EXE_recount")])
        .arg(package.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0\n");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
