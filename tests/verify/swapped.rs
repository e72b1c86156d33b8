//! Folders that are swapped for links while a package is read: nothing outside is ever read or listed.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use recount::package::folder::Folder;

use crate::common::package::Package;

/// Attempts; each reads and lists once.
const ATTEMPTS: usize = 20_000;

fn swap(package: &Path, stop: &AtomicBool) {
    let at = |name: &str| package.join(name);
    while !stop.load(Ordering::Relaxed) {
        for (from, to) in [("code", "kept"), ("link", "code"), ("code", "link"), ("kept", "code")] {
            fs::rename(at(from), at(to)).unwrap();
        }
    }
}

#[test]
fn a_folder_that_becomes_a_link_meanwhile_leads_nowhere() {
    let outside = Package::empty();
    outside.write("inner/file.txt", "outside").write("inner/secret.txt", "outside");
    let package = Package::empty();
    package.write("code/inner/file.txt", "inside");
    symlink(outside.path(), package.file("link")).unwrap();
    let folder = Folder::new(package.path());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| swap(package.path(), &stop));
        let mut leaked = None;
        for attempt in 0..ATTEMPTS {
            if folder.read("code/inner/file.txt", 100).is_ok_and(|bytes| bytes != b"inside") {
                leaked = Some(format!("the outer file was read at attempt {attempt}"));
            }
            if folder.list().is_ok_and(|listing| listing.names.iter().any(|name| name.ends_with("secret.txt"))) {
                leaked = Some(format!("the outer folder was listed at attempt {attempt}"));
            }
            if leaked.is_some() {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(leaked, None);
    });
}

#[test]
fn many_folders_side_by_side_are_listed_with_few_of_them_open() {
    let package = Package::empty();
    for at in 0..3000 {
        package.write(&format!("{at}/inner/x"), "");
    }
    let script = r#"ulimit -n 64; exec "$0" "$@""#;
    let mut command = assert_cmd::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_recount")]);
    let path = package.path().to_str().unwrap();
    crate::common::outcome::Outcome::with(&mut command, &["seal", path, "-q"], None).exits(0);
}

#[test]
fn a_folder_that_may_be_passed_but_not_listed_gives_its_files() {
    use std::os::unix::fs::PermissionsExt;

    let package = Package::empty();
    package.write("code/file.txt", "inside");
    let mode = |mode| fs::set_permissions(package.file("code"), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o311);
    let read = Folder::new(package.path()).read("code/file.txt", 100);
    mode(0o755);
    if cfg!(target_os = "linux") {
        assert_eq!(read.unwrap(), b"inside");
    }
}
