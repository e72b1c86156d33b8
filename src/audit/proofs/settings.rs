//! Settings in manifests are those of the whole benchmark: cases differ in what was computed, not in how.

use std::collections::HashMap;

use crate::audit::{Code, Recorder, compare};
use crate::package::json::Json;
use crate::package::partition::Validation;

/// Settings that no case chooses.
const OF_ALL: [&str; 7] = ["schema", "backend", "lowering", "fast_math", "graph_batch", "endianness", "validation"];

/// Settings that may follow from the operation and the storage type, such as the type that sums are kept in.
const OF_A_KIND: [&str; 2] = ["algorithm", "semantics"];

/// Counted in bytes, and so by the storage type; the elements beside it are compared.
const IN_BYTES: &str = "logical_view_offset_bytes";

/// The manifests of all cases; that those of one case agree is seen to elsewhere.
pub(super) fn check(validation: &Validation<'_>, recorder: &mut Recorder) {
    let mut of_all = HashMap::new();
    let mut of_a_kind = HashMap::new();
    for record in &validation.cases {
        let Some(manifest) = record.reference().and_then(|run| run.at.get("manifest")) else { continue };
        for name in OF_ALL {
            let first = *of_all.entry(name).or_insert(manifest.get(name));
            same(validation, manifest, (manifest.get(name), first), name, recorder);
        }
        for name in OF_A_KIND {
            let kind = (name, record.case.operation.name(), record.case.storage.name());
            let first = *of_a_kind.entry(kind).or_insert(manifest.get(name));
            same(validation, manifest, (manifest.get(name), first), name, recorder);
        }
        let offset = ["semantics", "logical_view_offset_elements"];
        let first = *of_all.entry(IN_BYTES).or_insert(manifest.path(&offset));
        same(validation, manifest, (manifest.path(&offset), first), offset[1], recorder);
    }
}

/// A setting and the first of it are the same, or neither is there.
fn same(
    validation: &Validation<'_>,
    manifest: &Json,
    (found, first): (Option<&Json>, Option<&Json>),
    name: &str,
    recorder: &mut Recorder,
) {
    let document = validation.document;
    match (found, first) {
        (Some(found), Some(first)) => compare(recorder, document, found, first, &|_| Code::ProtocolSetting),
        (Some(found), None) => {
            recorder.report_at(Code::ProtocolSetting, document, found, format_args!("no {name}, as elsewhere"), name);
        }
        (None, Some(_)) => {
            let expected = format_args!("{name}, as in other cases");
            recorder.report_at(Code::ProtocolSetting, document, manifest, expected, "nothing");
        }
        (None, None) => {}
    }
}
