//! Files without a receipt whose names are those of declared ones on a system that ignores case or normalises Unicode.
#![cfg(target_os = "linux")]

use crate::common::package::Package;

#[test]
fn a_file_beside_a_declared_one_of_the_same_name_elsewhere_is_an_error() {
    for (declared, beside) in [
        ("validation.json", "Validation.json"),
        ("README.md", "readme.MD"),
        ("receipts.json", "RECEIPTS.json"),
        ("code/calibrate.py", "Code/calibrate.py"),
        ("notes/stra\u{df}e \u{e9}.txt", "notes/STRASSE e\u{301}.txt"),
    ] {
        let package = Package::valid();
        if !package.file(declared).exists() {
            package.write(declared, "notes\n").seal();
        }
        package.write(beside, "another\n");
        let outcome = package.verify(&[]);
        outcome.exits(1).only(&["duplicate-path"]);
        let found = outcome.one("duplicate-path");
        assert_eq!(found.file, beside);
        outcome.require(found.expected.contains(declared), "the declared one is named");
    }
}

#[test]
fn a_list_of_what_is_not_published_does_not_hide_it() {
    let package = Package::valid();
    package.write(".recountignore", "Validation.json\nnotes.txt\n").seal();
    package.write("Validation.json", "{}").write("notes.txt", "mine\n");
    package.verify(&[]).exits(1).only(&["duplicate-path"]);
}

#[test]
fn evidence_without_a_receipt_is_still_called_that() {
    let package = Package::valid();
    package.write("MODEL.json", package.bytes("model.json")).remove("model.json").seal();
    package.write("model.json", package.bytes("MODEL.json"));
    let codes = package.verify(&[]).exits(1).codes();
    assert!(["duplicate-path", "unbound-evidence"].iter().all(|code| codes.iter().any(|one| one == code)), "{codes:?}");
}

#[test]
fn a_name_that_only_stands_in_the_receipts_has_no_twin() {
    let package = Package::valid();
    package.write("Notes.txt", "mine\n").seal();
    package.remove("Notes.txt").write("notes.txt", "mine\n");
    package.verify(&[]).exits(1).only(&["absent-file", "undeclared-file"]);
}
