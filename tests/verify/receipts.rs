//! receipts.json: what it lists, what it lists wrongly, and what it is itself.

use recount::package::json::Json;

use crate::common::json::{add, at, set, take};
use crate::common::package::Package;

#[test]
fn an_absent_file_does_not_hide_a_corrupted_one_further_down() {
    let package = Package::empty();
    for name in ["a.txt", "b.txt", "c.txt"] {
        package.write(name, name);
    }
    package.seal().remove("a.txt").write("c.txt", "C.txt");
    let outcome = package.verify(&[]);
    outcome.exits(1).only(&["absent-file", "hash-mismatch"]);
    assert_eq!(outcome.one("absent-file").file, "a.txt");
    assert_eq!(outcome.one("hash-mismatch").file, "c.txt");
}

#[test]
fn a_package_that_declares_nothing_is_not_verified() {
    let package = Package::empty();
    package.write("receipts.json", "{\"schema\": 1, \"files\": {}}\n");
    let outcome = package.verify(&[]);
    outcome.exits(1).only(&["nothing-verified"]);
    assert_eq!(outcome.one("nothing-verified").pointer, "/files");
}

#[test]
fn a_full_package_whose_receipts_list_nothing_is_not_verified_either() {
    let package = Package::valid();
    package.edit_json("receipts.json", |receipts| set(receipts, "/files", Json::Object(Vec::new())));
    let outcome = package.verify(&[]);
    outcome.exits(1).only(&["nothing-verified", "unbound-evidence", "undeclared-file"]);
}

#[test]
fn receipts_without_files_or_with_something_else_there_are_malformed() {
    for files in ["", ", \"files\": null", ", \"files\": []", ", \"files\": 3", ", \"files\": \"all\""] {
        let package = Package::valid();
        package.write("receipts.json", format!("{{\"schema\": 1{files}}}"));
        let outcome = package.verify(&[]);
        outcome.exits(1);
        assert_eq!(outcome.one("malformed-receipt").pointer, "/files");
    }
}

#[test]
fn a_receipt_needs_a_lower_case_hash_and_a_count_of_bytes() {
    let hash = "0123456789abcdef".repeat(4);
    let bad = [
        obj! { "bytes": 1_u64 },
        obj! { "sha256": hash.clone() },
        obj! { "sha256": hash.to_uppercase(), "bytes": 1_u64 },
        obj! { "sha256": &hash[1..], "bytes": 1_u64 },
        obj! { "sha256": format!("{}g", &hash[1..]), "bytes": 1_u64 },
        obj! { "sha256": hash.clone(), "bytes": Json::Int(-1) },
        obj! { "sha256": hash.clone(), "bytes": 1.0 },
        obj! { "sha256": hash.clone(), "bytes": "1" },
        Json::Null,
        Json::from(hash),
    ];
    for entry in bad {
        let package = Package::valid();
        package.edit_json("receipts.json", |receipts| set(receipts, "/files/device.json", entry.clone()));
        let outcome = package.verify(&[]);
        outcome.exits(1).only(&["malformed-receipt"]);
        assert_eq!(outcome.one("malformed-receipt").pointer, "/files/device.json", "{entry:?}");
    }
}

#[test]
fn a_right_hash_with_a_wrong_count_is_a_wrong_receipt() {
    let package = Package::valid();
    package.edit_json("receipts.json", |receipts| set(receipts, "/files/device.json/bytes", 3_u64));
    let outcome = package.verify(&[]);
    outcome.exits(1).only(&["size-mismatch"]);
    assert_eq!(outcome.one("size-mismatch").pointer, "/files/device.json/bytes");
}

#[test]
fn a_file_without_a_receipt_is_a_warning() {
    let package = Package::valid();
    package.write("extra/notes.txt", "unsealed");
    let outcome = package.verify(&[]);
    outcome.exits(0).only(&["undeclared-file"]);
    assert_eq!(outcome.one("undeclared-file").file, "extra/notes.txt");
    package.verify(&["--strict"]).exits(1);
}

#[test]
fn a_key_that_stands_twice_is_refused_with_its_pointer() {
    let twice = |text: &str, member: &str| {
        let start = text.find(member).unwrap_or_else(|| panic!("{member} is there"));
        format!("{}{member},{}", &text[..start], &text[start..])
    };
    let receipts = Package::valid().text("receipts.json");
    let entry_start = receipts.find("\"cases.json\"").unwrap();
    let entry = &receipts[entry_start..=entry_start + receipts[entry_start..].find('}').unwrap()];
    let hash_start = entry_start + entry.find("\"sha256\"").unwrap();
    let hash = &receipts[hash_start..hash_start + receipts[hash_start..].find(',').unwrap()];
    for (member, pointer) in [(entry, "/files/cases.json"), (hash, "/files/cases.json/sha256")] {
        let package = Package::valid();
        package.write("receipts.json", twice(&receipts, member));
        let outcome = package.verify(&[]);
        let finding = outcome.exits(1).one("duplicate-key");
        assert_eq!((finding.file.as_str(), finding.pointer.as_str()), ("receipts.json", pointer));
        assert!(finding.line > 1 && finding.column > 0, "{finding:?}");
    }
    for (name, member, pointer) in [
        ("validation.json", "\"graph_batch\":100", "/cases/0/cohorts/default/manifest/graph_batch"),
        ("validation.json", "\"kind\":\"partition\"", "/kind"),
        ("model.json", "\"confidence\":\"uncalibrated\"", "/profile/confidence"),
        ("device.json", "\"sm_count\":6", "/sm_count"),
    ] {
        let package = Package::valid();
        let text = package.text(name);
        // The first place in the text: floats and arrays before it keep their form.
        package.write(name, twice(&text, member)).seal();
        let outcome = package.verify(&[]);
        let finding = outcome.exits(1).one("duplicate-key");
        assert_eq!((finding.file.as_str(), finding.line), (name, 1));
        assert!(finding.pointer.ends_with(pointer), "{} for {pointer}", finding.pointer);
    }
}

#[test]
fn escapes_do_not_make_a_key_another_one() {
    let package = Package::of_text("device.json", "{\"schema\":1,\"a\":{\"b\\/c\":1,\"b/c\":2}}");
    let finding = package.verify(&[]).exits(1).one("duplicate-key");
    assert_eq!(finding.pointer, "/a/b~1c");
}

#[test]
fn two_names_that_are_one_file_elsewhere_are_refused() {
    for (one, other) in [
        ("notes.txt", "Notes.TXT"),
        ("caf\u{e9}.txt", "cafe\u{301}.txt"),
        ("stra\u{df}e.txt", "STRASSE.txt"),
        ("code/calibrate.py", "Code/calibrate.py"),
    ] {
        let package = Package::valid();
        for name in [one, other] {
            package.write(name, "a file").reseal_file(name);
        }
        let finding = package.verify(&[]).exits(1).one("duplicate-path");
        assert_eq!(finding.file, "receipts.json");
        assert!(finding.pointer.starts_with("/files/"), "{finding:?}");
        assert!(finding.expected.contains(one) && finding.found.contains(other), "{finding:?}");
    }
}

#[test]
fn an_edit_that_is_sealed_again_is_caught_by_what_the_data_say() {
    let package = Package::valid();
    let original = package.anchor();
    package.verify(&["--expect-receipts", &original]).holds();
    package.edit_json("validation.json", |validation| set(validation, "/native_revalidation/cases", 5_u64)).seal();
    package.verify(&[]).exits(1).at("count-mismatch", "validation.json", "/native_revalidation/cases");
    let resealed = package.anchor();
    let outcome = package.verify(&["--expect-receipts", &original]);
    let finding = outcome.exits(1).one("receipts-anchor");
    assert_eq!((finding.expected, finding.found), (original, resealed.clone()));
    let outcome = package.verify(&["--expect-receipts", &resealed.to_uppercase()]);
    outcome.require(!outcome.codes().contains(&"receipts-anchor".to_owned()), "the new hash is the expected one");
}

#[test]
fn a_harmless_edit_that_is_sealed_again_is_caught_by_the_anchor_alone() {
    let package = Package::valid();
    let original = package.anchor();
    package.edit_text("code/calibrate.py", |text| text + "# more\n").seal();
    let outcome = package.verify(&["--expect-receipts", &original]);
    outcome.exits(1);
    outcome.require(outcome.codes().contains(&"receipts-anchor".to_owned()), "the anchor does not match");
}

#[test]
fn a_malformed_expected_hash_is_a_bad_request() {
    for hash in ["", "abc", "../../etc", &"g".repeat(64), &"0".repeat(63), &"0".repeat(65)] {
        let outcome = Package::valid().run("verify", &["--expect-receipts", hash]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("--expect-receipts"), "the message names the option");
    }
}

#[test]
fn a_receipt_that_is_dropped_leaves_evidence_that_nothing_binds() {
    let package = Package::valid();
    package.edit_json("receipts.json", |receipts| {
        take(receipts, "/files/samples.csv");
    });
    let anchor = package.anchor();
    package.verify(&["--expect-receipts", &anchor]).exits(1).only(&["unbound-evidence"]);
    package.edit_text("samples.csv", |text| text.replacen("native,passed", "native,failed", 1));
    package.verify(&[]).exits(1).only(&["status-mismatch", "unbound-evidence"]);
}

#[test]
fn evidence_beside_receipts_of_something_else_is_never_a_pass() {
    for stream in [&[][..], &["--stream-from", "0"]] {
        let package = Package::valid();
        package.edit_json("receipts.json", |receipts| {
            let readme = take(receipts, "/files/README.md");
            let mut files = Json::Object(Vec::new());
            add(&mut files, "", "README.md", readme);
            set(receipts, "/files", files);
        });
        let outcome = package.verify(stream);
        outcome.exits(1);
        let bound: Vec<_> = outcome.findings().into_iter().filter(|one| one.code == "unbound-evidence").collect();
        let files: Vec<&str> = bound.iter().map(|finding| finding.file.as_str()).collect();
        for name in ["cases.json", "device.json", "model.json", "samples.csv", "validation.json"] {
            outcome.require(files.contains(&name), name);
        }
    }
}

#[test]
fn what_the_checks_of_another_kind_read_is_only_undeclared() {
    let package = Package::valid();
    package.write("medians.csv", "case,default\n");
    package.verify(&[]).exits(0).only(&["undeclared-file"]);
    let package = Package::empty();
    package.write("notes.txt", "notes\n").seal();
    package.write("README.md", "# Notes\n");
    package.verify(&[]).exits(0).only(&["undeclared-file"]);
}

#[test]
fn the_receipts_of_the_script_are_those_that_the_model_names() {
    let package = Package::valid();
    package.edit_text("code/calibrate.py", |text| text + "# changed after the fit\n").seal();
    let outcome = package.verify(&[]);
    outcome.exits(1).at("provenance", "model.json", "/input_receipts/script/sha256");
    let mut model = package.json("model.json");
    assert!(matches!(at(&mut model, "/input_receipts/script/sha256"), Json::Str(_)));
}

#[test]
fn findings_are_in_the_order_of_the_file_whatever_their_codes() {
    let package = Package::valid();
    package.edit_json("receipts.json", |root| {
        crate::common::json::bump(root, "/files/README.md/bytes", 1);
        crate::common::json::add(root, "/files", "a.txt", Json::Null);
    });
    let lines: Vec<(String, u64)> = package
        .verify(&[])
        .findings()
        .into_iter()
        .filter(|finding| finding.file == "receipts.json")
        .map(|finding| (finding.code, finding.line))
        .collect();
    let codes: Vec<&str> = lines.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes, ["size-mismatch", "malformed-receipt"]);
    assert!(lines.is_sorted_by_key(|(_, line)| *line), "{lines:?}");
}
