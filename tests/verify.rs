//! `recount verify` and the commands around it, driven through the built program on packages that the tests write.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[macro_use]
mod common;

mod verify {
    mod attestation;
    mod bounds;
    mod canonical;
    mod cli;
    mod codes;
    mod conformance;
    mod forgeries;
    mod keys;
    mod line_endings;
    mod names;
    mod producers;
    mod published;
    mod quotes;
    mod receipts;
    mod reproduce;
    mod rows;
    mod shapes;
    mod signature;
    mod special_files;
    mod streamed;
    mod streamed_json;
    mod swapped;
    mod syntax;
    mod twins;
    mod valid;
}
