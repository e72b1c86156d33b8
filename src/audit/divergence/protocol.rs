//! Protocols: pairs, coordinates, resolutions and arms follow from each other.

use std::collections::HashSet;

use crate::audit::{Code, Recorder, show};
use crate::divergence::{EqualPairs, pair_count};
use crate::package::divergence::{Arm, Protocol};
use crate::package::json::{Document, Json};
use crate::package::limits::MAX_COUNTED_TRIALS;

/// What a protocol says, as far as figures are judged by it.
#[derive(Debug)]
pub(super) struct Measure {
    pub(super) resolutions: Option<Vec<u64>>,
    pub(super) coordinates: Option<u64>,
    pub(super) pairs: Option<u64>,
    pub(super) trials: Option<u64>,
    /// Possible numbers of equal pairs; `None` where they are not decided.
    pub(super) counts: Option<EqualPairs>,
}

impl Measure {
    /// Of the protocol's own numbers those that the others follow from.
    pub(super) fn of(protocol: &Protocol<'_>) -> Self {
        let trials = protocol.trials.filter(|&trials| trials <= MAX_COUNTED_TRIALS);
        Self {
            resolutions: protocol.resolutions.clone(),
            coordinates: protocol.shape_product().or(protocol.coordinates),
            pairs: trials.map(pair_count).or(protocol.pairs),
            trials,
            counts: trials.and_then(EqualPairs::of),
        }
    }
}

/// Checks a protocol by itself.
pub(super) fn check(protocol: &Protocol<'_>, document: &Document, recorder: &mut Recorder) {
    let at = |name: &str| protocol.at.get(name).unwrap_or(protocol.at);
    if let Some(trials) = protocol.trials {
        let found = at("trials_per_resolution");
        let expected = "at least 2 trials, or there is no pair";
        let countable = (2..=MAX_COUNTED_TRIALS).contains(&trials);
        recorder.require(countable, Code::DivergenceProtocol, document, found, expected, trials);
        if countable {
            pairs(protocol.pairs, trials, document, at("pairs_per_resolution"), recorder);
        }
    }
    if let (Some(stated), Some(shape)) = (protocol.coordinates, &protocol.input_shape) {
        coordinates(stated, shape, document, at("total_coordinates"), recorder);
    }
    if let Some(resolutions) = &protocol.resolutions {
        let distinct = resolutions.iter().collect::<HashSet<_>>().len() == resolutions.len();
        let found = at("output_resolutions");
        recorder.require(distinct, Code::DivergenceProtocol, document, found, "distinct resolutions", show(found));
    }
    if let Some(arms) = &protocol.arms {
        let items = at("arms").as_array().unwrap_or_default();
        let mut seen = HashSet::new();
        for (name, item) in arms.iter().zip(items) {
            let known = Arm::from_name(name).is_some() && seen.insert(*name);
            recorder.require(known, Code::DivergenceArm, document, item, "idle or background-matmul, each once", name);
        }
        if arms.is_empty() {
            recorder.report_at(Code::DivergenceArm, document, at("arms"), "at least one arm", "none");
        }
    }
}

/// The number of pairs of `trials` trials.
pub(super) fn pairs(stated: Option<u64>, trials: u64, document: &Document, at: &Json, recorder: &mut Recorder) {
    let Some(stated) = stated else { return };
    let expected = pair_count(trials.min(MAX_COUNTED_TRIALS));
    let words = format_args!("{expected}, all pairs of {trials} trials");
    recorder.require(stated == expected, Code::PairCount, document, at, words, stated);
}

/// The number of values of a tensor.
pub(super) fn coordinates(stated: u64, shape: &[u64], document: &Document, at: &Json, recorder: &mut Recorder) {
    let product = shape.iter().try_fold(1_u64, |product, &extent| product.checked_mul(extent));
    let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
    let extents = extents.join(" x ");
    let words = match product {
        Some(product) => format!("{product} = {extents}"),
        None => format!("{extents}, which is more than can be counted"),
    };
    recorder.require(product == Some(stated), Code::CoordinateCount, document, at, words, stated);
}
