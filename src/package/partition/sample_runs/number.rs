//! A time as a cell has it.

use crate::package::json::python_float;

/// Why a cell is no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It cannot be read as a number.
    #[error("a number")]
    NoNumber,
    /// It is zero, negative, or not finite.
    #[error("a positive finite number")]
    NotPositive,
    /// Python would write the number otherwise.
    #[error("a number in its shortest form")]
    NotShortest,
}

/// A positive finite number, written as Python's `repr` does.
///
/// # Errors
/// What the cell should have been.
pub fn shortest_number(cell: &str) -> Result<f64, Malformed> {
    let value = cell.parse::<f64>().map_err(|_| Malformed::NoNumber)?;
    if !value.is_finite() || value <= 0.0 {
        return Err(Malformed::NotPositive);
    }
    if is_surely_shortest(cell, value) || python_float(value) == cell { Ok(value) } else { Err(Malformed::NotShortest) }
}

/// Binary64 numbers with more fractional bits lie exactly between no two decimals of 17 digits.
const TIED_SCALE: f64 = 262_144.0;

/// A quick answer for nearly all times. Any shortest form is Python's where it is positional and the only one: two are equally
/// near only where the number itself ends within 18 fractional digits, and so within 18 fractional bits.
fn is_surely_shortest(cell: &str, value: f64) -> bool {
    (1e-4..1e16).contains(&value)
        && (value * TIED_SCALE).fract() != 0.0
        && zmij::Buffer::new().format_finite(value) == cell
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_quick_answer_is_the_slow_one(bits in any::<u64>(), narrow in any::<f32>()) {
            for value in [f64::from_bits(bits), f64::from(narrow), (bits % 100_000_000_000) as f64 / 1e6] {
                if value.is_finite() && value > 0.0 {
                    let text = python_float(value);
                    prop_assert_eq!(shortest_number(&text), Ok(value));
                    let plain = format!("{value}");
                    prop_assert_eq!(shortest_number(&plain).is_ok(), plain == text, "{}", plain);
                    let long = format!("{value:.17e}");
                    prop_assert!(shortest_number(&long).is_err());
                }
            }
        }
    }
}
