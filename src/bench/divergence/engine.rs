//! What an engine is, and opening one.

use std::path::PathBuf;

use super::inputs::{Geometry, Inputs};
use super::timing::{Protocol, Spans};
use super::{Arm, cpu, torch};
use crate::bench::cuda;
pub use crate::package::divergence::Engine as Kind;
use crate::package::json::Json;

/// Why an engine cannot do what is asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Something that it needs is not here.
    #[error("engine {engine}: {missing}")]
    Unavailable {
        /// Its name.
        engine: &'static str,
        /// What is missing, and what to do.
        missing: String,
    },
    /// It failed on the way.
    #[error("engine {engine}: {reason}")]
    Failed {
        /// Its name.
        engine: &'static str,
        /// What happened.
        reason: String,
    },
}

impl EngineError {
    pub(crate) fn unavailable(kind: Kind, missing: impl Into<String>) -> Self {
        Self::Unavailable { engine: kind.name(), missing: missing.into() }
    }

    pub(crate) fn failed(kind: Kind, reason: impl ToString) -> Self {
        Self::Failed { engine: kind.name(), reason: reason.to_string() }
    }
}

/// What a deterministic mode does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The setting that asks for it.
    pub setting: String,
    /// What happens then.
    pub result: String,
}

/// One measurement: all trials of a geometry in an arm.
#[derive(Debug, Clone, Copy)]
pub struct Task<'i> {
    /// All inputs.
    pub inputs: &'i Inputs,
    /// The geometry, one of them.
    pub geometry: &'i Geometry,
    /// What else the machine does.
    pub arm: Arm,
    /// Trials after the warm-up.
    pub trials: usize,
}

/// Something that computes the input gradient.
pub trait Engine {
    /// Which one it is.
    fn kind(&self) -> Kind;

    /// What it runs on: members of the results' `environment`.
    fn environment(&self) -> Vec<(&'static str, Json)>;

    /// What its deterministic mode does.
    fn probe(&self) -> Probe;

    /// How its background arm keeps the machine busy.
    fn background(&self) -> &'static str;

    /// One warm-up, then the trials; their gradients one after the other. Calls `trial` after each.
    ///
    /// # Errors
    /// The engine failed; nothing of the measurement can be used.
    fn measure(&mut self, task: &Task<'_>, trial: &mut dyn FnMut()) -> Result<Vec<f32>, EngineError>;

    /// Device time of the operation; `None` where the engine has no device.
    ///
    /// # Errors
    /// The engine failed.
    fn time(&mut self, inputs: &Inputs, geometry: &Geometry, protocol: Protocol) -> Result<Option<Spans>, EngineError>;
}

/// What engines need to be opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The Python interpreter of the torch engine.
    pub python: PathBuf,
}

/// Opens an engine.
///
/// # Errors
/// Something that it needs is not here.
pub fn open(kind: Kind, options: &Options, inputs: &Inputs) -> Result<Box<dyn Engine>, EngineError> {
    match kind {
        Kind::Torch => Ok(Box::new(torch::Torch::open(&options.python, inputs)?)),
        Kind::Cuda | Kind::Deterministic => cuda::engine(kind),
        Kind::Cpu => Ok(Box::new(cpu::Cpu)),
    }
}
