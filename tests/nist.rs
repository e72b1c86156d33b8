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

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use recount::fit::exact::{self, ExactRow, nearest_f64, parse_decimal};
use recount::fit::nnls::{self, Row};

/// Set, its columns, and the digits that binary64 must keep of the coefficient it does worst on: about one fewer than it
/// does keep. The wamplers and filip are made to be hard.
const SETS: [(&str, Columns, f64); 11] = [
    ("norris", Columns::Powers(1), 11.0),
    ("pontius", Columns::Powers(2), 10.0),
    ("noint1", Columns::Origin, 13.0),
    ("noint2", Columns::Origin, 13.0),
    ("filip", Columns::Powers(10), 5.0),
    ("longley", Columns::Intercept, 9.0),
    ("wampler1", Columns::Powers(5), 8.0),
    ("wampler2", Columns::Powers(5), 11.0),
    ("wampler3", Columns::Powers(5), 8.0),
    ("wampler4", Columns::Powers(5), 6.0),
    ("wampler5", Columns::Powers(5), 4.0),
];

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
    println!("{:10} {:>6} {:>8}", "set", "digits", "at least");
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
        println!("{name:10} {worst:6.1} {least:8.1}");
        assert!(worst >= least, "{name}: {worst:.1} digits");
    }
}
