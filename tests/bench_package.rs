//! Packages that are assembled from campaigns: what is written verifies and refits, whatever failed on the way.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[macro_use]
#[allow(dead_code, unused_macros, reason = "other tests use the rest")]
mod common;

mod bench_package {
    mod campaign;
    mod forgeries;
    mod places;
    mod readme;
    mod sources;
    mod variants;
}
