//! What a package can choose to be large costs no more than it is worth: time, memory, findings.

use std::time::{Duration, Instant};

use crate::common::outcome::Outcome;
use crate::common::package::Package;

/// Far more than needed, far less than quadratic work takes.
const PATIENCE: Duration = Duration::from_secs(15);

/// Findings of one code that a family lists.
const LISTED: usize = 1000;

fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    assert!(start.elapsed() < PATIENCE, "{what} took {:?}", start.elapsed());
    result
}

/// Verifies in a process that may not have more than so many KiB.
#[cfg(target_os = "linux")]
fn verify_within(package: &Package, kib: u64) -> Outcome {
    let script = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
    let path = package.path().to_str().expect("UTF-8");
    let mut command = assert_cmd::Command::new("sh");
    command.env("RAYON_NUM_THREADS", "2").args(["-c", &script, env!("CARGO_BIN_EXE_recount")]);
    Outcome::with(&mut command, &["verify", path, "--format", "json"], Some(package.path()))
}

#[test]
#[cfg(target_os = "linux")]
fn a_long_name_over_many_values_is_not_written_down_for_each() {
    let package = Package::empty();
    let (name, zeros) = ("x".repeat(1 << 20), vec!["0"; 3000].join(","));
    package.write("receipts.json", format!(r#"{{"schema":1,"files":{{"a":null,"{name}":[{zeros}]}}}}"#));
    let outcome = timed("the long name", || verify_within(&package, 1 << 20));
    outcome.exits(1).only(&["malformed-receipt", "unsafe-path"]);
    outcome.require(outcome.stdout.len() < 100_000, "the name is not repeated");
    assert_eq!(outcome.one("malformed-receipt").pointer, "/files/a");
    // The pointer of what is too long to be shown is that of the value around it.
    assert_eq!(outcome.one("unsafe-path").pointer, "/files");
}

#[test]
#[cfg(target_os = "linux")]
fn findings_below_a_long_name_do_not_repeat_it() {
    let package = Package::empty();
    let entries: Vec<String> = (0..3000).map(|at| format!(r#""{}{at}":null"#, "x".repeat(1000))).collect();
    package.write("receipts.json", format!(r#"{{"schema":1,"files":{{{}}}}}"#, entries.join(",")));
    let outcome = timed("the long names", || verify_within(&package, 1 << 20));
    outcome.exits(1).only(&["unsafe-path"]);
}

#[test]
fn sixty_thousand_findings_are_counted_and_a_thousand_listed() {
    let package = Package::empty();
    let entries: Vec<String> = (0..60_000).map(|at| format!("\"f{at}\": null")).collect();
    package.write("receipts.json", format!("{{\"schema\": 1, \"files\": {{\n{}\n}}}}", entries.join(",\n")));
    let outcome = timed("60,000 entries", || package.verify(&[]));
    let found = outcome.exits(1).all("malformed-receipt");
    assert_eq!(found.len(), LISTED + 1);
    let rest: Vec<_> = found.iter().filter(|finding| finding.found.starts_with("59000 more")).collect();
    outcome.require(rest.len() == 1, "one finding stands for the rest");
    let integrity = &outcome.report()["subjects"][0]["checks"][0];
    outcome.require(integrity["tally"]["wrong"] == 60_000, "the tally has them all");
    // Places are those of the values, in the order of the file.
    let lines: Vec<u64> = found.iter().filter(|finding| finding.line > 0).map(|finding| finding.line).collect();
    assert_eq!(lines, (2..2 + LISTED as u64).collect::<Vec<_>>());
    for format in ["text", "markdown", "junit", "sarif"] {
        let outcome = timed(format, || package.run("verify", &["--format", format]));
        outcome.exits(1);
        outcome.require(outcome.stdout.contains("59000 more"), "every format says how many are not listed");
    }
}

#[test]
fn sixty_thousand_entries_on_one_line_are_located() {
    let package = Package::empty();
    let entries: Vec<String> = (0..60_000).map(|at| format!("\"f{at}\":[]")).collect();
    package.write("receipts.json", format!("{{\"schema\":1,\"files\":{{{}}}}}", entries.join(",")));
    let outcome = timed("one line", || package.verify(&[]));
    let first = outcome.at("malformed-receipt", "receipts.json", "/files/f0");
    assert_eq!((first.line, first.column), (1, 27));
}

#[test]
fn warnings_beyond_what_is_listed_still_fail_under_strict() {
    let package = Package::of_text("notes.txt", "notes");
    for at in 0..LISTED + 20 {
        package.write(&format!("extra/{at}.txt"), "");
    }
    package.verify(&[]).exits(0);
    let outcome = package.verify(&["--strict"]);
    outcome.exits(1);
    outcome
        .require(outcome.all("undeclared-file").iter().any(|finding| finding.found.starts_with("20 more")), "20 more");
}

#[test]
fn a_file_larger_than_what_is_parsed_is_refused_unread() {
    let package = Package::valid();
    let limit = recount::package::limits::MAX_PARSED_BYTES;
    assert!(limit <= 256 << 20, "a tree takes many times its text");
    std::fs::File::create(package.file("provenance.json")).unwrap().set_len(limit + 1).unwrap();
    let outcome = timed("a large file", || package.verify(&[]));
    assert_eq!(outcome.exits(1).one("unreadable-file").file, "provenance.json");
}

#[test]
fn a_file_larger_than_what_is_read_in_a_stream_is_refused_unread() {
    let limit = recount::package::limits::MAX_STREAMED_BYTES;
    for name in ["validation.json", "samples.csv"] {
        let package = Package::valid();
        std::fs::File::create(package.file(name)).unwrap().set_len(limit + 1).unwrap();
        let outcome = timed("a file that is too large for a stream", || package.verify(&[]));
        assert_eq!(outcome.exits(1).one("unreadable-file").file, name);
    }
}

#[test]
fn pointers_of_every_kind_of_value_are_found_and_located() {
    use recount::package::json::{Document, Json};

    let text = "{\"a/b\": [1, {\"~\": \"x\"}, []],\n \"\\u00e9\": {\"\": null}}";
    let document = Document::parse("x.json", text.to_owned()).unwrap();
    fn walk<'j>(value: &'j Json, all: &mut Vec<&'j Json>) {
        all.push(value);
        match value {
            Json::Array(items) => items.iter().for_each(|item| walk(item, all)),
            Json::Object(members) => members.iter().for_each(|(_, member)| walk(member, all)),
            _ => {}
        }
    }
    let mut values = Vec::new();
    walk(document.root(), &mut values);
    let pointers: Vec<String> = values.iter().map(|value| document.pointer_of(value).unwrap()).collect();
    let expected = ["", "/a~1b", "/a~1b/0", "/a~1b/1", "/a~1b/1/~0", "/a~1b/2", "/\u{e9}", "/\u{e9}/"];
    assert_eq!(pointers, expected);
    let positions: Vec<_> = pointers.iter().map(|pointer| document.position(pointer).unwrap()).collect();
    assert_eq!(positions, [(1, 1), (1, 9), (1, 10), (1, 13), (1, 19), (1, 25), (2, 12), (2, 17)]);
    let starts: Vec<_> = document.offsets().iter().map(|&at| recount::package::json::line_column(text, at)).collect();
    assert_eq!(starts, positions);
    // A member that is missing is located at what lacks it; a value of another document is not found.
    assert_eq!(document.position("/a~1b/1/none"), Some((1, 13)));
    assert_eq!(document.position("/none/none"), None);
    assert_eq!(document.pointer_of(&Json::Null), None);
    let moved = Box::new(document);
    assert_eq!(moved.pointer_of(moved.root()).as_deref(), Some(""));
}
