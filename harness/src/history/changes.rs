//! Change points: where the level of a series changed, by how much, and how sure that is.
//!
//! The noise is taken from the series itself ([`spread`]); the cheapest division into segments is
//! found with a price for each change ([`partition`]); and that price is such that of unchanged
//! series of this length one in a hundred shows any change ([`penalties`], by simulation).

use super::part::{BOUND, Part, SHORTEST, SHORTEST_LAST};
use super::partition::{partition, saved};
use super::{penalties, race, spread};
use crate::verdict::student;

/// Confidence level of the intervals of sizes.
pub const LEVEL: f64 = 0.95;
/// The penalty under which the noise is looked at: low, so that no change is left in it.
const GENEROUS: f64 = 6.0;
/// With fewer values than this no change can be seen.
pub const FEWEST: usize = SHORTEST + SHORTEST_LAST;
/// The least noise that is believed, as a share of the values: numbers are rounded.
const ROUNDING: f64 = 1e-12;
/// A series with a range of more sigmas than this is wide.
const WIDE: f64 = 50.0;

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
    if values.iter().any(|v| !v.is_finite()) {
        return without_level(values.len());
    }
    let sigma = sigma(values, least);
    let scaled = in_sigmas(values, sigma);
    let parts = partition(&scaled, penalties::penalty(values.len()));
    let segments = segments(values, &scaled, &parts);
    // Less was left of it by the many levels of the generous division.
    let sigma = around(values, &segments, sigma).max(sigma);
    let noise = Noise::of(&segments, sigma);
    let changes = segments
        .windows(2)
        .zip(parts.windows(2))
        .map(|(pair, parts)| {
            let saved = saved(&scaled, &parts[0], &parts[1]);
            change(pair, &noise, penalties::chance(values.len(), saved))
        })
        .collect();
    Changes {
        segments,
        changes,
        sigma,
    }
}

fn without_level(count: usize) -> Changes {
    Changes {
        segments: vec![Segment {
            start: 0,
            end: count,
            level: f64::NAN,
            outliers: Vec::new(),
        }],
        changes: Vec::new(),
        sigma: f64::NAN,
    }
}

/// The most that a change saves in `values`, in squares of sigma: the highest penalty under which
/// there is one, or 0. It is what [`penalties`] has the quantiles of. Values are finite.
pub fn most_saved(values: &[f64], least: f64) -> f64 {
    let scaled = in_sigmas(values, sigma(values, least));
    let cost = |parts: &[Part]| parts.iter().map(|part| part.cost).sum::<f64>();
    let whole = cost(&partition(&scaled, f64::INFINITY));
    // What each change of the cheapest division saves on average is a higher penalty, until there
    // is no change: Dinkelbach, Management Science 13 (1967).
    let mut penalty = GENEROUS;
    loop {
        let parts = partition(&scaled, penalty);
        let changes = parts.len().saturating_sub(1);
        let saved = (whole - cost(&parts)) / changes as f64;
        if changes == 0 || saved <= penalty {
            return if penalty > GENEROUS { penalty } else { 0.0 };
        }
        penalty = saved;
    }
}

/// The noise around the levels of a generous division; 0 where there is none.
fn sigma(values: &[f64], least: f64) -> f64 {
    let mut sizes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    let least = least.max(ROUNDING * spread::middle(&mut sizes));
    let rough = spread::by_differences(values).max(least);
    if rough == 0.0 || values.len() < FEWEST {
        return rough;
    }
    let scaled = in_sigmas(values, rough);
    let parts = race::run(&scaled, GENEROUS);
    around(values, &segments(values, &scaled, &parts), rough).max(least)
}

/// The noise around the levels of these segments, about as large as `rough`.
fn around(values: &[f64], segments: &[Segment], rough: f64) -> f64 {
    let residuals: Vec<f64> = segments
        .iter()
        .flat_map(|s| values[s.start..s.end].iter().map(|v| v - s.level))
        .collect();
    spread::by_residuals(&residuals, segments.len(), rough)
}

/// Values in sigmas, the least being 0; without noise the unit is 1. In a wide series, where two
/// neighbours in size lie so far apart that no level reaches both, the gap says nothing and is made
/// small, so that squares stay exact.
fn in_sigmas(values: &[f64], sigma: f64) -> Vec<f64> {
    let unit = if sigma > 0.0 { sigma } else { 1.0 };
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(*v), high.max(*v))
        });
    if high / unit - low / unit <= WIDE {
        return values.iter().map(|v| (v - low) / unit).collect();
    }
    let widest = 2.0 * BOUND.sqrt() + 1.0;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut scaled = vec![0.0; values.len()];
    for pair in order.windows(2) {
        let gap = values[pair[1]] / unit - values[pair[0]] / unit;
        scaled[pair[1]] = scaled[pair[0]] + gap.min(widest);
    }
    scaled
}

fn segments(values: &[f64], scaled: &[f64], parts: &[Part]) -> Vec<Segment> {
    let segment = |part: &Part| {
        let (mut outliers, mut sum, mut count) = (Vec::new(), 0.0, 0.0);
        for at in part.start..part.end {
            if (scaled[at] - part.level).powi(2) < BOUND {
                sum += values[at];
                count += 1.0;
            } else {
                outliers.push(at);
            }
        }
        Segment {
            start: part.start,
            end: part.end,
            level: sum / count,
            outliers,
        }
    };
    parts.iter().map(segment).collect()
}

/// The noise of all segments, and how far t goes with it.
struct Noise {
    sigma: f64,
    quantile: f64,
}

impl Noise {
    fn of(segments: &[Segment], sigma: f64) -> Noise {
        let values: usize = segments.iter().map(Segment::count).sum();
        let freedom = values.saturating_sub(segments.len()).max(1);
        let is_needed = segments.len() > 1;
        Noise {
            sigma,
            quantile: if is_needed {
                student::quantile(LEVEL, freedom)
            } else {
                f64::NAN
            },
        }
    }
}

/// The change between two neighbouring segments.
fn change(pair: &[Segment], noise: &Noise, p: f64) -> Change {
    let (old, new) = (&pair[0], &pair[1]);
    let size = new.level - old.level;
    let weight = 1.0 / old.count() as f64 + 1.0 / new.count() as f64;
    let half = noise.quantile * noise.sigma * weight.sqrt();
    Change {
        index: new.start,
        size,
        low: size - half,
        high: size + half,
        p,
    }
}
