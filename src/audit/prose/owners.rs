//! The case and schedule that a text puts behind a figure: `+82.06% (BF16 MAX 128x2048 rows1)`, `0.4 us, that of ... with rows1`.

use super::claims::{Judgement, Sentence};
use super::facts::Owned;
use super::printed::{Printed, Unit};
use super::tokens::{Kind, Token};
use super::words::{PartialLabel, Word};
use crate::fit::Schedule;

/// Words and marks between a figure and its owner.
const REACH: usize = 6;

impl Sentence<'_, '_, '_> {
    /// Whether the figure that stands before the case at `at` is one of that case, and of the schedule named with it.
    pub(super) fn owner(&self, at: usize, label: &PartialLabel) -> Judgement {
        let (first, last) = PartialLabel::span(self.tokens, at, &self.source.text);
        let Some(printed) = self.figure_before(first) else { return Judgement::Silent };
        let Some(schedule) = self.schedule_behind(last) else { return Judgement::Silent };
        let Kind::Shape(rows, columns) = self.tokens[at].kind else { return Judgement::Silent };
        let owners = &self.figures.facts.owners;
        let owned: &[Owned] = match printed.unit {
            Unit::Percent | Unit::Us if self.words.any(&[Word::Residual]) => &owners.residuals,
            Unit::Percent if self.words.any(&[Word::Drift]) => &owners.drifts,
            Unit::Us if schedule.is_some() => &owners.medians,
            _ => return Judgement::Silent,
        };
        // A sentence on both may mean either.
        if self.words.any(&[Word::Residual]) && self.words.any(&[Word::Drift]) {
            return Judgement::Silent;
        }
        let is_allowed = |owned: &Owned| {
            let known = &self.figures.cases[owned.case].label;
            (known.rows, known.columns) == (rows, columns)
                && label.allows(known)
                && (schedule.is_none() || owned.schedule.is_none() || schedule == owned.schedule)
        };
        let mut nearest: Option<&Owned> = None;
        for owned in owned.iter().filter(|owned| owned.figure.unit == printed.unit && owned.figure.matches(printed)) {
            if is_allowed(owned) {
                return Judgement::Held;
            }
            let magnitude = |owned: &Owned| owned.figure.value.abs();
            nearest = nearest.filter(|nearest| magnitude(nearest) >= magnitude(owned)).or(Some(owned));
        }
        // What no case has is judged as a number.
        nearest.map_or(Judgement::Silent, |owned| {
            self.stated(false, || {
                let schedule = owned.schedule.map_or(String::new(), |schedule| format!(" with {schedule}"));
                format!("{}{schedule} ({})", self.figures.cases[owned.case].label, owned.figure.what)
            })
        })
    }

    /// The number before the token at `first`, if only joining words stand between.
    fn figure_before(&self, first: usize) -> Option<&Printed> {
        for index in (first.saturating_sub(REACH)..first).rev() {
            match &self.tokens[index].kind {
                Kind::Number(printed) => return Some(printed),
                Kind::Mark('(' | '[' | ',' | '\u{2014}' | '\u{2013}') => {}
                Kind::Word => {
                    let lower = self.text(index).to_ascii_lowercase();
                    if !matches!(lower.as_str(), "that" | "of" | "for" | "case" | "the" | "by") {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        None
    }

    /// The schedule named behind the case, if the statement ends there: `None` where it goes on.
    fn schedule_behind(&self, last: usize) -> Option<Option<Schedule>> {
        let mut index = last + 1;
        let text = |token: &Token| self.source.text[token.start..token.end].to_ascii_lowercase();
        let joins = |token: &&Token| {
            matches!(text(token).as_str(), "with" | "under" | "schedule" | "," | "/" | "using" | "and")
        };
        let joined = self.tokens.get(index).filter(joins).is_some();
        index += usize::from(joined);
        let named = self.tokens.get(index).and_then(|token| {
            let lower = text(token);
            let lower = if lower == "original" { "default" } else { lower.as_str() };
            Schedule::from_name(lower)
        });
        index += usize::from(named.is_some());
        let ends = self.tokens.get(index).is_none_or(|token| match token.kind {
            Kind::Mark(mark) => matches!(mark, ')' | ']' | '.' | ';') || (mark == ',' && named.is_some()),
            _ => false,
        });
        (ends && (named.is_some() || !joined)).then_some(named)
    }
}
