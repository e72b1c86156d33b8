//! What cannot be run is refused with a sentence, and leaves nothing behind.

use std::fs;

use super::place::{CASES, Place};
use crate::common::outcome::Outcome;

/// A case in which one thing is wrong.
fn wrong(from: &str, to: &str) -> String {
    assert!(CASES.contains(from), "{from}");
    CASES.replacen(from, to, 1)
}

/// The arguments of a small campaign, without those options and their values.
fn without(place: &Place, options: &[&str]) -> Vec<std::ffi::OsString> {
    let mut arguments = place.arguments("out", &[]);
    for option in options {
        let at = arguments.iter().position(|argument| argument == option).expect("the option");
        arguments.drain(at..at + 2);
    }
    arguments
}

/// The request is refused for that reason, and the folder is as it was.
#[track_caller]
fn refused(place: &Place, arguments: &[std::ffi::OsString], reasons: &[&str]) {
    let before = place.names();
    let outcome = Outcome::of(arguments, Some(place.path()));
    outcome.exits(2);
    for reason in reasons {
        outcome.require(outcome.stderr.contains(reason), reason);
    }
    outcome.require(outcome.stdout.is_empty(), "nothing is said on standard output");
    assert_eq!(place.names(), before);
}

#[test]
fn cases_that_are_none() {
    let place = Place::new();
    let raw = |text: &[u8]| text.to_vec();
    let edited = |from: &str, to: &str| wrong(from, to).into_bytes();
    let texts: [(Vec<u8>, &[&str]); 9] = [
        (raw(b"{"), &["expected JSON in the form of cases.json", "line 1"]),
        (raw(b"\xff"), &["expected UTF-8 text", "save it as UTF-8"]),
        (raw(b"{\"cases\": []}"), &["/cases: expected an array with at least one case", "list the cases to run"]),
        (edited("[9, 40]", "[0, 40]"), &["/cases/0/dimensions", "[0,40]", "give the extents"]),
        (edited("[9, 40]", "[9, 0]"), &["/cases/0/dimensions", "[9,0]", "give the extents"]),
        (edited("fp16", "fp8"), &["/cases/1/precision: expected fp16, bf16 or fp32, found \"fp8\""]),
        (edited("\"max\"", "\"SUM\""), &["/cases/1/id", "give every case an id of its own"]),
        (edited("\"max\"", "\"a/b\""), &["/cases/1/id", "name of a folder"]),
        (edited("reduce_max", "reduce_min"), &["/cases/1/operation: expected reduce_sum or reduce_max"]),
    ];
    for (text, reasons) in texts {
        fs::write(place.at("cases.json"), text).unwrap();
        refused(&place, &place.arguments("out", &[]), reasons);
    }
    fs::remove_file(place.at("cases.json")).unwrap();
    refused(&place, &place.arguments("out", &[]), &["--cases", "cases.json"]);
}

#[test]
fn places_that_are_taken_or_cannot_be() {
    let place = Place::new();
    fs::create_dir(place.at("full")).unwrap();
    fs::write(place.at("full/note"), "mine").unwrap();
    fs::write(place.at("file"), "mine").unwrap();
    for (out, reasons) in [
        ("full", ["full exists", "name a new folder"]),
        ("file", ["file exists", "name a new folder"]),
        ("no/out", ["there is no folder", "make it first"]),
        ("file/out", ["there is no folder", "make it first"]),
        ("", ["exists", "name a new folder"]),
    ] {
        refused(&place, &place.arguments(out, &[]), &reasons);
    }
    assert_eq!(super::place::names(&place.at("full")), ["note"]);
    assert_eq!(place.text("file"), "mine");
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_to() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let folder = place.at("closed");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(folder.join("probe"), "").is_ok() {
        eprintln!("skipped: this user may write everywhere");
        return;
    }
    refused(&place, &place.arguments("closed/out", &[]), &["closed/out cannot be written", "ermission denied"]);
}

#[test]
fn options_that_make_no_sense() {
    let place = Place::new();
    let cases: &[(&[&str], &[&str])] = &[
        (&["--torch", "python3"], &["--torch times a GPU; leave it out with the backend cpu"]),
        (&["--overlap"], &["--overlap needs a GPU; leave it out with the backend cpu"]),
        (&["--cpus", "x"], &["\"x\" is no list of processors such as 0,2-5"]),
        (&["--cpus", "5-3"], &["\"5-3\" is no list of processors such as 0,2-5"]),
        (&["--cpus", "0,0"], &["names a processor twice"]),
        (&["--cpus", "5000"], &["is no list of processors"]),
        (&["--timeout", "0"], &["--timeout", "0 is not in 1..=86400"]),
        (&["--held-out"], &["--cases <FILE>", "cannot be used with '--held-out'"]),
        (&["--inject", "rows1/sum"], &["COHORT/CASE=FAULT"]),
        (&["--inject", "rows3/sum=crash"], &["rows3/sum: there is no such cohort"]),
        (&["--inject", "rows1/none=crash"], &["rows1/none: there is no such case"]),
    ];
    for (more, reasons) in cases {
        refused(&place, &place.arguments("out", more), reasons);
    }
    for (option, value, reason) in [
        ("--samples", "0", "0 is not in 1..=1000"),
        ("--operations", "0", "0 is not in 1..=10000"),
        ("--threads", "0", "0 is not in 1..=1024"),
        ("--target-ms", "nan", "a number of milliseconds from 0.1 to 60000"),
        ("--warm-up-ms", "60001", "a number of milliseconds from 0.1 to 60000"),
        ("--backend", "opencl", "possible values: auto, cuda, cpu"),
    ] {
        let mut arguments = without(&place, &[option]);
        arguments.extend([option.into(), value.into()]);
        refused(&place, &arguments, &[reason]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_processor_that_is_not_there() {
    let place = Place::new();
    let allowed = recount::bench::partition::affinity::current().expect("processors");
    let Some(absent) = (0..1024).rev().find(|processor| !allowed.contains(processor)) else {
        eprintln!("skipped: there are 1024 processors");
        return;
    };
    let list = format!("{},{absent}", allowed.first().expect("one"));
    let reason = format!("may not use processor {absent}; it may use");
    refused(&place, &place.arguments("out", &["--cpus", &list]), &[&reason]);
}

#[test]
fn a_gpu_that_is_not_there() {
    let place = Place::new();
    let with = |more: &[&str]| {
        let mut arguments = without(&place, &["--backend"]);
        arguments.extend(more.iter().map(Into::into));
        arguments
    };
    // Without a driver, or any GPU, that is said first.
    refused(&place, &with(&["--backend", "cuda", "--device", "99"]), &["recount: backend cuda: "]);
    let outcome = Outcome::of(&with(&["--backend", "auto"]), Some(place.path()));
    outcome.exits(0);
    if !outcome.stdout.contains("medians (cpu)") {
        eprintln!("skipped: there is a GPU");
        return;
    }
    outcome.require(outcome.stderr.contains("recount: using host threads: "), "host threads are announced");
    for name in ["out", "out.runs"] {
        fs::remove_dir_all(place.at(name)).unwrap();
    }
    refused(&place, &with(&["--backend", "cuda"]), &["recount: backend cuda: "]);
}

#[test]
fn a_job_that_is_none() {
    let place = Place::new();
    fs::write(place.at("job.json"), "{\"work\": \"rest\"}").unwrap();
    for (job, reasons) in [
        ("job.json", ["recount: job.json is no job: ", "unknown variant `rest`"]),
        ("none.json", ["recount: none.json cannot be read: ", ""]),
        (".", ["recount: . cannot be read: ", ""]),
    ] {
        let outcome = place.recount(&["bench-child", job]);
        outcome.exits(2);
        for reason in reasons {
            outcome.require(outcome.stderr.contains(reason), reason);
        }
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        assert_eq!(place.names(), ["cases.json", "job.json"]);
    }
}
