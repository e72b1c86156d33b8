//! Decimals that the package states about how and where it was measured; a README may repeat them.

use super::super::evidence::PartitionEvidence;
use super::derive::recorded;
use super::figures::Figure;
use super::markdown::Text;
use super::printed::Unit;
use super::tokens::{Kind, sentences};
use crate::package::json::Json;
use crate::package::partition::{Validation, files};

/// Values that are looked at; more are no settings.
const MAX_STATED: usize = 4096;

/// Decimals in the protocol and the environment of the runs and in the device's identity, in numbers and in texts.
pub(super) fn figures(package: &PartitionEvidence<'_>, validation: &Validation<'_>) -> Vec<Figure> {
    let root = validation.document.root();
    let device = package.evidence.document(files::DEVICE).ok().and_then(|device| device.root().get("identity"));
    let mut figures = Vec::new();
    for settings in [root.get("protocol"), root.get("environment"), device].into_iter().flatten() {
        collect(settings, &mut figures);
    }
    figures
}

fn collect(value: &Json, figures: &mut Vec<Figure>) {
    if figures.len() >= MAX_STATED {
        return;
    }
    match value {
        Json::Float(number) => figures.push(recorded(*number, Unit::Plain, "a recorded setting")),
        Json::Str(text) => {
            let mut words = Text::default();
            words.text.clone_from(text);
            for token in sentences(&words).into_iter().flatten() {
                if let Kind::Number(printed) = token.kind
                    && printed.decimals > 0
                {
                    figures.push(recorded(printed.value, printed.unit, "a recorded setting"));
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, figures)),
        Json::Object(members) => members.iter().for_each(|(_, member)| collect(member, figures)),
        _ => {}
    }
}
