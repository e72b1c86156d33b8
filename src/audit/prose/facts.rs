//! Facts of a package that are no figures: the device's name, masks, statuses, and whose a figure is.

use std::collections::HashMap;

use super::super::evidence::{PartitionEvidence, RefitEvidence, Refitted};
use super::figures::Figure;
use super::printed::Unit;
use crate::fit::Schedule;
use crate::package::json::Json;
use crate::package::partition::{DEFAULT, RECHECK, Route, Validation, files};

/// Members of records that are looked through for masks; more hold no settings.
const MAX_LOOKED_AT: usize = 4096;

/// A GPU's model: a series and a number, as in `RTX 4060` and `H200`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Model {
    /// What stands before the number, in lower case.
    pub series: String,
    /// The number's digits.
    pub number: String,
    /// Both as they are recorded.
    pub name: String,
}

impl Model {
    /// The model that a device's name states; `None` where it has no number.
    pub(super) fn of(name: &str) -> Option<Self> {
        let words: Vec<&str> =
            name.split(|next: char| !next.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        words.iter().enumerate().find_map(|(index, word)| {
            let (series, number) = parts(word)?;
            match (series, index.checked_sub(1).map(|before| words[before])) {
                ("", Some(series)) if series.bytes().all(|byte| byte.is_ascii_alphabetic()) => Some(Self {
                    series: series.to_lowercase(),
                    number: number.to_owned(),
                    name: format!("{series} {number}"),
                }),
                ("", _) => None,
                (series, _) => Some(Self {
                    series: series.to_lowercase(),
                    number: number.to_owned(),
                    name: format!("{series}{number}"),
                }),
            }
        })
    }

    /// Whether a text names it, in whatever spelling.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        let joined: String = text.chars().filter(|next| next.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        joined.contains(&format!("{}{}", self.series, self.number))
    }
}

/// Letters and at least two digits behind them; more letters may follow: `H200`, `MI300X`, `4060`.
pub(super) fn parts(word: &str) -> Option<(&str, &str)> {
    let first = word.find(|next: char| !next.is_ascii_alphabetic())?;
    let (series, rest) = word.split_at(first);
    let number = &rest[..rest.find(|next: char| !next.is_ascii_digit()).unwrap_or(rest.len())];
    let is_whole = rest[number.len()..].bytes().all(|byte| byte.is_ascii_alphabetic());
    (number.len() >= 2 && is_whole).then_some((series, number))
}

/// A figure of one case and, unless it compares schedules, one schedule.
#[derive(Debug)]
pub(super) struct Owned {
    /// Index of the case.
    pub case: usize,
    /// The schedule.
    pub schedule: Option<Schedule>,
    /// The figure.
    pub figure: Figure,
}

/// Figures with their owners.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// Residuals of fit and folds.
    pub residuals: Vec<Owned>,
    /// Drifts of the recheck, in percent.
    pub drifts: Vec<Owned>,
    /// Native medians of the schedules, microseconds.
    pub medians: Vec<Owned>,
}

/// What a package says beside figures; each may be missing.
#[derive(Debug, Default)]
pub(super) struct Facts<'v> {
    /// The device's model.
    pub model: Option<Model>,
    /// Whether the README names that model anywhere.
    pub names_model: bool,
    /// Recorded processor masks.
    pub masks: Vec<u64>,
    /// What may stand for the number of processors in the formula.
    pub processors: Vec<u64>,
    /// Name and original status of each cohort.
    pub statuses: Vec<(&'v str, &'v str)>,
    /// Failed processes, native and Torch.
    pub failed: [u64; 2],
    /// Whose a figure is.
    pub owners: Owners,
}

impl<'v> Facts<'v> {
    /// Collects everything.
    pub(super) fn of(
        package: &'v PartitionEvidence<'_>,
        validation: &'v Validation<'_>,
        refit: &RefitEvidence<'_, '_>,
        tolerance: f64,
    ) -> Self {
        let root = |file| package.evidence.document(file).ok().map(crate::package::json::Document::root);
        let device = root(files::DEVICE);
        let profile = root(files::MODEL).and_then(|model| model.get("profile"));
        let identity = |name: &str| device?.path(&["identity", name])?.as_str();
        let driver = || identity("driver").and_then(|driver| driver.split(',').next());
        let formula = profile.and_then(|profile| profile.get("formula")?.as_str());
        let processors = [
            device.and_then(|device| device.get("sm_count")?.as_u64()),
            profile.and_then(|profile| profile.path(&["fixed_policy", "processor_reference"])?.as_u64()),
            formula.and_then(rounds_of),
        ];
        let failed = Route::ALL.map(|route| {
            let routes = validation.runs().map(|(_, run)| run.routes()[route as usize].1);
            routes.filter(|route| route.has_failed()).count() as u64
        });
        Self {
            model: identity("gpu").or_else(driver).and_then(Model::of),
            names_model: false,
            masks: masks(validation),
            processors: processors.into_iter().flatten().collect(),
            statuses: validation.cohorts.iter().map(|cohort| (cohort.name, cohort.original_status)).collect(),
            failed,
            owners: owners(validation, refit.as_ref().ok(), tolerance),
        }
    }
}

/// 24 in a formula with `ceil(P/24)`.
fn rounds_of(formula: &str) -> Option<u64> {
    let (_, behind) = formula.split_once("ceil(P/")?;
    behind.split_once(')')?.0.trim().parse().ok()
}

/// Masks in the settings of the package and in the records of its processes.
fn masks(validation: &Validation<'_>) -> Vec<u64> {
    let root = validation.document.root();
    let settings = ["protocol", "environment"].into_iter().filter_map(|name| root.get(name));
    let routes = validation.runs().flat_map(|(_, run)| run.routes());
    let processes = routes.filter_map(|(_, route)| {
        let at = route.at?;
        at.path(&["raw_failure", "process"]).or_else(|| at.get("process"))
    });
    let mut masks = Vec::new();
    let mut left = MAX_LOOKED_AT;
    settings.chain(processes).for_each(|record| collect_masks(record, &mut left, &mut masks));
    masks
}

fn collect_masks(record: &Json, left: &mut usize, masks: &mut Vec<u64>) {
    for (name, value) in record.as_object().unwrap_or_default() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        if !name.ends_with("mask") && name != "affinity" {
            collect_masks(value, left, masks);
            continue;
        }
        let text = value.as_str().and_then(hexadecimal);
        let mask = text.or_else(|| value.as_u64()).filter(|mask| !masks.contains(mask));
        masks.extend(mask);
        if name == "affinity" {
            collect_masks(value, left, masks);
        }
    }
}

/// The number that `0x15400` writes.
pub(super) fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?, 16).ok()
}

fn owners(validation: &Validation<'_>, refitted: Option<&Refitted<'_, '_>>, tolerance: f64) -> Owners {
    let figure = |value: f64, scale: f64, unit, is_signed, what| Figure {
        value,
        slack: tolerance * value.abs().max(scale),
        unit,
        is_signed,
        is_reversed: false,
        what,
    };
    let mut owners = Owners::default();
    for (case, record) in validation.cases.iter().enumerate() {
        for schedule in Schedule::ALL {
            if let Some(median) = record.native_median(schedule.name()) {
                let figure = figure(median, 0.0, Unit::Us, false, "a native median");
                owners.medians.push(Owned { case, schedule: Some(schedule), figure });
            }
        }
        if let (Some(recheck), Some(default)) = (record.native_median(RECHECK), record.native_median(DEFAULT)) {
            let drift = 100.0 * (recheck / default - 1.0);
            let figure = figure(drift, 100.0, Unit::Percent, true, "the drift of the recheck");
            owners.drifts.push(Owned { case, schedule: None, figure });
        }
    }
    let Some(Refitted { refit, .. }) = refitted else { return owners };
    let by_id: HashMap<&str, usize> =
        validation.cases.iter().enumerate().map(|(index, record)| (record.case.id, index)).collect();
    let folds = refit.folds.iter().map(|fold| &fold.evaluated);
    for residual in folds.chain([&refit.full]).flat_map(|evaluated| &evaluated.residuals) {
        let Some(observation) = refit.observations.get(residual.observation) else { continue };
        let Some(&case) = by_id.get(observation.record.case.id) else { continue };
        let relative = figure(100.0 * residual.relative_error(), 100.0, Unit::Percent, true, "the residual");
        let absolute = figure(residual.signed_error_us(), residual.observed_us, Unit::Us, true, "the residual");
        let owned = |figure| Owned { case, schedule: Some(observation.schedule), figure };
        owners.residuals.extend([relative, absolute].map(owned));
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::Model;

    #[test]
    fn models_of_devices() {
        for (name, series, number) in [
            ("NVIDIA GeForce RTX 4060 Laptop GPU", "rtx", "4060"),
            ("NVIDIA H200", "h", "200"),
            ("NVIDIA A100-SXM4-80GB", "a", "100"),
            ("AMD Instinct MI300X", "mi", "300"),
            ("AMD EPYC 9654 96-Core Processor", "epyc", "9654"),
        ] {
            let model = Model::of(name).map(|model| (model.series, model.number));
            assert_eq!(model, Some((series.to_owned(), number.to_owned())), "{name}");
        }
        for name in ["", "Demonstration GPU", "Intel(R) Xeon(R) Processor", "NVIDIA L4", "1080 2080"] {
            assert_eq!(Model::of(name), None, "{name}");
        }
    }
}
