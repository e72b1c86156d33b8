//! placeholder until the fit branch is merged
pub mod geometry;
pub mod median;
