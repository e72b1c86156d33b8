//! `recount` counts published performance evidence again.

pub mod audit;
pub mod cli;
pub mod fit;
pub mod package;
pub mod refit;
pub mod render;
pub mod seal;
pub mod selftest;
