//! The table of penalties, made again.

use ktrial::history::changes::most_saved;

use crate::noise::{Kind, NOISES};

const LENGTHS: [usize; 19] = [
    6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 30, 35, 42, 52, 70, 104, 150, 250, 500,
];

/// Prints the rows of `TABLE` in harness/src/history/penalties.rs: the larger quantile of both
/// kinds of noise, and each of them as a remark.
pub fn calibrate(seed: u64, series: usize) {
    for count in LENGTHS {
        let quantiles = NOISES.map(|noise| {
            let kind = Kind::unchanged(noise, count);
            let mut saved = kind.map(seed, series, |values| most_saved(&values, 0.0));
            saved.sort_by(f64::total_cmp);
            [0.99, 0.999].map(|share| saved[(series as f64 * share) as usize])
        });
        let [normal, outliers] = quantiles;
        println!(
            "    ({count}, {:.2}, {:.2}), // normal {:.2} {:.2}, outliers {:.2} {:.2}",
            normal[0].max(outliers[0]),
            normal[1].max(outliers[1]),
            normal[0],
            normal[1],
            outliers[0],
            outliers[1],
        );
    }
}
