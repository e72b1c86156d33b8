//! Laws of the intervals around medians and their ratios.
#![allow(clippy::expect_used, reason = "helpers of a test fail by panicking")]

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use recount::fit::median;
use recount::fit::spread::{Change, LEVEL, RatioInterval, median_interval};

fn times() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.01_f64..100.0, 1..30)
}

fn interval(old: &[f64], new: &[f64]) -> RatioInterval {
    RatioInterval::of(old, new, LEVEL).expect("positive samples")
}

/// Within three steps of rounding.
fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 3.0 * f64::EPSILON * right.abs()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_interval_holds_its_median_and_ends_at_samples(samples in times(), level in 0.0_f64..1.0) {
        let found = median_interval(&samples, level).expect("finite samples");
        prop_assert_eq!(Some(found.median), median(&samples));
        prop_assert!(found.low <= found.median && found.median <= found.high);
        prop_assert!(samples.contains(&found.low) && samples.contains(&found.high));
        prop_assert!((0.0..1.0).contains(&found.confidence));
        let wider = median_interval(&samples, 1.0).expect("finite samples");
        prop_assert!(wider.low <= found.low && found.high <= wider.high && wider.confidence >= found.confidence);
        prop_assert!(found.confidence >= level - 1e-12 || (found.low, found.high) == (wider.low, wider.high));
    }

    #[test]
    fn a_ratio_lies_in_its_interval(old in times(), new in times()) {
        let found = interval(&old, &new);
        prop_assert!(found.low <= found.ratio && found.ratio <= found.high, "{found:?}");
    }

    #[test]
    fn samples_against_themselves_are_exactly_alike(samples in times()) {
        let found = interval(&samples, &samples);
        prop_assert_eq!(found.ratio, 1.0);
        prop_assert!(matches!(found.change(), Change::NoDifference | Change::TooFewSamples));
    }

    #[test]
    fn exchanging_the_sides_inverts_everything(old in times(), new in times()) {
        let (there, back) = (interval(&old, &new), interval(&new, &old));
        prop_assert!(near(back.ratio, 1.0 / there.ratio) && near(back.low, 1.0 / there.high));
        prop_assert!(near(back.high, 1.0 / there.low) && there.confidence == back.confidence);
        let inverted = match there.change() {
            Change::Faster => Change::Slower,
            Change::Slower => Change::Faster,
            other => other,
        };
        prop_assert_eq!(back.change(), inverted);
    }

    #[test]
    fn the_unit_of_time_does_not_matter(old in times(), new in times(), power in -20_i32..20) {
        let scaled = |samples: &[f64]| samples.iter().map(|time| time * 2.0_f64.powi(power)).collect::<Vec<_>>();
        prop_assert_eq!(interval(&scaled(&old), &scaled(&new)), interval(&old, &new));
    }
}

#[test]
fn the_confidence_is_the_share_of_all_ways_to_fall_around_the_median() {
    // Each sample is below or above the true median with one half, independently: all ways are equally likely.
    for count in 1..=14_u32 {
        for level in [0.5, 0.9, 0.95, 0.975, 0.99] {
            let samples: Vec<f64> = (1..=count).map(f64::from).collect();
            let found = median_interval(&samples, level).expect("samples");
            // Sample i is the i-th smallest; with `below` samples under the true median it lies in (below, below + 1).
            let covers = |below: u32| found.low <= f64::from(below) && f64::from(below) + 1.0 <= found.high;
            let ways = (0..1_u32 << count).filter(|way| covers(way.count_ones())).count();
            let share = ways as f64 / f64::from(1_u32 << count);
            assert_eq!(share, found.confidence, "{count} samples at {level}");
        }
    }
}

#[test]
fn seven_against_seven_reach_96_875_percent_from_end_to_end() {
    let old = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6];
    let new = [2.6, 2.5, 2.4, 2.3, 2.2, 2.1, 2.0];
    let found = interval(&old, &new);
    assert_eq!((found.ratio, found.low, found.high), (2.3 / 1.3, 2.0 / 1.6, 2.6 / 1.0));
    assert_eq!((found.confidence, found.change()), (0.96875, Change::Slower));
    assert_eq!(interval(&new, &old).change(), Change::Faster);
    assert_eq!(median_interval(&old, 0.975).expect("samples").confidence, 0.984_375);
}

#[test]
fn few_samples_reach_what_they_can() {
    let level = |old: usize, new: usize| interval(&vec![1.0; old], &vec![2.0; new]);
    for (old, new, confidence) in [(1, 7, 0.0), (2, 2, 0.0), (3, 3, 0.5), (5, 5, 0.875), (6, 6, 0.9375)] {
        assert_eq!(level(old, new).confidence, confidence, "{old} against {new}");
    }
    assert_eq!(level(1, 1000).change(), Change::TooFewSamples);
    assert_eq!(level(6, 6).change(), Change::Slower);
}

#[test]
fn many_samples_give_narrow_intervals_without_losing_the_level() {
    for count in [100, 999, 1000, 1001, 50_000] {
        let samples: Vec<f64> = (1..=count).map(f64::from).collect();
        let found = median_interval(&samples, 0.975).expect("samples");
        let width = (found.high - found.low) / f64::from(count).sqrt();
        // The normal limit is 2.24 standard deviations of 1/2 on each side; the bound for many samples gives 2.96.
        assert!((2.0..3.2).contains(&width) && found.confidence >= 0.975, "{count}: {width} {found:?}");
        assert!(found.confidence < 0.99, "{found:?}");
    }
}

#[test]
fn what_is_no_duration_has_no_interval() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(RatioInterval::of(&[1.0, bad], &[1.0], LEVEL), None, "{bad}");
        assert_eq!(RatioInterval::of(&[1.0], &[bad], LEVEL), None, "{bad}");
    }
    assert_eq!(RatioInterval::of(&[], &[1.0], LEVEL), None);
    assert_eq!(RatioInterval::of(&[f64::MIN_POSITIVE], &[f64::MAX], LEVEL), None, "beyond binary64");
}
