//! Whether odd counts behave differently from even ones, as they did on the dual-core machine of
//! the mail on chgsbsize: 4 to 5 % slower from 3 to 10 threads.

use super::Point;
use crate::verdict::median::median;

/// Odd counts that there must be, and even ones.
const LEAST: usize = 3;
/// The mean must exceed the half width of its own interval by this factor: three standard
/// deviations in place of two.
const SURE: f64 = 1.5;
/// No point may show less than this share of what the middle one shows: a knee at an even count
/// lifts its neighbours alone.
const SHARED: f64 = 1.0 / 3.0;

/// How far odd counts above 1 lie off the line between their even neighbours, as a share: -0.05 is
/// 5 % below. `None` unless all of them do, to the same side, by more than the margin, and by more
/// than chance: the interval of the ratio stands for that of a figure, as it is at least as wide.
///
/// Of 40,000 sweeps of noise with such intervals, 2 to 16 threads, fewer than 1 in 1,000 pass.
///
/// A curve that bends lies above or below all its chords, so what the even counts do beside their
/// odd neighbours is taken off.
pub(super) fn odd(points: &[Point], figure: impl Fn(&Point) -> Option<f64>) -> Option<f64> {
    let counts: Vec<Count> = points
        .iter()
        .filter_map(|p| Count::of(p, &figure))
        .collect();
    let even = counts.iter().filter(|count| count.at % 2 == 0).count();
    let offsets: Vec<Offset> = (0..counts.len())
        .filter(|place| counts[*place].at % 2 == 1)
        .filter_map(|place| Offset::of(&counts, place))
        .collect();
    if even < LEAST || offsets.len() < LEAST {
        return None;
    }
    let values: Vec<f64> = offsets.iter().map(|offset| offset.value).collect();
    let middle = median(&values)?;
    let together = values
        .iter()
        .all(|value| value * middle.signum() >= SHARED * middle.abs());
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let margin = points.iter().map(|point| point.margin).fold(0.0, f64::max);
    let sure = mean.abs() > SURE * half_width(&counts, &offsets) && middle.abs() >= margin;
    (together && sure).then_some(middle)
}

/// A count above 1 with its figure and how sure it is.
struct Count {
    at: u64,
    figure: f64,
    /// Half the interval of the ratio, as a share.
    half: f64,
}

impl Count {
    fn of(point: &Point, figure: impl Fn(&Point) -> Option<f64>) -> Option<Count> {
        let (low, high) = point.interval.filter(|(low, _)| *low > 0.0)?;
        let figure = figure(point).filter(|figure| *figure > 0.0)?;
        (point.at > 1).then_some(Count {
            at: point.at,
            figure,
            half: (high / low).ln() / 2.0,
        })
    }
}

/// How far one odd count is off, and by how much each count takes part in that.
struct Offset {
    value: f64,
    parts: Vec<(usize, f64)>,
}

impl Offset {
    fn of(counts: &[Count], place: usize) -> Option<Offset> {
        let own = lift(counts, place)?;
        let beside = [place - 1, place + 1];
        let lifts: Vec<(usize, f64)> = beside
            .into_iter()
            .filter_map(|place| Some((place, lift(counts, place)?)))
            .collect();
        if lifts.is_empty() {
            return None;
        }
        let usual = lifts.iter().map(|(_, lift)| lift).sum::<f64>() / lifts.len() as f64;
        let mut parts = chord(place, 0.5).to_vec();
        for (beside, _) in &lifts {
            parts.extend(chord(*beside, -0.5 / lifts.len() as f64));
        }
        Some(Offset {
            value: (own - usual) / 2.0,
            parts,
        })
    }
}

/// How far a count lies above the line between its neighbours, as a share, if it has both.
fn lift(counts: &[Count], place: usize) -> Option<f64> {
    let (before, after) = (counts.get(place.checked_sub(1)?)?, counts.get(place + 1)?);
    let at = counts[place].at;
    let next_to = before.at + 1 == at && after.at == at + 1;
    next_to.then(|| 2.0 * counts[place].figure / (before.figure + after.figure) - 1.0)
}

/// What a lift is made of, to first order.
fn chord(place: usize, weight: f64) -> [(usize, f64); 3] {
    [
        (place - 1, -weight / 2.0),
        (place, weight),
        (place + 1, -weight / 2.0),
    ]
}

/// Half the interval of the mean of offsets.
fn half_width(counts: &[Count], offsets: &[Offset]) -> f64 {
    let mut parts = vec![0.0; counts.len()];
    for (place, part) in offsets.iter().flat_map(|offset| &offset.parts) {
        parts[*place] += part / offsets.len() as f64;
    }
    let squares = parts
        .iter()
        .zip(counts)
        .map(|(part, count)| (part * count.half).powi(2));
    squares.sum::<f64>().sqrt()
}
