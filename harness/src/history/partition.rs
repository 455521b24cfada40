//! The best division of a series into segments of constant level, outliers among them.
//!
//! A value's cost is the square of its distance from the level of its segment, but at most
//! [`BOUND`]: however far off it lies, an outlier costs no more. A change costs a penalty. The
//! cheapest division is found by dynamic programming over levels that lie close together; then
//! levels and places are made exact, and what does not save the penalty after all is dropped.
//!
//! Source: Fearnhead and Rigaill, "Changepoint Detection in the Presence of Outliers", Journal of
//! the American Statistical Association 114 (2019), pages 169 to 183: the biweight loss. Their
//! algorithm goes over all levels at once; levels 0.15 sigmas apart, as here, cost at most 0.006
//! squares a value more before they are made exact.

/// What an outlier costs, in squares of the noise: values beyond 3.8 sigmas are outliers. Less than
/// a change costs, so that two outliers side by side are no change.
pub const BOUND: f64 = 14.5;
/// The least number of values in the last segment, the newest: more of them are still to come.
pub const SHORTEST_LAST: usize = 3;
/// The least number in all others. A level that was left again sooner can't be told from outliers:
/// where one value in twenty is one, three in a row come in one series of a hundred, and four among
/// five in one of three hundred.
pub const SHORTEST: usize = 6;
/// How far apart the levels that are tried lie, in sigmas.
const SPACING: f32 = 0.15;
/// Between values, where the level of a few may lie, one in so many is enough to begin with.
const SPARSE: usize = 4;
/// The levels that are tried cost a little more than the best ones: a change is looked at if it
/// saves nearly enough.
const NEARLY: f64 = 0.9;
/// Levels are gone through so many at a time.
const EIGHT: usize = 8;
/// Steps of a fit; two or three are enough, as each can only make it cheaper.
const STEPS: usize = 20;

/// Values of one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    /// Index of the first.
    pub start: usize,
    /// Index after the last.
    pub end: usize,
    /// The level of least cost, in sigmas.
    pub level: f64,
    /// What it costs, in squares of sigma.
    pub cost: f64,
}

/// The cheapest division of `values`, given in sigmas of their noise, where each change costs
/// `penalty` (above 0). They are finite and no more than some sigmas apart in order of size, as
/// memory goes with their range.
pub(super) fn partition(values: &[f64], penalty: f64) -> Vec<Part> {
    let mut parts = coarse(values, NEARLY * penalty);
    for at in 1..parts.len() {
        place(values, &mut parts, at);
    }
    loop {
        let savings = parts.windows(2).enumerate();
        let savings = savings.map(|(at, pair)| (at, saved(values, &pair[0], &pair[1])));
        match savings.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((at, least)) if least < penalty => {
                parts[at] = merged(values, &parts[at], &parts[at + 1]);
                parts.remove(at + 1);
            }
            _ => return parts,
        }
    }
}

/// What the change between two neighbouring parts saves, in squares of sigma.
pub(super) fn saved(values: &[f64], a: &Part, b: &Part) -> f64 {
    merged(values, a, b).cost - a.cost - b.cost
}

/// Two neighbouring parts as one.
fn merged(values: &[f64], a: &Part, b: &Part) -> Part {
    let [a_long, b_long] = [a, b].map(|part| (part.end - part.start) as f64);
    let middle = (a_long * a.level + b_long * b.level) / (a_long + b_long);
    let fits = [a.level, b.level, middle].map(|from| fit(values, a.start, b.end, from));
    let [first, second, third] = fits;
    [second, third].into_iter().fold(
        first,
        |best, fit| if fit.cost < best.cost { fit } else { best },
    )
}

/// The level of least cost near `level`: the mean of what it reaches, until that stays the same.
fn fit(values: &[f64], start: usize, end: usize, mut level: f64) -> Part {
    let own = &values[start..end];
    for _ in 0..STEPS {
        let (mut sum, mut count) = (0.0, 0.0);
        for value in own {
            let off = value - level;
            let near = f64::from(u8::from(off * off < BOUND));
            sum += near * off;
            count += near;
        }
        let step = sum / f64::max(count, 1.0);
        level += step;
        if step.abs() < 1e-9 {
            break;
        }
    }
    let each = own.iter().map(|v| bounded(v - level));
    Part {
        start,
        end,
        level,
        cost: each.sum(),
    }
}

fn bounded(off: f64) -> f64 {
    (off * off).min(BOUND)
}

/// Puts the change before part `at` where it costs least with the levels on both sides, and fits
/// these again.
fn place(values: &[f64], parts: &mut [Part], at: usize) {
    let (a, b) = (parts[at - 1], parts[at]);
    let shortest = if b.end == values.len() {
        SHORTEST_LAST
    } else {
        SHORTEST
    };
    let (first, last) = (a.start + SHORTEST, b.end - shortest);
    let (mut sum, mut least, mut best) = (0.0, f64::INFINITY, b.start);
    for (place, value) in (a.start..).zip(&values[a.start..=last]) {
        if place >= first && sum < least {
            (least, best) = (sum, place);
        }
        sum += bounded(value - a.level) - bounded(value - b.level);
    }
    parts[at - 1] = fit(values, a.start, best, a.level);
    parts[at] = fit(values, best, b.end, b.level);
}

/// The cheapest division whose levels are among those tried: nearly that of [`partition()`], and
/// sooner known.
pub(super) fn coarse(values: &[f64], penalty: f64) -> Vec<Part> {
    let count = values.len();
    let mut race = Race::new(values);
    // By the number of values behind: the least cost, and start and level of the last segment.
    let mut least = vec![f32::INFINITY; count + 1];
    let mut last = vec![(0, 0.0); count + 1];
    for end in 1..=count {
        let joins = end.checked_sub(SHORTEST).filter(|start| *start >= SHORTEST);
        race.step(
            end,
            joins.map(|start| (start, least[start] + penalty as f32)),
        );
        if end == count {
            for start in (end.saturating_sub(SHORTEST - 1)..=end.saturating_sub(SHORTEST_LAST))
                .filter(|start| *start >= SHORTEST)
            {
                race.join(start, least[start] + penalty as f32);
            }
        }
        if end >= SHORTEST || end == count {
            (least[end], last[end]) = race.winner();
        }
    }
    let mut parts = Vec::new();
    let mut end = count;
    while end > 0 {
        let (start, level) = last[end];
        parts.push(fit(values, start, end, level));
        end = start;
    }
    parts.reverse();
    parts
}

/// All levels that are tried, side by side, each with the cheapest past that ends at it: the middles
/// of the bins of [`SPACING`] that hold a value, and of some others.
struct Race {
    /// Above the lowest one, which is `low`.
    values: Vec<f32>,
    low: f64,
    levels: Vec<f32>,
    costs: Vec<f32>,
    starts: Vec<u32>,
    /// What each of the last [`SHORTEST`] values costs at each level, and all of them.
    recent: [Vec<f32>; SHORTEST],
    windows: Vec<f32>,
}

impl Race {
    fn new(values: &[f64]) -> Race {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let values: Vec<f32> = values.iter().map(|v| (v - low) as f32).collect();
        let bin = |value: f32| (value / SPACING) as usize;
        let bins = values.iter().map(|v| bin(*v) + 1).max().unwrap_or(0);
        let mut taken = vec![false; bins];
        values.iter().for_each(|v| taken[bin(*v)] = true);
        let middle = |bin: usize| (bin as f32 + 0.5) * SPACING;
        let mut levels: Vec<f32> = (0..bins)
            .filter(|bin| taken[*bin] || bin % SPARSE == 0)
            .map(middle)
            .collect();
        // Filled up with the last one: processors take eight at a time.
        let last = levels.last().copied().unwrap_or(0.0);
        levels.resize(levels.len().next_multiple_of(EIGHT), last);
        Race {
            costs: vec![0.0; levels.len()],
            starts: vec![0; levels.len()],
            windows: vec![0.0; levels.len()],
            recent: std::array::from_fn(|_| vec![0.0; levels.len()]),
            levels,
            values,
            low,
        }
    }

    /// Adds the value before `end`; then a segment may join that began [`SHORTEST`] values ago,
    /// where that is cheaper: its start, and the cost of all before it.
    fn step(&mut self, end: usize, joins: Option<(usize, f32)>) {
        let bound = BOUND as f32;
        let value = self.values[end - 1];
        // Without one that may join, nothing is cheaper than to stay.
        let (start, before) = joins.map_or((0, f32::INFINITY), |(s, c)| (s as u32, c));
        let recent = &mut self.recent[end % SHORTEST];
        let windows = self.windows.iter_mut().zip(recent);
        let each = self.costs.iter_mut().zip(&mut self.starts);
        for (((cost, from), (window, recent)), level) in each.zip(windows).zip(&self.levels) {
            let off = value - level;
            let new = if off * off < bound { off * off } else { bound };
            *window += new - *recent;
            *recent = new;
            let (stay, join) = (*cost + new, before + *window);
            // All bits or none: without a branch, so that four levels are done at once.
            let joins = u32::from(join < stay).wrapping_neg();
            *from = (start & joins) | (*from & !joins);
            *cost = if join < stay { join } else { stay };
        }
    }

    /// A last segment, shorter than others may be, joins where that is cheaper.
    fn join(&mut self, start: usize, before: f32) {
        let bound = BOUND as f32;
        let own = &self.values[start..];
        let each = self.costs.iter_mut().zip(&mut self.starts);
        for ((cost, from), level) in each.zip(&self.levels) {
            let costs = own.iter().map(|v| ((v - level) * (v - level)).min(bound));
            let join = before + costs.sum::<f32>();
            if join < *cost {
                (*cost, *from) = (join, start as u32);
            }
        }
    }

    /// The least cost, and start and level of its last segment.
    fn winner(&self) -> (f32, (usize, f64)) {
        let mut eight = [f32::INFINITY; EIGHT];
        let (chunks, _) = self.costs.as_chunks::<EIGHT>();
        for chunk in chunks {
            for (least, cost) in eight.iter_mut().zip(chunk) {
                *least = if cost < least { *cost } else { *least };
            }
        }
        let least = eight.into_iter().fold(f32::INFINITY, f32::min);
        let holds = |chunk: &[f32; EIGHT]| chunk.iter().fold(false, |any, c| any | (*c == least));
        let from = EIGHT * chunks.iter().position(holds).unwrap_or(0);
        let at = self.costs[from..].iter().position(|cost| *cost == least);
        let at = from + at.unwrap_or(0);
        let of = |list: &[u32]| list.get(at).map_or(0, |start| *start as usize);
        let level = self.levels.get(at).copied().unwrap_or(0.0);
        (least, (of(&self.starts), self.low + f64::from(level)))
    }
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

    fn total(values: &[f64], levels: &[Part], penalty: f64) -> f64 {
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
            // Levels a tenth apart, and nearly enough saved: the best one may be missed by a little.
            let most = best + 0.2 + 0.1 * penalty * starts(&values, penalty).len() as f64;
            proptest::prop_assert!(found >= best - 1e-9 && found <= most, "{found} {best}");
        }
    }

    #[test]
    fn costs_of_one_segment_by_hand() {
        // Mean 2, squares 1 + 0 + 1; the outlier costs its bound.
        let cost = |values: &[f64]| partition(values, f64::INFINITY)[0].cost;
        assert!((cost(&[1.0, 2.0, 3.0]) - 2.0).abs() < 1e-9);
        assert!((cost(&[1.0, 2.0, 3.0, 500.0]) - 2.0 - BOUND).abs() < 1e-9);
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
