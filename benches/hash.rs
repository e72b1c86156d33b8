//! How fast a file is hashed, against `openssl speed` on the same machine in the same run.
//!
//! `cargo bench --bench hash [-- MEBIBYTES]`. The file is written once and then read from the page cache, so that the disk
//! does not count. Rounds of the two alternate; their ratio is what is said.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fs::File;
use std::io::Write;
use std::process::Command;
use std::time::Instant;

use recount::package::digest::digest_file;

const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mebibytes = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1024_u64);
    let mut file = tempfile::NamedTempFile::new()?;
    let block: Vec<u8> = (0..1_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for _ in 0..mebibytes {
        file.write_all(&block)?;
    }
    file.flush()?;
    let mut ratios = Vec::new();
    println!("SHA-256 of {mebibytes} MiB, MB/s\n{:>10} {:>10} {:>7}", "recount", "openssl", "ratio");
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let digest = digest_file(&File::open(file.path())?, u64::MAX)?;
        let ours = digest.bytes as f64 / start.elapsed().as_secs_f64() / 1e6;
        match openssl() {
            Some(theirs) => {
                println!("{ours:>10.0} {theirs:>10.0} {:>7.3}", ours / theirs);
                ratios.push(ours / theirs);
            }
            None => println!("{ours:>10.0} {:>10} {:>7}", "-", "-"),
        }
    }
    ratios.sort_by(f64::total_cmp);
    if let Some(median) = ratios.get(ratios.len() / 2) {
        println!("median ratio {median:.3}");
    }
    Ok(())
}

/// What `openssl speed` reaches with blocks of 256 KiB, in MB/s; `None` without openssl.
fn openssl() -> Option<f64> {
    let output =
        Command::new("openssl").args(["speed", "-seconds", "1", "-bytes", "262144", "sha256"]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().rev().find(|line| line.trim_start().to_lowercase().starts_with("sha256"))?;
    let rate: f64 = line.split_whitespace().last()?.trim_end_matches('k').parse().ok()?;
    Some(rate / 1e3)
}
