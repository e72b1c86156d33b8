//! What is run: the published inventory, the held-out one, and own ones.

use crate::fit::geometry::Geometry;
use crate::package::partition::{Operation, Storage};

/// How a case's inputs are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Large terms that cancel, for sums.
    Cancellation,
    /// Values that a careless maximum gets wrong.
    Adversarial,
}

impl Pattern {
    /// The name in case records.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Cancellation => "cancellation",
            Pattern::Adversarial => "adversarial",
        }
    }
}

/// A case to run: one operation at one shape, storage type and original number of rows per program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSpec {
    /// Unique in a package, and the name of a folder.
    pub id: String,
    /// What is computed.
    pub operation: Operation,
    /// How values are stored.
    pub storage: Storage,
    /// R, N, B and W.
    pub geometry: Geometry,
    /// How the inputs are made.
    pub pattern: Pattern,
    /// From what.
    pub seed: u64,
}
