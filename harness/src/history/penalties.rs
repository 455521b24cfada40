//! What a change must save to be one, by the length of the series.
//!
//! Quantiles of the most that a change saves in unchanged series, from `bench/changepoints
//! --calibrate`: 40,000 series of each length with normal noise, and as many where one value in
//! twenty lies ten sigmas above; the larger of the two quantiles.

/// Lengths, with what is exceeded in 1 % and in 0.1 % of unchanged series.
const TABLE: [(usize, f64, f64); 2] = [(6, 30.0, 60.0), (104, 15.6, 20.0)];

/// The least chance that is told.
const LEAST_CHANCE: f64 = 1e-6;

/// The penalty for a change in a series of `count` values, in squares of sigma.
pub fn penalty(count: usize) -> f64 {
    at(count).0
}

/// The chance that in an unchanged series of `count` values some change saves `saved`, at most 1:
/// the tail falls like that of the table.
pub fn chance(count: usize, saved: f64) -> f64 {
    let (percent, permille) = at(count);
    let steps = (saved - percent) / (permille - percent);
    (0.01 * 0.1f64.powf(steps)).clamp(LEAST_CHANCE, 1.0)
}

/// Both quantiles, on lines between the logarithms of the lengths in the table.
fn at(count: usize) -> (f64, f64) {
    let after = TABLE.partition_point(|row| row.0 < count);
    let (first, last) = (TABLE[0], TABLE[TABLE.len() - 1]);
    match after {
        0 => (first.1, first.2),
        at if at == TABLE.len() => {
            // Beyond the table, with the slope of twice the logarithm that maxima of so many
            // squares have.
            let more = 2.0 * (count as f64 / last.0 as f64).ln();
            (last.1 + more, last.2 + more)
        }
        at => {
            let (a, b) = (TABLE[at - 1], TABLE[at]);
            let share = (count as f64 / a.0 as f64).ln() / (b.0 as f64 / a.0 as f64).ln();
            (a.1 + share * (b.1 - a.1), a.2 + share * (b.2 - a.2))
        }
    }
}
