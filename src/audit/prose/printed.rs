//! A printed number, and whether a value rounds to it.

/// What a printed number, or a value, counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Unit {
    /// Nothing printed; a pure number.
    Plain,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Hundredths.
    Percent,
    /// A multiple (`1.7x`), or a ratio.
    Factor,
}

impl Unit {
    /// How it is written after a number.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Unit::Plain => "",
            Unit::Ns => " ns",
            Unit::Us => " us",
            Unit::Ms => " ms",
            Unit::Percent => "%",
            Unit::Factor => "x",
        }
    }

    /// What a value in `self` is multiplied by before it is compared with a number printed in `printed`; `None` where the
    /// two count different things. A number without a unit may be anything but milliseconds.
    pub(super) fn scale_to(self, printed: Unit) -> Option<f64> {
        match (self, printed) {
            (Unit::Us, Unit::Ms) => Some(1e-3),
            (Unit::Us, Unit::Ns) => Some(1e3),
            (Unit::Us | Unit::Percent | Unit::Factor, Unit::Plain) | (Unit::Plain, Unit::Factor) => Some(1.0),
            _ => (self == printed).then_some(1.0),
        }
    }
}

/// Digits after the point up to which rounding is done digit by digit; no binary64 is told apart by more.
const MAX_DECIMALS: usize = 40;

/// A number as it is printed in a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Printed {
    /// Its value; negative if a minus sign stands before it.
    pub value: f64,
    /// The digits as printed, with an ASCII sign if it is negative and without commas.
    digits: String,
    /// Whether a sign is printed.
    pub is_signed: bool,
    /// Whether that sign is a plus.
    has_plus: bool,
    /// Digits after the point.
    pub decimals: usize,
    /// The power of ten printed with it.
    pub exponent: Option<i32>,
    /// The printed unit.
    pub unit: Unit,
}

impl Printed {
    /// Reads a literal: an optional sign, digits with an optional point (thousands may be parted by commas), an optional
    /// exponent. `None` for anything else.
    pub(super) fn parse(literal: &str) -> Option<Self> {
        let unsigned = literal.strip_prefix(['+', '-', '\u{2212}']).unwrap_or(literal);
        let is_negative = literal.starts_with(['-', '\u{2212}']);
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], Some(unsigned[at + 1..].parse::<i32>().ok()?)),
            None => (unsigned, None),
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(whole, part)| (whole, Some(part)));
        if !whole.split(',').all(digits) || !fraction.is_none_or(digits) {
            return None;
        }
        let digits = format!("{}{}", if is_negative { "-" } else { "" }, unsigned.replace(',', ""));
        Some(Self {
            value: digits.parse().ok().filter(|value: &f64| value.is_finite())?,
            digits,
            is_signed: unsigned.len() < literal.len(),
            has_plus: literal.starts_with('+'),
            decimals: fraction.map_or(0, str::len),
            exponent,
            unit: Unit::Plain,
        })
    }

    /// Whether it is printed without point and exponent.
    pub(super) fn is_integer(&self) -> bool {
        self.decimals == 0 && self.exponent.is_none()
    }

    /// One unit of the last printed digit.
    pub(super) fn step(&self) -> f64 {
        let decimals = i32::try_from(self.decimals).unwrap_or(i32::MAX);
        10_f64.powi(self.exponent.unwrap_or(0).saturating_sub(decimals))
    }

    /// Whether `value`, known to within `slack`, is this number when it is rounded to the printed digits. On an exact tie
    /// either neighbour will do.
    pub(super) fn agrees(&self, value: f64, slack: f64) -> bool {
        let apart = (self.value - value).abs();
        let half = self.step() / 2.0;
        if !value.is_finite() || apart > half * (1.0 + 1e-6) + slack + f64::EPSILON * value.abs() {
            return false;
        }
        // Far from the halfway point, and with digits that binary64 resolves, arithmetic is enough.
        let is_resolved = half > 1e-12 * value.abs().max(self.value.abs());
        if apart <= slack || (is_resolved && apart < half * (1.0 - 1e-3)) {
            return true;
        }
        if self.exponent.is_some() || self.decimals > MAX_DECIMALS {
            return apart <= half * (1.0 + 1e-9) + slack;
        }
        let neighbours = match (slack, is_tie(value, self.decimals)) {
            (0.0, true) => [value.next_down(), value.next_up()],
            _ => [value - slack, value + slack],
        };
        [value]
            .iter()
            .chain(&neighbours)
            .any(|&value| same_digits(&format!("{:.*}", self.decimals, value), &self.digits))
    }

    /// `value` printed as this number is: its digits, plus sign and unit.
    pub(super) fn like(&self, value: f64) -> String {
        self.written(value, self.has_plus)
    }

    /// `value`, whose sign matters, printed as this number is: with a sign if this number has one.
    pub(super) fn like_signed(&self, value: f64) -> String {
        self.written(value, self.is_signed)
    }

    fn written(&self, value: f64, with_plus: bool) -> String {
        let decimals = self.decimals.min(MAX_DECIMALS);
        let plus = if with_plus && value >= 0.0 { "+" } else { "" };
        let unit = self.unit.suffix();
        match self.exponent {
            Some(_) => format!("{plus}{value:.decimals$e}{unit}"),
            None => format!("{plus}{value:.decimals$}{unit}"),
        }
    }
}

/// Whether `value` lies exactly halfway between two numbers of so many decimals.
fn is_tie(value: f64, decimals: usize) -> bool {
    // Halfway points have one decimal more, so as a binary fraction at most that many digits: the product is exact.
    let digits = i32::try_from(decimals).unwrap_or(i32::MAX).saturating_add(1);
    (value * 2_f64.powi(digits)).fract() == 0.0 && format!("{value:.*}", decimals + 1).ends_with('5')
}

/// Equality of decimal texts: leading zeros and the sign of zero do not matter.
fn same_digits(left: &str, right: &str) -> bool {
    let parts = |text: &str| {
        let magnitude = text.trim_start_matches('-').trim_start_matches('0').to_owned();
        let is_zero = magnitude.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        (!is_zero && text.starts_with('-'), magnitude)
    };
    parts(left) == parts(right)
}

#[cfg(test)]
mod tests {
    use super::Printed;

    fn agrees(printed: &str, value: f64) -> bool {
        Printed::parse(printed).expect("a number").agrees(value, 0.0)
    }

    #[test]
    fn rounds_the_binary_value_and_takes_both_sides_of_a_tie() {
        assert!(agrees("0.9235", 0.923_460_929_135_699_1));
        assert!(!agrees("0.9234", 0.923_460_929_135_699_1));
        assert!(agrees("0.12", 0.125) && agrees("0.13", 0.125));
        assert!(agrees("-0.12", -0.125) && agrees("-0.13", -0.125));
        // 0.35 is a little less than it looks.
        assert!(agrees("0.3", 0.35) && !agrees("0.4", 0.35));
        assert!(agrees("0.000", -0.0001) && agrees("-0.000", 0.0001));
        assert!(agrees("2", 2.1989) && !agrees("3", 2.1989));
        assert!(agrees("1,024", 1024.0));
    }

    #[test]
    fn last_digits_count_even_where_binary64_does_not_tell_them_apart() {
        assert!(agrees("0.00011327031090119965", 0.00011327031090119965));
        assert!(!agrees("0.00011327031090119966", 0.00011327031090119965));
        assert!(agrees("0.9028899747245084", 0.902_889_974_724_508_4));
        assert!(!agrees("0.9028899747245085", 0.902_889_974_724_508_4));
    }

    #[test]
    fn exponents_and_what_is_no_number() {
        assert!(agrees("1e-12", 1e-12) && !agrees("1e-12", 1e-11));
        assert!(agrees("1.13e-4", 0.000_113_27));
        for text in ["", "-", "1.2.3", "1e", "x", "1,", "NaN", "inf", "1e999", ".5"] {
            assert_eq!(Printed::parse(text), None, "{text}");
        }
    }

    #[test]
    fn absurd_digits_are_no_trouble() {
        let printed = Printed::parse(&format!("0.{}", "3".repeat(100_000))).expect("a number");
        assert!(printed.agrees(1.0 / 3.0, 1e-12));
        assert!(!printed.agrees(0.25, 0.0));
        assert!(printed.like(0.25).len() < 60);
    }
}
