//! Helpers of the integration tests.

#[macro_use]
pub(crate) mod json;
pub(crate) mod content;
pub(crate) mod outcome;
pub(crate) mod package;
pub(crate) mod shared;
