//! NIST's linear-regression reference sets: both solvers against the certified coefficients.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[path = "common/shared.rs"]
mod shared;

use std::collections::HashMap;
use std::process::Command;

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use recount::fit::exact::{self, ExactRow, nearest_f64, parse_decimal};
use recount::fit::nnls::{self, Row};

/// Set, its columns, and the digits that binary64 must keep of the coefficient it does worst on: about one fewer than it
/// does keep. What is lost is lost where the powers of x are rounded to binary64, which filip is made to show.
const SETS: [(&str, Columns, f64); 11] = [
    ("norris", Columns::Powers(1), 13.0),
    ("pontius", Columns::Powers(2), 12.5),
    ("noint1", Columns::Origin, 13.7),
    ("noint2", Columns::Origin, 14.0),
    ("filip", Columns::Powers(10), 6.7),
    ("longley", Columns::Intercept, 13.6),
    ("wampler1", Columns::Powers(5), 14.0),
    ("wampler2", Columns::Powers(5), 12.2),
    ("wampler3", Columns::Powers(5), 14.0),
    ("wampler4", Columns::Powers(5), 14.0),
    ("wampler5", Columns::Powers(5), 14.0),
];

impl Columns {
    /// As `nist.py` calls them.
    fn name(self) -> String {
        match self {
            Columns::Powers(highest) => format!("powers:{highest}"),
            Columns::Origin => "origin".to_owned(),
            Columns::Intercept => "intercept".to_owned(),
        }
    }
}

/// The digits of NumPy's `lstsq` by set, where `PYTHON` names an interpreter that has NumPy.
fn numpy() -> HashMap<String, String> {
    let (Some(python), Some(folder)) = (std::env::var_os("PYTHON"), shared::shared("conformance/nist-strd")) else {
        return HashMap::new();
    };
    let sets = SETS.map(|(name, columns, _)| format!("{name}={}", columns.name()));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nist.py");
    let output = Command::new(python).arg(script).arg(folder).args(sets).output().expect("PYTHON runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    lines.lines().filter_map(|line| line.split_once(' ')).map(|(set, digits)| (set.into(), digits.into())).collect()
}

#[derive(Clone, Copy)]
enum Columns {
    /// 1, x, x^2, ... to this power.
    Powers(u32),
    /// The columns as they stand, without an intercept.
    Origin,
    /// 1, then the columns as they stand.
    Intercept,
}

struct Set {
    rows: Vec<ExactRow>,
    certified: Vec<String>,
}

fn read(name: &str, columns: Columns) -> Option<Set> {
    let certified = shared::shared_text("conformance/nist-strd/certified.csv")?
        .lines()
        .skip(1)
        .filter_map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0] == name).then(|| cells[3].to_owned())
        })
        .collect();
    let rows = shared::shared_text(&format!("conformance/nist-strd/{name}.csv"))?
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<BigRational> = line.split(',').map(|cell| parse_decimal(cell).expect(cell)).collect();
            let (observed, x) = cells.split_first().expect("a row has cells");
            let features = match columns {
                Columns::Powers(highest) => {
                    (0..=highest).map(|power| num_traits::pow(x[0].clone(), power as usize)).collect()
                }
                Columns::Origin => x.to_vec(),
                Columns::Intercept => [BigRational::one()].into_iter().chain(x.iter().cloned()).collect(),
            };
            ExactRow { group: 0, features, observed: observed.clone() }
        })
        .collect();
    Some(Set { rows, certified })
}

/// Whether `value`, rounded to as many significant digits as `certified` has (at least fifteen, which is what NIST
/// certifies where it prints a short value), is `certified`: at most half a unit of the last digit apart.
fn every_digit(value: &BigRational, certified: &str) -> bool {
    let stated = parse_decimal(certified).expect(certified);
    let ten = BigRational::from_integer(10.into());
    let mut unit = BigRational::one();
    // Bring the unit to the value's leading digit, then fourteen digits below it.
    while &unit * &ten <= stated.abs() {
        unit *= &ten;
    }
    while unit > stated.abs() {
        unit /= &ten;
    }
    unit /= num_traits::pow(ten, 14);
    let two = BigRational::from_integer(2.into());
    (value - stated).abs() * two <= unit
}

/// Correct significant digits: -log10 of the relative error, at most 15.
fn digits(value: f64, certified: &BigRational) -> f64 {
    let error = (exact::rational(value).expect("finite") - certified).abs() / certified.abs();
    if error.is_zero() { 15.0 } else { (-nearest_f64(&error).log10()).min(15.0) }
}

#[test]
fn the_exact_solver_gives_every_certified_digit() {
    for (name, columns, _) in SETS {
        let Some(set) = read(name, columns) else { return };
        let coefficients = exact::least_squares(&set.rows).expect(name);
        assert_eq!(coefficients.len(), set.certified.len(), "{name}");
        for (at, (value, certified)) in coefficients.iter().zip(&set.certified).enumerate() {
            assert!(every_digit(value, certified), "{name} b{at}: {} is not {certified}", nearest_f64(value));
        }
    }
}

#[test]
fn the_binary64_solver_keeps_most_certified_digits() {
    let numpy = numpy();
    println!("{:10} {:>6} {:>8} {:>6}", "set", "digits", "at least", "NumPy");
    for (name, columns, least) in SETS {
        let Some(set) = read(name, columns) else { return };
        let rows: Vec<Row> = set
            .rows
            .iter()
            .map(|row| Row {
                group: row.group,
                features: row.features.iter().map(nearest_f64).collect(),
                observed: nearest_f64(&row.observed),
            })
            .collect();
        let coefficients = nnls::least_squares(&rows).expect(name);
        let worst = coefficients
            .iter()
            .zip(&set.certified)
            .map(|(&value, certified)| digits(value, &parse_decimal(certified).expect(certified)))
            .fold(15.0, f64::min);
        println!("{name:10} {worst:6.1} {least:8.1} {:>6}", numpy.get(name).map_or("-", String::as_str));
        assert!(worst >= least, "{name}: {worst:.1} digits");
    }
}
