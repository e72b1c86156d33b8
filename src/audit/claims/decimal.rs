//! Printed decimals, and the numbers that they may stand for.

use crate::fit::Interval;

/// Longest text that is taken for a number.
const MAX_CHARACTERS: usize = 32;

/// A number as printed: digits with or without a fraction, no exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Decimal {
    /// The nearest binary64 number.
    pub(super) value: f64,
    /// Digits after the point.
    pub(super) decimals: usize,
    /// Half a unit in the last digit.
    pub(super) half_unit: f64,
}

impl Decimal {
    /// Reads `-12.30`, `+1` and the like; `None` for other texts, such as `nan`, `1e3`, `.5`, `5.` and the empty one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, fraction) = match unsigned.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return None,
            None => (unsigned, ""),
        };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if text.len() > MAX_CHARACTERS || whole.is_empty() || !digits(whole) || !digits(fraction) {
            return None;
        }
        let decimals = fraction.len();
        Some(Self { value: text.parse().ok()?, decimals, half_unit: format!("0.5e-{decimals}").parse().ok()? })
    }

    /// Every number that rounds to it.
    pub(super) fn rounding(self) -> Interval {
        Interval::around(self.value, self.half_unit)
    }

    /// The number itself, where all of its digits are printed.
    pub(super) fn exact(self) -> Interval {
        Interval::around(self.value, 0.0)
    }
}
