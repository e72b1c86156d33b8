//! How each figure is derived from medians, samples, fit and folds.

use std::collections::{BTreeMap, HashMap};

use super::super::evidence::Refitted;
use super::figures::{CaseFigures, Figure};
use super::printed::Unit;
use crate::fit::Schedule;
use crate::fit::metrics::geometric_mean;
use crate::package::partition::{CaseLabel, CaseRecord, DEFAULT, RECHECK, RETEST, Route, Validation};
use crate::refit::{Evaluated, Residual};

/// A figure that stands in a file as it is.
pub(super) fn recorded(value: f64, unit: Unit, what: &'static str) -> Figure {
    Figure { value, slack: 0.0, unit, is_signed: false, is_reversed: false, what }
}

/// Derives figures; what is computed may differ by `tolerance` on another machine.
pub(super) struct Builder {
    /// Relative.
    pub tolerance: f64,
}

impl Builder {
    /// A computed figure; its rounding errors are relative to `scale` at least.
    pub(super) fn derived(&self, value: f64, scale: f64, unit: Unit, what: &'static str) -> Figure {
        let slack = self.tolerance * value.abs().max(scale);
        Figure { value, slack, unit, is_signed: value < 0.0, is_reversed: false, what }
    }

    fn signed(&self, value: f64, scale: f64, unit: Unit, what: &'static str) -> Figure {
        Figure { is_signed: true, ..self.derived(value, scale, unit, what) }
    }

    /// A ratio as people print it: as it is, turned over, as a share, and as a change in percent either way.
    pub(super) fn ratio(&self, ratio: f64, what: &'static str, figures: &mut Vec<Figure>) {
        let change = 100.0 * (ratio - 1.0);
        let reversed = |value: f64| Figure { is_reversed: true, ..self.signed(value, 100.0, Unit::Percent, what) };
        figures.extend([
            self.signed(change, 100.0, Unit::Percent, what),
            reversed(-change),
            reversed(100.0 * (1.0 / ratio - 1.0)),
            self.derived(100.0 * ratio, 100.0, Unit::Percent, what),
            self.derived(ratio, 1.0, Unit::Factor, what),
            self.derived(1.0 / ratio, 1.0, Unit::Factor, what),
        ]);
    }

    pub(super) fn case<'v, 'd>(&self, record: &'v CaseRecord<'d>, predictions: Vec<Figure>) -> CaseFigures<'v, 'd> {
        let mut times = Vec::new();
        let mut spread = Vec::new();
        for run in &record.runs {
            for (route, at) in run.routes() {
                let Some(timing) = &at.timing else { continue };
                times.push(recorded(timing.p50, Unit::Us, time_name(run.cohort, route)));
                let (fastest, slowest, _) = extremes(timing.samples.numbers());
                let named = [(fastest, "fastest sample"), (slowest, "slowest sample")].into_iter();
                spread.extend(named.filter_map(|(value, what)| Some(recorded(value?, Unit::Us, what))));
            }
        }
        let torch = |cohort: &str| Some(record.run(cohort)?.torch.timing.as_ref()?.p50);
        let native = |cohort: &str| record.native_median(cohort);
        let mut comparisons = Vec::new();
        let mut other_comparisons = Vec::new();
        let mut differences = Vec::new();
        let mut compare = |left: Option<f64>, right: Option<f64>, what: &'static str, ratios: &mut Vec<Figure>| {
            if let (Some(left), Some(right)) = (left, right) {
                self.ratio(left / right, what, ratios);
                differences.push(self.signed(left - right, left, Unit::Us, what));
            }
        };
        for (cohort, over_default, over_torch) in [
            (DEFAULT, "", "default against Torch"),
            (Schedule::Rows1.name(), "rows1 against default", "rows1 against Torch"),
            (Schedule::Rows2.name(), "rows2 against default", "rows2 against Torch"),
            (RECHECK, "recheck against default", "recheck against Torch"),
        ] {
            if cohort != DEFAULT {
                compare(native(cohort), native(DEFAULT), over_default, &mut comparisons);
            }
            compare(native(cohort), torch(DEFAULT), over_torch, &mut comparisons);
            compare(native(cohort), torch(RETEST), over_torch, &mut comparisons);
        }
        let [rows1, rows2] = [Schedule::Rows1, Schedule::Rows2].map(|schedule| native(schedule.name()));
        compare(native(RETEST), native(DEFAULT), "retest against the original native median", &mut comparisons);
        compare(native(RETEST), torch(RETEST), "retest, native against Torch", &mut comparisons);
        compare(rows1, rows2, "rows1 against rows2", &mut other_comparisons);
        compare(rows1, native(RECHECK), "rows1 against recheck", &mut other_comparisons);
        compare(rows2, native(RECHECK), "rows2 against recheck", &mut other_comparisons);
        CaseFigures {
            record,
            label: CaseLabel::of(&record.case),
            times,
            extremes: spread,
            comparisons,
            other_comparisons,
            differences,
            predictions,
        }
    }

    /// Scores and residuals of fit and folds, by case id.
    pub(super) fn predictions<'r>(&self, refitted: &'r Refitted<'_, '_>) -> HashMap<&'r str, Vec<Figure>> {
        let refit = &refitted.refit;
        let mut by_case: HashMap<&str, Vec<Figure>> = HashMap::new();
        let folds = refit.folds.iter().map(|fold| (&fold.evaluated, "residual of the fold", "score of the fold"));
        let full = [(&refit.full, "residual of the full fit", "score of the full fit")];
        for (evaluated, residual_name, score_name) in folds.chain(full) {
            for residual in &evaluated.residuals {
                let figures = by_case.entry(refit.observations[residual.observation].record.case.id).or_default();
                figures.push(self.derived(residual.predicted_us, 0.0, Unit::Us, score_name));
                figures.extend(self.residual(residual, residual_name, residual_name));
            }
        }
        by_case
    }

    fn residual(&self, residual: &Residual, relative: &'static str, absolute: &'static str) -> [Figure; 2] {
        [
            self.signed(100.0 * residual.relative_error(), 100.0, Unit::Percent, relative),
            self.signed(residual.signed_error_us(), residual.observed_us, Unit::Us, absolute),
        ]
    }

    /// Extremes, then one for each case.
    pub(super) fn drifts(&self, validation: &Validation<'_>) -> (Vec<Figure>, Vec<Figure>) {
        let drift =
            |record: &CaseRecord<'_>| Some(record.native_median(RECHECK)? / record.native_median(DEFAULT)? - 1.0);
        let drifts: Vec<f64> = validation.cases.iter().filter_map(drift).collect();
        let in_forms = |value: f64, what: &'static str| {
            [self.signed(100.0 * value, 100.0, Unit::Percent, what), self.signed(value, 1.0, Unit::Plain, what)]
        };
        let (smallest, largest, magnitude) = extremes(drifts.iter().copied());
        let named = [
            (smallest, "smallest drift of the recheck"),
            (largest, "largest drift of the recheck"),
            (magnitude, "largest drift of the recheck by magnitude"),
            (smallest.zip(largest).map(|(smallest, largest)| largest - smallest), "width of the recheck's drift"),
        ];
        let named = named.into_iter().filter_map(|(value, what)| Some(in_forms(value?, what))).flatten().collect();
        (named, drifts.into_iter().flat_map(|value| in_forms(value, "drift of the recheck")).collect())
    }

    /// Extremes of folds and fit, then all residuals.
    pub(super) fn residuals(&self, refitted: &Refitted<'_, '_>) -> (Vec<Figure>, Vec<Figure>) {
        let refit = &refitted.refit;
        let folds: Vec<_> = refit.folds.iter().flat_map(|fold| &fold.evaluated.residuals).collect();
        let full: Vec<_> = refit.full.residuals.iter().collect();
        let mut named = Vec::new();
        let mut all = Vec::new();
        for (residuals, relative, absolute) in [
            (&folds, "largest relative residual of the folds", "largest absolute residual of the folds"),
            (&full, "largest relative residual of the full fit", "largest absolute residual of the full fit"),
        ] {
            all.extend(residuals.iter().flat_map(|residual| self.residual(residual, "a residual", "a residual")));
            let percents: Vec<f64> = residuals.iter().map(|residual| 100.0 * residual.relative_error()).collect();
            let errors: Vec<f64> = residuals.iter().map(|residual| residual.signed_error_us()).collect();
            let scale = residuals.iter().map(|residual| residual.observed_us).fold(0.0, f64::max);
            for (values, scale, unit, what) in
                [(percents, 100.0, Unit::Percent, relative), (errors, scale, Unit::Us, absolute)]
            {
                let (smallest, largest, magnitude) = extremes(values.iter().copied());
                // The magnitude first: it is what an unsigned number should have been.
                let values = [magnitude, smallest, largest].into_iter().flatten();
                named.extend(values.map(|value| self.signed(value, scale, unit, what)));
            }
        }
        (named, all)
    }

    /// The policy's, then those of always taking one schedule.
    pub(super) fn geomeans(&self, refitted: &Refitted<'_, '_>) -> (Vec<Figure>, Vec<Figure>) {
        let refit = &refitted.refit;
        let mut figures = Vec::new();
        let of = |evaluated: &Evaluated| evaluated.metrics.geometry_equal_weight_policy_geomean;
        self.geomean(
            refit.summary.geometry_equal_weight_policy_geomean,
            "geometric mean of the folds' policy",
            &mut figures,
        );
        self.geomean(of(&refit.full), "geometric mean of the full fit's policy", &mut figures);
        let mut of_schedules = Vec::new();
        // By equal weight of cases and of geometries.
        for (schedule, what) in
            [(1, "geometric mean of rows1 over default"), (2, "geometric mean of rows2 over default")]
        {
            let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for decision in &refit.full.decisions {
                groups.entry(&decision.group).or_default().push(libm::log(decision.observed_ratios[schedule]));
            }
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
            let by_group: Vec<f64> = groups.values().map(|values| mean(values)).collect();
            let by_case: Vec<f64> = groups.into_values().flatten().collect();
            self.geomean(libm::exp(mean(&by_group)), what, &mut of_schedules);
            self.geomean(libm::exp(mean(&by_case)), what, &mut of_schedules);
        }
        (figures, of_schedules)
    }

    /// The fastest schedule's native median over the initial Torch median, with equal weight of cases.
    pub(super) fn torch_geomeans(&self, validation: &Validation<'_>) -> Vec<Figure> {
        let ratios: Vec<f64> = validation.cases.iter().filter_map(CaseRecord::fastest_over_torch).collect();
        let mut figures = Vec::new();
        if let Some(mean) = geometric_mean(&ratios) {
            self.geomean(mean, "geometric mean of the fastest schedule over Torch", &mut figures);
        }
        figures
    }

    pub(super) fn geomean(&self, value: f64, what: &'static str, figures: &mut Vec<Figure>) {
        // First the form without a unit: it is what the number should have been.
        figures.push(self.derived(value, 1.0, Unit::Plain, what));
        self.ratio(value, what, figures);
    }

    pub(super) fn retests(&self, validation: &Validation<'_>) -> Vec<Figure> {
        let mut figures = Vec::new();
        for record in &validation.cases {
            let Some(retest) = record.run(RETEST) else { continue };
            let [native, torch] = retest.routes().map(|(_, route)| route.timing.as_ref().map(|timing| timing.p50));
            let medians = [(native, time_name(RETEST, Route::Native)), (torch, time_name(RETEST, Route::Torch))];
            figures.extend(medians.into_iter().filter_map(|(value, what)| Some(recorded(value?, Unit::Us, what))));
            let pairs = [
                (native, record.native_median(DEFAULT), "retest against the original native median"),
                (native, torch, "retest, native against Torch"),
            ];
            for (left, right, what) in pairs {
                if let (Some(left), Some(right)) = (left, right) {
                    self.ratio(left / right, what, &mut figures);
                }
            }
        }
        figures
    }

    pub(super) fn thresholds(&self, fraction: f64) -> Vec<Figure> {
        let what = "the policy's improvement fraction";
        vec![
            self.derived(100.0 * fraction, 100.0, Unit::Percent, what),
            self.derived(fraction, 1.0, Unit::Plain, what),
            self.derived(1.0 - fraction, 1.0, Unit::Plain, what),
            self.derived(100.0 * (1.0 - fraction), 100.0, Unit::Percent, what),
        ]
    }
}

/// Smallest, largest, and the one with the largest magnitude.
fn extremes(values: impl Iterator<Item = f64> + Clone) -> (Option<f64>, Option<f64>, Option<f64>) {
    let by_magnitude = values.clone().max_by(|left, right| left.abs().total_cmp(&right.abs()));
    (values.clone().reduce(f64::min), values.reduce(f64::max), by_magnitude)
}

fn time_name(cohort: &str, route: Route) -> &'static str {
    match (route, cohort) {
        (Route::Native, DEFAULT) => "native median of default",
        (Route::Native, RECHECK) => "native median of recheck",
        (Route::Native, RETEST) => "native median of the retest",
        (Route::Native, cohort) if cohort == Schedule::Rows1.name() => "native median of rows1",
        (Route::Native, cohort) if cohort == Schedule::Rows2.name() => "native median of rows2",
        (Route::Native, _) => "a native median",
        (Route::Torch, DEFAULT) => "initial Torch median",
        (Route::Torch, RETEST) => "Torch median of the retest",
        (Route::Torch, _) => "a Torch median",
    }
}
