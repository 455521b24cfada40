//! The small drawing beside a verdict: an interval against the margin. `forest.svg` draws it.

use ktrial_db::Verdict;
use serde::Serialize;

use super::chart::pixel;
use super::format;

/// Width of the drawing and the room left at its ends, in pixels.
const WIDTH: f64 = 132.0;
const EDGE: f64 = 8.0;

/// A row of a forest plot; lengths are pixels.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Forest {
    width: f64,
    /// Where no change lies.
    zero: f64,
    margin_left: f64,
    margin_width: f64,
    left: f64,
    right: f64,
    /// The interval goes on beyond the drawing.
    open_left: bool,
    open_right: bool,
    /// The estimate, if it lies within the drawing.
    estimate: Option<f64>,
}

/// The reach that all rows of a table share, in percent: as far as the furthest interval, but at
/// least twice and at most twelve times the margin, for beyond that the margin is not seen.
pub(super) fn reach<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> f64 {
    let (mut furthest, mut margin) = (0f64, 0f64);
    for verdict in verdicts {
        margin = margin.max(verdict.margin * 100.0);
        for end in [verdict.low, verdict.high, verdict.ratio]
            .into_iter()
            .flatten()
        {
            furthest = furthest.max(format::percent(end).abs());
        }
    }
    furthest.clamp(2.0 * margin, 12.0 * margin)
}

impl Forest {
    /// Lays out a verdict; none where there is no estimate.
    pub(super) fn of(verdict: &Verdict, reach: f64) -> Option<Forest> {
        let half = WIDTH / 2.0;
        let x = |ratio: f64| half + format::percent(ratio) / reach * (half - EDGE);
        let estimate = x(verdict.ratio?);
        let (left, right) = (verdict.low.map(x), verdict.high.map(x));
        let (first, last) = (EDGE, WIDTH - EDGE);
        Some(Forest {
            width: WIDTH,
            zero: half,
            margin_left: pixel(x(1.0 - verdict.margin)),
            margin_width: pixel(x(1.0 + verdict.margin) - x(1.0 - verdict.margin)),
            left: pixel(left.unwrap_or(first).clamp(first, last)),
            right: pixel(right.unwrap_or(last).clamp(first, last)),
            open_left: left.is_none_or(|x| x < first),
            open_right: right.is_none_or(|x| x > last),
            estimate: (first..=last).contains(&estimate).then(|| pixel(estimate)),
        })
    }
}
