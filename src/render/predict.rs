//! A frozen model's decisions for a package, as tables (text, Markdown) or as one JSON document.

use std::io::{self, Write};

use super::page::{COEFFICIENTS, Page, device_json, metrics_json, percent, significant};
use super::words::plural;
use super::{Style, Table, TableFormat, Verbosity};
use crate::fit::Schedule;
use crate::package::json::{Json, indented, object, python_float};
use crate::package::partition::Device;
use crate::refit::{CaseOutcome, FrozenModel, GeometryOutcome, Prediction, Summary};

/// Name and version of the JSON form, see docs/schema/recount-predict-v1.json.
const SCHEMA: &str = "recount-predict-v1";

/// Everything that `predict` shows.
pub struct PredictView<'p> {
    /// The model as the person called it.
    pub model_name: &'p str,
    /// The package as the person called it.
    pub package: &'p str,
    /// The model.
    pub model: &'p FrozenModel,
    /// The package's device.
    pub device: &'p Device,
    /// The predictions.
    pub prediction: &'p Prediction<'p, 'p>,
    /// Whether the package holds, and the model's where it lies in one.
    pub sound: bool,
}

/// Writes a prediction. The only errors are those of `out`.
pub fn predict(view: &PredictView<'_>, format: TableFormat, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if format == TableFormat::Json {
        return out.write_all((indented(&json(view)) + "\n").as_bytes());
    }
    let mut page = Page::new(format, style);
    page.title("Devices");
    devices(view).iter().for_each(|line| page.prose(line));
    if style.verbosity > Verbosity::Quiet {
        page.table("Frozen model", coefficients(view));
        page.prose(&format!("{} is applied to {}; nothing is fitted.", view.model_name, view.package));
        page.table("Decisions: time over the default's; lost: slower than the best schedule", decisions(view));
        page.table("Scores and observed medians, microseconds per operation", scores(view));
        page.table("Geometries: geometric means of the observed time over the default's", geometries(view));
        page.table("Metrics", metrics(view));
    }
    page.title("Result");
    summary(view).iter().for_each(|line| page.prose(line));
    page.write(out)
}

fn differ(view: &PredictView<'_>) -> bool {
    view.model.device != *view.device
}

fn devices(view: &PredictView<'_>) -> Vec<String> {
    let reference = view.model.processor_reference;
    let mut lines = Vec::new();
    if differ(view) {
        lines.push("The devices differ: what follows is about the model and about the device.".to_owned());
        lines.push(format!("  fitted for: {}", view.model.device));
        lines.push(format!("  applied to: {}", view.device));
    } else {
        lines.push(format!("Both are of one kind: {}", view.device));
    }
    if view.device.sm_count != Some(reference) {
        let own = view.device.sm_count.map_or_else(|| "an unknown number".to_owned(), |count| count.to_string());
        lines.push(format!(
            "Features are counted with the {reference} multiprocessors that the model was fitted with \
             (processor_reference), not with the {own} of this device: another count would be another model."
        ));
    }
    lines
}

fn coefficients(view: &PredictView<'_>) -> Table {
    let mut table = Table::new(["frozen", "value"]);
    for (name, value) in COEFFICIENTS.iter().zip(view.model.coefficients) {
        table.row([(*name).to_owned(), python_float(value)]);
    }
    table.row(["processor_reference".to_owned(), view.model.processor_reference.to_string()]);
    table.row(["profile id".to_owned(), view.model.profile_id.clone()]);
    table
}

fn ratio(value: f64) -> String {
    format!("{value:.4}")
}

fn decisions(view: &PredictView<'_>) -> Table {
    let mut table = Table::new(["case", "selected", "predicted", "observed", "best", "lost %"]);
    for case in &view.prediction.cases {
        let decision = &case.decision;
        table.row([
            decision.case_id.clone(),
            decision.decision.selected.name().to_owned(),
            ratio(decision.decision.predicted_ratio),
            ratio(decision.observed_policy_ratio()),
            case.best.name().to_owned(),
            format!("{:.2}", 100.0 * case.lost),
        ]);
    }
    table
}

fn scores(view: &PredictView<'_>) -> Table {
    let mut table = Table::new(["case", "schedule", "score", "median", "off by %", "ratio"]);
    for case in &view.prediction.cases {
        for (at, (schedule, residual)) in Schedule::ALL.into_iter().zip(&case.residuals).enumerate() {
            table.row([
                if at == 0 { case.decision.case_id.clone() } else { String::new() },
                schedule.name().to_owned(),
                format!("{:.4}", residual.predicted_us),
                format!("{:.4}", residual.observed_us),
                format!("{:+.2}", 100.0 * residual.relative_error()),
                ratio(case.decision.observed_ratios[at]),
            ]);
        }
    }
    table
}

fn geometries(view: &PredictView<'_>) -> Table {
    let mut table = Table::new(["geometry [R,N,B,W]", "cases", "held out", "policy", "best"]);
    for one in &view.prediction.geometries {
        table.row([
            one.group.clone(),
            one.cases.to_string(),
            if one.is_trained_on { "no" } else { "yes" }.to_owned(),
            ratio(one.policy_geomean),
            ratio(one.best_geomean),
        ]);
    }
    table
}

fn metrics(view: &PredictView<'_>) -> Table {
    let mut table = Table::new(["metric", "all cases", "held out"]);
    let mut row = |name: &str, of: &dyn Fn(&Summary) -> String| {
        let held = view.prediction.held_out.as_ref().map_or("-".to_owned(), of);
        table.row([name.to_owned(), of(&view.prediction.all), held]);
    };
    row("cases", &|of| of.metrics.cases.to_string());
    row("geometries", &|of| of.metrics.groups.to_string());
    row("selected", &|of| of.metrics.selected.to_string());
    row("selected regressions", &|of| of.metrics.selected_regressions.to_string());
    row("selected regressions over 5 %", &|of| of.metrics.selected_regressions_over_five_percent.to_string());
    row("worst policy/default", &|of| significant(of.metrics.worst_policy_ratio));
    let geomean = |of: &Summary| significant(of.metrics.geometry_equal_weight_policy_geomean);
    row("geometry-equal-weight geometric mean", &geomean);
    row("the same of the best schedules", &|of| significant(of.best_geomean));
    table
}

fn summary(view: &PredictView<'_>) -> Vec<String> {
    let prediction = view.prediction;
    let metrics = &prediction.all.metrics;
    let mut lines = Vec::new();
    if !view.sound {
        lines.push("A package does not hold (`recount verify` says why): what it says cannot be relied on.".to_owned());
    }
    lines.push(format!(
        "another schedule than the default is selected in {} of {}; policy/default {:.4}, best possible {:.4} \
         (geometric means in which each geometry counts once)",
        metrics.selected,
        plural(prediction.cases.len(), "case"),
        metrics.geometry_equal_weight_policy_geomean,
        prediction.all.best_geomean
    ));
    let regressions = prediction.regressions();
    match regressions.len() {
        0 => lines.push("no selected schedule ran slower than the default".to_owned()),
        count => lines.push(format!("{} of a selected schedule against the default:", plural(count, "regression"))),
    }
    for case in regressions {
        let decision = &case.decision;
        let over = if decision.is_regression_over_five_percent() { ", over 5 %" } else { "" };
        let selected = decision.decision.selected.name();
        lines.push(format!("  {} {selected}: {:.4}{over}", decision.case_id, decision.observed_policy_ratio()));
    }
    let [default, rows1, rows2] = prediction.median_relative_errors.map(percent);
    lines.push(format!("median residual over the cases: default {default}, rows1 {rows1}, rows2 {rows2}"));
    lines.push(shared(prediction));
    if !prediction.left_out.is_empty() {
        let names = prediction.left_out.join(", ");
        lines.push(format!("left out, as a native run of the case failed: {names}"));
    }
    lines.push("The best schedules are chosen with hindsight, from the medians that they are judged by.".to_owned());
    lines
}

fn shared(prediction: &Prediction<'_, '_>) -> String {
    let shared = prediction.shared_geometries();
    if shared.is_empty() {
        return "the model was fitted on none of the package's geometries: all cases are held out".to_owned();
    }
    let held_out = prediction.geometries.len() - shared.len();
    let which = match held_out {
        0 => "all of the package's geometries, so that no case is held out".to_owned(),
        _ => format!(
            "{} of the package's {} geometries, whose cases are not held out",
            shared.len(),
            prediction.geometries.len()
        ),
    };
    format!("the model was fitted on {which}: {}", shared.join(", "))
}

fn json(view: &PredictView<'_>) -> Json {
    let prediction = view.prediction;
    let model = object([
        ("name", Json::from(view.model_name)),
        ("profile_id", Json::from(view.model.profile_id.as_str())),
        ("coefficients", Json::from(view.model.coefficients.to_vec())),
        ("processor_reference", Json::from(view.model.processor_reference)),
        ("training_geometries", Json::from(view.model.training_groups.clone())),
    ]);
    let devices = object([
        ("differ", Json::from(differ(view))),
        ("model", device_json(&view.model.device)),
        ("package", device_json(view.device)),
    ]);
    let regression = |case: &&CaseOutcome| {
        object([
            ("case_id", Json::from(case.decision.case_id.as_str())),
            ("selected", Json::from(case.decision.decision.selected.name())),
            ("ratio", Json::from(case.decision.observed_policy_ratio())),
            ("over_five_percent", Json::from(case.decision.is_regression_over_five_percent())),
        ])
    };
    let metrics = object([
        ("all", summary_json(&prediction.all)),
        ("held_out", prediction.held_out.as_ref().map_or(Json::Null, summary_json)),
    ]);
    object([
        ("schema", Json::from(SCHEMA)),
        ("devices", devices),
        ("model", model),
        ("package", Json::from(view.package)),
        ("sound", Json::from(view.sound)),
        ("cases", Json::Array(prediction.cases.iter().map(case).collect())),
        ("geometries", Json::Array(prediction.geometries.iter().map(geometry).collect())),
        ("shared_geometries", Json::from(prediction.shared_geometries())),
        ("regressions", Json::Array(prediction.regressions().iter().map(regression).collect())),
        ("metrics", metrics),
        ("median_relative_errors", by_schedule(prediction.median_relative_errors.map(Json::Float))),
        ("left_out", Json::from(prediction.left_out.clone())),
    ])
}

fn by_schedule(values: [Json; 3]) -> Json {
    let named = Schedule::ALL.into_iter().zip(values);
    Json::Object(named.map(|(schedule, value)| (schedule.name().to_owned(), value)).collect())
}

fn case(case: &CaseOutcome) -> Json {
    let decision = &case.decision;
    let residual = |at: usize| {
        let residual = &case.residuals[at];
        object([
            ("predicted_us", Json::Float(residual.predicted_us)),
            ("observed_us", Json::Float(residual.observed_us)),
            ("signed_error_us", Json::Float(residual.signed_error_us())),
            ("relative_error", Json::Float(residual.relative_error())),
        ])
    };
    object([
        ("case_id", Json::from(decision.case_id.as_str())),
        ("geometry", Json::from(decision.group.as_str())),
        ("held_out", Json::from(!case.is_trained_on)),
        ("selected", Json::from(decision.decision.selected.name())),
        ("scores_us_proxy", by_schedule(decision.decision.scores.map(Json::Float))),
        ("predicted_ratio", Json::Float(decision.decision.predicted_ratio)),
        ("observed_policy_ratio", Json::Float(decision.observed_policy_ratio())),
        ("all_candidate_ratios", by_schedule(decision.observed_ratios.map(Json::Float))),
        ("residuals", by_schedule([residual(0), residual(1), residual(2)])),
        ("best", Json::from(case.best.name())),
        ("best_ratio", Json::Float(case.best_ratio)),
        ("lost", Json::Float(case.lost)),
    ])
}

fn geometry(one: &GeometryOutcome) -> Json {
    object([
        ("geometry", Json::from(one.group.as_str())),
        ("cases", Json::from(one.cases)),
        ("held_out", Json::from(!one.is_trained_on)),
        ("policy_geomean", Json::Float(one.policy_geomean)),
        ("best_geomean", Json::Float(one.best_geomean)),
    ])
}

fn summary_json(summary: &Summary) -> Json {
    let mut members = metrics_json(&summary.metrics);
    if let Json::Object(members) = &mut members {
        members.push(("geometry_equal_weight_best_geomean".to_owned(), Json::Float(summary.best_geomean)));
    }
    members
}
