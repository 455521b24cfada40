//! Values from outside, and what must hold of any comparison.

use super::*;

fn boots(values: &[f64]) -> Vec<Boot> {
    (0..)
        .zip(values)
        .map(|(round, &value)| Boot { round, value })
        .collect()
}

fn contrast(base: &[f64], variant: &[f64]) -> Contrast {
    Contrast::of(&boots(base), &boots(variant)).unwrap()
}

const BASE: &[f64] = &[10.1, 9.8, 10.3, 9.9, 10.0];
const VARIANT: &[f64] = &[10.4, 10.6, 10.2, 10.7, 10.5];

#[test]
fn with_normal_noise_it_is_students_test_stretched() {
    // scipy 1.17.1: ttest_ind(VARIANT, BASE).statistic = 3.7811767080232253, 8 degrees of
    // freedom; the deviances then differ by 10 ln(1 + t^2 / 8) = 10.250239. At a stretch of
    // 1.03, p = 2 * t.sf(sqrt(8 * expm1(10.250239 / 10 / 1.03)), 8).
    let found = contrast(BASE, VARIANT);
    assert_eq!(found.shape(), Shape::Normal);
    assert!((found.estimate() - 0.46).abs() < 1e-12);
    let t = (8.0 * (found.worse(0.0) / 10.0).exp_m1()).sqrt();
    assert!((t - 3.781_176_708).abs() < 1e-8, "{t}");
    let p = found.p(0.0);
    assert!((p - 0.006_099_977_4).abs() < 1e-8, "{p}");
    let (low, high) = found.interval(0.95).unwrap();
    assert!(
        (low - 0.174_101_37).abs() < 1e-4 && (high - 0.745_898_63).abs() < 1e-4,
        "{low} {high}"
    );
}

#[test]
fn the_interval_is_what_the_test_does_not_refuse() {
    let skewed = [1.0, 1.2, 0.98, 1.1, 1.02, 0.97, 2.4, 1.6, 1.01, 1.9];
    let shifted = [1.3, 1.52, 1.27, 1.38, 3.1, 1.33, 1.29, 1.31, 1.6, 1.35];
    for (base, variant) in [(BASE, VARIANT), (&skewed[..], &shifted[..])] {
        let found = contrast(base, variant);
        for level in [0.90, 0.95, 0.99] {
            let (low, high) = found.interval(level).unwrap();
            let step = 1e-3 * (high - low);
            assert!(low < found.estimate() && found.estimate() < high);
            for (inside, outside) in [(low + step, low - step), (high - step, high + step)] {
                assert!(found.p(inside) > 1.0 - level, "{level} {low} {high}");
                assert!(found.p(outside) <= 1.0 - level, "{level} {low} {high}");
            }
        }
    }
}

#[test]
fn one_boot_far_off_does_not_hide_a_shift_and_does_not_make_one() {
    // Student's p here is 0.118 (scipy 1.17.1: ttest_ind), for the one boot at 14.
    let mut variant = VARIANT.to_vec();
    variant[2] = 14.0;
    let found = contrast(BASE, &variant);
    assert_eq!(found.shape(), Shape::Heavy);
    assert!(found.p(0.0) < 0.05, "{}", found.p(0.0));
    assert!((found.estimate() - 0.5).abs() < 0.1, "{}", found.estimate());
    let mut same = BASE.to_vec();
    same[2] = 14.0;
    assert!(contrast(BASE, &same).p(0.0) > 0.3);
}

#[test]
fn it_does_not_matter_where_zero_is_what_the_unit_is_and_which_side_is_base() {
    let found = contrast(BASE, VARIANT);
    let moved = |values: &[f64]| values.iter().map(|v| 3.0 * v - 7.0).collect::<Vec<_>>();
    let other = contrast(&moved(BASE), &moved(VARIANT));
    assert!((found.p(0.0) - other.p(0.0)).abs() < 1e-9);
    assert!((3.0 * found.estimate() - other.estimate()).abs() < 1e-9);
    let turned = contrast(VARIANT, BASE);
    assert!((found.p(0.1) - turned.p(-0.1)).abs() < 1e-9);
}

#[test]
fn a_drift_that_both_share_is_taken_out() {
    // 1 a round on both sides, and 0.3 between them with the noise of BASE and VARIANT.
    let drifting = |values: &[f64]| {
        (0..)
            .zip(values)
            .map(|(i, v)| v + f64::from(i))
            .collect::<Vec<_>>()
    };
    let found = contrast(&drifting(BASE), &drifting(VARIANT));
    assert!(
        (found.estimate() - 0.46).abs() < 1e-9,
        "{}",
        found.estimate()
    );
    assert!(found.p(0.0) < 0.02, "{}", found.p(0.0));
}

#[test]
fn five_boots_never_alarm_alone_among_three_hundred_cells_when_some_are_weighed_less() {
    // Ranks: 1 of 126 arrangements, two-sided 0.0079; at the power of 1.5 that is 0.0007.
    let found = contrast(
        &[1.0, 1.001, 0.999, 1.002, 5.0],
        &[9.0, 9.001, 8.999, 9.002, 9.003],
    );
    assert_ne!(found.shape(), Shape::Normal);
    assert!((found.p(0.0) - (2.0f64 / 252.0).powf(1.5)).abs() < 1e-12);
}

#[test]
fn two_boots_a_side_settle_nothing_and_without_spread_there_is_no_answer() {
    assert!(contrast(&[1.0, 1.01], &[2.0, 2.01]).p(0.0) > 0.05);
    assert!(Contrast::of(&boots(&[1.0; 5]), &boots(&[2.0; 5])).is_none());
    assert!(Contrast::of(&boots(&[1.0]), &boots(&[2.0, 2.1])).is_none());
    // Spread on one side alone is spread.
    assert!(Contrast::of(&boots(&[1.0; 5]), &boots(&[2.0, 2.1, 2.2, 2.0, 2.1])).is_some());
}

#[test]
fn among_cells_in_two_modes_ranks_are_trusted_instead() {
    // scipy 1.17.1: mannwhitneyu(BASE, VARIANT + 0.3, method="exact").pvalue = 0.0079365.
    let apart: Vec<f64> = VARIANT.iter().map(|v| v + 0.3).collect();
    let alone = contrast(BASE, &apart);
    let found = alone.tests(0.0);
    assert!((found.ranks - 2.0 / 252.0).abs() < 1e-12);
    assert!(alone.p(0.0) < 0.001, "{}", alone.p(0.0));
    for share in [0.25, 1.0] {
        let least = (1.0 - share) * (2.0f64 / 252.0).powi(2) + share * 2.0 / 252.0;
        let p = alone.clone().among(share).p(0.0);
        assert!((p - least).abs() < 1e-12, "{share} {p}");
    }
}

#[test]
fn a_trend_that_is_believed_may_be_given_up_when_the_shift_is_held() {
    // numpy 2.4.6, linalg.lstsq, as 10 ln(2 pi s^2) + 10: with level, line and shift 17.382643;
    // with level and line 27.442255, and level alone 31.397579. The line costs 8.
    let found = contrast(&[8.7, 9.4, 9.4, 10.6, 10.3], &[9.3, 11.1, 12.4, 11.7, 11.5]);
    assert_eq!((found.freedom(), found.shape()), (7, Shape::Normal));
    let worse = found.worse(0.0);
    assert!(
        (worse - (31.397_579 - 17.382_643 - 8.0)).abs() < 1e-5,
        "{worse}"
    );
}
