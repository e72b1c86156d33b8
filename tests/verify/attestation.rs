//! `recount verify --attest`: the result as an in-toto Statement.

use serde_json::{Value, json};

use super::keys::{line_from_seed, path, sign_from_seed};
use crate::common::outcome::Outcome;
use crate::common::package::Package;
use recount::package::digest::digest;

const SCHEMA: &str = include_str!("../../docs/schema/recount-attestation-v1.json");

/// Fields of a Statement, of a ResourceDescriptor and of the predicate test-result, as in-toto publishes them.
const STATEMENT: [&str; 4] = ["_type", "subject", "predicateType", "predicate"];
const RESOURCE: [&str; 7] = ["name", "uri", "digest", "content", "downloadLocation", "mediaType", "annotations"];
const TEST_RESULT: [&str; 6] = ["result", "configuration", "url", "passedTests", "warnedTests", "failedTests"];
/// Our own, which consumers ignore.
const EXTENSION: &str = "recountVerification";

/// A statement of an earlier run, as far as it matters.
const OLDER: &str = "{\"_type\": \"https://in-toto.io/Statement/v1\"}";

/// Verifies and gives back the statement, which obeys our schema and has no field that in-toto does not know.
#[track_caller]
fn attested(package: &Package, args: &[&str], status: i32) -> Value {
    let out = Package::empty();
    let file = path(&out.file("statement.json"));
    package.run("verify", &[&["--attest", &file, "-q"], args].concat()).exits(status);
    let text = out.text("statement.json");
    assert!(text.ends_with("}\n"));
    let statement: Value = serde_json::from_str(&text).expect("JSON");
    let schema = jsonschema::validator_for(&serde_json::from_str(SCHEMA).expect("JSON")).expect("a schema");
    let problems: Vec<String> = schema.iter_errors(&statement).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    only(&statement, &STATEMENT);
    let predicate = &statement["predicate"];
    only(predicate, &[&TEST_RESULT[..], &[EXTENSION]].concat());
    for resource in [&statement["subject"], &predicate["configuration"]].into_iter().flat_map(resources) {
        only(resource, &RESOURCE);
        // The specification asks for one of them.
        assert!(["uri", "digest", "content"].iter().any(|field| resource.get(field).is_some()), "{resource}");
    }
    statement
}

fn resources(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

#[track_caller]
fn only(object: &Value, fields: &[&str]) {
    for name in object.as_object().expect("an object").keys() {
        assert!(fields.contains(&name.as_str()), "{name} is no field of {fields:?}");
    }
}

#[test]
fn a_pass_is_attested_for_every_file_with_its_hash() {
    let package = Package::valid();
    let statement = attested(&package, &["--strict"], 0);
    assert_eq!(statement["predicate"]["result"], "PASSED");
    assert_eq!(statement["predicate"]["failedTests"], json!([]));
    assert_eq!(statement["predicate"]["warnedTests"], json!([]));
    let families = ["integrity", "samples", "timing", "proofs", "failures", "model", "exactness", "prose"];
    assert_eq!(statement["predicate"]["passedTests"], json!(families));
    let options = json!({"strict": true, "tolerance": 1e-12, "allowAbsent": []});
    assert_eq!(statement["predicate"]["configuration"][0]["annotations"], options);
    assert_eq!(statement["predicate"][EXTENSION]["verdict"], "holds");
    let mut expected: Vec<String> = vec!["receipts.json".to_owned()];
    expected
        .extend(package.json("receipts.json").get("files").unwrap().as_object().unwrap().iter().map(|f| f.0.clone()));
    expected.sort();
    let subjects = resources(&statement["subject"]);
    let names: Vec<&str> = subjects.iter().filter_map(|subject| subject["name"].as_str()).collect();
    assert_eq!(names, expected);
    for subject in subjects {
        let bytes = package.bytes(subject["name"].as_str().unwrap());
        assert_eq!(subject["digest"], json!({"sha256": digest(&bytes).sha256}));
    }
    assert_eq!(attested(&package, &["--strict"], 0), statement, "no clock is in it");
    assert!(!statement.to_string().contains(&path(package.path())), "no path is in it");
}

#[test]
fn warnings_and_failures_are_results_too() {
    let package = Package::valid();
    package.write("extra.txt", "extra");
    let statement = attested(&package, &[], 0);
    assert_eq!(statement["predicate"]["result"], "WARNED");
    assert_eq!(statement["predicate"]["warnedTests"], json!(["integrity"]));
    assert_eq!(statement["predicate"][EXTENSION]["findings"], json!({"undeclared-file": 1}));
    let statement = attested(&package, &["--strict"], 1);
    assert_eq!(statement["predicate"]["result"], "FAILED");
    assert_eq!(statement["predicate"]["failedTests"], json!(["integrity"]));
    package.remove("extra.txt").edit_text("README.md", |text| text + " ");
    let statement = attested(&package, &[], 1);
    assert_eq!(statement["predicate"]["result"], "FAILED");
    assert_eq!(statement["predicate"][EXTENSION]["findings"]["hash-mismatch"], 1);
    // It is about the files as they are, not as they are recorded.
    let subject = resources(&statement["subject"]).iter().find(|subject| subject["name"] == "README.md").unwrap();
    assert_eq!(subject["digest"]["sha256"], digest(&package.bytes("README.md")).sha256.as_str());
    package.remove("README.md");
    let statement = attested(&package, &["--allow-absent", "README.md"], 0);
    assert!(resources(&statement["subject"]).iter().all(|subject| subject["name"] != "README.md"));
    assert_eq!(statement["predicate"]["configuration"][0]["annotations"]["allowAbsent"], json!(["README.md"]));
}

#[test]
fn a_signature_that_was_checked_is_attested() {
    let (package, folder) = (Package::valid(), Package::empty());
    folder.write("allowed", line_from_seed("alice@example.org", 1));
    sign_from_seed(&package, 1);
    let args = ["--allowed-signers", &path(&folder.file("allowed")), "--signer", "alice@example.org"];
    let statement = attested(&package, &args, 0);
    let signature = &statement["predicate"][EXTENSION]["signature"];
    let fingerprint = signature["keyFingerprint"].as_str().unwrap().to_owned();
    assert_eq!(signature["identity"], "alice@example.org");
    assert_eq!(signature["keyType"], "ssh-ed25519");
    let configuration = &statement["predicate"]["configuration"];
    assert_eq!(configuration[1]["digest"]["sha256"], digest(&folder.bytes("allowed")).sha256.as_str());
    assert_eq!(configuration[0]["annotations"]["signatureNamespace"], "recount");
    // A line is a pattern: without a question for an identity, the key alone is known.
    folder.write("pattern", line_from_seed("*@example.org", 1));
    let statement = attested(&package, &["--allowed-signers", &path(&folder.file("pattern"))], 0);
    let signature = &statement["predicate"][EXTENSION]["signature"];
    assert_eq!(*signature, json!({"keyType": "ssh-ed25519", "keyFingerprint": fingerprint}));
    assert!(!statement.to_string().contains("example.org"), "nobody is named: {statement}");
    sign_from_seed(&package, 2);
    let statement = attested(&package, &args, 1);
    assert_eq!(statement["predicate"][EXTENSION].get("signature"), None);
    assert_eq!(statement["predicate"][EXTENSION]["findings"], json!({"signer-unknown": 1}));
}

#[test]
fn a_stated_time_of_signing_is_attested_and_said() {
    let (package, folder) = (Package::valid(), Package::empty());
    folder.write("allowed", line_from_seed("alice@example.org valid-before=\"20200101Z\"", 1));
    sign_from_seed(&package, 1);
    let allowed = path(&folder.file("allowed"));
    let annotations = |statement: &Value| statement["predicate"]["configuration"][0]["annotations"].clone();
    let statement = attested(&package, &["--allowed-signers", &allowed], 1);
    assert_eq!(statement["predicate"]["result"], "FAILED");
    assert_eq!(annotations(&statement).get("signedAt"), None, "no clock is in it");
    for (stated, written) in [("20191231", "2019-12-31T00:00:00Z"), ("20191231235959Z", "2019-12-31T23:59:59Z")] {
        let args = ["--allowed-signers", &allowed, "--signed-at", stated];
        let statement = attested(&package, &args, 0);
        assert_eq!(statement["predicate"]["result"], "PASSED");
        assert_eq!(annotations(&statement)["signedAt"], *written);
        let said = package.run("verify", &args).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = format!(
            "which the allowed-signers file `{allowed}` lists for alice@example.org, as of {written} (--signed-at)"
        );
        assert!(said.contains(&expected), "{said}");
    }
    let outcome = package.verify(&["--allowed-signers", &allowed, "--signed-at", "20200102"]);
    let found = outcome.exits(1).one("signer-unknown");
    assert!(found.expected.ends_with("lists, as of 2020-01-02T00:00:00Z (--signed-at)"), "{}", found.expected);
}

/// Every option of `verify` that the verdict may depend on leaves its mark in the statement.
#[test]
fn every_option_that_the_verdict_depends_on_is_attested() {
    let (package, folder) = (Package::valid(), Package::empty());
    folder.write("allowed", line_from_seed("alice@example.org", 1));
    sign_from_seed(&package, 1);
    let (allowed, hash) = (path(&folder.file("allowed")), digest(&package.bytes("receipts.json")).sha256);
    let given: [(&str, &str, &[&str]); 9] = [
        ("strict", "", &[]),
        ("tolerance", "1e-9", &[]),
        ("allow-absent", "code/*", &[]),
        ("expect-receipts", &hash, &[]),
        ("stream-from", "1000", &[]),
        ("allowed-signers", &allowed, &[]),
        ("signer", "alice@example.org", &["--allowed-signers", &allowed]),
        ("signature-namespace", "file", &["--allowed-signers", &allowed]),
        ("signed-at", "20250101", &["--allowed-signers", &allowed]),
    ];
    // What goes where, and how it looks.
    let others = ["format", "output", "attest", "quiet", "verbose", "color", "help"];
    let command = recount::cli::command();
    let verify = command.find_subcommand("verify").unwrap();
    for long in verify.get_arguments().filter_map(|argument| argument.get_long()) {
        assert!(given.iter().any(|(name, ..)| *name == long) || others.contains(&long), "--{long} is not attested");
    }
    let out = Package::empty();
    let file = path(&out.file("statement.json"));
    let configuration = |args: &[&str]| {
        package.run("verify", &[&["-q", "--attest", &file], args].concat());
        let statement: Value = serde_json::from_str(&out.text("statement.json")).unwrap();
        statement["predicate"]["configuration"].clone()
    };
    for (name, value, besides) in given {
        let option = if value.is_empty() { format!("--{name}") } else { format!("--{name}={value}") };
        let with = configuration(&[&[option.as_str()], besides].concat());
        assert_ne!(with, configuration(besides), "--{name}");
    }
}

#[test]
fn a_statement_is_about_one_package_and_has_a_place_of_its_own() {
    let (one, other, out) = (Package::valid(), Package::valid(), Package::empty());
    let file = path(&out.file("statement.json"));
    let outcome = Outcome::of(&["verify", &path(one.path()), &path(other.path()), "--attest", &file], None);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("--attest is about one package"), "the reason is said");
    one.run("verify", &["--attest", &file, "--output", &file]).exits(2);
    one.run("verify", &["--attest", "-"]).exits(2);
    one.run("verify", &["--attest", &path(&out.file("missing/statement.json"))]).exits(2);
    Outcome::of(&["verify", "/nowhere", "--attest", &file], None).exits(2);
    let empty = Package::empty();
    std::fs::create_dir(empty.file("receipts.json")).unwrap();
    empty.run("verify", &["--attest", &file]).exits(2);
    assert!(!out.file("statement.json").exists());
}

#[test]
fn a_run_without_a_result_leaves_no_older_statement() {
    let (package, out, empty) = (Package::valid(), Package::empty(), Package::empty());
    std::fs::create_dir(empty.file("receipts.json")).unwrap();
    out.write("nobody", "# nobody\n");
    let (nobody, report) = (path(&out.file("nobody")), path(&out.file("missing/report.txt")));
    let (file, lacking) = (path(&out.file("statement.json")), path(&out.file("none")));
    let (here, other) = (path(package.path()), path(empty.path()));
    for args in [
        &["/nowhere"][..],
        &[&other],
        &[&here, &other],
        &[&here, "--allowed-signers", &nobody],
        &[&here, "--allowed-signers", &lacking],
        &[&here, "--allow-absent", "a{"],
        &[&here, "--output", &report],
        &[&here, "--output", &file],
        &[&here, &other, "--expect-receipts", &"0".repeat(64)],
    ] {
        out.write("statement.json", OLDER);
        Outcome::of(&[&["verify", "-q", "--attest", &file], args].concat(), None).exits(2);
        assert!(!out.file("statement.json").exists(), "{args:?}");
    }
    out.write("statement.json", OLDER);
    package.run("verify", &["-q", "--attest", &file]).exits(0);
    assert!(out.text("statement.json").starts_with('{'));
}

#[test]
fn a_file_that_is_no_statement_is_not_removed() {
    let (package, out) = (Package::valid(), Package::empty());
    out.write("id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\n").write("empty", "");
    let outcome = package.run("verify", &["-q", "--attest", &path(&out.file("id_ed25519"))]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("is no statement"), "it is said why");
    assert!(out.text("id_ed25519").starts_with("-----BEGIN"));
    package.run("verify", &["-q", "--attest", &path(&out.file("empty"))]).exits(0);
    assert!(out.text("empty").contains("in-toto.io/Statement"));
}

#[test]
fn a_statement_never_lands_in_the_package_or_on_evidence() {
    let (package, out) = (Package::valid(), Package::empty());
    let here = path(package.path());
    let name = package.path().file_name().unwrap().to_str().unwrap();
    package.write("kept.json", "kept").seal();
    std::fs::create_dir_all(package.file("code")).unwrap();
    let mut places = vec![
        format!("{here}/new.json"),
        format!("{here}/kept.json"),
        format!("{here}/code/new.json"),
        format!("{here}/code/../new.json"),
        format!("{here}/../{name}/new.json"),
    ];
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(package.path(), out.file("folder")).unwrap();
        symlink(package.file("kept.json"), out.file("link.json")).unwrap();
        places.extend([path(&out.file("folder/new.json")), path(&out.file("link.json"))]);
    }
    for place in places {
        let outcome = package.run("verify", &["--attest", &place]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("lies in the package") && outcome.stdout.is_empty(), &place);
        assert_eq!(package.text("kept.json"), "kept");
        assert!(!package.file("new.json").exists() && !package.file("code/new.json").exists());
    }
    let receipt = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/receipts/grid-sample-divergence.json")).unwrap();
    out.write("receipt.json", &receipt).write("other.json", "{}").write("allowed", line_from_seed("alice", 1));
    let (receipt, other, allowed) = ("receipt.json", "other.json", "allowed");
    for (args, kept) in [
        (vec![path(&out.file(receipt))], receipt),
        (vec![path(&out.file(other))], other),
        (vec![here.clone(), "--allowed-signers".to_owned(), path(&out.file(allowed))], allowed),
    ] {
        let before = out.bytes(kept);
        let mut all = vec!["verify".to_owned(), "--attest".to_owned(), path(&out.file(kept))];
        all.extend(args);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let outcome = Outcome::of(&all, None);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("name another place"), kept);
        assert_eq!(out.bytes(kept), before, "{kept}");
    }
}

#[test]
fn a_single_receipt_is_attested() {
    let out = Package::empty();
    let file = path(&out.file("statement.json"));
    let receipt = concat!(env!("CARGO_MANIFEST_DIR"), "/receipts/grid-sample-divergence.json");
    Outcome::of(&["verify", receipt, "--attest", &file], None).exits(0);
    let statement: Value = serde_json::from_str(&out.text("statement.json")).unwrap();
    assert_eq!(statement["subject"].as_array().unwrap().len(), 1);
    assert_eq!(statement["subject"][0]["name"], "grid-sample-divergence.json");
}
