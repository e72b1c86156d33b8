//! The model in the published schema, `independent-partition-nnls-v1`.

use super::{CaseDecision, Evaluated, FoldResult, IMPROVEMENT_FRACTION, Observation, Refit, Residual};
use crate::fit::metrics::Metrics;
use crate::fit::nnls::{Fit, NEGATIVE_TOLERANCE, Subset, SubsetOutcome, TIE_TOLERANCE};
use crate::fit::{Facts, Schedule};
use crate::package::digest::digest;
use crate::package::json::{Json, canonical, object};
use crate::package::partition::{CaseRecord, RECHECK, Validation, realization_facts};

/// The schema's name.
pub const SCHEMA: &str = "independent-partition-nnls-v1";

const CONFIDENCE: &str = "uncalibrated";

/// SHA-256 of a profile's canonical JSON.
pub fn profile_id(profile: &Json) -> String {
    digest(canonical(profile).as_bytes()).sha256
}

/// The model's formula on `processors` multiprocessors: q in microseconds, P programs, b rows per program, W the width.
pub fn formula(processors: u64) -> String {
    format!("q = a0 + aP*P + aD*ceil(P/{processors})*b*W")
}

/// Names of the features, in the order of the coefficients.
pub fn feature_names() -> Json {
    Json::from(vec!["constant", "programs", "logical_batches_times_collective_volume"])
}

/// What of the model follows from the package's runs and device: every member but the provenance of its files.
pub fn derived(refit: &Refit<'_, '_>, validation: &Validation<'_>, device: &Json, sm_count: u64) -> Json {
    let observations = &refit.observations;
    let profile = profile(refit, validation, device, sm_count);
    object([
        ("schema", Json::from(SCHEMA)),
        ("status", Json::from("fitted_diagnostic_not_deployed")),
        ("profile_id", Json::from(profile_id(&profile))),
        ("profile", profile),
        ("full_training_model", model(&refit.full.fit, refit, None)),
        ("training_observations", Json::Array(observations.iter().map(observation).collect())),
        ("full_training_evaluation", evaluation(&refit.full, observations)),
        ("full_training_metrics", metrics(&refit.full.metrics)),
        (
            "outer_leave_geometry_out",
            object([
                ("folds", Json::Array(refit.folds.iter().map(|result| fold(result, refit)).collect())),
                ("summary", metrics(&refit.summary)),
            ]),
        ),
        ("baseline_recheck_and_all_candidates", Json::Array(validation.cases.iter().filter_map(drift).collect())),
    ])
}

/// The whole model: what is derived, and what a recorded model says besides (its files' provenance and its limits).
pub fn complete(derived: Json, recorded: Option<&Json>) -> Json {
    let Json::Object(mut members) = derived else { return derived };
    let carried = ["limitations", "input_receipts", "original_profile_id", "profile_id_scope"];
    for name in carried {
        if let Some(value) = recorded.and_then(|recorded| recorded.get(name)) {
            members.push((name.to_owned(), value.clone()));
        }
    }
    Json::Object(members)
}

fn profile(refit: &Refit<'_, '_>, validation: &Validation<'_>, device: &Json, sm_count: u64) -> Json {
    let stated = validation.document.root();
    let queues = [("rescue", "rescue_queue_receipt"), ("original_failed", "original_failed_queue")];
    let queues: Vec<_> =
        queues.into_iter().filter_map(|(name, member)| Some((name.to_owned(), stated.get(member)?.clone()))).collect();
    let mut provenance: Vec<_> = ["status", "build_snapshot"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), stated.get(name)?.clone())))
        .collect();
    if !queues.is_empty() {
        provenance.push(("queue_identity".to_owned(), Json::Object(queues)));
    }
    provenance.extend(stated.get("native_revalidation").map(|value| ("native_revalidation".to_owned(), value.clone())));
    object([
        ("schema", Json::from(SCHEMA)),
        ("formula", Json::from(formula(sm_count))),
        ("fixed_policy", policy(sm_count, &training_statistic(&refit.observations))),
        ("feature_names", feature_names()),
        ("coefficients", Json::from(refit.full.fit.coefficients.clone())),
        ("device_declared_identity", device.clone()),
        ("summary_provenance", Json::Object(provenance)),
        ("confidence", Json::from(CONFIDENCE)),
        ("default_enabled", Json::Bool(false)),
    ])
}

/// Numbers as the published text writes its own.
const NUMBER_WORDS: [&str; 13] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// What was fitted, in words: `seven_sample_median_us` where every run has seven samples.
fn training_statistic(observations: &[Observation<'_, '_>]) -> String {
    let mut counts = observations.iter().map(|observation| observation.timing.samples.len());
    let Some(count) = counts.next() else { return "sample_median_us".to_owned() };
    if counts.any(|other| other != count) {
        return "sample_median_us".to_owned();
    }
    match NUMBER_WORDS.get(count) {
        Some(word) => format!("{word}_sample_median_us"),
        None => format!("{count}_sample_median_us"),
    }
}

/// Whether `stated` is another way to say `derived`, a training statistic: a median that names no other number of samples.
pub fn says_statistic(stated: &str, derived: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        text.split(|part: char| !part.is_alphanumeric()).map(str::to_lowercase).collect()
    };
    let number = |part: &String| {
        let word = NUMBER_WORDS.iter().position(|word| word == part);
        part.parse::<usize>().ok().or(word)
    };
    let named: Vec<usize> = parts(derived).iter().filter_map(number).collect();
    let stated = parts(stated);
    stated.iter().any(|part| part == "median") && stated.iter().filter_map(number).all(|count| named.contains(&count))
}

fn policy(sm_count: u64, statistic: &str) -> Json {
    let candidates: Vec<_> = Schedule::ALL.into_iter().map(Schedule::requested).collect();
    object([
        ("processor_reference", Json::from(sm_count)),
        ("improvement_fraction", Json::Float(IMPROVEMENT_FRACTION)),
        ("candidates", Json::from(candidates)),
        ("default_enabled", Json::Bool(false)),
        ("confidence", Json::from("uncalibrated_point_prediction")),
        ("training_statistic", Json::from(statistic)),
        ("recheck_usage", Json::from("diagnostic_only_not_a_training_observation")),
        ("group_weight", Json::from("equal_total_weight_per_R_N_B_W_geometry")),
        ("solver", Json::from("enumerate_eight_nonnegative_active_subsets_binary64_lstsq")),
        ("feature_scaling", Json::from("training_only_weighted_RMS")),
        ("positive_coefficient_tolerance", Json::Float(NEGATIVE_TOLERANCE)),
        ("objective_tie_tolerance", Json::Float(TIE_TOLERANCE)),
    ])
}

/// A fit on all observations but those of the geometry held out.
fn model(fit: &Fit, refit: &Refit<'_, '_>, held: Option<&str>) -> Json {
    let groups: Vec<&str> = refit.groups.iter().map(String::as_str).filter(|&group| Some(group) != held).collect();
    let weighted = refit.observations.iter().zip(&refit.weights);
    let (ids, weights): (Vec<String>, Vec<f64>) = weighted
        .filter(|(observation, _)| Some(observation.group.as_str()) != held)
        .map(|(observation, &weight)| (observation.record_id(), weight))
        .unzip();
    object([
        ("coefficients", Json::from(fit.coefficients.clone())),
        ("active_mask", Json::from(u64::from(fit.active_mask))),
        ("weighted_sse", Json::Float(fit.weighted_sse)),
        ("training_scales", Json::from(fit.scales.clone())),
        ("training_groups", Json::from(groups)),
        ("training_record_ids", Json::from(ids)),
        ("active_subsets", Json::Array(fit.subsets.iter().map(subset).collect())),
        ("full_scaled_design_rank", Json::from(fit.rank)),
        ("full_scaled_design_singular_values", Json::from(fit.singular_values.clone())),
        ("sample_weights", Json::from(weights)),
    ])
}

fn subset(subset: &Subset) -> Json {
    let mask = Json::from(u64::from(subset.mask));
    match &subset.outcome {
        SubsetOutcome::RankDeficient { rank } => {
            object([("mask", mask), ("status", Json::from("rank_deficient")), ("rank", Json::from(*rank))])
        }
        SubsetOutcome::NegativeActive => {
            object([("mask", mask), ("status", Json::from("negative_active_coefficient"))])
        }
        SubsetOutcome::Feasible { coefficients, weighted_sse, rank, singular_values, condition } => object([
            ("mask", mask),
            ("status", Json::from("feasible")),
            ("coefficients", Json::from(coefficients.clone())),
            ("weighted_sse", Json::Float(*weighted_sse)),
            ("rank", Json::from(*rank)),
            ("singular_values", Json::from(singular_values.clone())),
            ("scaled_condition", condition.map_or(Json::Null, Json::Float)),
        ]),
    }
}

fn observation(observation: &Observation<'_, '_>) -> Json {
    let run = observation.run;
    let launch = run.at.path(&["selection", "program_partition"]).and_then(|stages| stages.as_array()?.first());
    object([
        ("record_id", Json::from(observation.record_id())),
        ("case_id", Json::from(observation.record.case.id)),
        ("group", Json::from(observation.group.clone())),
        ("schedule", Json::from(observation.schedule.name())),
        ("requested_extent", Json::from(observation.schedule.requested())),
        ("actual_ir", compiler_facts(observation)),
        ("facts", facts(&observation.facts)),
        ("features", Json::from(observation.features.to_vec())),
        ("measured_us", Json::Float(observation.measured_us)),
        ("samples", observation.timing.samples.at().clone()),
        ("case_provenance", observation.record.case.at.clone()),
        ("source_receipts", run.at.get("source_files").cloned().unwrap_or(Json::Null)),
        ("launch_receipt", launch.cloned().unwrap_or(Json::Null)),
    ])
}

/// What the compiler says of the kernel in its realization text; `null` where it says nothing.
fn compiler_facts(observation: &Observation<'_, '_>) -> Json {
    let text = observation.run.native.at.and_then(|route| route.get("realization")?.as_str()).unwrap_or_default();
    let stated = realization_facts(text);
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok()).map_or(Json::Null, Json::from);
    let fact = |name: &str| number(stated.get(name).copied());
    let collective = |prefix: &str| {
        let parts = stated.get("collective").copied().unwrap_or_default();
        number(parts.split(':').find_map(|part| part.strip_prefix(prefix)))
    };
    object([
        ("programs", fact("programs")),
        ("elementwork", fact("elementwork")),
        ("read_bytes", fact("read-bytes")),
        ("write_bytes", fact("write-bytes")),
        ("original_live_bytes", fact("tile-live-bytes")),
        ("largest_tile", fact("largest-tile")),
        ("kind", collective("kind")),
        ("width", collective("width")),
        ("independent", collective("independent")),
    ])
}

fn facts(facts: &Facts) -> Json {
    object([
        ("programs", Json::from(facts.programs)),
        ("independent_extent", Json::from(facts.independent_extent)),
        ("full_programs", Json::from(facts.full_programs)),
        ("tail_valid_extent", Json::from(facts.tail_valid_extent)),
        ("contribution_extent", Json::from(facts.contribution_extent)),
        ("logical_contribution_extent", Json::from(facts.logical_contribution_extent)),
        ("padded_independent", Json::from(facts.padded_independent)),
        ("collective_input_per_program", Json::from(facts.collective_input_per_program)),
        ("collective_input_total", Json::from(facts.collective_input_total)),
        ("valid_input_bytes", Json::from(facts.valid_input_bytes)),
        ("valid_output_bytes", Json::from(facts.valid_output_bytes)),
        ("input_snapshot_bytes", Json::from(facts.input_snapshot_bytes)),
        ("fp32_source_bytes", Json::from(facts.fp32_source_bytes)),
        ("fp32_result_bytes", Json::from(facts.fp32_result_bytes)),
        ("output_value_bytes", Json::from(facts.output_value_bytes)),
        ("independent_bounds_elidable", Json::Bool(facts.independent_bounds_elidable)),
        ("contribution_bounds_elidable", Json::Bool(facts.contribution_bounds_elidable)),
        (
            "candidate_peak_state",
            object([
                ("known", Json::Bool(false)),
                ("reason", Json::from("no candidate IR/recipe SSA liveness analysis")),
            ]),
        ),
        ("logical_batches", Json::from(facts.logical_batches)),
        ("demand", Json::from(facts.demand)),
        ("features", Json::from(facts.features().to_vec())),
    ])
}

fn evaluation(evaluated: &Evaluated, observations: &[Observation<'_, '_>]) -> Json {
    let residuals = evaluated.residuals.iter().map(|value| residual(value, observations)).collect();
    object([
        ("residuals", Json::Array(residuals)),
        ("decisions", Json::Array(evaluated.decisions.iter().map(decision).collect())),
    ])
}

fn fold(result: &FoldResult, refit: &Refit<'_, '_>) -> Json {
    let mut members = vec![
        ("held_group".to_owned(), Json::from(result.held.clone())),
        ("model".to_owned(), model(&result.evaluated.fit, refit, Some(&result.held))),
    ];
    if let Json::Object(evaluation) = evaluation(&result.evaluated, &refit.observations) {
        members.extend(evaluation);
    }
    Json::Object(members)
}

fn residual(residual: &Residual, observations: &[Observation<'_, '_>]) -> Json {
    let id = observations.get(residual.observation).map(Observation::record_id);
    object([
        ("record_id", Json::from(id.unwrap_or_default())),
        ("predicted_us", Json::Float(residual.predicted_us)),
        ("observed_us", Json::Float(residual.observed_us)),
        ("signed_error_us", Json::Float(residual.signed_error_us())),
        ("relative_error", Json::Float(residual.relative_error())),
    ])
}

/// One value for each schedule, by name.
fn by_schedule(values: [f64; 3]) -> Json {
    let named = Schedule::ALL.into_iter().zip(values);
    Json::Object(named.map(|(schedule, value)| (schedule.name().to_owned(), Json::Float(value))).collect())
}

fn decision(decision: &CaseDecision) -> Json {
    let made = &decision.decision;
    let reason = if made.improves { "point_prediction_exceeds_five_percent" } else { "retain_original" };
    object([
        ("case_id", Json::from(decision.case_id.clone())),
        ("group", Json::from(decision.group.clone())),
        (
            "decision",
            object([
                ("selected_schedule", Json::from(made.selected.name())),
                ("experimental_extent", Json::from(made.selected.requested())),
                ("scores_us_proxy", by_schedule(made.scores)),
                ("predicted_ratio", Json::Float(made.predicted_ratio)),
                ("reason", Json::from(reason)),
                ("confidence", Json::from(CONFIDENCE)),
                ("production_enabled", Json::Bool(false)),
            ]),
        ),
        ("observed_policy_ratio", Json::Float(decision.observed_policy_ratio())),
        ("all_candidate_ratios", by_schedule(decision.observed_ratios)),
    ])
}

fn metrics(metrics: &Metrics) -> Json {
    let over_five_percent = metrics.selected_regressions_over_five_percent;
    object([
        ("cases", Json::from(metrics.cases)),
        ("groups", Json::from(metrics.groups)),
        ("selected", Json::from(metrics.selected)),
        ("selected_regressions", Json::from(metrics.selected_regressions)),
        ("selected_regressions_over_five_percent", Json::from(over_five_percent)),
        ("worst_policy_ratio", Json::Float(metrics.worst_policy_ratio)),
        ("geometry_equal_weight_policy_geomean", Json::Float(metrics.geometry_equal_weight_policy_geomean)),
    ])
}

/// How the recheck and each candidate compare for one case; `None` without a recheck.
fn drift(record: &CaseRecord<'_>) -> Option<Json> {
    let default = record.native_median(Schedule::Default.name())?;
    let recheck = record.native_median(RECHECK)?;
    let cohorts = Schedule::ALL.into_iter().map(Schedule::name).chain([RECHECK]);
    let timings = cohorts
        .map(|cohort| Some((cohort.to_owned(), record.run(cohort)?.native.at?.get("event_us")?.clone())))
        .collect::<Option<Vec<_>>>()?;
    let candidates = [Schedule::Rows1, Schedule::Rows2]
        .into_iter()
        .map(|schedule| {
            let median = record.native_median(schedule.name())?;
            let compared = object([
                ("over_default", Json::Float(median / default)),
                ("over_recheck", Json::Float(median / recheck)),
                ("regression", Json::Bool(median > default)),
            ]);
            Some((schedule.name().to_owned(), compared))
        })
        .collect::<Option<Vec<_>>>()?;
    Some(object([
        ("case_id", Json::from(record.case.id)),
        ("group", Json::from(record.case.geometry.key())),
        ("timings", Json::Object(timings)),
        ("default_recheck_ratio", Json::Float(recheck / default)),
        ("default_recheck_drift", Json::Float(recheck / default - 1.0)),
        ("candidates", Json::Object(candidates)),
    ]))
}
