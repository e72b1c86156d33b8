//! Divergence: the figures are possible, agree with each other, and follow from pairs and tensors.
//!
//! What can be known of a figure without its data is decided in [`crate::divergence`]; here it is asked, and findings name
//! device, arm and resolution.

mod accuracy;
mod conditions;
mod device;
mod figures;
mod inputs;
mod package;
mod probe;
mod protocol;
mod receipt;
mod timing;

pub(super) use package::{check as check_package, facts as package_facts, limits as package_limits};
pub(super) use receipt::{check as check_receipt, facts as receipt_facts, limits as receipt_limits};

use super::evidence::Evidence;
use super::{Recorder, show};
use crate::package::divergence::Arm;
use crate::package::json::{Document, Json};

/// Where a figure belongs, for a person.
#[derive(Debug, Clone, Copy)]
struct Where<'w> {
    /// A device of a receipt, or an engine of a package.
    who: &'w str,
    arm: Arm,
    resolution: u64,
}

impl std::fmt::Display for Where<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}, {}, output {}", self.who, self.arm.name(), self.resolution)
    }
}

/// A file beside the results, if it is there and of a format that is known here; another format is named and not judged.
fn beside<'e>(name: &str, schema: &str, evidence: &'e Evidence, recorder: &mut Recorder) -> Option<&'e Document> {
    let document = evidence.document(name).ok()?;
    let found = document.root().get("schema");
    if found.and_then(Json::as_str) == Some(schema) {
        return Some(document);
    }
    let found = found.map_or("nothing".to_owned(), |found| show(found).to_string());
    recorder.note(format!("{name} was not checked: its schema is {found}, not \"{schema}\""));
    None
}
