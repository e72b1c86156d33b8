//! Where the inputs of the published divergence package come from, forged in all engines alike: what is found, and what is said
//! not to have been checked.

use recount::audit::SubjectReport;
use serde_json::{Value, json};

use super::beside::{audited, has};
use super::support::{Edit, recount};
use Edit::{Add, Remove, Set};

/// In the words about them, what the published inputs come from.
const WORDS: &str = "generated once on the host (recount-divergence-inputs-v1, seed 42)";

/// The published package with the same changes in the results of every engine, so that no engine contradicts another.
fn everywhere(changes: &[Edit]) -> SubjectReport {
    let engines = ["cuda", "deterministic", "torch"].map(|engine| format!("{engine}/experiment_results.json"));
    audited(&engines.each_ref().map(|name| (name.as_str(), changes)))
}

/// The hash of an input, forged in both arms.
fn forged(name: &str) -> [Edit; 2] {
    ["idle_condition", "background_matmul_condition"].map(|arm| {
        let pointer = format!("/{arm}/input_hashes/{name}");
        Set(Box::leak(pointer.into_boxed_str()), json!("0".repeat(64)))
    })
}

fn findings(report: &SubjectReport) -> Vec<String> {
    report.findings().map(|finding| format!("{} {} {:?}", finding.code.name(), finding.file, finding.place)).collect()
}

#[test]
fn inputs_are_those_of_the_seed() {
    let file = "cuda/experiment_results.json";
    let report = everywhere(&[Set("/protocol/seed", json!(43)), Set("/protocol/inputs", json!("from seed 43"))]);
    for name in ["input", "grid-16", "grad-output-512"] {
        let pointer = format!("/idle_condition/input_hashes/{name}");
        assert!(has(&report, "input-hash", file, &pointer), "{:?}", findings(&report));
    }
    let report = everywhere(&forged("grid-64"));
    assert!(has(&report, "input-hash", file, "/idle_condition/input_hashes/grid-64"));
}

#[test]
fn what_is_said_of_the_generator_agrees() {
    let set = |name: &'static str, value: Value| Set(Box::leak(format!("/protocol/{name}").into_boxed_str()), value);
    let v2 = || json!("recount-divergence-inputs-v2");
    let mut cases: Vec<(Vec<Edit>, &str, &str)> = Vec::new();
    for seed in [json!("42"), json!(-42), json!(42.0), json!(true), json!([42]), json!("0x2a")] {
        cases.push((vec![set("seed", seed)], "malformed-field", "/protocol/seed"));
    }
    cases.extend([
        (vec![set("seed", json!(null))], "malformed-field", "/protocol/seed"),
        (vec![Remove("/protocol/seed")], "malformed-field", "/protocol"),
        (vec![set("seed", json!(43))], "divergence-protocol", "/protocol/seed"),
        (vec![set("inputs", json!(WORDS.replace("42", "43")))], "divergence-protocol", "/protocol/seed"),
        (vec![set("inputs", json!(42))], "malformed-field", "/protocol/inputs"),
        (vec![set("generator", v2())], "divergence-protocol", "/protocol/generator"),
        (vec![set("generator", json!(null))], "divergence-protocol", "/protocol/generator"),
        (
            vec![set("generator", json!("other")), set("seed", json!(null))],
            "divergence-protocol",
            "/protocol/generator",
        ),
        (vec![Remove("/protocol/generator")], "divergence-protocol", "/protocol"),
        (vec![Remove("/protocol/generator"), Remove("/protocol/seed")], "divergence-protocol", "/protocol"),
        (vec![set("generator", json!(1))], "malformed-field", "/protocol/generator"),
        (
            vec![set("generator", json!(" other")), set("inputs", json!("mine"))],
            "malformed-field",
            "/protocol/generator",
        ),
        (
            vec![set("generator", v2()), set("inputs", json!(WORDS.replace("v1", "v2").replace("42", "41")))],
            "divergence-protocol",
            "/protocol/seed",
        ),
    ]);
    let mut missed = Vec::new();
    for (changes, code, pointer) in cases {
        let report = everywhere(&[&changes[..], &forged("input")].concat());
        for engine in ["cuda", "deterministic", "torch"] {
            if !has(&report, code, &format!("{engine}/experiment_results.json"), pointer) {
                missed.push(format!("{code} at {pointer} of {engine}: {:?}", findings(&report)));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn inputs_that_are_not_made_again_are_said_not_to_be() {
    let mine = || Set("/protocol/inputs", json!("drawn once, seed 42"));
    for words in [
        "generated once; the background uses seed 7",
        "one set of inputs per seed 1 to 3",
        "generated once by recount-divergence-inputs-v1-compatible code",
        "generated once (recount-divergence-inputs-v1), and seed 7 for the background",
    ] {
        assert_eq!(findings(&everywhere(&[Set("/protocol/inputs", json!(words))])), Vec::<String>::new(), "{words}");
    }
    for (changes, reason) in [
        (vec![mine(), Set("/protocol/generator", json!("other"))], "the generator \"other\" is not known"),
        (vec![mine(), Set("/protocol/generator", json!(null))], "the protocol names no generator"),
        (vec![mine(), Remove("/protocol/generator"), Remove("/protocol/seed")], "the protocol names no generator"),
        (
            vec![
                Set("/protocol/inputs", json!("read from files; the same bytes for every engine and arm")),
                Set("/protocol/generator", json!(null)),
                Set("/protocol/seed", json!(null)),
            ],
            "the protocol names no generator",
        ),
        (
            vec![Remove("/protocol/inputs"), Remove("/protocol/generator"), Remove("/protocol/seed")],
            "the protocol names no generator",
        ),
    ] {
        let report = everywhere(&changes);
        assert_eq!(findings(&report), Vec::<String>::new());
        let notes: String = report.checks.iter().flat_map(|check| &check.notes).cloned().collect();
        assert!(notes.contains(&format!("the inputs were not made again: {reason}")), "{notes}");
        assert!(report.limits.iter().any(|limit| limit.contains(reason)), "{:?}", report.limits);
    }
    let report = audited(&[]);
    assert!(report.limits.iter().all(|limit| !limit.contains("made again")), "{:?}", report.limits);
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/artifacts/divergence-h200-2026-11-30");
    let run = recount(&["verify", published, "--strict"]);
    assert!(run.status == 0 && !run.stdout.contains("made again"), "{}", run.stdout);
}

#[test]
fn other_names_do_not_take_the_place_of_those_that_are_made_again() {
    let hashes = |name: String| {
        let of = |arm: &str| Box::leak(format!("/{arm}/input_hashes").into_boxed_str()) as &'static str;
        let name: &'static str = Box::leak(name.into_boxed_str());
        ["idle_condition", "background_matmul_condition"].map(|arm| Add(of(arm), name, json!("1".repeat(64))))
    };
    // One that is too large, and more than are made again; in a run's order they could all come before the forged one.
    let large = hashes("grid-09999".to_owned());
    let many: Vec<Edit> = (0..4200).flat_map(|number| hashes(format!("given-{number}"))).collect();
    for others in [&large[..], &many] {
        let report = everywhere(&[others, &forged("input")].concat());
        let file = "cuda/experiment_results.json";
        assert!(
            has(&report, "input-hash", file, "/idle_condition/input_hashes/input"),
            "{:?}",
            findings(&report).len()
        );
    }
}

#[test]
fn an_engine_that_measured_nothing_does_not_stand_for_the_others() {
    let nothing = [
        Set("/status", json!("incomplete")),
        Set("/idle_condition", json!(null)),
        Set("/background_matmul_condition", json!(null)),
    ];
    let forged = forged("input");
    let report = audited(&[
        ("cuda/experiment_results.json", &nothing),
        ("deterministic/experiment_results.json", &forged),
        ("torch/experiment_results.json", &forged),
    ]);
    let file = "deterministic/experiment_results.json";
    assert!(has(&report, "input-hash", file, "/idle_condition/input_hashes/input"), "{:?}", findings(&report));
}
