//! Divergence receipts and packages: what verifies, what does not, what is merged and compared.

// The helpers below are outside of test functions, where the exemption for tests does not reach.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, unreachable_pub)]

#[path = "common/shared.rs"]
mod shared;

#[path = "divergence/support.rs"]
mod support;

#[path = "divergence/beside.rs"]
mod beside;
#[path = "divergence/compare.rs"]
mod compare;
#[path = "divergence/devices.rs"]
mod devices;
#[path = "divergence/forgeries.rs"]
mod forgeries;
#[path = "divergence/laws.rs"]
mod laws;
#[path = "divergence/origin.rs"]
mod origin;
#[path = "divergence/paths.rs"]
mod paths;
#[path = "divergence/published.rs"]
mod published;
#[path = "divergence/raw.rs"]
mod raw;
#[path = "divergence/rules.rs"]
mod rules;
#[path = "divergence/summarize.rs"]
mod summarize;
