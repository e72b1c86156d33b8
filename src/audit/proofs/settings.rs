//! Settings in manifests are those of the whole benchmark: cases differ in what was computed, not in how.

use std::collections::HashMap;

use crate::audit::{Code, Recorder, compare};
use crate::package::json::Json;
use crate::package::partition::Validation;

/// Settings that no case chooses. Others may follow from the case: tolerances from the storage type, batches from the shape.
const OF_ALL: [&str; 2] = ["backend", "fast_math"];

/// What names of members of the semantics have in them that are the types computed in: those follow from the operation and the
/// storage type.
const OF_A_KIND: [&str; 2] = ["accumulat", "arithmetic"];

/// The manifests of all cases; that those of one case agree is seen to elsewhere.
pub(super) fn check(validation: &Validation<'_>, recorder: &mut Recorder) {
    let mut of_all = HashMap::new();
    let mut of_a_kind = HashMap::new();
    let mut same = |found: &Json, first: &Json| {
        compare(recorder, validation.document, found, first, &|_| Code::ProtocolSetting);
    };
    for record in &validation.cases {
        let Some(manifest) = record.reference().and_then(|run| run.at.get("manifest")) else { continue };
        for name in OF_ALL {
            if let Some(found) = manifest.get(name) {
                same(found, of_all.entry(name).or_insert(found));
            }
        }
        for (name, found) in manifest.get("semantics").and_then(Json::as_object).unwrap_or_default() {
            if OF_A_KIND.iter().any(|part| name.contains(part)) {
                let kind = (name.as_str(), record.case.operation.name(), record.case.storage.name());
                same(found, of_a_kind.entry(kind).or_insert(found));
            }
        }
    }
}
