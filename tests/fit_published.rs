//! The published package's model, refitted from its own observations.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[path = "common/shared.rs"]
mod shared;

use num_traits::{Signed, Zero};
use recount::fit::exact::{ExactOutcome, ExactRow, GroupSums, nearest_f64, rational, ulp_distance};
use recount::fit::folds::leave_one_group_out;
use recount::fit::metrics::{Metrics, PolicyOutcome};
use recount::fit::nnls::{self, Fit, Row, SubsetOutcome};
use recount::fit::policy::{Decision, decide};
use recount::fit::{Facts, Geometry, Schedule, median};
use serde_json::Value;

struct Published {
    model: Value,
    /// Groups' keys, sorted; a row's group is an index into them.
    groups: Vec<String>,
    rows: Vec<Row>,
}

fn published() -> Option<Published> {
    let text = shared::shared_text("packages/program-partition/model.json")?;
    let model: Value = serde_json::from_str(&text).expect("model.json is JSON");
    let groups: Vec<String> = list(&model["full_training_model"]["training_groups"]).iter().map(text_of).collect();
    let rows = list(&model["training_observations"])
        .iter()
        .map(|observation| Row {
            group: groups.iter().position(|key| observation["group"] == **key).expect("a group of its own model"),
            features: floats(&observation["features"]),
            observed: float(&observation["measured_us"]),
        })
        .collect();
    Some(Published { model, groups, rows })
}

impl Published {
    fn exact(&self) -> GroupSums {
        let exactly = |value: &f64| rational(*value).expect("finite");
        let rows: Vec<ExactRow> = self
            .rows
            .iter()
            .map(|row| ExactRow {
                group: row.group,
                features: row.features.iter().map(exactly).collect(),
                observed: exactly(&row.observed),
            })
            .collect();
        GroupSums::accumulate(&rows).expect("rows that sum up")
    }

    fn folds(&self) -> &[Value] {
        list(&self.model["outer_leave_geometry_out"]["folds"])
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn float(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn floats(value: &Value) -> Vec<f64> {
    list(value).iter().map(float).collect()
}

fn text_of(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn integer(value: &Value) -> u64 {
    value.as_u64().expect("an integer")
}

/// Within 1e-12, relative to the larger.
fn close(found: f64, recorded: f64) -> bool {
    (found - recorded).abs() <= 1e-12 * found.abs().max(recorded.abs())
}

fn assert_close(found: &[f64], recorded: &Value, what: &str) {
    let recorded = floats(recorded);
    assert_eq!(found.len(), recorded.len(), "{what}");
    for (at, (&found, &recorded)) in found.iter().zip(&recorded).enumerate() {
        assert!(close(found, recorded), "{what}[{at}]: {found:?} is not {recorded:?}");
    }
}

fn assert_reproduces(fit: &Fit, weights: &[f64], recorded: &Value, what: &str) {
    assert_close(&fit.coefficients, &recorded["coefficients"], &format!("{what} coefficients"));
    assert_close(&[fit.weighted_sse], &Value::from(vec![float(&recorded["weighted_sse"])]), what);
    assert_close(&fit.scales, &recorded["training_scales"], &format!("{what} scales"));
    assert_eq!(weights, floats(&recorded["sample_weights"]), "{what} weights");
    assert_close(
        &fit.singular_values,
        &recorded["full_scaled_design_singular_values"],
        &format!("{what} singular values"),
    );
    assert_eq!(fit.rank as u64, integer(&recorded["full_scaled_design_rank"]), "{what} rank");
    assert_eq!(u64::from(fit.active_mask), integer(&recorded["active_mask"]), "{what} mask");
    assert!(fit.kkt.holds, "{what}: {:?}", fit.kkt);
    let subsets = list(&recorded["active_subsets"]);
    assert_eq!(fit.subsets.len(), subsets.len(), "{what}");
    for (subset, recorded) in fit.subsets.iter().zip(subsets) {
        let what = format!("{what} subset {}", subset.mask);
        assert_eq!(u64::from(subset.mask), integer(&recorded["mask"]), "{what}");
        match &subset.outcome {
            SubsetOutcome::RankDeficient { rank } => {
                assert_eq!(recorded["status"], "rank_deficient", "{what}");
                assert_eq!(*rank as u64, integer(&recorded["rank"]), "{what}");
            }
            SubsetOutcome::NegativeActive => assert_eq!(recorded["status"], "negative_active_coefficient", "{what}"),
            SubsetOutcome::Feasible { coefficients, weighted_sse, rank, singular_values, condition } => {
                assert_eq!(recorded["status"], "feasible", "{what}");
                assert_close(coefficients, &recorded["coefficients"], &what);
                assert!(close(*weighted_sse, float(&recorded["weighted_sse"])), "{what}: {weighted_sse}");
                assert_eq!(*rank as u64, integer(&recorded["rank"]), "{what}");
                assert_close(singular_values, &recorded["singular_values"], &what);
                match condition {
                    Some(condition) => assert!(close(*condition, float(&recorded["scaled_condition"])), "{what}"),
                    None => assert!(recorded["scaled_condition"].is_null(), "{what}"),
                }
            }
        }
    }
}

#[test]
fn every_recorded_fact_follows_from_geometry_and_schedule() {
    let Some(published) = published() else { return };
    let device = &published.model["profile"]["device_declared_identity"];
    let observations = list(&published.model["training_observations"]);
    assert_eq!(observations.len(), 48);
    for observation in observations {
        let case = &observation["case_provenance"];
        let geometry = Geometry {
            rows: integer(&case["dimensions"][0]),
            columns: integer(&case["dimensions"][1]),
            block: integer(&case["tile"][0]),
            width: integer(&case["tile"][1]),
        };
        let schedule = Schedule::from_name(&text_of(&observation["schedule"])).expect("a schedule");
        let storage = if case["precision"] == "fp32" { 4 } else { 2 };
        let facts = Facts::of(geometry, schedule, storage, integer(&device["sm_count"])).expect("facts");
        let recorded = &observation["facts"];
        let expected = serde_json::json!({
            "programs": facts.programs,
            "independent_extent": facts.independent_extent,
            "full_programs": facts.full_programs,
            "tail_valid_extent": facts.tail_valid_extent,
            "contribution_extent": facts.contribution_extent,
            "logical_contribution_extent": facts.logical_contribution_extent,
            "padded_independent": facts.padded_independent,
            "collective_input_per_program": facts.collective_input_per_program,
            "collective_input_total": facts.collective_input_total,
            "valid_input_bytes": facts.valid_input_bytes,
            "valid_output_bytes": facts.valid_output_bytes,
            "input_snapshot_bytes": facts.input_snapshot_bytes,
            "fp32_source_bytes": facts.fp32_source_bytes,
            "fp32_result_bytes": facts.fp32_result_bytes,
            "output_value_bytes": facts.output_value_bytes,
            "independent_bounds_elidable": facts.independent_bounds_elidable,
            "contribution_bounds_elidable": facts.contribution_bounds_elidable,
            "candidate_peak_state": recorded["candidate_peak_state"],
            "logical_batches": facts.logical_batches,
            "demand": facts.demand,
            "features": facts.features(),
        });
        assert_eq!(*recorded, expected, "{}", observation["record_id"]);
        assert_eq!(observation["group"], geometry.key());
        assert_eq!(integer(&observation["requested_extent"]), schedule.requested());
        assert_eq!(floats(&observation["features"]), facts.features());
        assert_eq!(median(&floats(&observation["samples"])), Some(float(&observation["measured_us"])));
    }
}

#[test]
fn the_full_fit_reproduces_every_recorded_number() {
    let Some(published) = published() else { return };
    let fit = nnls::fit(&published.rows).expect("a fit");
    assert_reproduces(&fit, &nnls::weights(&published.rows), &published.model["full_training_model"], "full");
}

#[test]
fn every_fold_reproduces_its_recorded_model_and_residuals() {
    let Some(published) = published() else { return };
    let order: Vec<usize> = (0..published.groups.len()).collect();
    let folds = leave_one_group_out(&published.rows, &order).expect("folds");
    assert_eq!(folds.len(), published.folds().len());
    let (mut relative, mut absolute) = (0.0_f64, 0.0_f64);
    for (fold, recorded) in folds.iter().zip(published.folds()) {
        assert_eq!(recorded["held_group"], *published.groups[fold.held]);
        let training: Vec<Row> = published.rows.iter().filter(|row| row.group != fold.held).cloned().collect();
        assert_reproduces(&fold.fit, &nnls::weights(&training), &recorded["model"], &published.groups[fold.held]);
        let residuals = list(&recorded["residuals"]);
        assert_eq!(fold.held_rows.len(), residuals.len());
        for (&row, recorded) in fold.held_rows.iter().zip(residuals) {
            let row = &published.rows[row];
            let predicted = nnls::predict(&fold.fit.coefficients, &row.features);
            assert!(close(predicted, float(&recorded["predicted_us"])), "{}", recorded["record_id"]);
            let off = predicted / row.observed - 1.0;
            relative = if off.abs() > relative.abs() { off } else { relative };
            absolute = absolute.max((predicted - row.observed).abs());
        }
    }
    assert_eq!(format!("{:+.2} %, {absolute:.3} us", 100.0 * relative), "+82.06 %, 3.898 us");
}

#[test]
fn the_exact_optimum_is_known_to_the_last_bit() {
    let Some(published) = published() else { return };
    let fit = published.exact().fit(None).expect("a fit");
    assert_eq!(fit.mask, 5);
    assert!(fit.kkt_holds);
    assert_eq!(nearest_f64(&fit.coefficients[0]), 0.902_889_974_724_508_5);
    assert!(fit.coefficients[1].is_zero());
    assert_eq!(nearest_f64(&fit.coefficients[2]), 0.000_113_270_310_901_199_65);
    let recorded = floats(&published.model["full_training_model"]["coefficients"]);
    assert_eq!(recorded[0], 0.902_889_974_724_508_4);
    for (at, (&recorded, exact)) in recorded.iter().zip(&fit.coefficients).enumerate() {
        let distance = ulp_distance(recorded, exact);
        println!("a{at}: recorded {recorded:?}, exact {:?}, {distance:.3} ulp apart", nearest_f64(exact));
        assert!(distance < 2.0);
    }
}

#[test]
fn exact_and_binary64_agree_on_every_subset_of_every_fit() {
    let Some(published) = published() else { return };
    let sums = published.exact();
    let order: Vec<usize> = (0..published.groups.len()).collect();
    let folds = leave_one_group_out(&published.rows, &order).expect("folds");
    let full = (None, nnls::fit(&published.rows).expect("a fit"));
    for (excluded, fit) in folds.into_iter().map(|fold| (Some(fold.held), fold.fit)).chain([full]) {
        let exact = sums.fit(excluded).expect("a fit");
        assert!(exact.kkt_holds);
        assert_eq!(exact.mask, fit.active_mask);
        for (left, right) in exact.subsets.iter().zip(&fit.subsets) {
            match (&left.outcome, &right.outcome) {
                (
                    ExactOutcome::Feasible { coefficients: exact, weighted_sse: exact_sse },
                    SubsetOutcome::Feasible { coefficients, weighted_sse, .. },
                ) => {
                    assert!(close(*weighted_sse, nearest_f64(exact_sse)));
                    assert!(exact.iter().all(|value| !value.is_negative()));
                    assert!(coefficients.iter().zip(exact).all(|(&value, exact)| close(value, nearest_f64(exact))));
                }
                (ExactOutcome::NegativeActive, SubsetOutcome::NegativeActive) => {}
                (exact, binary) => panic!("subset {}: {exact:?} against {binary:?}", left.mask),
            }
        }
    }
}

#[test]
fn decisions_and_metrics_follow_from_the_models() {
    let Some(published) = published() else { return };
    let fraction = float(&published.model["profile"]["fixed_policy"]["improvement_fraction"]);
    let recorded: Vec<&Value> = published.folds().iter().flat_map(|fold| list(&fold["decisions"])).collect();
    let mut outcomes = Vec::new();
    for case in recorded {
        let scores = Schedule::ALL.map(|schedule| float(&case["decision"]["scores_us_proxy"][schedule.name()]));
        let Decision { selected, predicted_ratio, improves, .. } = decide(scores, fraction).expect("a decision");
        assert_eq!(case["decision"]["selected_schedule"], selected.name());
        assert_eq!(predicted_ratio, float(&case["decision"]["predicted_ratio"]));
        assert_eq!(case["decision"]["reason"] == "point_prediction_exceeds_five_percent", improves);
        outcomes.push(PolicyOutcome {
            group: text_of(&case["group"]),
            selected,
            ratio: float(&case["observed_policy_ratio"]),
        });
    }
    let metrics = Metrics::of(&outcomes).expect("metrics");
    let summary = &published.model["outer_leave_geometry_out"]["summary"];
    assert_eq!(metrics.cases, integer(&summary["cases"]));
    assert_eq!(metrics.groups, integer(&summary["groups"]));
    assert_eq!(metrics.selected, integer(&summary["selected"]));
    assert_eq!(metrics.selected_regressions, integer(&summary["selected_regressions"]));
    assert_eq!(
        metrics.selected_regressions_over_five_percent,
        integer(&summary["selected_regressions_over_five_percent"])
    );
    assert_eq!(metrics.worst_policy_ratio, float(&summary["worst_policy_ratio"]));
    assert!(close(
        metrics.geometry_equal_weight_policy_geomean,
        float(&summary["geometry_equal_weight_policy_geomean"])
    ));
}

#[test]
fn the_exact_fits_are_quick() {
    let Some(published) = published() else { return };
    let repeats = 20;
    let start = std::time::Instant::now();
    for _ in 0..repeats {
        let sums = published.exact();
        let excluded = [None].into_iter().chain(sums.groups().map(Some));
        let fits: Vec<_> = excluded.map(|excluded| sums.fit(excluded)).collect();
        assert!(fits.len() == 9 && fits.iter().all(Result::is_ok));
    }
    // Generous: unoptimised builds and busy machines run this too. What it guards against is a cubic mistake.
    let each = start.elapsed() / repeats;
    println!("accumulating and nine exact fits: {each:?}");
    assert!(each.as_millis() < 100);
}
