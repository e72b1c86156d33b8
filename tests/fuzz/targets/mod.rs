//! What is fuzzed: one function for each reader of something that nobody vouches for. A target takes any bytes, and panics
//! where a reader breaks a law. `fuzz/` drives them with libFuzzer, `tests/fuzz.rs` with a stored corpus.

mod canonical;
mod claims;
mod divergence;
mod divergence_raw;
mod edits;
mod endings;
mod judged;
mod model;
mod npy;
mod private;
mod prose;
mod python;
mod receipts;
mod sample_runs;
mod samples;
mod scratch;
mod signatures;
mod validation;

pub(crate) use python::naive_canonical;

/// One of them.
pub(crate) struct Target {
    /// Name of the target and of the folder with its corpus.
    pub(crate) name: &'static str,
    /// Takes an input, and panics where a law is broken.
    pub(crate) run: fn(&[u8]),
    /// Inputs that lead into the reader; a fuzzer starts from them.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub(crate) const ALL: [Target; 14] = [
    Target { name: "canonical", run: canonical::run, seeds: canonical::seeds },
    Target { name: "claims", run: claims::run, seeds: claims::seeds },
    Target { name: "divergence", run: divergence::run, seeds: divergence::seeds },
    Target { name: "divergence_raw", run: divergence_raw::run, seeds: divergence_raw::seeds },
    Target { name: "endings", run: endings::run, seeds: endings::seeds },
    Target { name: "model", run: model::run, seeds: model::seeds },
    Target { name: "npy", run: npy::run, seeds: npy::seeds },
    Target { name: "private", run: private::run, seeds: private::seeds },
    Target { name: "prose", run: prose::run, seeds: prose::seeds },
    Target { name: "receipts", run: receipts::run, seeds: receipts::seeds },
    Target { name: "sample_runs", run: sample_runs::run, seeds: sample_runs::seeds },
    Target { name: "samples", run: samples::run, seeds: samples::seeds },
    Target { name: "signatures", run: signatures::run, seeds: signatures::seeds },
    Target { name: "validation", run: validation::run, seeds: validation::seeds },
];
