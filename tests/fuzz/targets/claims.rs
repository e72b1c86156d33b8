//! `claims.json` with changes or as it stands, or any bytes at all as its `medians.csv`.

use serde_json::Value;

use super::edits;
use super::scratch::Scratch;

const CLAIMS: &str = "claims.json";
const MEDIANS: &str = "medians.csv";

thread_local! {
    static SOUND: (Scratch, Value) = {
        let claims: &[u8] = include_bytes!("../../../artifacts/partition-rtx4060-published/claims.json");
        let medians: &[u8] = include_bytes!("../../../artifacts/partition-rtx4060-published/medians.csv");
        let scratch = Scratch::of([(CLAIMS, claims.to_vec()), (MEDIANS, medians.to_vec())]);
        let value = scratch.json(CLAIMS);
        (scratch, value)
    };
}

/// Every claim is judged or named as malformed, whatever table it is about.
pub(super) fn run(data: &[u8]) {
    SOUND.with(|(scratch, value)| {
        if data.starts_with(b"case,") {
            scratch.verify_with(MEDIANS, data);
        } else if let Some(text) = edits::text(value, data) {
            scratch.verify_with(CLAIMS, text.as_bytes());
        }
    });
}

/// The published claims and medians, and some changes.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let texts = SOUND.with(|(scratch, _)| [CLAIMS, MEDIANS].map(|name| scratch.file(name).to_vec()));
    texts.into_iter().chain(edits::seeds()).collect()
}
