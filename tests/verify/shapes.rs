//! JSON that is well formed and has the wrong shape: findings or checks not run, never a panic.

use proptest::prelude::*;
use recount::audit::{Report, SubjectReport};
use recount::package::json::{Json, compact};
use recount::render::{Format, Style, render};

use crate::common::json::{add, at, parse, pointers, set, take};
use crate::common::outcome::problems;
use crate::common::package::Package;

const FILES: [&str; 7] = [
    "validation.json",
    "model.json",
    "cases.json",
    "device.json",
    "provenance.json",
    "proof-receipts.json",
    "receipts.json",
];

/// Values that a careless reader trips over.
const AWKWARD: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "-0.0",
    "0.5",
    "1e308",
    "-1e308",
    "5e-324",
    "268435456",
    "268435457",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "\"\"",
    "\"passed\"",
    "\"failed\"",
    "\"\\u0000\\u001b[31m\\u202e\"",
    "\"../../etc/passwd\"",
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "[1,2,3]",
    "[0,0]",
    "[18446744073709551615,18446744073709551615,1]",
    "{\"\":{}}",
    "{\"path\":\"x\",\"sha256\":1,\"bytes\":null}",
    "{\"status\":\"failed\"}",
    "{\"event_us\":{\"samples\":[],\"p50\":0}}",
];

/// The exit status and the JSON text of a report on one package.
fn reported(subject: SubjectReport) -> (u8, serde_json::Value) {
    let report = Report { subjects: vec![subject], errors: Vec::new(), strict: false };
    let mut text = Vec::new();
    render(&report, Format::Json, &Style::default(), &mut text).expect("memory takes everything");
    for format in [Format::Text, Format::Markdown, Format::Junit, Format::Sarif] {
        render(&report, format, &Style::default(), &mut std::io::sink()).expect("a sink takes everything");
    }
    (report.verdict().exit_code(), serde_json::from_slice(&text).expect("the report is JSON"))
}

/// Audits the package with this JSON file in it, and puts the old one back.
fn audited(package: &Package, name: &str, root: &Json) -> (u8, serde_json::Value) {
    let (original, receipts) = (package.bytes(name), package.bytes("receipts.json"));
    package.write(name, compact(root) + "\n");
    if name != "receipts.json" {
        package.seal();
    }
    let outcome = reported(package.audit());
    package.write(name, original).write("receipts.json", receipts);
    outcome
}

#[test]
fn a_document_of_another_shape_is_never_a_pass() {
    let package = Package::valid();
    for name in FILES {
        for text in ["[]", "{}", "null", "3", "\"text\"", "{\"schema\":1}", "{\"schema\":1,\"kind\":\"partition\"}"] {
            let (status, report) = audited(&package, name, &parse(text));
            assert_ne!(status, 0, "{name} as {text}: {report:#}");
        }
    }
}

#[test]
fn a_member_of_another_shape_is_a_finding() {
    let package = Package::valid();
    for (pointer, value) in [
        ("/cases", "\"none\""),
        ("/cases", "{}"),
        ("/cases", "[]"),
        ("/cases", "[1,2]"),
        ("/cases/0", "null"),
        ("/cases/0/case", "3"),
        ("/cases/0/case/id", "3"),
        ("/cases/0/case/operation", "\"reduce_mean\""),
        ("/cases/0/case/precision", "\"fp8\""),
        ("/cases/0/case/seed", "-1"),
        ("/cases/0/case/seed", "1.5"),
        ("/cases/0/case/dimensions", "[]"),
        ("/cases/0/case/dimensions", "[10]"),
        ("/cases/0/case/dimensions", "[10,300,1]"),
        ("/cases/0/case/dimensions", "[0,300]"),
        ("/cases/0/case/dimensions", "[-10,300]"),
        ("/cases/0/case/dimensions", "[10.0,300]"),
        ("/cases/0/case/dimensions", "[18446744073709551615,18446744073709551615]"),
        ("/cases/0/case/dimensions", "[268435456,268435456]"),
        ("/cases/0/case/dimensions", "[268435457,1]"),
        ("/cases/0/case/tile", "[0,0,0]"),
        ("/cases/0/case/tile", "[4,512]"),
        ("/cases/0/case/tile", "[268435456,268435456,268435456]"),
        ("/cases/0/cohorts", "[]"),
        ("/cases/0/cohorts/default", "[]"),
        ("/cases/0/cohorts/default/routes", "null"),
        ("/cases/0/cohorts/default/routes/native", "7"),
        ("/cases/0/cohorts/default/routes/native/event_us/samples", "{\"0\":1.5}"),
        ("/cases/0/cohorts/default/routes/native/sampling/operations_per_sample", "0"),
        ("/cases/0/cohorts/default/routes/native/sampling/replays_per_sample", "18446744073709551615"),
        ("/cases/0/cohorts/default/routes/native/sampling/calibration", "[[]]"),
        ("/cases/0/cohorts/default/manifest/graph_batch", "18446744073709551615"),
        ("/cases/0/cohorts/default/selection/program_partition", "[]"),
        ("/cases/0/cohorts/rows1/selection/program_partition", "{}"),
        ("/cases/0/comparisons", "[]"),
        ("/cases/2/independent_torch_retest", "\"done\""),
        ("/cohorts", "3"),
        ("/cohorts", "[]"),
        ("/cohorts/0/name", "null"),
        ("/cohorts/1/requested_program_rows", "18446744073709551615"),
        ("/cohorts/1/requested_program_rows", "-1"),
        ("/native_revalidation/original_failure/case", "[]"),
        ("/native_revalidation/cases", "-4"),
    ] {
        let mut root = package.json("validation.json");
        set(&mut root, pointer, parse(value));
        let (status, report) = audited(&package, "validation.json", &root);
        assert_eq!(status, 1, "{pointer} as {value}: {report:#}");
    }
}

#[test]
fn awkward_processor_counts_are_findings() {
    let package = Package::valid();
    for value in ["0", "-1", "1.5", "null", "\"6\"", "18446744073709551615"] {
        let mut root = package.json("device.json");
        set(&mut root, "/sm_count", parse(value));
        let (status, report) = audited(&package, "device.json", &root);
        assert_eq!(status, 1, "sm_count {value}: {report:#}");
    }
}

#[test]
fn damage_to_every_case_does_not_flood_the_reader_of_text() {
    let package = Package::valid();
    package.edit_json("validation.json", |root| {
        for pointer in pointers(root).into_iter().filter(|pointer| pointer.ends_with("/sampling")) {
            set(root, &pointer, Json::Null);
        }
    });
    let outcome = package.seal().run("verify", &[]);
    outcome.exits(1);
    assert!(outcome.stdout.lines().count() < 150, "{} lines", outcome.stdout.lines().count());
}

#[test]
fn many_members_take_no_quadratic_time() {
    let package = Package::valid();
    package.edit_json("validation.json", |root| {
        for cohort in ["default", "rows1", "rows2", "recheck"] {
            for member in ["manifest", "fixture_sha256", "source_files"] {
                let Json::Object(members) = at(root, &format!("/cases/0/cohorts/{cohort}/{member}")) else {
                    panic!("an object")
                };
                members.extend((0..50_000).map(|number| (format!("{number:06}"), Json::Int(number))));
            }
        }
    });
    // Searching each of them among all the others would take minutes; the time limit of every run is the judge.
    package.seal().run("verify", &["-q"]).exits(1);
}

#[test]
fn medians_at_the_ends_of_binary64_are_findings_and_no_panic() {
    for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324, -1.0, 0.0] {
        let package = Package::valid();
        package.edit_json("validation.json", |root| {
            for pointer in pointers(root).into_iter().filter(|pointer| pointer.ends_with("/event_us/p50")) {
                set(root, &pointer, value);
            }
        });
        let (status, _) = reported(package.seal().audit());
        assert_eq!(status, 1, "{value:e}");
    }
}

/// One change to a tree at a pointer.
#[derive(Debug, Clone, Copy)]
enum Change {
    Replace(usize),
    Remove,
    Add(usize),
}

fn apply(root: &mut Json, pointer: &str, change: Change) {
    match change {
        Change::Replace(value) => set(root, pointer, parse(AWKWARD[value])),
        Change::Remove if pointer.is_empty() => set(root, pointer, Json::Null),
        Change::Remove if !pointer.contains('~') => drop(take(root, pointer)),
        Change::Remove => {}
        Change::Add(value) => match at(root, pointer) {
            Json::Object(_) => add(root, pointer, "recount-test", parse(AWKWARD[value])),
            Json::Array(items) => items.push(parse(AWKWARD[value])),
            other => *other = parse(AWKWARD[value]),
        },
    }
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (0..AWKWARD.len()).prop_map(Change::Replace),
        1 => Just(Change::Remove),
        1 => (0..AWKWARD.len()).prop_map(Change::Add),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_in_any_place_gives_a_verdict_and_a_report(
        file in 0..FILES.len(),
        depth in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        change in change(),
    ) {
        thread_local!(static PACKAGE: Package = Package::valid());
        PACKAGE.with(|package| {
            let mut root = package.json(FILES[file]);
            // A place near the root is as likely as one far from it.
            let mut places = pointers(&root);
            let depths = places.iter().map(|pointer| pointer.matches('/').count()).max().unwrap_or(0) + 1;
            let depth = depth.index(depths);
            places.retain(|pointer| pointer.matches('/').count() == depth);
            let pointer = places[place.index(places.len())].clone();
            apply(&mut root, &pointer, change);
            let (status, report) = audited(package, FILES[file], &root);
            prop_assert!(status <= 2);
            let problems = problems(&report);
            prop_assert!(problems.is_empty(), "{} at {pointer}: {}", FILES[file], problems.join("; "));
            Ok(())
        })?;
    }
}
