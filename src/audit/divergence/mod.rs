//! Divergence: the figures are possible, agree with each other, and follow from pairs and tensors.
//!
//! What can be known of a figure without its data is decided in [`crate::divergence`]; here it is asked, and findings name
//! device, arm and resolution.

mod accuracy;
mod conditions;
mod device;
mod figures;
mod inputs;
mod norms;
mod origin;
mod package;
mod probe;
mod protocol;
mod receipt;
mod timing;

pub(super) use device::names_amd;
pub(super) use package::{check as check_package, facts as package_facts, limits as package_limits};
pub(super) use receipt::{check as check_receipt, facts as receipt_facts, limits as receipt_limits};

use super::evidence::Evidence;
use super::{Code, Recorder, show};
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

/// A file beside the results, if it is there and of the format that is known here. Of another format nothing can be said, which
/// must not pass for agreement.
fn beside<'e>(name: &str, schema: &str, evidence: &'e Evidence, recorder: &mut Recorder) -> Option<&'e Document> {
    let document = evidence.document(name).ok()?;
    let at = document.root().get("schema");
    let known = at.and_then(Json::as_str) == Some(schema);
    let found = at.map_or("nothing".to_owned(), |at| show(at).to_string());
    let expected = format_args!("schema \"{schema}\"");
    let at = at.unwrap_or(document.root());
    recorder.require(known, Code::UnsupportedSchema, document, at, expected, found).then_some(document)
}
