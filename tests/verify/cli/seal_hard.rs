//! `recount seal` where the folder makes it hard: each has a clear answer, and none leaves half of `receipts.json`.

use std::fs::{self, File};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::outcome::Outcome;
use crate::common::package::Package;

fn leaves_nothing_behind(package: &Package) {
    let names = fs::read_dir(package.path()).unwrap().flatten();
    assert!(names.into_iter().all(|entry| !entry.file_name().to_string_lossy().contains(".partial")));
}

#[test]
#[cfg(unix)]
fn a_read_only_folder_is_named() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    let package = Package::of_text("a.txt", "a\n");
    let before = package.bytes("receipts.json");
    package.write("a.txt", "b\n");
    // A superuser may write anywhere; nobody may not.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_recount"));
    if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        chown(package.path(), Some(65534), None).unwrap();
        command.uid(65534);
    }
    fs::set_permissions(package.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let output = command.arg("seal").arg(package.path()).output();
    fs::set_permissions(package.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let Ok(output) = output else {
        eprintln!("skipped: the program cannot be run as another user here");
        return;
    };
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("receipts.json cannot be written; nothing was changed"), "{said}");
    assert_eq!(package.bytes("receipts.json"), before);
    leaves_nothing_behind(&package);
}

#[test]
fn a_file_that_changes_meanwhile_is_named() {
    let package = Package::of_text("a.txt", "a\n");
    let before = package.bytes("receipts.json");
    let mut log = File::create(package.file("grows.bin")).unwrap();
    log.set_len(256 << 20).unwrap();
    let done = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                log.write_all(b"x").unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let outcome = package.run("seal", &[]);
        done.store(true, Ordering::Relaxed);
        outcome
    });
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("grows.bin: the file changed while it was read"), "the file is named");
    assert_eq!(package.bytes("receipts.json"), before);
    leaves_nothing_behind(&package);
}

#[test]
fn a_folder_in_another_package_needs_a_word() {
    let package = Package::of_text("a.txt", "a\n");
    package.write("inner/deep/b.txt", "b\n");
    let inner = package.file("inner/deep");
    let path = inner.to_str().unwrap();
    let outcome = Outcome::of(&["seal", path], None);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("lies in the package") && outcome.stderr.contains("--nested"), "advice");
    assert!(!inner.join("receipts.json").exists());
    Outcome::of(&["seal", path, "--nested"], None).exits(0);
    assert!(inner.join("receipts.json").is_file());
}

/// Seals so many small files, and gives the seconds that took.
fn many(count: usize) -> f64 {
    let package = Package::empty();
    for folder in 0..count.div_ceil(1000) {
        fs::create_dir(package.file(&format!("{folder}"))).unwrap();
        for file in 0..1000.min(count - folder * 1000) {
            fs::write(package.file(&format!("{folder}/{file}.txt")), "x\n").unwrap();
        }
    }
    let start = Instant::now();
    package.run("seal", &["-q"]).exits(0);
    let took = start.elapsed().as_secs_f64();
    assert_eq!(package.text("receipts.json").matches("sha256").count(), count);
    took
}

#[test]
fn many_small_files_take_no_time_to_speak_of() {
    // What is quadratic takes a hundred times as long.
    let (few, more) = (many(500), many(5000));
    assert!(more < 40.0 * few.max(0.05), "500 files took {few} s, 5000 took {more} s");
}

#[test]
#[ignore = "takes half a minute"]
fn a_hundred_thousand_small_files_take_less_than_a_minute() {
    assert!(many(100_000) < 60.0);
}

fn sparse(bytes: u64) {
    let package = Package::empty();
    File::create(package.file("large.bin")).unwrap().set_len(bytes).unwrap();
    package.run("seal", &[]).exits(0);
    assert!(package.text("receipts.json").contains(&format!("\"bytes\": {bytes}")));
    package.verify(&["--strict"]).holds();
}

#[test]
fn a_large_file_is_streamed() {
    sparse(256 << 20);
}

#[test]
#[ignore = "hashes 10 GiB"]
fn a_file_of_five_gibibytes_is_streamed() {
    sparse(5 << 30);
}

#[test]
#[cfg(target_os = "linux")]
fn a_name_that_is_not_utf8_is_refused_or_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let package = Package::of_text("a.txt", "a\n");
    let before = package.bytes("receipts.json");
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(package.path().join(name), "x").unwrap();
    let outcome = package.run("seal", &["--redact"]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("the name is not UTF-8"), "the reason");
    assert_eq!(package.bytes("receipts.json"), before);
    package.run("seal", &["--exclude", "caf*"]).exits(0);
}
