//! Every code of the catalogue can be raised, and its row is complete.

use std::collections::HashSet;

use recount::audit::{CATALOGUE, Family};
use recount::package::json::Json;

use super::keys::{line_from_seed, sign_from_seed};
use crate::common::json::{add, bump, copy, rehash, scale, set, take};
use crate::common::package::Package;

const PROSE: (&str, &str) = ("tests/prose.rs", include_str!("../prose.rs"));
const CLAIMS: (&str, &str) = ("tests/claims.rs", include_str!("../claims.rs"));

/// Codes whose forgeries are in other files, beside the checks of prose and of claims, with the file that asserts them.
const ELSEWHERE: &[(&str, (&str, &str))] = &[
    ("prose-table", PROSE),
    ("prose-claim", PROSE),
    ("prose-statement", PROSE),
    ("prose-untraced", PROSE),
    ("claim-inconsistent", CLAIMS),
    ("claim-malformed", CLAIMS),
];

/// `prose-table` as `Code::ProseTable`.
fn variant(name: &str) -> String {
    let capital = |part: &str| part[..1].to_ascii_uppercase() + &part[1..];
    format!("Code::{}", name.split('-').map(capital).collect::<String>())
}

/// What raises a code, in a valid package.
type Damage = fn(&Package);

/// A change of one JSON file, sealed.
fn json(package: &Package, file: &str, edit: impl FnOnce(&mut Json)) {
    package.edit_json(file, edit).seal();
}

fn validation(package: &Package, edit: impl FnOnce(&mut Json)) {
    json(package, "validation.json", edit);
}

fn model(package: &Package, edit: impl FnOnce(&mut Json)) {
    json(package, "model.json", edit);
}

fn samples(package: &Package, from: &str, to: &str) {
    package.edit_text("samples.csv", |text| text.replacen(from, to, 1)).seal();
}

/// A native route that no failure and no baseline is about.
const NATIVE: &str = "/cases/0/cohorts/rows1/routes/native";

fn native(member: &str) -> String {
    format!("{NATIVE}/{member}")
}

/// A file on overlapping operations that holds nothing, and states a mean of it.
const OVERLAP: &str = r#"{"schema":"recount-overlap-v1","route":"native-overlap","scope":"throughput of overlapping
operations under programmatic dependent launch","cases":[],"geometric_means":{"over_plain":0.5,"over_torch":null}}"#;

const DAMAGES: &[(&str, Damage)] = &[
    ("hash-mismatch", |package| {
        package.edit_text("README.md", |text| text + " ");
    }),
    ("size-mismatch", |package| {
        package.edit_json("receipts.json", |root| bump(root, "/files/README.md/bytes", 1));
    }),
    ("line-endings", |package| {
        package.edit_text("README.md", |text| text.replace('\n', "\r\n"));
    }),
    ("unredacted", |package| {
        package.write("notes.txt", "measured in /home/alice/runs\n").seal();
    }),
    ("absent-file", |package| {
        package.remove("README.md");
    }),
    ("unreadable-package", |package| {
        // A sparse file: larger than what is read, and no bytes on disk.
        let file = std::fs::File::create(package.file("receipts.json")).unwrap();
        file.set_len(recount::package::limits::MAX_PARSED_BYTES + 1).unwrap();
    }),
    ("undeclared-file", |package| {
        package.write("extra.txt", "extra");
    }),
    ("unbound-evidence", |package| {
        package.edit_json("receipts.json", |root| drop(take(root, "/files/model.json")));
    }),
    ("unsafe-path", |package| {
        package.edit_json("receipts.json", |root| add(root, "/files", "../x", Json::Null));
    }),
    ("duplicate-path", |package| {
        package.edit_json("receipts.json", |root| {
            let entry = copy(root, "/files/README.md");
            add(root, "/files", "readme.MD", entry);
        });
    }),
    ("symlink", |package| {
        package.remove("README.md");
        #[cfg(unix)]
        std::os::unix::fs::symlink("cases.json", package.file("README.md")).unwrap();
    }),
    ("special-file", |package| {
        package.remove("README.md");
        std::fs::create_dir(package.file("README.md")).unwrap();
    }),
    ("unreadable-file", |package| {
        // Larger than what is parsed, without a byte on the disk.
        std::fs::File::create(package.file("README.md")).unwrap().set_len((2 << 30) + 1).unwrap();
    }),
    ("incomplete-package", |package| {
        package.remove("device.json").seal();
    }),
    ("empty-package", |package| validation(package, |root| set(root, "/cases", Json::Array(Vec::new())))),
    ("nothing-verified", |package| {
        package.edit_json("receipts.json", |root| set(root, "/files", Json::Object(Vec::new())));
    }),
    ("malformed-receipt", |package| {
        package.edit_json("receipts.json", |root| set(root, "/files/README.md", Json::Null));
    }),
    ("json-syntax", |package| {
        package.edit_text("cases.json", |text| text.replacen('{', "", 1)).seal();
    }),
    ("duplicate-key", |package| {
        package.edit_text("cases.json", |text| text.replacen('{', "{\"schema\":1,", 1)).seal();
    }),
    ("unsupported-schema", |package| json(package, "cases.json", |root| set(root, "/schema", 2_u64))),
    ("malformed-field", |package| {
        validation(package, |root| {
            take(root, &native("sampling"));
        });
    }),
    ("csv-syntax", |package| samples(package, "case,", "name,")),
    ("sample-value", |package| samples(package, ",0,1.", ",0,-1.")),
    ("sample-mismatch", |package| samples(package, ",0,1.", ",0,2.")),
    ("sample-rows", |package| samples(package, ",passed,failed,1,", ",passed,failed,9,")),
    ("median-mismatch", |package| validation(package, |root| scale(root, &native("event_us/p50"), 1.01))),
    ("status-mismatch", |package| samples(package, ",passed,failed,", ",passed,passed,")),
    ("count-mismatch", |package| validation(package, |root| bump(root, "/native_revalidation/cases", 1))),
    ("event-time", |package| validation(package, |root| scale(root, &native("event_us/samples/0"), 1.01))),
    ("span-lattice", |package| validation(package, |root| set(root, &native("sampling/prime_event_ms"), 0.1))),
    ("operation-count", |package| validation(package, |root| bump(root, &native("sampling/operations_per_sample"), 1))),
    ("calibration", |package| validation(package, |root| bump(root, &native("sampling/calibration/0/replays"), 1))),
    ("calibration-end", |package| {
        validation(package, |root| {
            take(root, &native("sampling/calibration/1"));
        });
    }),
    ("warm-up", |package| validation(package, |root| set(root, &native("warmup/actual_ms"), 1.0))),
    ("warm-up-replays", |package| validation(package, |root| set(root, &native("warmup/replays"), 1_000_000_u64))),
    ("host-span", |package| validation(package, |root| set(root, &native("sampling/prime_host_ms"), 0.0))),
    ("clock-tick", |package| validation(package, |root| set(root, &native("sampling/prime_host_ms"), 1.23456789))),
    ("protocol-setting", |package| validation(package, |root| bump(root, &native("sampling/replay_cap"), 1))),
    ("case-mismatch", |package| json(package, "cases.json", |root| bump(root, "/cases/0/seed", 1))),
    ("fixture-mismatch", |package| {
        validation(package, |root| rehash(root, "/cases/0/cohorts/rows1/fixture_sha256/expected.f64"));
    }),
    ("source-prefix", |package| {
        let pointer = "/cases/0/cohorts/rows1/source_files/source.txt/original_source_sha256";
        validation(package, |root| rehash(root, pointer));
    }),
    ("compiler-hints", |package| {
        let pointer = "/cases/3/cohorts/rows1/selection/compiler_worker_hints/0/requested";
        validation(package, |root| set(root, pointer, 4_u64));
    }),
    ("compiler-files", |package| {
        let compiler = "/cases/0/cohorts/default/routes/torch/compiler_evidence";
        validation(package, |root| {
            add(root, compiler, "generated_kernel_count", 7_u64);
            add(root, compiler, "triton_wrappers", Json::Array(Vec::new()));
        });
    }),
    ("device-record", |package| json(package, "device.json", |root| set(root, "/warp_size", 64_u64))),
    ("selection", |package| {
        validation(package, |root| bump(root, "/cases/0/cohorts/rows1/selection/program_partition/0/grid_x", 1));
    }),
    ("realization", |package| validation(package, |root| set(root, &native("realization"), "programs=1"))),
    ("output-check", |package| validation(package, |root| bump(root, &native("recorded_correctness/errors"), 1))),
    ("overlap-figure", |package| {
        package.write("overlap.json", OVERLAP.replace('\n', " ")).seal();
    }),
    ("overlap-mixed", |package| {
        let routes = "/cases/0/cohorts/rows1/routes";
        validation(package, |root| add(root, routes, "native-overlap", copy(root, NATIVE)));
    }),
    ("output-differs", |package| {
        let pointer = "/cases/1/cohorts/rows1/routes/native/saved_output_recheck/receipt/sha256";
        validation(package, |root| rehash(root, pointer));
    }),
    ("comparison", |package| validation(package, |root| scale(root, "/cases/0/comparisons/rows1/delta_percent", 2.0))),
    ("receipt-conflict", |package| {
        json(package, "proof-receipts.json", |root| rehash(root, "/original_snapshot/sha256"))
    }),
    ("copy-mismatch", |package| {
        let pointer = "/cases/0/cohorts/default/torch_compiler_artifacts_rechecked/0/path";
        validation(package, |root| set(root, pointer, "runs/another.py"));
    }),
    ("failure-relabelled", |package| validation(package, |root| set(root, "/cohorts/0/original_status", "passed"))),
    ("baseline-filled", |package| {
        let times = obj! { "samples": vec![0.0], "p50": 0.0 };
        validation(package, |root| add(root, "/cases/2/cohorts/default/routes/torch", "event_us", times));
    }),
    ("retry-substituted", |package| {
        validation(package, |root| {
            let receipt = copy(root, "/cases/2/cohorts/default/case_receipt");
            set(root, "/cases/2/independent_torch_retest/evidence/case_receipt", receipt);
        });
    }),
    ("failure-record", |package| {
        let pointer = "/cases/2/cohorts/default/routes/torch/raw_failure/process/returncode";
        validation(package, |root| set(root, pointer, 0_u64));
    }),
    ("profile-id", |package| model(package, |root| rehash(root, "/profile_id"))),
    ("provenance", |package| json(package, "provenance.json", |root| rehash(root, "/public_profile_id"))),
    ("observation", |package| model(package, |root| scale(root, "/training_observations/0/measured_us", 1.01))),
    ("weight", |package| model(package, |root| scale(root, "/full_training_model/sample_weights/0", 1.01))),
    ("subset", |package| {
        model(package, |root| scale(root, "/full_training_model/active_subsets/1/weighted_sse", 1.01));
    }),
    ("coefficient", |package| model(package, |root| scale(root, "/full_training_model/coefficients/0", 1.01))),
    ("residual", |package| {
        model(package, |root| scale(root, "/full_training_evaluation/residuals/0/predicted_us", 1.01));
    }),
    ("decision", |package| {
        model(package, |root| scale(root, "/full_training_evaluation/decisions/0/observed_policy_ratio", 1.01));
    }),
    ("metric", |package| model(package, |root| bump(root, "/full_training_metrics/cases", 1))),
    ("fold", |package| model(package, |root| set(root, "/outer_leave_geometry_out/folds/0/held_group", "[1,1,1,1]"))),
    ("drift", |package| {
        model(package, |root| scale(root, "/baseline_recheck_and_all_candidates/0/default_recheck_ratio", 1.01));
    }),
    ("model-text", |package| model(package, |root| set(root, "/profile/formula", "q = 1"))),
    ("exact-optimum", |package| model(package, |root| scale(root, "/full_training_model/coefficients/0", 1.01))),
    ("exact-subset", |package| model(package, |root| set(root, "/full_training_model/active_mask", 1_u64))),
];

#[test]
fn every_code_is_raised_by_some_damage() {
    let mut raised: HashSet<&str> = ELSEWHERE.iter().map(|(name, _)| *name).collect();
    for (name, (file, text)) in ELSEWHERE {
        let code = variant(name);
        let asserted = text.split("assert").skip(1).any(|assertion| {
            let end = assertion.find(';').unwrap_or(assertion.len());
            assertion[..end].contains(&code)
        });
        let searched = text.contains(&format!(".find(|finding| finding.code == {code})"));
        assert!(asserted || searched, "{file} asserts nothing about {code}");
    }
    // tests/divergence/forgeries.rs asserts that it raises every code of its own family.
    assert!(include_str!("../divergence/forgeries.rs").contains("CATALOGUE"));
    let divergence = CATALOGUE.iter().filter(|rule| rule.family == Family::Divergence);
    raised.extend(divergence.map(|rule| rule.name));
    for (code, damage) in DAMAGES {
        let package = Package::valid();
        damage(&package);
        let outcome = package.verify(&[]);
        let found = outcome.all(code);
        assert!(!found.is_empty(), "{code} is not raised");
        let rule = CATALOGUE.iter().find(|rule| rule.name == *code).expect("a code of the catalogue");
        outcome
            .require(found.iter().all(|finding| finding.severity == rule.severity.name()), "the level is the rule's");
        outcome.require(found.iter().all(|finding| finding.advice == rule.advice), "the advice is the rule's");
        raised.insert(code);
    }
    let package = Package::valid();
    package.verify(&["--expect-receipts", &"0".repeat(64)]).exits(1).one("receipts-anchor");
    raised.insert("receipts-anchor");
    raised.extend(signature_codes());
    let silent: Vec<&str> = CATALOGUE.iter().map(|rule| rule.name).filter(|name| !raised.contains(name)).collect();
    assert!(silent.is_empty(), "never raised: {silent:?}");
    let unknown: Vec<&&str> = ELSEWHERE
        .iter()
        .map(|(name, _)| name)
        .filter(|name| CATALOGUE.iter().all(|rule| rule.name != **name))
        .collect();
    assert!(unknown.is_empty(), "in no catalogue: {unknown:?}");
}

/// Raises the codes of signatures, which take an option.
fn signature_codes() -> [&'static str; 4] {
    let (folder, package) = (Package::empty(), Package::valid());
    folder.write("allowed", line_from_seed("alice@example.org", 1));
    let allowed = folder.file("allowed");
    let raises = |code| {
        let outcome = package.verify(&["--allowed-signers", allowed.to_str().expect("UTF-8")]);
        assert_eq!(outcome.exits(1).one(code).severity, "error");
        code
    };
    let unsigned = raises("unsigned");
    package.write("receipts.json.sig", "nonsense");
    let invalid = raises("signature-invalid");
    sign_from_seed(&package, 2);
    let unknown = raises("signer-unknown");
    sign_from_seed(&package, 1);
    package.edit_text("receipts.json", |text| text + "\n");
    [unsigned, invalid, unknown, raises("signature-mismatch")]
}

#[test]
fn a_finding_names_a_place_that_a_reader_can_go_to() {
    for (code, damage) in DAMAGES {
        let package = Package::valid();
        damage(&package);
        for finding in package.audit().findings() {
            let place = &finding.place;
            assert!(!finding.expected.is_empty() || code == &"csv-syntax", "{code}: {finding:?}");
            assert!(!finding.file.is_empty(), "{code}: {finding:?}");
            let known = place.line.is_some() || place == &recount::audit::Place::whole_file();
            assert!(known, "{code}: a pointer without its line: {finding:?}");
        }
    }
}

#[test]
fn codes_are_unique_and_in_kebab_case() {
    let names: HashSet<&str> = CATALOGUE.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), CATALOGUE.len());
    for name in names {
        let parts: Vec<&str> = name.split('-').collect();
        let kebab = parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase()));
        assert!(kebab, "{name}");
    }
}

#[test]
fn every_row_has_a_title_an_explanation_and_advice_in_sentences() {
    for rule in CATALOGUE {
        assert!(!rule.title.is_empty() && !rule.title.ends_with('.'), "{}", rule.name);
        for text in [rule.explanation, rule.advice] {
            assert!(text.contains(' ') && text.ends_with('.'), "{}: {text}", rule.name);
            assert!(!text.contains("  ") && text.trim() == text, "{}: {text}", rule.name);
        }
        let first_word = rule.title.split(' ').next().unwrap_or_default();
        assert!(first_word.starts_with(char::is_uppercase) || first_word.contains('.'), "{}", rule.name);
    }
    let titles: HashSet<&str> = CATALOGUE.iter().map(|rule| rule.title).collect();
    assert_eq!(titles.len(), CATALOGUE.len());
}
