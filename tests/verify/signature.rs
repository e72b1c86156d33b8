//! `recount verify --allowed-signers`: four ways to be wrong, and the one to be right, on signatures of the real `ssh-keygen`.

use serde_json::Value;

use super::keys::{Keys, line_from_seed, sign_from_seed};
use crate::common::outcome::Outcome;
use crate::common::package::Package;

const WHO: &str = "alice@example.org";

#[track_caller]
fn notes(outcome: &Outcome) -> String {
    let checks = outcome.checks();
    let notes = checks[0]["notes"].as_array().expect("notes");
    notes.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn limits(outcome: &Outcome) -> String {
    outcome.report()["subjects"][0]["limits"].to_string()
}

#[test]
fn a_signature_of_ssh_keygen_is_checked_and_the_signer_is_named() {
    let Some(keys) = Keys::new() else { return };
    let package = Package::valid();
    for (name, kind) in [
        ("ed25519", &["-t", "ed25519"][..]),
        ("rsa", &["-t", "rsa", "-b", "2048"]),
        ("p256", &["-t", "ecdsa", "-b", "256"]),
        ("p384", &["-t", "ecdsa", "-b", "384"]),
        ("p521", &["-t", "ecdsa", "-b", "521"]),
    ] {
        let key = keys.make(name, kind, "");
        let allowed = keys.allow(&[(WHO, name)]);
        keys.sign(&package, &key, "recount");
        let outcome = package.verify(&["--strict", "--allowed-signers", &allowed]);
        outcome.holds();
        let (said, fingerprint) = (notes(&outcome), keys.fingerprint(&key));
        outcome.require(said.contains("is signed with the ") && said.contains(&fingerprint), "the key is named");
        outcome.require(!limits(&outcome).contains("is the author's"), "the limit is not that nothing is known");
        outcome.require(limits(&outcome).contains(&fingerprint), "the limit is about the key");
        let outcome = package.verify(&["--allowed-signers", &allowed, "--signer", WHO]);
        outcome.holds();
        outcome.require(notes(&outcome).contains(&format!("is signed by {WHO} with the ")), "the signer is named");
        outcome.require(limits(&outcome).contains(WHO), "the limit is about the signer");
    }
}

#[test]
fn there_are_four_different_answers() {
    let Some(keys) = Keys::new() else { return };
    let (alice, bob) = (keys.ed25519("alice"), keys.ed25519("bob"));
    let allowed = keys.allow(&[(WHO, "alice")]);
    let check = |package: &Package, code: &str| {
        let outcome = package.verify(&["--allowed-signers", &allowed]);
        outcome.exits(1).only(&[code]);
        assert_eq!(outcome.one(code).file, "receipts.json.sig");
        outcome.require(limits(&outcome).contains("is the author's"), "nothing is known of the author");
        outcome.one(code).found
    };
    let package = Package::valid();
    check(&package, "unsigned");
    keys.sign(&package, &bob, "recount");
    assert!(check(&package, "signer-unknown").contains(&keys.fingerprint(&bob)));
    keys.sign(&package, &alice, "file");
    assert_eq!(check(&package, "signature-invalid"), "the namespace file");
    package.write("receipts.json.sig", "-----BEGIN PGP SIGNATURE-----\n");
    check(&package, "signature-invalid");
    keys.sign(&package, &alice, "recount");
    package.verify(&["--allowed-signers", &allowed]).holds();
    // A forgery that covers its tracks: everything holds but the signature.
    package.edit_text(".gitattributes", |text| text + "# more\n").seal();
    package.verify(&[]).holds();
    assert!(check(&package, "signature-mismatch").contains("other bytes"));
    assert!(!keys.verifies(&package, &allowed, WHO, "recount"));
}

#[test]
fn the_codes_appear_in_every_format() {
    let Some(keys) = Keys::new() else { return };
    keys.ed25519("alice");
    let allowed = keys.allow(&[(WHO, "alice")]);
    let package = Package::valid();
    for format in ["text", "json", "markdown", "junit", "sarif"] {
        let outcome = package.run("verify", &["--allowed-signers", &allowed, "--format", format]);
        outcome.exits(1);
        outcome.require(outcome.stdout.contains("unsigned"), format);
    }
}

#[test]
fn without_allowed_signers_a_signature_is_only_noted() {
    let package = Package::valid();
    assert_eq!(notes(&package.verify(&["--strict"])), "");
    sign_from_seed(&package, 1);
    let outcome = package.verify(&["--strict"]);
    outcome.holds();
    outcome.require(notes(&outcome).contains("key SHA256:") && notes(&outcome).contains("not checked"), "it is noted");
    outcome.require(limits(&outcome).contains("is the author's"), "nothing is known of the author");
    package.write("receipts.json.sig", "nonsense");
    let outcome = package.verify(&["--strict"]);
    outcome.holds();
    outcome.require(notes(&outcome).contains("no signature that could be checked"), "it is noted");
}

#[test]
fn identities_namespaces_and_times_are_asked_for() {
    let Some(keys) = Keys::new() else { return };
    let alice = keys.ed25519("alice");
    let package = Package::valid();
    keys.sign(&package, &alice, "recount");
    let cases: [(&str, &[&str], bool); 12] = [
        (WHO, &["--signer", "bob@example.org"], false),
        ("*@example.org", &["--signer", WHO], true),
        ("*@example.org,!alice@*", &["--signer", WHO], false),
        ("bob@example.org,alice@example.org", &["--signer", WHO], true),
        ("alice@example.org namespaces=\"git,recount\"", &[], true),
        ("alice@example.org namespaces=\"git\"", &[], false),
        ("alice@example.org valid-before=\"20200101\"", &[], false),
        ("alice@example.org valid-before=\"20200101\"", &["--signed-at", "20191231"], true),
        ("alice@example.org valid-after=\"20200101Z\"", &[], true),
        ("alice@example.org valid-after=\"20200101Z\"", &["--signed-at", "20191231"], false),
        ("alice@example.org namespaces=\"recount\",valid-after=\"20200101\"", &["--signer", WHO], true),
        ("\"alice@example.org\"", &["--signer", WHO], true),
    ];
    for (who, args, is_allowed) in cases {
        let allowed = keys.allow(&[(who, "alice")]);
        let outcome = package.verify(&[&["--allowed-signers", &allowed], args].concat());
        let what = format!("{who} {args:?}");
        outcome.require((outcome.status == 0) == is_allowed, &what);
        if !is_allowed {
            outcome.exits(1).only(&["signer-unknown"]);
        }
        if !args.contains(&"--signed-at") && args.get(1).is_none_or(|identity| *identity == WHO) {
            assert_eq!(keys.verifies(&package, &allowed, WHO, "recount"), is_allowed, "ssh-keygen agrees: {what}");
        }
    }
}

#[test]
fn a_pattern_of_the_file_is_no_identity() {
    let Some(keys) = Keys::new() else { return };
    let alice = keys.ed25519("alice");
    let fingerprint = keys.fingerprint(&alice);
    let allowed = keys.allow(&[("*@example.org,!bob@*", "alice")]);
    let package = Package::valid();
    keys.sign(&package, &alice, "recount");
    let outcome = package.verify(&["--allowed-signers", &allowed]);
    outcome.holds();
    let said = notes(&outcome);
    outcome.require(!said.contains("signed by"), "nobody is named as signer");
    let listed = format!("which the allowed-signers file `{allowed}` lists for *@example.org,!bob@*; whether");
    outcome.require(said.contains(&listed), "what is listed is said");
    outcome.require(said.contains(&fingerprint) && said.contains("--signer"), "the key is named, and how to ask");
    outcome.require(limits(&outcome).contains(&fingerprint), "the limit is about the key");
    outcome.require(!limits(&outcome).contains("example.org"), "and about nobody");
    let outcome = package.verify(&["--allowed-signers", &allowed, "--signer", WHO]);
    outcome.holds();
    outcome.require(notes(&outcome).contains(&format!("is signed by {WHO} with the ")), "the signer is named");
}

/// What the program says of a line at a time, beside what `ssh-keygen` says in the easternmost zone, in UTC and in the
/// westernmost one.
#[test]
fn files_are_read_as_ssh_keygen_reads_them() {
    let Some(keys) = Keys::new() else { return };
    let alice = keys.ed25519("alice");
    let package = Package::valid();
    keys.sign(&package, &alice, "recount");
    let at = "20250101000000Z";
    #[derive(Debug, PartialEq)]
    enum Says {
        Yes,
        No,
        /// Another answer in another time zone: refused here, with the advice to write Z.
        Zone,
        /// The whole file is refused here.
        Refused,
    }
    for (before, line, says) in [
        ("", WHO, Says::Yes),
        ("\u{feff}", WHO, Says::Refused),
        ("\u{feff}# a comment\n", WHO, Says::Refused),
        ("# a comment\r\n\r\n \t\n", WHO, Says::Yes),
        (" \t", WHO, Says::Yes),
        ("", "\"alice@example.org\"", Says::Yes),
        ("", "\"bob,alice@example.org\" namespaces=\"recount\"", Says::Yes),
        ("", "al\"ice@example.org\"", Says::Refused),
        ("", "\"alice@\"example.org", Says::Refused),
        ("", "\u{a0}alice@example.org", Says::No),
        ("", "?lice@example.org", Says::Yes),
        ("", "\u{e9}@example.org", Says::No),
        ("", "alice@example.org namespaces=\"x\\\"y,recount\"", Says::Yes),
        ("", "alice@example.org namespaces=\"recount\\\"\"", Says::No),
        ("", "alice@example.org namespaces=\"x\\\\\",recount\"", Says::Yes),
        ("", "alice@example.org namespaces=\"x y,recount\"", Says::Yes),
        ("", "alice@example.org namespaces=\"recount\\\"", Says::Refused),
        ("", "alice@example.org namespaces=\"recount\"\"x\"", Says::Refused),
        ("", "alice@example.org NAMESPACES=\"recount\"", Says::Yes),
        ("", "alice@example.org valid-after=\"20250101Z\"", Says::Yes),
        ("", "alice@example.org valid-after=\"20250101UTC\"", Says::Yes),
        ("", "alice@example.org valid-after=\"20250101000001Z\"", Says::No),
        ("", "alice@example.org valid-before=\"20250101z\"", Says::Yes),
        ("", "alice@example.org valid-before=\"20241231235959Z\"", Says::No),
        ("", "alice@example.org valid-after=\"20250101\"", Says::Zone),
        ("", "alice@example.org valid-before=\"20250101\"", Says::Zone),
        ("", "alice@example.org valid-after=\"20241231\"", Says::Yes),
        ("", "alice@example.org valid-after=\"202412311200\"", Says::Yes),
        ("", "alice@example.org valid-after=\"202412311201\"", Says::Zone),
        ("", "alice@example.org valid-after=\"20250102\"", Says::No),
        ("", "alice@example.org valid-before=\"202501011400\"", Says::Yes),
        ("", "alice@example.org valid-before=\"202501011359\"", Says::Zone),
        ("", "alice@example.org valid-before=\"20241231\"", Says::No),
        ("", "alice@example.org valid-after=\"20250101\",valid-before=\"20250101\"", Says::Refused),
        ("", "alice@example.org valid-before=\"19690101Z\"", Says::Refused),
        ("", "alice@example.org valid-after=\"20250101 \"", Says::Refused),
    ] {
        let key = std::fs::read_to_string(keys.file("alice.pub")).unwrap();
        let allowed = keys.write("allowed_signers", &format!("{before}{line} {key}"));
        let outcome = package.verify(&["--allowed-signers", &allowed, "--signer", WHO, "--signed-at", at]);
        let theirs = ["AAA-14", "UTC0", "AAA12"].map(|zone| keys.verifies_at(&package, &allowed, WHO, at, zone));
        let zone = |outcome: &Outcome| outcome.one("signer-unknown").found.contains("write the time with Z");
        let ours = match outcome.status {
            0 => Says::Yes,
            1 if zone(&outcome) => Says::Zone,
            1 => Says::No,
            _ => Says::Refused,
        };
        let what = format!("{before:?} {line}: {theirs:?} {}", outcome.stderr);
        assert_eq!(ours, says, "{what}");
        match ours {
            Says::Yes => assert_eq!(theirs, [true; 3], "{what}"),
            Says::No => assert_eq!(theirs, [false; 3], "{what}"),
            Says::Zone => assert!(theirs.contains(&true) && theirs.contains(&false), "{what}"),
            Says::Refused => outcome.require(outcome.stderr.contains("expected "), &what),
        }
    }
}

#[test]
fn another_namespace_can_be_asked_for() {
    let Some(keys) = Keys::new() else { return };
    let alice = keys.ed25519("alice");
    let allowed = keys.allow(&[(WHO, "alice")]);
    let package = Package::valid();
    keys.sign(&package, &alice, "file");
    package.verify(&["--allowed-signers", &allowed, "--signature-namespace", "file"]).holds();
}

#[test]
fn certificate_authorities_are_said_to_be_unsupported() {
    let Some(keys) = Keys::new() else { return };
    let alice = keys.ed25519("alice");
    keys.ed25519("authority");
    let package = Package::valid();
    keys.sign(&package, &alice, "recount");
    let allowed = keys.allow(&[("* cert-authority", "authority"), (WHO, "alice")]);
    let outcome = package.verify(&["--allowed-signers", &allowed]);
    outcome.holds();
    outcome
        .require(notes(&outcome).contains("allowed_signers:1: cert-authority is not supported"), "the line is named");
    // A line for the key itself does not count as one of an authority.
    let allowed = keys.allow(&[("* cert-authority", "alice")]);
    let outcome = package.verify(&["--allowed-signers", &allowed]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains(":1: cert-authority is not supported"), "the line is named");
}

#[test]
fn keys_that_cannot_be_checked_are_named() {
    let Some(keys) = Keys::new() else { return };
    let package = Package::valid();
    let short = keys.make("short", &["-t", "rsa", "-b", "1024"], "");
    let allowed = keys.allow(&[(WHO, "short")]);
    keys.sign(&package, &short, "recount");
    let outcome = package.verify(&["--allowed-signers", &allowed]);
    outcome.exits(1).only(&["signature-invalid"]);
    outcome.require(outcome.one("signature-invalid").found.contains("1024 bits"), "the size is named");
    let (authority, alice) = (keys.ed25519("authority"), keys.ed25519("alice"));
    keys.certify(&authority, &alice);
    let allowed = keys.allow(&[(WHO, "alice")]);
    keys.sign(&package, &format!("{alice}-cert.pub"), "recount");
    let outcome = package.verify(&["--allowed-signers", &allowed]);
    outcome.exits(1).only(&["signature-invalid"]);
    outcome.require(outcome.one("signature-invalid").found.contains("certificate"), "the kind is named");
}

#[test]
fn line_endings_of_a_checkout_are_a_warning() {
    let folder = Package::empty();
    folder.write("allowed", line_from_seed(WHO, 1));
    let allowed = super::keys::path(&folder.file("allowed"));
    let package = Package::valid();
    sign_from_seed(&package, 1);
    for name in ["receipts.json", "receipts.json.sig"] {
        package.edit_text(name, |text| text.replace('\n', "\r\n"));
    }
    let outcome = package.verify(&["--allowed-signers", &allowed]);
    outcome.exits(0).only(&["line-endings"]);
    assert_eq!(outcome.one("line-endings").file, "receipts.json");
}

#[test]
fn a_file_that_is_called_like_a_word_is_told_from_one() {
    let folder = Package::empty();
    folder.write("allowed", line_from_seed(WHO, 1));
    let package = Package::valid();
    sign_from_seed(&package, 1);
    let ask = |signer: &str| {
        let mut program = crate::common::outcome::program();
        program.current_dir(folder.path());
        let here = super::keys::path(package.path());
        let args = ["verify", &here, "--format", "json", "--allowed-signers", "allowed", "--signer", signer];
        Outcome::with(&mut program, &args, None)
    };
    let outcome = ask(WHO);
    outcome.holds();
    outcome
        .require(notes(&outcome).ends_with(&format!("the allowed-signers file `allowed` lists for {WHO}")), "the file");
    let found = ask("bob@example.org").exits(1).one("signer-unknown");
    assert_eq!(found.expected, "a key that the allowed-signers file `allowed` lists for bob@example.org");
    assert!(
        found.found.ends_with(&format!("in line 1 it is listed for {WHO}, not for bob@example.org")),
        "{}",
        found.found
    );
}

#[test]
fn damaged_signatures_are_answers_and_never_panics() {
    let folder = Package::empty();
    folder.write("allowed", line_from_seed(WHO, 1));
    let allowed = super::keys::path(&folder.file("allowed"));
    let package = Package::valid();
    sign_from_seed(&package, 1);
    let good = package.text("receipts.json.sig");
    let other_width = good.replacen("U1NIU0lH", "U1NI\nU0lH", 1);
    package.write("receipts.json.sig", &other_width);
    package.verify(&["--allowed-signers", &allowed]).holds();
    let lines: Vec<&str> = good.lines().collect();
    let bodies = [
        String::new(),
        "\0".repeat(100),
        lines[0].to_owned(),
        good.replace("END", "FIN"),
        format!("{}\n{}\n", lines[0], lines[lines.len() - 1]),
        good.replace("U1NIU0lH", "U1NIU0lI"),
        good.replacen("AAAA", "////", 1),
        good.replacen("U1NI", "=*~ ", 1),
        good.replacen(lines[2], "", 1),
        format!("{good}{good}"),
        "A".repeat((64 << 10) + 1),
        format!("{}\n{}\n{}\n", lines[0], "A".repeat(60 << 10), lines[lines.len() - 1]),
    ];
    for body in bodies {
        package.write("receipts.json.sig", &body);
        package.verify(&["--allowed-signers", &allowed]).exits(1).only(&["signature-invalid"]);
    }
    #[cfg(unix)]
    {
        folder.write("elsewhere.sig", &good);
        package.remove("receipts.json.sig");
        std::os::unix::fs::symlink(folder.file("elsewhere.sig"), package.file("receipts.json.sig")).unwrap();
        package.verify(&["--allowed-signers", &allowed]).exits(1).only(&["signature-invalid"]);
    }
}

#[test]
fn every_changed_character_of_a_signature_is_noticed() {
    use recount::package::signature::Signature;

    let package = Package::valid();
    sign_from_seed(&package, 1);
    let (receipts, good) = (package.bytes("receipts.json"), package.bytes("receipts.json.sig"));
    let key = Signature::read(&good).unwrap().key().clone();
    assert!(Signature::read(&good).unwrap().covers(&receipts));
    let begin = good.iter().position(|&byte| byte == b'\n').unwrap();
    let end = good.len() - "\n-----END SSH SIGNATURE-----\n".len();
    for at in begin..end {
        for byte in [b'A', b'/', b'+', 0, 0xff] {
            let mut changed = good.clone();
            changed[at] = byte;
            if changed == good || good[at] == b'\n' {
                continue;
            }
            let accepted = Signature::read(&changed).is_ok_and(|signature| {
                signature.key() == &key && signature.namespace() == "recount" && signature.covers(&receipts)
            });
            assert!(!accepted, "character {at} as {byte}");
        }
        assert!(Signature::read(&good[..at]).is_err());
    }
}

#[test]
fn a_single_receipt_cannot_be_signed() {
    let folder = Package::empty();
    folder.write("allowed", line_from_seed(WHO, 1));
    let allowed = super::keys::path(&folder.file("allowed"));
    let receipt = concat!(env!("CARGO_MANIFEST_DIR"), "/receipts/grid-sample-divergence.json");
    let outcome = Outcome::of(&["verify", receipt, "--allowed-signers", &allowed, "--format", "json"], None);
    outcome.exits(1).obeys_schema().one("unsigned");
}

#[test]
fn bad_requests_say_what_is_wrong() {
    let package = Package::valid();
    let folder = Package::empty();
    folder.write("empty", "# nobody\n").write("wrong", "\nalice nonsense ssh-ed25519 AAAA\n").write("bytes", [0xff]);
    for (name, text) in
        [("empty", "allows nobody"), ("wrong", "wrong:2: expected "), ("bytes", "cannot be read"), ("none", "none")]
    {
        let outcome = package.run("verify", &["--allowed-signers", &super::keys::path(&folder.file(name))]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains(text) && outcome.stdout.is_empty(), name);
    }
    package.run("verify", &["--signer", WHO]).exits(2);
    package.run("verify", &["--signed-at", "20250101"]).exits(2);
    package.run("verify", &["--signature-namespace", "x"]).exits(2);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(
        words in proptest::collection::vec("[ \"=,!*#a-z0-9\t\u{e9}]{0,12}|namespaces=\"|valid-after=\"2025|ssh-ed25519 AAAA|cert-authority", 0..8),
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
    ) {
        use recount::package::signature::{Signature, allowed::AllowedSigners, moment};

        let line = words.concat();
        let _ = AllowedSigners::read("file", &line);
        let _ = moment::Moment::read(&line);
        let _ = Signature::read(&bytes);
        let armored = format!("-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ{line}\n-----END SSH SIGNATURE-----\n");
        proptest::prop_assert!(Signature::read(armored.as_bytes()).is_err());
    }
}

#[test]
fn a_line_of_exceptions_alone_allows_nobody() {
    let Some(keys) = Keys::new() else { return };
    let package = Package::valid();
    let key = keys.make("ed25519", &["-t", "ed25519"], "");
    package.run("seal", &["--sign", &key]).exits(0);
    let allowed = keys.allow(&[("!mallory@example.org", "ed25519")]);
    package.verify(&["--allowed-signers", &allowed]).only(&["signer-unknown"]);
}
