//! Model: everything in `model.json` that follows from the runs and the device is rebuilt by a refit and compared; ids and
//! hashes agree across the files that name them.

mod provenance;

use super::evidence::{Evidence, Options, PartitionEvidence, RefitEvidence};
use super::{CheckReport, Code, Family, Recorder, compare_within, report_problems};
use crate::package::json::{Document, Json};
use crate::package::partition::{Reader, files};
use crate::refit::{document, is_trainable};

/// Members that no refit gives, and that a model has all the same.
const REQUIRED: [&str; 5] = ["profile", "profile_id", "original_profile_id", "input_receipts", "limitations"];

/// Runs the family.
pub fn check(package: &PartitionEvidence<'_>, refit: &RefitEvidence<'_, '_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Model, options.tolerance);
    let model = match package.evidence.document(files::MODEL) {
        Ok(model) => model,
        Err(reason) => return recorder.not_run(reason),
    };
    check_profile_id(model, &mut recorder);
    provenance::check(package.evidence, &mut recorder);
    match refit {
        Ok(refit) => {
            check_rebuilt(model, &refit.document, &mut recorder);
            note_left_out(package, &mut recorder);
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
    let reader = Reader::new(model);
    for member in REQUIRED {
        let _ = reader.member(root, member);
    }
    report_problems(recorder, model, reader.into_problems());
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
        let same_words = (name == "profile").then(|| with_own_words(found, expected)).flatten();
        let expected = same_words.as_ref().unwrap_or(expected);
        compare_within(recorder, model, found, expected, &|names| code_of(name, names), &scale);
    }
}

/// The rebuilt profile with the recorded words for the training statistic, where they are others and say the same.
fn with_own_words(found: &Json, expected: &Json) -> Option<Json> {
    let statistic = |profile: &Json| {
        profile.path(&["fixed_policy", "training_statistic"]).and_then(Json::as_str).map(str::to_owned)
    };
    let (stated, derived) = (statistic(found)?, statistic(expected)?);
    if stated == derived || !document::says_statistic(&stated, &derived) {
        return None;
    }
    let mut expected = expected.clone();
    let Json::Object(profile) = &mut expected else { return None };
    let (_, policy) = profile.iter_mut().find(|(name, _)| name == "fixed_policy")?;
    let Json::Object(policy) = policy else { return None };
    policy.iter_mut().find(|(name, _)| name == "training_statistic")?.1 = Json::Str(stated);
    Some(expected)
}

/// Cases that the fit cannot use are said.
fn note_left_out(package: &PartitionEvidence<'_>, recorder: &mut Recorder) {
    let Ok(validation) = package.validation() else { return };
    for record in validation.cases.iter().filter(|record| !is_trainable(record)) {
        recorder.note(format!("case {} is not fitted: a native run of it failed", record.case.id));
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
