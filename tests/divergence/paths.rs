//! Which paths stand for what.

use std::fs;

use super::support::{RECEIPT, Recipe, recount, verify};

#[test]
fn a_folder_is_searched_for_packages_and_receipts() {
    let folder = tempfile::tempdir().unwrap();
    let package = Recipe::default().build();
    fs::create_dir_all(folder.path().join("a/deep")).unwrap();
    fs::rename(package.path(), folder.path().join("a/package")).unwrap();
    fs::create_dir_all(package.path()).unwrap();
    fs::copy(RECEIPT, folder.path().join("a/deep/receipt.json")).unwrap();
    fs::copy(RECEIPT, folder.path().join("a/package.txt")).unwrap();
    fs::write(folder.path().join("other.json"), "{\"protocol\": 1, \"devices\": 2}").unwrap();
    fs::write(folder.path().join("broken.json"), "{\"protocol\": ").unwrap();
    let verified = verify(folder.path());
    verified.is_clean();
    let kinds: Vec<_> = verified.report["subjects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|subject| subject["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["divergence-receipt", "divergence"]);
}

#[test]
fn a_receipt_that_was_cut_off_is_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(RECEIPT).unwrap();
    fs::write(folder.path().join("receipt.json"), &text[..text.len() - 200]).unwrap();
    let verified = verify(folder.path());
    assert_eq!((verified.status, verified.findings()[0].0.as_str()), (1, "json-syntax"));
}

#[test]
fn a_file_that_is_no_receipt_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.json");
    for text in ["{}", "not JSON", "{\"protocol\": {}, \"devices\": []}"] {
        fs::write(&path, text).unwrap();
        let run = recount(&["verify", path.to_str().unwrap()]);
        assert!(run.status == 2 && run.stdout.contains("no divergence receipt"), "{}", run.stdout);
    }
    let run = recount(&["verify", folder.path().to_str().unwrap()]);
    assert!(run.status == 2 && run.stdout.contains("nothing to verify"), "{}", run.stdout);
}

#[test]
fn one_receipt_is_verified_once() {
    let folder = std::path::Path::new(RECEIPT).parent().unwrap();
    let run = recount(&["verify", RECEIPT, folder.to_str().unwrap(), "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let twice = report["subjects"].as_array().unwrap().iter();
    let twice = twice.filter(|subject| subject["path"].as_str().unwrap().ends_with("grid-sample-divergence.json"));
    assert_eq!(twice.count(), 1);
}

#[test]
fn packages_alone_are_refitted_and_forged() {
    let run = recount(&["refit", RECEIPT]);
    assert!(run.status == 2 && run.stderr.contains("give the folder"), "{}", run.stderr);
}
