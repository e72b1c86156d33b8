//! The figures that a README may print, derived from the package's data.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use super::super::evidence::{PartitionEvidence, RefitEvidence, Refitted};
use super::counts::Counts;
use super::derive::{Builder, recorded};
use super::facts::Facts;
use super::overlap::Overlap;
use super::printed::{Printed, Unit};
use super::stated;
use crate::package::json::Json;
use crate::package::partition::{CaseLabel, CaseRecord, Validation, files};
use crate::refit::IMPROVEMENT_FRACTION;

/// One derived quantity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figure {
    /// Its value.
    pub value: f64,
    /// How far rounding errors of another machine may move it; zero for what is recorded.
    pub slack: f64,
    /// What it counts.
    pub unit: Unit,
    /// Whether a text may print its magnitude alone.
    pub is_signed: bool,
    /// Whether it is a change seen from the other side: what is saved, or what the original costs more.
    pub is_reversed: bool,
    /// What it is, in words.
    pub what: &'static str,
}

impl Figure {
    /// Whether the printed number is this figure at its printed precision.
    pub(super) fn matches(&self, printed: &Printed) -> bool {
        let Some(scale) = self.unit.scale_to(printed.unit) else { return false };
        let (value, slack) = (self.value * scale, self.slack * scale);
        printed.agrees(value, slack) || (self.is_signed && !printed.is_signed && printed.agrees(value.abs(), slack))
    }

    /// The figure as the printed number should have been, and what it is.
    pub(super) fn expected(&self, printed: &Printed) -> String {
        let value = self.value * self.unit.scale_to(printed.unit).unwrap_or(1.0);
        let text = match (self.is_signed, printed.is_signed) {
            (true, true) => printed.like_signed(value),
            (true, false) => printed.like(value.abs()),
            (false, _) => printed.like(value),
        };
        format!("{text} ({})", self.what)
    }

    /// How far the printed number is from the figure: by magnitude, then with the sign.
    pub(super) fn distance(&self, printed: &Printed) -> (f64, f64) {
        let value = self.value * self.unit.scale_to(printed.unit).unwrap_or(1.0);
        ((value.abs() - printed.value.abs()).abs(), (value - printed.value).abs())
    }
}

/// The figures of one case.
#[derive(Debug)]
pub(super) struct CaseFigures<'v, 'd> {
    /// The case with its runs.
    pub record: &'v CaseRecord<'d>,
    /// How people name it.
    pub label: CaseLabel,
    /// Medians, microseconds.
    pub times: Vec<Figure>,
    /// Each run's fastest and slowest sample, microseconds.
    pub extremes: Vec<Figure>,
    /// Ratios of medians to the default's and to Torch's, as multiples and in percent.
    pub comparisons: Vec<Figure>,
    /// The same between schedules.
    pub other_comparisons: Vec<Figure>,
    /// Differences between medians, microseconds.
    pub differences: Vec<Figure>,
    /// Scores of the fit and of the folds, microseconds, and their residuals.
    pub predictions: Vec<Figure>,
}

/// All figures of a package.
#[derive(Debug)]
pub(super) struct Figures<'v, 'd> {
    /// By case, in order.
    pub cases: Vec<CaseFigures<'v, 'd>>,
    /// The cases with so many rows and columns.
    pub by_shape: HashMap<(u64, u64), Vec<usize>>,
    /// The cases with an id or a label.
    pub by_name: HashMap<String, Vec<usize>>,
    /// Names in the model's formula, and values.
    pub coefficients: Vec<(String, Figure)>,
    /// Drift of the recheck: smallest, largest, largest magnitude, width.
    pub drift_extremes: Vec<Figure>,
    /// Drift of the recheck for each case.
    pub drifts: Vec<Figure>,
    /// The extremes of folds' and fit's residuals.
    pub residual_extremes: Vec<Figure>,
    /// All residuals.
    pub residuals: Vec<Figure>,
    /// The policy's geometric mean, in each form.
    pub geomeans: Vec<Figure>,
    /// The geometric mean of always taking one schedule.
    pub schedule_geomeans: Vec<Figure>,
    /// The geometric mean of the fastest schedule over Torch.
    pub torch_geomeans: Vec<Figure>,
    /// Figures of overlapping operations.
    pub overlap: Overlap,
    /// Decimals in the recorded protocol, environment and device identity.
    pub stated: Vec<Figure>,
    /// The retry against the original run, and its medians.
    pub retests: Vec<Figure>,
    /// The policy's improvement fraction, in each form.
    pub thresholds: Vec<Figure>,
    /// Tolerances of the published rule.
    pub tolerances: Vec<Figure>,
    /// Warm-up targets, milliseconds.
    pub warmups: Vec<Figure>,
    /// Targets of a sample's span, milliseconds.
    pub sample_targets: Vec<Figure>,
    /// Integers.
    pub counts: Counts,
    /// What the device record says.
    pub device: Device<'v>,
    /// Names, statuses, masks, and whose a figure is.
    pub facts: Facts<'v>,
    /// The commit that was built, and others that the receipts name.
    pub commits: Vec<&'v str>,
    /// Exit statuses of failed processes, as 32 bits.
    pub exit_statuses: Vec<u32>,
    traced: OnceLock<BTreeMap<Unit, Vec<Figure>>>,
}

/// Facts of the device record; each may be missing.
#[derive(Debug, Default)]
pub(super) struct Device<'v> {
    /// Streaming multiprocessors.
    pub processors: Option<u64>,
    /// 89 for 8.9.
    pub capability: Option<u64>,
    /// 13040 for 13.4.
    pub cuda_version: Option<u64>,
    /// All texts of the identity, for version numbers.
    pub identity: Vec<&'v str>,
}

impl<'v, 'd> Figures<'v, 'd> {
    /// Derives everything.
    pub(super) fn of(
        package: &'v PartitionEvidence<'d>,
        validation: &'v Validation<'d>,
        refit: &'v RefitEvidence<'_, '_>,
        tolerance: f64,
    ) -> Self {
        let refitted = refit.as_ref().ok();
        let model = package.evidence.document(files::MODEL).ok().map(crate::package::json::Document::root);
        let build = Builder { tolerance };
        let mut predictions = refitted.map(|refitted| build.predictions(refitted)).unwrap_or_default();
        let mut of_case = |record: &CaseRecord<'_>| predictions.remove(record.case.id).unwrap_or_default();
        let cases: Vec<_> = validation.cases.iter().map(|record| build.case(record, of_case(record))).collect();
        let mut by_shape: HashMap<_, Vec<usize>> = HashMap::new();
        let mut by_name: HashMap<_, Vec<usize>> = HashMap::new();
        for (index, case) in cases.iter().enumerate() {
            by_name.entry(case.label.to_string()).or_default().push(index);
            if case.record.case.id != case.label.to_string() {
                by_name.entry(case.record.case.id.to_owned()).or_default().push(index);
            }
            by_shape.entry((case.label.rows, case.label.columns)).or_default().push(index);
        }
        let drifts = build.drifts(validation);
        let residuals = refitted.map(|refitted| build.residuals(refitted)).unwrap_or_default();
        let geomeans = refitted.map(|refitted| build.geomeans(refitted)).unwrap_or_default();
        let (warmups, sample_targets) = targets(validation);
        let policy = |name: &str| model.and_then(|model| model.path(&["profile", "fixed_policy", name])?.as_f64());
        let tolerances = [
            policy("positive_coefficient_tolerance"),
            policy("objective_tie_tolerance"),
            Some(super::super::evidence::DEFAULT_TOLERANCE),
        ];
        Self {
            by_shape,
            by_name,
            coefficients: coefficients(model, refitted, tolerance),
            drift_extremes: drifts.0,
            drifts: drifts.1,
            residual_extremes: residuals.0,
            residuals: residuals.1,
            geomeans: geomeans.0,
            schedule_geomeans: geomeans.1,
            torch_geomeans: build.torch_geomeans(validation),
            overlap: Overlap::of(package, validation, &build),
            stated: stated::figures(package, validation),
            retests: build.retests(validation),
            thresholds: build.thresholds(policy("improvement_fraction").unwrap_or(IMPROVEMENT_FRACTION)),
            tolerances: tolerances
                .iter()
                .flatten()
                .map(|&value| recorded(value, Unit::Plain, "the tolerance"))
                .collect(),
            warmups,
            sample_targets,
            counts: Counts::of(validation, refitted),
            device: device(package),
            facts: Facts::of(package, validation, refit, tolerance),
            commits: commits(package),
            exit_statuses: exit_statuses(validation),
            cases,
            traced: OnceLock::new(),
        }
    }

    /// A figure that the printed number is at its precision, whatever the text says about it.
    pub(super) fn trace(&self, printed: &Printed) -> bool {
        /// So many neighbours are looked at; where more lie within one printed step, any number does.
        const LOOKED_AT: usize = 64;
        let traced = self.traced.get_or_init(|| self.all());
        let half = printed.step() * 0.6;
        traced.iter().any(|(unit, figures)| {
            let Some(scale) = unit.scale_to(printed.unit) else { return false };
            let low = figures.partition_point(|figure| figure.value * scale < printed.value - half);
            figures[low..].iter().take(LOOKED_AT).any(|figure| figure.matches(printed))
        })
    }

    fn all(&self) -> BTreeMap<Unit, Vec<Figure>> {
        let mut by_unit: BTreeMap<Unit, Vec<Figure>> = BTreeMap::new();
        let of_cases = self.cases.iter().flat_map(|case| {
            [&case.times, &case.extremes, &case.comparisons, &case.other_comparisons, &case.predictions]
                .into_iter()
                .flatten()
        });
        let whole = [
            &self.drift_extremes,
            &self.residual_extremes,
            &self.residuals,
            &self.geomeans,
            &self.schedule_geomeans,
            &self.torch_geomeans,
            &self.overlap.figures,
            &self.overlap.geomeans,
            &self.stated,
            &self.retests,
            &self.thresholds,
            &self.tolerances,
            &self.warmups,
            &self.sample_targets,
        ];
        let coefficients = self.coefficients.iter().map(|(_, figure)| figure);
        for figure in of_cases.chain(whole.into_iter().flatten()).chain(coefficients) {
            let figures = by_unit.entry(figure.unit).or_default();
            figures.push(*figure);
            if figure.is_signed && figure.value < 0.0 {
                figures.push(Figure { value: -figure.value, is_signed: false, ..*figure });
            }
        }
        for figures in by_unit.values_mut() {
            figures.sort_by(|left, right| left.value.total_cmp(&right.value));
        }
        by_unit
    }
}

/// The recorded coefficients with the names that the recorded formula gives them; without a model those of the refit.
fn coefficients(model: Option<&Json>, refitted: Option<&Refitted<'_, '_>>, tolerance: f64) -> Vec<(String, Figure)> {
    let profile = model.and_then(|model| model.get("profile"));
    let recorded_values = profile.and_then(|profile| profile.get("coefficients")?.as_array());
    let figures: Vec<Figure> = match (recorded_values, refitted) {
        (Some(values), _) => {
            let values = values.iter().filter_map(Json::as_f64);
            values.map(|value| recorded(value, Unit::Plain, "the recorded coefficient")).collect()
        }
        (None, Some(refitted)) => {
            let build = Builder { tolerance };
            let values = refitted.refit.full.fit.coefficients.iter();
            values.map(|&value| build.derived(value, 0.0, Unit::Plain, "the refitted coefficient")).collect()
        }
        (None, None) => Vec::new(),
    };
    let formula = profile.and_then(|profile| profile.get("formula")?.as_str()).unwrap_or("q = a0 + aP*P + aD*D");
    let terms = formula.split_once('=').map_or(formula, |(_, right)| right).split(" + ");
    let name = |term: &str| {
        let term = term.trim();
        let end = term.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(term.len());
        term[..end].to_owned()
    };
    terms.map(name).zip(figures).collect()
}

/// Warm-up and sample targets in milliseconds, each once.
fn targets(validation: &Validation<'_>) -> (Vec<Figure>, Vec<Figure>) {
    let mut warmups = Vec::new();
    let mut samples = Vec::new();
    for (_, run) in validation.runs() {
        for at in run.routes().into_iter().filter_map(|(_, route)| route.at) {
            let found = [
                (&mut warmups, ["warmup", "target_ms"], "the warm-up's target"),
                (&mut samples, ["sampling", "sample_target_ms"], "a sample's target"),
            ];
            for (targets, path, what) in found {
                if let Some(value) = at.path(&path).and_then(Json::as_f64)
                    && targets.iter().all(|target: &Figure| target.value != value)
                {
                    targets.push(recorded(value, Unit::Ms, what));
                }
            }
        }
    }
    (warmups, samples)
}

fn device<'v>(package: &'v PartitionEvidence<'_>) -> Device<'v> {
    let Ok(document) = package.evidence.document(files::DEVICE) else { return Device::default() };
    let root = document.root();
    let identity = root.get("identity");
    let texts = identity.and_then(Json::as_object).unwrap_or_default().iter();
    Device {
        processors: root.get("sm_count").and_then(Json::as_u64),
        capability: root.get("compute_capability").and_then(Json::as_u64),
        cuda_version: identity.and_then(|identity| identity.get("cuda_driver_api_version")?.as_u64()),
        identity: texts.filter_map(|(_, value)| value.as_str()).collect(),
    }
}

fn commits<'v>(package: &'v PartitionEvidence<'_>) -> Vec<&'v str> {
    let Ok(document) = package.evidence.document(files::PROOF_RECEIPTS) else { return Vec::new() };
    let root = document.root();
    let markers = root.get("markers").and_then(Json::as_object).unwrap_or_default().iter();
    let marked = markers.filter_map(|(_, record)| record.path(&["marker", "commit"]));
    root.get("captured_head").into_iter().chain(marked).filter_map(Json::as_str).collect()
}

fn exit_statuses(validation: &Validation<'_>) -> Vec<u32> {
    let routes = validation.runs().flat_map(|(_, run)| run.routes());
    let codes = routes.filter_map(|(_, route)| route.at?.path(&["raw_failure", "process", "returncode"]));
    // Windows counts a status without a sign, others may record the same 32 bits with one.
    codes
        .filter_map(|code| match code {
            Json::Int(code) => u32::try_from(*code).ok().or_else(|| i32::try_from(*code).ok().map(i32::cast_unsigned)),
            _ => None,
        })
        .collect()
}
