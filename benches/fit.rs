//! The fit with leave-one-group-out: 10^4, 10^5 and 10^6 observations in 1,000 groups, in binary64 and exactly.
//!
//! `cargo bench --bench fit`. Beside it the same by fitting all other rows again for each group, from a few of the groups: with
//! this library, and with NumPy's `lstsq` for each subset as the published procedure has it. NumPy is looked for in the
//! interpreter that `PYTHON` names, else in `python3`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::process::Command;
use std::time::Instant;

use recount::fit::FitError;
use recount::fit::exact::GroupSums;
use recount::fit::folds::leave_one_group_out;
use recount::fit::nnls::{self, Row};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const GROUPS: usize = 1000;
const ROUNDS: usize = 3;

/// One fold of the published procedure. Prints seconds for each size.
const NUMPY: &str = "
import itertools, time, numpy as np
rng = np.random.default_rng(1)
for size in (10_000, 100_000, 1_000_000):
    group = rng.integers(0, 1000, size)
    x = np.stack([np.ones(size), rng.integers(1, 2000, size), rng.integers(64, 10**6, size)], axis=1).astype(float)
    y = x @ [0.9, 1e-3, 1e-5] * rng.uniform(0.9, 1.1, size)
    times = []
    for held in range(3):
        start = time.perf_counter()
        kept = group != held
        a, b, label = x[kept], y[kept], group[kept]
        weight = 1 / np.bincount(label, minlength=1000)[label]
        scale = np.sqrt((weight[:, None] * a**2).sum(0) / weight.sum())
        root = np.sqrt(weight)
        design, right = a * root[:, None] / scale, b * root
        for count in range(4):
            for active in itertools.combinations(range(3), count):
                if active:
                    solved = np.linalg.lstsq(design[:, list(active)], right, rcond=None)[0]
                    errors = a[:, list(active)] @ (solved / scale[list(active)]) - b
                    (weight * errors**2).sum()
        times.append(time.perf_counter() - start)
    print(sorted(times)[1])
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python).args(["-c", NUMPY]).output()?;
    let numpy: Vec<f64> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| line.parse().ok()).collect();
    if numpy.is_empty() {
        println!("{python} has no NumPy to compare with; set PYTHON to an interpreter that has");
    }
    println!("seconds, medians of {ROUNDS}; 'again' is one fit without a group times {GROUPS}");
    let columns = ["rows", "binary64", "+ folds", "again", "NumPy again", "exact", "+ folds"];
    println!("{}", columns.map(|column| format!("{column:>12}")).concat());
    let order: Vec<usize> = (0..GROUPS).collect();
    for (at, size) in SIZES.into_iter().enumerate() {
        let rows = observations(size);
        let kept: Vec<Row> = rows.iter().filter(|row| row.group != 0).cloned().collect();
        let full = seconds(|| nnls::fit(&rows))?;
        let folds = seconds(|| leave_one_group_out(&rows, &order))?;
        let again = GROUPS as f64 * seconds(|| nnls::fit(&kept))?;
        let exact = seconds(|| GroupSums::of_binary64(&rows)?.fit(None))?;
        let exact_folds = seconds(|| {
            let sums = GroupSums::of_binary64(&rows)?;
            order.iter().map(|&held| sums.fit(Some(held))).collect::<Result<Vec<_>, FitError>>()
        })?;
        let numpy = numpy.get(at).map(|fold| fold * GROUPS as f64);
        let figures = [Some(full), Some(folds), Some(again), numpy, Some(exact), Some(exact_folds)];
        let cells = figures.map(|figure| figure.map_or("-".to_owned(), |seconds| format!("{seconds:.3}")));
        println!("{size:12}{}", cells.map(|cell| format!("{cell:>12}")).concat());
    }
    Ok(())
}

/// Times of three kernels of unequal geometries; groups differ in their number of rows.
fn observations(size: usize) -> Vec<Row> {
    let mut random = fastrand::Rng::with_seed(1);
    let row = |_| {
        let (programs, demand) = (f64::from(random.u32(1..2000)), f64::from(random.u32(64..1_000_000)));
        let observed = (0.9 + 1e-3 * programs + 1e-5 * demand) * (0.9 + 0.2 * random.f64());
        Row { group: random.usize(0..GROUPS), features: vec![1.0, programs, demand], observed }
    };
    (0..size).map(row).collect()
}

fn seconds<T>(work: impl Fn() -> Result<T, FitError>) -> Result<f64, FitError> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        std::hint::black_box(work()?);
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}
