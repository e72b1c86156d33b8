//! Faults that really happen: files that change or vanish while they are read, a full disk, odd names, sizes at their limits,
//! and `kill -9` amid every command that writes.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[macro_use]
#[allow(dead_code, unused_macros, unused_imports, reason = "other tests use the rest")]
mod common;

mod faults {
    mod changing;
    mod disk;
    mod interrupted;
    mod killed;
    mod killed_bench;
    mod limits;
    mod odd_files;
    mod tree;
}
