//! Writing raw results: the owned form of `experiment_results.json`, measured from tensors.

use super::{Arm, Engine, KIND, SCHEMA};
use crate::divergence::{Pair, Summary, all_pairs, pair_count, summarize};
use crate::package::digest::digest;
use crate::package::json::{Json, object};
use crate::package::npy::Tensor;

/// Everything that `experiment_results.json` says.
#[derive(Debug, Clone)]
pub struct ExperimentResults {
    /// What computed the gradients.
    pub engine: Engine,
    /// Whether all of the protocol was measured.
    pub complete: bool,
    /// `protocol`, an object with the members that [`super::Protocol`] reads and any others.
    pub protocol: Json,
    /// `environment`, an object with the members that [`super::Environment`] reads and any others.
    pub environment: Json,
    /// `deterministic_mode_probe`: the call and what came of it; `null` where there is none.
    pub probe: (Option<String>, Option<String>),
    /// The arms that were run, each at most once.
    pub conditions: Vec<ConditionRecord>,
}

/// One arm.
#[derive(Debug, Clone)]
pub struct ConditionRecord {
    /// Which arm.
    pub arm: Arm,
    /// Trials at each resolution.
    pub trials: u64,
    /// Extents of the input: `[N, C, H, W]`.
    pub input_shape: Vec<u64>,
    /// Name and hash of each input, see [`input_sha256`].
    pub input_hashes: Vec<(String, String)>,
    /// The resolutions measured, in the order of the protocol.
    pub resolutions: Vec<ResolutionRecord>,
}

/// One resolution of one arm.
#[derive(Debug, Clone)]
pub struct ResolutionRecord {
    /// Height and width of the output.
    pub resolution: u64,
    /// All pairs in combination order.
    pub pairs: Vec<Pair>,
    /// Hash of each trial's gradient.
    pub trial_sha256: Vec<String>,
    /// Whether the gradients are kept in the package.
    pub kept: bool,
}

impl ResolutionRecord {
    /// Compares and hashes the trials of a tensor whose first extent counts them.
    pub fn measure(resolution: u64, gradients: &Tensor, kept: bool) -> Self {
        let trials = trials(gradients);
        Self {
            resolution,
            pairs: all_pairs(&trials),
            trial_sha256: trials.iter().map(|trial| tensor_sha256(trial)).collect(),
            kept,
        }
    }

    /// Hashes the trials without comparing them: where no pairs are recorded that they could be held against, all pairs
    /// of a tensor of many small trials would fill the memory for nothing.
    pub fn hashes(resolution: u64, gradients: &Tensor, kept: bool) -> Self {
        let trial_sha256 = trials(gradients).iter().map(|trial| tensor_sha256(trial)).collect();
        Self { resolution, pairs: Vec::new(), trial_sha256, kept }
    }

    /// The summary of the pairs.
    pub fn summary(&self) -> Summary {
        summarize(&self.pairs)
    }
}

/// The trials of a tensor whose first extent counts them.
pub(super) fn trials(gradients: &Tensor) -> Vec<&[f32]> {
    let count = gradients.shape.first().copied().unwrap_or(0);
    let Some(size) = gradients.values.len().checked_div(count).filter(|&size| size > 0) else {
        return vec![&[]; count];
    };
    gradients.values.chunks_exact(size).collect()
}

/// SHA-256 of values, little-endian, one after the other.
pub fn tensor_sha256(values: &[f32]) -> String {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    digest(&bytes).sha256
}

/// The recorded hash of an input: that of its values, not of its file.
pub fn input_sha256(input: &Tensor) -> String {
    tensor_sha256(&input.values)
}

/// A divergence as raw results record it: the binary32 value in binary64, or `null` where it is not finite, which JSON
/// cannot say.
pub fn number(value: f32) -> Json {
    if value.is_finite() { Json::Float(f64::from(value)) } else { Json::Null }
}

impl ExperimentResults {
    /// The file's content. Write it with [`crate::package::json::indented`] and a final line feed.
    pub fn to_json(&self) -> Json {
        let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
        let condition = |arm: Arm| {
            let record = self.conditions.iter().find(|condition| condition.arm == arm);
            (arm.condition(), record.map_or(Json::Null, ConditionRecord::to_json))
        };
        object([
            ("schema", Json::from(SCHEMA)),
            ("kind", Json::from(KIND)),
            ("engine", Json::from(self.engine.name())),
            ("status", Json::from(if self.complete { "complete" } else { "incomplete" })),
            ("protocol", self.protocol.clone()),
            ("environment", self.environment.clone()),
            ("deterministic_mode_probe", object([("setting", text(&self.probe.0)), ("result", text(&self.probe.1))])),
            condition(Arm::Idle),
            condition(Arm::BackgroundMatmul),
        ])
    }
}

impl ConditionRecord {
    /// The condition's object.
    pub fn to_json(&self) -> Json {
        let each = |of: &dyn Fn(&ResolutionRecord) -> Json| Json::Array(self.resolutions.iter().map(of).collect());
        let by_resolution = |of: &dyn Fn(&ResolutionRecord) -> Vec<Json>| {
            let members = self.resolutions.iter().map(|one| (one.resolution.to_string(), Json::Array(of(one))));
            Json::Object(members.collect())
        };
        let (_, extents) = self.input_shape.split_at(self.input_shape.len().saturating_sub(2));
        let coordinates: u64 = self.input_shape.iter().product();
        let hashes = self.input_hashes.iter().map(|(name, hash)| (name.clone(), Json::from(hash.as_str())));
        let kept = self.resolutions.iter().filter(|one| one.kept).map(|one| Json::from(one.resolution));
        object([
            ("condition", Json::from(self.arm.name())),
            ("trials_per_res", Json::from(self.trials)),
            ("input_res", Json::from(extents.to_vec())),
            ("total_pairs_per_res", Json::from(pair_count(self.trials))),
            ("total_coords", Json::from(coordinates)),
            ("input_hashes", Json::Object(hashes.collect())),
            ("res", each(&|one| Json::from(one.resolution))),
            ("max_drift_coords", each(&|one| Json::from(one.summary().max_drift))),
            ("max_div", each(&|one| number(one.summary().max_divergence))),
            ("pairwise_match_rate", each(&|one| Json::Float(one.summary().match_rate()))),
            ("all_pairwise_divs", by_resolution(&|one| one.pairs.iter().map(|pair| number(pair.divergence)).collect())),
            ("all_pairwise_drift", by_resolution(&|one| one.pairs.iter().map(|pair| Json::from(pair.drift)).collect())),
            (
                "trial_sha256",
                by_resolution(&|one| one.trial_sha256.iter().map(|hash| Json::from(hash.as_str())).collect()),
            ),
            ("tensors_kept", Json::Array(kept.collect())),
        ])
    }
}
