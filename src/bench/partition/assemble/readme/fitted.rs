//! The section on the model: what was fitted, what it selects, and how far it is off.

use std::fmt::Write;

use super::measured::{many, slower};
use super::{Readme, label, line};
use crate::bench::partition::assemble::model::LIMITATIONS;
use crate::fit::Schedule;
use crate::package::json::python_float;
use crate::refit::{Refit, Residual, is_trainable};

impl Readme<'_, '_> {
    pub(super) fn model(&self, text: &mut String) {
        line!(text, "## Model");
        line!(text);
        let refit = match self.refit {
            Ok(refit) => refit,
            Err(reason) => {
                line!(text, "No model was fitted: {}.", reason.words());
                line!(text);
                return;
            }
        };
        line!(
            text,
            "For R rows, a padded width W and b rows per program, P = ceil(R/b) programs run in rounds of as many as the device \
             has {}. With three nonnegative coefficients the time of an operation in microseconds is modelled as",
            if self.is_cpu() { "host threads" } else { "multiprocessors" }
        );
        line!(text);
        line!(text, "`q = a0 + aP*P + aD*ceil(P/{})*b*W`", self.sm_count);
        line!(text);
        let names = ["a0", "aP", "aD"].iter().zip(&refit.full.fit.coefficients);
        let named: Vec<_> = names.map(|(name, value)| format!("`{name}={}`", python_float(*value))).collect();
        line!(text, "{}.", named.join(", "));
        line!(text);
        line!(
            text,
            "It was fitted on {} of {} with the same weight for each geometry. Recheck has no part in the fit.",
            many(refit.observations.len(), "observation"),
            many(refit.groups.len(), "geometrie").replace("1 geometrie", "1 geometry")
        );
        let left_out: Vec<_> = self.validation.cases.iter().filter(|record| !is_trainable(record)).collect();
        for record in left_out {
            line!(text, "The case {} is not fitted: a native run of it failed.", label(record));
        }
        line!(text);
        self.decisions(refit, text);
        self.residuals(refit, text);
        for limit in LIMITATIONS {
            line!(text, "- {limit}");
        }
        line!(text);
    }

    fn decisions(&self, refit: &Refit<'_, '_>, text: &mut String) {
        let decisions = || refit.folds.iter().flat_map(|fold| &fold.evaluated.decisions);
        let count = |schedule| decisions().filter(|decision| decision.decision.selected == schedule).count();
        line!(
            text,
            "A schedule is selected when its predicted score is more than 5% lower than default's. With each geometry left out \
             of its own fit (LOGO) this selects rows1 for {} and rows2 for {} and keeps default for {}.",
            many(count(Schedule::Rows1), "case"),
            many(count(Schedule::Rows2), "case"),
            many(count(Schedule::Default), "case")
        );
        line!(
            text,
            "The geometric mean of the selected medians over default with the same weight for each geometry is {:.8}.",
            refit.summary.geometry_equal_weight_policy_geomean
        );
        line!(text);
        let mut lines = Vec::new();
        for record in &self.validation.cases {
            let Some(selected) = self.selected(record).filter(|&selected| selected != Schedule::Default) else {
                continue;
            };
            if let Some(ratio) = self.over_default(record, selected).filter(|&ratio| ratio > 1.0) {
                lines.push(format!(
                    "- {}: the selected {selected} is {} slower than default",
                    label(record),
                    slower(ratio)
                ));
            }
        }
        if lines.is_empty() {
            line!(text, "No selected schedule is slower than default.");
        } else {
            line!(text, "Selected, and slower than default:");
            line!(text);
            lines.iter().for_each(|regression| line!(text, "{regression}"));
        }
        line!(text);
    }

    fn residuals(&self, refit: &Refit<'_, '_>, text: &mut String) {
        let largest = |magnitude: fn(&Residual) -> f64| {
            let all = refit.folds.iter().flat_map(|fold| &fold.evaluated.residuals);
            all.max_by(|left, right| magnitude(left).abs().total_cmp(&magnitude(right).abs()))
        };
        let what = |residual: &Residual| {
            let observation = refit.observations.get(residual.observation);
            observation.map_or(String::new(), |observation| {
                format!("{} with {}", label(observation.record), observation.schedule)
            })
        };
        let mut sentences = String::new();
        if let Some(residual) = largest(Residual::relative_error) {
            let value = 100.0 * residual.relative_error();
            let _ = writeln!(
                sentences,
                "The largest relative residual of a geometry that was left out is {value:+.2}%, that of {}.",
                what(residual)
            );
        }
        if let Some(residual) = largest(Residual::signed_error_us) {
            let value = residual.signed_error_us();
            let _ = writeln!(
                sentences,
                "The largest absolute residual of a geometry that was left out is {value:+.3} us, that of {}.",
                what(residual)
            );
        }
        line!(text, "{sentences}");
    }
}
