//! A full disk: every command that writes says so, keeps what was there, leaves nothing half, and succeeds when there is room.
#![cfg(target_os = "linux")]

use std::path::Path;

use super::tree::{Tree, tree, write};
use crate::common::outcome::{Outcome, program};
use crate::common::package::Package;
use crate::common::small_disk::SmallDisk;

/// Room for everything.
const ENOUGH: u64 = 32 << 20;

#[track_caller]
fn run(disk: &Path, arguments: &[&str]) -> Outcome {
    Outcome::with(program().current_dir(disk), arguments, None)
}

/// Runs a command where hardly a block is free, and again where there is room. `blocks` is what it may find free and still
/// not be done with.
#[track_caller]
fn fills_up(before: &Tree, arguments: &[&str], blocks: &[u64]) {
    // A file system without a file would have no size at all.
    let mut before = before.clone();
    before.insert("taken".to_owned(), vec![b'x'; 1 << 16]);
    for &blocks in blocks {
        let around = tempfile::tempdir().expect("a temporary folder");
        let at = around.path().join("disk");
        let Some(disk) = SmallDisk::new(&at, ENOUGH) else { return };
        write(&at, &before);
        disk.leave(blocks);
        let outcome = run(&at, arguments);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("No space left"), "the disk is said to be full");
        let (found, left) = tree(&at);
        outcome.require(found == before, "everything is as it was");
        outcome.require(left.is_empty(), "nothing is left behind");
        disk.resize(ENOUGH);
        let again = run(&at, arguments);
        again.require(again.status < 2, "it succeeds when there is room");
        again.require(tree(&at).0 != before, "something is written then");
    }
}

fn package(change: impl FnOnce(&Package)) -> Tree {
    let package = Package::valid();
    change(&package);
    let (inner, _) = tree(package.path());
    inner.into_iter().map(|(name, bytes)| (format!("package/{name}"), bytes)).chain(folders()).collect()
}

fn folders() -> [(String, Vec<u8>); 1] {
    [("package/".to_owned(), Vec::new())]
}

#[test]
fn verify_on_a_full_disk() {
    let mut before = package(|_| {});
    before.insert("report".to_owned(), b"an older report".to_vec());
    for format in ["text", "json", "junit", "sarif"] {
        fills_up(&before, &["verify", "package", "--format", format, "-o", "report"], &[0]);
    }
}

#[test]
fn refit_on_a_full_disk() {
    let before = package(|_| {});
    fills_up(&before, &["refit", "package", "--model-out", "model.json"], &[0, 1]);
}

#[test]
fn report_on_a_full_disk() {
    let before = package(|_| {});
    fills_up(&before, &["report", "package", "--html", "page.html"], &[0, 1, 4]);
    fills_up(&before, &["report", "package", "--markdown", "page.md"], &[0]);
}

#[test]
fn seal_on_a_full_disk() {
    let new = |package: &Package| {
        package.write("notes.txt", "new\n");
    };
    fills_up(&package(new), &["seal", "package"], &[0]);
    let crlf = |package: &Package| {
        package.edit_text("validation.json", |text| text.replace('\n', "\r\n"));
    };
    fills_up(&package(crlf), &["seal", "package", "--normalize"], &[0, 1]);
    let private = |package: &Package| {
        package.write("log.txt", "written in /home/somebody/measurements\n".repeat(500));
    };
    fills_up(&package(private), &["seal", "package", "--redact"], &[0]);
}

#[test]
fn init_on_a_full_disk() {
    let before = Tree::from([("mine/".to_owned(), Vec::new())]);
    fills_up(&before, &["init", "mine"], &[0]);
}

#[test]
fn divergence_run_on_a_full_disk() {
    let arguments = ["divergence", "run", "--out", "package", "--engine", "cpu", "--trials", "3", "--resolutions", "8"];
    fills_up(&Tree::new(), &arguments, &[0, 4, 16]);
}
