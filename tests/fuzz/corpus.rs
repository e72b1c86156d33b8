//! Every target takes its seeds, its stored corpus, and changes of both.

use std::fs;
use std::path::Path;

use fastrand::Rng;

use super::targets::{ALL, Target};

/// Changed inputs of a target that only reads.
const QUICK_RUNS: usize = 2000;

/// Changed inputs of a target that verifies a whole package each time.
const THOROUGH_RUNS: usize = 60;

/// Stored inputs that a test has time for, in steps over the sorted corpus.
const REPLAYED: usize = 400;

/// Longest input.
const MAX_BYTES: usize = 64 << 10;

/// What readers look for, to be put anywhere.
const WORDS: [&str; 24] = [
    "\r\n",
    "\r",
    "\n",
    "\0",
    "\"",
    "\\",
    "\\u",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "../",
    "\u{feff}",
    "e+",
    "-0",
    "1e309",
    "18446744073709551616",
    "null",
    "|",
    "`",
    "${",
    "\u{202e}",
];

fn target(name: &str) -> &'static Target {
    ALL.iter().find(|target| target.name == name).expect("a target of that name")
}

/// The seeds, and what fuzzing found worth keeping.
fn inputs(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target.name);
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("each target has a corpus").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() > 5, "the corpus of {} has {} inputs", target.name, paths.len());
    let step = paths.len().div_ceil(REPLAYED);
    let stored = paths.iter().step_by(step).map(|path| fs::read(path).expect("an input"));
    (target.seeds)().into_iter().chain(stored).collect()
}

fn run_for_a_moment(name: &str, runs: usize) {
    let target = target(name);
    let inputs = inputs(target);
    let replayed = if runs == QUICK_RUNS { inputs.len() } else { THOROUGH_RUNS };
    let step = inputs.len().div_ceil(replayed);
    inputs.iter().step_by(step).for_each(|input| (target.run)(input));
    (target.run)(&[]);
    let mut random = Rng::with_seed(20_261_130);
    for _ in 0..runs {
        (target.run)(&changed(&inputs, &mut random));
    }
}

/// Some input with a few changes.
fn changed(inputs: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut bytes = inputs[random.usize(..inputs.len())].clone();
    for _ in 0..random.usize(1..=4) {
        let at = random.usize(..=bytes.len());
        let end = (at + random.usize(..16)).min(bytes.len());
        match random.u8(..6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.u8(..8),
            1 if at < bytes.len() => bytes[at] = random.u8(..),
            2 => drop(bytes.drain(at..end)),
            3 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            4 => {
                let other = &inputs[random.usize(..inputs.len())];
                bytes.truncate(at);
                bytes.extend(&other[random.usize(..=other.len())..]);
            }
            _ => drop(bytes.splice(at..at, WORDS[random.usize(..WORDS.len())].bytes())),
        }
    }
    bytes.truncate(MAX_BYTES);
    bytes
}

macro_rules! moments {
    ($($name:ident: $runs:expr;)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { run_for_a_moment(stringify!($name), $runs); })*
    };
}

moments! {
    canonical: QUICK_RUNS;
    claims: THOROUGH_RUNS;
    divergence: THOROUGH_RUNS;
    divergence_raw: THOROUGH_RUNS;
    endings: QUICK_RUNS;
    model: THOROUGH_RUNS;
    npy: QUICK_RUNS;
    private: QUICK_RUNS;
    prose: THOROUGH_RUNS;
    receipts: QUICK_RUNS;
    sample_runs: QUICK_RUNS;
    samples: THOROUGH_RUNS;
    signatures: QUICK_RUNS;
    validation: THOROUGH_RUNS;
}

#[test]
fn every_target_is_run_here_and_by_the_fuzzer() {
    let names: Vec<_> = ALL.iter().map(|target| target.name).collect();
    assert_eq!(names, TESTED);
    for name in names {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/fuzz_targets/{name}.rs"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(text.contains(&format!("run(\"{name}\", data)")), "{text}");
    }
}
