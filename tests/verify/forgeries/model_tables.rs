//! Observations, weights, subsets, residuals, decisions, metrics, folds and drift.

use recount::package::json::Json;

use crate::common::json::{at, bump, copy, scale, set, take};

forgeries! {
    an_observation_has_the_measured_median:
        "model.json", "/training_observations/4/measured_us", |root, at| scale(root, at, 1.0 + 1e-9) => "observation";
    an_observation_has_the_derived_features:
        "model.json", "/training_observations/4/features/2", |root, at| scale(root, at, 2.0) => "observation";
    an_observation_has_the_derived_facts:
        "model.json", "/training_observations/4/facts/tail_valid_extent", |root, at| bump(root, at, 1) => "observation";
    an_observation_has_the_compilers_facts:
        "model.json", "/training_observations/4/actual_ir/largest_tile", |root, at| bump(root, at, 1) => "observation";
    an_observation_has_the_runs_samples:
        "model.json", "/training_observations/4/samples/3", |root, at| scale(root, at, 1.0 + 1e-9) => "observation";
    an_observation_is_of_its_case:
        "model.json", "/training_observations/4/case_provenance/seed", |root, at| bump(root, at, 1) => "observation";
    observations_stand_in_their_order:
        "model.json", "/training_observations/0/record_id",
        |root, _| {
            let Json::Array(observations) = at(root, "/training_observations") else { panic!("observations") };
            observations.swap(0, 1);
        } => "observation";
    every_observation_is_there:
        "model.json", "/training_observations",
        |root, at| {
            take(root, &format!("{at}/11"));
        } => "observation";
    a_weight_is_its_groups_share:
        "model.json", "/full_training_model/sample_weights/0", |root, at| scale(root, at, 1.5) => "weight";
    a_scale_is_of_the_training_set_only:
        "model.json", "/outer_leave_geometry_out/folds/0/model/training_scales/2",
        |root, at| set(root, at, copy(root, "/full_training_model/training_scales/2")) => "weight";
    a_training_set_names_its_groups:
        "model.json", "/full_training_model/training_groups/0", |root, at| set(root, at, "[1,2,3,4]") => "weight";
    a_training_set_names_its_records:
        "model.json", "/full_training_model/training_record_ids/0", |root, at| set(root, at, "other:default") => "weight";
    a_subsets_objective_is_what_a_refit_gives:
        "model.json", "/full_training_model/active_subsets/3/weighted_sse",
        |root, at| scale(root, at, 1.0 + 1e-9) => "subset";
    a_subsets_status_is_what_a_refit_gives:
        "model.json", "/full_training_model/active_subsets/5/status",
        |root, at| set(root, at, "negative_active_coefficient") => "subset";
    a_subset_that_was_refused_stays_refused:
        "model.json", "/outer_leave_geometry_out/folds/2/model/active_subsets/6/status",
        |root, at| set(root, at, "feasible") => "subset";
    a_subsets_coefficients_are_what_a_refit_gives:
        "model.json", "/outer_leave_geometry_out/folds/0/model/active_subsets/1/coefficients/0",
        |root, at| scale(root, at, 1.0 + 1e-9) => "subset";
    a_subsets_singular_values_are_what_a_refit_gives:
        "model.json", "/full_training_model/active_subsets/7/singular_values/0",
        |root, at| scale(root, at, 1.0 + 1e-9) => "subset";
    a_subsets_condition_is_what_a_refit_gives:
        "model.json", "/full_training_model/active_subsets/7/scaled_condition",
        |root, at| scale(root, at, 1.0 + 1e-6) => "subset";
    a_subsets_rank_is_what_a_refit_gives:
        "model.json", "/full_training_model/active_subsets/7/rank", |root, at| bump(root, at, -1) => "subset";
    a_designs_rank_is_what_a_refit_gives:
        "model.json", "/full_training_model/full_scaled_design_rank", |root, at| bump(root, at, -1) => "subset";
    all_eight_subsets_are_there:
        "model.json", "/full_training_model/active_subsets",
        |root, at| {
            take(root, &format!("{at}/3"));
        } => "subset";
    a_residual_is_what_a_refit_gives:
        "model.json", "/full_training_evaluation/residuals/5/predicted_us",
        |root, at| scale(root, at, 1.0 + 1e-9) => "residual";
    a_relative_error_is_what_a_refit_gives:
        "model.json", "/outer_leave_geometry_out/folds/1/residuals/0/relative_error",
        |root, at| scale(root, at, -1.0) => "residual";
    a_signed_error_is_what_a_refit_gives:
        "model.json", "/outer_leave_geometry_out/folds/1/residuals/0/signed_error_us",
        |root, at| scale(root, at, 1.000_1) => "residual";
    an_observed_time_is_the_measured_one:
        "model.json", "/full_training_evaluation/residuals/5/observed_us",
        |root, at| scale(root, at, 1.0 + 1e-9) => "residual";
    a_decision_is_what_a_refit_gives:
        "model.json", "/outer_leave_geometry_out/folds/0/decisions/0/decision/selected_schedule",
        |root, at| set(root, at, "rows1") => "decision";
    a_reason_is_the_decisions:
        "model.json", "/full_training_evaluation/decisions/0/decision/reason",
        |root, at| set(root, at, "retain_original") => "decision";
    a_score_is_what_a_refit_gives:
        "model.json", "/full_training_evaluation/decisions/0/decision/scores_us_proxy/rows1",
        |root, at| scale(root, at, 1.0 + 1e-9) => "decision";
    a_predicted_ratio_is_that_of_the_scores:
        "model.json", "/full_training_evaluation/decisions/0/decision/predicted_ratio",
        |root, at| scale(root, at, 0.99) => "decision";
    an_observed_ratio_is_that_of_the_medians:
        "model.json", "/full_training_evaluation/decisions/0/observed_policy_ratio",
        |root, at| scale(root, at, 0.99) => "decision";
    a_candidates_ratio_is_that_of_the_medians:
        "model.json", "/full_training_evaluation/decisions/0/all_candidate_ratios/rows1",
        |root, at| scale(root, at, 0.99) => "decision";
    a_decision_is_not_enabled_in_production:
        "model.json", "/full_training_evaluation/decisions/0/decision/production_enabled",
        |root, at| set(root, at, true) => "decision";
    a_summary_metric_is_what_the_decisions_give:
        "model.json", "/outer_leave_geometry_out/summary/geometry_equal_weight_policy_geomean",
        |root, at| scale(root, at, 0.999) => "metric";
    a_full_fits_metric_is_what_the_decisions_give:
        "model.json", "/full_training_metrics/worst_policy_ratio", |root, at| scale(root, at, 0.999) => "metric";
    a_count_of_selected_cases_is_counted:
        "model.json", "/full_training_metrics/selected", |root, at| bump(root, at, 1) => "metric";
    a_fold_holds_out_its_geometry:
        "model.json", "/outer_leave_geometry_out/folds/0/held_group",
        |root, at| set(root, at, copy(root, "/outer_leave_geometry_out/folds/1/held_group")) => "fold";
    every_geometry_has_a_fold:
        "model.json", "/outer_leave_geometry_out/folds",
        |root, at| {
            take(root, &format!("{at}/2"));
        } => "fold";
    a_drift_is_that_of_the_medians:
        "model.json", "/baseline_recheck_and_all_candidates/0/default_recheck_drift",
        |root, at| scale(root, at, 1.01) => "drift";
    a_recheck_ratio_is_that_of_the_medians:
        "model.json", "/baseline_recheck_and_all_candidates/0/default_recheck_ratio",
        |root, at| scale(root, at, 1.0 + 1e-9) => "drift";
    a_candidates_ratio_to_the_recheck_is_that_of_the_medians:
        "model.json", "/baseline_recheck_and_all_candidates/0/candidates/rows2/over_recheck",
        |root, at| scale(root, at, 1.0 + 1e-9) => "drift";
    a_regression_is_called_one:
        "model.json", "/baseline_recheck_and_all_candidates/3/candidates/rows1/regression",
        |root, at| set(root, at, false) => "drift";
    a_record_of_drift_has_the_samples:
        "model.json", "/baseline_recheck_and_all_candidates/0/timings/recheck/samples/0",
        |root, at| scale(root, at, 1.0 + 1e-9) => "drift";
}
