//! Receipts within documents are receipts, whether or not anything else binds them.

use recount::package::json::Json;

use crate::common::json::{add, set, take};
use crate::common::package::Package;

/// Receipts of each kind: the file, the pointer.
const RECEIPTS: [(&str, &str); 9] = [
    ("validation.json", "/cases/0/cohorts/rows1/case_receipt"),
    ("validation.json", "/cases/0/cohorts/rows1/routes/native/result_receipt"),
    ("validation.json", "/cohorts/1/aggregate_receipt"),
    ("validation.json", "/rescue_queue_receipt"),
    ("validation.json", "/original_failed_queue"),
    ("validation.json", "/cases/0/cohorts/default/torch_compiler_artifacts_rechecked/0"),
    ("provenance.json", "/original_model_report"),
    ("device.json", "/identity/tool_receipts/0"),
    ("model.json", "/input_receipts/device"),
];

#[test]
fn a_receipt_has_a_hash_and_a_size() {
    for (file, pointer) in RECEIPTS {
        for value in [Json::Null, Json::Object(Vec::new()), Json::from("none"), Json::Int(1)] {
            let outcome = Package::valid().forged(file, |root| set(root, pointer, value.clone()));
            outcome.exits(1).at("malformed-field", file, pointer);
        }
        for (name, value) in [
            ("sha256", Json::from("x")),
            ("sha256", Json::from("A".repeat(64))),
            ("bytes", Json::Int(-1)),
            ("bytes", Json::Float(10.0)),
            ("path", Json::Int(1)),
            ("path", Json::from("")),
        ] {
            let member = format!("{pointer}/{name}");
            let outcome = Package::valid().forged(file, |root| set(root, &member, value.clone()));
            outcome.exits(1).at("malformed-field", file, &member);
        }
        for name in ["sha256", "bytes"] {
            let outcome = Package::valid().forged(file, |root| drop(take(root, &format!("{pointer}/{name}"))));
            outcome.exits(1).at("malformed-field", file, pointer);
        }
    }
}

#[test]
fn lists_of_receipts_hold_receipts() {
    let empty = || Json::Array(vec![Json::Object(Vec::new())]);
    let outcome = Package::valid().forged("validation.json", |root| add(root, "", "exporter_receipts", empty()));
    outcome.exits(1).at("malformed-field", "validation.json", "/exporter_receipts/0");
    let outcome = Package::valid().forged("proof-receipts.json", |root| {
        let Json::Object(files) = crate::common::json::at(root, "/compact_receipts") else { panic!("an object") };
        files[0].1 = Json::Null;
    });
    outcome.exits(1).at("malformed-field", "proof-receipts.json", "/compact_receipts/${REPO}\\bin\\demo.exe");
}
