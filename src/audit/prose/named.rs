//! What a sentence names: the device, a commit, a status, a mask, a case's shape; each against the records.

use super::claims::{Judgement, Sentence, claim};
use super::elsewhere::{self, statement};
use super::facts::{self, parts};
use super::numerals::numeral;
use super::printed::Printed;
use super::tokens::{Kind, architecture};
use super::words::{PartialLabel, Word, word};
use crate::fit::Schedule;
use crate::package::partition::DEFAULT;

impl<'s> Sentence<'s, '_, '_> {
    /// A word that names something, or counts in letters.
    pub(super) fn word(&self, at: usize) -> Judgement {
        let lower = self.text(at).to_ascii_lowercase();
        if let Some(value) = numeral(&lower) {
            return self.worded_count(at, value);
        }
        if lower.starts_with("0x") {
            return self.mask(at);
        }
        if matches!(lower.as_str(), "failed" | "passed" | "successful" | "succeeded" | "unsuccessful") {
            return self.status(at, &lower);
        }
        match self.device_name(at) {
            Judgement::Silent => self.model(at),
            judgement => judgement,
        }
    }

    /// A commit that the package was measured at, or the exit status of a failed process.
    pub(super) fn hexadecimal(&self, at: usize) -> Judgement {
        let code = self.text(at);
        let digits = code.strip_prefix("0x").unwrap_or(code);
        let is_after_commit = (1..=3).any(|steps| word(&self.before(at, steps)) == Some(Word::Commit));
        if is_after_commit && !self.figures.commits.is_empty() {
            let lower = digits.to_ascii_lowercase();
            let known = self.figures.commits.iter().any(|commit| commit.starts_with(&lower));
            let length = digits.len();
            let captured = self.figures.commits[0];
            if !known && (self.is_elsewhere() || self.has_word(&["fix", "fixes", "fixed", "landed"])) {
                return Judgement::Silent;
            }
            return claim(known, || format!("{} (captured_head)", captured.get(..length).unwrap_or(captured)));
        }
        if let judgement @ (Judgement::Held | Judgement::Wrong(..)) = self.mask(at) {
            return judgement;
        }
        if digits.len() != 8 || self.figures.exit_statuses.is_empty() || !self.words.any(&[Word::Exit, Word::Fail]) {
            return Judgement::Silent;
        }
        let Ok(status) = u32::from_str_radix(digits, 16) else { return Judgement::Silent };
        let expected = self.figures.exit_statuses[0];
        claim(self.figures.exit_statuses.contains(&status), || {
            format!("{expected:08X} (exit status of the failed process)")
        })
    }

    /// `SM89` is the device's compute capability, unless the sentence speaks of what is needed.
    fn device_name(&self, at: usize) -> Judgement {
        let (Some(named), Some(capability)) = (architecture(self.text(at)), self.figures.device.capability) else {
            return Judgement::Silent;
        };
        if named == capability {
            return Judgement::Held;
        }
        // Where the device's own is named too, the other one is not said to be it.
        let names_own = || (0..self.tokens.len()).any(|other| architecture(self.text(other)) == Some(capability));
        if self.after(at, 1) == "+" || self.is_elsewhere() || names_own() {
            return Judgement::Silent;
        }
        claim(false, || format!("SM{capability} (compute capability)"))
    }

    /// `RTX 4090`, where the package was measured on an RTX 4060 and the README never says so.
    fn model(&self, at: usize) -> Judgement {
        let facts = &self.figures.facts;
        let Some(model) = facts.model.as_ref().filter(|_| !facts.names_model) else { return Judgement::Silent };
        let text = self.text(at);
        let is_alike = |number: &str| number.len() == model.number.len() && number != model.number;
        let is_other = match (parts(text), self.number_behind(at)) {
            // A letter and a number may be a codec: `H265`.
            (Some((series, number)), _) if !series.is_empty() => {
                let is_gpu =
                    || elsewhere::is_gpu(text) || [self.before(at, 1), self.after(at, 1)].contains(&"gpu".to_owned());
                series.eq_ignore_ascii_case(&model.series) && is_alike(number) && (series.len() > 1 || is_gpu())
            }
            (_, Some(next)) => text.eq_ignore_ascii_case(&model.series) && is_alike(self.text(next)),
            _ => false,
        };
        let is_measured = self.source.is_heading || self.is_where_measured(at);
        // `an RTX 4000-series GPU` is less than a model.
        let is_class = self.number_behind(at).is_some_and(|next| {
            let hyphen = usize::from(self.after(next, 1) == "-");
            matches!(self.after(next, 1 + hyphen).as_str(), "series" | "class" | "generation" | "family")
        });
        if !is_other || is_class || !is_measured || self.is_elsewhere_but_for_devices() {
            return Judgement::Silent;
        }
        statement(false, || format!("{} (the recorded device)", model.name))
    }

    /// Whether what stands at `at` is where something ran: `measured on an RTX 4060`, `the GPU is an RTX 4060`.
    fn is_where_measured(&self, at: usize) -> bool {
        const REACH: usize = 5;
        (1..=REACH).any(|steps| match self.before(at, steps).as_str() {
            "on" | "with" | "using" => (1..=3).any(|more| {
                matches!(
                    self.before(at, steps + more).as_str(),
                    "measured" | "ran" | "run" | "runs" | "recorded" | "benchmarked" | "measurement" | "measurements"
                )
            }),
            "is" | "was" | ":" | "=" => {
                matches!(self.before(at, steps + 1).as_str(), "device" | "gpu" | "hardware" | "machine")
            }
            _ => false,
        })
    }

    /// `mask 0x15400`, of the processors that a process ran on.
    pub(super) fn mask(&self, at: usize) -> Judgement {
        let masks = &self.figures.facts.masks;
        let is_mask = (1..=3).any(|steps| self.before(at, steps) == "mask");
        let is_of_processors =
            self.has_word(&["core", "cores", "cpu", "cpus", "processor", "processors", "affinity", "pinned"]);
        let is_of_lanes = self.has_word(&["lane", "lanes", "warp", "warps", "shuffle", "shuffles", "system"])
            || self.has_stem("__shfl");
        let (Some(mask), true) =
            (facts::hexadecimal(self.text(at)), is_mask && is_of_processors && !is_of_lanes && !masks.is_empty())
        else {
            return Judgement::Silent;
        };
        if masks.contains(&mask) {
            return Judgement::Held;
        }
        let listed: Vec<String> = masks.iter().take(4).map(|mask| format!("0x{mask:x}")).collect();
        self.stated(false, || format!("{} (recorded masks)", listed.join(" or ")))
    }

    /// `the default cohort remains failed`, and `the failed default cohort`.
    fn status(&self, at: usize, lower: &str) -> Judgement {
        let says_failed = matches!(lower, "failed" | "unsuccessful");
        let Some(name) = self.cohort_behind(at).or_else(|| self.cohort_before(at)) else { return Judgement::Silent };
        let known = self.figures.facts.statuses.iter().find(|(cohort, _)| *cohort == name);
        let Some(&(cohort, status)) = known.filter(|(_, status)| matches!(*status, "failed" | "passed")) else {
            return Judgement::Silent;
        };
        if (status == "failed") == says_failed {
            return Judgement::Held;
        }
        self.stated(false, || format!("{status} (the status of {cohort})"))
    }

    /// The cohort of `cohort NAME remains STATUS`; the status must end the statement.
    fn cohort_before(&self, at: usize) -> Option<String> {
        let mut steps = 1;
        while matches!(self.before(at, steps).as_str(), "still" | "marked" | "recorded" | "as" | "a" | "listed") {
            steps += 1;
        }
        let verb = self.before(at, steps);
        let is_copula = matches!(
            verb.as_str(),
            "remains" | "remain" | "remained" | "is" | "was" | "stays" | "stay" | "stayed" | "has" | ":" | "="
        );
        let next = self.after(at, 1);
        let ends = self.tokens.get(at + 1).is_none_or(|token| matches!(token.kind, Kind::Mark(_)))
            || matches!(next.as_str(), "and" | "while" | "because" | "since" | "as");
        (is_copula && ends && self.before(at, steps + 1) == "cohort")
            .then(|| self.cohort_name(self.before(at, steps + 2)))
    }

    /// The cohort of `STATUS NAME cohort`.
    fn cohort_behind(&self, at: usize) -> Option<String> {
        let mut steps = 1;
        while steps < 5
            && (matches!(self.after(at, steps).as_str(), "original" | "-" | "case")
                || matches!(self.tokens.get(at + steps).map(|token| &token.kind), Some(Kind::Number(_))))
        {
            steps += 1;
        }
        (self.after(at, steps + 1) == "cohort").then(|| self.cohort_name(self.after(at, steps)))
    }

    fn cohort_name(&self, lower: String) -> String {
        if lower == "original" { DEFAULT.to_owned() } else { lower }
    }

    /// `ceil(P/24)`: the rounds of programs that the model counts.
    pub(super) fn rounds(&self, at: usize, printed: &Printed) -> Option<Judgement> {
        let processors = &self.figures.facts.processors;
        let is_rounds = self.before(at, 1) == "/"
            && self.before(at, 2) == "p"
            && matches!(self.before(at, 3).as_str(), "(" | "\u{2308}")
            && matches!(self.after(at, 1).as_str(), ")" | "\u{2309}");
        let is_rounds = is_rounds && (self.before(at, 3) == "\u{2308}" || self.before(at, 4).starts_with("ceil"));
        if !is_rounds || !printed.is_integer() || processors.is_empty() {
            return None;
        }
        let holds = processors.iter().any(|&processors| printed.agrees(processors as f64, 0.0));
        Some(self.stated(holds, || format!("{} (processors in the model's formula)", processors[0])))
    }

    /// A shape that no case has where the sentence speaks of what was measured, or a figure's owner that it is not of.
    pub(super) fn shape(&self, at: usize, (rows, columns): (u64, u64)) -> Judgement {
        if self.source.is_row {
            return Judgement::Silent;
        }
        let figures = self.figures;
        let label = PartialLabel::around(self.tokens, at, &self.source.text);
        if figures.by_shape.contains_key(&(rows, columns)) {
            return self.owner(at, &label);
        }
        let is_counted = matches!(self.after(at, 1).as_str(), "default" | "defaults" | "case" | "cases");
        let is_measured = self.words.any(&[
            Word::Median,
            Word::Improve,
            Word::Select,
            Word::Retry,
            Word::Drift,
            Word::Residual,
            Word::Recheck,
        ]) || (is_counted && self.words.any(&[Word::Default]))
            || self.has_word(&["regression", "regressions", "table", "measured"]);
        let last = self.before(at, 1);
        let is_case = label.is_any()
            || is_counted
            || (last == "at" && self.has_word(&["regression", "regressions", "table", "case", "cases"]));
        let is_tile = self.has_word(&["tile", "tiles", "block", "grid", "grids", "screenshot", "screenshots"]);
        if !is_measured || !is_case || is_tile || figures.cases.is_empty() {
            return Judgement::Silent;
        }
        // A row as wide as it is padded to is no misprint.
        let is_padded = figures.cases.iter().any(|case| {
            let geometry = &case.record.case.geometry;
            geometry.rows == rows && geometry.width == columns
        });
        if is_padded {
            return Judgement::Silent;
        }
        let near = figures.by_shape.keys().min_by_key(|(other_rows, other_columns)| {
            (
                u8::from(*other_rows != rows) + u8::from(*other_columns != columns),
                other_columns.abs_diff(columns),
                *other_rows,
            )
        });
        let near = near.map_or(String::new(), |(rows, columns)| format!(", such as {rows}x{columns}"));
        self.stated(false, || format!("the shape of a case{near}"))
    }

    /// The number behind a series' name, as in `RTX 4060` and `RTX-4060`.
    fn number_behind(&self, at: usize) -> Option<usize> {
        let next = at + 1 + usize::from(self.after(at, 1) == "-");
        self.tokens.get(next).filter(|token| matches!(token.kind, Kind::Number(_))).map(|_| next)
    }

    /// What is judged at `at`, as it is printed: the token, or the whole name that it is part of.
    pub(super) fn shown(&self, at: usize) -> &'s str {
        let (first, last) = match self.tokens[at].kind {
            Kind::Shape(..) => {
                let (first, last) = PartialLabel::span(self.tokens, at, &self.source.text);
                let is_schedule = Schedule::from_name(&self.after(last, 1)).is_some();
                (first, last + usize::from(is_schedule))
            }
            Kind::Word => {
                let series = self.figures.facts.model.as_ref().map(|model| model.series.as_str());
                let number = self.number_behind(at).filter(|_| series == Some(&self.text(at).to_ascii_lowercase()));
                (at, number.unwrap_or(at))
            }
            _ => (at, at),
        };
        &self.source.text[self.tokens[first].start..self.tokens[last].end]
    }
}
