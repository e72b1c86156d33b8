//! `recount` counts published performance evidence again.

pub mod audit;
pub mod fit;
pub mod package;
