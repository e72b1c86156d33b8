//! All pairs of 1,000 trials of 3,072 coordinates, against the plain NumPy loop over pairs in the same run.
//!
//! `cargo bench --bench pairs`. NumPy is looked for in the interpreter that `PYTHON` names, else in `python3`; the loop takes a
//! sample of the pairs, since all 499,500 take too long, and both are given per pair.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::process::Command;
use std::time::Instant;

use recount::divergence::{all_pairs, summarize};

const TRIALS: usize = 1000;
const COORDINATES: usize = 3072;
const ROUNDS: usize = 5;

/// The loop that a person would write: two expressions for each pair. Prints microseconds per pair.
const NUMPY: &str = "
import itertools, time, numpy as np
rng = np.random.default_rng(1)
base = rng.standard_normal(3072, dtype=np.float32)
trials = base + np.float32(1e-7) * rng.integers(0, 3, (200, 3072)).astype(np.float32)
pairs = list(itertools.islice(itertools.combinations(range(200), 2), 10000))
for _ in range(5):
    start = time.perf_counter()
    for i, j in pairs:
        a, b = trials[i], trials[j]
        (a != b).sum(), abs(a - b).max()
    print((time.perf_counter() - start) / len(pairs) * 1e6)
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = fastrand::Rng::with_seed(1);
    let base: Vec<f32> = (0..COORDINATES).map(|_| random.f32() - 0.5).collect();
    let trials: Vec<Vec<f32>> =
        (0..TRIALS).map(|_| base.iter().map(|value| value + 1e-7 * random.u8(0..3) as f32).collect()).collect();
    let views: Vec<&[f32]> = trials.iter().map(Vec::as_slice).collect();
    let mut ours = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let pairs = all_pairs(&views);
        ours.push(start.elapsed().as_secs_f64() * 1e6 / pairs.len() as f64);
        assert!(summarize(&pairs).max_drift > 0, "the trials differ");
    }
    let ours = median(ours);
    println!("recount: {ours:.4} us per pair, {:.3} s for all {}", ours * 0.4995, TRIALS * (TRIALS - 1) / 2);
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python).args(["-c", NUMPY]).output()?;
    let theirs: Vec<f64> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| line.parse().ok()).collect();
    if theirs.is_empty() {
        println!("{python} has no NumPy to compare with; set PYTHON to an interpreter that has");
        return Ok(());
    }
    let theirs = median(theirs);
    println!("NumPy:   {theirs:.4} us per pair\nrecount is {:.0} times as fast", theirs / ours);
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
