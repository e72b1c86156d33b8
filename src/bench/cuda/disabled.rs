//! What stands for the GPU in a build without the feature `cuda`.

use crate::bench::divergence::engine::{Engine, EngineError, Kind};
use crate::bench::partition::backend::{Backend, BackendError};

use crate::package::json::Json;

/// What is missing.
const MISSING: &str = "this program was built without the feature cuda; build it with --features cuda";

/// Says that there is none.
pub(crate) fn engine(kind: Kind) -> Result<Box<dyn Engine>, EngineError> {
    Err(EngineError::unavailable(kind, MISSING))
}

/// Says that there is none.
pub(crate) fn backend(_index: usize) -> Result<Box<dyn Backend>, BackendError> {
    Err(BackendError::Unavailable(MISSING.to_owned()))
}

/// Nothing is known of a GPU.
pub(crate) fn state(_bus_id: Option<&str>) -> Json {
    Json::Null
}
