//! `recount seal --redact`: names of users and machines, names of files, and what is left as it is and said.

use super::seal_rewrite::seal;
use crate::common::outcome::{Outcome, program};
use crate::common::package::Package;

/// Redacts a text on a machine of this name, as this user.
fn redacted(host: &str, user: &str, text: &str) -> String {
    let package = Package::of_text("notes.txt", text);
    let mut program = program();
    program.env("USER", user).env("HOSTNAME", host).env("HOME", "/srv/people/somebody");
    let args = ["seal", package.path().to_str().unwrap(), "--redact"];
    Outcome::with(&mut program, &args, Some(package.path())).exits(0);
    package.verify(&["--strict"]).holds();
    package.text("notes.txt")
}

#[test]
fn a_machine_is_found_by_its_short_name_and_by_that_in_its_domain() {
    for (host, text, expected) in [
        ("atlas7", "on atlas7, Atlas7.cs.uni.edu and atlas7.local.", "on ${HOST}, ${HOST} and ${HOST}."),
        ("atlas7.cs.uni.edu", "on atlas7, atlas7.cs.uni.edu and atlas7.log", "on ${HOST}, ${HOST} and ${HOST}.log"),
        ("atlas7.pool", "on atlas7.pool", "on ${HOST}"),
        ("atlas7", "atlas7.md atlas70 my-atlas7", "${HOST}.md atlas70 my-atlas7"),
        ("12345678", "12345678 samples", "12345678 samples"),
        ("deadbeef", "hash deadbeef", "hash deadbeef"),
        ("LocalHost", "on localhost", "on localhost"),
    ] {
        assert_eq!(redacted(host, "somebody", text), expected, "{host}");
    }
    assert_eq!(redacted("atlas7", "Runner", "the runner"), "the runner");
    assert_eq!(redacted("atlas7", "4711", "4711 times"), "4711 times");
}

#[test]
fn names_are_left_in_evidence() {
    let package = Package::valid();
    let evidence = ["samples.csv", "validation.json", "model.json", "cases.json", "device.json"];
    let before = evidence.map(|name| package.bytes(name));
    package.write("run.log", "native on default\n");
    let mut program = program();
    program.env("USER", "native").env("HOSTNAME", "default-7").env("HOME", "/srv/x");
    let args = ["seal", package.path().to_str().unwrap(), "--redact"];
    Outcome::with(&mut program, &args, Some(package.path())).exits(0);
    assert_eq!(package.text("run.log"), "${USER} on default\n");
    assert_eq!(evidence.map(|name| package.bytes(name)), before);
    package.verify(&["--strict"]).holds();
    // What describes the surroundings of a run is no evidence.
    let package = Package::of_text("claims.json", r#"{"environment": {"a": ["by carolina"]}, "name": "carolina"}"#);
    seal(&package, &["--redact"]).exits(0);
    assert_eq!(package.text("claims.json"), r#"{"environment": {"a": ["by ${USER}"]}, "name": "carolina"}"#);
}

#[test]
fn what_the_environment_does_not_say_the_system_says_or_it_is_said() {
    let package = Package::of_text("notes.txt", "by carolina\n");
    let run = |variables: &[(&str, &str)]| {
        let mut program = program();
        for name in ["USER", "USERNAME", "LOGNAME", "HOME", "USERPROFILE", "HOSTNAME", "COMPUTERNAME"] {
            program.env_remove(name);
        }
        program.envs(variables.iter().copied());
        let args = ["seal", package.path().to_str().unwrap(), "--redact", "--check"];
        Outcome::with(&mut program, &args, None)
    };
    for variables in
        [&[("LOGNAME", "carolina")][..], &[("HOME", "/srv/people/carolina")], &[("USER", ""), ("LOGNAME", "carolina")]]
    {
        let outcome = run(variables);
        outcome.exits(1);
        outcome.require(outcome.stdout.contains("notes.txt:1: user name c..."), "the user is known");
    }
    let outcome = run(&[("HOSTNAME", "x1")]);
    outcome.exits(0);
    for text in [
        "the name of this user is unknown",
        "the home folder of this user is unknown",
        "this machine is too short to be told",
    ] {
        outcome.require(outcome.stderr.contains(text), text);
    }
    #[cfg(target_os = "linux")]
    {
        let outcome = run(&[("USER", "carolina")]);
        outcome.require(!outcome.stderr.contains("the name of this machine is unknown"), "the system knows it");
    }
}

#[test]
fn names_of_files_are_said_and_never_changed() {
    let package = Package::empty();
    package.write("home/alice/x.txt", "x").write("carolina.log", "x").write("plain.txt", "x");
    let outcome = seal(&package, &["--redact"]);
    outcome.exits(0);
    for name in ["home/alice/x.txt: home folder in the name", "carolina.log: user name in the name"] {
        outcome.require(outcome.stderr.contains(name), name);
    }
    outcome.require(!outcome.stderr.contains("plain.txt"), "nothing else is named");
    let verified = package.verify(&[]);
    let found = verified.one("unredacted");
    assert_eq!((found.file.as_str(), found.expected.as_str()), ("home/alice/x.txt", "a name without it"));
    package.verify(&["--strict"]).exits(1);
}

#[test]
fn what_is_no_utf8_text_is_searched_and_left_and_said() {
    let package = Package::empty();
    let latin = b"caf\xe9 in /home/alice/x\n";
    package
        .write("latin.txt", latin)
        .write("other.txt", b"caf\xe9\n")
        .write("lib.so", b"\x7fELF\0\0/home/alice/x.cu\0");
    package.write("tensor.bin", [0; 100]).write("holed.log", b"step 1 of 2\n\0step 2 of 2, done\n");
    let outcome = seal(&package, &["--redact"]);
    outcome.exits(0);
    for text in [
        "latin.txt is no UTF-8 text and stays as it is, with what is private in it: home folder",
        "other.txt is no UTF-8 text and stays as it is; nothing private",
        "holed.log is no UTF-8 text and stays as it is; nothing private",
        "lib.so is no UTF-8 text and stays as it is, with what is private in it: home folder",
    ] {
        outcome.require(outcome.stderr.contains(text), text);
    }
    outcome.require(!outcome.stderr.contains("tensor.bin") && !outcome.stderr.contains("alice"), "nothing else");
    assert_eq!(package.bytes("latin.txt"), latin);
    let verified = package.verify(&[]);
    let files: Vec<String> = verified.all("unredacted").into_iter().map(|found| found.file).collect();
    assert_eq!(files, ["latin.txt", "lib.so"]);
}

#[test]
fn a_rule_that_cannot_be_understood_is_not_repeated() {
    let package = Package::of_text("a.txt", "x");
    let rules = Package::empty();
    let redact = format!("--redact={}", rules.file("rules").display());
    for line in
        ["hunter22", "hunter22 = x", "pass=hunter22", "'hunter22 = ${X}", "re:(hunter22 = ${X}", "re:[hunter22 = ${X}"]
    {
        rules.write("rules", line);
        let outcome = seal(&package, &[&redact]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("line 1: ") && !outcome.stderr.contains("hunter22"), line);
    }
    // The folder after the option is the folder.
    let mut program = program();
    let args = ["seal", "--redact", package.path().to_str().unwrap()];
    Outcome::with(&mut program, &args, Some(package.path())).exits(0);
}
