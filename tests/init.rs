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
    assert!(!out.contains("recount init"), "it was asked just now: {out}");
}

#[test]
fn a_package_of_divergence_is_asked_about_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let (status, out, _) = recount(&["init", "mine", "--kind", "divergence"], folder.path());
    assert_eq!(status, 0);
    assert!(out.ends_with("`recount init --check --kind divergence mine` says what is missing then\n"), "{out}");
    let readme = folder.path().join("mine/README.md");
    // As it was begun, with a README of its author's, and with results.
    for step in ["begun", "written", "measured"] {
        match step {
            "written" => fs::write(&readme, "# Mine\n").unwrap(),
            "measured" => {
                fs::create_dir(folder.path().join("mine/torch")).unwrap();
                fs::write(folder.path().join("mine/torch/experiment_results.json"), "{}\n").unwrap();
            }
            _ => {}
        }
        let (status, named, _) = recount(&["init", "--check", "--kind", "divergence", "mine"], folder.path());
        assert_eq!(status, 1, "{step}: {named}");
        assert!(named.contains("ENGINE/experiment_results.json") && !named.contains("samples.csv"), "{step}: {named}");
        if step != "written" {
            let (_, recognised, _) = recount(&["init", "--check", "mine"], folder.path());
            assert_eq!(recognised, named, "{step}");
        }
    }
    let (_, out, _) = recount(&["init", "--check", "mine"], folder.path());
    assert!(out.contains("still missing: 1 file\n"), "{out}");
    // A kind that is named is taken.
    let (_, out, _) = recount(&["init", "--check", "--kind", "partition", "mine"], folder.path());
    assert!(out.contains("missing     samples.csv"), "{out}");
    let (_, out, _) =
        recount(&["init", "--check", "artifacts/divergence-cpu-2026-11-30"], Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(out.contains("there       ENGINE/experiment_results.json"), "{out}");
}

#[test]
fn no_package_is_begun_in_another_unless_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("package");
    fs::create_dir_all(package.join("there")).unwrap();
    fs::write(package.join("text"), "text\n").unwrap();
    assert_eq!(recount(&["seal", "package"], folder.path()).0, 0);
    for inner in ["package/there", "package/new", "package/new/deep", "package/there/new", "./package/../package/new"] {
        let (status, out, err) = recount(&["init", inner], folder.path());
        assert_eq!((status, out.as_str()), (2, ""), "{inner}");
        assert!(err.contains("lies in the package") && err.contains("--nested"), "{err}");
        assert!(!package.join("new").exists() && fs::read_dir(package.join("there")).unwrap().count() == 0, "{inner}");
    }
    assert_eq!(recount(&["init", "package/new", "--nested"], folder.path()).0, 0);
    assert!(package.join("new/README.md").exists());
    // A check writes nothing, and the package itself is no other one.
    assert_eq!(recount(&["init", "package/there", "--check"], folder.path()).0, 1);
    assert_eq!(recount(&["init", "package"], folder.path()).0, 0);
}

#[test]
fn absences_are_allowed_as_verify_allows_them() {
    let folder = tempfile::tempdir().unwrap();
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts/partition-h200-heldout-2026-11-30");
    for entry in fs::read_dir(&published).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "receipts.json.sig" {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    fs::create_dir(folder.path().join("code")).unwrap();
    fs::write(folder.path().join("code/run.py"), "print()\n").unwrap();
    assert_eq!(recount(&["seal", "."], folder.path()).0, 0);
    fs::remove_file(folder.path().join("code/run.py")).unwrap();
    let (status, out, _) = recount(&["init", "--check", "."], folder.path());
    assert_eq!(status, 1);
    assert!(out.contains("`recount verify .` says what does not hold"), "{out}");
    let (status, out, _) = recount(&["init", "--check", ".", "--allow-absent", "code/*"], folder.path());
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("`recount verify --allow-absent 'code/*'` finds nothing wrong"), "{out}");
    // A file that every package of the kind has may be one of them.
    fs::remove_file(folder.path().join(".gitattributes")).unwrap();
    let both = ["init", "--check", ".", "--allow-absent", "code/*", "--allow-absent", ".gitattributes"];
    let (status, out, _) = recount(&both, folder.path());
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("optional    .gitattributes"), "{out}");
    let (status, _, err) = recount(&["init", "new", "--allow-absent", "a{"], folder.path());
    assert_eq!(status, 2);
    assert!(err.contains("--allow-absent") && !folder.path().join("new").exists(), "{err}");
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
