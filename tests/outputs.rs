//! Results never take the place of what they are about, and neither does a key.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[macro_use]
#[allow(dead_code, unused_macros)]
mod common;

use common::package::Package;

#[test]
fn no_result_replaces_evidence() {
    let package = Package::valid();
    for name in ["receipts.json", "samples.csv", "code/calibrate.py"] {
        let place = package.file(name);
        let before = package.bytes(name);
        let path = place.to_str().expect("UTF-8");
        for (command, args) in [
            ("verify", vec!["-o", path]),
            ("verify", vec!["--attest", path]),
            ("report", vec!["--html", path]),
            ("report", vec!["--markdown", path]),
            ("refit", vec!["-o", path]),
            ("selftest", vec!["--mutations", "1", "-o", path]),
        ] {
            let outcome = package.run(command, &args);
            outcome.exits(2);
            outcome.require(outcome.stderr.contains(path), "the place is named");
            assert_eq!(package.bytes(name), before, "{command} {args:?}");
        }
    }
    // A file of its own may lie there, and again.
    for _ in 0..2 {
        package.run("verify", &["-o", package.file("report.txt").to_str().expect("UTF-8")]).exits(0);
    }
    package.remove("report.txt");
}

/// A folder with everything that a command may be told to read besides packages: `d.json` and `e.json`, divergence receipts;
/// `al`, an allowed-signers file; `model.json`; and `pkg`, a package that is a folder here.
fn inputs() -> (Package, Package) {
    let (folder, package) = (Package::empty(), Package::valid());
    let root = env!("CARGO_MANIFEST_DIR");
    let read = |name: &str| std::fs::read(format!("{root}/{name}")).expect("a file");
    let receipt = read("receipts/grid-sample-divergence.json");
    folder.write("d.json", &receipt).write("e.json", &receipt).write("below/deep/d.json", &receipt);
    folder.write("al", read("receipts/allowed_signers")).write("model.json", package.bytes("model.json"));
    (folder, package)
}

/// The names and contents of a folder's files.
fn contents(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.symlink_metadata().expect("metadata") {
            metadata if metadata.is_dir() => all.extend(contents(&path)),
            metadata if metadata.is_symlink() => {
                let target = std::fs::read_link(&path).expect("a link");
                all.push((path, target.into_os_string().into_encoded_bytes()));
            }
            _ => all.push((path.clone(), std::fs::read(&path).expect("a file"))),
        }
    }
    all.sort();
    all
}

#[test]
fn no_result_replaces_an_input() {
    let (folder, package) = inputs();
    let pkg = package.path().to_str().expect("UTF-8");
    let name = folder.path().file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
    let signed = |option: &'static str| vec!["--allowed-signers", "al", option];
    // Each command with an option for a result, and the input that the result is to be written over.
    let cases: Vec<(Vec<&str>, &str)> = vec![
        (vec!["verify", "d.json", "-o"], "d.json"),
        (vec!["verify", "e.json", "d.json", "--format", "json", "-o"], "d.json"),
        (vec!["verify", "d.json", "--attest"], "d.json"),
        (vec!["verify", "below", "-o"], "below/deep/d.json"),
        (vec!["verify", "below", "--attest"], "below/deep/d.json"),
        ([vec!["verify", pkg], signed("-o")].concat(), "al"),
        ([vec!["verify", pkg], signed("--attest")].concat(), "al"),
        (vec!["report", "d.json", "--html"], "d.json"),
        (vec!["report", "d.json", "--markdown"], "d.json"),
        (vec!["report", "e.json", "--html", "page.html", "--markdown"], "e.json"),
        (vec!["report", "below", "--html"], "below/deep/d.json"),
        ([vec!["report", pkg], signed("--html")].concat(), "al"),
        ([vec!["report", pkg], signed("--markdown")].concat(), "al"),
        (vec!["predict", "model.json", pkg, "-o"], "model.json"),
        (vec!["predict", "model.json", pkg, "--format", "json", "-o"], "model.json"),
        (vec!["divergence", "compare", "d.json", "e.json", "-o"], "d.json"),
        (vec!["divergence", "compare", "d.json", "e.json", "-o"], "e.json"),
        (vec!["divergence", "compare", "below", "e.json", "-o"], "below/deep/d.json"),
        (vec!["divergence", "summarize", "below", "--out"], "below/deep/d.json"),
    ];
    for (args, input) in &cases {
        let absolute = folder.file(input);
        let mut spellings = vec![
            (*input).to_owned(),
            format!("./{input}"),
            format!("../{name}/{input}"),
            absolute.to_str().expect("UTF-8").to_owned(),
        ];
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            let _ = std::fs::remove_file(folder.file("folder"));
            let _ = std::fs::remove_file(folder.file("link"));
            symlink(folder.path(), folder.file("folder")).expect("a link");
            symlink(&absolute, folder.file("link")).expect("a link");
            spellings.push(format!("folder/{input}"));
            // A link to a receipt below a folder is not followed when the folder is searched: it is replaced, not the receipt.
            if !input.contains('/') {
                spellings.push("link".to_owned());
            }
        }
        let before = contents(folder.path());
        for spelling in spellings {
            let args: Vec<&str> = args.iter().copied().chain([spelling.as_str()]).collect();
            let mut program = common::outcome::program();
            program.current_dir(folder.path());
            let outcome = common::outcome::Outcome::with(&mut program, &args, Some(folder.path()));
            outcome.exits(2);
            let is_said = outcome.stderr.contains("which this command reads; name another place");
            outcome.require(is_said && outcome.stderr.contains(&spelling), "it is said why");
            outcome.require(outcome.stdout.is_empty(), "nothing is printed");
            assert!(contents(folder.path()) == before, "{args:?} changed something");
        }
    }
}

#[cfg(unix)]
#[test]
fn no_result_replaces_an_input_that_was_named_through_a_link() {
    use std::os::unix::fs::symlink;
    let (folder, _package) = inputs();
    symlink(folder.file("d.json"), folder.file("first")).expect("a link");
    symlink(folder.file("first"), folder.file("second")).expect("a link");
    std::fs::hard_link(folder.file("d.json"), folder.file("hard")).expect("a link");
    let before = contents(folder.path());
    for input in ["d.json", "first", "second", "hard"] {
        for place in ["d.json", "first", "second", "hard"] {
            let mut program = common::outcome::program();
            program.current_dir(folder.path());
            let args = ["verify", input, "-o", place];
            common::outcome::Outcome::with(&mut program, &args, Some(folder.path())).exits(2);
            assert!(contents(folder.path()) == before, "{args:?} changed something");
        }
    }
}

#[test]
fn charts_replace_no_input_and_not_each_other() {
    let (folder, _package) = inputs();
    let receipt = folder.bytes("d.json");
    // What is read has the name that a chart would get.
    folder.write("charts/d-divergence.svg", &receipt);
    let run = |args: &[&str]| {
        let mut program = common::outcome::program();
        program.current_dir(folder.path());
        common::outcome::Outcome::with(&mut program, &[&["report"], args].concat(), Some(folder.path()))
    };
    let before = contents(folder.path());
    for args in [
        &["d.json", "charts/d-divergence.svg", "--charts", "charts"][..],
        &["d.json", "charts/d-divergence.svg", "--charts", "./charts", "--html", "page.html"],
        &["d.json", "--charts", "new", "--html", "new/d-drift-coordinates.svg"],
    ] {
        std::fs::create_dir_all(folder.file("new")).expect("a folder");
        let outcome = run(args);
        outcome.exits(2);
        assert!(contents(folder.path()) == before, "{args:?} changed something: {}", outcome.stderr);
    }
}

#[test]
fn a_model_replaces_no_other_file_of_a_package() {
    let package = Package::valid();
    for name in ["samples.csv", "receipts.json", "code/calibrate.py"] {
        let before = package.bytes(name);
        let place = package.file(name);
        let outcome = package.run("refit", &["--model-out", place.to_str().expect("UTF-8")]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("it is a file of the package"), "it is said why");
        assert_eq!(package.bytes(name), before);
    }
    package.run("refit", &["--model-out", package.file("model.json").to_str().expect("UTF-8")]).exits(0);
}

#[test]
fn receipts_that_cannot_be_read_declare_everything() {
    let package = Package::valid();
    package.write("receipts.json", "{ this is none");
    let before = package.bytes("samples.csv");
    for args in [["verify", "-o"], ["verify", "--attest"], ["report", "--html"]] {
        let place = package.file("samples.csv");
        let outcome = package.run(args[0], &[args[1], place.to_str().expect("UTF-8")]);
        outcome.exits(2);
        assert_eq!(package.bytes("samples.csv"), before, "{args:?}");
    }
}

#[test]
fn a_key_in_the_package_does_not_sign_it() {
    let package = Package::valid();
    let key = package.file("id_ed25519");
    let made =
        std::process::Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status();
    assert!(made.expect("ssh-keygen").success());
    let before = package.bytes("receipts.json");
    let outcome = package.run("seal", &["--sign", key.to_str().expect("UTF-8")]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("lies in the package"), "it is said why");
    assert_eq!(package.bytes("receipts.json"), before);
    assert!(!package.file("receipts.json.sig").exists());
}

#[test]
fn what_is_no_folder_and_lists_that_cannot_be_read_are_said_once() {
    let package = Package::valid();
    let file = package.file("README.md");
    let outcome = common::outcome::Outcome::of(&["seal", file.to_str().expect("UTF-8")], None);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("is a file; name the folder"), "it is said what it is");
    package.write(".recountignore", "[bad\n");
    let outcome = package.run("seal", &[]);
    outcome.exits(2);
    assert_eq!(outcome.stderr.matches("line 1").count(), 1, "{}", outcome.stderr);
}

#[test]
fn what_an_author_wrote_of_a_redaction_stays() {
    let package = Package::empty();
    package.write("notes.txt", "run in /home/alice/runs\n");
    package.write("provenance.json", "{\"k\": 1, \"redaction\": {\"comment\": \"by hand, ticket 7\"}}\n");
    package.run("seal", &["--redact"]).exits(0);
    let text = package.text("provenance.json");
    assert!(
        text.contains("\"comment\"") && text.contains("by hand, ticket 7") && text.contains("redacted_sha256"),
        "{text}"
    );
    for other in ["\"done\"", "[1]", "{\"files\": []}", "{\"rules\": {}}"] {
        let package = Package::empty();
        package.write("notes.txt", "run in /home/alice/runs\n");
        let before = format!("{{\"redaction\": {other}}}\n");
        package.write("provenance.json", &before);
        let outcome = package.run("seal", &["--redact"]);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("redaction"), "the member is named");
        assert_eq!(
            (package.text("provenance.json"), package.text("notes.txt")),
            (before, "run in /home/alice/runs\n".to_owned())
        );
    }
}
