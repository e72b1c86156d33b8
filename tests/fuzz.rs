//! The targets of `fuzz/` for a moment: their seeds, their stored corpus, and as many changes of both as a test has time for.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[allow(dead_code, reason = "made for other tests, which use all of it")]
#[macro_use]
mod common;

mod fuzz {
    mod corpus;
    mod oracle;
    mod targets;
}
