//! Prints the median of each run of a `samples.csv`, of any size, and fails where a cell of it is not as it should be:
//! `cargo run --release --example grouped_medians -- samples.csv`.

#![allow(clippy::print_stdout)]

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Parser;
use recount::package::json::python_float;
use recount::package::limits::MAX_STREAMED_BYTES;
use recount::package::partition::sample_runs::SampleRuns;

/// Prints the median of each run of a samples.csv
#[derive(Parser)]
struct Args {
    /// The file
    file: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let Args { file } = Args::parse();
    let opened = File::open(&file).with_context(|| format!("{} cannot be opened", file.display()))?;
    let (_, table) = SampleRuns::read(&mut &opened, MAX_STREAMED_BYTES, &|_| {})?;
    if let Some(fault) = table.faults.first() {
        anyhow::bail!(
            "{}, line {}: {:?}; {} such rows in all",
            file.display(),
            fault.line,
            fault.kind,
            table.fault_count
        );
    }
    for run in &table.runs {
        let median = run.median.map(python_float).with_context(|| format!("line {}: no median", run.line))?;
        ensure!(run.stated.iter().all(|(_, stated, _)| *stated == median), "line {}: another median", run.line);
        println!("{},{median}", run.names[..3].join(","));
    }
    Ok(())
}
