//! `recount seal`.

use std::fs;

use crate::common::package::Package;

#[test]
fn sealing_twice_changes_nothing() {
    let package = Package::valid();
    let before = package.bytes("receipts.json");
    package.remove("receipts.json");
    package.run("seal", &[]).exits(0);
    assert_eq!(package.bytes("receipts.json"), before);
    package.run("seal", &[]).exits(0);
    assert_eq!(package.bytes("receipts.json"), before);
    assert!(package.run("seal", &["-q"]).exits(0).stdout.is_empty());
    package.verify(&[]).holds();
}

#[test]
fn check_says_what_would_change_and_changes_nothing() {
    let package = Package::valid();
    package.run("seal", &["--check"]).exits(0);
    package.edit_text("code/calibrate.py", |text| text + "# more\n").write("new.txt", "new");
    let before = package.bytes("receipts.json");
    let outcome = package.run("seal", &["--check"]);
    outcome.exits(1);
    for text in ["would change", "+    \"new.txt\": {", "-      \"bytes\": ", "+      \"bytes\": "] {
        outcome.require(outcome.stdout.contains(text), text);
    }
    assert_eq!(package.bytes("receipts.json"), before);
    package.run("seal", &[]).exits(0);
    package.run("seal", &["--check"]).exits(0);
}

#[test]
fn excluded_files_get_no_receipt() {
    let package = Package::valid();
    package.write("notes/draft.txt", "draft");
    package.run("seal", &["--exclude", "notes/*"]).exits(0);
    assert!(!package.text("receipts.json").contains("draft"));
    package.verify(&[]).exits(0).only(&["undeclared-file"]);
    let outcome = package.run("seal", &["--exclude", "["]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("--exclude"), "the option is named");
}

#[test]
fn evidence_that_is_excluded_does_not_pass() {
    let package = Package::valid();
    package.run("seal", &["--exclude", "model.json"]).exits(0);
    package.verify(&[]).exits(1).only(&["unbound-evidence"]);
}

#[test]
fn globs_of_version_control_are_refused_with_what_is_meant() {
    for (glob, instead) in [
        ("secrets/", "write secrets/**"),
        ("/secrets/", "write secrets/**"),
        ("./secrets/*", "write secrets/*"),
        ("/a.log", "write a.log"),
        ("!a.log", "nothing can be taken back"),
    ] {
        let package = Package::valid();
        package.write("secrets/key.txt", "s\n").write("a.log", "l\n");
        let before = package.bytes("receipts.json");
        let outcome = package.run("seal", &["--exclude", glob]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains(instead) && outcome.stderr.contains("--exclude"), instead);
        package.write(".recountignore", format!("# not these\n{glob}\n"));
        let outcome = package.run("seal", &[]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains(instead) && outcome.stderr.contains("line 2"), instead);
        assert_eq!(package.bytes("receipts.json"), before);
    }
}

#[test]
fn a_glob_that_leaves_nothing_out_is_named() {
    let package = Package::valid();
    package.write("secrets/key.txt", "s\n").write("sub/b.log", "l\n");
    package.write(".recountignore", "\u{feff}secrets\n*.tmp\n");
    let outcome = package.run("seal", &["--exclude", "*.log", "--exclude", "sub", "--exclude", "secrets/**"]);
    outcome.exits(0);
    for line in [
        "--exclude *.log matches no file",
        "--exclude sub matches a folder and no file; write sub/**",
        ".recountignore: secrets matches a folder and no file; write secrets/**",
    ] {
        outcome.require(outcome.stderr.contains(line), line);
    }
    // The list of a project may name what is not there today; what does match is not named.
    outcome.require(!outcome.stderr.contains("*.tmp") && !outcome.stderr.contains("--exclude secrets"), "no more");
    assert!(!package.text("receipts.json").contains("key.txt"));
}

#[test]
fn files_that_are_no_longer_listed_are_named() {
    let package = Package::valid();
    package.remove("code/calibrate.py").write("new.txt", "new\n");
    let outcome = package.run("seal", &[]);
    outcome.exits(0);
    outcome.require(outcome.stdout.contains("files; no longer listed: code/calibrate.py\n"), "the file is named");
    package.write("new.txt", "newer\n");
    let outcome = package.run("seal", &[]);
    outcome.require(!outcome.stdout.contains("no longer"), "nothing was dropped");
}

#[test]
fn what_cannot_be_sealed_is_named_all_at_once_and_nothing_is_written() {
    let package = Package::valid();
    package.write("crlf.txt", "a\r\nb\r\n").write("com1.txt", "x").write("Readme.MD", "x");
    #[cfg(unix)]
    std::os::unix::fs::symlink("crlf.txt", package.file("link")).unwrap();
    let before = package.bytes("receipts.json");
    let outcome = package.run("seal", &[]);
    outcome.exits(2);
    for name in ["crlf.txt", "com1.txt", "README.md"] {
        outcome.require(outcome.stderr.contains(name), name);
    }
    #[cfg(unix)]
    outcome.require(outcome.stderr.contains("link: link is a symbolic link"), "the link is named");
    assert_eq!(package.bytes("receipts.json"), before);
    assert!(
        fs::read_dir(package.path())
            .unwrap()
            .flatten()
            .all(|entry| !entry.file_name().to_string_lossy().contains("partial"))
    );
}

#[test]
fn an_empty_folder_and_no_folder_cannot_be_sealed() {
    let empty = Package::empty();
    empty.run("seal", &[]).exits(2);
    empty.write("receipts.json", "{}").run("seal", &[]).exits(2);
    empty.write("file", "not a folder");
    crate::common::outcome::Outcome::of(&["seal", empty.file("file").to_str().unwrap()], None).exits(2);
}

#[test]
fn receipts_are_sorted_without_regard_to_case_and_end_in_one_line_feed() {
    let package = Package::empty();
    for name in ["b.txt", "A.txt", "c/D.txt", "c/a.txt", ".hidden"] {
        package.write(name, name);
    }
    package.run("seal", &[]).exits(0);
    let receipts = package.json("receipts.json");
    let names: Vec<&str> =
        receipts.get("files").unwrap().as_object().unwrap().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [".hidden", "A.txt", "b.txt", "c/a.txt", "c/D.txt"]);
    let text = package.text("receipts.json");
    assert!(text.ends_with("}\n") && !text.ends_with("\n\n") && !text.contains('\r'));
    package.verify(&["--strict"]).holds();
}

#[test]
fn what_is_no_part_of_a_package_is_not_sealed_and_not_missed() {
    let package = Package::valid();
    let before = package.bytes("receipts.json");
    package.write(".git/config", "x").write("code/.git", "gitdir: x").write(".recount-a1B2.partial", "half");
    package.write(".recount-x.partial/file", "x");
    package.run("seal", &[]).exits(0);
    assert_eq!(package.bytes("receipts.json"), before);
    package.verify(&["--strict"]).holds();
    // Names that only look alike are parts of the package.
    package.write(".gitignore", "x").write("x.partial", "x").write(".recount-x", "x");
    package.run("seal", &[]).exits(0);
    for name in [".gitignore", "x.partial", ".recount-x"] {
        assert!(package.text("receipts.json").contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
#[cfg(unix)]
fn receipts_that_are_no_file_are_neither_read_nor_replaced() {
    let outside = Package::valid();
    let package = Package::valid();
    let target = outside.file("receipts.json");
    package.remove("receipts.json");
    std::os::unix::fs::symlink(&target, package.file("receipts.json")).unwrap();
    for args in [&["--check"][..], &[]] {
        let outcome = package.run("seal", args);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("symbolic link") && outcome.stdout.is_empty(), "the link is named");
    }
    package.remove("receipts.json");
    let status = std::process::Command::new("mkfifo").arg(package.file("receipts.json")).status().unwrap();
    assert!(status.success());
    let outcome = package.run("seal", &["--check"]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("a pipe"), "the pipe is named and not waited for");
}

#[test]
fn receipts_that_are_no_text_or_too_large_are_no_reason_to_wait() {
    let package = Package::valid();
    let before = package.bytes("receipts.json");
    package.write("receipts.json", b"\xff\xfe");
    package.run("seal", &["--check"]).exits(1);
    package.run("seal", &[]).exits(0);
    assert_eq!(package.bytes("receipts.json"), before);
    let limit = recount::package::limits::MAX_PARSED_BYTES;
    fs::File::create(package.file("receipts.json")).unwrap().set_len(limit + 1).unwrap();
    package.run("seal", &["--check"]).exits(2);
}
