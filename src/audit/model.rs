//! Model: everything in `model.json` that follows from the runs and the device is rebuilt by a refit and compared; ids and
//! hashes agree across the files that name them.

use super::evidence::{Evidence, Options, PartitionEvidence, RefitEvidence};
use super::{CheckReport, Code, Family, Recorder, compare_within, show};
use crate::package::json::{Document, Json};
use crate::package::partition::files;
use crate::package::receipts::RECEIPTS;
use crate::refit::document;

/// Runs the family.
pub fn check(package: &PartitionEvidence<'_>, refit: &RefitEvidence<'_, '_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Model, options.tolerance);
    let model = match package.evidence.document(files::MODEL) {
        Ok(model) => model,
        Err(reason) => return recorder.not_run(reason),
    };
    check_profile_id(model, &mut recorder);
    check_provenance(package.evidence, model, &mut recorder);
    match refit {
        Ok(refit) => {
            check_rebuilt(model, &refit.document, &mut recorder);
            recorder.finish()
        }
        Err(reason) => recorder.not_run(reason.clone()),
    }
}

/// The model that the package records; `None` when it has no such file.
///
/// # Errors
/// The reason why the file cannot be used.
pub fn recorded_model(evidence: &Evidence) -> Result<Option<&Json>, String> {
    if !evidence.documents.contains_key(files::MODEL) {
        return Ok(None);
    }
    evidence.document(files::MODEL).map(|model| Some(model.root()))
}

fn check_profile_id(model: &Document, recorder: &mut Recorder) {
    let root = model.root();
    if let (Some(profile), Some(id)) = (root.get("profile"), root.get("profile_id")) {
        // Of the recorded profile: its bytes depend on the last bits of the coefficients, which a refit may not give.
        recorder.equal(Code::ProfileId, model, id, &Json::from(document::profile_id(profile)));
    }
}

fn check_rebuilt(model: &Document, rebuilt: &Json, recorder: &mut Recorder) {
    for (name, expected) in rebuilt.as_object().unwrap_or_default() {
        if name == "profile_id" {
            continue;
        }
        let Some(found) = model.root().get(name) else {
            let code = code_of(name, &[]);
            recorder.report_at(code, model, model.root(), format_args!("the member {name}"), "nothing");
            continue;
        };
        compare_within(recorder, model, found, expected, &|names| code_of(name, names), &scale);
    }
}

/// The code for a difference below the top member `top`.
fn code_of(top: &str, names: &[&str]) -> Code {
    let has = |name: &str| names.contains(&name);
    match top {
        "training_observations" => Code::Observation,
        "full_training_metrics" => Code::Metric,
        "baseline_recheck_and_all_candidates" => Code::Drift,
        "profile" if has("coefficients") => Code::Coefficient,
        "profile" if has("summary_provenance") => Code::Provenance,
        "schema" | "status" | "profile" => Code::ModelText,
        _ if has("summary") => Code::Metric,
        _ if has("residuals") => Code::Residual,
        _ if has("decisions") => Code::Decision,
        _ if has("active_subsets") => Code::Subset,
        _ => match names.last().copied() {
            Some("coefficients" | "active_mask" | "weighted_sse") => Code::Coefficient,
            Some("training_scales" | "sample_weights" | "training_groups" | "training_record_ids") => Code::Weight,
            Some("full_scaled_design_rank" | "full_scaled_design_singular_values") => Code::Subset,
            _ => Code::Fold,
        },
    }
}

/// What a member's rounding errors are relative to. Differences of nearly equal numbers carry the errors of the numbers;
/// singular values carry those of the largest; a condition number is off by itself times the relative error of the
/// smallest singular value.
fn scale(name: &str, parent: &Json) -> f64 {
    let of = |member: &str| parent.get(member).and_then(Json::as_f64).unwrap_or(0.0);
    let largest = |member: &str| {
        let values = parent.get(member).and_then(Json::as_array).unwrap_or_default();
        values.iter().filter_map(Json::as_f64).fold(0.0, f64::max)
    };
    match name {
        "signed_error_us" => of("observed_us"),
        "relative_error" | "default_recheck_drift" => 1.0,
        "singular_values" | "full_scaled_design_singular_values" => largest(name),
        "scaled_condition" => of("scaled_condition").powi(2),
        _ => 0.0,
    }
}

/// A place in one file that must hold what a place in another does.
struct Agreement {
    code: Code,
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
    Agreement { code: Code::Provenance, file, path, with_file, with_path }
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

fn check_provenance(evidence: &Evidence, model: &Document, recorder: &mut Recorder) {
    for agreement in &AGREEMENTS {
        let (Ok(document), Ok(with)) = (evidence.document(agreement.file), evidence.document(agreement.with_file))
        else {
            continue;
        };
        let (Some(found), Some(expected)) =
            (document.root().path(agreement.path), with.root().path(agreement.with_path))
        else {
            continue;
        };
        if super::same_value(found, expected) {
            recorder.held();
        } else {
            let pointer = with.pointer_of(expected).unwrap_or_default();
            let expected = format_args!("{}, as in {} at {pointer}", show(expected), agreement.with_file);
            recorder.report_at(agreement.code, document, found, expected, show(found));
        }
    }
    if let Ok(device) = evidence.document(files::DEVICE)
        && let Some(declared) = model.root().path(&["profile", "device_declared_identity"])
    {
        compare_within(recorder, device, device.root(), declared, &|_| Code::Provenance, &|_, _| 0.0);
    }
}
