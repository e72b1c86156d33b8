//! The figures that the words around a number name.

use super::figures::{CaseFigures, Figure, Figures};
use super::printed::{Printed, Unit};
use super::words::{Word, Words};

/// What stands around a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'s> {
    /// Words of its clause.
    pub own: Words,
    /// Words of its sentence.
    pub nearby: Words,
    /// Cases that its clause names.
    pub own_cases: &'s [usize],
    /// Cases that its sentence names.
    pub cases: &'s [usize],
    /// Whether the sentence is a table's row.
    pub is_row: bool,
}

/// Figures that a number must be one of, and figures that it may be as well.
#[derive(Debug, Default)]
pub(super) struct Candidates<'f> {
    /// What it must be one of, where there is any.
    pub binding: Vec<&'f Figure>,
    /// What explains it as well.
    pub offered: Vec<&'f Figure>,
    /// Whether the clause is about the policy's rule.
    pub states_rule: bool,
}

impl<'f> Candidates<'f> {
    fn add(&mut self, figures: impl IntoIterator<Item = &'f Figure>, binds: bool) {
        if binds { self.binding.extend(figures) } else { self.offered.extend(figures) }
    }
}

impl Context<'_> {
    /// The figures that the clause, and the sentence, name for a number.
    pub(super) fn candidates<'f>(&self, printed: &Printed, figures: &'f Figures<'_, '_>) -> Candidates<'f> {
        let mut candidates = Candidates::default();
        self.name_figures(printed, figures, &mut candidates);
        self.name_cases(printed, figures, &mut candidates);
        candidates
    }

    fn own(&self, wanted: &[Word]) -> bool {
        self.own.any(wanted)
    }

    fn nearby(&self, wanted: &[Word]) -> bool {
        self.nearby.any(wanted)
    }

    /// Whether a figure may be meant. What differs by a signed number does so in one direction; a gain may be told from
    /// either side.
    fn may_mean(&self, printed: &Printed, figure: &Figure) -> bool {
        let is_gain = self.own(&[Word::Improve, Word::Compare]);
        !(figure.is_reversed && printed.is_signed && self.own(&[Word::Differ]) && !is_gain)
    }

    /// Figures of the whole package.
    fn name_figures<'f>(&self, printed: &Printed, figures: &'f Figures<'_, '_>, candidates: &mut Candidates<'f>) {
        let is_percent = printed.unit == Unit::Percent;
        // A statistic that is not computed here may be meant.
        let computed = !self.own(&[Word::OtherStatistic]);
        if self.nearby(&[Word::Drift]) || (is_percent && self.nearby(&[Word::Recheck])) {
            let binds = computed && !is_time_unit(printed) && self.own(&[Word::Drift]);
            candidates.add(&figures.drift_extremes, binds);
            candidates.add(&figures.drifts, binds && !self.nearby(&[Word::Extreme]));
        }
        if self.nearby(&[Word::Residual]) {
            let binds = (computed && !self.own(&[Word::Median, Word::Mean])) || self.own(&[Word::Extreme]);
            let binds = binds && self.own(&[Word::Residual]) && printed.unit != Unit::Factor;
            candidates.add(&figures.residual_extremes, binds);
            if !self.nearby(&[Word::Extreme]) {
                candidates.add(&figures.residuals, binds);
            }
        }
        if self.nearby(&[Word::Geomean]) || (self.nearby(&[Word::Geometric]) && self.nearby(&[Word::Mean])) {
            let binds = self.own(&[Word::Geomean]) || (self.own(&[Word::Geometric]) && self.own(&[Word::Mean]));
            let binds = binds && !is_time_unit(printed);
            candidates.add(&figures.geomeans, binds);
            if self.nearby(&[Word::Torch]) {
                candidates.add(&figures.torch_geomeans, binds);
            }
            if self.nearby(&[Word::Overlap]) {
                candidates.add(&figures.overlap.geomeans, binds);
            }
            if self.nearby(&[Word::Rows1, Word::Rows2]) {
                candidates.add(&figures.schedule_geomeans, false);
            }
        }
        if self.nearby(&[Word::Retry]) {
            let binds =
                self.own(&[Word::Retry]) || (self.own(&[Word::Differ]) && self.own(&[Word::Native, Word::Torch]));
            candidates.add(
                figures.retests.iter().filter(|figure| self.may_mean(printed, figure)),
                binds && printed.unit != Unit::Plain,
            );
        }
        if is_percent || printed.unit == Unit::Plain {
            // What the rule calls lower is a predicted score; a saving that was measured is another matter.
            let binds = is_percent && self.own(&[Word::Score, Word::Threshold]) && self.cases.is_empty();
            let binds = binds && !self.nearby(&[Word::Residual, Word::Geomean, Word::Drift]);
            candidates.states_rule = binds && self.own(&[Word::Score]);
            candidates.add(&figures.thresholds, binds);
        }
        if printed.unit == Unit::Plain {
            let binds = printed.exponent.is_some() && self.own(&[Word::Tolerance]) && self.own(&[Word::Floating]);
            candidates.add(&figures.tolerances, binds);
        }
        if printed.unit == Unit::Ms {
            let is_target = printed.is_integer();
            candidates.add(&figures.warmups, is_target && self.own(&[Word::Warm]));
            candidates.add(&figures.sample_targets, is_target && self.own(&[Word::Sample]) && !self.own(&[Word::Warm]));
        }
    }

    /// Figures of the cases that are named.
    fn name_cases<'f>(&self, printed: &Printed, figures: &'f Figures<'_, '_>, candidates: &mut Candidates<'f>) {
        let is_time = matches!(printed.unit, Unit::Us | Unit::Ns | Unit::Plain);
        let binding_cases = if self.own_cases.is_empty() { self.cases } else { self.own_cases };
        // A bare number beside a case is a time only where the words say so.
        let says_time = self.own(&[
            Word::Native,
            Word::Torch,
            Word::Default,
            Word::Rows1,
            Word::Rows2,
            Word::Recheck,
            Word::Median,
            Word::Timed,
        ]);
        let says_time = (says_time && !self.is_row) || (printed.unit == Unit::Us && !self.own_cases.is_empty());
        let says_ratio = self.own(&[Word::Improve, Word::Compare, Word::Differ]) || self.nearby(&[Word::Improve]);
        for &case in self.cases {
            let CaseFigures { times, extremes, comparisons, other_comparisons, differences, predictions, .. } =
                &figures.cases[case];
            let is_own = binding_cases.contains(&case);
            let is_difference = self.nearby(&[Word::Improve, Word::Compare, Word::Differ]);
            candidates.add(times, is_own && says_time && is_time && !(says_ratio && printed.unit == Unit::Plain));
            candidates.add(extremes.iter().filter(|_| self.nearby(&[Word::Extreme, Word::Sample])), false);
            candidates.add(differences.iter().filter(|_| is_difference), false);
            candidates.add(predictions, false);
            candidates.add(other_comparisons, false);
            let binds = is_own
                && !self.own_cases.is_empty()
                && says_ratio
                && matches!(printed.unit, Unit::Percent | Unit::Factor);
            candidates.add(comparisons.iter().filter(|figure| self.may_mean(printed, figure)), binds);
        }
    }
}

/// Whether the printed unit is one of time.
fn is_time_unit(printed: &Printed) -> bool {
    matches!(printed.unit, Unit::Us | Unit::Ms | Unit::Ns)
}
