//! Two partition packages side by side, as tables (text, Markdown) or as one JSON document.

mod json;

use std::io::{self, Write};

use super::page::{COEFFICIENTS, Page, significant};
use super::words::plural;
use super::{Style, Table, TableFormat, Verbosity, escape};
use crate::comparison::{CohortComparison, Comparison, MedianRow, ModelComparison, Redefined};
use crate::fit::Schedule;
use crate::fit::metrics::Metrics;
use crate::fit::spread::{Change, LEVEL};
use crate::package::json::{indented, python_float};

/// What the intervals do not say.
const SCOPE: &str = "An interval speaks of the two processes whose samples it is made of, each by itself: samples of one \
                     process are not independent runs, and of many intervals some miss.";

/// Everything that `diff` shows.
pub struct DiffView<'c> {
    /// The packages as the person called them, old and new.
    pub names: [&'c str; 2],
    /// Whether each of them holds.
    pub sound: [bool; 2],
    /// The comparison.
    pub found: &'c Comparison,
}

/// Writes a comparison. The only errors are those of `out`.
pub fn diff(view: &DiffView<'_>, format: TableFormat, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if format == TableFormat::Json {
        return out.write_all((indented(&json::json(view)) + "\n").as_bytes());
    }
    let found = view.found;
    let mut page = Page::new(format, style);
    page.title("Devices");
    devices(view).iter().for_each(|line| page.prose(line));
    if style.verbosity > Verbosity::Quiet {
        environment(view, style.verbosity == Verbosity::Verbose, &mut page);
        for cohort in found.cohorts.iter().filter(|cohort| !cohort.rows.is_empty()) {
            let cohort_name = escape::visible(&cohort.cohort);
            let title = format!("{cohort_name}, {}: microseconds per operation", cohort.route.name());
            page.table(&title, medians(&cohort.rows));
        }
        page.table(
            "Medians by cohort; NEW/OLD: geometric mean in which each geometry counts once",
            cohorts(&found.cohorts),
        );
        match &found.model {
            Ok(model) => models(model, style.verbosity == Verbosity::Verbose, &mut page),
            Err(reason) => {
                page.title("Models");
                page.prose(&format!("not compared: {reason}"));
            }
        }
        cases(view, &mut page);
    }
    page.title("Result");
    summary(view).iter().for_each(|line| page.prose(line));
    page.write(out)
}

fn devices(view: &DiffView<'_>) -> Vec<String> {
    let [old, new] = &view.found.devices;
    let mut lines = if view.found.devices_differ() {
        vec!["The devices differ: what follows compares devices as much as anything else.".to_owned()]
    } else {
        vec!["Both devices are of one kind.".to_owned()]
    };
    lines.push(format!("  OLD is {}: {old}", view.names[0]));
    lines.push(format!("  NEW is {}: {new}", view.names[1]));
    lines
}

fn environment(view: &DiffView<'_>, all: bool, page: &mut Page) {
    let environment = &view.found.environment;
    let mut table = Table::new(["field", "OLD", "NEW"]);
    let absent = |value: &Option<String>| value.clone().unwrap_or_else(|| "(nothing)".to_owned());
    for field in environment.fields.iter().filter(|field| all || field.differs()) {
        table.row([field.name.clone(), absent(&field.old), absent(&field.new)]);
    }
    let differing = environment.differing().count();
    let title = "Environment and protocol";
    if table.is_empty() {
        page.title(title)
    } else {
        page.table(title, table)
    };
    page.prose(&format!("{differing} of {} differ", plural(environment.fields.len(), "field")));
    if environment.left_out > 0 {
        page.prose(&format!("{} more were left out: too many, or names too long", environment.left_out));
    }
}

fn medians(rows: &[MedianRow]) -> Table {
    let mut table = Table::new(["case", "OLD", "NEW", "NEW/OLD", "low", "high", "NEW is"]);
    for row in rows {
        let interval = row.interval;
        let change = match interval.change() {
            Change::NoDifference => "-",
            Change::TooFewSamples => "?",
            other => other.name(),
        };
        table.row([
            row.case_id.clone(),
            format!("{:.4}", row.medians[0]),
            format!("{:.4}", row.medians[1]),
            format!("{:.4}", interval.ratio),
            format!("{:.4}", interval.low),
            format!("{:.4}", interval.high),
            change.to_owned(),
        ]);
    }
    table
}

fn cohorts(cohorts: &[CohortComparison]) -> Table {
    let mut table =
        Table::new(["cohort", "route", "cases", "faster", "slower", "neither", "NEW/OLD", "only OLD", "only NEW"]);
    for one in cohorts {
        let neither = one.count(Change::NoDifference) + one.count(Change::TooFewSamples);
        table.row([
            one.cohort.clone(),
            one.route.name().to_owned(),
            one.rows.len().to_string(),
            one.count(Change::Faster).to_string(),
            one.count(Change::Slower).to_string(),
            neither.to_string(),
            one.geomean.map_or_else(|| "-".to_owned(), |geomean| format!("{geomean:.4}")),
            one.only_old.len().to_string(),
            one.only_new.len().to_string(),
        ]);
    }
    table
}

fn models(model: &ModelComparison, all: bool, page: &mut Page) {
    let mut table = Table::new(["coefficient", "OLD", "NEW", "change %"]);
    for (name, one) in COEFFICIENTS.iter().zip(&model.coefficients) {
        let change =
            one.relative_change.map(|change| format!("{:+.2}", 100.0 * change)).unwrap_or_else(|| "-".to_owned());
        table.row([(*name).to_owned(), python_float(one.old), python_float(one.new), change]);
    }
    page.table("Coefficients", table);
    let [old, new] = model.sources.map(|source| source.name());
    page.prose(&if old == new {
        format!("both models are {old}")
    } else {
        format!("OLD's model is {old}, NEW's {new}")
    });
    let mut table = Table::new(["case", "full fit OLD", "NEW", "held out OLD", "NEW"]);
    for row in model.decisions.iter().filter(|row| all || row.changed()) {
        let held = row.held_out.map_or(["-"; 2], |held| held.map(Schedule::name));
        let [full_old, full_new] = row.full.map(Schedule::name);
        table.row([row.case_id.as_str(), full_old, full_new, held[0], held[1]]);
    }
    let changed = model.decisions.iter().filter(|row| row.changed()).count();
    let title = if all { "Decisions" } else { "Decisions that changed" };
    if table.is_empty() {
        page.title(title)
    } else {
        page.table(title, table)
    };
    page.prose(&format!("{changed} of {} changed", plural(model.decisions.len(), "case")));
    page.table("Metrics, each over all cases of its package", metrics(model));
}

fn metrics(model: &ModelComparison) -> Table {
    let mut table = Table::new(["metric", "full fit OLD", "NEW", "held out OLD", "NEW"]);
    let mut row = |name: &str, of: &dyn Fn(&Metrics) -> String| {
        let figures = model.full.iter().chain(&model.held_out).map(of);
        table.row(std::iter::once(name.to_owned()).chain(figures));
    };
    row("cases", &|metrics| metrics.cases.to_string());
    row("geometries", &|metrics| metrics.groups.to_string());
    row("selected", &|metrics| metrics.selected.to_string());
    row("selected regressions", &|metrics| metrics.selected_regressions.to_string());
    row("the same over 5 %", &|metrics| metrics.selected_regressions_over_five_percent.to_string());
    row("worst policy/default", &|metrics| significant(metrics.worst_policy_ratio));
    row("geometry-equal-weight mean", &|metrics| significant(metrics.geometry_equal_weight_policy_geomean));
    table
}

fn cases(view: &DiffView<'_>, page: &mut Page) {
    let cases = &view.found.cases;
    if cases.only_old.is_empty() && cases.only_new.is_empty() && cases.redefined.is_empty() {
        return;
    }
    page.title("Cases that are not compared");
    for (name, ids) in [("OLD", &cases.only_old), ("NEW", &cases.only_new)] {
        if !ids.is_empty() {
            page.prose(&format!("only in {name}: {}", ids.join(", ")));
        }
    }
    if !cases.redefined.is_empty() {
        let redefined: Vec<_> = cases.redefined.iter().map(Redefined::to_string).collect();
        page.prose(&format!("in both with another definition: {}", redefined.join("; ")));
    }
}

fn summary(view: &DiffView<'_>) -> Vec<String> {
    let found = view.found;
    let count = |change: Change| found.cohorts.iter().map(|cohort| cohort.count(change)).sum::<usize>();
    let rows = found.rows().count();
    let mut lines = Vec::new();
    for name in view.names.iter().zip(view.sound).filter(|(_, sound)| !sound).map(|(name, _)| name) {
        lines.push(format!("{name} does not hold (`recount verify` says why): what it says cannot be relied on."));
    }
    lines.push(format!(
        "{} compared; of {}, NEW is faster in {}, slower in {}; no difference is shown (-) in {}",
        plural(found.cases.common.len(), "case"),
        plural(rows, "median"),
        count(Change::Faster),
        count(Change::Slower),
        count(Change::NoDifference)
    ));
    let few = count(Change::TooFewSamples);
    if few > 0 {
        lines.push(format!("nothing can be said of {}: too few samples (shown as ?)", plural(few, "median")));
    }
    let unusable: usize = found.cohorts.iter().map(|cohort| cohort.unusable.len()).sum();
    if unusable > 0 {
        lines.push(format!("{} left out: samples that are no durations", plural(unusable, "median")));
    }
    if let Ok(model) = &found.model {
        let changed = model.decisions.iter().filter(|row| row.changed()).count();
        lines.push(format!("decisions changed: {changed} of {}", model.decisions.len()));
    }
    lines.extend(levels(view));
    lines.push(SCOPE.to_owned());
    let [old, new] = found.recheck_drift.map(|drift| match drift {
        Some(drift) => format!("up to {:.2} %", 100.0 * drift),
        None => "unknown".to_owned(),
    });
    lines
        .push(format!("For scale, recheck against default (two processes, one schedule): {old} in OLD, {new} in NEW."));
    lines
}

/// The levels of confidence that the intervals have.
fn levels(view: &DiffView<'_>) -> Option<String> {
    let shown = |level: f64| format!("{} %", (1e5 * level).floor() / 1e3);
    let confidences = || view.found.rows().map(|row| row.interval.confidence);
    let least = confidences().reduce(f64::min)?;
    let most = confidences().fold(least, f64::max);
    let range = if least == most { shown(least) } else { format!("{} to {}", shown(least), shown(most)) };
    let below = confidences().filter(|&level| level < LEVEL).count();
    let short = match below {
        0 => String::new(),
        _ => format!("; {below} of them stay below {} for want of samples", shown(LEVEL)),
    };
    Some(format!("confidence of the intervals (order statistics, Bonferroni): at least {range}{short}"))
}
