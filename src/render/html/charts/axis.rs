//! Axes of charts: where a value lies, and which ticks it gets.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::letters::{fitted, width};
use super::name_of;

/// Part of a logarithmic axis below its smallest power, where zero has its place.
const ZERO_SHARE: f64 = 0.18;

/// Most ticks with a label.
const MOST_TICKS: usize = 7;

/// Most characters of a row's name.
const ROW_NAME: usize = 24;

/// Most pixels of a row's name.
const ROW_ROOM: i32 = 184;

/// Least pixels between two labels.
const GAP: f64 = 4.0;

/// Most faint lines between them.
const MOST_GUIDES: usize = 48;

/// How values are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
    /// Logarithmic, with a place for zero at the lower end.
    LogAndZero,
}

/// An axis.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
    /// Places with a label.
    ticks: Vec<(f64, String)>,
    /// Places with a faint line and no label.
    pub(super) guides: Vec<f64>,
}

impl Axis {
    /// A linear axis around `values`, with round ends; `anchor` lies on it, too.
    pub(super) fn linear(values: impl Iterator<Item = f64>, anchor: f64) -> Self {
        let (mut low, mut high) = bounds(values.chain([anchor]));
        if low == high {
            let by = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
            (low, high) = (low - by, high + by);
        }
        let step = step((high - low) / 5.0);
        let (first, last) = ((low / step - 0.05).floor(), (high / step + 0.05).ceil());
        let decimals = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
        let count = (last - first).clamp(1.0, 20.0) as usize;
        let ticks = (0..=count).map(|index| (first + index as f64) * step);
        let ticks = ticks.map(|value| if value.abs() < step / 1e6 { 0.0 } else { value });
        let ticks = ticks.map(|value| (value, format!("{value:.decimals$}"))).collect();
        Self { low: first * step, high: last * step, scale: Scale::Linear, ticks, guides: Vec::new() }
    }

    /// A logarithmic axis around positive values, ticks at 1, 2 and 5 or, over many decades, at powers of ten.
    pub(super) fn log(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = bounds(values);
        let (low, high) = (low * 0.93, high * 1.07);
        let steps: &[f64] = match (high / low).log10() {
            few if few < 0.7 => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
            few if few < 2.4 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let decades = decade(low.log10().floor())..=decade(high.log10().ceil());
        let all = decades.flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
        let ticks = all.filter(|value| (low..=high).contains(value)).map(|value| (value, plain(value))).collect();
        Self { low, high, scale: Scale::Log, ticks: thinned(ticks), guides: Vec::new() }
    }

    /// A logarithmic axis whose guides are powers of two; `zero` keeps a place for it. `label` names an exponent.
    pub(super) fn powers(values: impl Iterator<Item = f64>, zero: bool, label: impl Fn(i32) -> String) -> Self {
        let (low, high) = bounds(values.filter(|value| *value > 0.0));
        let (first, last) = ((low.log2() + 1e-9).floor() as i32, (high.log2() - 1e-9).ceil() as i32);
        let last = last.max(first + 1);
        let every = ((last - first) as usize).div_ceil(MOST_TICKS - 1).max(1);
        let exponents = (first..=last).step_by(every);
        let mut ticks: Vec<_> = exponents.map(|exponent| (2_f64.powi(exponent), label(exponent))).collect();
        if zero {
            ticks.insert(0, (0.0, "0".to_owned()));
        }
        let guides = (first..=last)
            .step_by((last - first) as usize / MOST_GUIDES + 1)
            .map(|exponent| 2_f64.powi(exponent))
            .collect();
        let scale = if zero { Scale::LogAndZero } else { Scale::Log };
        // A little room, so that marks at an end are whole.
        Self { low: 2_f64.powf(f64::from(first) - 0.3), high: 2_f64.powf(f64::from(last) + 0.3), scale, ticks, guides }
    }

    /// Rows from top to bottom, each with a name.
    pub(super) fn rows(names: impl Iterator<Item = String>) -> Self {
        let name = |name: String| fitted(&name_of(&name, ROW_NAME), ROW_ROOM);
        let ticks: Vec<_> = names.enumerate().map(|(row, text)| (row as f64, name(text))).collect();
        // From high to low: the first row is at the top.
        Self { low: ticks.len() as f64 - 0.5, high: -0.5, scale: Scale::Linear, ticks, guides: Vec::new() }
    }

    /// Pixels that the widest name takes.
    pub(super) fn room(&self) -> i32 {
        8 + self.ticks.iter().map(|(_, name)| width(name)).max().unwrap_or(0)
    }

    /// Pixels beyond either end that labels centred at their values need, where the axis and both margins have `total`.
    pub(super) fn overhang(&self, total: i32) -> (i32, i32) {
        let total = f64::from(total);
        let need = |place: f64, label: &str| {
            // The label's half has room within the axis, whose length is what the margins leave.
            let half = f64::from(width(label)) / 2.0 + 1.0;
            if place > 0.5 { ((half - (1.0 - place) * total) / place).ceil() as i32 } else { 0 }
        };
        let labels = self.ticks.iter().map(|(value, label)| (self.share(*value), label));
        labels.fold((0, 0), |(left, right), (place, label)| {
            (left.max(need(1.0 - place, label)), right.max(need(place, label)))
        })
    }

    /// The same axis with so few labels that none touches the next where the axis has `pixels`.
    pub(super) fn spaced(mut self, pixels: i32) -> Self {
        let touches = |ticks: &[(f64, String)]| {
            ticks.windows(2).any(|pair| {
                let apart = (self.share(pair[1].0) - self.share(pair[0].0)).abs() * f64::from(pixels);
                apart < f64::from(width(&pair[0].1) + width(&pair[1].1)) / 2.0 + GAP
            })
        };
        let of = |every: usize| self.ticks.iter().step_by(every).cloned().collect::<Vec<_>>();
        let every = (1..=self.ticks.len()).find(|every| !touches(&of(*every)));
        self.ticks = self.ticks.into_iter().step_by(every.unwrap_or(1)).collect();
        self
    }

    /// The two ends.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// How many labels there are.
    pub(super) fn labels(&self) -> usize {
        self.ticks.len()
    }

    fn share(&self, value: f64) -> f64 {
        let log = || (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln();
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => log(),
            Scale::LogAndZero if value <= 0.0 => ZERO_SHARE / 3.0,
            Scale::LogAndZero => ZERO_SHARE + (1.0 - ZERO_SHARE) * log(),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (f64::from(to - from) * self.share(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(value, _)| *value).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.ticks.iter().find(|(tick, _)| tick == value).map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

/// A power of ten that numbers can have.
fn decade(power: f64) -> i32 {
    power.clamp(-330.0, 310.0) as i32
}

/// Smallest and largest of the finite values; 1 and 10 without any.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (f64::min(low, value), f64::max(high, value)));
    if low <= high { (low, high) } else { (1.0, 10.0) }
}

/// The round number (1, 2 or 5 times a power of ten) that is at least `size`.
fn step(size: f64) -> f64 {
    let decade = 10_f64.powf(size.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * decade).find(|step| *step >= size * 0.999).unwrap_or(decade)
}

fn thinned(ticks: Vec<(f64, String)>) -> Vec<(f64, String)> {
    let every = ticks.len().div_ceil(MOST_TICKS + 2).max(1);
    ticks.into_iter().step_by(every).collect()
}

/// A tick's value without needless digits.
fn plain(value: f64) -> String {
    if (1e-3..1e5).contains(&value) {
        let decimals = (1.0 - value.log10().floor()).clamp(0.0, 5.0) as usize;
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{value:.0e}")
    }
}
