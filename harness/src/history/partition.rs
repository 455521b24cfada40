//! The best division of a series into segments of constant level, outliers among them.
//!
//! A value's cost is the square of its distance from the level of its segment, but at most
//! [`BOUND`]: however far off it lies, an outlier costs no more. A change costs a penalty. Of all
//! divisions the cheapest is found, exactly, by dynamic programming over functions of the last
//! level; each function is made of parabolas, and only those that can still win are kept.
//!
//! Source: Fearnhead and Rigaill, "Changepoint Detection in the Presence of Outliers", Journal of
//! the American Statistical Association 114 (2019), pages 169 to 183: the biweight loss, equation
//! 4, and algorithm 1 (R-FPOP). The shortest segments are added: a level joins the race only when
//! it has that many values.

/// What an outlier costs, in squares of the noise: values beyond 3.8 sigmas are outliers. Less than
/// a change costs, so that two outliers side by side are no change.
pub const BOUND: f64 = 14.5;
/// The least number of values in the last segment, the newest: more of them are still to come.
pub const SHORTEST_LAST: usize = 3;
/// The least number in all others. A level that was left again sooner can't be told from outliers:
/// where one value in twenty is one, three in a row come in one series of a hundred, and four among
/// five nearly as often as all alarms that are allowed.
pub const SHORTEST: usize = 6;

/// Where a segment begins, and its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Index of its first value.
    pub start: usize,
    /// The level of least cost, in the unit of the values.
    pub level: f64,
}

/// The cheapest division of `values`, given in sigmas of their noise and finite, where each change
/// costs `penalty` (above 0).
pub fn partition(values: &[f64], penalty: f64) -> Vec<Level> {
    let count = values.len();
    let Some(low) = lowest(values) else {
        return Vec::new();
    };
    // By the number of values behind: the least cost, and the last segment.
    let mut least = vec![f64::INFINITY; count + 1];
    let mut last = vec![
        Level {
            start: 0,
            level: 0.0
        };
        count + 1
    ];
    let mut costs = Costs::new(low);
    costs.begin(0, 0.0);
    let mut joining = Costs::new(low);
    for end in 1..=count {
        costs.add(values[end - 1]);
        let newest = if end == count {
            SHORTEST_LAST
        } else {
            SHORTEST
        };
        for length in newest..=SHORTEST {
            let Some(start) = end.checked_sub(length).filter(|s| *s >= SHORTEST) else {
                continue;
            };
            joining.begin(start, least[start] + penalty);
            values[start..end].iter().for_each(|v| joining.add(*v));
            costs.keep_less(&joining);
        }
        if end >= SHORTEST || end == count {
            (least[end], last[end]) = costs.least();
        }
    }
    let mut levels = Vec::new();
    let mut end = count;
    while end > 0 {
        levels.push(last[end]);
        end = last[end].start;
    }
    levels.reverse();
    levels
}

/// The least cost of `values` as one segment, in squares of sigma.
pub fn cost(values: &[f64]) -> f64 {
    let Some(low) = lowest(values) else {
        return 0.0;
    };
    let mut costs = Costs::new(low);
    costs.begin(0, 0.0);
    values.iter().for_each(|v| costs.add(*v));
    costs.least().0
}

/// Below every value, where levels need not be looked for.
fn lowest(values: &[f64]) -> Option<f64> {
    let low = values.iter().copied().min_by(f64::total_cmp)?;
    Some(low - 1.0)
}

/// The cost of the past as a function of the level that the last segment has, between `low` and
/// the highest value: parabolas side by side.
struct Costs {
    low: f64,
    pieces: Vec<Piece>,
    spare: Vec<Piece>,
}

/// `square * level^2 + linear * level + constant`, up to the level `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    high: f64,
    square: f64,
    linear: f64,
    constant: f64,
    start: usize,
}

impl Piece {
    fn at(&self, level: f64) -> f64 {
        (self.square * level + self.linear) * level + self.constant
    }

    fn is_as(&self, other: &Piece) -> bool {
        let of = |p: &Piece| (p.start, p.square, p.linear, p.constant);
        of(self) == of(other)
    }
}

impl Costs {
    fn new(low: f64) -> Costs {
        Costs {
            low,
            pieces: Vec::with_capacity(64),
            spare: Vec::with_capacity(64),
        }
    }

    /// A segment that begins at `start`, whatever its level.
    fn begin(&mut self, start: usize, constant: f64) {
        self.pieces.clear();
        self.pieces.push(Piece {
            high: f64::INFINITY,
            square: 0.0,
            linear: 0.0,
            constant,
            start,
        });
    }

    /// Adds the bounded cost of one value.
    fn add(&mut self, value: f64) {
        let reach = BOUND.sqrt();
        let (from, to) = (value - reach, value + reach);
        let sum = &mut self.spare;
        sum.clear();
        let mut low = self.low;
        for piece in &self.pieces {
            let outside = Piece {
                constant: piece.constant + BOUND,
                ..*piece
            };
            let inside = Piece {
                square: piece.square + 1.0,
                linear: piece.linear - 2.0 * value,
                constant: piece.constant + value * value,
                ..*piece
            };
            for (piece, until) in [(outside, from), (inside, to), (outside, f64::INFINITY)] {
                let high = piece.high.min(until);
                append(sum, piece, low, high);
                low = low.max(high);
            }
        }
        std::mem::swap(&mut self.pieces, &mut self.spare);
    }

    /// Keeps the lesser of both at every level; where they are equal, what was there.
    fn keep_less(&mut self, other: &Costs) {
        let lesser = &mut self.spare;
        lesser.clear();
        let (mut i, mut j) = (0, 0);
        let mut low = self.low;
        while let (Some(old), Some(new)) = (self.pieces.get(i), other.pieces.get(j)) {
            let high = old.high.min(new.high);
            for until in crossings(old, new).into_iter().chain([high]) {
                let until = until.min(high);
                if until > low {
                    let middle = if until.is_finite() {
                        (low + until) / 2.0
                    } else {
                        low + 1.0
                    };
                    let less = if new.at(middle) < old.at(middle) {
                        *new
                    } else {
                        *old
                    };
                    append(lesser, less, low, until);
                    low = until;
                }
            }
            i += usize::from(old.high <= high);
            j += usize::from(new.high <= high);
        }
        std::mem::swap(&mut self.pieces, &mut self.spare);
    }

    /// The least cost, with the segment and the level that have it; the lowest of several.
    fn least(&self) -> (f64, Level) {
        let mut low = self.low;
        let mut best = (
            f64::INFINITY,
            Level {
                start: 0,
                level: low,
            },
        );
        for piece in &self.pieces {
            let level = if piece.square > 0.0 {
                (-piece.linear / (2.0 * piece.square)).clamp(low, piece.high)
            } else {
                low
            };
            let cost = piece.at(level);
            if cost < best.0 {
                let start = piece.start;
                best = (cost, Level { start, level });
            }
            low = piece.high;
        }
        best
    }
}

/// Adds a piece from `low` to `high`, as part of the last one where it is the same parabola.
fn append(pieces: &mut Vec<Piece>, piece: Piece, low: f64, high: f64) {
    if high <= low {
        return;
    }
    match pieces.last_mut() {
        Some(last) if last.is_as(&piece) => last.high = high,
        _ => pieces.push(Piece { high, ..piece }),
    }
}

/// Where two parabolas meet, the lower place first.
fn crossings(a: &Piece, b: &Piece) -> [f64; 2] {
    let square = a.square - b.square;
    let linear = a.linear - b.linear;
    let constant = a.constant - b.constant;
    let nowhere = f64::NEG_INFINITY;
    if square == 0.0 {
        let place = -constant / linear;
        return [nowhere, if place.is_finite() { place } else { nowhere }];
    }
    let discriminant = linear * linear - 4.0 * square * constant;
    if discriminant <= 0.0 {
        return [nowhere, nowhere];
    }
    // Without the difference of two near numbers: Press et al., Numerical Recipes, 5.6.
    let half = -0.5 * (linear + discriminant.sqrt().copysign(linear));
    let (one, two) = (half / square, constant / half);
    [one.min(two), one.max(two)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(values: &[f64], penalty: f64) -> Vec<usize> {
        partition(values, penalty).iter().map(|s| s.start).collect()
    }

    /// Cost of one segment by trying: the best level is the mean of the values within reach of it,
    /// so some set of neighbours in order of size has it (Fearnhead and Rigaill, section 3).
    fn cost_by_trying(values: &[f64]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut best = f64::INFINITY;
        for from in 0..sorted.len() {
            for to in from + 1..=sorted.len() {
                let near = &sorted[from..to];
                let mean = near.iter().sum::<f64>() / near.len() as f64;
                let each = sorted.iter().map(|v| (v - mean).powi(2).min(BOUND));
                best = best.min(each.sum());
            }
        }
        best
    }

    /// The least cost over all divisions, by trying them all.
    fn best_by_trying(values: &[f64], penalty: f64) -> f64 {
        let count = values.len();
        let mut best = cost_by_trying(values);
        for mask in 1u32..1 << (count - 1) {
            let mut bounds = vec![0];
            bounds.extend((1..count).filter(|i| mask >> (i - 1) & 1 == 1));
            bounds.push(count);
            let allowed = bounds.windows(2).all(|pair| {
                let newest = pair[1] == count && pair[0] > 0;
                pair[1] - pair[0] >= if newest { SHORTEST_LAST } else { SHORTEST }
            });
            if allowed {
                let each = bounds
                    .windows(2)
                    .map(|p| cost_by_trying(&values[p[0]..p[1]]));
                best = best.min(each.sum::<f64>() + penalty * (bounds.len() - 2) as f64);
            }
        }
        best
    }

    fn total(values: &[f64], levels: &[Level], penalty: f64) -> f64 {
        let mut sum = penalty * (levels.len() - 1) as f64;
        for (at, level) in levels.iter().enumerate() {
            let end = levels.get(at + 1).map_or(values.len(), |next| next.start);
            let each = values[level.start..end].iter();
            sum += each
                .map(|v| (v - level.level).powi(2).min(BOUND))
                .sum::<f64>();
        }
        sum
    }

    proptest::proptest! {
        /// The tenths make ties; the far values outliers.
        #[test]
        fn no_division_is_cheaper(
            tenths in proptest::collection::vec(-60i32..60, 1..17), penalty in 1.0f64..20.0
        ) {
            let values: Vec<f64> = tenths.iter().map(|v| f64::from(*v) / 10.0).collect();
            let found = total(&values, &partition(&values, penalty), penalty);
            let best = best_by_trying(&values, penalty);
            proptest::prop_assert!((found - best).abs() < 1e-9, "{found} {best}");
            proptest::prop_assert!((cost(&values) - cost_by_trying(&values)).abs() < 1e-9);
        }
    }

    #[test]
    fn costs_of_one_segment_by_hand() {
        // Mean 2, squares 1 + 0 + 1; the outlier costs its bound.
        assert_eq!(cost(&[1.0, 2.0, 3.0]), 2.0);
        assert_eq!(cost(&[1.0, 2.0, 3.0, 1e6]), 2.0 + BOUND);
        assert_eq!(cost(&[]), 0.0);
        assert!(starts(&[], 5.0).is_empty());
        assert_eq!(starts(&[1.0], 5.0), [0]);
    }

    #[test]
    fn a_step_is_a_change_where_it_saves_more_than_the_penalty() {
        // 8 values at 0 and 3 at 3: one level, their mean 9/11, costs 9 * 3 - 81 / 11 = 19.6.
        let mut step = vec![0.0; 8];
        step.extend([3.0; 3]);
        assert_eq!(starts(&step, 19.7), [0]);
        assert_eq!(starts(&step, 19.6), [0, 8]);
    }

    #[test]
    fn two_outliers_at_the_end_are_none_and_three_are_a_new_level() {
        let mut values = vec![0.0; 20];
        values.extend([10.0, 10.0]);
        assert_eq!(starts(&values, 16.0), [0]);
        values.push(10.0);
        assert_eq!(starts(&values, 16.0), [0, 20]);
        // Back at the old level for the second time, they were outliers after all.
        values.extend([0.0, 0.0]);
        assert_eq!(starts(&values, 16.0), [0]);
    }
}
