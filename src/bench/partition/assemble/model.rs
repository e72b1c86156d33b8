//! `model.json` and the files that say where everything comes from: `provenance.json` and `proof-receipts.json`.

use crate::bench::partition::record::{Campaign, Receipt};
use crate::package::json::{Json, object};
use crate::package::partition::{Validation, files};
use crate::refit::{Refit, document};

/// What the model does not say; the README says it, too.
pub(super) const LIMITATIONS: [&str; 5] = [
    "Predictions are points without a confidence; they rank schedules and do not state run times.",
    "Programs, rounds of programs and padded elements are counted, not measured: neither occupancy nor memory traffic.",
    "The model knows no operation, no storage type and no algebra; what they cost is left in the residuals.",
    "It was fitted on one device, as it was when it was measured, and speaks of no other.",
    "Leaving out each geometry in turn is cross-validation on the measured inventory, not a test on another one.",
];

const SCOPE: &str = "When this was written nothing had been redacted: the summary is validation.json and the report is model.json of this \
    very package, and both profile ids are the same. receipts.json binds all of its files.";

const PROOF_SCOPE: &str = "Hashes of the program, its kernels and scripts, and the libraries that it had loaded. The files themselves are not in \
    the package.";

fn of_bytes(path: &str, bytes: &[u8]) -> Json {
    Receipt::of(path, bytes).json()
}

/// `model.json`: what a refit gives, with its inputs and limits. `validation_text` and `device_text` are the bytes of
/// those files.
pub(super) fn document(
    refit: &Refit<'_, '_>,
    validation: &Validation<'_>,
    (device, sm_count): (&Json, u64),
    (validation_text, device_text): (&str, &str),
    program: &Receipt,
) -> Json {
    let derived = document::derived(refit, validation, device, sm_count);
    let stated = object([
        ("limitations", Json::from(LIMITATIONS.to_vec())),
        (
            "input_receipts",
            object([
                ("summary", of_bytes(files::VALIDATION, validation_text.as_bytes())),
                ("device", of_bytes(files::DEVICE, device_text.as_bytes())),
                ("script", program.json()),
            ]),
        ),
        ("original_profile_id", derived.get("profile_id").cloned().unwrap_or(Json::Null)),
    ]);
    document::complete(derived, Some(&stated))
}

/// `provenance.json` of the model whose bytes are `model_text`.
pub(super) fn provenance(model: &Json, model_text: &str, validation_text: &str, program: &Receipt) -> Json {
    let id = model.get("profile_id").cloned().unwrap_or(Json::Null);
    object([
        ("original_summary", of_bytes(files::VALIDATION, validation_text.as_bytes())),
        ("original_model_report", of_bytes(files::MODEL, model_text.as_bytes())),
        ("original_calibration_script", program.json()),
        ("original_profile_id", id.clone()),
        ("public_profile_id", id),
        ("scope", Json::from(SCOPE)),
    ])
}

/// `proof-receipts.json`.
pub(super) fn proof_receipts(campaign: &Campaign) -> Json {
    let receipts = campaign.implementation.iter().map(|receipt| {
        let record = object([("sha256", Json::from(receipt.sha256.as_str())), ("bytes", Json::from(receipt.bytes))]);
        (receipt.path.clone(), record)
    });
    object([
        ("original_snapshot", campaign.build_snapshot.json()),
        ("captured_head", Json::from(campaign.commit.as_deref().unwrap_or("unknown"))),
        ("original_frozen_file_count", Json::from(campaign.implementation.len())),
        ("compact_receipts", Json::Object(receipts.collect())),
        ("scope", Json::from(PROOF_SCOPE)),
    ])
}
