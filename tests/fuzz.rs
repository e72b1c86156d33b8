//! The targets of `fuzz/` for a moment: their seeds, their stored corpus, and as many changes of both as a test has time for.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "made for other tests, which use all of it")]
#[macro_use]
mod common {
    #[macro_use]
    pub(crate) mod json;
    pub(crate) mod content;
}

mod fuzz {
    mod corpus;
    mod oracle;
    mod targets;
}
