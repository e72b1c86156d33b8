//! `recount seal --sign`, checked by the real `ssh-keygen`.

use std::process::{Command, Stdio};

use crate::common::outcome::Outcome;
use crate::common::package::Package;
use crate::verify::keys::{Keys, path};

const WHO: &str = "alice@example.org";

#[track_caller]
fn refused(package: &Package, args: &[&str], words: &[&str]) {
    let before = package.bytes("receipts.json");
    let outcome = package.run("seal", args);
    outcome.exits(2);
    for word in words {
        outcome.require(outcome.stderr.contains(word), word);
    }
    assert_eq!(package.bytes("receipts.json"), before, "nothing was written");
    assert!(!package.file("receipts.json.sig").exists(), "nothing was written");
    let listed = std::fs::read_dir(package.path()).unwrap().flatten();
    assert!(listed.into_iter().all(|entry| !entry.file_name().to_string_lossy().contains("partial")));
}

#[test]
fn ssh_keygen_verifies_what_recount_signs() {
    let Some(keys) = Keys::new() else { return };
    let package = Package::valid();
    for (name, kind) in [
        ("ed25519", &["-t", "ed25519"][..]),
        ("p256", &["-t", "ecdsa", "-b", "256"]),
        ("p384", &["-t", "ecdsa", "-b", "384"]),
        ("p521", &["-t", "ecdsa", "-b", "521"]),
    ] {
        let mut key = keys.make(name, kind, "");
        let mut outcome = package.run("seal", &["--sign", &key]);
        // Of some ecdsa keys the number is too short for ssh-key 0.6.
        while outcome.stderr.contains("shorter than usual") {
            std::fs::remove_file(&key).unwrap();
            key = keys.make(name, kind, "");
            outcome = package.run("seal", &["--sign", &key]);
        }
        outcome.exits(0);
        let said = format!("{} written and signed (receipts.json.sig)\n", path(&package.file("receipts.json")));
        outcome.require(outcome.stdout == said, &said);
        let allowed = keys.allow(&[(WHO, name)]);
        assert!(keys.verifies(&package, &allowed, WHO, "recount"), "{name}");
        assert!(!keys.verifies(&package, &allowed, WHO, "file"), "{name}");
        package.verify(&["--strict", "--allowed-signers", &allowed, "--signer", WHO]).holds();
        let signature = package.bytes("receipts.json.sig");
        let outcome = package.run("seal", &["--sign", &key]);
        outcome.exits(0);
        outcome.require(outcome.stdout.contains("up to date"), "sealing twice changes nothing");
        assert_eq!(package.bytes("receipts.json.sig"), signature);
    }
    assert!(!package.text("receipts.json").contains(".sig"), "the signature is not listed in what it signs");
    // The signature fits, so that sealing without a key leaves it alone.
    package.run("seal", &[]).exits(0);
    package.run("seal", &["--check"]).exits(0);
    assert!(package.file("receipts.json.sig").exists());
}

#[test]
fn what_signs_and_what_redacts_is_not_sealed() {
    let Some(keys) = Keys::new() else { return };
    let package = Package::valid();
    let key = keys.make("locked", &["-t", "ed25519"], "word");
    package.write("pw", "word\n");
    let inside = path(&package.file("pw"));
    refused(&package, &["--sign", &key, "--passphrase-file", &inside], &["the passphrase", "move it out"]);
    package.remove("pw");
    let key = keys.make("plain", &["-t", "ed25519"], "");
    package.write("old/id_backup", std::fs::read(&key).unwrap());
    refused(&package, &["--sign", &key], &["old/id_backup is a copy of the key"]);
    std::fs::remove_dir_all(package.file("old")).unwrap();
    package.write("private.rules", "internal.cluster = ${CLUSTER}\n").write("notes.txt", "on internal.cluster\n");
    let option = format!("--redact={}", path(&package.file("private.rules")));
    refused(&package, &[&option], &["the rules", ".recountignore"]);
    assert_eq!(package.text("private.rules"), "internal.cluster = ${CLUSTER}\n");
    package.write(".recountignore", "private.rules\n");
    package.run("seal", &[&option]).exits(0);
    assert_eq!(package.text("notes.txt"), "on ${CLUSTER}\n");
    assert_eq!(package.text("private.rules"), "internal.cluster = ${CLUSTER}\n");
    assert!(!package.text("receipts.json").contains("private.rules\""));
}

#[test]
fn a_stale_signature_is_replaced_or_dropped_but_never_left() {
    let Some(keys) = Keys::new() else { return };
    let key = keys.ed25519("alice");
    let allowed = keys.allow(&[(WHO, "alice")]);
    let package = Package::valid();
    package.run("seal", &["--sign", &key]).exits(0);
    package.edit_text(".gitattributes", |text| text + "# more\n");
    let (receipts, signature) = (package.bytes("receipts.json"), package.bytes("receipts.json.sig"));
    let outcome = package.run("seal", &[]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("--sign KEY") && outcome.stderr.contains("--drop-signature"), "what to do");
    let outcome = package.run("seal", &["--check"]);
    outcome.exits(1);
    outcome.require(outcome.stdout.contains("does not fit"), "the signature is named");
    assert_eq!((package.bytes("receipts.json"), package.bytes("receipts.json.sig")), (receipts, signature));
    package.run("seal", &["--sign", &key]).exits(0);
    package.verify(&["--allowed-signers", &allowed]).holds();
    package.edit_text(".gitattributes", |text| text + "# more\n");
    package.run("seal", &["--drop-signature"]).exits(0);
    assert!(!package.file("receipts.json.sig").exists());
    package.verify(&["--strict"]).holds();
    package.run("seal", &["--drop-signature"]).exits(0);
    // What is no signature fits nothing.
    package.write("receipts.json.sig", "nonsense");
    package.run("seal", &[]).exits(2);
    package.run("seal", &["--sign", &key]).exits(0);
    package.verify(&["--allowed-signers", &allowed]).holds();
}

#[test]
fn an_encrypted_key_needs_its_passphrase() {
    let Some(keys) = Keys::new() else { return };
    let key = keys.make("alice", &["-t", "ed25519"], "open sesame");
    let allowed = keys.allow(&[(WHO, "alice")]);
    let package = Package::valid();
    let right = keys.write("right", "open sesame\nmore\n");
    let wrong = keys.write("wrong", "open\n");
    let missing = keys.file("missing").to_str().unwrap().to_owned();
    refused(&package, &["--sign", &key], &["encrypted", "--passphrase-file"]);
    refused(&package, &["--sign", &key, "--passphrase-file", &wrong], &["passphrase does not open"]);
    refused(&package, &["--sign", &key, "--passphrase-file", &missing], &[&missing]);
    refused(&package, &["--passphrase-file", &right], &["--sign"]);
    package.run("seal", &["--sign", &key, "--passphrase-file", &right]).exits(0);
    assert!(keys.verifies(&package, &allowed, WHO, "recount"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_is_asked_for_the_passphrase() {
    use std::io::Write;

    let Some(keys) = Keys::new() else { return };
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: script is not installed (Debian: bsdutils)");
        return;
    }
    let key = keys.make("alice", &["-t", "ed25519"], "open sesame");
    let package = Package::valid();
    for (typed, status) in [("open\n", 2), ("open sesame\n", 0)] {
        let command = format!("'{}' seal '{}' --sign '{key}'", env!("CARGO_BIN_EXE_recount"), package.path().display());
        let mut child = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains("Passphrase for "), "{said}");
    }
    assert!(package.file("receipts.json.sig").exists());
}

#[test]
fn what_is_no_private_key_is_named() {
    let Some(keys) = Keys::new() else { return };
    let key = keys.ed25519("alice");
    let pem = keys.make("pem", &["-t", "rsa", "-b", "2048", "-m", "PEM"], "");
    let rsa = keys.make("rsa", &["-t", "rsa", "-b", "2048"], "");
    let package = Package::valid();
    let text = std::fs::read_to_string(&key).unwrap();
    let cut = keys.write("cut", &text.replacen(text.lines().nth(2).unwrap(), "", 1));
    let (public, missing) = (format!("{key}.pub"), path(&keys.file("missing")));
    let (empty, text) = (keys.write("empty", ""), keys.write("text", "hello"));
    let large = keys.write("large", &"x".repeat(100_000));
    let cases: [(&str, &str); 8] = [
        (&public, "a public key; give the private one"),
        (&pem, "ssh-keygen -p"),
        (&cut, "is damaged"),
        (&empty, "found nothing"),
        (&text, "something else"),
        (&large, "more than 64 KiB"),
        (&missing, "cannot be read"),
        (&rsa, "ssh-keygen -Y sign"),
    ];
    for (file, words) in cases {
        refused(&package, &["--sign", file], &[file, words]);
    }
    refused(&package, &["--sign", keys.file("").to_str().unwrap()], &["cannot be read"]);
    refused(&package, &["--sign", &key, "--check"], &["--check"]);
    refused(&package, &["--sign", &key, "--drop-signature"], &["--drop-signature"]);
}

#[test]
fn what_cannot_be_sealed_is_not_signed() {
    let Some(keys) = Keys::new() else { return };
    let key = keys.ed25519("alice");
    let package = Package::valid();
    package.write("crlf.txt", "a\r\nb\r\n");
    refused(&package, &["--sign", &key], &["crlf.txt"]);
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_keeps_what_it_had() {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    let Some(keys) = Keys::new() else { return };
    let key = keys.ed25519("alice");
    let package = Package::valid();
    package.edit_text(".gitattributes", |text| text + "# more\n");
    set_permissions(package.path(), Permissions::from_mode(0o555)).unwrap();
    // Whoever may write everywhere cannot try this.
    if write(package.file("probe"), "").is_ok() {
        set_permissions(package.path(), Permissions::from_mode(0o755)).unwrap();
        return;
    }
    refused(&package, &["--sign", &key], &["cannot be written"]);
    set_permissions(package.path(), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_example_of_the_documentation_works_with_ssh_keygen_alone() {
    let Some(keys) = Keys::new() else { return };
    let key = keys.ed25519("alice");
    let package = Package::valid();
    keys.sign(&package, &key, "recount");
    let outcome = Outcome::of(&["seal", package.path().to_str().unwrap(), "--check"], None);
    outcome.exits(0);
}
