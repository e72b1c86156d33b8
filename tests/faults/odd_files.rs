//! Files that are unreadable, endless, nameless or far too many.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::outcome::{Outcome, program};
use crate::common::package::Package;

/// A user who may do nothing, where the tests run as one who may do everything.
const NOBODY: u32 = 65534;

/// Runs the program as somebody whom the permissions concern; `None` where that cannot be.
fn as_nobody(package: &Package, arguments: &[&str]) -> Option<(i32, String, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        let mut all = vec![package.path().to_owned()];
        while let Some(path) = all.pop() {
            chown(&path, Some(NOBODY), None).expect("an owner");
            if path.is_dir() {
                all.extend(fs::read_dir(&path).expect("a folder").flatten().map(|entry| entry.path()));
            }
        }
        command.uid(NOBODY);
    }
    let output = match command.args(arguments).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: the program cannot be run as another user here ({error})");
            return None;
        }
    };
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Some((output.status.code().expect("no signal"), text(output.stdout), text(output.stderr)))
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).expect("permissions");
}

#[test]
fn an_unreadable_file_is_named_and_the_rest_is_checked() {
    for name in ["samples.csv", "validation.json", "code/calibrate.py", "receipts.json"] {
        let package = Package::valid();
        mode(&package.file(name), 0o000);
        let path = package.path().to_str().expect("UTF-8");
        for stream in ["0", "1000000000"] {
            let arguments = ["verify", path, "--format", "json", "--stream-from", stream];
            let Some((status, said, complained)) = as_nobody(&package, &arguments) else { return };
            // Without receipts nothing is bound to anything.
            let (expected, code) =
                if name == "receipts.json" { (2, "unreadable-package") } else { (1, "unreadable-file") };
            assert_eq!(status, expected, "{name}: {complained}{said}");
            assert!(said.contains(code) && said.contains(name), "{name}: {said}");
        }
        let Some((status, _, complained)) = as_nobody(&package, &["seal", path]) else { return };
        assert_eq!(status, 2, "{complained}");
        assert!(complained.contains(name) && complained.contains("ermission denied"), "{complained}");
    }
}

#[test]
fn an_unreadable_folder_is_said_to_be_one() {
    let package = Package::valid();
    let path = package.path().to_str().expect("UTF-8");
    mode(&package.file("code"), 0o000);
    let verified = as_nobody(&package, &["verify", path, "--format", "json"]);
    let sealed = as_nobody_again(&["seal", path]);
    mode(&package.file("code"), 0o755);
    let (Some((status, said, _)), Some((sealed_status, complained))) = (verified, sealed) else { return };
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("unreadable-file") && said.contains("ermission denied"), "{said}");
    assert_eq!(sealed_status, 2, "{complained}");
    assert!(complained.contains("ermission denied"), "{complained}");
}

/// As [`as_nobody`], in a folder that is nobody's already.
fn as_nobody_again(arguments: &[&str]) -> Option<(i32, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        command.uid(NOBODY);
    }
    let output = command.args(arguments).output().ok()?;
    Some((output.status.code()?, String::from_utf8(output.stderr).ok()?))
}

#[test]
fn links_that_lead_to_each_other_end() {
    let package = Package::valid();
    symlink("second", package.file("first")).unwrap();
    symlink("first", package.file("second")).unwrap();
    package.edit_json("receipts.json", |receipts| {
        let entry = obj! { "sha256": "0".repeat(64), "bytes": 1_u64 };
        crate::common::json::add(receipts, "/files", "first/inner.txt", entry);
    });
    let outcome = package.verify(&[]);
    assert_eq!(outcome.exits(1).one("symlink").file, "first/inner.txt");
    let sealed = package.run("seal", &[]);
    sealed.exits(2);
    for name in ["first", "second"] {
        sealed.require(sealed.stderr.contains(name), "both links are named");
    }
    // And where the loop is the path that was given.
    let path = package.file("first");
    for command in ["verify", "seal", "refit", "selftest"] {
        Outcome::of(&[command, path.to_str().expect("UTF-8")], None).exits(2);
    }
}

#[test]
fn a_folder_with_a_loop_is_searched_for_packages_once() {
    let around = Package::empty();
    let package = Package::valid();
    fs::create_dir(around.file("inner")).unwrap();
    for entry in fs::read_dir(package.path()).unwrap().flatten() {
        fs::rename(entry.path(), around.file("inner").join(entry.file_name())).unwrap();
    }
    symlink("..", around.file("inner/up")).unwrap();
    symlink(".", around.file("self")).unwrap();
    let outcome = around.verify(&[]);
    outcome.exits(0).only(&["undeclared-file"]);
    assert_eq!(outcome.report()["subjects"].as_array().unwrap().len(), 1);
}

#[test]
fn a_name_of_255_bytes_is_a_name() {
    for name in ["x".repeat(255), format!("{}x", "\u{e9}".repeat(127))] {
        assert_eq!(name.len(), 255);
        let package = Package::valid();
        package.write(&name, "long\n").write(&format!("folder/{name}"), "long\n");
        package.run("seal", &[]).exits(0);
        package.verify(&["--strict"]).holds();
        package.write(&name, "other\n");
        assert_eq!(package.verify(&[]).exits(1).all("hash-mismatch")[0].file, name);
    }
}

#[test]
fn a_path_that_is_not_utf8_can_be_verified() {
    let around = Package::empty();
    let name = OsStr::from_bytes(b"pack\xffage");
    let place = around.path().join(name);
    if fs::create_dir(&place).is_err() {
        return; // This file system has no such names.
    }
    for entry in fs::read_dir(Package::valid().path()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), place.join(entry.file_name())).unwrap();
    }
    let seal = Outcome::with(&mut program(), &[OsStr::new("seal"), place.as_os_str()], None);
    seal.exits(0);
    let arguments = [OsStr::new("verify"), place.as_os_str(), OsStr::new("--format"), OsStr::new("json")];
    let outcome = Outcome::with(&mut program(), &arguments, None);
    outcome.exits(0).obeys_schema();
    // The folder around it is searched, too.
    around.verify(&[]).exits(0);
}

/// Runs within so many KiB of memory, and so long.
#[cfg(target_os = "linux")]
fn bounded(arguments: &[&str], kib: u64, patience: Duration) -> Outcome {
    let script = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
    let mut command = assert_cmd::Command::new("sh");
    command.env("RAYON_NUM_THREADS", "2").args(["-c", &script, env!("CARGO_BIN_EXE_recount")]);
    let begin = Instant::now();
    let outcome = Outcome::with(&mut command, arguments, None);
    outcome.require(begin.elapsed() < patience, &format!("it took {:?}", begin.elapsed()));
    outcome
}

#[test]
#[cfg(target_os = "linux")]
fn a_million_entries_are_counted_within_memory_and_time() {
    let package = Package::empty();
    let hash = "0".repeat(64);
    let entries: Vec<String> =
        (0..1_000_000).map(|at| format!("\"f{at:06}\":{{\"sha256\":\"{hash}\",\"bytes\":1}}")).collect();
    package.write("receipts.json", format!("{{\"schema\":1,\"files\":{{{}}}}}", entries.join(",")));
    let path = package.path().to_str().expect("UTF-8");
    let outcome = bounded(&["verify", path, "--format", "json"], 4 << 20, Duration::from_secs(100));
    outcome.exits(1).only(&["absent-file"]);
    let tally = &outcome.report()["subjects"][0]["checks"][0]["tally"];
    assert_eq!(tally["wrong"], 1_000_000);
    outcome.require(outcome.stdout.len() < 4 << 20, "a thousand are listed");
}

#[test]
#[cfg(target_os = "linux")]
fn four_sparse_gibibytes_are_hashed_or_refused_and_never_held() {
    const SPARSE: u64 = 4 << 30;
    let package = Package::valid();
    for (name, code) in [("provenance.json", "unreadable-file"), ("receipts.json", "unreadable-package")] {
        let before = package.bytes(name);
        File::create(package.file(name)).unwrap().set_len(SPARSE).unwrap();
        let path = package.path().to_str().expect("UTF-8");
        let outcome = bounded(&["verify", path, "--format", "json"], 1 << 20, Duration::from_secs(30));
        assert_eq!(outcome.one(code).file, name);
        outcome.require(outcome.status > 0, "it does not hold");
        package.write(name, before);
    }
    // Measurements are read in a stream, other files are hashed.
    for name in ["samples.csv", "validation.json", "code/calibrate.py"] {
        let before = package.bytes(name);
        File::create(package.file(name)).unwrap().set_len(SPARSE).unwrap();
        let path = package.path().to_str().expect("UTF-8");
        let outcome = bounded(&["verify", path, "--format", "json"], 1 << 20, Duration::from_secs(100));
        outcome.exits(1);
        let named = outcome.findings().into_iter().any(|finding| finding.file == name);
        outcome.require(named, &format!("{name} is named"));
        package.write(name, before);
    }
}

#[test]
fn no_command_waits_for_a_pipe() {
    for name in ["validation.json", "receipts.json", "model.json", "README.md"] {
        let package = Package::valid();
        package.remove(name);
        assert!(Command::new("mkfifo").arg(package.file(name)).status().is_ok_and(|status| status.success()));
        let elsewhere = Package::empty();
        let page = elsewhere.file("page.html");
        let page = page.to_str().expect("UTF-8");
        for (command, more, statuses) in [
            ("verify", &["-q"][..], &[1][..]),
            ("verify", &["-q", "--stream-from", "0"], &[1]),
            ("report", &["--html", page], &[1]),
            ("refit", &[], &[0, 1, 2]),
            ("selftest", &["--mutations", "1"], &[2]),
            ("init", &["--check"], &[1]),
            ("seal", &["--check"], &[2]),
            ("seal", &["--redact"], &[2]),
        ] {
            let mut program = program();
            program.timeout(Duration::from_secs(20));
            let path = package.path().to_str().expect("UTF-8");
            let outcome = Outcome::with(&mut program, &[&[command, path], more].concat(), None);
            outcome.require(statuses.contains(&outcome.status), &format!("{command} does not wait for {name}"));
        }
    }
}
