//! The files of a package: results of each engine, inputs, gradients.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Arm;
use super::engine::Engine;
use super::inputs::Inputs;
use super::runner::{Measured, Measurement, Outcome, Plan};
use crate::divergence::generated::GENERATOR;
use crate::divergence::{pair_count, summarize};
use crate::package::divergence::{KIND, SCHEMA};
use crate::package::json::{Json, indented, object};
use crate::package::npy::Tensor;

/// Name of an engine's results within its folder.
pub const RESULTS: &str = "experiment_results.json";

/// Which gradients a package keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// Those of every resolution.
    All,
    /// Those of some.
    Some(Vec<usize>),
}

impl Keep {
    /// Whether those of a resolution are kept.
    pub fn keeps(&self, resolution: usize) -> bool {
        match self {
            Self::All => true,
            Self::Some(resolutions) => resolutions.contains(&resolution),
        }
    }
}

/// A finite number; JSON knows no other, and says null instead.
fn number(value: f64) -> Json {
    if value.is_finite() { Json::from(value) } else { Json::Null }
}

fn integers(values: &[usize]) -> Json {
    Json::from(values.to_vec())
}

/// The content of one engine's `experiment_results.json`.
pub fn document(engine: &dyn Engine, inputs: &Inputs, plan: &Plan, keep: &Keep, measured: &Measured) -> Json {
    let complete = measured.measurements.len() == plan.arms.len() * inputs.geometries.len();
    let probe = engine.probe();
    let mut members = vec![
        ("schema".to_owned(), Json::from(SCHEMA)),
        ("kind".to_owned(), Json::from(KIND)),
        ("engine".to_owned(), Json::from(engine.kind().name())),
        ("status".to_owned(), Json::from(if complete { "complete" } else { "incomplete" })),
        ("protocol".to_owned(), protocol(engine, inputs, plan)),
        ("environment".to_owned(), environment(engine)),
        (
            "deterministic_mode_probe".to_owned(),
            object([("setting", Json::from(probe.setting)), ("result", Json::from(probe.result))]),
        ),
    ];
    for arm in Arm::ALL {
        let measurements: Vec<_> = measured.measurements.iter().filter(|one| one.arm == arm).collect();
        let condition =
            if measurements.is_empty() { Json::Null } else { condition(arm, inputs, plan, keep, &measurements) };
        members.push((arm.condition().to_owned(), condition));
    }
    Json::Object(members)
}

fn environment(engine: &dyn Engine) -> Json {
    let mut members = engine.environment();
    members.push(("recount_version", Json::from(env!("CARGO_PKG_VERSION"))));
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn protocol(engine: &dyn Engine, inputs: &Inputs, plan: &Plan) -> Json {
    let resolutions: Vec<_> = inputs.geometries.iter().map(|geometry| geometry.resolution).collect();
    let origin = match inputs.seed {
        Some(seed) => {
            format!("generated once on the host ({GENERATOR}, seed {seed}); the same bytes for every engine and arm")
        }
        None => "read from files; the same bytes for every engine and arm".to_owned(),
    };
    object([
        (
            "operation",
            Json::from("grid_sample 2D bilinear backward (input gradient), zeros padding, align_corners=False"),
        ),
        ("input_shape", integers(&inputs.shape.extents())),
        ("output_resolutions", integers(&resolutions)),
        ("trials_per_resolution", Json::from(plan.trials)),
        ("pairs_per_resolution", Json::from(pair_count(plan.trials as u64))),
        ("total_coordinates", Json::from(inputs.shape.coordinates())),
        (
            "comparison",
            Json::from("all-pairs bitwise equality of FP32 gradients, and the largest absolute difference in FP32"),
        ),
        ("inputs", Json::from(origin)),
        ("warmup", Json::from("one operation of each geometry before its trials, in each arm")),
        (
            "synchronization",
            Json::from("the operation's own stream after every trial; the background arm's thread its own streams"),
        ),
        ("background", Json::from(engine.background())),
        ("arms", Json::Array(plan.arms.iter().map(|arm| Json::from(arm.name())).collect())),
        ("seed", inputs.seed.map_or(Json::Null, Json::from)),
        ("generator", inputs.seed.map_or(Json::Null, |_| Json::from(GENERATOR))),
    ])
}

fn condition(arm: Arm, inputs: &Inputs, plan: &Plan, keep: &Keep, measurements: &[&Measurement]) -> Json {
    let each = |value: &dyn Fn(&Measurement) -> Json| Json::Array(measurements.iter().map(|one| value(one)).collect());
    let keyed = |value: &dyn Fn(&Measurement) -> Json| {
        Json::Object(measurements.iter().map(|one| (one.resolution.to_string(), value(one))).collect())
    };
    let kept: Vec<_> = measurements.iter().map(|one| one.resolution).filter(|&one| keep.keeps(one)).collect();
    let hashes = inputs.hashes().into_iter().map(|(name, hash)| (name, Json::from(hash))).collect();
    object([
        ("condition", Json::from(arm.name())),
        ("trials_per_res", Json::from(plan.trials)),
        ("input_res", integers(&[inputs.shape.height, inputs.shape.width])),
        ("total_pairs_per_res", Json::from(pair_count(plan.trials as u64))),
        ("total_coords", Json::from(inputs.shape.coordinates())),
        ("input_hashes", Json::Object(hashes)),
        ("res", each(&|one| Json::from(one.resolution))),
        ("max_drift_coords", each(&|one| Json::from(summarize(&one.pairs).max_drift))),
        ("max_div", each(&|one| number(f64::from(summarize(&one.pairs).max_divergence)))),
        ("pairwise_match_rate", each(&|one| number(summarize(&one.pairs).match_rate()))),
        (
            "all_pairwise_divs",
            keyed(&|one| Json::Array(one.pairs.iter().map(|pair| number(f64::from(pair.divergence))).collect())),
        ),
        (
            "all_pairwise_drift",
            keyed(&|one| Json::Array(one.pairs.iter().map(|pair| Json::from(pair.drift)).collect())),
        ),
        ("trial_sha256", keyed(&|one| Json::from(one.trial_sha256.clone()))),
        ("tensors_kept", integers(&kept)),
    ])
}

/// The content of `accuracy.json`: how far each engine's first trials are from the float64 reference.
pub fn accuracy(engines: &[Box<dyn Engine>], outcome: &Outcome) -> Json {
    let engine = |measured: &Measured| {
        let arm = |arm: Arm| {
            let measurements: Vec<_> = measured.measurements.iter().filter(|one| one.arm == arm).collect();
            let each =
                |value: &dyn Fn(&Measurement) -> Json| Json::Array(measurements.iter().map(|one| value(one)).collect());
            let record = object([
                ("res", each(&|one| Json::from(one.resolution))),
                ("relative_error", each(&|one| number(one.deviation.relative))),
                ("largest_error", each(&|one| number(one.deviation.largest))),
                ("equals_host_fixed_point", each(&|one| Json::from(one.equals_emulation))),
            ]);
            (arm.name().to_owned(), record)
        };
        let present = |arm: &Arm| measured.measurements.iter().any(|one| one.arm == *arm);
        let name = engines[measured.engine].kind().name().to_owned();
        (name, Json::Object(Arm::ALL.into_iter().filter(present).map(arm).collect()))
    };
    object([
        ("schema", Json::from("recount-divergence-accuracy-v1")),
        (
            "reference",
            Json::from("the same FP32 inputs with coordinates, weights, products and sums in float64, on the host"),
        ),
        ("relative_error", Json::from("norm of the first trial's difference over the norm of the reference")),
        (
            "equals_host_fixed_point",
            Json::from("every trial has the bits of the deterministic kernel's arithmetic on the host"),
        ),
        ("engines", Json::Object(outcome.measured.iter().map(engine).collect())),
    ])
}

/// Writes a JSON file with a final newline.
///
/// # Errors
/// Those of the file system.
pub fn write_json(path: &Path, value: &Json) -> io::Result<()> {
    std::fs::write(path, indented(value) + "\n")
}

/// Writes values as `.npy`.
///
/// # Errors
/// Those of the file system.
pub fn write_tensor(path: &Path, tensor: &Tensor) -> io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    tensor.write(&mut file)?;
    file.flush()
}
