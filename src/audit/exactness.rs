//! Exactness: the recorded coefficients against the optimum in exact rational arithmetic.

use super::evidence::{Options, PartitionEvidence, RefitEvidence};
use super::{CheckReport, Code, Family, Recorder, show};
use crate::fit::exact::{ExactFit, nearest_f64, ulp_distance};
use crate::package::json::{Document, Json, python_float};
use crate::package::partition::files;
use crate::refit::exact_models;

/// Runs the family.
pub(super) fn check(package: &PartitionEvidence<'_>, refit: &RefitEvidence<'_, '_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Exactness, options.tolerance);
    let (model, refit) = match (package.evidence.document(files::MODEL), refit) {
        (Ok(model), Ok(refit)) => (model, &refit.refit),
        (Err(reason), _) => return recorder.not_run(reason),
        (_, Err(reason)) => return recorder.not_run(reason.clone()),
    };
    let exact = match exact_models(&refit.observations, &refit.groups) {
        Ok(exact) => exact,
        Err(error) => return recorder.not_run(error.to_string()),
    };
    let mut largest = 0.0_f64;
    let root = model.root();
    if let Some(recorded) = root.get("full_training_model") {
        largest = largest.max(compare(&mut recorder, model, recorded, &exact.full));
    }
    let folds = root.path(&["outer_leave_geometry_out", "folds"]).and_then(Json::as_array).unwrap_or_default();
    for (held, exact) in refit.groups.iter().zip(&exact.folds) {
        let recorded = folds.iter().find(|fold| fold.get("held_group").and_then(Json::as_str) == Some(held));
        if let Some(recorded) = recorded.and_then(|fold| fold.get("model")) {
            largest = largest.max(compare(&mut recorder, model, recorded, exact));
        }
    }
    let nearest: Vec<_> = exact.full.coefficients.iter().map(|value| python_float(nearest_f64(value))).collect();
    recorder.note(format!("the exact optimum of the full fit rounds to {}", nearest.join(", ")));
    recorder.note(format!("the recorded coefficient furthest from its exact optimum is {largest:.1} ulp away"));
    recorder.finish()
}

/// Compares one recorded fit; gives the largest distance in ulp.
fn compare(recorder: &mut Recorder, document: &Document, recorded: &Json, exact: &ExactFit) -> f64 {
    if let Some(mask) = recorded.get("active_mask") {
        let expected = Json::from(u64::from(exact.mask));
        recorder.require(
            *mask == expected && exact.kkt_holds,
            Code::ExactSubset,
            document,
            mask,
            format_args!("mask {}, whose optimality conditions hold", exact.mask),
            show(mask),
        );
    }
    let coefficients = recorded.get("coefficients").and_then(Json::as_array).unwrap_or_default();
    let mut largest = 0.0_f64;
    for (found, exact) in coefficients.iter().zip(&exact.coefficients) {
        recorder.close(Code::ExactOptimum, document, found, nearest_f64(exact), 0.0);
        if let Some(found) = found.as_f64() {
            largest = largest.max(ulp_distance(found, exact));
        }
    }
    largest
}
