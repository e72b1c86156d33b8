//! What a child process is asked to do: a file that the campaign writes and the child reads.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::backend::{Backend, BackendError, Kind};
use super::cases::{self, CaseSpec};
use super::cpu::Cpu;
use super::sampling::Protocol;
use super::source::{Entry, Order};
use crate::bench::cuda;

/// A job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// What to do.
    pub work: Work,
    /// `cuda` or `cpu`.
    pub backend: String,
    /// Number of the GPU.
    pub device: usize,
    /// Where it is on its bus, once that is known.
    pub bus_id: Option<String>,
    /// Host threads of the CPU backend.
    pub threads: Option<usize>,
    /// Processors that the child keeps to.
    pub cpus: Option<Vec<usize>>,
    /// Where its results go.
    pub folder: PathBuf,
}

/// What a child does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Opens the backend and says what it runs on.
    Probe,
    /// Tries entries with different numbers of threads.
    Tune(Tune),
    /// Measures one case in one cohort.
    Measure(Measure),
}

/// What is to be tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tune {
    /// The case.
    pub of: OfCase,
    /// The rows per program whose operations overlap, too.
    pub overlap: Vec<u64>,
}

/// Which case, and its fixtures.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfCase {
    /// The file that lists the cases.
    pub cases: PathBuf,
    /// The case's id.
    pub case: String,
    /// The folder of its fixtures.
    pub fixture: PathBuf,
}

/// One measurement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The case.
    pub of: OfCase,
    /// Rows per program asked for; 0 is the original schedule.
    pub requested: u64,
    /// Threads of a row, in stream order and overlapping.
    pub original: Groups,
    /// The same of the appended entry.
    pub partition: Groups,
    /// Whether operations overlap.
    pub overlap: bool,
    /// How to sample.
    pub protocol: Sampling,
    /// What to do wrong, for tests.
    pub fault: Option<Fault>,
}

/// Threads of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// Of operations in stream order.
    pub stream: u32,
    /// Of operations that overlap.
    pub overlap: u32,
}

impl Groups {
    /// Those of operations in an order.
    pub fn of(self, order: Order) -> u32 {
        if order == Order::Overlap { self.overlap } else { self.stream }
    }

    /// Those of the rule, where nothing was measured.
    pub fn by_rule(case: &CaseSpec, rows: u64) -> Self {
        let group = Entry::by_rule(case, rows).group;
        Self { stream: group, overlap: group }
    }
}

/// [`Protocol`], written down.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// Operations of one graph.
    pub operations: u64,
    /// Warm-up in milliseconds.
    pub warm_up_ms: f64,
    /// Target of a span in milliseconds.
    pub target_ms: f64,
    /// Spans.
    pub samples: u64,
}

impl From<Sampling> for Protocol {
    fn from(sampling: Sampling) -> Self {
        let Sampling { operations, warm_up_ms, target_ms, samples } = sampling;
        Self { operations, warm_up_ms, target_ms, samples, ..Self::PUBLISHED }
    }
}

/// Something that a child does wrong on purpose, so that tests see what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Ends by a signal.
    Crash,
    /// Never ends.
    Hang,
    /// Gives a wrong result.
    WrongResult,
    /// Fails after its times were taken.
    Late,
}

/// Why a job cannot be read, or its case.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A file cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The job is none.
    #[error("{path} is no job")]
    Syntax {
        /// Which.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The cases are none.
    #[error(transparent)]
    Cases(#[from] cases::CasesError),
    /// The case is not among them.
    #[error("there is no case {case} in {path}")]
    NoCase {
        /// Which.
        case: String,
        /// Where.
        path: PathBuf,
    },
}

impl Job {
    /// Reads a job.
    ///
    /// # Errors
    /// The file cannot be read, or is no job.
    pub fn read(path: &Path) -> Result<Self, JobError> {
        let bytes = read(path)?;
        serde_json::from_slice(&bytes).map_err(|source| JobError::Syntax { path: path.to_owned(), source })
    }

    /// The text of a job.
    pub fn text(&self) -> String {
        // Nothing in a job can fail to be written as JSON; an empty text could not be read as a job.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Opens the backend.
    ///
    /// # Errors
    /// It is not here.
    pub fn open(&self) -> Result<Box<dyn Backend>, BackendError> {
        match Kind::from_name(&self.backend) {
            Some(Kind::Cuda) => cuda::backend(self.device),
            Some(Kind::Cpu) => Ok(Box::new(Cpu::open(self.threads.or_else(|| self.cpus.as_ref().map(Vec::len))))),
            None => Err(BackendError::Unavailable(format!("there is no backend {}", self.backend))),
        }
    }
}

impl OfCase {
    /// The case.
    ///
    /// # Errors
    /// The file cannot be read, or has no such case.
    pub fn spec(&self) -> Result<CaseSpec, JobError> {
        let listed = cases::read(&self.cases.display().to_string(), &read(&self.cases)?)?;
        let found = listed.into_iter().find(|case| case.id == self.case);
        found.ok_or_else(|| JobError::NoCase { case: self.case.clone(), path: self.cases.clone() })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, JobError> {
    std::fs::read(path).map_err(|source| JobError::Read { path: path.to_owned(), source })
}
