//! Links, folders, pipes and devices where a file was declared: never opened, never waited for.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::common::outcome::Outcome;
use crate::common::package::Package;

fn make_pipe(package: &Package, name: &str) {
    let status = Command::new("mkfifo").arg(package.file(name)).status().expect("mkfifo");
    assert!(status.success());
}

#[test]
fn a_link_to_a_file_of_the_package_is_refused() {
    let package = Package::valid();
    let bytes = package.bytes("device.json");
    package.write("elsewhere.json", bytes).remove("device.json");
    symlink("elsewhere.json", package.file("device.json")).unwrap();
    let outcome = package.verify(&[]);
    let finding = outcome.exits(1).one("symlink");
    assert_eq!(finding.file, "device.json");
    outcome.require(outcome.outcome_of("model").starts_with("not-run"), "the model is not refitted from a link");
}

#[test]
fn a_link_out_of_the_package_is_refused_without_a_look_at_its_target() {
    let outside = Package::empty();
    let package = Package::valid();
    outside.write("device.json", package.bytes("device.json"));
    package.remove("device.json");
    symlink(outside.file("device.json"), package.file("device.json")).unwrap();
    let outcome = package.verify(&[]);
    assert_eq!(outcome.exits(1).one("symlink").file, "device.json");
    outcome.require(!outcome.stdout.contains(outside.path().to_str().unwrap()), "the target is not named");
}

#[test]
fn a_dangling_link_is_a_link_and_not_an_absence() {
    let package = Package::valid();
    package.remove("code/calibrate.py");
    symlink("nowhere", package.file("code/calibrate.py")).unwrap();
    let outcome = package.verify(&["--allow-absent", "code/*"]);
    outcome.exits(1).only(&["symlink"]);
}

#[test]
fn a_folder_on_the_way_that_is_a_link_is_refused() {
    for target_inside in [true, false] {
        let outside = Package::empty();
        let package = Package::valid();
        let target = if target_inside { package.file("moved") } else { outside.file("moved") };
        fs::rename(package.file("code"), &target)
            .or_else(|_| {
                fs::create_dir(&target)?;
                fs::copy(package.file("code/calibrate.py"), target.join("calibrate.py"))?;
                fs::remove_dir_all(package.file("code"))
            })
            .unwrap();
        symlink(&target, package.file("code")).unwrap();
        let outcome = package.verify(&[]);
        let finding = outcome.exits(1).one("symlink");
        assert_eq!(finding.file, "code/calibrate.py");
        assert!(finding.found.contains("code is a symbolic link"), "{finding:?}");
    }
}

#[test]
fn receipts_that_are_a_link_are_refused() {
    let outside = Package::valid();
    let package = Package::valid();
    package.remove("receipts.json");
    symlink(outside.file("receipts.json"), package.file("receipts.json")).unwrap();
    let outcome = package.verify(&[]);
    assert_eq!(outcome.exits(1).one("symlink").file, "receipts.json");
    package.remove("receipts.json");
    symlink("nowhere", package.file("receipts.json")).unwrap();
    assert_eq!(package.verify(&[]).exits(1).one("symlink").file, "receipts.json");
}

#[test]
fn the_package_itself_may_be_reached_through_a_link() {
    let package = Package::valid();
    let elsewhere = Package::empty();
    symlink(package.path(), elsewhere.file("link")).unwrap();
    let path = elsewhere.file("link");
    Outcome::of(&["verify", path.to_str().unwrap(), "--format", "json"], Some(package.path())).holds();
}

#[test]
fn a_pipe_is_not_read_and_not_waited_for() {
    for name in ["samples.csv", "validation.json", "code/calibrate.py", "receipts.json"] {
        let package = Package::valid();
        package.remove(name);
        make_pipe(&package, name);
        let outcome = package.verify(&[]);
        assert_eq!(outcome.exits(1).one("special-file").file, name);
    }
}

#[test]
fn a_pipe_that_nobody_declared_is_listed_and_not_read() {
    let package = Package::valid();
    make_pipe(&package, "pipe");
    let outcome = package.verify(&[]);
    outcome.exits(0).only(&["undeclared-file"]);
    let sealed = package.run("seal", &[]);
    sealed.exits(2);
    sealed.require(sealed.stderr.contains("pipe"), "the pipe is named");
}

#[test]
fn a_folder_is_no_file() {
    for name in ["device.json", "samples.csv", "receipts.json"] {
        let package = Package::valid();
        package.remove(name);
        fs::create_dir(package.file(name)).unwrap();
        let outcome = package.verify(&[]);
        let finding = outcome.exits(1).one("special-file");
        assert_eq!((finding.file.as_str(), finding.found.as_str()), (name, "it is a folder"));
    }
}

#[test]
fn a_file_where_a_folder_should_be_leaves_its_files_absent() {
    let package = Package::valid();
    fs::remove_dir_all(package.file("code")).unwrap();
    package.write("code", "not a folder");
    let outcome = package.verify(&[]);
    outcome.exits(1).only(&["absent-file", "undeclared-file"]);
}

#[test]
fn a_link_to_a_device_is_not_read() {
    for device in ["/dev/zero", "/dev/stdin", "/dev/tty"] {
        let package = Package::valid();
        package.remove("samples.csv");
        symlink(device, package.file("samples.csv")).unwrap();
        assert_eq!(package.verify(&[]).exits(1).one("symlink").file, "samples.csv");
    }
}

#[test]
fn a_socket_is_not_read() {
    let package = Package::valid();
    package.remove("device.json");
    let _socket = std::os::unix::net::UnixListener::bind(package.file("device.json")).unwrap();
    assert_eq!(package.verify(&[]).exits(1).one("special-file").file, "device.json");
}

#[test]
fn a_folder_that_links_to_itself_ends() {
    let package = Package::valid();
    symlink(".", package.file("loop")).unwrap();
    package.verify(&[]).exits(0).only(&["undeclared-file"]);
}

#[test]
fn folders_below_each_other_beyond_the_limit_are_not_entered() {
    let package = Package::valid();
    let deep = format!("{}x", "d/".repeat(80));
    package.write(&deep, "deep");
    let outcome = package.verify(&[]);
    assert_eq!(outcome.exits(1).one("unreadable-file").file, ".");
}

#[test]
fn a_file_whose_name_is_no_text_is_undeclared_and_cannot_be_sealed() {
    use std::os::unix::ffi::OsStrExt;

    let package = Package::valid();
    let name = std::ffi::OsStr::from_bytes(b"na\xffme");
    if fs::write(package.path().join(name), "x").is_err() {
        return; // This file system has no such names.
    }
    fs::create_dir(package.path().join(std::ffi::OsStr::from_bytes(b"fol\xfeder"))).unwrap();
    fs::write(package.path().join(std::ffi::OsStr::from_bytes(b"fol\xfeder/x")), "x").unwrap();
    let outcome = package.verify(&[]);
    let found = outcome.exits(0).all("undeclared-file");
    let names: Vec<&str> = found.iter().map(|finding| finding.file.as_str()).collect();
    assert_eq!(names, ["fol\\xfeder/x", "na\\xffme"]);
    assert!(found.iter().all(|finding| finding.found.contains("not UTF-8")), "{found:?}");
    let sealed = package.run("seal", &[]);
    sealed.exits(2);
    for name in ["na\\xffme: the name is not UTF-8", "fol\\xfeder/x: the name is not UTF-8"] {
        sealed.require(sealed.stderr.contains(name), name);
    }
    sealed.require(!sealed.stderr.contains("not there"), "nothing is called absent");
    package.run("seal", &["--exclude", "fol*/**", "--exclude", "na*"]).exits(0);
}
