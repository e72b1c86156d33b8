//! The protocol: every engine, every arm, every resolution; a warm-up, the trials, all pairs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::engine::{Engine, EngineError, Kind, Task};
use super::inputs::Inputs;
use super::sampling::{Deviation, deviation, reference};
use super::timing::{Protocol, Timings};
use super::{Arm, fixed_point};
use crate::divergence::{Pair, all_pairs};
use crate::package::divergence::tensor_sha256;

/// What to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Trials of each measurement.
    pub trials: usize,
    /// The arms, in order.
    pub arms: Vec<Arm>,
    /// How to time, if at all.
    pub timing: Option<Protocol>,
}

/// What came out of one measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The arm.
    pub arm: Arm,
    /// The output resolution.
    pub resolution: usize,
    /// All pairs in combination order.
    pub pairs: Vec<Pair>,
    /// SHA-256 of each trial's values as little-endian bytes.
    pub trial_sha256: Vec<String>,
    /// How far the first trial is from the float64 reference.
    pub deviation: Deviation,
    /// Whether every trial has the bits that the deterministic kernel's arithmetic gives on the host.
    pub equals_emulation: bool,
}

/// What an engine measured.
#[derive(Debug)]
pub struct Measured {
    /// Position of the engine in the list that ran.
    pub engine: usize,
    /// Its measurements, in order.
    pub measurements: Vec<Measurement>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// Engines that measured anything.
    pub measured: Vec<Measured>,
    /// Samples of timed operations.
    pub timings: Timings,
    /// Why it ended early; `None` for a complete run.
    pub cut: Option<Cut>,
}

/// Why a run ended early.
#[derive(Debug)]
pub enum Cut {
    /// Somebody asked it to.
    Stopped,
    /// An engine failed.
    Failed(EngineError),
    /// The gradients of a measurement could not be kept.
    Keep(std::io::Error),
}

/// What a run tells while it runs.
pub trait Watch {
    /// A measurement or a timing begins.
    fn begin(&self, engine: Kind, what: &str, resolution: usize);
    /// A trial ended.
    fn trial(&self);
    /// The gradients of a measurement, one trial after the other.
    ///
    /// # Errors
    /// They cannot be kept.
    fn keep(&self, engine: Kind, arm: Arm, resolution: usize, gradients: &[f32]) -> std::io::Result<()>;
}

/// What does not depend on the engine, computed once for each resolution.
struct Expected {
    reference: Vec<f64>,
    emulation: String,
}

/// Runs the plan. `stop` ends it after the measurement under way.
pub fn run(
    engines: &mut [Box<dyn Engine>],
    inputs: &Inputs,
    plan: &Plan,
    stop: &AtomicBool,
    watch: &dyn Watch,
) -> Outcome {
    let mut outcome = Outcome { measured: Vec::new(), timings: Timings::new(), cut: None };
    let mut expected = BTreeMap::new();
    let result = measure_all(engines, inputs, plan, stop, watch, &mut expected, &mut outcome.measured)
        .and_then(|()| time_all(engines, inputs, plan, stop, watch, &mut outcome.timings));
    outcome.cut = result.err();
    outcome
}

fn measure_all(
    engines: &mut [Box<dyn Engine>],
    inputs: &Inputs,
    plan: &Plan,
    stop: &AtomicBool,
    watch: &dyn Watch,
    expected: &mut BTreeMap<usize, Expected>,
    measured: &mut Vec<Measured>,
) -> Result<(), Cut> {
    for (at, engine) in engines.iter_mut().enumerate() {
        for &arm in &plan.arms {
            for geometry in &inputs.geometries {
                if stop.load(Ordering::Relaxed) {
                    return Err(Cut::Stopped);
                }
                watch.begin(engine.kind(), arm.name(), geometry.resolution);
                let task = Task { inputs, geometry, arm, trials: plan.trials };
                let gradients = engine.measure(&task, &mut || watch.trial()).map_err(Cut::Failed)?;
                if !finite(&gradients) {
                    let resolution = geometry.resolution;
                    let reason =
                        format!("its gradient is not finite, or too large to compare, at resolution {resolution}");
                    return Err(Cut::Failed(EngineError::failed(engine.kind(), reason)));
                }
                let expected = expected.entry(geometry.resolution).or_insert_with(|| Expected {
                    reference: reference(inputs.shape, geometry),
                    emulation: tensor_sha256(&fixed_point::gradient(inputs.shape, geometry)),
                });
                let measurement = judge(&task, &gradients, expected);
                watch.keep(engine.kind(), arm, geometry.resolution, &gradients).map_err(Cut::Keep)?;
                match measured.last_mut().filter(|last| last.engine == at) {
                    Some(last) => last.measurements.push(measurement),
                    None => measured.push(Measured { engine: at, measurements: vec![measurement] }),
                }
            }
        }
    }
    Ok(())
}

/// Whether every difference of two values is finite: a package records no other, and `verify` refuses null.
fn finite(gradients: &[f32]) -> bool {
    gradients.iter().all(|value| value.abs() <= f32::MAX / 2.0)
}

fn judge(task: &Task<'_>, gradients: &[f32], expected: &Expected) -> Measurement {
    let trials: Vec<_> = gradients.chunks_exact(task.inputs.shape.coordinates()).collect();
    let trial_sha256: Vec<_> = trials.iter().map(|trial| tensor_sha256(trial)).collect();
    Measurement {
        arm: task.arm,
        resolution: task.geometry.resolution,
        pairs: all_pairs(&trials),
        equals_emulation: trial_sha256.iter().all(|hash| *hash == expected.emulation),
        trial_sha256,
        deviation: deviation(trials.first().copied().unwrap_or_default(), &expected.reference),
    }
}

fn time_all(
    engines: &mut [Box<dyn Engine>],
    inputs: &Inputs,
    plan: &Plan,
    stop: &AtomicBool,
    watch: &dyn Watch,
    timings: &mut Timings,
) -> Result<(), Cut> {
    let Some(protocol) = plan.timing else { return Ok(()) };
    // Engines take turns within a resolution, so that the device's state is the same for all of them.
    for geometry in &inputs.geometries {
        for engine in engines.iter_mut() {
            if stop.load(Ordering::Relaxed) {
                return Err(Cut::Stopped);
            }
            watch.begin(engine.kind(), "timing", geometry.resolution);
            if let Some(spans) = engine.time(inputs, geometry, protocol).map_err(Cut::Failed)? {
                timings.entry(engine.kind().name()).or_default().push((geometry.resolution, spans));
            }
        }
    }
    Ok(())
}
