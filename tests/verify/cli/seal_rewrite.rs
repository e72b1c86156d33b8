//! `recount seal --normalize` and `--redact`, `.recountignore`, and what `verify` says of private things.

use recount::package::digest::digest;
use recount::package::json::Json;

use crate::common::content::Recipe;
use crate::common::json::{add, set};
use crate::common::outcome::{Outcome, program};
use crate::common::package::Package;
use crate::common::shared::shared;

const UUID: &str = "GPU-01234567-89ab-cdef-0123-456789abcdef";

/// Runs `seal` as a user and on a machine that have names.
pub(super) fn seal(package: &Package, args: &[&str]) -> Outcome {
    let mut program = program();
    program.env("USER", "carolina").env("HOSTNAME", "lab-machine-7").env("HOME", "/srv/people/carolina");
    let path = package.path().to_str().unwrap();
    Outcome::with(&mut program, &[&["seal", path], args].concat(), Some(package.path()))
}

/// A package whose device, and so whose model, says who measured where.
pub(super) fn private() -> Package {
    let package = Package::derived(&Recipe::default(), |parts| {
        set(&mut parts.device, "/identity/driver", format!("Demonstration GPU, {UUID}, 1.0, 8.9"));
        set(&mut parts.device, "/identity/toolkit", "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v13.0");
    });
    package.write(
        "notes.txt",
        "ran by carolina carolina on lab-machine-7\nin /home/alice/run, mail al@lab.edu, carolinas\n",
    );
    package.write(
        "log.json",
        r#"{"cwd": "C:\\Users\\Bob Doe\\x", "n": 1.50, "password": "hunter22", "é": "\u002fhome\/bob"}"#,
    );
    package.seal();
    package
}

#[test]
fn normalize_rewrites_text_and_nothing_else() {
    let package = Package::valid();
    package.write("a.txt", "a\r\nb\rc\r\n").write("b.bin", "a\r\n\0").write("dir/c.txt", "c\r\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(package.file("a.txt"), std::fs::Permissions::from_mode(0o640)).unwrap();
    }
    package.run("seal", &[]).exits(2);
    let outcome = package.run("seal", &["--normalize", "--check"]);
    outcome.exits(1);
    outcome.require(outcome.stdout.contains("dir/c.txt would be rewritten"), "it says which");
    assert_eq!(package.text("a.txt"), "a\r\nb\rc\r\n");
    package.run("seal", &["--normalize"]).exits(0);
    assert_eq!(package.text("a.txt"), "a\nb\rc\n");
    assert_eq!(package.bytes("b.bin"), b"a\r\n\0");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(package.file("a.txt")).unwrap().permissions().mode() & 0o777, 0o640);
    }
    package.run("seal", &["--normalize", "--check"]).exits(0);
    package.verify(&["--strict"]).holds();
}

#[test]
fn what_cannot_be_sealed_keeps_everything_from_being_rewritten() {
    let package = Package::valid();
    package.write("a.txt", "a\r\n").write("com1.txt", "/home/alice");
    seal(&package, &["--normalize", "--redact"]).exits(2);
    assert_eq!(package.text("a.txt"), "a\r\n");
    assert_eq!(package.text("com1.txt"), "/home/alice");
}

#[test]
fn redact_replaces_what_is_private_and_the_package_still_holds() {
    let package = private();
    assert_eq!(package.verify(&[]).exits(0).codes(), ["unredacted"]);
    let before = package.json("model.json");
    let original = digest(&package.bytes("model.json"));
    let check = seal(&package, &["--redact", "--check"]);
    check.exits(1);
    for hidden in ["hunter22", "0123-456789abcdef", "Bob Doe", "alice"] {
        check.require(!check.stdout.contains(hidden), &format!("{hidden} is not shown"));
    }
    check.require(check.stdout.contains("notes.txt:2: e-mail address a... (10 characters)"), "file, line and rule");
    assert_eq!(digest(&package.bytes("model.json")), original, "--check changes nothing");
    seal(&package, &["--redact"]).exits(0);
    package.verify(&["--strict"]).holds();
    assert_eq!(
        package.text("notes.txt"),
        "ran by ${USER} ${USER} on ${HOST}\nin ${USER_HOME}/run, mail ${EMAIL}, carolinas\n"
    );
    assert_eq!(
        package.text("log.json"),
        r#"{"cwd": "${USER_HOME}\\x", "n": 1.50, "password": "${SECRET}", "é": "${USER_HOME}"}"#
    );
    let (model, provenance) = (package.json("model.json"), package.json("provenance.json"));
    let text = |root: &Json, pointer: &str| root.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
    assert_ne!(text(&model, "/profile_id"), text(&before, "/profile_id"));
    assert_eq!(text(&provenance, "/public_profile_id"), text(&model, "/profile_id"));
    assert_eq!(text(&provenance, "/original_profile_id"), text(&before, "/original_profile_id"));
    assert_eq!(text(&provenance, "/redaction/files/model.json/sha256"), original.sha256);
    assert!(
        package.text("device.json").contains("${GPU_UUID_REDACTED}, 1.0")
            && package.text("device.json").contains("${CUDA_TOOLKIT}")
    );
    let sealed = package.bytes("receipts.json");
    seal(&package, &["--redact", "--check"]).exits(0);
    seal(&package, &["--redact"]).exits(0);
    assert_eq!(package.bytes("receipts.json"), sealed, "a second redaction changes nothing");
}

#[test]
fn own_rules_and_the_repository_are_replaced() {
    let package = Package::empty();
    let root = package.path().canonicalize().unwrap();
    package.write(".git/HEAD", "x").write("a.txt", format!("{}/a on node-17 of big.cluster", root.display()));
    let rules = Package::empty();
    rules.write("rules", "# mine\nbig.cluster = ${CLUSTER}\n're:node-[0-9]+' = \"${NODE}\"\n");
    let redact = format!("--redact={}", rules.file("rules").display());
    seal(&package, &[&redact]).exits(0);
    assert_eq!(package.text("a.txt"), "${REPO}/a on ${NODE} of ${CLUSTER}");
    package.verify(&["--strict"]).holds();
    for (line, part) in
        [("a", "`=`"), ("a = b", "placeholder"), ("re:( = ${X}", "unclosed"), ("re:x* = ${X}", "nothing")]
    {
        rules.write("rules", format!("\n{line}\n"));
        let outcome = seal(&package, &[&redact]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("line 2") && outcome.stderr.contains(part), part);
    }
    rules.write("rules", "O = ${O}\n");
    package.write("a.txt", "O");
    let outcome = seal(&package, &[&redact]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("replaced again"), "a rule that feeds itself");
    assert_eq!(package.text("a.txt"), "O");
}

#[test]
fn a_redaction_that_would_contradict_the_package_is_refused() {
    let package = Package::valid();
    let script = package.text("code/calibrate.py") + "# /home/alice\n";
    package.write("code/calibrate.py", &script);
    let digest = digest(script.as_bytes());
    package.edit_json("model.json", |root| {
        set(root, "/input_receipts/script/sha256", digest.sha256.as_str());
    });
    let outcome = seal(&package, &["--redact"]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("code/calibrate.py") && outcome.stderr.contains("fit again"), "why");
    let twins = Package::empty();
    twins.write("a.json", r#"{"/home/alice":1,"/home/bob":2}"#);
    let outcome = seal(&twins, &["--redact"]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("a.json"), "two members would be one");
}

#[test]
fn a_package_that_names_its_own_files_keeps_naming_what_they_were() {
    let package = Package::valid();
    package.edit_json("validation.json", |root| add(root, "", "note", "made in /home/alice/x"));
    let original = digest(&package.bytes("validation.json"));
    let id = package.json("model.json").get("profile_id").cloned().unwrap();
    let name = |root: &mut Json, pointer: &str| {
        set(root, &format!("{pointer}/path"), "validation.json");
        set(root, &format!("{pointer}/sha256"), original.sha256.as_str());
        set(root, &format!("{pointer}/bytes"), original.bytes);
        set(root, "/original_profile_id", id.clone());
    };
    package.edit_json("model.json", |root| name(root, "/input_receipts/summary"));
    package.edit_json("provenance.json", |root| name(root, "/original_summary")).seal();
    package.verify(&[]).exits(0).only(&["unredacted"]);
    seal(&package, &["--redact"]).exits(0);
    package.verify(&["--strict"]).holds();
    package.edit_json("provenance.json", |root| set(root, "/redaction/files/validation.json/bytes", 1_u64)).seal();
    package.verify(&[]).exits(1).only(&["provenance"]);
}

#[test]
fn verify_shows_where_and_never_what() {
    let package = private();
    package.write("keys.json", r#"{"files": {"/home/alice/a": {"x": "/home/alice/b"}}}"#).seal();
    let outcome = package.verify(&[]);
    outcome.exits(0);
    let found = outcome.at("unredacted", "log.json", "/password");
    assert_eq!((found.line, found.found.as_str()), (1, "password: ... (8 characters)"));
    assert_eq!(outcome.at("unredacted", "notes.txt", "").line, 2);
    assert_eq!(outcome.at("unredacted", "keys.json", "/files").column, 12);
    assert!(!outcome.at("unredacted", "device.json", "/identity/driver").found.contains(UUID));
    outcome.require(!outcome.stdout.contains("hunter22") && !outcome.stdout.contains("alice"), "masked");
    package.verify(&["--strict"]).exits(1);
}

#[test]
fn secrets_are_told_from_hashes_versions_and_code() {
    let word = |parts: &[&str]| parts.concat();
    for secret in [
        word(&["AKIA", "ABCDEFGHIJKLMNOP"]),
        word(&["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"]),
        word(&["sk-", "proj-0123456789abcdef0123"]),
        word(&["-----BEGIN RSA ", "PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----"]),
        word(&["eyJhbGciOiJIUzI1", "NiJ9.eyJzdWIiOiIxMjM0.abcdefghijkl"]),
        word(&["DB_PASSWORD=", "hunter22!"]),
        word(&["https://bob:", "s3cret@host.lab/x"]),
    ] {
        let package = Package::of_text("a.txt", format!("x: {secret}\n"));
        let outcome = package.verify(&[]);
        outcome.one("unredacted");
        seal(&package, &["--redact"]).exits(0);
        assert!(package.text("a.txt").contains("${"), "{secret}");
        package.verify(&["--strict"]).holds();
    }
    let plain = "AMD EPYC 9654 96-Core, Linux 6.1.0-18-amd64, commit 0154c82eca516850a54073bca655c4d09e12726f\n\
        e9b9446c2aba8e282fe8839eb9d34d0cacbb7086d4d38acabfbafc2640a7fa2d task-0123456789abcdef0123 a@b.sum() q@k.T\n\
        password = getpass(), --password=$PASS, git@github.com:a/b, me@example.com, /home/$USER, src/home/page, x/Users/y\n\
        /etc/passwd, C:\\Users\\<you>, http://host/home/page, GPU-0, icon@2x.png, secret_key = os.environ[1]\n";
    Package::of_text("a.txt", plain).verify(&["--strict"]).holds();
    Package::of_text("a.md", plain).verify(&["--strict"]).holds();
}

#[test]
fn published_packages_hold_nothing_private() {
    let artifacts = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    for path in [Some(artifacts), shared("packages/program-partition")].into_iter().flatten() {
        let outcome = Outcome::of(&["verify", path.to_str().unwrap(), "--format", "json"], None);
        outcome.require(!outcome.codes().contains(&"unredacted".to_owned()), "nothing looks private");
    }
}

#[test]
fn recountignore_names_what_is_not_published() {
    let package = Package::valid();
    package
        .write(".recountignore", "# drafts\n\nnotes/*\n**/*.log\n")
        .write("notes/a.txt", "x")
        .write("b/c/d.log", "x");
    package.run("seal", &[]).exits(0);
    let receipts = package.text("receipts.json");
    assert!(receipts.contains(".recountignore") && !receipts.contains("notes/") && !receipts.contains("d.log"));
    package.verify(&["--strict"]).holds();
    package.write("notes/deep/e.txt", "x");
    package.verify(&[]).only(&["undeclared-file"]);
    package.remove("notes/deep/e.txt");
    package.write(".recountignore", "notes/*\n[\n");
    let outcome = package.run("seal", &[]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains(".recountignore, line 2"), "file and line");
}

#[test]
fn recountignore_hides_neither_changes_nor_what_checks_read() {
    let package = Package::valid();
    package.write(".recountignore", "**\n").write("extra.txt", "x").reseal_file(".recountignore");
    package.verify(&[]).exits(0);
    package.edit_text("README.md", |text| text + " ");
    package.verify(&[]).exits(1).one("hash-mismatch");
    package.edit_json("receipts.json", |root| {
        crate::common::json::take(root, "/files/README.md");
    });
    assert_eq!(package.verify(&[]).one("unbound-evidence").file, "README.md");
    // A list that is not declared itself, since it names itself, says nothing to a reader.
    let package = Package::valid();
    package.write(".recountignore", ".recountignore\nextra.txt\n").write("extra.txt", "x");
    package.run("seal", &[]).exits(0);
    assert_eq!(package.verify(&[]).all("undeclared-file").len(), 2);
}

#[test]
fn provenance_that_cannot_be_read_is_never_replaced() {
    let package = private();
    let latin = b"{\"scope\": \"caf\xe9\"}\n";
    std::fs::write(package.file("provenance.json"), latin).unwrap();
    let notes = package.text("notes.txt");
    let outcome = seal(&package, &["--redact"]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("provenance.json cannot be redacted"), "it names the file");
    assert_eq!(package.bytes("provenance.json"), latin);
    assert_eq!(package.text("notes.txt"), notes, "nothing else was rewritten");
}

#[test]
fn beginnings_of_keys_without_an_end_cost_no_more_than_their_length() {
    let package = Package::valid();
    // Searching each one's end to the end of the text would take minutes.
    package.write("keys.txt", "-----BEGIN PRIVATE KEY-----!\n".repeat(100_000));
    package.seal();
    package.verify(&[]).only(&["unredacted"]);
}

#[test]
fn a_key_that_cannot_sign_is_found_before_anything_is_rewritten() {
    let Some(keys) = crate::verify::keys::Keys::new() else { return };
    let package = Package::valid();
    package.write("a.txt", "a\r\n");
    let key = keys.make("rsa", &["-t", "rsa", "-b", "2048"], "");
    package.run("seal", &["--normalize", "--sign", &key]).exits(2);
    assert_eq!(package.text("a.txt"), "a\r\n");
}
