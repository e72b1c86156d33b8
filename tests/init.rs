//! `recount init`, through the built program.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use assert_cmd::Command;

fn recount(arguments: &[&str], folder: &Path) -> (i32, String, String) {
    let output = Command::cargo_bin("recount").unwrap().args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_new_package_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (status, out, err) = recount(&["init", "mine"], folder.path());
    assert_eq!((status, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r#"
    mine
      written     README.md            what a person reads; its numbers are checked against the data
      written     .gitattributes       keeps line ends as they are hashed
      missing     cases.json           what was run, case by case: `recount bench` writes it
      missing     device.json          what it was run on: `recount bench` writes it
      missing     validation.json      all runs with samples, spans, checks: `recount bench` writes it
      missing     samples.csv          one row for each sample: `recount bench` writes it
      optional    model.json           the fit: `recount refit DIR --model-out DIR/model.json`
      optional    provenance.json      needed beside model.json: ids and hashes of what it was fitted on
      optional    proof-receipts.json  hashes of sources and binaries
      missing     receipts.json        hash and size of every other file: `recount seal DIR`, last

    still missing: 5 files
    README.md says TODO where there is something to write
    `recount init --check mine` says what is missing then
    "#);
    let readme = fs::read_to_string(folder.path().join("mine/README.md")).unwrap();
    assert!(readme.starts_with("# TODO") && readme.ends_with('\n') && !readme.contains('\r'));
    let (status, out, _) = recount(&["init", "--check", "mine"], folder.path());
    assert_eq!(status, 1);
    assert!(out.contains("unfinished  README.md") && out.contains("still missing: 5 files"), "{out}");
}

#[test]
fn what_is_there_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/README.md"), "# Mine\n").unwrap();
    let (status, out, _) = recount(&["init", "mine", "--kind", "divergence"], folder.path());
    assert_eq!(status, 0);
    assert!(out.contains("there       README.md") && out.contains("written     .gitattributes"), "{out}");
    assert_eq!(fs::read_to_string(folder.path().join("mine/README.md")).unwrap(), "# Mine\n");
    // Nothing is written by a check.
    let (status, _, err) = recount(&["init", "other", "--check"], folder.path());
    assert_eq!(status, 2);
    assert!(err.contains("other cannot be listed"), "{err}");
    assert!(!folder.path().join("other").exists());
}

#[test]
fn a_complete_package_lacks_nothing_until_it_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts/partition-h200-heldout-2026-11-30");
    for entry in fs::read_dir(&published).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let (status, out, _) = recount(&["init", "--check", "."], folder.path());
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("nothing is missing, and `recount verify` finds nothing wrong"), "{out}");
    let device = fs::read_to_string(folder.path().join("device.json")).unwrap();
    fs::write(folder.path().join("device.json"), device.replace("132", "131")).unwrap();
    let (status, out, _) = recount(&["init", "--check", "."], folder.path());
    assert_eq!(status, 1);
    assert!(out.contains("all files are there; `recount verify .` says what does not hold"), "{out}");
}

#[test]
fn the_signature_is_asked_for_as_verify_asks() {
    let folder = tempfile::tempdir().unwrap();
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/artifacts/partition-h200-heldout-2026-11-30");
    let signers = concat!(env!("CARGO_MANIFEST_DIR"), "/receipts/allowed_signers");
    let ask = |more: &[&str]| {
        recount(&[&["init", "--check", package, "--allowed-signers", signers], more].concat(), folder.path())
    };
    let (status, out, _) = ask(&["--signer", "artifacts@recount"]);
    assert_eq!(status, 0, "{out}");
    for refused in [&["--signer", "mallory"][..], &["--signature-namespace", "git"]] {
        let (status, out, _) = ask(refused);
        assert_eq!(status, 1, "{refused:?}: {out}");
        assert!(out.contains("says what does not hold"), "{out}");
    }
    let (status, _, err) = recount(&["init", "--check", package, "--allowed-signers", "none"], folder.path());
    assert_eq!(status, 2);
    assert!(err.contains("--allowed-signers none cannot be read"), "{err}");
    // A wrong option is known before anything is written.
    let (status, _, _) = recount(&["init", "new", "--allowed-signers", "none"], folder.path());
    assert_eq!(status, 2);
    assert!(!folder.path().join("new").exists());
}

#[test]
fn a_place_that_is_no_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let (status, _, err) = recount(&["init", "file"], folder.path());
    assert_eq!(status, 2);
    assert!(err.contains("file is no folder"), "{err}");
}

#[test]
fn the_long_version_names_commit_and_features() {
    let folder = tempfile::tempdir().unwrap();
    let (status, out, _) = recount(&["--version"], folder.path());
    assert_eq!(status, 0);
    for line in ["commit: ", "features: ", "reads: ", "backends of bench: "] {
        assert!(out.lines().any(|other| other.starts_with(line)), "{line} in {out}");
    }
}
