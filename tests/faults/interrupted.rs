//! An interrupt (Ctrl-C) amid a redaction: the copy that it verifies holds what is private, and does not stay.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use recount::package::partial::is_partial;
use rustix::process::{Pid, Signal, kill_process};

use super::tree::recount;

/// Files of the package: enough that a copy is met while it is made.
const FILES: usize = 400;

/// Attempts to interrupt it, each a moment later than the one before.
const ATTEMPTS: u64 = 20;

fn copies(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.filter(|entry| is_partial(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

/// Waits until the copy is there; its permissions, or nothing where the process ended before.
fn copy_of(child: &mut Child, folder: &Path) -> Option<u32> {
    let begin = Instant::now();
    while child.try_wait().expect("a status").is_none() && begin.elapsed() < Duration::from_secs(60) {
        if let Some(copy) = copies(folder).first() {
            return fs::metadata(copy).ok().map(|metadata| metadata.permissions().mode() & 0o777);
        }
    }
    None
}

#[test]
fn an_interrupted_redaction_leaves_no_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("package");
    let mut met = 0;
    for attempt in 0..ATTEMPTS {
        // One that was not interrupted in time has redacted them.
        let _ = fs::remove_dir_all(&package);
        fs::create_dir(&package).expect("a folder");
        for number in 0..FILES {
            fs::write(package.join(format!("{number}.txt")), format!("{number} /home/alice/run\n")).expect("a file");
        }
        let mut child = recount(folder.path(), &["seal", "package", "--redact"]).spawn().expect("the program runs");
        let mode = copy_of(&mut child, folder.path());
        assert!(mode.is_none_or(|mode| mode == 0o700), "nobody else may look into the copy: {mode:?}");
        // At another moment each time: while it is filled, verified, removed.
        std::thread::sleep(Duration::from_millis(attempt));
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
        // One that has ended meanwhile gets no signal.
        let _ = kill_process(pid, Signal::INT);
        let status = child.wait().expect("an end");
        assert_eq!(copies(folder.path()), Vec::<PathBuf>::new(), "attempt {attempt}: {status}");
        met += u32::from(mode.is_some() && status.code() == Some(130));
    }
    assert!(met > 0, "no redaction was interrupted");
}
