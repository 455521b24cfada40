//! What a change must save to be one, by the length of the series.
//!
//! Quantiles of the most that a change saves in unchanged series, made by `bench/changepoints
//! --calibrate`: of each length 40,000 series of normal noise, and 40,000 where one value in twenty
//! lies ten sigmas above; the larger quantile of both.

use super::part::BOUND;

/// Lengths, with the penalty, and with what is exceeded in 1 % and in 0.1 % of unchanged series.
const TABLE: [(usize, [f64; 3]); 20] = [
    (9, [13.63, 13.63, 34.09]),
    (10, [17.19, 17.19, 40.56]),
    (11, [16.11, 16.11, 39.87]),
    (12, [17.29, 17.29, 39.23]),
    (13, [16.02, 16.02, 38.67]),
    (14, [17.23, 17.23, 38.04]),
    (16, [16.60, 16.60, 33.17]),
    (18, [16.46, 16.46, 32.68]),
    (20, [16.48, 16.48, 29.28]),
    (23, [15.78, 15.78, 27.84]),
    (26, [15.86, 15.86, 27.28]),
    (30, [15.67, 15.67, 28.66]),
    (33, [15.76, 15.76, 26.31]),
    (35, [15.52, 15.52, 24.07]),
    (42, [15.36, 15.36, 25.06]),
    (52, [16.76, 15.24, 24.71]),
    (70, [16.26, 15.07, 22.39]),
    (104, [16.57, 15.29, 23.76]),
    (200, [16.67, 15.50, 24.39]),
    (500, [17.67, 16.40, 27.53]),
];

/// Up to this length, one unchanged series in a hundred alarms. Longer ones show a change easily
/// enough to alarm less often.
const SHORT: usize = 42;
/// The least chance that is told.
const LEAST_CHANCE: f64 = 1e-6;

/// The share of unchanged series of `count` values that show a change.
pub fn alarms(count: usize) -> f64 {
    if count <= SHORT { 0.01 } else { 0.006 }
}

/// The penalty for a change in a series of `count` values, in squares of sigma: more than an outlier
/// costs, so that two at the end never are a change.
pub fn penalty(count: usize) -> f64 {
    at(count)[0].max(BOUND + 0.5)
}

/// The chance that in an unchanged series of `count` values some change saves `saved`, from 1 down
/// to 0.000001; beyond the table its tail goes on at the same rate.
pub fn chance(count: usize, saved: f64) -> f64 {
    let [_, percent, permille] = at(count);
    let steps = (saved - percent) / (permille - percent);
    (0.01 * 0.1f64.powf(steps)).clamp(LEAST_CHANCE, 1.0)
}

/// The quantiles, on lines over the logarithm of the length: between the rows of the table, and
/// beyond its end on the line of the last two, as maxima grow. Shorter series than the first show
/// no change.
fn at(count: usize) -> [f64; 3] {
    let after = TABLE.partition_point(|row| row.0 < count);
    let after = after.clamp(1, TABLE.len() - 1);
    let (a, b) = (TABLE[after - 1], TABLE[after]);
    let log = |count: usize| (count as f64).ln();
    let share = (log(count.max(a.0)) - log(a.0)) / (log(b.0) - log(a.0));
    [0, 1, 2].map(|i| a.1[i] + share * (b.1[i] - a.1[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn penalties_are_those_of_the_table_and_lie_between_them() {
        for row in TABLE {
            assert!((penalty(row.0) - row.1[0].max(15.0)).abs() < 1e-9);
            assert!((chance(row.0, row.1[1]) - 0.01).abs() < 1e-12);
            assert!((chance(row.0, row.1[2]) - 0.001).abs() < 1e-12);
        }
        assert_eq!(penalty(0), 15.0);
        // As much above 500 as 500 is above 200, in logarithms.
        assert!((penalty(1_250) - (17.67 + (17.67 - 16.67))).abs() < 1e-9);
        assert_eq!(chance(104, 1e9), 1e-6);
        assert!(chance(104, 0.0) <= 1.0 && chance(104, 0.0) > 0.1);
        let (a, b) = (penalty(16), penalty(18));
        assert!((penalty(17) - (a + b) / 2.0).abs() < 0.02 * (a - b).abs());
    }
}
