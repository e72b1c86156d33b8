//! What was run and where, the table of medians, and what the medians say.

use std::fmt::Write;

use super::{Readme, label, line};
use crate::bench::partition::assemble::settings;
use crate::fit::Schedule;
use crate::package::json::Json;
use crate::package::partition::{CaseRecord, DEFAULT, RECHECK, RETEST, Route};

impl Readme<'_, '_> {
    pub(super) fn setting(&self, text: &mut String) {
        let validation = self.validation;
        line!(text, "## What was run, and where");
        line!(text);
        let runs = |wanted: Route, is_retest: bool| {
            let timed =
                validation.timed().filter(|(_, run, route, _)| *route == wanted && (run.cohort == RETEST) == is_retest);
            timed.count()
        };
        let samples: usize = validation.timed().map(|(_, _, _, timing)| timing.samples.len()).sum();
        let mut counts = format!(
            "{} in {}: {}",
            many(validation.cases.len(), "case"),
            many(validation.cohorts.len(), "cohort"),
            many(runs(Route::Native, false), "native execution")
        );
        if runs(Route::Torch, false) > 0 {
            let _ = write!(counts, ", {}", many(runs(Route::Torch, false), "Torch execution"));
        }
        line!(text, "{counts}, {} in all.", many(samples, "sample"));
        if runs(Route::Native, true) + runs(Route::Torch, true) > 0 {
            line!(text, "A later retry of what failed is recorded apart and stands for nothing else.");
        }
        self.protocol(text);
        self.device(text);
        for (title, recorded) in [("Protocol", &self.campaign.protocol), ("Environment", &self.campaign.environment)] {
            let rows = settings::rows(recorded);
            if rows.is_empty() {
                continue;
            }
            line!(text);
            line!(text, "| {title} | Recorded |");
            line!(text, "|---|---|");
            rows.iter().for_each(|(name, value)| line!(text, "| {name} | {value} |"));
        }
        line!(text);
    }

    /// The settings of the first native route; all others have the same.
    fn protocol(&self, text: &mut String) -> Option<()> {
        let (record, run, _, timing) = self.validation.timed().find(|(_, _, route, _)| *route == Route::Native)?;
        let native = run.native.at?;
        let batch = record.manifest(run)?.get("graph_batch")?.as_u64()?;
        let target = native.path(&["sampling", "sample_target_ms"])?.as_f64()?;
        let warm_up = native.path(&["warmup", "target_ms"])?.as_f64()?;
        line!(
            text,
            "Each run took {} with a target span of {target} ms, after a warm-up of at least {warm_up} ms, with {batch} \
             operations per graph.",
            many(timing.samples.len(), "sample")
        );
        Some(())
    }

    fn device(&self, text: &mut String) {
        let device = &self.campaign.device;
        let name = self.device_name();
        let processors = self.sm_count;
        let capability = device.get("compute_capability").and_then(Json::as_u64).filter(|&capability| capability > 0);
        let what = match capability {
            Some(capability) => format!(
                "{}, compute capability {}.{}",
                many_u64(processors, "multiprocessor"),
                capability / 10,
                capability % 10
            ),
            None if processors == 1 => "1 host thread".to_owned(),
            None => format!("{processors} host threads"),
        };
        line!(text, "The device is {name}: {what}.");
        if let Some(commit) = &self.campaign.commit {
            line!(text, "The program was built from commit `{}`.", settings::in_cell(commit));
        }
    }

    pub(super) fn medians(&self, text: &mut String) {
        let campaign = self.campaign;
        line!(text, "## Medians");
        line!(text);
        line!(
            text,
            "Microseconds per operation. B is the number of rows per program that default was compiled with; `missing` is \
             what has no time."
        );
        if !campaign.torch {
            line!(text, "Torch was not asked for, so there is no column of it.");
        }
        if self.refit.is_ok() {
            line!(
                text,
                "LOGO selection is what the model below takes when it was fitted without any case of the same geometry."
            );
        }
        line!(text);
        let mut header = "| Operation / shape / storage / B | Default | Rows1 | Rows2 | Recheck |".to_owned();
        let mut rule = "|---|---:|---:|---:|---:|".to_owned();
        if campaign.torch {
            header.push_str(" Initial Torch |");
            rule.push_str("---:|");
        }
        if self.refit.is_ok() {
            header.push_str(" LOGO selection |");
            rule.push_str("---|");
        }
        line!(text, "{header}");
        line!(text, "{rule}");
        for record in &self.validation.cases {
            let mut row = format!("| {} |", label(record));
            let median = |median: Option<f64>| median.map_or("missing".to_owned(), |median| format!("{median:.4}"));
            for cohort in [DEFAULT, Schedule::Rows1.name(), Schedule::Rows2.name(), RECHECK] {
                let _ = write!(row, " {} |", median(record.native_median(cohort)));
            }
            if campaign.torch {
                let _ = write!(row, " {} |", median(record.torch_median()));
            }
            if self.refit.is_ok() {
                let selected = self.selected(record).map_or("none", Schedule::name);
                let _ = write!(row, " {selected} |");
            }
            line!(text, "{row}");
        }
        line!(text);
        self.regressions(text);
        self.drift(text);
        self.torch(text);
        self.retests(text);
    }

    /// What the folds' policy takes for a case.
    pub(super) fn selected(&self, record: &CaseRecord<'_>) -> Option<Schedule> {
        let folds = self.refit.ok()?.folds.iter();
        let mut decisions = folds.flat_map(|fold| &fold.evaluated.decisions);
        Some(decisions.find(|decision| decision.case_id == record.case.id)?.decision.selected)
    }

    fn regressions(&self, text: &mut String) {
        let mut lines = Vec::new();
        for record in &self.validation.cases {
            for schedule in [Schedule::Rows1, Schedule::Rows2] {
                let ratio = self.over_default(record, schedule);
                lines.extend(
                    ratio.filter(|&ratio| ratio > 1.0).map(|ratio| {
                        format!("- {}: {schedule} is {} slower than default", label(record), slower(ratio))
                    }),
                );
            }
        }
        if lines.is_empty() {
            line!(text, "No case is slower with rows1 or rows2 than with default.");
        } else {
            line!(text, "Slower than default, whatever the model selects:");
            line!(text);
            lines.iter().for_each(|regression| line!(text, "{regression}"));
        }
        line!(text);
    }

    /// A schedule's native median over default's.
    pub(super) fn over_default(&self, record: &CaseRecord<'_>, schedule: Schedule) -> Option<f64> {
        Some(record.native_median(schedule.name())? / record.native_median(DEFAULT)?)
    }

    fn drift(&self, text: &mut String) {
        let drift =
            |record: &CaseRecord<'_>| Some(record.native_median(RECHECK)? / record.native_median(DEFAULT)? - 1.0);
        let drifts: Vec<f64> = self.validation.cases.iter().filter_map(drift).collect();
        let low = drifts.iter().copied().reduce(f64::min);
        if let (Some(low), Some(high)) = (low, drifts.iter().copied().reduce(f64::max)) {
            line!(text, "The drift of recheck from default ranged from {:+.3}% to {:+.3}%.", 100.0 * low, 100.0 * high);
            line!(text);
        }
    }

    fn torch(&self, text: &mut String) {
        if !self.campaign.torch {
            return;
        }
        let ratios: Vec<_> = self
            .validation
            .cases
            .iter()
            .filter_map(|record| Some((record, record.fastest()?.0, record.fastest_over_torch()?)))
            .collect();
        let values: Vec<f64> = ratios.iter().map(|(_, _, ratio)| *ratio).collect();
        let Some(mean) = crate::fit::metrics::geometric_mean(&values) else {
            line!(text, "No case has both a native and a Torch median.");
            line!(text);
            return;
        };
        let faster = values.iter().filter(|&&ratio| ratio < 1.0).count();
        line!(
            text,
            "The fastest of default, rows1 and rows2 has a lower median than Torch in {faster} of {}. The geometric mean of \
             the fastest median over Torch's is {mean:.4} over these cases.",
            many(values.len(), "case")
        );
        let lines: Vec<_> = ratios.iter().filter(|(_, _, ratio)| *ratio > 1.0).collect();
        if !lines.is_empty() {
            line!(text);
            line!(text, "Torch is faster than every schedule here:");
            line!(text);
        }
        for (record, schedule, ratio) in lines {
            line!(text, "- {}: {schedule} is {} slower than Torch", label(record), slower(*ratio));
        }
        line!(text);
    }

    fn retests(&self, text: &mut String) {
        for record in &self.validation.cases {
            let Some(run) = record.run(RETEST) else { continue };
            let mut measured = Vec::new();
            for (route, recorded) in run.routes() {
                let timing = recorded.timing.as_ref();
                let name = if route == Route::Torch { "Torch" } else { "native" };
                measured.extend(timing.map(|timing| format!("a {name} median of {:.4} us", timing.p50)));
            }
            let what = match measured.as_slice() {
                [] => "has no times either".to_owned(),
                medians => format!("gave {}", medians.join(" and ")),
            };
            line!(text, "The separate retry of {} {what}. It fills no cell of the table.", label(record));
            line!(text);
        }
    }
}

/// How much slower a ratio above 1 is.
pub(super) fn slower(ratio: f64) -> String {
    format!("{:.2}%", 100.0 * (ratio - 1.0))
}

/// A count and what it counts.
pub(super) fn many(count: usize, what: &str) -> String {
    many_u64(count as u64, what)
}

fn many_u64(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
