//! `recount bench`, driven through the built program on threads of this host at a small size.
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

mod bench {
    mod faults;
    mod full_disk;
    #[cfg(unix)]
    mod interruption;
    mod newcomer;
    mod output;
    mod place;
    mod refusals;
}
