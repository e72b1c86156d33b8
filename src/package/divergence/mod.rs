//! Divergence on disk: summary receipts of several devices, and raw packages of one device.
//!
//! A raw package has `receipts.json`, `inputs/NAME.npy`, and for each engine a folder with `experiment_results.json` and
//! `gradients/ARM-RESOLUTION.npy` (binary32, shape `[trials, N, C, H, W]`). Hashes of inputs and of trials are over the
//! values alone, little-endian in row-major order, not over the `.npy` file: a trial is a part of its file.
//!
//! Readers keep what is good and list what is not, each value with the JSON that it was read from.

mod environment;
mod protocol;
mod raw;
mod receipt;
mod side;
mod summary;
mod write;

pub use environment::{Environment, Probe};
pub use protocol::{DEFINING, Protocol};
pub use raw::{Condition, RawResults};
pub use receipt::{ArmRecord, Device, Figures, SummaryReceipt, is_receipt, looks_like_receipt};
pub use side::{side_of_package, side_of_receipt};
pub use summary::{Source, device_key, receipt_text, significant, summarize};
pub use write::{ConditionRecord, ExperimentResults, ResolutionRecord, input_sha256, number, tensor_sha256};

/// The `schema` of `experiment_results.json`.
pub const SCHEMA: &str = "recount-divergence-v1";

/// The `kind` of `experiment_results.json`.
pub const KIND: &str = "divergence";

/// Digits that receipts print of a divergence.
pub const DIVERGENCE_DIGITS: u32 = 5;

/// Decimals that receipts print of a match rate.
pub const RATE_DECIMALS: u32 = 1;

/// What goes on beside the measured work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Arm {
    /// Nothing.
    Idle,
    /// Products of matrices, from another host thread.
    BackgroundMatmul,
}

impl Arm {
    /// All arms, in the order of the files.
    pub const ALL: [Arm; 2] = [Arm::Idle, Arm::BackgroundMatmul];

    /// The name in protocols and file names.
    pub fn name(self) -> &'static str {
        match self {
            Arm::Idle => "idle",
            Arm::BackgroundMatmul => "background-matmul",
        }
    }

    /// The member of a device in a receipt.
    pub fn member(self) -> &'static str {
        match self {
            Arm::Idle => "idle",
            Arm::BackgroundMatmul => "background_matmul",
        }
    }

    /// The member of raw results.
    pub fn condition(self) -> &'static str {
        match self {
            Arm::Idle => "idle_condition",
            Arm::BackgroundMatmul => "background_matmul_condition",
        }
    }

    /// The arm with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|arm| arm.name() == name)
    }
}

/// What computed the gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Engine {
    /// torch.nn.functional.grid_sample on the GPU, through a Python interpreter
    Torch,
    /// Our own kernel with FP32 atomic additions, as PyTorch's
    Cuda,
    /// Our own kernel with the same bits on every run
    Deterministic,
    /// One host thread: the control
    Cpu,
}

impl Engine {
    /// All engines, in the order in which they run.
    pub const ALL: [Engine; 4] = [Engine::Torch, Engine::Cuda, Engine::Deterministic, Engine::Cpu];

    /// The name, which is also that of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Torch => "torch",
            Engine::Cuda => "cuda",
            Engine::Deterministic => "deterministic",
            Engine::Cpu => "cpu",
        }
    }

    /// The engine with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Whether its results must not depend on the order in which its threads run.
    pub fn is_deterministic(self) -> bool {
        matches!(self, Engine::Deterministic | Engine::Cpu)
    }
}

/// File names of a raw package.
pub mod files {
    use super::Arm;

    /// The results in an engine's folder.
    pub const RESULTS: &str = "experiment_results.json";

    /// Folder of the inputs.
    pub const INPUTS: &str = "inputs";

    /// How far each engine's first trials are from a reference in binary64.
    pub const ACCURACY: &str = "accuracy.json";

    /// Microseconds of one operation, by engine.
    pub const TIMING: &str = "timing.json";

    /// Folder of the gradients within an engine's folder.
    pub const GRADIENTS: &str = "gradients";

    /// The results of an engine.
    pub fn results(engine: &str) -> String {
        format!("{engine}/{RESULTS}")
    }

    /// The tensor of an input: `input`, `grid-RESOLUTION` or `grad-output-RESOLUTION`.
    pub fn input(name: &str) -> String {
        format!("{INPUTS}/{name}.npy")
    }

    /// The gradients of all trials of one arm at one output resolution.
    pub fn gradients(engine: &str, arm: Arm, resolution: u64) -> String {
        format!("{engine}/{GRADIENTS}/{}-{resolution}.npy", arm.name())
    }

    /// The engine folder of a results file; `None` for other names.
    pub fn engine_of(name: &str) -> Option<&str> {
        name.strip_suffix(RESULTS)?.strip_suffix('/').filter(|engine| !engine.is_empty() && !engine.contains('/'))
    }

    /// Whether a name is that of a tensor in a raw package.
    pub fn is_tensor(name: &str) -> bool {
        let mut parts = name.rsplit('/');
        let file = parts.next().unwrap_or_default();
        file.ends_with(".npy") && parts.next().is_some_and(|folder| matches!(folder, INPUTS | GRADIENTS))
    }
}
