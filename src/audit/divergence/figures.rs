//! The three figures of an arm: lengths, ranges, what they imply of each other, and what is possible at all.

use super::Where;
use super::protocol::Measure;
use crate::audit::{Code, Recorder, show};
use crate::divergence::{Printed, counts_of_rate, off_lattice};
use crate::package::divergence::{Arm, DIVERGENCE_DIGITS, Figures, RATE_DECIMALS};
use crate::package::json::{Document, Json, python_float};

/// What stands behind figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Nothing: they are printed, and are judged by what is possible.
    Printed,
    /// Pairs or tensors, which decide about signed zeros and divergences.
    Data,
}

/// Checks the figures of one arm; `who` is the device or engine.
pub(super) fn check(
    figures: &Figures<'_>,
    measure: &Measure,
    (who, arm): (&str, Arm),
    basis: Basis,
    document: &Document,
    recorder: &mut Recorder,
) {
    let Some(resolutions) = &measure.resolutions else { return };
    let columns = [figures.drift, figures.divergence, figures.rate].map(|column| {
        let items = column.and_then(Json::as_array)?;
        let expected = format_args!("{} values, one for each resolution", resolutions.len());
        let found = format_args!("{} ({who}, {})", items.len(), arm.name());
        recorder.require(items.len() == resolutions.len(), Code::FigureLength, document, column?, expected, found);
        Some(items)
    });
    for (index, &resolution) in resolutions.iter().enumerate() {
        let [drift, divergence, rate] = columns.map(|column| column?.get(index));
        let mut row = Row { place: Where { who, arm, resolution }, measure, document, recorder: &mut *recorder, basis };
        let drift = drift.and_then(|at| Some((at, row.drift(at)?)));
        let divergence = divergence.and_then(|at| Some((at, row.divergence(at)?)));
        let rate = rate.and_then(|at| Some((at, row.rate(at)?)));
        row.implications(drift, divergence, rate);
    }
}

/// One arm at one resolution.
struct Row<'r> {
    place: Where<'r>,
    measure: &'r Measure,
    document: &'r Document,
    recorder: &'r mut Recorder,
    basis: Basis,
}

/// The least and the largest number of equal pairs that a rate can stand for.
type Counts = std::ops::RangeInclusive<u64>;

impl Row<'_> {
    fn require(&mut self, holds: bool, code: Code, at: &Json, expected: impl std::fmt::Display) -> bool {
        let found = format_args!("{} ({})", show(at), self.place);
        self.recorder.require(holds, code, self.document, at, expected, found)
    }

    fn drift(&mut self, at: &Json) -> Option<u64> {
        let most = self.measure.coordinates.unwrap_or(u64::MAX);
        let value = at.as_u64();
        let expected = format_args!("a whole number of coordinates from 0 to {most}");
        self.require(value.is_some_and(|value| value <= most), Code::FigureRange, at, expected);
        value
    }

    fn divergence(&mut self, at: &Json) -> Option<f64> {
        let value = at.as_f64().filter(|value| value.is_finite() && !value.is_sign_negative());
        self.require(value.is_some(), Code::FigureRange, at, "a finite number, not negative");
        let printed = Printed::significant(value?, DIVERGENCE_DIGITS);
        if let Some(printed) = printed.filter(|_| self.basis == Basis::Printed) {
            let off = off_lattice(printed);
            let step = off.unwrap_or_default();
            let expected = format_args!(
                "a multiple of 2^{step} at five significant digits, as differences of binary32 gradients are"
            );
            self.require(off.is_none(), Code::DivergenceLattice, at, expected);
        }
        value
    }

    /// The numbers of equal pairs that the rate can stand for; `None` where there is none, which is then reported.
    fn rate(&mut self, at: &Json) -> Option<Counts> {
        let value = at.as_f64().filter(|value| (0.0..=100.0).contains(value) && !value.is_sign_negative());
        self.require(value.is_some(), Code::FigureRange, at, "a percentage from 0 to 100");
        let (value, pairs) = (value?, self.measure.pairs.filter(|&pairs| pairs > 0)?);
        let counts = counts_of_rate(Printed::decimals(value, RATE_DECIMALS)?, pairs);
        let below = (value * pairs as f64 / 100.0).floor();
        let near = |count: f64| python_float(printed_rate(count, pairs));
        let expected = format_args!(
            "a whole number of {pairs} pairs in percent, such as {} or {}",
            near(below),
            near((below + 1.0).min(pairs as f64))
        );
        if !self.require(!counts.is_empty(), Code::MatchRate, at, expected) {
            return None;
        }
        if let Some(possible) = &self.measure.counts {
            let holds = possible.first_in(counts.clone()).is_some();
            if !holds {
                let (below, above) = possible.around(*counts.start());
                let near: Vec<_> = [below, above].into_iter().flatten().map(|count| count.to_string()).collect();
                let expected = format_args!(
                    "a sum of C(n,2) over classes of {} trials; the nearest are {} pairs",
                    possible.trials(),
                    near.join(" and ")
                );
                let found = format_args!("{}, which is {} of {pairs} pairs ({})", show(at), counts.start(), self.place);
                self.recorder.report_at(Code::EqualPairs, self.document, at, expected, found);
                return None;
            }
            self.recorder.held();
        }
        Some(counts)
    }

    /// Zero drift, zero divergence and a full match imply each other, except that signed zeros drift without diverging.
    fn implications(
        &mut self,
        drift: Option<(&Json, u64)>,
        divergence: Option<(&Json, f64)>,
        rate: Option<(&Json, Counts)>,
    ) {
        let Some((_, drift)) = drift else { return };
        if let Some((at, divergence)) = divergence {
            let some = divergence > 0.0;
            if drift == 0 {
                self.require(!some, Code::ZeroDrift, at, "0.0: no coordinate of any pair differs");
            } else if self.basis == Basis::Printed {
                let expected =
                    format_args!("more than 0: up to {drift} coordinates differ, by nothing only if 0.0 met -0.0");
                self.require(some, Code::SignedZero, at, expected);
            }
        }
        if let (Some((at, counts)), Some(pairs)) = (rate, self.measure.pairs) {
            if drift == 0 {
                self.require(*counts.end() >= pairs, Code::ZeroDrift, at, "100.0: no coordinate of any pair differs");
            } else {
                let below = *counts.start()..=(*counts.end()).min(pairs.saturating_sub(1));
                let possible = match &self.measure.counts {
                    Some(possible) => possible.first_in(below).is_some(),
                    None => !below.is_empty(),
                };
                let expected = format_args!("less than 100: in some pair {drift} coordinates differ");
                self.require(possible, Code::ZeroDrift, at, expected);
            }
        }
    }
}

/// The rate of a number of equal pairs as receipts print it.
fn printed_rate(count: f64, pairs: u64) -> f64 {
    let scale = 10_f64.powi(RATE_DECIMALS as i32);
    (100.0 * count / pairs as f64 * scale).round() / scale
}
