//! `README.md`, generated from the data: what was run, what failed, the medians with their regressions, the model, limits.
//!
//! Every number here is one that the package's data gives; `recount verify` reads the text and recomputes them.

mod fitted;
mod measured;
mod overlapping;

use std::fmt::Write;

use super::settings;
use crate::bench::partition::record::{Campaign, RouteRun};
use crate::package::json::{Json, canonical};
use crate::package::partition::overlap::ROUTE;
use crate::package::partition::{CaseLabel, CaseRecord, Validation};
use crate::refit::{Refit, RefitError};

/// Why there is no model.
#[derive(Debug)]
pub(super) enum Unfitted {
    /// Every case has a failed native run.
    NoCase,
    /// All cases are of one geometry: none can be held out.
    OneGeometry,
    /// Something else.
    Other(String),
}

impl Unfitted {
    /// The reason behind an error of the fit.
    pub(super) fn of(validation: &Validation<'_>, error: &RefitError) -> Self {
        let fitted = validation.cases.iter().filter(|record| crate::refit::is_trainable(record));
        let mut keys: Vec<_> = fitted.map(|record| record.case.geometry.key()).collect();
        keys.dedup();
        if keys.len() == 1 { Unfitted::OneGeometry } else { Unfitted::Other(error.to_string()) }
    }

    fn words(&self) -> String {
        match self {
            Unfitted::NoCase => "every case has a failed native run, and what failed has no time to fit".to_owned(),
            Unfitted::OneGeometry => {
                "all fitted cases are of one geometry, and the model is judged by geometries that it was not fitted on"
                    .to_owned()
            }
            Unfitted::Other(error) => format!("`{}`", settings::in_cell(error)),
        }
    }
}

/// Everything that the text is made of.
pub(super) struct Readme<'r, 'd> {
    pub(super) campaign: &'r Campaign,
    pub(super) validation: &'r Validation<'d>,
    pub(super) refit: Result<&'r Refit<'r, 'd>, &'r Unfitted>,
    pub(super) sm_count: u64,
    pub(super) overlap: Option<&'r Json>,
}

/// A line of the text.
macro_rules! line {
    ($text:expr) => {{ $text.push('\n'); }};
    ($text:expr, $($format:tt)*) => {{
        // Writing to a String cannot fail.
        let _ = writeln!($text, $($format)*);
    }};
}
use line;

impl<'d> Readme<'_, 'd> {
    /// The whole text, LF, with a final line feed.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.title(&mut text);
        self.failures(&mut text);
        self.setting(&mut text);
        self.medians(&mut text);
        self.overlapping(&mut text);
        self.model(&mut text);
        self.closing(&mut text);
        text
    }

    fn is_cpu(&self) -> bool {
        self.campaign.backend == "cpu"
    }

    fn device_name(&self) -> String {
        let identity = self.campaign.device.get("identity");
        let name = ["gpu", "cpu", "name"].iter().find_map(|name| identity?.get(name)?.as_str());
        let name = settings::in_sentence(name.unwrap_or_default());
        if name.trim().is_empty() { "an unnamed device".to_owned() } else { name.trim().to_owned() }
    }

    fn dates(&self) -> String {
        let (first, last) = &self.campaign.dates;
        if first == last { first.clone() } else { format!("{first} to {last}") }
    }

    fn title(&self, text: &mut String) {
        let (name, dates) = (self.device_name(), self.dates());
        if self.is_cpu() {
            line!(text, "# Host threads, a demonstration and not a GPU result: row SUM and MAX on {name}, {dates}");
        } else {
            line!(text, "# Row SUM and MAX with fewer rows per program: {name}, {dates}");
        }
        line!(text);
        line!(
            text,
            "SUM and MAX over the rows of a matrix, compiled with B rows per program (default) and run again with the same \
             rows handed to more programs, one or two rows each (rows1, rows2). Default is measured a second time as recheck."
        );
        if self.is_cpu() {
            line!(text);
            line!(
                text,
                "The protocol ran on the threads of a host processor. That shows how the benchmark works from end to end; \
                 nothing here says how fast a GPU is."
            );
        }
        line!(text);
    }

    /// What failed stands before everything that did not.
    fn failures(&self, text: &mut String) {
        let mut failures = Vec::new();
        for (record, run) in self.validation.runs() {
            for (route, recorded) in run.routes().into_iter().filter(|(_, route)| route.has_failed()) {
                let raw = recorded.at.and_then(|at| at.get("raw_failure"));
                failures.extend(raw.map(|raw| (format!("{}, {}, {}", label(record), run.cohort, route.name()), raw)));
            }
        }
        for (record, case) in self.validation.cases.iter().zip(&self.campaign.cases) {
            for (cohort, run) in self.campaign.cohorts.iter().zip(&case.runs) {
                if let Some(RouteRun::Failed(raw)) = &run.overlap {
                    failures.push((format!("{}, {}, {ROUTE}", label(record), cohort.name), raw));
                }
            }
        }
        if failures.is_empty() {
            return;
        }
        line!(text, "## What failed");
        line!(text);
        line!(
            text,
            "What failed stays failed, and no time was filled in. A cohort with a failed native or Torch route is a failed one."
        );
        line!(text);
        for (what, raw) in &failures {
            let code = raw.path(&["process", "returncode"]).map_or(String::new(), canonical);
            line!(text, "- {what}: failed with exit status `{code}`; it has no times.");
        }
        line!(text);
        let error = |raw: &Json| raw.get("error").and_then(Json::as_str).map(fenced);
        let errors: Vec<_> =
            failures.iter().filter_map(|(what, raw)| Some(format!("{what}: {}", error(raw)?))).collect();
        if !errors.is_empty() {
            line!(text, "```text");
            errors.iter().for_each(|error| line!(text, "{error}"));
            line!(text, "```");
            line!(text);
        }
    }

    fn closing(&self, text: &mut String) {
        line!(text, "## Limits");
        line!(text);
        let sessions = match self.campaign.sessions {
            0 | 1 => "one session".to_owned(),
            several => format!("{several} sessions, as it was interrupted"),
        };
        line!(
            text,
            "- Times are medians of a graph of equal operations divided by their number: neither the time of one kernel \
             alone nor a latency.\n\
             - One machine, {sessions}; {}.\n\
             - Each run is one process: its samples say nothing of how much processes differ. Recheck, a second process of \
             default, is the only measure of that.\n\
             - Cohorts ran one after the other, so that a drift of the machine looks like a difference of schedules.\n\
             - Native runs write to a fixed output and Torch allocates its own; these are different contracts.\n\
             - Outputs were compared with the oracle on this machine; the tensors are not in the package, the records of \
             the comparisons are.",
            if self.is_cpu() {
                "host threads stand in for a GPU here and say nothing of one"
            } else {
                "another device, driver, clock or load was not measured"
            }
        );
        if self.campaign.torch {
            line!(
                text,
                "- The fastest of three schedules is compared with one Torch median, which favours the schedules. Torch's \
                 operations never overlap."
            );
        }
        if self.campaign.cases.iter().any(|case| case.tuning != Json::Null) {
            line!(
                text,
                "- Threads per row were chosen by trials on these very cases (`tuning` in `validation.json`), before they \
                 were measured."
            );
        }
        line!(text);
        line!(text, "## Files");
        line!(text);
        line!(
            text,
            "- `validation.json`: every run with its samples, spans, calibration, warm-up, launch and output checks."
        );
        line!(text, "- `samples.csv`: the samples alone.");
        line!(text, "- `cases.json`, `device.json`: what was run, and on what.");
        if self.refit.is_ok() {
            line!(text, "- `model.json`: the fit, every subset, fold, residual and decision.");
            line!(text, "- `provenance.json`: ids and hashes of the model and what it was fitted on.");
        }
        line!(text, "- `proof-receipts.json`: hashes of the program, kernels and libraries that measured.");
        if self.overlap.is_some() {
            line!(text, "- `overlap.json`: the route of overlapping operations, apart from everything else.");
        }
        line!(text, "- `receipts.json`: hash and size of each of these files.");
        line!(text);
        line!(text, "## Check it");
        line!(text);
        line!(text, "```sh");
        line!(text, "recount verify .");
        if self.refit.is_ok() {
            line!(text, "recount refit . --exact");
        }
        line!(text, "```");
    }
}

/// How people name the case.
fn label(record: &CaseRecord<'_>) -> CaseLabel {
    CaseLabel::of(&record.case)
}

/// One line that cannot end a code block.
fn fenced(text: &str) -> String {
    let line: String = text.chars().map(|one| if one.is_control() { ' ' } else { one }).take(300).collect();
    line.replace("```", "'''")
}
