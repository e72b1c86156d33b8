//! The partition benchmark's cases, fixtures, oracle and files.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of a test fail by panicking, and say what they skip")]

#[path = "bench_fixtures/cases.rs"]
mod cases;
#[path = "bench_fixtures/fixtures.rs"]
mod fixtures;
#[path = "bench_fixtures/oracle.rs"]
mod oracle;
#[path = "bench_fixtures/storage.rs"]
mod storage;
