//! Engines on an NVIDIA GPU, with kernels of our own. CUDA is loaded at run time: nothing of it is needed to build, and
//! without it there is an error that says what is missing.
//!
//! The only module with `unsafe` code: `device` and `graph` talk to the driver, `grid_sample`, `load` and `row_reduce` launch
//! kernels whose arguments neither the compiler nor the driver checks.

#[cfg(feature = "cuda")]
mod device;
#[cfg(not(feature = "cuda"))]
mod disabled;
#[cfg(feature = "cuda")]
mod graph;
#[cfg(feature = "cuda")]
mod grid_sample;
#[cfg(feature = "cuda")]
mod load;
pub mod route;
#[cfg(feature = "cuda")]
mod row_reduce;
#[cfg(feature = "cuda")]
mod telemetry;

#[cfg(not(feature = "cuda"))]
pub(crate) use disabled::{backend, engine, state};
#[cfg(feature = "cuda")]
pub(crate) use grid_sample::engine;
#[cfg(feature = "cuda")]
pub(crate) use row_reduce::backend;
#[cfg(feature = "cuda")]
pub(crate) use telemetry::state;

/// NVIDIA's name for the architecture of a compute capability such as `9.0`.
pub fn architecture(capability: &str) -> Option<&'static str> {
    match capability {
        "7.0" | "7.2" => Some("Volta"),
        "7.5" => Some("Turing"),
        "8.0" | "8.6" | "8.7" => Some("Ampere"),
        "8.9" => Some("Ada"),
        "9.0" => Some("Hopper"),
        "10.0" | "10.1" | "10.3" | "11.0" | "12.0" | "12.1" => Some("Blackwell"),
        _ => None,
    }
}
