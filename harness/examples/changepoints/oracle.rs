//! What can be reached at all: a scan by likelihood ratio that knows sigma.

use ktrial::history::part::SHORTEST_LAST;

use crate::noise::{Kind, Noise};

/// The place where a single change of level is likeliest, and how likely: the largest square of
/// the difference of both means in its own sigmas, where sigma is 1.
fn scan(values: &[f64]) -> (usize, f64) {
    let (count, all) = (values.len(), values.iter().sum::<f64>());
    let mut best = (0, 0.0);
    let mut sum = 0.0;
    for (at, value) in (1..).zip(values) {
        sum += value;
        if at < SHORTEST_LAST || count - at < SHORTEST_LAST {
            continue;
        }
        let (left, right) = (at as f64, (count - at) as f64);
        let apart = (all - sum) / right - sum / left;
        let square = apart * apart * left * right / count as f64;
        if square > best.1 {
            best = (at, square);
        }
    }
    best
}

/// The scan with its threshold.
pub struct Oracle {
    threshold: f64,
}

impl Oracle {
    /// An oracle that alarms on this share of unchanged normal series of this length.
    pub fn new(seed: u64, count: usize, alarms: f64) -> Oracle {
        let series = 100_000;
        let kind = Kind::unchanged(Noise::Normal, count);
        let mut largest = kind.map(seed ^ 0x0a_c1e5, series, |values| scan(&values).1);
        largest.sort_by(f64::total_cmp);
        let at = (series as f64 * (1.0 - alarms)) as usize;
        Oracle {
            threshold: largest[at.min(series - 1)],
        }
    }

    /// Where it finds a change, if anywhere.
    pub fn find(&self, values: &[f64]) -> Vec<usize> {
        let (at, square) = scan(values);
        if square > self.threshold {
            vec![at]
        } else {
            Vec::new()
        }
    }
}
