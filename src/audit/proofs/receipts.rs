//! Receipts of files outside the package are never opened, but one file cannot have two hashes, and a list of files that
//! stands twice names the same files.

use std::collections::HashMap;

use crate::audit::evidence::Evidence;
use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};
use crate::package::partition::{Validation, files};

pub(super) fn check(evidence: &Evidence, recorder: &mut Recorder) {
    let mut seen = HashMap::new();
    for name in [files::VALIDATION, files::PROOF_RECEIPTS, files::PROVENANCE, files::DEVICE, files::MODEL] {
        if let Ok(document) = evidence.document(name) {
            walk(document, document.root(), &mut seen, recorder);
        }
    }
}

/// What the Torch compiler wrote is listed by the route and again by those who rechecked it. That the hashes are the same
/// is seen to by [`check`].
pub(super) fn check_copies(validation: &Validation<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    for (_, run) in validation.runs() {
        let listed = run.torch.at.and_then(|route| route.path(&["compiler_evidence", "artifacts"]));
        let (Some(copies), Some(listed)) = (run.at.get("torch_compiler_artifacts_rechecked"), listed) else { continue };
        let (items, wanted) = (copies.as_array().unwrap_or_default(), listed.as_array().unwrap_or_default());
        recorder.require(
            items.len() == wanted.len(),
            Code::CopyMismatch,
            document,
            copies,
            format_args!("the {} files that the compiler wrote", wanted.len()),
            format_args!("{} files", items.len()),
        );
        for (copy, original) in items.iter().zip(wanted) {
            let path = |record: &Json| record.get("path").and_then(Json::as_str).map(normalized);
            recorder.require(
                path(copy) == path(original),
                Code::CopyMismatch,
                document,
                copy.get("path").unwrap_or(copy),
                path(original).unwrap_or_else(|| "a path".to_owned()),
                path(copy).unwrap_or_else(|| "none".to_owned()),
            );
        }
    }
}

type Seen<'d> = HashMap<String, (&'d Document, &'d Json)>;

fn walk<'d>(document: &'d Document, value: &'d Json, seen: &mut Seen<'d>, recorder: &mut Recorder) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| walk(document, item, seen, recorder)),
        Json::Object(members) => {
            if let Some(path) = value.get("path").and_then(Json::as_str) {
                compare(document, path, value, seen, recorder);
            }
            for (name, member) in members {
                // `compact_receipts` names files by member instead of by `path`.
                if name.contains(['/', '\\']) {
                    compare(document, name, member, seen, recorder);
                }
                walk(document, member, seen, recorder);
            }
        }
        _ => {}
    }
}

fn compare<'d>(document: &'d Document, path: &str, record: &'d Json, seen: &mut Seen<'d>, recorder: &mut Recorder) {
    let (Some(hash), Some(bytes)) = (record.get("sha256"), record.get("bytes")) else { return };
    // A bare name is one of many files so called: each run may have its own.
    if !path.contains(['/', '\\']) {
        return;
    }
    let path = normalized(path);
    match seen.get(&path) {
        None => {
            seen.insert(path, (document, record));
        }
        Some(&(other, earlier)) => {
            for (found, member) in [(hash, "sha256"), (bytes, "bytes")] {
                let Some(expected) = earlier.get(member) else { continue };
                if found == expected {
                    recorder.held();
                    continue;
                }
                let place = other.pointer_of(earlier).unwrap_or_default();
                let expected = format_args!("{}, as at {} {place}", show(expected), other.name());
                recorder.report_at(Code::ReceiptConflict, document, found, expected, show(found));
            }
        }
    }
}

/// The same file is written with and without the repository's placeholder, and with either separator.
fn normalized(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.strip_prefix("${REPO}/").unwrap_or(&path).to_owned()
}
