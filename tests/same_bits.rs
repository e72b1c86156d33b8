//! A refit prints the same bytes whatever the number of threads, the order of the cases, and the processor it is built for.
//!
//! `cargo test --locked --test same_bits -- --ignored` also builds the program for this machine's processor, which takes
//! minutes.

#![allow(clippy::expect_used, clippy::panic, reason = "helpers of a test fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use recount::package::json::{Document, Json, compact};
use tempfile::TempDir;

/// Own packages, with and without a held-out set's unequal geometries.
const PACKAGES: [&str; 2] = ["partition-h200-2026-11-30", "partition-h200-heldout-2026-11-30"];

const FORMS: [&[&str]; 4] =
    [&[], &["--exact"], &["--format", "json", "--exact"], &["--format", "markdown", "--exact", "--diff"]];

fn artifact(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(name)
}

/// Status, standard output and standard error of a refit of the folder `package` within `folder`.
fn refit(program: &Path, folder: &Path, package: &str, threads: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(program);
    command.args(["refit", package]).args(more).current_dir(folder).env("RAYON_NUM_THREADS", threads);
    let output = command.output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn recount() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_recount"))
}

/// Asserts that two texts are the same, and shows the first line in which they are not.
#[track_caller]
fn assert_same(left: &str, right: &str, what: &str) {
    if let Some((left, right)) = left.lines().zip(right.lines()).find(|(left, right)| left != right) {
        panic!("{what}:\n{left}\n{right}");
    }
    assert!(left == right, "{what}");
}

/// A copy of a package without its model, whose cases stand in another order; seed 0 leaves them as they are.
fn shuffled(name: &str, seed: u64) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let package = folder.path().join(name);
    fs::create_dir(&package).expect("a folder");
    for file in ["cases.json", "device.json", "validation.json"] {
        let text = fs::read_to_string(artifact(name).join(file)).expect(file);
        let document = Document::parse(file, text).expect(file);
        let mut root = document.root().clone();
        let cases = match &mut root {
            Json::Object(members) => members.iter_mut().find(|(member, _)| member == "cases").map(|(_, cases)| cases),
            array => Some(array),
        };
        if let (Some(Json::Array(cases)), true) = (cases, seed > 0) {
            fastrand::Rng::with_seed(seed).shuffle(cases);
        }
        fs::write(package.join(file), compact(&root) + "\n").expect(file);
    }
    let sealed = Command::new(recount()).arg("seal").arg(&package).output().expect("the program runs");
    assert!(sealed.status.success(), "{}", String::from_utf8_lossy(&sealed.stderr));
    folder
}

/// What the published schema lists in the order of the package's cases, sorted; all else as it is.
fn without_order(value: &mut Json) {
    match value {
        Json::Object(members) => {
            for (name, value) in members {
                match value {
                    Json::Array(items) if ["training_record_ids", "sample_weights"].contains(&name.as_str()) => {
                        items.sort_by_key(compact);
                    }
                    value => without_order(value),
                }
            }
        }
        Json::Array(items) => {
            let id = |item: &Json| Some(item.get("record_id").or_else(|| item.get("case_id"))?.as_str()?.to_owned());
            if items.iter().all(|item| id(item).is_some()) {
                items.sort_by_key(id);
            }
            items.iter_mut().for_each(without_order);
        }
        _ => {}
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    for name in PACKAGES {
        for more in FORMS {
            let of = |threads| refit(recount(), &artifact(""), name, threads, more);
            let (one, two, five) = (of("1"), of("2"), of("5"));
            assert_eq!((one.0, one.2.as_str()), (Some(0), ""), "{name}");
            assert!(one.1.len() > 1000, "{name}: {}", one.1);
            assert_same(&one.1, &two.1, &format!("{name} {more:?} with two threads"));
            assert_same(&one.1, &five.1, &format!("{name} {more:?} with five threads"));
        }
    }
}

#[test]
fn the_order_of_the_cases_changes_no_byte_of_a_text_and_no_number() {
    for name in PACKAGES {
        let plain = shuffled(name, 0);
        for seed in [1, 2] {
            let other = shuffled(name, seed);
            let validation = |folder: &TempDir| fs::read(folder.path().join(name).join("validation.json")).expect(name);
            assert_ne!(validation(&plain), validation(&other), "the cases stand in another order");
            for more in [&[][..], &["--exact"], &["--format", "markdown", "--exact"]] {
                let (left, right) =
                    (refit(recount(), plain.path(), name, "2", more), refit(recount(), other.path(), name, "1", more));
                assert_eq!((left.0, right.0), (Some(0), Some(0)), "{}{}", left.2, right.2);
                assert_same(&left.1, &right.1, &format!("{name} {more:?} in another order"));
            }
            let json = |folder: &TempDir| {
                let text = refit(recount(), folder.path(), name, "2", &["--format", "json", "--exact"]).1;
                let mut root = Document::parse("the refit", text).expect("JSON").root().clone();
                without_order(&mut root);
                compact(&root)
            };
            let (left, right) = (json(&plain), json(&other));
            assert!(left.contains("sample_weights"), "a model");
            assert!(left == right, "{name}: numbers of the JSON form differ");
        }
    }
}

#[test]
#[ignore = "builds the program again, for this machine's processor"]
fn the_processor_built_for_changes_no_byte() {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join("native");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--locked", "--no-default-features", "--bin", "recount", "--target-dir"]).arg(&target);
    build.env("RUSTFLAGS", "-C target-cpu=native").current_dir(env!("CARGO_MANIFEST_DIR"));
    assert!(build.status().expect("cargo runs").success(), "the build");
    let native = target.join("debug").join(format!("recount{}", std::env::consts::EXE_SUFFIX));
    for name in PACKAGES {
        for more in FORMS {
            let of = |program: &Path| refit(program, &artifact(""), name, "2", more);
            let (plain, native) = (of(recount()), of(&native));
            assert_eq!((plain.0, native.0), (Some(0), Some(0)), "{}{}", plain.2, native.2);
            assert_same(&plain.1, &native.1, &format!("{name} {more:?} built for this processor"));
        }
    }
}
