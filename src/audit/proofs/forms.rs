//! Receipts within documents are receipts: a hash, a byte count and a path, whether or not anything else binds them.

use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};
use crate::package::receipts::is_sha256;

/// Members of the published format that are a receipt, or a list of receipts, whatever else the record holds. What another
/// producer calls by another name is a receipt where it has a hash and a size.
const NAMED: [&str; 14] = [
    "case_receipt",
    "result_receipt",
    "aggregate_receipt",
    "rescue_queue_receipt",
    "exporter_receipts",
    "tool_receipts",
    "build_snapshot",
    "original_failed_queue",
    "original_failed_aggregate",
    "original_snapshot",
    "original_summary",
    "original_model_report",
    "original_calibration_script",
    "torch_compiler_artifacts_rechecked",
];

/// Members that name their receipts by file or by what they are of.
const GROUPS: [&str; 2] = ["input_receipts", "compact_receipts"];

/// What a value is by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Anything; a receipt where it has a hash and a size.
    Any,
    /// A receipt, or a list of them.
    Receipts,
    /// An object of receipts.
    Group,
}

/// Every receipt of a document.
pub(super) fn check(document: &Document, recorder: &mut Recorder) {
    walk(document, document.root(), Kind::Any, recorder);
}

fn walk(document: &Document, value: &Json, kind: Kind, recorder: &mut Recorder) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| walk(document, item, kind, recorder)),
        Json::Object(members) => {
            let is_receipt = ["sha256", "bytes"].iter().all(|name| value.get(name).is_some());
            if is_receipt || kind == Kind::Receipts {
                check_receipt(document, value, recorder);
            }
            for (name, member) in members {
                let kind = if kind == Kind::Group { Kind::Receipts } else { kind_of(name) };
                walk(document, member, kind, recorder);
            }
        }
        // A list that is packed holds numbers.
        _ if kind == Kind::Any => {}
        _ => {
            let expected = if kind == Kind::Group { "receipts" } else { "a receipt: path, sha256 and bytes" };
            recorder.report_at(Code::MalformedField, document, value, expected, show(value));
        }
    }
}

fn kind_of(name: &str) -> Kind {
    match name {
        name if GROUPS.contains(&name) => Kind::Group,
        name if NAMED.contains(&name) => Kind::Receipts,
        _ => Kind::Any,
    }
}

/// Both members of their form. What a file is called may stand elsewhere, but is a name where it stands here.
fn check_receipt(document: &Document, record: &Json, recorder: &mut Recorder) {
    let forms: [(&str, bool, &str); 3] = [
        ("sha256", record.get("sha256").is_some_and(|at| at.as_str().is_some_and(is_sha256)), "a SHA-256"),
        ("bytes", record.get("bytes").is_some_and(|at| at.as_u64().is_some()), "a number of bytes"),
        ("path", record.get("path").is_none_or(|at| at.as_str().is_some_and(|path| !path.is_empty())), "a path"),
    ];
    for (name, holds, expected) in forms {
        let at = record.get(name);
        let expected = format_args!("{name}: {expected}");
        let found = at.map_or("nothing".to_owned(), |at| show(at).to_string());
        recorder.require(holds, Code::MalformedField, document, at.unwrap_or(record), expected, found);
    }
}
