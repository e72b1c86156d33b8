//! Writes a valid partition package of any size, with made-up times, to try what reads packages:
//! `cargo run --release --example make_package -- --samples 10000000 --cases 400 OUT`.
//!
//! The package is the one that the tests use, larger: `recount verify OUT --strict` holds.

// Those of its helpers that an example does not need stay unused.
#![allow(dead_code, unused_macros, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Parser;
use globset::GlobSet;
use recount::seal::{receipts_text, write_receipts};

#[macro_use]
#[path = "../tests/common/json.rs"]
mod json;
#[path = "../tests/common/content/mod.rs"]
mod content;

/// What the tests make packages of, by the name that it has there.
mod common {
    pub(crate) use crate::json;
}

/// Timed runs of each four cases: four cohorts, and Torch's. One case of the first four has two more, its retry.
const RUNS_OF_FOUR: u64 = 20;

/// Writes a valid partition package of any size, with made-up times
#[derive(Parser)]
struct Args {
    /// Folder to write, which must not exist or be empty
    out: PathBuf,
    /// Samples in all, at least; every run has equally many, and an odd number
    #[arg(long, default_value_t = 10_000)]
    samples: u64,
    /// Cases, a multiple of four
    #[arg(long, default_value_t = 4)]
    cases: u64,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    ensure!(args.cases > 0 && args.cases % 4 == 0, "--cases {}: not a multiple of four", args.cases);
    std::fs::create_dir_all(&args.out).with_context(|| format!("{} cannot be made", args.out.display()))?;
    ensure!(args.out.read_dir()?.next().is_none(), "{} is not empty", args.out.display());
    let runs = args.cases / 4 * RUNS_OF_FOUR + 1;
    // The median of an even number may round otherwise than the spans that it is of.
    let each = args.samples.div_ceil(runs) | 1;
    let recipe =
        content::Recipe { samples: usize::try_from(each)?, copies: args.cases / 4, ..content::Recipe::default() };
    for (name, bytes) in content::files(&recipe) {
        let path = args.out.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    write_receipts(&args.out, &receipts_text(&args.out, &GlobSet::empty())?)?;
    println!("{}: {runs} runs of {each} samples, {} in all", args.out.display(), runs * each);
    Ok(())
}
