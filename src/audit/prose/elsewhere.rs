//! Whether words are about something else than what was measured here: another device, another release, a plan.

use super::claims::{Judgement, Sentence};
use super::counts::Expected;
use super::facts::{Model, parts};
use super::nouns::Noun;
use super::printed::{Printed, Unit};
use super::tokens::Kind;
use super::words::Word;
use crate::audit::Code;

/// Words that deny, compare or set a limit.
const BESIDE: &[&str] = &[
    "not",
    "no",
    "never",
    "neither",
    "nor",
    "without",
    "unlike",
    "instead",
    "than",
    "versus",
    "vs",
    "compared",
    "should",
    "untested",
    "such",
    "like",
    "say",
    "larger",
    "smaller",
    "beyond",
    "similar",
    "their",
    "needs",
    "need",
    "require",
    "requires",
    "required",
    "newer",
    "later",
    "since",
    "supports",
    "support",
    "until",
    "before",
    "during",
    "other",
    "others",
    "may",
    "published",
    "oracle",
    "will",
    "same",
    "comparison",
    "attempt",
    "cut",
];

/// Words of what is not here, or not yet.
const ABSENT: &[&str] = &[
    "another",
    "elsewhere",
    "would",
    "could",
    "might",
    "if",
    "once",
    "suppose",
    "supposing",
    "hypothetical",
    "future",
    "next",
    "previous",
    "previously",
    "earlier",
    "formerly",
    "release",
    "planned",
    "todo",
    "held",
    "heldout",
    "holdout",
    "unseen",
    "paper",
    "dry",
    "pilot",
    "smoke",
    "sister",
    "development",
    "vendor",
    "vendors",
];

/// Words of quantities that are no times measured here.
const QUANTITIES: &[&str] = &[
    "bandwidth",
    "throughput",
    "registers",
    "occupancy",
    "grid",
    "grids",
    "programs",
    "predicted",
    "prediction",
    "predictions",
    "deviation",
    "deviations",
    "relative",
    "ratio",
    "ratios",
    "speedup",
    "energy",
    "power",
    "compile",
    "compilation",
    "cold",
    "example",
    "template",
];

/// Whether a word is the name of a GPU, such as `H100`; a letter and any number is not.
pub(super) fn is_gpu(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let Some((series, number)) = parts(&lower) else { return false };
    match series {
        "a" => matches!(number, "10" | "16" | "30" | "40" | "100" | "800" | "2000" | "4000" | "5000" | "6000"),
        "h" => matches!(number, "20" | "100" | "200" | "800"),
        "b" => matches!(number, "100" | "200" | "300"),
        "l" => matches!(number, "20" | "40"),
        "v" | "p" => number == "100",
        "gb" | "gh" => matches!(number, "200" | "300"),
        "mi" | "rtx" | "gtx" => true,
        _ => false,
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|next: char| !(next.is_alphanumeric() || next == '_'));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether a text names a GPU that is not `model`.
fn names_other_gpu(text: &str, model: &Model) -> bool {
    let is_model = |series: &str, number: &str| model.series == series && model.number == number;
    let mut last = String::new();
    for word in words(text) {
        let is_other = match parts(&word) {
            Some(("", number)) => matches!(last.as_str(), "rtx" | "gtx") && !is_model(&last, number),
            Some((series, number)) => is_gpu(&word) && !is_model(series, number),
            None => false,
        };
        if is_other {
            return true;
        }
        last = word;
    }
    false
}

/// Whether the text around a table, or its header, says that it shows something else.
pub(super) fn is_beside(text: &str, model: Option<&Model>) -> bool {
    let is_absent = |word: String| ABSENT.contains(&word.as_str()) || QUANTITIES.contains(&word.as_str());
    words(text).any(is_absent) || model.is_some_and(|model| names_other_gpu(text, model))
}

/// Whether a word behind a number is a unit of what is neither a time nor a ratio: of power, clocks, sizes and rates.
pub(super) fn is_foreign_unit(lower: &str) -> bool {
    matches!(
        lower,
        "w" | "kw"
            | "mw"
            | "j"
            | "mj"
            | "kwh"
            | "v"
            | "mv"
            | "c"
            | "\u{b0}"
            | "hz"
            | "khz"
            | "mhz"
            | "ghz"
            | "b"
            | "kb"
            | "mb"
            | "gb"
            | "tb"
            | "kib"
            | "mib"
            | "gib"
            | "byte"
            | "bytes"
            | "flop"
            | "flops"
            | "gflop"
            | "gflops"
            | "tflop"
            | "tflops"
            | "ulp"
            | "ulps"
            | "s"
            | "sec"
            | "second"
            | "seconds"
            | "min"
            | "minute"
            | "minutes"
            | "h"
            | "hour"
            | "hours"
            | "usd"
            | "eur"
            | "watt"
            | "watts"
    )
}

impl Sentence<'_, '_, '_> {
    /// Whether one of some numbers stands directly before one of some nouns.
    fn has_number_of(&self, wanted: &[u64], nouns: &[&str]) -> bool {
        self.tokens.iter().enumerate().any(|(at, token)| match &token.kind {
            Kind::Number(printed) => {
                let is_wanted = wanted.iter().any(|&value| printed.is_integer() && printed.value == value as f64);
                is_wanted && nouns.contains(&self.after(at, 1).as_str())
            }
            _ => false,
        })
    }

    /// Whether a number may count something else than all that there is: what was started, a choice, another device.
    pub(super) fn counts_another(&self, at: usize, expected: &Expected) -> bool {
        self.is_absent()
            || match expected.noun {
                // What was started is more than what has a time.
                Noun::Executions | Noun::Runs => self.is_total(at) || self.has_word(&["started", "planned"]),
                Noun::Cases if expected.is_whole => self.has_number_of(&expected.values, &["case", "cases"]),
                Noun::Cases => self.has_word(&["best", "fastest", "threshold"]),
                Noun::Processors => {
                    self.is_elsewhere()
                        || self.has_number_of(&expected.values, &["sm", "sms", "multiprocessor", "multiprocessors"])
                }
                _ => false,
            }
    }

    /// Whether the words around a decimal name a quantity that no figure here is.
    pub(super) fn is_of_another_quantity(&self, printed: &Printed) -> bool {
        let is_of_some = self.has_word(&["fp16", "bf16", "fp32"]) && self.cases.is_empty();
        let is_of_runs = match printed.unit {
            Unit::Ms => {
                self.has_word(&["took", "takes", "lasted", "lasts", "needed", "shortest", "longest"])
                    && !self.has_stem("target")
            }
            Unit::Us | Unit::Ns => {
                self.words.any(&[Word::Sample]) || self.has_word(&["nsight", "cold", "spread", "compiles"])
            }
            _ => false,
        };
        is_of_runs
            || (is_of_some && self.words.any(&[Word::Geomean, Word::Geometric]))
            || (self.words.any(&[Word::Score]) && !self.cases.is_empty() && !self.words.any(&[Word::Residual]))
            || (self.words.any(&[Word::Extreme]) && self.has_word(&["second", "third"]))
            || (self.words.any(&[Word::Threshold]) && self.has_word(&["considered", "rejected"]))
            || (self.words.any(&[Word::Drift]) && self.has_word(&["clock", "clocks", "temperature"]))
    }

    /// Whether its words say that it is about something else.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.is_elsewhere_but_for_devices() || self.names_other_gpu()
    }

    /// The same, where naming another device is what is judged.
    pub(super) fn is_elsewhere_but_for_devices(&self) -> bool {
        self.has_word(BESIDE) || self.has_word(ABSENT)
    }

    /// Whether its words say that it is about what is not here.
    pub(super) fn is_absent(&self) -> bool {
        self.has_word(ABSENT) || self.names_other_gpu()
    }

    fn names_other_gpu(&self) -> bool {
        let (Some(first), Some(last)) = (self.tokens.first(), self.tokens.last()) else { return false };
        let text = &self.source.text[first.start..last.end];
        self.figures.facts.model.as_ref().is_some_and(|model| names_other_gpu(text, model))
    }

    pub(super) fn has_word(&self, wanted: &[&str]) -> bool {
        let words = self.tokens.iter().filter(|token| token.kind == Kind::Word);
        words
            .map(|token| self.source.text[token.start..token.end].to_ascii_lowercase())
            .any(|lower| wanted.contains(&lower.as_str()))
    }

    /// Whether a word begins so.
    pub(super) fn has_stem(&self, stem: &str) -> bool {
        let mut words = self.tokens.iter().filter(|token| token.kind == Kind::Word);
        words.any(|token| self.source.text[token.start..token.end].starts_with(stem))
    }

    /// A statement that only the words around it explain: it holds, is about something else, or is worth a warning.
    pub(super) fn stated(&self, holds: bool, expected: impl FnOnce() -> String) -> Judgement {
        if !holds && self.is_elsewhere() { Judgement::Silent } else { statement(holds, expected) }
    }
}

/// What only the words around it explain: another value is worth a warning.
pub(super) fn statement(holds: bool, expected: impl FnOnce() -> String) -> Judgement {
    if holds { Judgement::Held } else { Judgement::Wrong(Code::ProseStatement, expected()) }
}
