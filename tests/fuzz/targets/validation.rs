//! `validation.json`: a text as it stands, or the small package's own with changes.

use recount::package::json::{Document, canonical};
use recount::package::partition::Validation;
use serde_json::Value;

use super::scratch::Scratch;
use super::{edits, judged};

const NAME: &str = "validation.json";

thread_local! {
    static SOUND: (Scratch, Value) = {
        let scratch = Scratch::partition();
        let value = scratch.json(NAME);
        (scratch, value)
    };
}

/// The reader says where every problem is, and all checks come to an end on whatever was read.
pub(super) fn run(data: &[u8]) {
    SOUND.with(|(scratch, value)| {
        let Some(text) = edits::text(value, data) else { return };
        let Ok(document) = Document::parse(NAME, text.clone()) else { return };
        let again = Document::parse(NAME, canonical(document.root())).expect("our own text");
        assert_eq!(canonical(again.root()), canonical(document.root()));
        let validation = Validation::read(&document);
        judged::problems(&document, &validation.problems);
        for (_, run) in validation.runs() {
            assert!(document.pointer_of(run.at).is_some(), "a run is nowhere");
        }
        let report = scratch.verify_with(NAME, text.as_bytes());
        if !validation.problems.is_empty() {
            assert!(report.findings().any(|finding| finding.file == NAME), "{:?} are no findings", validation.problems);
        }
    });
}

/// The small package's runs, and some changes.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let text = SOUND.with(|(scratch, _)| scratch.file(NAME).to_vec());
    std::iter::once(text).chain(edits::seeds()).collect()
}
