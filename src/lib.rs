//! `recount` counts published performance evidence again.

pub mod audit;
pub mod package;
pub mod render;
