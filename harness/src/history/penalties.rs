//! What a change must save to be one, by the length of the series.
//!
//! Quantiles of the most that a change saves in unchanged series, made by `bench/changepoints
//! --calibrate`: of each length 40,000 series of normal noise, and 40,000 where one value in twenty
//! lies ten sigmas above; the larger quantile of both.

/// Lengths, with the penalty, and with what is exceeded in 1 % and in 0.1 % of unchanged series.
const TABLE: [(usize, [f64; 3]); 20] = [
    (9, [14.71, 14.71, 35.12]),
    (10, [17.14, 17.14, 40.04]),
    (11, [17.43, 17.43, 40.88]),
    (12, [17.47, 17.47, 39.18]),
    (13, [16.87, 16.87, 40.30]),
    (14, [17.42, 17.42, 38.04]),
    (16, [16.71, 16.71, 33.63]),
    (18, [16.49, 16.49, 32.81]),
    (20, [16.54, 16.54, 29.28]),
    (23, [15.98, 15.98, 28.18]),
    (26, [15.91, 15.91, 27.28]),
    (30, [15.69, 15.69, 28.71]),
    (33, [15.87, 15.87, 26.32]),
    (35, [15.59, 15.59, 24.31]),
    (42, [15.36, 15.36, 25.06]),
    (52, [16.76, 15.25, 24.71]),
    (70, [16.27, 15.07, 22.39]),
    (104, [16.62, 15.31, 23.76]),
    (200, [16.63, 15.52, 24.39]),
    (500, [17.68, 16.44, 27.49]),
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

/// The penalty for a change in a series of `count` values, in squares of sigma.
pub fn penalty(count: usize) -> f64 {
    at(count)[0]
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
            assert!((penalty(row.0) - row.1[0]).abs() < 1e-9);
            assert!((chance(row.0, row.1[1]) - 0.01).abs() < 1e-12);
            assert!((chance(row.0, row.1[2]) - 0.001).abs() < 1e-12);
        }
        assert_eq!(penalty(0), TABLE[0].1[0]);
        // As much above 500 as 500 is above 200, in logarithms.
        assert!((penalty(1_250) - (17.68 + (17.68 - 16.63))).abs() < 1e-9);
        assert_eq!(chance(104, 1e9), 1e-6);
        assert!(chance(104, 0.0) <= 1.0 && chance(104, 0.0) > 0.1);
        let (a, b) = (penalty(16), penalty(18));
        assert!((penalty(17) - (a + b) / 2.0).abs() < 0.02 * (a - b).abs());
    }
}
