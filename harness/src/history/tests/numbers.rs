use proptest::prelude::*;

use crate::history::changes::{Change, Changes, FEWEST, changes};

fn found(values: &[f64]) -> Vec<usize> {
    changes(values, 0.0)
        .changes
        .iter()
        .map(|c| c.index)
        .collect()
}

/// Annual flow of the Nile at Aswan, 1871 to 1970, in 10^8 m^3: R's `datasets::Nile`, from
/// Cobb, Biometrika 65 (1978).
const NILE: [f64; 100] = [
    1120.0, 1160.0, 963.0, 1210.0, 1160.0, 1160.0, 813.0, 1230.0, 1370.0, 1140.0, 995.0, 935.0,
    1110.0, 994.0, 1020.0, 960.0, 1180.0, 799.0, 958.0, 1140.0, 1100.0, 1210.0, 1150.0, 1250.0,
    1260.0, 1220.0, 1030.0, 1100.0, 774.0, 840.0, 874.0, 694.0, 940.0, 833.0, 701.0, 916.0, 692.0,
    1020.0, 1050.0, 969.0, 831.0, 726.0, 456.0, 824.0, 702.0, 1120.0, 1100.0, 832.0, 764.0, 821.0,
    768.0, 845.0, 864.0, 862.0, 698.0, 845.0, 744.0, 796.0, 1040.0, 759.0, 781.0, 865.0, 845.0,
    944.0, 984.0, 897.0, 822.0, 1010.0, 771.0, 676.0, 649.0, 846.0, 812.0, 742.0, 801.0, 1040.0,
    860.0, 874.0, 848.0, 890.0, 744.0, 749.0, 838.0, 1050.0, 918.0, 986.0, 797.0, 923.0, 975.0,
    815.0, 1020.0, 906.0, 901.0, 1170.0, 912.0, 746.0, 919.0, 718.0, 714.0, 740.0,
];

/// Cobb (1978), and every paper since: the flow fell after 1898, and only then. Means of both
/// parts: 1097.75 and 849.97 (R: `tapply(Nile, time(Nile) > 1898, mean)`).
#[test]
fn the_nile_fell_after_1898() {
    let Changes {
        segments, changes, ..
    } = changes(&NILE, 0.0);
    assert_eq!(changes.len(), 1);
    assert_eq!(1871 + changes[0].index, 1899);
    assert!((segments[0].level - 1097.75).abs() < 0.005, "{segments:?}");
    // 1913 was the driest year, 3.1 sigmas low: no outlier yet.
    assert!((segments[1].level - 849.97).abs() < 0.005, "{segments:?}");
    // A t interval with the pooled deviation of both parts, by scipy 1.17.1:
    // stats.ttest_ind(NILE[28:], NILE[:28]).confidence_interval() is [-304.2065, -191.3490].
    // The noise is taken without values beyond 4 sigmas, so it is not quite the same.
    assert!((changes[0].low + 304.2065).abs() < 0.1, "{changes:?}");
    assert!((changes[0].high + 191.3490).abs() < 0.1, "{changes:?}");
    assert!(changes[0].p < 1e-4);
}

#[test]
fn the_nile_backwards_rose() {
    let backwards: Vec<f64> = NILE.iter().rev().copied().collect();
    assert_eq!(found(&backwards), [72]);
}

/// Noise without chance: these eight in turn have mean 0 and no trend.
fn noise(count: usize) -> Vec<f64> {
    let eight = [0.3, -1.1, 0.8, -0.4, 1.2, -0.9, 0.5, -0.4];
    eight.into_iter().cycle().take(count).collect()
}

#[test]
fn outliers_are_shown_and_are_no_change() {
    for places in [
        vec![50],
        vec![0],
        vec![103],
        vec![102, 103],
        vec![0, 1],
        vec![40, 41, 80],
    ] {
        let mut values = noise(104);
        places.iter().for_each(|at| values[*at] += 12.0);
        let Changes { segments, .. } = changes(&values, 0.0);
        assert_eq!(segments.len(), 1, "{places:?}");
        assert_eq!(segments[0].outliers, places);
        assert!(segments[0].level.abs() < 0.05, "{segments:?}");
    }
}

/// Like the well-log data of nuclear magnetic resonance that Fearnhead and Rigaill show: levels
/// with drops to far below, single and in twos.
#[test]
fn levels_are_found_among_outliers() {
    let mut values = noise(120);
    values[30..80].iter_mut().for_each(|v| *v += 9.0);
    values[80..].iter_mut().for_each(|v| *v += 5.0);
    for at in [5, 6, 29, 44, 45, 79, 80, 100, 118, 119] {
        values[at] -= 40.0;
    }
    let Changes {
        segments, changes, ..
    } = changes(&values, 0.0);
    // An outlier on the border belongs to either side.
    let near = |at: usize, place: usize| changes[at].index.abs_diff(place) <= 1;
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert!(near(0, 30) && near(1, 80), "{changes:?}");
    for (segment, level) in segments.iter().zip([0.0, 9.0, 5.0]) {
        assert!((segment.level - level).abs() < 0.2, "{segment:?}");
    }
    assert!((changes[0].low..changes[0].high).contains(&9.0));
    assert_eq!(segments.iter().map(|s| s.outliers.len()).sum::<usize>(), 10);
}

#[test]
fn three_new_points_are_enough_and_two_are_not() {
    let mut values = noise(30);
    values.extend([5.1, 4.2]);
    assert_eq!(found(&values), [0; 0]);
    values.push(4.8);
    assert_eq!(found(&values), [30]);
}

#[test]
fn values_without_noise_change_where_they_do() {
    assert_eq!(found(&[7.0; 50]), [0; 0]);
    let mut values = vec![7.0; 20];
    values.extend([7.1; 20]);
    assert_eq!(found(&values), [20]);
    values[5] = 1e300;
    assert_eq!(found(&values), [20]);
    // Known noise of single values keeps rounding from being a change.
    assert!(changes(&values, 0.1).changes.is_empty());
}

#[test]
fn short_and_broken_series_have_no_change() {
    let mut values = vec![0.0; FEWEST - 1];
    values[FEWEST - 3] = 9.0;
    for count in 0..FEWEST {
        assert_eq!(found(&values[..count]), [0; 0]);
    }
    values.extend([f64::NAN; 20]);
    let broken = changes(&values, 0.0);
    assert!(broken.changes.is_empty() && broken.sigma.is_nan());
    assert_eq!(broken.segments.len(), 1);
    assert!(changes(&[], 0.0).segments.is_empty());
}

proptest! {
    /// Of eighths, so that sums are exact: another unit and another zero change nothing.
    #[test]
    fn units_and_zero_do_not_matter(
        eighths in proptest::collection::vec(-40i32..40, 9..40),
        at in 6usize..20, step in 0i32..100, zero in -64i32..64
    ) {
        let risen = |i: usize| if i >= at { step } else { 0 };
        let values: Vec<f64> = eighths
            .iter()
            .enumerate()
            .map(|(i, v)| f64::from(v + risen(i)) / 8.0)
            .collect();
        let other: Vec<f64> = values.iter().map(|v| 4.0 * (v + f64::from(zero))).collect();
        let (one, two) = (changes(&values, 0.0), changes(&other, 0.0));
        prop_assert_eq!(&one, &changes(&values, 0.0));
        prop_assert_eq!(one.changes.len(), two.changes.len());
        for (a, b) in one.changes.iter().zip(&two.changes) {
            prop_assert_eq!(a.index, b.index);
            prop_assert!((4.0 * a.size - b.size).abs() < 1e-9);
        }
        // Levels are tried from the lowest on, so upside down they are others: only a change that is
        // just about one may be seen one way and not the other.
        let upside_down: Vec<f64> = values.iter().map(|v| -v).collect();
        let turned = changes(&upside_down, 0.0).changes;
        let doubtful = |changes: &[Change]| changes.iter().any(|change| change.p > 0.005);
        prop_assert!(
            one.changes.len() == turned.len() || doubtful(&one.changes) || doubtful(&turned),
            "{:?} {turned:?}", one.changes
        );
    }

    #[test]
    fn any_numbers_are_divided_without_gaps(
        values in proptest::collection::vec(proptest::num::f64::ANY, 0..60), least in 0.0f64..2.0
    ) {
        let Changes { segments, changes, .. } = changes(&values, least);
        prop_assert_eq!(changes.len(), segments.len().saturating_sub(1));
        let mut end = 0;
        for segment in &segments {
            prop_assert_eq!(segment.start, end);
            end = segment.end;
        }
        prop_assert_eq!(end, if values.is_empty() { 0 } else { values.len() });
        for change in &changes {
            prop_assert!(change.low <= change.size && change.size <= change.high);
            prop_assert!(change.p > 0.0 && change.p <= 0.01 + 1e-9);
        }
    }
}
