//! Exact rationals against binary64 and decimal text: what goes in comes out, rounded once and correctly.
#![allow(clippy::expect_used, reason = "helpers of a test fail by panicking")]

use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use recount::fit::exact::{nearest_f64, parse_decimal, rational, ulp_distance};

fn whole(value: i64) -> BigRational {
    BigRational::from_integer(value.into())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn rounding_inverts_the_exact_value(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        match rational(value) {
            Some(exact) => {
                prop_assert_eq!(nearest_f64(&exact), value);
                prop_assert_eq!(&exact, &exact.reduced());
                prop_assert_eq!(ulp_distance(value, &exact), 0.0);
            }
            None => prop_assert!(!value.is_finite()),
        }
    }

    #[test]
    fn decimals_round_as_the_standard_library_parses_them(
        text in r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?",
    ) {
        let exact = parse_decimal(&text).expect("a decimal");
        prop_assert_eq!(nearest_f64(&exact), text.parse::<f64>().expect("a float"));
        prop_assert_eq!(&exact, &exact.reduced());
    }

    #[test]
    fn anything_else_is_no_decimal(text in r"\PC{0,12}") {
        let accepted = parse_decimal(&text).is_some();
        let number = text.parse::<f64>().is_ok_and(f64::is_finite) && text.bytes().any(|byte| byte.is_ascii_digit());
        // Exact decimals reach beyond binary64, and stop where their exponents are absurd.
        prop_assert!(accepted == number || text.contains(['e', 'E']), "{}", text);
    }

    #[test]
    fn halves_round_to_the_even_neighbour(fraction in 1_u64 << 52..1 << 53, exponent in -1074_i32..900) {
        let value = |twice: u64| {
            let power = BigRational::from_integer(2.into()).pow(exponent - 1);
            BigRational::from_integer(BigInt::from(twice)) * power
        };
        let even = fraction & !1;
        let tie = 2 * even + 1;
        prop_assert_eq!(nearest_f64(&value(tie)), nearest_f64(&value(2 * even)));
        let hair = value(1) / whole(1 << 40);
        prop_assert_eq!(nearest_f64(&(value(tie) + &hair)), nearest_f64(&value(2 * even + 2)));
        prop_assert_eq!(nearest_f64(&(value(2 * even + 3) - &hair)), nearest_f64(&value(2 * even + 2)));
        prop_assert_eq!(nearest_f64(&value(2 * even + 3)), nearest_f64(&value(2 * even + 4)));
    }
}

#[test]
fn rounding_reaches_both_ends_of_the_range() {
    let power = |exponent: i32| whole(2).pow(exponent);
    assert_eq!(nearest_f64(&power(-1075)), 0.0);
    assert_eq!(nearest_f64(&(power(-1075) + power(-1200))), f64::from_bits(1));
    assert_eq!(nearest_f64(&(power(-1074) * whole(3) / whole(2))), f64::from_bits(2));
    assert_eq!(nearest_f64(&power(-5000)), 0.0);
    assert_eq!(nearest_f64(&power(1024)), f64::INFINITY);
    assert_eq!(nearest_f64(&-power(1024)), f64::NEG_INFINITY);
    assert_eq!(nearest_f64(&(power(1024) - power(970))), f64::INFINITY);
    assert_eq!(nearest_f64(&(power(1024) - power(970) - power(900))), f64::MAX);
    assert_eq!(nearest_f64(&(power(-1022) - power(-1075))), f64::MIN_POSITIVE);
    assert!(nearest_f64(&BigRational::new_raw(1.into(), 0.into())).is_nan());
}

#[test]
fn distances_are_in_places_of_the_exact_value() {
    assert_eq!(ulp_distance(1.0 + f64::EPSILON, &whole(1)), 1.0);
    // One step below a power of two is half as wide as the binade's own place.
    assert_eq!(ulp_distance(1.0 - f64::EPSILON / 2.0, &whole(1)), 0.5);
    assert_eq!(ulp_distance(0.0, &whole(0)), 0.0);
    assert_eq!(ulp_distance(f64::from_bits(3), &whole(0)), 3.0);
    assert_eq!(ulp_distance(f64::NAN, &whole(1)), f64::INFINITY);
    assert_eq!(ulp_distance(-1.0, &whole(1)), 2.0 / f64::EPSILON);
}

#[test]
fn malformed_decimals_are_refused() {
    for text in
        ["", ".", "+", "-", "e5", "1e", "1e+", "1_0", "inf", "NaN", "0x1", "1e9999", "1e-9999", " 1", "1.2.3", "--1"]
    {
        assert_eq!(parse_decimal(text), None, "{text:?}");
    }
    assert_eq!(parse_decimal(&"1".repeat(5000)), None);
    assert_eq!(parse_decimal("-1.50e-1"), Some(BigRational::new((-3).into(), 20.into())));
}
