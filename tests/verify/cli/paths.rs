//! What a path stands for.

use std::fs;
use std::path::Path;

use crate::common::outcome::Outcome;
use crate::common::package::Package;

#[track_caller]
fn verify(paths: &[&Path], args: &[&str]) -> Outcome {
    let mut all = vec!["verify", "--format", "json"];
    all.extend(paths.iter().map(|path| path.to_str().expect("UTF-8")));
    all.extend(args);
    let outcome = Outcome::of(&all, paths.first().copied().filter(|path| path.is_dir()));
    outcome.obeys_schema();
    outcome
}

fn subjects(outcome: &Outcome) -> Vec<String> {
    let subjects = outcome.report()["subjects"].as_array().expect("subjects");
    subjects.iter().map(|subject| subject["path"].as_str().expect("a path").to_owned()).collect()
}

fn reason(outcome: &Outcome) -> String {
    let errors = outcome.report()["errors"].as_array().expect("errors");
    outcome.require(errors.len() == 1, "one path could not be looked at");
    errors[0]["reason"].as_str().expect("a reason").to_owned()
}

/// Copies of a valid package below one folder, with a damaged one in the middle.
fn nested() -> Package {
    let outer = Package::empty();
    for name in ["b", "deep/down/here", "a"] {
        let source = Package::valid();
        for file in source.json("receipts.json").get("files").unwrap().as_object().unwrap() {
            outer.write(&format!("{name}/{}", file.0), source.bytes(&file.0));
        }
        outer.write(&format!("{name}/receipts.json"), source.bytes("receipts.json"));
    }
    outer.write("not-a-package/notes.txt", "notes");
    outer
}

#[test]
fn a_package_that_lost_its_receipts_does_not_drop_out_of_a_search() {
    for kept in ["receipts.json.sig", "Receipts.json", ""] {
        let outer = nested();
        let lost = outer.file("a");
        let (receipts, signature) = (lost.join("receipts.json"), lost.join("receipts.json.sig"));
        match kept {
            "" => fs::remove_file(receipts).unwrap(),
            "receipts.json.sig" => fs::rename(receipts, signature).unwrap(),
            other => fs::rename(receipts, lost.join(other)).unwrap(),
        }
        let outcome = verify(&[outer.path()], &[]);
        outcome.exits(1);
        assert_eq!(subjects(&outcome).len(), 3, "{kept}: {:?}", subjects(&outcome));
        let missing: Vec<_> = outcome.findings().into_iter().filter(|one| one.code == "absent-file").collect();
        outcome.require(missing.iter().any(|finding| finding.file == "receipts.json"), "what is missing is named");
    }
}

#[test]
fn one_file_with_a_common_name_makes_no_package() {
    for name in ["validation.json", "model.json", "cases.json", "samples.csv", "claims.json", "medians.csv"] {
        let outer = nested();
        outer.write(&format!("tool/{name}"), "{}");
        assert_eq!(subjects(&verify(&[outer.path()], &[])).len(), 3, "{name}");
    }
}

#[test]
fn evidence_without_receipts_of_each_kind_is_a_package() {
    for names in [
        &["validation.json", "samples.csv"][..],
        &["model.json", "cases.json"],
        &["claims.json", "medians.csv"],
        &["torch/experiment_results.json"],
        &["receipts.json.sig"],
    ] {
        let outer = Package::empty();
        for name in names {
            outer.write(&format!("lost/{name}"), "{}");
        }
        let outcome = verify(&[outer.path()], &[]);
        assert_eq!(subjects(&outcome).len(), 1, "{names:?}");
        let absent =
            outcome.findings().into_iter().find(|one| one.code == "absent-file" && one.file == "receipts.json");
        outcome.require(absent.is_some(), "the receipts are missing");
    }
}

#[test]
fn what_an_interrupted_redaction_left_is_no_package() {
    let outer = nested();
    for (name, file) in
        [(".recount-abc123.partial/receipts.json", "a/receipts.json"), (".recount-abc123.partial/x", "a/README.md")]
    {
        outer.write(name, outer.bytes(file));
    }
    assert_eq!(subjects(&verify(&[outer.path()], &[])).len(), 3);
    outer.run("seal", &[]).exits(0);
    assert!(!outer.text("receipts.json").contains("partial"));
}

#[test]
fn a_path_that_is_not_there_is_a_failed_request() {
    let outcome = verify(&[Path::new("/nowhere/at/all")], &[]);
    outcome.exits(2);
    assert!(reason(&outcome).contains("no such file or folder"));
}

#[test]
fn a_folder_without_a_package_is_a_failed_request() {
    let empty = Package::empty();
    empty.write("sub/notes.txt", "notes");
    let outcome = verify(&[empty.path()], &[]);
    outcome.exits(2);
    assert!(reason(&outcome).contains("receipts.json"));
}

#[test]
fn a_receipts_file_stands_for_its_package_and_another_file_for_nothing() {
    let package = Package::valid();
    verify(&[&package.file("receipts.json")], &[]).holds();
    let outcome = verify(&[&package.file("samples.csv")], &[]);
    outcome.exits(2);
    assert!(reason(&outcome).contains("receipts.json"));
    let outcome = verify(&[Path::new("/dev/null")], &[]);
    outcome.exits(2);
    assert!(reason(&outcome).contains("neither a folder nor a regular file"));
}

#[test]
fn every_package_below_a_folder_is_verified_in_order() {
    let outer = nested();
    let outcome = verify(&[outer.path()], &[]);
    outcome.holds();
    let expected: Vec<String> =
        ["a", "b", "deep/down/here"].map(|name| outer.file(name).display().to_string()).to_vec();
    assert_eq!(subjects(&outcome), expected);
}

#[test]
fn one_bad_package_among_good_ones_decides_the_exit_status() {
    let outer = nested();
    outer.write("b/samples.csv", "");
    let outcome = verify(&[outer.path()], &[]);
    outcome.exits(1);
    let verdicts: Vec<_> = outcome.report()["subjects"].as_array().unwrap().iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts, ["holds", "does-not-hold", "holds"]);
}

#[test]
fn a_package_that_is_named_twice_is_verified_once() {
    let outer = nested();
    let a = outer.file("a");
    let receipts = outer.file("a/receipts.json");
    let outcome = verify(&[&a, &a, &receipts, outer.path()], &[]);
    outcome.holds();
    assert_eq!(subjects(&outcome).len(), 3);
}

#[test]
fn a_bad_path_among_good_ones_hides_no_result() {
    let package = Package::valid();
    let outcome = verify(&[package.path(), Path::new("/nowhere/at/all")], &[]);
    outcome.exits(2);
    assert_eq!(subjects(&outcome).len(), 1);
    assert_eq!(outcome.report()["subjects"][0]["verdict"], "holds");
    reason(&outcome);
}

#[test]
fn a_failed_request_outranks_a_failed_check() {
    let package = Package::valid();
    package.write("samples.csv", "");
    verify(&[package.path(), Path::new("/nowhere/at/all")], &[]).exits(2);
    verify(&[package.path()], &[]).exits(1);
}

#[test]
fn a_package_inside_a_package_belongs_to_it() {
    let package = Package::valid();
    package.write("inner/receipts.json", "{\"schema\":1,\"files\":{}}");
    let outcome = verify(&[package.path()], &[]);
    outcome.exits(0).only(&["undeclared-file"]);
    assert_eq!(subjects(&outcome).len(), 1);
}

#[test]
fn a_relative_path_and_the_working_folder_stand_for_a_package() {
    let package = Package::valid();
    for path in [".", "./", "receipts.json", "./receipts.json"] {
        let mut command = crate::common::outcome::program();
        command.current_dir(package.path());
        Outcome::with(&mut command, &["verify", path, "--format", "json"], Some(package.path())).holds();
    }
}

#[test]
fn one_anchor_is_for_one_package() {
    let outer = nested();
    let outcome = Outcome::of(
        &["verify", outer.path().to_str().unwrap(), "--expect-receipts", &"0".repeat(64)],
        Some(outer.path()),
    );
    outcome.exits(2);
    assert!(outcome.stderr.contains("--expect-receipts") && outcome.stdout.is_empty());
}

#[test]
fn a_name_that_starts_with_a_dash_can_be_given() {
    let outer = nested();
    fs::rename(outer.file("a"), outer.file("-rf")).unwrap();
    let mut command = crate::common::outcome::program();
    command.current_dir(outer.path());
    Outcome::with(&mut command, &["verify", "--format", "json", "--", "-rf"], Some(outer.path())).holds();
}

#[test]
fn files_of_no_known_kind_have_their_integrity_checked_and_say_so() {
    let package = Package::of_text("notes.txt", "notes");
    let outcome = verify(&[package.path()], &[]);
    outcome.holds();
    assert_eq!(outcome.report()["subjects"][0]["kind"], "files");
    outcome.require(outcome.stdout.contains("no check of their content"), "the limit is named");
}

#[test]
#[cfg(unix)]
fn what_could_not_be_searched_is_an_error_even_beside_packages() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let outer = nested();
    let source = Package::valid();
    // A link to a package that is found anyway changes nothing; one to another package is named.
    symlink("a", outer.file("latest")).unwrap();
    verify(&[outer.path()], &[]).holds();
    symlink(source.path(), outer.file("linked")).unwrap();
    let outcome = verify(&[outer.path()], &[]);
    outcome.exits(2);
    outcome.require(reason(&outcome).contains("a link to a package"), "the link is named");
    fs::remove_file(outer.file("linked")).unwrap();
    outer.write(&format!("{}x", "d/".repeat(70)), "deep");
    let outcome = verify(&[outer.path()], &[]);
    outcome.exits(2);
    outcome.require(reason(&outcome).contains("was not searched"), "the depth is named");
    fs::remove_dir_all(outer.file("d")).unwrap();
    // Whoever may read everything cannot try this.
    fs::create_dir(outer.file("closed")).unwrap();
    fs::set_permissions(outer.file("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(outer.file("closed")).is_err() {
        let outcome = verify(&[outer.path()], &[]);
        outcome.exits(2);
        outcome.require(reason(&outcome).contains("cannot be read"), "the folder is named");
    }
}
