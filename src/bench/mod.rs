//! Running things again on this machine: engines, protocols, and the packages that come out.

pub mod cuda;
pub mod divergence;
pub mod partition;
