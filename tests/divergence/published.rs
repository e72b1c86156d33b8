//! The receipt in the repository: it verifies, and its figures are the published ones.

use serde_json::Value;

use super::support::{RECEIPT, obeys, recount, verify};
use crate::shared::shared_text;

#[test]
fn the_receipts_of_the_repository_verify_without_warnings() {
    let folder = std::path::Path::new(RECEIPT).parent().unwrap();
    let verified = verify(folder);
    verified.is_clean();
    obeys(&verified.report, "recount-report-v1.json");
    let subjects = verified.report["subjects"].as_array().unwrap();
    assert!(subjects.len() >= 2, "the published receipt and one of our own");
    for subject in subjects {
        assert_eq!(subject["kind"], "divergence-receipt");
        assert_eq!(subject["checks"][0]["outcome"]["result"], "not-run");
        assert!(subject["tally"]["exact"].as_u64().unwrap() > 400, "{}", subject["tally"]);
    }
    assert_eq!(recount(&["verify", RECEIPT, "--strict"]).status, 0);
}

#[test]
fn its_figures_are_the_published_ones() {
    let Some(published) = shared_text("seeds/000_7995d57e57002869.txt") else { return };
    let published: Value = serde_json::from_str(&published).unwrap();
    let ours: Value = serde_json::from_str(&std::fs::read_to_string(RECEIPT).unwrap()).unwrap();
    for part in ["devices", "deterministic_mode_probe"] {
        assert_eq!(ours[part], published[part]);
    }
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&ours), keys(&published));
    assert_eq!(keys(&ours["protocol"]), keys(&published["protocol"]));
    for (name, value) in published["protocol"].as_object().unwrap() {
        if !matches!(name.as_str(), "comparison" | "inputs" | "warmup" | "synchronization" | "source") {
            assert_eq!(&ours["protocol"][name], value, "{name}");
        }
    }
}

#[test]
fn every_format_names_the_file_itself() {
    let damaged = super::support::changed_receipt(&[super::support::Edit::Set(
        "/devices/t4/idle/pairwise_match_rate/0",
        serde_json::json!(0.3),
    )]);
    let path = damaged.1.to_str().unwrap();
    for format in ["text", "markdown", "junit", "sarif"] {
        let run = recount(&["verify", path, "--format", format]);
        assert_eq!(run.status, 1, "{format}: {}", run.stdout);
        assert!(run.stdout.contains("match-rate") && run.stdout.contains("receipt.json"), "{format}: {}", run.stdout);
        assert!(!run.stdout.contains("receipt.json/receipt.json"), "{format}: {}", run.stdout);
    }
    let sarif: Value = serde_json::from_str(&recount(&["verify", path, "--format", "sarif"]).stdout).unwrap();
    let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert!(location["artifactLocation"]["uri"].as_str().unwrap().ends_with("/receipt.json"), "{location}");
    assert!(location["region"]["startLine"].as_u64().unwrap() > 1);
}

#[test]
fn a_known_hash_binds_the_file() {
    let hash = recount::package::digest::digest(&std::fs::read(RECEIPT).unwrap()).sha256;
    let run = recount(&["verify", RECEIPT, "--strict", "--expect-receipts", &hash]);
    assert_eq!((run.status, run.stdout.contains("not run")), (0, false), "{}", run.stdout);
    let other = "0".repeat(64);
    let run = recount(&["verify", RECEIPT, "--expect-receipts", &other]);
    assert!(run.status == 1 && run.stdout.contains("receipts-anchor"), "{}", run.stdout);
}
