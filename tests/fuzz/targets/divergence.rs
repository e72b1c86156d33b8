//! A divergence receipt: a text as it stands, or the repository's own with changes.

use std::fs;

use recount::audit::{Options, Subject, subjects, verify_subject};
use recount::divergence::side_by_side::side_by_side;
use recount::package::divergence::{SummaryReceipt, is_receipt, looks_like_receipt, side_of_receipt};
use recount::package::json::Document;
use serde_json::Value;
use tempfile::TempDir;

use super::{edits, judged};

const NAME: &str = "receipt.json";

thread_local! {
    static SOUND: (TempDir, Value) = {
        let folder = tempfile::Builder::new().prefix("recount-fuzz-").tempdir().expect("a temporary folder");
        let text = include_str!("../../../receipts/grid-sample-divergence.json");
        (folder, serde_json::from_str(text).expect("our own receipt"))
    };
}

/// A receipt is found, read with the places of its problems, compared with itself, and verified.
pub(super) fn run(data: &[u8]) {
    SOUND.with(|(folder, value)| {
        let Some(text) = edits::text(value, data) else { return };
        let path = folder.path().join(NAME);
        fs::write(&path, &text).expect("a file");
        let found = subjects(&path);
        let Ok(document) = Document::parse(NAME, text.clone()) else {
            assert_eq!(found.is_ok(), looks_like_receipt(text.as_bytes()), "{found:?}");
            return;
        };
        if is_receipt(document.root()) && text.contains("\"protocol\"") && text.contains("\"devices\"") {
            assert!(found.is_ok(), "{found:?}");
        }
        let receipt = SummaryReceipt::read(&document);
        judged::problems(&document, &receipt.problems);
        let side = side_of_receipt("one", &receipt);
        let compared = side_by_side(&side, &side);
        assert!(compared.only_left.is_empty() && compared.only_right.is_empty(), "{compared:?}");
        let (report, _) = verify_subject(&Subject::Receipt(path), "receipt", &Options::default(), &|_| {});
        judged::report(&report, folder.path());
        if !receipt.problems.is_empty() {
            assert!(report.findings().next().is_some(), "{:?} are no findings", receipt.problems);
        }
    });
}

/// The repository's receipts, and some changes.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        include_str!("../../../receipts/grid-sample-divergence.json"),
        include_str!("../../../receipts/grid-sample-divergence-h200.json"),
    ];
    texts.into_iter().map(|text| text.as_bytes().to_vec()).chain(edits::seeds()).collect()
}
