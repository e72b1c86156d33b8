//! Declared names that are not plain relative paths are refused, and nothing is opened for them.

use recount::package::name::{NameError, check_name, portable_key};

use crate::common::package::Package;

/// Names, and the rule that each breaks.
const UNSAFE: &[(&str, NameError)] = &[
    ("", NameError::Empty),
    ("../x", NameError::NotNormalised),
    ("x/../y", NameError::NotNormalised),
    ("x/..", NameError::NotNormalised),
    ("./x", NameError::NotNormalised),
    ("x/.", NameError::NotNormalised),
    (".", NameError::NotNormalised),
    ("..", NameError::NotNormalised),
    ("a//b", NameError::NotNormalised),
    ("a/", NameError::NotNormalised),
    ("/etc/hosts", NameError::NotRelative),
    ("//host/share/x", NameError::NotRelative),
    ("C:\\x", NameError::NotRelative),
    ("C:/x", NameError::NotRelative),
    ("c:x", NameError::NotRelative),
    ("\\\\?\\C:\\x", NameError::NotRelative),
    ("\\x", NameError::NotRelative),
    ("~root/x", NameError::NotRelative),
    ("~", NameError::NotRelative),
    ("a\\b", NameError::Backslash),
    ("..\\x", NameError::Backslash),
    ("NUL", NameError::Reserved),
    ("nul.json", NameError::Reserved),
    ("com1.txt", NameError::Reserved),
    ("a/LPT9", NameError::Reserved),
    ("COM\u{b9}", NameError::Reserved),
    ("con .txt", NameError::Reserved),
    ("CONOUT$", NameError::Reserved),
    ("x.", NameError::NotPortable),
    ("x ", NameError::NotPortable),
    ("x /y", NameError::NotPortable),
    ("...", NameError::NotPortable),
    ("ab:c", NameError::NotPortable),
    ("a:b", NameError::NotRelative),
    ("xy::$DATA", NameError::NotPortable),
    ("what?", NameError::NotPortable),
    ("a*", NameError::NotPortable),
    ("<x>", NameError::NotPortable),
    ("a\0b", NameError::Control),
    ("a\nb", NameError::Control),
    ("\u{1b}[31mx", NameError::Control),
    ("a\u{7f}", NameError::Control),
    ("a\u{85}b", NameError::Control),
];

#[test]
fn each_unsafe_name_breaks_the_rule_that_it_should() {
    for (name, error) in UNSAFE {
        assert_eq!(check_name(name), Err(*error), "{name:?}");
    }
    assert_eq!(check_name(&"x".repeat(256)), Err(NameError::TooLong));
    assert_eq!(check_name(&"x/".repeat(3000)), Err(NameError::TooLong));
}

#[test]
fn ordinary_names_are_accepted() {
    for name in [
        "x",
        "a/b/c.json",
        ".gitattributes",
        "..x",
        "x..y",
        "a b",
        "caf\u{e9}.txt",
        "com10",
        "communal.txt",
        "nullable.rs",
        "a~b",
        "-rf",
        "$HOME",
        "%PATH%",
    ] {
        assert_eq!(check_name(name), Ok(()), "{name:?}");
    }
    assert_eq!(check_name(&"x".repeat(255)), Ok(()));
}

#[test]
fn each_unsafe_name_in_receipts_is_refused_where_it_stands() {
    for (name, _) in UNSAFE {
        let package = Package::valid();
        package.edit_json("receipts.json", |receipts| {
            let entry = obj! { "sha256": "0".repeat(64), "bytes": 1_u64 };
            crate::common::json::add(receipts, "/files", name, entry);
        });
        let outcome = package.verify(&[]);
        outcome.exits(1).only(&["unsafe-path"]);
        let finding = outcome.one("unsafe-path");
        assert_eq!(finding.file, "receipts.json");
        let token = name.replace('~', "~0").replace('/', "~1");
        assert_eq!(finding.pointer, format!("/files/{token}"), "{name:?}");
    }
}

#[test]
fn a_file_outside_is_not_read_even_when_its_receipt_is_right() {
    let outer = Package::empty();
    let inside = outer.path().join("package");
    outer.write("secret.txt", "secret");
    outer.write("package/notes.txt", "notes");
    let seal = recount::seal::receipts_text(&inside, &globset::GlobSet::empty()).unwrap();
    let digest = recount::package::digest::digest(b"secret");
    let entry = format!("\"files\": {{\"../secret.txt\": {{\"sha256\": \"{}\", \"bytes\": 6}},", digest.sha256);
    outer.write("package/receipts.json", seal.replacen("\"files\": {", &entry, 1));
    let path = inside.to_str().unwrap();
    let outcome = crate::common::outcome::Outcome::of(&["verify", path, "--format", "json", "-v"], Some(&inside));
    outcome.exits(1).only(&["unsafe-path"]);
    outcome.require(!outcome.stdout.contains(&digest.sha256), "the outer file's hash is not shown");
}

#[test]
fn hidden_characters_of_names_reach_no_terminal() {
    let package = Package::valid();
    package.edit_json("receipts.json", |receipts| {
        let entry = obj! { "sha256": "0".repeat(64), "bytes": 1_u64 };
        crate::common::json::add(receipts, "/files", "a\u{1b}[2J\u{202e}b", entry);
    });
    for format in ["text", "json", "markdown", "junit", "sarif"] {
        let outcome = package.run("verify", &["--format", format, "-v"]);
        outcome.exits(1);
        outcome.require(!outcome.stdout.contains(['\u{1b}', '\u{202e}']), "no escape or direction mark is printed");
    }
}

#[test]
fn a_very_long_name_is_refused_and_shortened_in_the_report() {
    let package = Package::valid();
    package.edit_json("receipts.json", |receipts| {
        let entry = obj! { "sha256": "0".repeat(64), "bytes": 1_u64 };
        crate::common::json::add(receipts, "/files", &"x".repeat(100_000), entry);
    });
    let outcome = package.verify(&[]);
    let finding = outcome.exits(1).one("unsafe-path");
    assert!(finding.found.len() < 1000, "{} characters", finding.found.len());
}

#[test]
fn names_have_one_key_whatever_their_case_and_unicode_form() {
    assert_eq!(portable_key("CAFE\u{301}"), portable_key("caf\u{e9}"));
    assert_eq!(portable_key("STRASSE"), portable_key("stra\u{df}e"));
    assert_eq!(portable_key("\u{212a}"), portable_key("k"));
    assert_ne!(portable_key("a"), portable_key("b"));
}
