//! The JSON form of a comparison, see docs/schema/recount-diff-v1.json.

use super::{DiffView, SCOPE};
use crate::comparison::{CohortComparison, DecisionRow, Field, MedianRow, ModelComparison, Redefined};
use crate::fit::Schedule;
use crate::fit::metrics::Metrics;
use crate::fit::spread::Change;
use crate::package::json::{Json, object};
use crate::render::page::{COEFFICIENTS, device_json, metrics_json};

/// Name and version of the format.
const SCHEMA: &str = "recount-diff-v1";

/// The whole document.
pub(super) fn json(view: &DiffView<'_>) -> Json {
    let found = view.found;
    let [old, new] = &found.devices;
    let devices =
        object([("differ", Json::from(found.devices_differ())), ("old", device_json(old)), ("new", device_json(new))]);
    let side = |at: usize| object([("path", Json::from(view.names[at])), ("sound", Json::from(view.sound[at]))]);
    let drift = |at: usize| found.recheck_drift[at].map_or(Json::Null, Json::Float);
    let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
    let field = |field: &Field| {
        object([
            ("name", Json::from(field.name.as_str())),
            ("old", text(&field.old)),
            ("new", text(&field.new)),
            ("differs", Json::from(field.differs())),
        ])
    };
    let redefined = |one: &Redefined| {
        let member = |(name, old, new): &(&str, String, String)| {
            object([("name", Json::from(*name)), ("old", Json::from(old.as_str())), ("new", Json::from(new.as_str()))])
        };
        object([
            ("id", Json::from(one.id.as_str())),
            ("members", Json::Array(one.members.iter().map(member).collect())),
        ])
    };
    let cases = object([
        ("common", Json::from(found.cases.common.clone())),
        ("only_old", Json::from(found.cases.only_old.clone())),
        ("only_new", Json::from(found.cases.only_new.clone())),
        ("redefined", Json::Array(found.cases.redefined.iter().map(redefined).collect())),
    ]);
    object([
        ("schema", Json::from(SCHEMA)),
        ("devices", devices),
        ("old", side(0)),
        ("new", side(1)),
        ("environment", Json::Array(found.environment.fields.iter().map(field).collect())),
        ("environment_left_out", Json::from(found.environment.left_out)),
        ("cases", cases),
        ("cohorts", Json::Array(found.cohorts.iter().map(cohort).collect())),
        ("model", found.model.as_ref().map_or(Json::Null, model_json)),
        ("model_not_compared", found.model.as_ref().err().map_or(Json::Null, |reason| Json::from(reason.as_str()))),
        ("recheck_drift", object([("old", drift(0)), ("new", drift(1))])),
        ("scope", Json::from(SCOPE)),
    ])
}

fn cohort(one: &CohortComparison) -> Json {
    let counts = Change::ALL.map(|change| (change.name().replace(' ', "_"), Json::from(one.count(change))));
    object([
        ("cohort", Json::from(one.cohort.as_str())),
        ("route", Json::from(one.route.name())),
        ("medians", Json::Array(one.rows.iter().map(median).collect())),
        ("counts", Json::Object(counts.into())),
        ("geometry_equal_weight_geomean", one.geomean.map_or(Json::Null, Json::Float)),
        ("only_old", Json::from(one.only_old.clone())),
        ("only_new", Json::from(one.only_new.clone())),
        ("unusable", Json::from(one.unusable.clone())),
    ])
}

fn median(row: &MedianRow) -> Json {
    let interval = row.interval;
    object([
        ("case_id", Json::from(row.case_id.as_str())),
        ("geometry", Json::from(row.group.as_str())),
        ("old_samples", Json::from(row.samples[0])),
        ("new_samples", Json::from(row.samples[1])),
        ("old_us", Json::Float(row.medians[0])),
        ("new_us", Json::Float(row.medians[1])),
        ("ratio", Json::Float(interval.ratio)),
        ("low", Json::Float(interval.low)),
        ("high", Json::Float(interval.high)),
        ("confidence", Json::Float(interval.confidence)),
        ("change", Json::from(interval.change().name().replace(' ', "_"))),
    ])
}

fn model_json(model: &ModelComparison) -> Json {
    let pair = |[old, new]: [Json; 2]| object([("old", old), ("new", new)]);
    let names = |schedules: [Schedule; 2]| pair(schedules.map(|schedule| Json::from(schedule.name())));
    let coefficients = COEFFICIENTS.iter().zip(&model.coefficients).map(|(name, one)| {
        object([
            ("name", Json::from(*name)),
            ("old", Json::Float(one.old)),
            ("new", Json::Float(one.new)),
            ("relative_change", one.relative_change.map_or(Json::Null, Json::Float)),
        ])
    });
    let decision = |row: &DecisionRow| {
        object([
            ("case_id", Json::from(row.case_id.as_str())),
            ("full_fit", names(row.full)),
            ("held_out", row.held_out.map_or(Json::Null, names)),
            ("changed", Json::from(row.changed())),
        ])
    };
    let metrics = |[old, new]: &[Metrics; 2]| pair([metrics_json(old), metrics_json(new)]);
    object([
        ("sources", pair(model.sources.map(|source| Json::from(source.name())))),
        ("coefficients", Json::Array(coefficients.collect())),
        ("decisions", Json::Array(model.decisions.iter().map(decision).collect())),
        ("metrics", object([("full_fit", metrics(&model.full)), ("held_out", metrics(&model.held_out))])),
    ])
}
