//! The program-partition package as typed records, each with the JSON value it was read from.
//!
//! Readers keep what is good and list what is not, so that one damaged record does not hide the others.

pub mod case;
mod device;
mod label;
pub mod overlap;
pub mod reader;
mod realization;
pub mod sample_runs;
pub mod samples;
mod scale;
pub mod validation;

pub use case::{Case, Operation, Storage};
pub use device::Device;
pub use label::CaseLabel;
pub use reader::{Problem, Reader};
pub use realization::realization_facts;
pub use samples::{SampleRow, SampleTable};
pub use scale::{is_long_list, scale_times};
pub use validation::{CaseRecord, CohortRecord, Route, RouteRecord, Run, Timing, Validation};

/// File names of the published package.
pub mod files {
    /// The cases.
    pub const CASES: &str = "cases.json";
    /// The device.
    pub const DEVICE: &str = "device.json";
    /// All runs.
    pub const VALIDATION: &str = "validation.json";
    /// All samples.
    pub const SAMPLES: &str = "samples.csv";
    /// The fitted model.
    pub const MODEL: &str = "model.json";
    /// Receipts of sources and binaries.
    pub const PROOF_RECEIPTS: &str = "proof-receipts.json";
    /// Hashes before redaction, profile ids.
    pub const PROVENANCE: &str = "provenance.json";
    /// Throughput of overlapping operations, apart from everything else.
    pub const OVERLAP: &str = "overlap.json";
    /// What a person reads.
    pub const README: &str = "README.md";
    /// What was measured, and what was made of it.
    pub const MEASUREMENTS: [&str; 4] = [VALIDATION, SAMPLES, MODEL, CASES];
}

/// The cohort whose timings are a separate later run of a failed case.
pub const RETEST: &str = "independent_retest";

/// The cohort that repeats the default schedule.
pub const RECHECK: &str = "recheck";

/// The status of what failed.
pub const FAILED: &str = "failed";

/// The cohort of the original schedule.
pub const DEFAULT: &str = "default";
