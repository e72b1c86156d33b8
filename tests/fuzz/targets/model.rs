//! `model.json`: a text as it stands, or the small package's own with changes; frozen, applied and verified.

use recount::package::json::Document;
use recount::package::partition::Validation;
use recount::refit::FrozenModel;
use recount::refit::document::profile_id;
use recount::refit::predict;
use serde_json::Value;

use super::edits;
use super::scratch::Scratch;

const NAME: &str = "model.json";

thread_local! {
    static SOUND: (Scratch, Value, Document) = {
        let scratch = Scratch::partition();
        let value = scratch.json(NAME);
        let runs = String::from_utf8(scratch.file("validation.json").to_vec()).expect("UTF-8");
        let runs = Document::parse("validation.json", runs).expect("our own JSON");
        (scratch, value, runs)
    };
}

/// What is applied is what its id says, and a reason for a refusal says where.
pub(super) fn run(data: &[u8]) {
    SOUND.with(|(scratch, value, runs)| {
        let Some(text) = edits::text(value, data) else { return };
        let Ok(document) = Document::parse(NAME, text.clone()) else { return };
        match FrozenModel::read(&document) {
            Ok(model) => {
                assert!(model.coefficients.iter().all(|value| value.is_finite() && *value >= 0.0));
                assert!(model.processor_reference > 0 && !model.training_groups.is_empty());
                let profile = document.root().get("profile").expect("a profile");
                assert_eq!(model.profile_id, profile_id(profile));
                assert!(model.training_groups.iter().all(|group| model.is_trained_on(group)));
                let validation = Validation::read(runs);
                if let Ok(prediction) = predict(&model, &validation) {
                    assert_eq!(prediction.cases.len() + prediction.left_out.len(), validation.cases.len());
                }
            }
            Err(problem) => {
                assert!(problem.pointer.starts_with('/') && problem.place.starts_with(NAME), "{problem}");
            }
        }
        scratch.verify_with(NAME, text.as_bytes());
    });
}

/// The small package's model, and some changes.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let text = SOUND.with(|(scratch, ..)| scratch.file(NAME).to_vec());
    std::iter::once(text).chain(edits::seeds()).collect()
}
