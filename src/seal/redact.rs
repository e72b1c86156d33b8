//! What names a person or a machine, or is a secret, replaced by placeholders in one text.

use super::SealError;
use crate::package::json::Document;
use crate::package::private::{Hit, Places, Reading, Rules, edited};

/// One replacement, as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// The rule.
    pub rule: String,
    /// What is replaced, masked.
    pub masked: String,
    /// What stands there afterwards.
    pub placeholder: String,
}

/// The redacted text with what was replaced in it, if anything in it is to be replaced.
///
/// # Errors
/// A JSON text would become none, or a rule would replace its own placeholder again.
pub(super) fn redact(name: &str, text: &str, rules: &Rules) -> Result<Option<(String, Vec<Replacement>)>, SealError> {
    let failed = |reason: String| SealError::Redact { file: name.to_owned(), reason };
    let reading = Reading::of(name, text);
    let scan = rules.scan(text, reading);
    if scan.hits.is_empty() {
        return Ok(None);
    }
    let mut places = Places::of(text);
    let replacements = scan.hits.into_iter().map(|hit| {
        let Hit { offset, rule, placeholder, masked } = hit;
        Replacement { file: name.to_owned(), line: places.place(offset).0, rule, masked, placeholder }
    });
    let replacements = replacements.collect();
    let new = edited(text, &scan.edits);
    let is_sound = |text: &str| Document::parse(name, text.to_owned());
    if name.ends_with(".json")
        && let (Ok(_), Err(error)) = (is_sound(text), is_sound(&new))
    {
        return Err(failed(format!(
            "afterwards it would be no sound JSON: {error}; give own rules that tell them apart"
        )));
    }
    if reading.is_json != Reading::of(name, &new).is_json {
        return Err(failed("afterwards it would be no JSON any more; change the rules".to_owned()));
    }
    if let Some(again) = rules.scan(&new, reading).hits.first() {
        let (rule, placeholder) = (&again.rule, &again.placeholder);
        return Err(failed(format!(
            "what the {rule} puts there ({placeholder}) would be replaced again; change the rules"
        )));
    }
    Ok(Some((new, replacements)))
}
