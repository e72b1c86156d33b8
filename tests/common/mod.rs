//! Helpers of the integration tests.

#[macro_use]
pub(crate) mod json;
pub(crate) mod content;
pub(crate) mod outcome;
pub(crate) mod package;
pub(crate) mod shared;
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "a few tests mount file systems")]
pub(crate) mod small_disk;
