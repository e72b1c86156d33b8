//! Times of a partition package and its model, fitted again.

use super::figures::{CaseTimes, Decided, Figures, MAX_CASES, ModelFigures, PartitionFigures, Predicted, TORCH, Times};
use crate::audit::PartitionEvidence;
use crate::package::partition::{CaseLabel, CaseRecord, DEFAULT, Operation, Route, Timing};
use crate::refit::{CaseDecision, Refit};

/// Most cohorts of one case that are drawn.
const MAX_SERIES: usize = 12;

/// Most samples of one series that are drawn.
const MAX_SAMPLES: usize = 64;

/// What can be drawn of a package; without runs, nothing.
pub(super) fn collect(package: &PartitionEvidence<'_>) -> Figures {
    let Ok(validation) = package.validation() else { return Figures::None };
    let model = package.refit().map(|refitted| model(&refitted.refit));
    Figures::Partition(PartitionFigures {
        cases: validation.cases.iter().take(MAX_CASES).map(case).collect(),
        left_out: validation.cases.len().saturating_sub(MAX_CASES),
        model: Some(model),
    })
}

/// `SUM 17x1024 fp16 B4`: short enough for the side of a chart.
fn label(record: &CaseRecord<'_>) -> String {
    let label = CaseLabel::of(&record.case);
    let operation = match label.operation {
        Operation::Sum => "SUM",
        Operation::Max => "MAX",
    };
    format!("{operation} {}x{} {} B{}", label.rows, label.columns, label.storage.name(), label.block)
}

fn case(record: &CaseRecord<'_>) -> CaseTimes {
    let is_time = |value: &f64| value.is_finite() && *value > 0.0;
    let times = |name: &str, timing: &Timing<'_>| {
        is_time(&timing.p50).then(|| Times {
            name: name.to_owned(),
            median: timing.p50,
            samples: timing.samples.numbers().filter(is_time).take(MAX_SAMPLES).collect(),
        })
    };
    let natives = record.original_runs().take(MAX_SERIES);
    let mut series: Vec<_> = natives.filter_map(|run| times(run.cohort, run.native.timing.as_ref()?)).collect();
    // A retry is no substitute for the baseline that failed.
    let torch = record.run(DEFAULT).and_then(|run| times(TORCH, run.torch.timing.as_ref()?));
    series.extend(torch);
    let failures = record.original_runs().flat_map(|run| {
        let failed = run.routes().into_iter().filter(|(_, route)| route.has_failed());
        failed.map(|(route, _)| match route {
            Route::Native => run.cohort.to_owned(),
            Route::Torch => format!("{} of {}", TORCH, run.cohort),
        })
    });
    CaseTimes { label: label(record), series, failed: failures.take(MAX_SERIES).collect() }
}

fn model(refit: &Refit<'_, '_>) -> ModelFigures {
    let mut held = vec![None; refit.observations.len()];
    for residual in refit.folds.iter().flat_map(|fold| &fold.evaluated.residuals) {
        if let Some(place) = held.get_mut(residual.observation) {
            *place = Some(residual.predicted_us);
        }
    }
    let point = |residual: &crate::refit::Residual| {
        let observation = &refit.observations[residual.observation];
        Predicted {
            geometry: observation.group.clone(),
            schedule: observation.schedule as usize,
            observed: residual.observed_us,
            full: residual.predicted_us,
            held: held.get(residual.observation).copied().flatten(),
        }
    };
    let decisions: Vec<&CaseDecision> = refit.folds.iter().flat_map(|fold| &fold.evaluated.decisions).collect();
    let mut records: Vec<&CaseRecord<'_>> = Vec::new();
    for observation in &refit.observations {
        if records.last().is_none_or(|last| last.case.id != observation.record.case.id) {
            records.push(observation.record);
        }
    }
    // In the order of the cases, not of the folds.
    let decided = records.iter().filter_map(|record| {
        let decision = decisions.iter().find(|decision| decision.case_id == record.case.id)?;
        Some(Decided {
            label: label(record),
            ratios: decision.observed_ratios,
            selected: decision.decision.selected as usize,
        })
    });
    ModelFigures {
        coefficients: refit.full.fit.coefficients.clone(),
        points: refit.full.residuals.iter().take(3 * MAX_CASES).map(point).collect(),
        decisions: decided.take(MAX_CASES).collect(),
        geometric_mean: refit.summary.geometry_equal_weight_policy_geomean,
        selected: (refit.summary.selected, refit.summary.selected_regressions),
    }
}
