//! A decimal number as it was printed: which values round to it.

/// Relative error that the ends of an interval are widened by, so that their own rounding never excludes a value.
const WIDENED: f64 = 1e-15;

/// A printed number, not negative, with the place of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    value: f64,
    /// Power of ten of the last digit.
    last_place: i32,
}

impl Printed {
    /// `value` as printed with `digits` significant digits, or with as many more as it shows. A digit that is zero at the
    /// end of a number cannot be seen in its value, so `digits` is what the format promises. `None` for a number that
    /// is negative, zero or not finite.
    pub fn significant(value: f64, digits: u32) -> Option<Self> {
        let (leading, shown) = places(value).filter(|_| value > 0.0)?;
        let promised = leading - (i32::try_from(digits).ok()? - 1);
        Some(Self { value, last_place: promised.min(shown) })
    }

    /// `value` as printed with `decimals` digits after the point, or with as many more as it shows. `None` for a number
    /// that is negative or not finite.
    pub fn decimals(value: f64, decimals: u32) -> Option<Self> {
        let (_, shown) = places(value).filter(|_| value >= 0.0)?;
        Some(Self { value, last_place: (-i32::try_from(decimals).ok()?).min(shown) })
    }

    /// The printed number.
    pub fn value(self) -> f64 {
        self.value
    }

    /// Smallest and largest value that round to the printed one; both ends belong to it, since producers differ in how
    /// they round halves. A little wider than exact arithmetic would have it, never narrower.
    pub fn interval(self) -> (f64, f64) {
        let half = 0.5 * 10_f64.powi(self.last_place);
        ((self.value - half).max(0.0) * (1.0 - WIDENED), (self.value + half) * (1.0 + WIDENED))
    }
}

/// Powers of ten of the first and of the last digit of the shortest decimal that reads back to `value`.
fn places(value: f64) -> Option<(i32, i32)> {
    if !value.is_finite() {
        return None;
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let leading: i32 = exponent.parse().ok()?;
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    Some((leading, leading - (i32::try_from(digits).ok()? - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_are_shown_count_and_promised_ones_too() {
        let close = |left: (f64, f64), right: (f64, f64)| {
            assert!(
                (left.0 - right.0).abs() < 1e-13 * right.1 && (left.1 - right.1).abs() < 1e-13 * right.1,
                "{left:?}"
            );
        };
        close(Printed::significant(5.722e-6, 5).unwrap().interval(), (5.72195e-6, 5.72205e-6));
        close(Printed::significant(5.7221234e-6, 5).unwrap().interval(), (5.72212335e-6, 5.72212345e-6));
        close(Printed::decimals(0.2, 1).unwrap().interval(), (0.15, 0.25));
        close(Printed::decimals(0.0, 1).unwrap().interval(), (0.0, 0.05));
        close(Printed::decimals(0.23, 1).unwrap().interval(), (0.225, 0.235));
        assert_eq!(Printed::significant(0.0, 5), None);
        assert_eq!(Printed::decimals(-0.1, 1), None);
        assert_eq!(Printed::decimals(f64::NAN, 1), None);
    }
}
