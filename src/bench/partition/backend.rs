//! What a backend is: something that makes one case ready to run under one schedule.

use super::cases::CaseSpec;
use super::cpu;
use super::sampling::Replayer;
use super::selector::Selection;
use super::source::{self, Entry, Order};
use crate::package::json::Json;

/// Elements on each side of a tensor that belong to nobody; an operation that changes one has written beside its output.
pub const GUARD_ELEMENTS: u64 = 128;

/// What every byte of a guard is.
pub const GUARD_BYTE: u8 = 0xa5;

/// What every byte of an output is before an operation that has to write it: NaN in every storage type.
pub const POISON_BYTE: u8 = 0xff;

/// Why a backend cannot do what is asked.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// Something that it needs is not here.
    #[error("{0}")]
    Unavailable(String),
    /// It failed on the way.
    #[error("{0}")]
    Failed(String),
}

/// Which backend runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// An NVIDIA GPU
    Cuda,
    /// Threads of this host; the same protocol, no GPU figures
    Cpu,
}

impl Kind {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cuda => "cuda",
            Kind::Cpu => "cpu",
        }
    }

    /// Names of the original entry and of the appended one.
    pub fn entries(self) -> (&'static str, &'static str) {
        match self {
            Kind::Cuda => (source::ORIGINAL, source::PARTITION),
            Kind::Cpu => cpu::ENTRIES,
        }
    }

    /// The backend of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Kind::Cuda, Kind::Cpu].into_iter().find(|kind| kind.name() == name)
    }
}

/// What is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Task<'t> {
    /// The case.
    pub case: &'t CaseSpec,
    /// Its input as stored, R * N values.
    pub input: &'t [u8],
    /// The original entry: B rows per program.
    pub original: Entry,
    /// The appended entry, where one is asked for.
    pub partition: Option<Entry>,
    /// Whether operations of a graph may overlap.
    pub order: Order,
    /// Operations of a graph.
    pub operations: u64,
}

/// An opened backend.
pub trait Backend {
    /// Which one it is.
    fn kind(&self) -> Kind;

    /// The content of `device.json`.
    fn device(&self) -> Json;

    /// Whether operations can overlap here.
    fn overlaps(&self) -> bool;

    /// Compiles, uploads, and chooses the entry. No operation has run yet.
    ///
    /// # Errors
    /// The source does not compile, or the device has no room.
    fn prepare(&self, task: &Task<'_>) -> Result<Box<dyn Prepared + '_>, BackendError>;
}

/// A case that is ready to run. [`Replayer::replay`] needs [`Prepared::build_graph`] first.
pub trait Prepared: Replayer {
    /// What was compiled, and how many of its bytes are the original source.
    fn source(&self) -> (&str, usize);

    /// How it was compiled, with the facts that follow from case and schedule.
    fn realization(&self) -> String;

    /// The choice that was made from the bound spans.
    fn selection(&self) -> Selection;

    /// Names of the original entry and of the appended one.
    fn entries(&self) -> (&'static str, &'static str);

    /// Milliseconds that compiling took, then allocating and uploading.
    fn cold_ms(&self) -> (f64, f64);

    /// Runs one operation and waits for it.
    ///
    /// # Errors
    /// The backend failed.
    fn run_once(&mut self) -> Result<(), BackendError>;

    /// Builds the graph of operations, and reads back what it launches.
    ///
    /// # Errors
    /// The backend failed, or the graph launches something else than was chosen.
    fn build_graph(&mut self) -> Result<Observed, BackendError>;

    /// Fills the output with [`POISON_BYTE`].
    ///
    /// # Errors
    /// The backend failed.
    fn poison(&mut self) -> Result<(), BackendError>;

    /// Copies everything back.
    ///
    /// # Errors
    /// The backend failed.
    fn read_back(&mut self) -> Result<ReadBack, BackendError>;

    /// Whether stores of operations that overlap keep their order, tried with operations that differ; `expected` is the
    /// output. Always so where nothing overlaps.
    ///
    /// # Errors
    /// The backend failed.
    fn keeps_order(&mut self, expected: &[u8]) -> Result<bool, BackendError> {
        let _ = expected;
        Ok(true)
    }
}

/// What a captured graph launches, read back from its nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Nodes.
    pub nodes: u64,
    /// The entry of all of them.
    pub entry: String,
    /// The grid of all of them.
    pub grid: [u64; 3],
}

/// What is on the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadBack {
    /// R values as stored.
    pub output: Vec<u8>,
    /// Whether the guards of input and output are as they were.
    pub guards_unchanged: bool,
    /// Whether the input is as it was.
    pub inputs_unchanged: bool,
}
