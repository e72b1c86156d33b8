//! Counts in letters, and counts whose noun is no plain one: `seven samples`, `two 1024x512 defaults`, `one Torch process failed`.

use super::claims::{Judgement, Sentence};
use super::counts::Expected;
use super::nouns::Noun;
use super::tokens::Kind;
use super::words::{PartialLabel, Word, word};
use crate::package::partition::Route;

/// Words between a count and the process that it counts.
const REACH: usize = 6;

/// The number that a word is.
pub(super) fn numeral(lower: &str) -> Option<u64> {
    const NUMERALS: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    let lower = if lower == "no" { "zero" } else { lower };
    NUMERALS.iter().position(|numeral| *numeral == lower).map(|value| value as u64)
}

impl Sentence<'_, '_, '_> {
    /// A count in letters. Small ones stand for much else (`one of them`, `two runs differ`), so that only those are judged
    /// that are said of the whole package, or of each run.
    pub(super) fn worded_count(&self, at: usize, value: u64) -> Judgement {
        if self.is_no_statement(at) || self.is_total(at) {
            return Judgement::Silent;
        }
        if let Some(judgement) = self.small_count(at, value) {
            return judgement;
        }
        let Some(expected) = self.expected_count(at, value) else { return Judgement::Silent };
        let is_of_all = self.before(at, 1) == "all";
        let is_stated = match expected.noun {
            Noun::Regressions => self.is_of_selection(at),
            Noun::Samples => value > 0 && self.is_taken_by_each(at) && !expected.is_predicate,
            Noun::Cases => value > 0 && (expected.is_whole || (is_of_all && expected.is_plain)),
            Noun::Subsets => value > 0 && is_of_all,
            Noun::Groups | Noun::Cohorts | Noun::Observations => value > 0 && is_of_all && expected.is_plain,
            _ => false,
        };
        if !is_stated {
            Judgement::Silent
        } else if expected.values.contains(&value) {
            Judgement::Held
        } else if expected.is_claim || expected.noun == Noun::Samples {
            self.stated(false, || expected.nearest(value))
        } else {
            Judgement::Silent
        }
    }

    /// `one of the sixteen processes failed`: the number behind `of` is what the other is a part of.
    pub(super) fn is_total(&self, at: usize) -> bool {
        let joins =
            usize::from(matches!(self.before(at, 1).as_str(), "the" | "all" | "these" | "those" | "its" | "our"));
        self.before(at, 1 + joins) == "of"
    }

    /// `no observed selected regressions`: the policy's, not those of a schedule.
    fn is_of_selection(&self, at: usize) -> bool {
        (1..REACH).map(|steps| self.after(at, steps)).any(|lower| matches!(lower.as_str(), "selected" | "policy"))
    }

    /// `Each run took seven samples`.
    fn is_taken_by_each(&self, at: usize) -> bool {
        let is_part = matches!(
            self.before(at, 1).as_str(),
            "of" | "the" | "these" | "those" | "first" | "last" | "other" | "any" | "or" | "to" | "and"
        );
        let mut before = (0..at).filter(|&index| self.tokens[index].kind == Kind::Word);
        let each = before.find(|&index| word(&self.text(index).to_ascii_lowercase()) == Some(Word::Each));
        let takes = |index: usize| {
            let lower = self.text(index).to_ascii_lowercase();
            matches!(
                lower.as_str(),
                "took" | "takes" | "has" | "had" | "have" | "used" | "uses" | "with" | "recorded" | "records"
            )
        };
        let is_of_runs = |index: usize| {
            (1..=3).any(|steps| {
                matches!(
                    self.after(index, steps).as_str(),
                    "process"
                        | "run"
                        | "execution"
                        | "case"
                        | "timing"
                        | "measurement"
                        | "cohort"
                        | "processes"
                        | "runs"
                )
            })
        };
        !is_part && each.is_some_and(is_of_runs) && before.any(takes)
    }

    /// A count of failed processes, or of the cases of one shape: more than there are is wrong, less may be a part.
    pub(super) fn small_count(&self, at: usize, value: u64) -> Option<Judgement> {
        let (most, what) = self.failed_processes(at).or_else(|| self.cases_of_shape(at))?;
        if self.is_no_statement(at) || self.is_total(at) {
            return None;
        }
        Some(self.stated(value <= most, || format!("{most} ({what})")))
    }

    fn failed_processes(&self, at: usize) -> Option<(u64, &'static str)> {
        let failed = self.figures.facts.failed;
        let mut route = None;
        for index in at + 1..self.tokens.len().min(at + 1 + REACH) {
            let lower = self.text(index).to_ascii_lowercase();
            match lower.as_str() {
                "torch" => route = Some(Route::Torch),
                "native" => route = Some(Route::Native),
                "compile" | "compilation" | "original" | "initial" | "main" | "separate" | "benchmark" => {}
                "process" | "processes" | "execution" | "executions" | "run" | "runs" => {
                    let has_failed = match self.after(index, 1).as_str() {
                        "failed" | "crashed" | "died" | "aborted" => true,
                        "exited" => {
                            self.tokens.iter().any(|token| token.kind == Kind::Hex) || self.words.any(&[Word::Fail])
                        }
                        _ => false,
                    };
                    let (most, what) = match route {
                        Some(route) => (failed[route as usize], "failed processes of this route"),
                        None => (failed.iter().sum(), "failed processes"),
                    };
                    return (has_failed && most > 0).then_some((most, what));
                }
                _ => return None,
            }
        }
        None
    }

    fn cases_of_shape(&self, at: usize) -> Option<(u64, &'static str)> {
        let Kind::Shape(rows, columns) = self.tokens.get(at + 1)?.kind else { return None };
        let label = PartialLabel::around(self.tokens, at + 1, &self.source.text);
        let (_, last) = PartialLabel::span(self.tokens, at + 1, &self.source.text);
        if !matches!(self.after(last, 1).as_str(), "default" | "defaults" | "case" | "cases") {
            return None;
        }
        let cases = self.figures.by_shape.get(&(rows, columns))?;
        let count = cases.iter().filter(|&&case| label.allows(&self.figures.cases[case].label)).count();
        Some((count as u64, "cases of this shape"))
    }
}

impl Expected {
    /// The value that the printed one should have been, in words.
    pub(super) fn nearest(&self, value: u64) -> String {
        let nearest = self.values.iter().copied().min_by_key(|other| other.abs_diff(value)).unwrap_or_default();
        format!("{nearest} ({})", self.what)
    }
}
