//! `reproduce.sh`, with the program that was built here in place of a build.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::outcome::Outcome;
use crate::common::package::Package;

/// A checkout with the script, a `cargo` that builds nothing, and the built program.
fn checkout() -> Package {
    let checkout = Package::empty();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    checkout.write("reproduce.sh", fs::read(source.join("reproduce.sh")).unwrap());
    checkout.write("bin/cargo", "#!/bin/sh\nexit 0\n").write("target/release/x", "");
    fs::set_permissions(checkout.file("bin/cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink(env!("CARGO_BIN_EXE_recount"), checkout.file("target/release/recount")).unwrap();
    checkout.write("receipts/artifacts.sha256", "");
    fs::create_dir(checkout.file("artifacts")).unwrap();
    checkout
}

fn add_artifact(checkout: &Package, name: &str, package: &Package) {
    let mut files: Vec<String> = package
        .json("receipts.json")
        .get("files")
        .unwrap()
        .as_object()
        .unwrap()
        .iter()
        .map(|file| file.0.clone())
        .collect();
    files.push("receipts.json".to_owned());
    for file in files {
        checkout.write(&format!("artifacts/{name}/{file}"), package.bytes(&file));
    }
    checkout.edit_text("receipts/artifacts.sha256", |text| {
        format!("{text}{}  artifacts/{name}/receipts.json\n", package.anchor())
    });
}

fn reproduce(checkout: &Package, args: &[&str]) -> Outcome {
    let path = format!("{}:{}", checkout.file("bin").display(), std::env::var("PATH").unwrap());
    let mut command = assert_cmd::Command::new("bash");
    command.env("PATH", path).arg(checkout.file("reproduce.sh"));
    Outcome::with(&mut command, args, None)
}

#[test]
fn nothing_to_verify_is_a_failure() {
    let outcome = reproduce(&checkout(), &[]);
    outcome.exits(1);
    outcome.require(outcome.stdout.contains("FAILS   anything was verified"), "the summary says so");
}

#[test]
fn what_was_verified_and_refitted_is_counted() {
    let checkout = checkout();
    add_artifact(&checkout, "one", &Package::valid());
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts/partition-rtx4060-published");
    let claims = Package::empty();
    for file in ["README.md", "claims.json", "medians.csv", "receipts.json"] {
        claims.write(file, fs::read(published.join(file)).unwrap());
    }
    add_artifact(&checkout, "two", &claims);
    let outcome = reproduce(&checkout, &[]);
    outcome.exits(0);
    let counts = "packages 2 (of these, claims refitted from printed medians: 1), single receipts 0, models refitted 1";
    outcome.require(outcome.stdout.contains(counts), counts);
    let line = "holds   verify artifacts/two (claims are refitted from the printed medians)";
    outcome.require(outcome.stdout.contains(line), line);
}

#[test]
fn a_forged_or_unlisted_package_is_a_failure() {
    let forged = checkout();
    add_artifact(&forged, "one", &Package::valid());
    forged.edit_text("artifacts/one/README.md", |text| text + " ");
    let outcome = reproduce(&forged, &[]);
    outcome.exits(1);
    outcome.require(outcome.stdout.contains("FAILS   verify artifacts/one"), "it is named");
    let unlisted = checkout();
    add_artifact(&unlisted, "one", &Package::valid());
    unlisted.write("artifacts/two/notes.txt", "notes");
    let outcome = reproduce(&unlisted, &[]);
    outcome.exits(1);
    outcome.require(outcome.stdout.contains("FAILS   artifacts/two/receipts.json is listed"), "it is named");
}
