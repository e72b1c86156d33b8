//! The targets of `tests/fuzz/`, as cargo-fuzz drives them.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a target fails by panicking")]

#[allow(dead_code, reason = "made for the tests, which use all of it")]
#[path = "../../tests/common"]
#[macro_use]
mod common {
    #[macro_use]
    pub(crate) mod json;
    pub(crate) mod content;
}

#[path = "../../tests/fuzz/targets/mod.rs"]
mod targets;

/// Runs the target `name` on one input; a panic is a crash to be mended.
pub fn run(name: &str, data: &[u8]) {
    let target = targets::ALL.iter().find(|target| target.name == name).expect("a target of that name");
    (target.run)(data);
}

/// The inputs to start from, by target.
pub fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    targets::ALL.iter().map(|target| (target.name, (target.seeds)())).collect()
}
