//! Exactness: the recorded coefficients against the optimum in exact rational arithmetic.

use super::evidence::{Options, PartitionEvidence, RefitEvidence};
use super::{CheckReport, Code, Family, Recorder, show};
use num_rational::BigRational;

use crate::fit::exact::{ExactFit, ExactOutcome, nearest_f64, ulp_distance};
use crate::fit::nnls::TIE_TOLERANCE;
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
    let mask = recorded.get("active_mask");
    let recorded_subset = mask.and_then(Json::as_u64).and_then(|mask| tied_subset(exact, mask));
    if let Some(mask) = mask {
        recorder.require(
            recorded_subset.is_some() && exact.kkt_holds,
            Code::ExactSubset,
            document,
            mask,
            format_args!("mask {}, whose optimality conditions hold", exact.mask),
            show(mask),
        );
    }
    let exact_coefficients = recorded_subset.unwrap_or(&exact.coefficients);
    let coefficients = recorded.get("coefficients").and_then(Json::as_array).unwrap_or_default();
    let mut largest = 0.0_f64;
    for (found, exact) in coefficients.iter().zip(exact_coefficients) {
        recorder.close(Code::ExactOptimum, document, found, nearest_f64(exact), 0.0);
        if let Some(found) = found.as_f64() {
            largest = largest.max(ulp_distance(found, exact));
        }
    }
    largest
}

/// The coefficients of the recorded subset, if it is the exact winner or ties with it by the published rule: two
/// objectives within the tolerance of each other (relative, but at least absolute) are not told apart in binary64.
fn tied_subset(exact: &ExactFit, mask: u64) -> Option<&Vec<BigRational>> {
    if u64::from(exact.mask) == mask {
        return Some(&exact.coefficients);
    }
    let subset = exact.subsets.iter().find(|subset| u64::from(subset.mask) == mask)?;
    match &subset.outcome {
        ExactOutcome::Feasible { coefficients, weighted_sse } => {
            let (best, other) = (nearest_f64(&exact.weighted_sse), nearest_f64(weighted_sse));
            let gap = nearest_f64(&(weighted_sse - &exact.weighted_sse));
            (gap <= TIE_TOLERANCE * best.max(other).max(1.0)).then_some(coefficients)
        }
        _ => None,
    }
}
