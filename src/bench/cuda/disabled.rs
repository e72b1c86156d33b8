//! What stands for the GPU in a build without the feature `cuda`.

use crate::bench::divergence::engine::{Engine, EngineError, Kind};

/// Says that there is none.
pub(crate) fn engine(kind: Kind) -> Result<Box<dyn Engine>, EngineError> {
    Err(EngineError::unavailable(
        kind,
        "this program was built without the feature cuda; build it with --features cuda",
    ))
}
