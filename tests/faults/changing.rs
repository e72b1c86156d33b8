//! Files that change, shrink or vanish while the program reads them.
//!
//! The program is stopped (`SIGSTOP`) when the system says that it is amid a large file, the fault is made, and it goes on:
//! that it was amid the file is seen, not hoped for.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use recount::package::limits::STREAMED_BYTES;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::package::Package;

/// Attempts to stop the program amid a file; each takes a fraction of a second.
const ATTEMPTS: usize = 40;

/// How long a run may take after the fault.
const DEADLINE: Duration = Duration::from_secs(60);

/// Too small for a stream, large enough to be met.
const LARGE: usize = (STREAMED_BYTES - (1 << 20)) as usize;

fn send(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    // One that has ended meanwhile gets no signal.
    let _ = kill_process(pid, signal);
}

/// How far the process is in the file, if it has it open.
fn position(child: &Child, file: &Path) -> Option<u64> {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", child.id())).ok()?;
    let is_it = |entry: &fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|target| target == file);
    let descriptor = descriptors.flatten().find(is_it)?.file_name().into_string().ok()?;
    let info = fs::read_to_string(format!("/proc/{}/fdinfo/{descriptor}", child.id())).ok()?;
    info.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok())
}

/// Whether every thread of the process is stopped.
fn is_stopped(child: &Child) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", child.id())) else { return false };
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 'Z', 'X']))
    })
}

/// Starts the program on one thread and stops it amid `file`.
#[track_caller]
fn stopped_amid(arguments: &[&str], file: &Path) -> Child {
    let file = file.canonicalize().expect("a file");
    let size = fs::metadata(&file).expect("a file").len();
    for _ in 0..ATTEMPTS {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
        command.args(arguments).env("RAYON_NUM_THREADS", "1").stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        while child.try_wait().expect("a status").is_none() {
            send(&child, Signal::STOP);
            let begin = Instant::now();
            while !is_stopped(&child) && begin.elapsed() < Duration::from_secs(1) {
                std::thread::yield_now();
            }
            // Not at its last bytes: what was asked for before may still be on its way.
            if position(&child, &file).is_some_and(|at| 0 < at && at < size - size / 4) {
                return child;
            }
            send(&child, Signal::CONT);
            std::thread::sleep(Duration::from_micros(300));
        }
        drop(child.wait_with_output());
    }
    panic!("the program was never met amid {}", file.display());
}

/// Lets the program go on; exit status, standard output, standard error.
#[track_caller]
fn goes_on(mut child: Child) -> (i32, String, String) {
    send(&child, Signal::CONT);
    let (mut said, mut complained) = (String::new(), String::new());
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let (mut stdout, mut stderr) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        let reading = scope.spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).expect("UTF-8");
            text
        });
        stderr.read_to_string(&mut complained).expect("UTF-8");
        said = reading.join().expect("a text");
    });
    let status = child.wait().expect("an end");
    assert!(begin.elapsed() < DEADLINE, "it took {:?}", begin.elapsed());
    assert!(!complained.contains("panicked"), "{complained}");
    (status.code().expect("no signal"), said, complained)
}

/// Code and file of every finding.
fn findings(report: &str) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(report).expect("a report");
    let checks = report["subjects"]
        .as_array()
        .expect("subjects")
        .iter()
        .flat_map(|one| one["checks"].as_array().expect("checks"));
    let found = checks.flat_map(|check| check["findings"].as_array().expect("findings"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    found.map(|one| (text(&one["code"]), text(&one["file"]))).collect()
}

/// A valid package in which a file has so many blanks after its text; sealed.
fn with_blanks(name: &str) -> Package {
    let package = Package::valid();
    let mut bytes = package.bytes(name);
    bytes.resize(LARGE, b' ');
    *bytes.last_mut().expect("a byte") = b'\n';
    package.write(name, bytes).seal();
    package
}

/// What `verify` finds when a fault is made while it is amid `file`.
#[track_caller]
fn verified(package: &Package, file: &str, options: &[&str], fault: impl FnOnce(&Path)) -> Vec<(String, String)> {
    let path = package.path().to_str().expect("UTF-8");
    let arguments = [&["verify", path, "--format", "json"], options].concat();
    let child = stopped_amid(&arguments, &package.file(file));
    fault(&package.file(file));
    let (status, said, complained) = goes_on(child);
    assert_eq!(status, 1, "{complained}{said}");
    findings(&said)
}

/// How a file is read: whole, in a stream, or only hashed.
const WAYS: [(&str, &[&str]); 4] = [
    ("validation.json", &[]),
    ("validation.json", &["--stream-from", "0"]),
    ("model.json", &["--stream-from", "0"]),
    ("reproduce.py", &[]),
];

fn truncate(file: &Path) {
    File::options().write(true).open(file).expect("a file").set_len(1000).expect("a shorter file");
}

fn extend(file: &Path) {
    File::options().append(true).open(file).expect("a file").write_all(b"more\n").expect("a longer file");
}

#[test]
fn a_file_that_is_truncated_while_it_is_read_is_named() {
    for (name, options) in WAYS {
        let package = if name == "reproduce.py" { with_script() } else { with_blanks(name) };
        let found = verified(&package, name, options, truncate);
        let known = ["unreadable-file", "hash-mismatch", "size-mismatch", "json-syntax"];
        let named: Vec<_> = found.iter().filter(|(_, file)| file == name).collect();
        assert!(!named.is_empty(), "{name} {options:?}: {found:?}");
        assert!(named.iter().all(|(code, _)| known.contains(&code.as_str())), "{name} {options:?}: {found:?}");
        assert!(named.iter().any(|(code, _)| code != "json-syntax"), "{name} {options:?}: {found:?}");
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_named() {
    for (name, options) in WAYS {
        let package = if name == "reproduce.py" { with_script() } else { with_blanks(name) };
        let found = verified(&package, name, options, extend);
        let is_named = found.iter().any(|(code, file)| file == name && code != "json-syntax");
        assert!(is_named, "{name} {options:?}: {found:?}");
    }
}

/// A package with a large file that is hashed and not parsed.
fn with_script() -> Package {
    let package = Package::valid();
    package.write("reproduce.py", vec![b'#'; LARGE]).seal();
    package
}

#[test]
fn files_that_vanish_between_listing_and_reading_are_absent() {
    // Of the names in the receipts, the large one is read first and the last one last.
    for (first, options) in [("!first.bin", &[][..]), ("validation.json", &["--stream-from", "0"])] {
        let package = if first == "validation.json" { with_blanks(first) } else { Package::valid() };
        if first == "!first.bin" {
            package.write(first, vec![b'#'; LARGE]);
        }
        package.write("zz/last.txt", "the last one\n").seal();
        let found =
            verified(&package, first, options, |_| fs::remove_file(package.file("zz/last.txt")).expect("a file"));
        let absent: Vec<_> = found.iter().filter(|(code, _)| code == "absent-file").collect();
        assert_eq!(absent, [&("absent-file".to_owned(), "zz/last.txt".to_owned())], "{options:?}: {found:?}");
        assert!(found.len() == 1, "{options:?}: {found:?}");
    }
}

#[test]
fn a_file_of_measurements_that_vanishes_amid_another_is_absent() {
    for options in [&[][..], &["--stream-from", "0"]] {
        let package = with_blanks("model.json");
        let found = verified(&package, "model.json", options, |_| {
            for name in ["validation.json", "samples.csv"] {
                fs::remove_file(package.file(name)).expect("a file");
            }
        });
        // Some may have been read already, depending on the order; what was not is absent, and nothing else is.
        let absent: Vec<_> = found.iter().filter(|(code, _)| code == "absent-file").map(|(_, file)| file).collect();
        assert!(!absent.is_empty(), "{options:?}: {found:?}");
        assert!(absent.iter().all(|file| ["validation.json", "samples.csv"].contains(&file.as_str())), "{found:?}");
    }
}

#[test]
fn seal_names_what_changes_and_writes_nothing() {
    type Fault = fn(&Package);
    let faults: [(Fault, &str); 3] = [
        (|package| truncate(&package.file("!first.bin")), "!first.bin"),
        (|package| extend(&package.file("!first.bin")), "!first.bin"),
        (|package| fs::remove_file(package.file("zz/last.txt")).expect("a file"), "zz/last.txt"),
    ];
    for (fault, name) in faults {
        let package = Package::valid();
        package.write("!first.bin", vec![b'#'; LARGE]).write("zz/last.txt", "the last one\n");
        let before = package.bytes("receipts.json");
        let path = package.path().to_str().expect("UTF-8");
        let child = stopped_amid(&["seal", path], &package.file("!first.bin"));
        fault(&package);
        let (status, _, complained) = goes_on(child);
        assert_eq!(status, 2, "{complained}");
        assert!(complained.contains(name), "{complained}");
        assert_eq!(package.bytes("receipts.json"), before);
    }
}
