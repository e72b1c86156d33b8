//! Errors of first trials as norms: what the two of one trial say of each other, and of the reference that all trials of a
//! resolution have in common.
//!
//! Of n coordinates, let d be the difference of a first trial from the reference r. The largest error is max|d|, the relative
//! one |d| / |r|, and max|d| <= |d| <= sqrt(n) max|d|. So the two errors say between which bounds |r| lies; and where the
//! trial's tensor is here, |r| lies within |d| of its norm. Whatever the engine and the arm, |r| is one number.

use std::collections::BTreeMap;

use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json, python_float};

/// The errors of one first trial.
pub(super) struct Errors<'d> {
    pub(super) resolution: u64,
    /// `null`, or a number that is not negative.
    pub(super) relative: &'d Json,
    /// `null`, or a number that is not negative.
    pub(super) largest: &'d Json,
    /// Coordinates of a gradient, where they are known.
    pub(super) coordinates: Option<u64>,
    /// Norm of the trial itself, where its tensor is here and finite.
    pub(super) norm: Option<f64>,
}

/// Between which bounds a norm lies.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    least: f64,
    most: f64,
}

impl Bounds {
    const ANY: Self = Self { least: 0.0, most: f64::INFINITY };

    fn and(self, least: f64, most: f64) -> Self {
        Self { least: self.least.max(least), most: self.most.min(most) }
    }

    fn is_empty(self) -> bool {
        self.least > self.most
    }
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} to {}", python_float(self.least), python_float(self.most))
    }
}

/// Checks the errors of each trial by themselves, then those of each resolution together.
pub(super) fn check(trials: &[Errors<'_>], document: &Document, recorder: &mut Recorder) {
    let mut of_resolution: BTreeMap<u64, Vec<(&Errors<'_>, Bounds)>> = BTreeMap::new();
    for errors in trials {
        if zeros(errors, document, recorder) {
            let bounds = reference(errors, recorder.tolerance());
            if bounds.is_empty() {
                let expected = "an error that the relative one and the norm of the trial leave room for";
                let found = format_args!("{} beside {}", show(errors.largest), show(errors.relative));
                recorder.report_at(Code::DivergenceAccuracy, document, errors.largest, expected, found);
            } else {
                of_resolution.entry(errors.resolution).or_default().push((errors, bounds));
            }
        }
    }
    for (resolution, trials) in of_resolution.into_iter().filter(|(_, trials)| trials.len() > 1) {
        let most_agree = common(trials.iter().map(|(_, bounds)| *bounds));
        for (errors, bounds) in trials {
            let holds = !bounds.and(most_agree.least, most_agree.most).is_empty();
            let expected = format_args!(
                "errors against the reference that others at output {resolution} have: its norm is {most_agree}"
            );
            let found =
                format_args!("{} beside {}: its norm would be {bounds}", show(errors.largest), show(errors.relative));
            recorder.require(holds, Code::DivergenceAccuracy, document, errors.largest, expected, found);
        }
    }
}

/// One error is zero where the other is, and finite where the other is. Says whether they are.
fn zeros(errors: &Errors<'_>, document: &Document, recorder: &mut Recorder) -> bool {
    let expected = match (errors.relative.as_f64(), errors.largest.as_f64()) {
        (Some(relative), Some(largest)) if (relative == 0.0) == (largest == 0.0) => None,
        (Some(0.0), _) => Some("0.0: the relative error is 0.0"),
        (_, Some(0.0)) => Some("more than 0: the relative error is not 0.0"),
        (Some(_), None) => Some("a number: the relative error is one"),
        _ => None,
    };
    let found = show(errors.largest);
    recorder.require(
        expected.is_none(),
        Code::DivergenceAccuracy,
        document,
        errors.largest,
        expected.unwrap_or_default(),
        found,
    )
}

/// Between which bounds the norm of the reference lies, a little widened: norms are sums of as many rounded terms as there
/// are coordinates.
fn reference(errors: &Errors<'_>, tolerance: f64) -> Bounds {
    let coordinates = errors.coordinates.map_or(f64::INFINITY, |count| count as f64);
    let slack = tolerance.max(4.0 * f64::EPSILON * errors.coordinates.unwrap_or(1) as f64);
    let (below, above) = ((1.0 - slack).max(0.0), 1.0 + slack);
    let mut bounds = Bounds::ANY;
    let largest = errors.largest.as_f64();
    let difference = largest.map(|largest| (largest, if largest > 0.0 { coordinates.sqrt() * largest } else { 0.0 }));
    match (errors.relative.as_f64(), difference) {
        (Some(relative), Some((least, most))) if relative > 0.0 => {
            bounds = bounds.and(least / relative * below, most / relative * above);
        }
        // A difference of some size is infinitely large beside nothing only.
        (None, Some((least, most))) if least > 0.0 && (most * most).is_finite() => bounds = bounds.and(0.0, 0.0),
        _ => {}
    }
    if let (Some(norm), Some((_, most))) = (errors.norm, difference) {
        let room = most + slack * (norm + most);
        bounds = bounds.and(norm - room, norm + room);
    }
    if let (Some(norm), Some(relative)) = (errors.norm, errors.relative.as_f64()) {
        let most = if relative < 1.0 { norm / (1.0 - relative) * above } else { f64::INFINITY };
        bounds = bounds.and(norm / (1.0 + relative) * below, most);
    }
    bounds
}

/// What most of the bounds have in common; none of them is empty.
fn common(bounds: impl Iterator<Item = Bounds> + Clone) -> Bounds {
    let mut ends: Vec<(f64, bool)> = bounds.clone().flat_map(|one| [(one.least, false), (one.most, true)]).collect();
    // Where one ends and another begins, both have the point.
    ends.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    let (mut open, mut most, mut point) = (0_usize, 0, 0.0);
    for (end, closes) in ends {
        if closes {
            open -= 1;
        } else {
            open += 1;
            if open > most {
                (most, point) = (open, end);
            }
        }
    }
    let around = bounds.filter(|one| (one.least..=one.most).contains(&point));
    around.fold(Bounds::ANY, |all, one| all.and(one.least, one.most))
}

/// The norm of values, which are squared in binary64; `None` where it is not finite.
pub(super) fn norm(values: &[f32]) -> Option<f64> {
    let square: f64 = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    Some(square.sqrt()).filter(|norm| norm.is_finite())
}
