//! A refit as tables (text, Markdown) or as one JSON document.

use std::collections::HashMap;
use std::io::{self, Write};

use clap::ValueEnum;

use super::page::{COEFFICIENTS, Page, percent, significant};
use super::{Style, Table, Verbosity};
use crate::audit::{CheckReport, Distance};
use crate::fit::exact::{ExactFit, nearest_f64, ulp_distance};
use crate::fit::metrics::Metrics;
use crate::fit::nnls::{Fit, SubsetOutcome};
use crate::package::json::{Json, indented, object, python_float};
use crate::refit::{CaseDecision, Evaluated, ExactModels, Refit, Residual};

/// The formats of results that are not findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// For a person on a terminal
    Text,
    /// One document, for programs
    Json,
    /// For a page or a comment
    Markdown,
}

/// Everything that `refit` shows.
pub struct RefitView<'r> {
    /// The package as the person called it.
    pub package: &'r str,
    /// The refit.
    pub refit: &'r Refit<'r, 'r>,
    /// It in the published schema.
    pub document: &'r Json,
    /// The recorded model, where the package has one.
    pub recorded: Option<&'r Json>,
    /// Processors that the features count with.
    pub sm_count: u64,
    /// The exact solutions, where asked for.
    pub exact: Option<&'r ExactModels>,
    /// The comparison with the recorded model.
    pub agreement: Option<&'r CheckReport>,
    /// A readable difference, where asked for.
    pub diff: Option<&'r str>,
}

/// Writes a refit. The only errors are those of `out`.
pub fn refit(view: &RefitView<'_>, format: TableFormat, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if format == TableFormat::Json {
        return out.write_all((indented(&json(view)) + "\n").as_bytes());
    }
    let mut page = Page::new(format, style);
    page.title(&format!("Refit of {}", view.package));
    let geometries = view.refit.groups.len();
    page.line(&format!(
        "{} observations of {geometries} geometries, {} processors; weights 1/(observations of the geometry)",
        view.refit.observations.len(),
        view.sm_count
    ));
    if style.verbosity > Verbosity::Quiet {
        page.table("Coefficients", coefficients(view));
        page.table("Active subsets of the full fit", subsets(&view.refit.full.fit));
        page.line(&kkt(&view.refit.full.fit));
        page.table("Leave one geometry out", folds(view));
        page.table("Predicted and observed, microseconds per operation", residuals(view));
        page.table("Decisions", decisions(view));
        page.table("Metrics", metrics(view));
    }
    if let Some(exact) = view.exact {
        page.table("Exact rational arithmetic", exactness(view, exact));
    }
    if let Some(diff) = view.diff {
        page.block("Recorded model (-) against refit (+)", diff);
    }
    page.title("Result");
    for line in summary(view) {
        page.line(&line);
    }
    page.write(out)
}

fn recorded_coefficient(view: &RefitView<'_>, index: usize) -> Option<f64> {
    view.recorded?.path(&["full_training_model", "coefficients"])?.as_array()?.get(index)?.as_f64()
}

fn coefficients(view: &RefitView<'_>) -> Table {
    let mut table = Table::new(["coefficient", "refit", "recorded", "ulp apart"]);
    for (index, (name, &value)) in COEFFICIENTS.iter().zip(&view.refit.full.fit.coefficients).enumerate() {
        let recorded = recorded_coefficient(view, index);
        let apart = recorded.and_then(|recorded| Distance::between(recorded, value));
        table.row([
            (*name).to_owned(),
            python_float(value),
            recorded.map_or("-".to_owned(), python_float),
            apart.map_or("-".to_owned(), |distance| distance.ulp.to_string()),
        ]);
    }
    table
}

/// Active features by name.
fn active(mask: u32) -> String {
    let names: Vec<_> =
        COEFFICIENTS.iter().enumerate().filter(|(index, _)| mask >> index & 1 == 1).map(|(_, name)| *name).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(" ") }
}

fn subsets(fit: &Fit) -> Table {
    let mut table = Table::new(["mask", "active", "status", "a0", "aP", "aD", "weighted SSE", "rank", "condition"]);
    for subset in &fit.subsets {
        let chosen = if subset.mask == fit.active_mask { ", chosen" } else { "" };
        let mut cells = vec![subset.mask.to_string(), active(subset.mask)];
        match &subset.outcome {
            SubsetOutcome::RankDeficient { rank } => {
                cells.push("rank deficient".to_owned());
                cells.extend(["-", "-", "-", "-"].map(str::to_owned));
                cells.extend([format!("{rank} of {}", subset.mask.count_ones()), "-".to_owned()]);
            }
            SubsetOutcome::NegativeActive => {
                cells.push("negative coefficient".to_owned());
                cells.extend(["-"; 6].map(str::to_owned));
            }
            SubsetOutcome::Feasible { coefficients, weighted_sse, rank, condition, .. } => {
                cells.push(format!("feasible{chosen}"));
                cells.extend(coefficients.iter().map(|value| significant(*value)));
                cells.extend([significant(*weighted_sse), rank.to_string()]);
                cells.push(condition.map_or("-".to_owned(), significant));
            }
        }
        table.row(cells);
    }
    table
}

fn kkt(fit: &Fit) -> String {
    let gradient: Vec<_> = fit.kkt.gradient.iter().map(|value| format!("{value:.2e}")).collect();
    format!(
        "Optimality (KKT) {}: scaled gradient {}, worst violation {:.1e}",
        if fit.kkt.holds { "holds" } else { "does not hold" },
        gradient.join(", "),
        fit.kkt.worst_violation
    )
}

fn folds(view: &RefitView<'_>) -> Table {
    let header = ["held geometry [R,N,B,W]", "active", "a0", "aP", "aD", "weighted SSE", "worst residual"];
    let mut table = Table::new(header);
    for fold in &view.refit.folds {
        let fit = &fold.evaluated.fit;
        let mut cells = vec![fold.held.clone(), active(fit.active_mask)];
        cells.extend(fit.coefficients.iter().map(|value| significant(*value)));
        cells.extend([significant(fit.weighted_sse), percent(largest_relative(&fold.evaluated))]);
        table.row(cells);
    }
    table
}

/// The relative error of the largest magnitude, with its sign; of two as large, the positive one, in whatever order they come.
fn largest_relative(evaluated: &Evaluated) -> f64 {
    largest(evaluated.residuals.iter().map(Residual::relative_error))
}

fn largest(errors: impl Iterator<Item = f64>) -> f64 {
    errors.fold(0.0, |largest: f64, error| {
        let larger = error.abs() > largest.abs() || (error.abs() == largest.abs() && error > largest);
        if larger { error } else { largest }
    })
}

/// By case id and schedule, as the decisions are by case id: in which order a package lists its cases changes nothing.
fn residuals(view: &RefitView<'_>) -> Table {
    let mut table = Table::new(["observation", "observed", "full fit", "off by", "fold", "off by"]);
    let refit = view.refit;
    let mut held_out: Vec<Option<&Residual>> = vec![None; refit.observations.len()];
    for residual in refit.folds.iter().flat_map(|fold| &fold.evaluated.residuals) {
        held_out[residual.observation] = Some(residual);
    }
    let mut residuals: Vec<_> = refit.full.residuals.iter().collect();
    let place = |residual: &Residual| {
        let observation = &refit.observations[residual.observation];
        (observation.record.case.id, observation.schedule)
    };
    residuals.sort_by(|left, right| place(left).cmp(&place(right)));
    for residual in residuals {
        let held = held_out[residual.observation];
        table.row([
            refit.observations[residual.observation].record_id(),
            format!("{:.4}", residual.observed_us),
            format!("{:.4}", residual.predicted_us),
            percent(residual.relative_error()),
            held.map_or("-".to_owned(), |held| format!("{:.4}", held.predicted_us)),
            held.map_or("-".to_owned(), |held| percent(held.relative_error())),
        ]);
    }
    table
}

fn decisions(view: &RefitView<'_>) -> Table {
    let mut table = Table::new(["case", "full fit", "predicted", "observed", "held out", "predicted", "observed"]);
    let held_out = view.refit.folds.iter().flat_map(|fold| &fold.evaluated.decisions);
    let held_out: HashMap<&str, &CaseDecision> = held_out.map(|held| (held.case_id.as_str(), held)).collect();
    for full in &view.refit.full.decisions {
        let held = held_out.get(full.case_id.as_str()).copied();
        let cells = |decision: Option<&CaseDecision>| match decision {
            Some(decision) => [
                decision.decision.selected.name().to_owned(),
                format!("{:.4}", decision.decision.predicted_ratio),
                format!("{:.4}", decision.observed_policy_ratio()),
            ],
            None => ["-"; 3].map(str::to_owned),
        };
        let mut row = vec![full.case_id.clone()];
        row.extend(cells(Some(full)));
        row.extend(cells(held));
        table.row(row);
    }
    table
}

fn metrics(view: &RefitView<'_>) -> Table {
    let mut table = Table::new(["metric", "full fit", "held out"]);
    let (full, held) = (&view.refit.full.metrics, &view.refit.summary);
    let mut row = |name: &str, of: &dyn Fn(&Metrics) -> String| {
        table.row([name.to_owned(), of(full), of(held)]);
    };
    row("cases", &|metrics| metrics.cases.to_string());
    row("geometries", &|metrics| metrics.groups.to_string());
    row("selected", &|metrics| metrics.selected.to_string());
    row("selected regressions", &|metrics| metrics.selected_regressions.to_string());
    row("selected regressions over 5 %", &|metrics| metrics.selected_regressions_over_five_percent.to_string());
    row("worst policy/default", &|metrics| python_float(metrics.worst_policy_ratio));
    row("geometry-equal-weight geometric mean", &|metrics| python_float(metrics.geometry_equal_weight_policy_geomean));
    table
}

/// Each exact fit with the recorded coefficients that belong to it.
fn exact_fits<'v>(view: &'v RefitView<'_>, exact: &'v ExactModels) -> Vec<(String, &'v ExactFit, Option<&'v Json>)> {
    let full = view.recorded.and_then(|recorded| recorded.path(&["full_training_model", "coefficients"]));
    let recorded_folds = view
        .recorded
        .and_then(|recorded| recorded.path(&["outer_leave_geometry_out", "folds"])?.as_array())
        .unwrap_or_default();
    let mut fits = vec![("all".to_owned(), &exact.full, full)];
    for (held, fit) in view.refit.groups.iter().zip(&exact.folds) {
        let recorded = recorded_folds.iter().find(|fold| fold.get("held_group").and_then(Json::as_str) == Some(held));
        let recorded = recorded.and_then(|fold| fold.path(&["model", "coefficients"]));
        fits.push((format!("without {held}"), fit, recorded));
    }
    fits
}

fn exactness(view: &RefitView<'_>, exact: &ExactModels) -> Table {
    let mut table = Table::new(["fit", "coefficient", "exact, rounded once", "recorded", "ulp", "KKT"]);
    for (name, fit, recorded) in exact_fits(view, exact) {
        for (index, (coefficient, value)) in COEFFICIENTS.iter().zip(&fit.coefficients).enumerate() {
            let recorded = recorded.and_then(|list| list.as_array()?.get(index)?.as_f64());
            table.row([
                if index == 0 { name.clone() } else { String::new() },
                (*coefficient).to_owned(),
                python_float(nearest_f64(value)),
                recorded.map_or("-".to_owned(), python_float),
                recorded.map_or("-".to_owned(), |recorded| format!("{:.2}", ulp_distance(recorded, value))),
                if fit.kkt_holds { "holds" } else { "fails" }.to_owned(),
            ]);
        }
    }
    table
}

fn summary(view: &RefitView<'_>) -> Vec<String> {
    let refit = view.refit;
    let held = || refit.folds.iter().flat_map(|fold| &fold.evaluated.residuals);
    let relative = largest(refit.folds.iter().map(|fold| largest_relative(&fold.evaluated)));
    let absolute = held().map(|residual| residual.signed_error_us().abs()).fold(0.0, f64::max);
    let selected = |metrics: &Metrics| format!("{} of {} selected", metrics.selected, metrics.cases);
    let mut lines = vec![
        format!(
            "{} (full fit), {} (held out); selected regressions: {}",
            selected(&refit.full.metrics),
            selected(&refit.summary),
            refit.summary.selected_regressions
        ),
        format!("largest residual of a held-out geometry: {} relative, {absolute:.3} us absolute", percent(relative)),
    ];
    lines.push(match view.agreement {
        None => "the package has no model.json to compare with".to_owned(),
        Some(check) => format!(
            "model.json {}: {} values bit-exact, {} within tolerance, {} wrong",
            if check.findings.is_empty() { "agrees" } else { "does not agree" },
            check.tally.exact,
            check.tally.within_tolerance,
            check.tally.wrong
        ),
    });
    lines
}

fn json(view: &RefitView<'_>) -> Json {
    let mut members = vec![
        ("schema".to_owned(), Json::from("recount-refit-v1")),
        ("package".to_owned(), Json::from(view.package)),
        ("model".to_owned(), view.document.clone()),
    ];
    if let Some(check) = view.agreement {
        let tally = object([
            ("bit_exact", Json::from(check.tally.exact)),
            ("within_tolerance", Json::from(check.tally.within_tolerance)),
            ("wrong", Json::from(check.tally.wrong)),
        ]);
        members.push(("agreement".to_owned(), tally));
    }
    if let Some(exact) = view.exact {
        let fits = exact_fits(view, exact).into_iter().map(|(name, fit, recorded)| exact_json(&name, fit, recorded));
        members.push(("exact".to_owned(), Json::Array(fits.collect())));
    }
    Json::Object(members)
}

fn exact_json(name: &str, fit: &ExactFit, recorded: Option<&Json>) -> Json {
    let distance = |index: usize| {
        let recorded = recorded.and_then(|list| list.as_array()?.get(index)?.as_f64())?;
        Some(Json::Float(ulp_distance(recorded, &fit.coefficients[index])))
    };
    let rational = |index: usize| Json::from(fit.coefficients[index].to_string());
    let count = fit.coefficients.len();
    object([
        ("fit", Json::from(name)),
        ("active_mask", Json::from(u64::from(fit.mask))),
        ("coefficients", Json::from(fit.coefficients.iter().map(nearest_f64).collect::<Vec<_>>())),
        ("rational", Json::Array((0..count).map(rational).collect())),
        ("recorded_ulp", Json::Array((0..count).map(|index| distance(index).unwrap_or(Json::Null)).collect())),
        ("kkt_holds", Json::Bool(fit.kkt_holds)),
    ])
}
