//! Change points: where the level of a series changed, by how much, and how sure that is.
//!
//! The noise is taken from the series itself ([`spread`]); the cheapest division into segments is
//! found with a price for each change ([`partition`]); and that price is such that of unchanged
//! series of this length one in a hundred shows any change ([`penalties`], by simulation).

use super::partition::{self, BOUND, Level, SHORTEST, SHORTEST_LAST};
use super::{penalties, spread};
use crate::verdict::median::median;
use crate::verdict::student;

/// Confidence level of the intervals of sizes.
pub const LEVEL: f64 = 0.95;
/// The penalty under which the noise is looked at: low, so that no change is left in it.
const GENEROUS: f64 = 6.0;
/// With fewer values than this no change can be seen.
pub const FEWEST: usize = SHORTEST + SHORTEST_LAST;
/// The least noise that is believed, as a share of the values: numbers are rounded.
const ROUNDING: f64 = 1e-12;

/// A stretch of one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Index of its first value.
    pub start: usize,
    /// Index after its last value.
    pub end: usize,
    /// The mean of its values but the outliers, in the unit of the values.
    pub level: f64,
    /// Indices of values further than 3.8 sigmas from the level: kept, and not in it.
    pub outliers: Vec<usize>,
}

impl Segment {
    /// How many values its level is the mean of.
    pub fn count(&self) -> usize {
        self.end - self.start - self.outliers.len()
    }
}

/// A change between two segments.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Index of the first value at the new level.
    pub index: usize,
    /// New level less old. Of logarithms, its `exp` is the ratio of new to old.
    pub size: f64,
    /// Where the interval of the size at [`LEVEL`] begins: Student's t over the values of both
    /// segments that are no outliers, with the noise of all segments, as if the place were known.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The chance that an unchanged series of this length shows a change as clear as this one
    /// anywhere, from about 0.01 down to 0.000001, which is as far as it is told.
    pub p: f64,
}

/// A series, divided where it changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// In order and without gaps, one more than changes; none if there are no values.
    pub segments: Vec<Segment>,
    /// In order.
    pub changes: Vec<Change>,
    /// The standard deviation of the noise around the levels, in the unit of the values.
    pub sigma: f64,
}

/// Finds the changes of level in `values`, in order of time. Noise is taken to be at least
/// `least`: what is known of single values, or 0. The same values give the same answer. Where a
/// value is not finite there is no level (NaN), and no change is found.
pub fn changes(values: &[f64], least: f64) -> Changes {
    let finite = values.iter().all(|v| v.is_finite());
    let sigma = if finite {
        sigma(values, least)
    } else {
        f64::NAN
    };
    let penalty = penalties::penalty(values.len());
    // Values that are all the same have no noise at all, and no change.
    let scaled = in_sigmas(values, if sigma > 0.0 { sigma } else { 1.0 });
    let levels = match finite {
        true => partition::partition(&scaled, penalty),
        false => vec![Level {
            start: 0,
            level: f64::NAN,
        }],
    };
    let segments = segments(values, &scaled, &levels);
    let changes = segments
        .windows(2)
        .map(|pair| change(&segments, pair, &scaled, sigma))
        .collect();
    Changes {
        segments,
        changes,
        sigma,
    }
}

/// The most that a change saves in `values`, in squares of sigma: the highest penalty under which
/// there is one, or 0. It is what [`penalties`] has the quantiles of.
pub fn most_saved(values: &[f64], least: f64) -> f64 {
    let sigma = sigma(values, least);
    if sigma == 0.0 {
        return 0.0;
    }
    let scaled = in_sigmas(values, sigma);
    let whole = partition::cost(&scaled);
    // What each change of the cheapest division saves on average is a higher penalty, until there
    // is no change: Dinkelbach, Management Science 13 (1967).
    let mut penalty = GENEROUS;
    loop {
        let levels = partition::partition(&scaled, penalty);
        let ends = levels.iter().skip(1).map(|next| next.start);
        let parts = levels.iter().zip(ends.chain([scaled.len()]));
        let costs: f64 = parts
            .map(|(l, end)| partition::cost(&scaled[l.start..end]))
            .sum();
        let changes = levels.len().saturating_sub(1);
        let saved = (whole - costs) / changes as f64;
        if changes == 0 || saved <= penalty {
            return if penalty > GENEROUS { penalty } else { 0.0 };
        }
        penalty = saved;
    }
}

/// The noise around the levels of a generous division.
fn sigma(values: &[f64], least: f64) -> f64 {
    let sizes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    let least = least.max(ROUNDING * median(&sizes).unwrap_or(0.0));
    let rough = spread::by_differences(values).max(least);
    if rough == 0.0 || values.len() < FEWEST {
        return rough;
    }
    let scaled = in_sigmas(values, rough);
    let levels = partition::partition(&scaled, GENEROUS);
    let segments = segments(values, &scaled, &levels);
    let residuals: Vec<f64> = segments
        .iter()
        .flat_map(|s| values[s.start..s.end].iter().map(|v| v - s.level))
        .collect();
    spread::by_residuals(&residuals, segments.len(), rough).max(least)
}

/// Values in sigmas, from 0 up. Where two neighbours in size lie so far apart that no level reaches
/// both, the gap says nothing and is made small, so that parabolas of far values stay exact.
fn in_sigmas(values: &[f64], sigma: f64) -> Vec<f64> {
    let widest = 2.0 * BOUND.sqrt() + 1.0;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut scaled = vec![0.0; values.len()];
    for pair in order.windows(2) {
        let gap = (values[pair[1]] - values[pair[0]]) / sigma;
        scaled[pair[1]] = scaled[pair[0]] + gap.min(widest);
    }
    scaled
}

fn segments(values: &[f64], scaled: &[f64], levels: &[Level]) -> Vec<Segment> {
    let ends = levels.iter().skip(1).map(|next| next.start);
    levels
        .iter()
        .zip(ends.chain([values.len()]))
        .map(|(level, end)| {
            let far = |i: &usize| (scaled[*i] - level.level).powi(2) > BOUND;
            let near: Vec<usize> = (level.start..end).filter(|i| !far(i)).collect();
            let sum: f64 = near.iter().map(|i| values[*i]).sum();
            Segment {
                start: level.start,
                end,
                level: sum / near.len() as f64,
                outliers: (level.start..end).filter(far).collect(),
            }
        })
        .collect()
}

/// The change between two neighbouring segments of all.
fn change(segments: &[Segment], pair: &[Segment], scaled: &[f64], sigma: f64) -> Change {
    let (old, new) = (&pair[0], &pair[1]);
    let size = new.level - old.level;
    let weight = 1.0 / old.count() as f64 + 1.0 / new.count() as f64;
    let values: usize = segments.iter().map(Segment::count).sum();
    let freedom = values.saturating_sub(segments.len()).max(1);
    let half = student::quantile(LEVEL, freedom) * sigma * weight.sqrt();
    let cost = |from: usize, to: usize| partition::cost(&scaled[from..to]);
    let saved = cost(old.start, new.end) - cost(old.start, old.end) - cost(new.start, new.end);
    Change {
        index: new.start,
        size,
        low: size - half,
        high: size + half,
        p: penalties::chance(scaled.len(), saved),
    }
}
