//! The partition benchmark's cases, fixtures, oracle and files.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

mod bench_fixtures {
    mod cases;
    mod fixtures;
    mod oracle;
    mod storage;
}
