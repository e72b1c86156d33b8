//! Laws that the fit, the folds and the policy obey on any data, and degenerate cases by hand.
#![allow(clippy::expect_used, reason = "helpers of a test fail by panicking")]

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use recount::fit::exact::{self, ExactOutcome, ExactRow, GroupSums, nearest_f64, rational};
use recount::fit::folds::leave_one_group_out;
use recount::fit::metrics::{Metrics, PolicyOutcome};
use recount::fit::nnls::{self, Row, SubsetOutcome};
use recount::fit::policy::decide;
use recount::fit::{Facts, FitError, Geometry, MAX_FEATURES, Schedule, median};

fn row(group: usize, features: &[f64], observed: f64) -> Row {
    Row { group, features: features.to_vec(), observed }
}

fn exactly(rows: &[Row]) -> Vec<ExactRow> {
    let number = |value: &f64| rational(*value).expect("finite");
    rows.iter()
        .map(|row| ExactRow {
            group: row.group,
            features: row.features.iter().map(number).collect(),
            observed: number(&row.observed),
        })
        .collect()
}

fn exact_fit(rows: &[Row]) -> exact::ExactFit {
    GroupSums::accumulate(&exactly(rows)).expect("rows that sum up").fit(None).expect("a fit")
}

fn whole(value: i64) -> BigRational {
    BigRational::from_integer(value.into())
}

/// Four groups of three rows, whose features are `[1, small, larger]`.
fn some_rows() -> impl Strategy<Value = Vec<Row>> {
    let one = (1_u32..400, 1_u32..60_000, 0.5_f64..8.0);
    prop::collection::vec(one, 12).prop_map(|rows| {
        rows.into_iter()
            .enumerate()
            .map(|(at, (small, larger, observed))| row(at / 3, &[1.0, f64::from(small), f64::from(larger)], observed))
            .collect()
    })
}

/// Few small integers: collinear columns, zero columns, zero coefficients and ties are common among these.
fn degenerate_rows() -> impl Strategy<Value = Vec<Row>> {
    (1_usize..6).prop_flat_map(|width| {
        let one = (0_usize..3, prop::collection::vec(-1_i8..3, width), -3_i8..4);
        prop::collection::vec(one, 1..9).prop_map(|rows| {
            rows.into_iter()
                .map(|(group, features, observed)| {
                    row(group, &features.into_iter().map(f64::from).collect::<Vec<_>>(), f64::from(observed))
                })
                .collect()
        })
    })
}

/// Any magnitude, harmless numbers beside them, now and then no number at all.
fn hostile() -> impl Strategy<Value = f64> {
    prop_oneof![
        40 => any::<f64>().prop_map(|value| value.clamp(-1e150, 1e150)),
        40 => -1e3..1e3,
        20 => (-3_i8..4).prop_map(f64::from),
        5 => any::<f64>(),
        1 => prop::num::f64::ANY,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_held_out_changes_nothing_in_its_fold(rows in some_rows(), held in 0_usize..4) {
        let mut changed = rows.clone();
        for row in changed.iter_mut().filter(|row| row.group == held) {
            row.observed *= 100.0;
        }
        let before = leave_one_group_out(&rows, &[held]).expect("a fold");
        let after = leave_one_group_out(&changed, &[held]).expect("a fold");
        prop_assert_eq!(before, after);
        let sums = |rows: &[Row]| GroupSums::accumulate(&exactly(rows)).expect("rows that sum up");
        prop_assert_eq!(sums(&rows).fit(Some(held)), sums(&changed).fit(Some(held)));
    }

    #[test]
    fn a_fold_holds_all_rows_of_its_group_and_no_other(rows in some_rows(), held in 0_usize..4) {
        let fold = leave_one_group_out(&rows, &[held]).expect("a fold").remove(0);
        let own: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].group == held).collect();
        prop_assert_eq!((fold.held, fold.held_rows), (held, own));
    }

    #[test]
    fn more_rows_of_one_geometry_give_it_no_more_weight(rows in some_rows(), group in 0_usize..4) {
        let mut doubled = rows.clone();
        doubled.extend(rows.iter().filter(|row| row.group == group).cloned());
        prop_assert_eq!(exact_fit(&rows), exact_fit(&doubled));
        let (once, twice) = (nnls::fit(&rows).expect("a fit"), nnls::fit(&doubled).expect("a fit"));
        prop_assert_eq!(once.active_mask, twice.active_mask);
        // Rounding errors are relative to the scaled coefficients as a whole, not to each.
        let scaled = |fit: &nnls::Fit| -> Vec<f64> {
            fit.coefficients.iter().zip(&once.scales).map(|(coefficient, scale)| coefficient * scale).collect()
        };
        let (once_scaled, twice_scaled) = (scaled(&once), scaled(&twice));
        let largest = once_scaled.iter().copied().fold(0.0, f64::max);
        for (left, right) in once_scaled.iter().zip(&twice_scaled) {
            prop_assert!((left - right).abs() <= 1e-12 * largest, "{} {}", left, right);
        }
    }

    #[test]
    fn the_order_of_rows_does_not_reach_the_exact_fit(
        (rows, shuffled) in some_rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        prop_assert_eq!(exact_fit(&rows), exact_fit(&shuffled));
    }

    #[test]
    fn the_order_of_rows_reaches_no_bit_of_the_binary64_fits(
        (rows, shuffled) in some_rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        prop_assert_eq!(nnls::fit(&rows), nnls::fit(&shuffled));
        let folds = |rows: &[Row]| -> Vec<nnls::Fit> {
            leave_one_group_out(rows, &[0, 1, 2, 3]).expect("folds").into_iter().map(|fold| fold.fit).collect()
        };
        prop_assert_eq!(folds(&rows), folds(&shuffled));
    }

    #[test]
    fn a_binary64_fold_is_the_fit_without_its_rows(rows in some_rows(), held in 0_usize..4) {
        let kept: Vec<Row> = rows.iter().filter(|row| row.group != held).cloned().collect();
        let direct = nnls::fit(&kept).expect("a fit");
        let fold = leave_one_group_out(&rows, &[held]).expect("a fold").remove(0).fit;
        prop_assert_eq!((fold.active_mask, fold.rank), (direct.active_mask, direct.rank));
        // Carried to some thirty digits, both round to the same number but where it lies halfway between two.
        let near = |left: f64, right: f64| (left - right).abs() <= f64::EPSILON * right.abs();
        prop_assert!(fold.coefficients.iter().zip(&direct.coefficients).all(|(left, right)| near(*left, *right)));
        prop_assert!(near(fold.weighted_sse, direct.weighted_sse));
        prop_assert!(fold.scales.iter().zip(&direct.scales).all(|(left, right)| near(*left, *right)));
        for (left, right) in fold.subsets.iter().zip(&direct.subsets) {
            let kinds = (std::mem::discriminant(&left.outcome), std::mem::discriminant(&right.outcome));
            prop_assert_eq!(kinds.0, kinds.1, "subset {}", left.mask);
        }
    }

    #[test]
    fn binary64_coefficients_and_errors_are_the_exact_ones_rounded(rows in some_rows()) {
        let (binary, exact) = (nnls::fit(&rows).expect("a fit"), exact_fit(&rows));
        for (binary, exact) in binary.subsets.iter().zip(&exact.subsets) {
            if let (
                SubsetOutcome::Feasible { coefficients, weighted_sse, .. },
                ExactOutcome::Feasible { coefficients: exact, weighted_sse: exact_sse },
            ) = (&binary.outcome, &exact.outcome)
            {
                for (value, exact) in coefficients.iter().zip(exact) {
                    prop_assert!(exact::ulp_distance(*value, exact) < 0.500_001, "{} {}", value, exact);
                }
                // Of the rounded coefficients: what their rounding adds is of second order.
                prop_assert!(exact::ulp_distance(*weighted_sse, exact_sse) < 1.0, "{} {}", weighted_sse, exact_sse);
            }
        }
    }

    #[test]
    fn sums_of_binary64_rows_are_those_of_their_exact_values(
        rows in prop::collection::vec((0_usize..3, prop::collection::vec(hostile(), 2), hostile()), 1..9),
    ) {
        let rows: Vec<Row> = rows.iter().map(|(group, features, observed)| row(*group, features, *observed)).collect();
        let finite = rows.iter().all(|row| row.features.iter().chain([&row.observed]).all(|value| value.is_finite()));
        let sums = GroupSums::of_binary64(&rows);
        prop_assert_eq!(sums.is_ok(), finite);
        if let Ok(sums) = sums {
            let general = GroupSums::accumulate(&exactly(&rows)).expect("rows that sum up");
            for excluded in [None, Some(0), Some(1), Some(2)] {
                prop_assert_eq!(sums.fit(excluded), general.fit(excluded));
            }
        }
    }

    #[test]
    fn scaling_what_was_observed_scales_the_exact_coefficients(rows in some_rows(), factor in 1_i64..1000) {
        let mut scaled = exactly(&rows);
        for row in &mut scaled {
            row.observed *= whole(factor);
        }
        let scaled = GroupSums::accumulate(&scaled).expect("rows that sum up").fit(None).expect("a fit");
        let plain = exact_fit(&rows);
        prop_assert_eq!(plain.mask, scaled.mask);
        let coefficients: Vec<_> = plain.coefficients.iter().map(|value| value * whole(factor)).collect();
        prop_assert_eq!(coefficients, scaled.coefficients);
        prop_assert_eq!(plain.weighted_sse * whole(factor) * whole(factor), scaled.weighted_sse);
    }

    #[test]
    fn a_fold_is_the_fit_without_its_rows(rows in some_rows(), held in 0_usize..4) {
        let kept: Vec<Row> = rows.iter().filter(|row| row.group != held).cloned().collect();
        let sums = GroupSums::accumulate(&exactly(&rows)).expect("rows that sum up");
        prop_assert_eq!(sums.fit(Some(held)).expect("a fit"), exact_fit(&kept));
    }

    #[test]
    fn binary64_and_exact_agree_on_degenerate_data(rows in degenerate_rows()) {
        let (binary, exact) = (nnls::fit(&rows).expect("a fit"), exact_fit(&rows));
        prop_assert!(exact.kkt_holds);
        prop_assert!(binary.kkt.holds, "{:?}", binary);
        prop_assert_eq!(binary.active_mask, exact.mask);
        for (binary, exact) in binary.subsets.iter().zip(&exact.subsets) {
            match (&binary.outcome, &exact.outcome) {
                (SubsetOutcome::RankDeficient { rank }, ExactOutcome::RankDeficient { rank: exact }) => {
                    prop_assert_eq!(rank, exact);
                }
                (SubsetOutcome::NegativeActive, ExactOutcome::NegativeActive) => {}
                (
                    SubsetOutcome::Feasible { coefficients, .. },
                    ExactOutcome::Feasible { coefficients: exact, .. },
                ) => {
                    for (value, exact) in coefficients.iter().zip(exact) {
                        prop_assert!((value - nearest_f64(exact)).abs() < 1e-12);
                    }
                }
                (binary, exact) => prop_assert!(false, "{:?} against {:?}", binary, exact),
            }
        }
    }

    #[test]
    fn hostile_numbers_give_a_result_or_an_error(
        rows in prop::collection::vec((0_usize..3, prop::collection::vec(hostile(), 3), hostile()), 0..6),
    ) {
        let rows: Vec<Row> = rows.iter().map(|(group, features, observed)| row(*group, features, *observed)).collect();
        if let Ok(fit) = nnls::fit(&rows) {
            prop_assert!(fit.coefficients.iter().all(|value| value.is_finite() && *value >= 0.0));
            prop_assert!(fit.weighted_sse.is_finite() && fit.kkt.worst_violation.is_finite());
            let exact = exact_fit(&rows);
            prop_assert!(exact.kkt_holds);
        }
        let _ = nnls::least_squares(&rows);
    }
}

#[test]
fn a_bound_that_holds_is_found_at_zero() {
    // y = 2 - x at x = 0, 1, 2: the slope wants to be -1, so the best nonnegative model is the mean.
    let rows: Vec<Row> = (0..3).map(|x| row(0, &[1.0, f64::from(x)], 2.0 - f64::from(x))).collect();
    let exact = exact_fit(&rows);
    assert_eq!((exact.mask, exact.coefficients.clone()), (1, vec![whole(1), whole(0)]));
    assert_eq!(exact.weighted_sse, BigRational::new(2.into(), 3.into()));
    assert_eq!(exact.subsets[3].outcome, ExactOutcome::NegativeActive);
    // Through the origin: 1 * 1 + 2 * 0 over 1 + 4.
    let through_origin = ExactOutcome::Feasible {
        coefficients: vec![whole(0), BigRational::new(1.into(), 5.into())],
        weighted_sse: BigRational::new(8.into(), 5.into()),
    };
    assert_eq!(exact.subsets[2].outcome, through_origin);
    let fit = nnls::fit(&rows).expect("a fit");
    assert_eq!(fit.active_mask, 1);
    assert!((fit.coefficients[0] - 1.0).abs() < 1e-15 && fit.coefficients[1] == 0.0);
    assert!(fit.kkt.holds && fit.kkt.gradient[1] > 0.0);
}

#[test]
fn negative_targets_leave_nothing_active() {
    let rows: Vec<Row> = (1..6).map(|x| row(x, &[1.0, x as f64, (x * x) as f64], -(x as f64))).collect();
    let (fit, exact) = (nnls::fit(&rows).expect("a fit"), exact_fit(&rows));
    assert_eq!((fit.active_mask, fit.coefficients), (0, vec![0.0; 3]));
    assert_eq!((exact.mask, exact.coefficients), (0, vec![whole(0); 3]));
    assert!(exact.weighted_sse.is_positive());
}

#[test]
fn collinear_columns_are_reported_with_their_rank() {
    let rows: Vec<Row> = (1..6).map(|x| row(x, &[1.0, x as f64, 3.0 * x as f64], x as f64)).collect();
    let fit = nnls::fit(&rows).expect("a fit");
    assert_eq!(fit.rank, 2);
    assert_eq!(fit.subsets[7].outcome, SubsetOutcome::RankDeficient { rank: 2 });
    assert_eq!(fit.subsets[6].outcome, SubsetOutcome::RankDeficient { rank: 1 });
    let exact = exact_fit(&rows);
    assert_eq!(exact.subsets[7].outcome, ExactOutcome::RankDeficient { rank: 2 });
    // Both single columns fit perfectly; the smaller mask is chosen.
    assert_eq!((fit.active_mask, exact.mask), (2, 2));
    let deficient = Err(FitError::RankDeficient { rank: 2, columns: 3 });
    assert_eq!(nnls::least_squares(&rows), deficient);
    assert_eq!(exact::least_squares(&exactly(&rows)).map(|_| Vec::<f64>::new()), deficient);
}

#[test]
fn a_column_of_zeros_is_rank_deficient_and_harmless() {
    let rows = [row(0, &[1.0, 0.0], 2.0), row(1, &[1.0, 0.0], 4.0)];
    let fit = nnls::fit(&rows).expect("a fit");
    assert_eq!(fit.scales, [1.0, 1.0]);
    assert_eq!(fit.subsets[2].outcome, SubsetOutcome::RankDeficient { rank: 0 });
    assert!((fit.coefficients[0] - 3.0).abs() < 1e-14);
}

#[test]
fn one_row_and_equal_rows_are_fitted() {
    let one = [row(7, &[1.0, 4.0, 16.0], 2.0)];
    for rows in [one.to_vec(), vec![one[0].clone(); 5]] {
        let fit = nnls::fit(&rows).expect("a fit");
        assert_eq!((fit.active_mask, fit.rank), (1, 1));
        assert!((fit.coefficients[0] - 2.0).abs() < 1e-14);
        assert_eq!(exact_fit(&rows).coefficients, [whole(2), whole(0), whole(0)]);
    }
}

#[test]
fn extreme_columns_are_neither_lost_nor_infinite() {
    for size in [1e-300, 1e-200, 1e200, 1e300] {
        let rows: Vec<Row> = (1..5).map(|x| row(0, &[1.0, size * x as f64], 1.0 + x as f64)).collect();
        let fit = nnls::fit(&rows).expect("a fit");
        assert_eq!((fit.active_mask, fit.rank), (3, 2), "{size}");
        assert!((fit.coefficients[1] * size - 1.0).abs() < 1e-12, "{size}");
    }
    let rows = [row(0, &[1.0], 1e200), row(0, &[1.0], -1e200)];
    assert!(matches!(nnls::fit(&rows), Err(FitError::OutOfRange { .. })));
    let tiny = [row(0, &[1.0], 1e-200), row(0, &[1.0], 3e-200)];
    assert_eq!(nnls::fit(&tiny).map(|fit| fit.active_mask), Ok(0), "all errors tie at this size");
    assert_eq!(exact_fit(&tiny).mask, 1);
}

#[test]
fn what_cannot_be_fitted_is_an_error() {
    let fit = |rows: &[Row]| nnls::fit(rows).expect_err("no fit");
    assert_eq!(fit(&[]), FitError::NoRows);
    assert_eq!(fit(&[row(0, &[], 1.0)]), FitError::NoFeatures);
    assert_eq!(fit(&[row(0, &[1.0; 13], 1.0)]), FitError::TooManyFeatures { found: 13, limit: MAX_FEATURES });
    assert_eq!(
        fit(&[row(0, &[1.0], 1.0), row(0, &[1.0, 2.0], 1.0)]),
        FitError::UnequalRows { row: 1, expected: 1, found: 2 }
    );
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(fit(&[row(0, &[1.0], 1.0), row(0, &[bad], 1.0)]), FitError::NotFinite { row: 1 });
        assert_eq!(fit(&[row(0, &[1.0], bad)]), FitError::NotFinite { row: 0 });
        assert_eq!(rational(bad), None);
    }
    assert_eq!(leave_one_group_out(&[row(0, &[1.0], 1.0)], &[0]), Err(FitError::NoRows));
    assert_eq!(leave_one_group_out(&[row(0, &[1.0], 1.0)], &[1]), Err(FitError::UnknownGroup { group: 1 }));
    let sums = GroupSums::accumulate(&exactly(&[row(0, &[1.0], 1.0)])).expect("rows that sum up");
    assert_eq!(sums.fit(Some(0)), Err(FitError::NoRows));
    assert_eq!(sums.fit(Some(1)), Err(FitError::UnknownGroup { group: 1 }));
    let raw =
        ExactRow { group: 0, features: vec![BigRational::one()], observed: BigRational::new_raw(1.into(), 0.into()) };
    assert_eq!(GroupSums::accumulate(&[raw]).map(|_| ()), Err(FitError::NotFinite { row: 0 }));
    let wide: Vec<Row> = (0..12)
        .map(|at| row(0, &[1e300, 1e-300, f64::from(at), 0.1, 0.2, 0.3, 1e-200, 1e200, 1.0, 2.0, 3.0, 4.0], 1e-300))
        .collect();
    let sums = GroupSums::accumulate(&exactly(&wide)).expect("rows that sum up");
    assert!(matches!(sums.fit(None), Err(FitError::TooLong { .. })));
}

#[test]
fn the_median_of_an_even_count_is_the_mean_of_the_middle_two() {
    assert_eq!(median(&[400.0, 100.0, 300.0, 200.0]), Some(250.0));
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    assert_eq!(median(&[5.0]), Some(5.0));
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[1.0, f64::NAN, 2.0]), None);
    assert_eq!(median(&[f64::NEG_INFINITY, f64::INFINITY]), None);
}

#[test]
fn a_saving_must_exceed_the_fraction_and_ties_keep_the_earlier() {
    use Schedule::{Default, Rows1, Rows2};
    let cases = [
        ([1.0, 0.95, 1.0], Default),
        ([100.0, 95.0, 96.0], Default),
        ([1.0, 0.949, 2.0], Rows1),
        ([1.0, 1.0, 1.0], Default),
        ([1.0, 0.5, 0.5], Rows1),
        ([1.0, 0.5, 0.4], Rows2),
        ([1.0, 2.0, 0.4], Rows2),
        ([1.0, 2.0, 3.0], Default),
    ];
    for (scores, selected) in cases {
        let decision = decide(scores, 0.05).expect("a decision");
        assert_eq!(decision.selected, selected, "{scores:?}");
        assert_eq!(decision.improves, selected != Default);
        let lowest = scores.into_iter().fold(f64::INFINITY, f64::min);
        assert_eq!(decision.predicted_ratio, if decision.improves { lowest / scores[0] } else { 1.0 });
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(decide([1.0, bad, 1.0], 0.05), Err(FitError::Score { schedule: "rows1", .. })));
    }
    for bad in [-0.1, 1.0, f64::NAN] {
        assert!(matches!(decide([1.0; 3], bad), Err(FitError::ImprovementFraction(_))));
    }
}

#[test]
fn metrics_weigh_geometries_equally() {
    let outcome = |group: &str, selected, ratio| PolicyOutcome { group: group.to_owned(), selected, ratio };
    let metrics = Metrics::of(&[
        outcome("a", Schedule::Rows1, 0.25),
        outcome("a", Schedule::Rows1, 1.0),
        outcome("b", Schedule::Default, 2.0),
        outcome("c", Schedule::Rows2, 1.05),
        outcome("c", Schedule::Rows2, 1.06),
    ])
    .expect("metrics");
    assert_eq!((metrics.cases, metrics.groups, metrics.selected), (5, 3, 4));
    // The default's 2.0 is no regression of a selection; 1.05 is one, but not over five percent.
    assert_eq!((metrics.selected_regressions, metrics.selected_regressions_over_five_percent), (2, 1));
    assert_eq!(metrics.worst_policy_ratio, 2.0);
    let expected = (0.5 * 2.0 * (1.05_f64 * 1.06).sqrt()).cbrt();
    assert!((metrics.geometry_equal_weight_policy_geomean - expected).abs() < 1e-15);
    assert_eq!(Metrics::of(&[]), Err(FitError::NoRows));
    assert!(matches!(Metrics::of(&[outcome("a", Schedule::Rows1, 0.0)]), Err(FitError::Ratio { case: 0, .. })));
}

#[test]
fn facts_refuse_what_they_cannot_hold() {
    let geometry = Geometry { rows: 17, columns: 1024, block: 4, width: 1024 };
    assert_eq!(geometry.key(), "[17,1024,4,1024]");
    let of = |geometry, schedule, size, sms| Facts::of(geometry, schedule, size, sms).map(|facts| facts.programs);
    assert_eq!(of(geometry, Schedule::Default, 2, 24), Ok(5));
    assert_eq!(of(geometry, Schedule::Rows2, 2, 24), Ok(9));
    for empty in
        [Geometry { rows: 0, ..geometry }, Geometry { block: 0, ..geometry }, Geometry { width: 0, ..geometry }]
    {
        assert!(matches!(of(empty, Schedule::Rows1, 2, 24), Err(FitError::Zero { .. })));
    }
    assert!(matches!(of(geometry, Schedule::Rows1, 0, 24), Err(FitError::Zero { .. })));
    assert!(matches!(of(geometry, Schedule::Rows1, 2, 0), Err(FitError::Zero { .. })));
    let huge = Geometry { rows: u64::MAX, columns: u64::MAX, block: u64::MAX, width: u64::MAX };
    for schedule in Schedule::ALL {
        assert!(matches!(of(huge, schedule, 4, 1), Err(FitError::Overflow { .. })));
    }
}

#[test]
fn unconstrained_coefficients_may_be_negative() {
    let rows: Vec<Row> = (0..4).map(|x| row(0, &[1.0, f64::from(x)], 5.0 - 2.0 * f64::from(x))).collect();
    assert_eq!(exact::least_squares(&exactly(&rows)), Ok(vec![whole(5), whole(-2)]));
    let binary = nnls::least_squares(&rows).expect("determined");
    assert!((binary[0] - 5.0).abs() < 1e-14 && (binary[1] + 2.0).abs() < 1e-14);
    assert!(BigRational::zero() > whole(-2));
}
