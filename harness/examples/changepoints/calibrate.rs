//! The table of penalties, made again.

use ktrial::history::changes::most_saved;
use ktrial::history::penalties;

use crate::noise::{Kind, NOISES};

const LENGTHS: [usize; 20] = [
    9, 10, 11, 12, 13, 14, 16, 18, 20, 23, 26, 30, 33, 35, 42, 52, 70, 104, 200, 500,
];

/// Prints the rows of `TABLE` in harness/src/history/penalties.rs: of both kinds of noise, the
/// larger quantile.
pub fn calibrate(seed: u64, series: usize) {
    for count in LENGTHS {
        let shares = [1.0 - penalties::alarms(count), 0.99, 0.999];
        let [normal, outliers] = NOISES.map(|noise| {
            let kind = Kind::unchanged(noise, count);
            let mut saved = kind.map(seed, series, |values| most_saved(&values, 0.0));
            saved.sort_by(f64::total_cmp);
            shares.map(|share| saved[(series as f64 * share) as usize])
        });
        let row = [0, 1, 2].map(|i| format!("{:.2}", normal[i].max(outliers[i])));
        println!("    ({count}, [{}]),", row.join(", "));
    }
}
