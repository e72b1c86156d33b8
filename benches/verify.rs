//! Wall time of a whole `recount verify` against Python's start and `json.load` of the same package's validation.json.
//!
//! `cargo bench --bench verify -- PACKAGE`. Both are whole processes, run in turn; the ratio of each pair is what counts.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let package = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let package = package.unwrap_or_else(|| "../shared/packages/program-partition".to_owned());
    let validation = Path::new(&package).join("validation.json");
    if !validation.exists() {
        println!("{} is not there; name a package: cargo bench --bench verify -- PACKAGE", validation.display());
        return Ok(());
    }
    let python = python().ok_or("python3 is needed to compare with")?;
    let script = format!("import json; json.load(open({:?}))", validation.display().to_string());
    let mut ours = Command::new(env!("CARGO_BIN_EXE_recount"));
    ours.args(["verify", &package, "-q", "--allow-absent", "code/*", "--allow-absent", "reproduce.py"]);
    let mut theirs = Command::new(&python);
    theirs.args(["-c", &script]);
    let mut pairs = Vec::new();
    for round in 0..=ROUNDS {
        let pair = (seconds(&mut ours)?, seconds(&mut theirs)?);
        if round > 0 {
            pairs.push(pair);
        }
    }
    let median = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    println!(
        "{ROUNDS} pairs, medians: recount verify {:.1} ms, python json.load {:.1} ms, ratio {:.2}",
        1e3 * median(&|pair| pair.0),
        1e3 * median(&|pair| pair.1),
        median(&|pair| pair.0 / pair.1)
    );
    Ok(())
}

/// The interpreter itself: a wrapper script in front of it would not be a fair opponent.
fn python() -> Option<String> {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!path.is_empty()).then_some(path)
}

fn seconds(command: &mut Command) -> Result<f64, std::io::Error> {
    let start = Instant::now();
    command.stdout(Stdio::null()).status()?;
    Ok(start.elapsed().as_secs_f64())
}
