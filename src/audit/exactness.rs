//! Exactness: the recorded coefficients against the optimum in exact rational arithmetic.

use super::evidence::{Options, PartitionEvidence, RefitEvidence};
use super::{CheckReport, Code, Family, Recorder, show};
use num_rational::BigRational;

use crate::fit::exact::{ExactFit, ExactOutcome, nearest_f64, ulp_distance};
use crate::fit::nnls::{Fit, SubsetOutcome, TIE_TOLERANCE};
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
        largest = largest.max(compare(&mut recorder, model, recorded, &exact.full, &refit.full.fit));
    }
    let folds = root.path(&["outer_leave_geometry_out", "folds"]).and_then(Json::as_array).unwrap_or_default();
    for ((held, exact), fold) in refit.groups.iter().zip(&exact.folds).zip(&refit.folds) {
        let recorded = folds.iter().find(|fold| fold.get("held_group").and_then(Json::as_str) == Some(held));
        if let Some(recorded) = recorded.and_then(|fold| fold.get("model")) {
            largest = largest.max(compare(&mut recorder, model, recorded, exact, &fold.evaluated.fit));
        }
    }
    let nearest: Vec<_> = exact.full.coefficients.iter().map(|value| python_float(nearest_f64(value))).collect();
    recorder.note(format!("the exact optimum of the full fit rounds to {}", nearest.join(", ")));
    recorder.note(format!("the recorded coefficient furthest from its exact optimum is {largest:.1} ulp away"));
    recorder.finish()
}

/// Compares one recorded fit, of which `fit` is the refit; gives the largest distance in ulp.
fn compare(recorder: &mut Recorder, document: &Document, recorded: &Json, exact: &ExactFit, fit: &Fit) -> f64 {
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
    let exact_coefficients = exact_coefficients.iter().zip(magnitudes(exact_coefficients, fit));
    let mut largest = 0.0_f64;
    for (found, (exact, magnitude)) in coefficients.iter().zip(exact_coefficients) {
        recorder.close(Code::ExactOptimum, document, found, nearest_f64(exact), magnitude);
        if let Some(found) = found.as_f64() {
            largest = largest.max(ulp_distance(found, exact));
        }
    }
    largest
}

/// What the rounding errors of each coefficient are relative to: the largest scaled one, times the condition of the columns.
/// A solution in binary64 is accurate as a whole. A coefficient with a small share in it has fewer correct digits.
fn magnitudes(exact: &[BigRational], fit: &Fit) -> Vec<f64> {
    let chosen = fit.subsets.iter().find(|subset| subset.mask == fit.active_mask);
    let condition = match chosen.map(|subset| &subset.outcome) {
        Some(SubsetOutcome::Feasible { condition: Some(condition), .. }) => *condition,
        _ => 1.0,
    };
    let scaled = exact.iter().zip(&fit.scales).map(|(value, scale)| nearest_f64(value).abs() * scale);
    let largest = scaled.fold(0.0, f64::max);
    fit.scales.iter().map(|scale| condition * largest / scale).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::exact::{ExactRow, GroupSums, rational};
    use crate::fit::nnls::{Row, fit};

    /// Times that hardly depend on a feature, such as those of short rows on a host: its coefficient nearly cancels.
    #[test]
    fn a_coefficient_with_a_small_share_has_fewer_correct_digits() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut worst_relative = 0.0_f64;
        for _ in 0..300 {
            let rows: Vec<Row> = (0..6)
                .map(|at| Row {
                    group: at / 3,
                    features: vec![1.0, f64::from(random.u32(1..20)), f64::from(random.u32(64..2000))],
                    observed: 1.4 + 1e-5 * random.f64(),
                })
                .collect();
            let exact_rows = rows.iter().map(|row| ExactRow {
                group: row.group,
                features: row.features.iter().map(|&value| rational(value).unwrap()).collect(),
                observed: rational(row.observed).unwrap(),
            });
            let exact = GroupSums::accumulate(&exact_rows.collect::<Vec<_>>()).unwrap().fit(None).unwrap();
            // A producer's solver in plain binary64 answers for observations that are off by a unit in the last place.
            let disturbed = |row: &Row| Row { observed: row.observed.next_up(), ..row.clone() };
            let producers: Vec<Row> =
                rows.iter().map(|row| if random.bool() { disturbed(row) } else { row.clone() }).collect();
            let fit = fit(&producers).unwrap();
            if fit.active_mask != exact.mask {
                continue;
            }
            for ((found, exact), magnitude) in
                fit.coefficients.iter().zip(&exact.coefficients).zip(magnitudes(&exact.coefficients, &fit))
            {
                let (exact, distance) = (nearest_f64(exact), (found - nearest_f64(exact)).abs());
                assert!(distance <= 1e-13 * magnitude, "{found:e} {exact:e} {magnitude:e}");
                if exact > 0.0 {
                    worst_relative = worst_relative.max(distance / exact);
                }
            }
        }
        assert!(worst_relative > 1e-12, "{worst_relative:e}: nothing here needs more than the usual tolerance");
    }
}
