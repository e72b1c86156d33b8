//! Provenance: ids and hashes agree across the files that name them, and none of the places that name one is empty.

use crate::audit::evidence::Evidence;
use crate::audit::{Code, Recorder, compare_within, report_problems, same_value, show};
use crate::package::partition::{Reader, files};
use crate::package::receipts::RECEIPTS;

/// A place in one file that must hold what a place in another does.
struct Agreement {
    file: &'static str,
    path: &'static [&'static str],
    with_file: &'static str,
    with_path: &'static [&'static str],
}

const fn agreement(
    file: &'static str,
    path: &'static [&'static str],
    with_file: &'static str,
    with_path: &'static [&'static str],
) -> Agreement {
    Agreement { file, path, with_file, with_path }
}

/// Which values name the same thing.
static AGREEMENTS: [Agreement; 13] = [
    agreement(files::PROVENANCE, &["public_profile_id"], files::MODEL, &["profile_id"]),
    agreement(files::PROVENANCE, &["original_profile_id"], files::MODEL, &["original_profile_id"]),
    agreement(
        files::PROVENANCE,
        &["original_summary", "sha256"],
        files::MODEL,
        &["input_receipts", "summary", "sha256"],
    ),
    agreement(files::PROVENANCE, &["original_summary", "bytes"], files::MODEL, &["input_receipts", "summary", "bytes"]),
    agreement(
        files::PROVENANCE,
        &["original_calibration_script", "sha256"],
        files::MODEL,
        &["input_receipts", "script", "sha256"],
    ),
    agreement(
        files::PROVENANCE,
        &["original_calibration_script", "bytes"],
        files::MODEL,
        &["input_receipts", "script", "bytes"],
    ),
    agreement(files::MODEL, &["input_receipts", "script", "sha256"], RECEIPTS, &["files", SCRIPT, "sha256"]),
    agreement(files::MODEL, &["input_receipts", "script", "bytes"], RECEIPTS, &["files", SCRIPT, "bytes"]),
    agreement(
        files::PROOF_RECEIPTS,
        &["original_snapshot", "sha256"],
        files::VALIDATION,
        &["build_snapshot", "sha256"],
    ),
    agreement(files::PROOF_RECEIPTS, &["original_snapshot", "bytes"], files::VALIDATION, &["build_snapshot", "bytes"]),
    agreement(
        files::PROOF_RECEIPTS,
        &["original_frozen_file_count"],
        files::VALIDATION,
        &["implementation_files_rechecked"],
    ),
    agreement(files::MODEL, &["profile", "schema"], files::MODEL, &["schema"]),
    agreement(files::MODEL, &["profile", "coefficients"], files::MODEL, &["full_training_model", "coefficients"]),
];

/// The fitting script, which the published package carries.
const SCRIPT: &str = "code/calibrate.py";

/// What each file names, whatever else there is to compare it with.
static REQUIRED: [(&str, &[&str]); 2] = [
    (
        files::PROVENANCE,
        &[
            "public_profile_id",
            "original_profile_id",
            "original_summary",
            "original_model_report",
            "original_calibration_script",
        ],
    ),
    (files::PROOF_RECEIPTS, &["original_snapshot", "captured_head", "original_frozen_file_count"]),
];

/// Runs the comparisons.
pub(super) fn check(evidence: &Evidence, recorder: &mut Recorder) {
    for (file, members) in REQUIRED {
        let Ok(document) = evidence.document(file) else { continue };
        let reader = Reader::new(document);
        for member in members {
            let _ = reader.member(document.root(), member);
        }
        report_problems(recorder, document, reader.into_problems());
    }
    for agreement in &AGREEMENTS {
        check_agreement(evidence, agreement, recorder);
    }
    check_own_files(evidence, recorder);
    if let (Ok(device), Ok(model)) = (evidence.document(files::DEVICE), evidence.document(files::MODEL))
        && let Some(declared) = model.root().path(&["profile", "device_declared_identity"])
    {
        compare_within(recorder, device, device.root(), declared, &|_| Code::Provenance, &|_, _| 0.0);
    }
}

/// Where the profile was not redacted (both profile ids are one), a receipt that names a file of the package is that file's;
/// of a file that was redacted, that of its bytes before, which `redaction` records. Nothing binds those bytes any more, so
/// that agreement with them counts for nothing, and is said.
fn check_own_files(evidence: &Evidence, recorder: &mut Recorder) {
    let (Ok(provenance), Ok(model), Ok(receipts)) =
        (evidence.document(files::PROVENANCE), evidence.document(files::MODEL), evidence.document(RECEIPTS))
    else {
        return;
    };
    let [original, public] = ["original_profile_id", "public_profile_id"].map(|name| provenance.root().get(name));
    if original.is_none() || original != public {
        return;
    }
    let inputs = model.root().get("input_receipts").unwrap_or(&crate::package::json::Json::Null);
    for (document, named) in [(provenance, provenance.root()), (model, inputs)] {
        for (_, record) in named.as_object().unwrap_or_default() {
            let path = record.get("path").and_then(|path| path.as_str());
            let before = path.and_then(|path| provenance.root().path(&["redaction", "files", path]));
            let declared = before.or_else(|| path.and_then(|path| receipts.root().path(&["files", path])));
            let Some(declared) = declared else { continue };
            if let (Some(path), Some(_)) = (path, before) {
                recorder.note(format!(
                    "{path} was redacted, as {} says: that the model was fitted on it as it was before cannot be recounted",
                    files::PROVENANCE
                ));
            }
            for member in ["sha256", "bytes"] {
                if let (Some(found), Some(expected)) = (record.get(member), declared.get(member))
                    && (before.is_none() || !same_value(found, expected))
                {
                    recorder.equal(Code::Provenance, document, found, expected);
                }
            }
        }
    }
}

/// Both places hold the same, or neither holds anything.
fn check_agreement(evidence: &Evidence, agreement: &Agreement, recorder: &mut Recorder) {
    let (Ok(document), Ok(with)) = (evidence.document(agreement.file), evidence.document(agreement.with_file)) else {
        return;
    };
    let missing = |file: &str, path: &[&str]| format!("nothing in {file} at /{}", path.join("/"));
    match (document.root().path(agreement.path), with.root().path(agreement.with_path)) {
        (Some(found), Some(expected)) if same_value(found, expected) => recorder.held(),
        (Some(found), Some(expected)) => {
            let pointer = with.pointer_of(expected).unwrap_or_default();
            let expected = format_args!("{}, as in {} at {pointer}", show(expected), agreement.with_file);
            recorder.report_at(Code::Provenance, document, found, expected, show(found));
        }
        // The script need not be in the package; where it is, it is the one that the model names.
        (Some(_), None) if agreement.with_file == RECEIPTS => {}
        (Some(found), None) => {
            let missing = missing(agreement.with_file, agreement.with_path);
            recorder.report_at(Code::Provenance, document, found, "the same in both files", missing);
        }
        (None, Some(expected)) => {
            let missing = missing(agreement.file, agreement.path);
            recorder.report_at(Code::Provenance, with, expected, "the same in both files", missing);
        }
        (None, None) => {}
    }
}
