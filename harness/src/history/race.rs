//! The division of a series whose levels are among some hundred that are tried side by side.
//!
//! At each level goes the cheapest past that ends at it. With each value all become dearer; where a
//! new segment is cheaper than to stay, it joins there.

use super::part::{BOUND, Part, SHORTEST, SHORTEST_LAST};

/// How far apart the levels lie, in sigmas.
const SPACING: f32 = 0.15;
/// Between values, where the level of a few may lie, one in so many is enough.
const SPARSE: i32 = 6;
/// Levels are gone through so many at a time, as processors can.
const EIGHT: usize = 8;

/// The cheapest division of `values` in sigmas, where each change costs `penalty` (above 0). Memory
/// goes with their range.
pub(super) fn run(values: &[f64], penalty: f64) -> Vec<Part> {
    let count = values.len();
    let penalty = penalty as f32;
    let mut race = Race::new(values);
    // By the number of values behind: the least cost, and start and level of the last segment.
    let mut least = vec![f32::INFINITY; count + 1];
    let mut last = vec![(0, 0.0); count + 1];
    for end in 1..=count {
        let joins = end.checked_sub(SHORTEST).filter(|start| *start >= SHORTEST);
        least[end] = race.step(end, joins.map(|start| (start, least[start] + penalty)));
        if end == count {
            for start in
                SHORTEST.max(end.saturating_sub(SHORTEST - 1))..=end.saturating_sub(SHORTEST_LAST)
            {
                least[end] = race.join(start, least[start] + penalty);
            }
        }
        if end >= SHORTEST || end == count {
            last[end] = race.holder(least[end]);
        }
    }
    let mut parts = Vec::new();
    let mut end = count;
    while end > 0 {
        let (start, level) = last[end];
        parts.push(Part {
            start,
            end,
            level,
            cost: f64::NAN,
        });
        end = start;
    }
    parts.reverse();
    parts
}

/// Levels, the middles of the bins of [`SPACING`] that hold a value and of some others, and what
/// goes on at each.
struct Race {
    /// From the middle of their range, `middle`, on.
    values: Vec<f32>,
    middle: f64,
    eights: Vec<Eight>,
}

/// Eight levels.
#[derive(Clone)]
struct Eight {
    levels: [f32; EIGHT],
    /// Of the cheapest past.
    costs: [f32; EIGHT],
    /// Where its last segment begins.
    starts: [u32; EIGHT],
    /// What each of the newest values costs.
    recent: [[f32; EIGHT]; SHORTEST],
    /// What all of them cost.
    windows: [f32; EIGHT],
}

impl Race {
    fn new(values: &[f64]) -> Race {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // From the middle on, so that a series upside down is tried at the same levels.
        let middle = low + (high - low) / 2.0;
        let values: Vec<f32> = values.iter().map(|v| (v - middle) as f32).collect();
        let bin = |value: f32| (value / SPACING).round() as i32;
        let farthest = values.iter().map(|v| bin(*v).abs()).max().unwrap_or(0);
        let place = |bin: i32| (bin + farthest) as usize;
        let mut taken = vec![
            false;
            if values.is_empty() {
                0
            } else {
                place(farthest) + 1
            }
        ];
        values.iter().for_each(|v| taken[place(bin(*v))] = true);
        let levels: Vec<f32> = (-farthest..=farthest)
            .zip(&taken)
            .filter(|(bin, taken)| **taken || bin % SPARSE == 0)
            .map(|(bin, _)| bin as f32 * SPACING)
            .collect();
        let eight = |levels: &[f32]| Eight {
            // Filled up with the last one.
            levels: std::array::from_fn(|i| levels[i.min(levels.len() - 1)]),
            costs: [0.0; EIGHT],
            starts: [0; EIGHT],
            recent: [[0.0; EIGHT]; SHORTEST],
            windows: [0.0; EIGHT],
        };
        Race {
            eights: levels.chunks(EIGHT).map(eight).collect(),
            values,
            middle,
        }
    }

    /// Adds the value before `end`; then a segment may join that began [`SHORTEST`] values ago,
    /// where that is cheaper: its start, and the cost of all before it. Returns the least cost.
    #[allow(clippy::needless_range_loop, reason = "five arrays go side by side")]
    fn step(&mut self, end: usize, joins: Option<(usize, f32)>) -> f32 {
        let bound = BOUND as f32;
        let value = self.values[end - 1];
        // Without one that may join, nothing is cheaper than to stay.
        let (start, before) = joins.map_or((0, f32::INFINITY), |(s, c)| (s as u32, c));
        let mut least = [f32::INFINITY; EIGHT];
        for eight in &mut self.eights {
            let recent = &mut eight.recent[end % SHORTEST];
            for i in 0..EIGHT {
                let off = value - eight.levels[i];
                let new = lesser(off * off, bound);
                let window = eight.windows[i] + (new - recent[i]);
                let (stay, join) = (eight.costs[i] + new, before + window);
                // All bits or none: a choice without a branch.
                let joins = u32::from(join < stay).wrapping_neg();
                eight.starts[i] = (start & joins) | (eight.starts[i] & !joins);
                eight.costs[i] = lesser(join, stay);
                eight.windows[i] = window;
                recent[i] = new;
                least[i] = lesser(eight.costs[i], least[i]);
            }
        }
        least.into_iter().fold(f32::INFINITY, f32::min)
    }

    /// A last segment, shorter than others may be, joins where that is cheaper. Returns the least
    /// cost.
    fn join(&mut self, start: usize, before: f32) -> f32 {
        let own = &self.values[start..];
        let mut least = f32::INFINITY;
        for eight in &mut self.eights {
            for i in 0..EIGHT {
                let level = eight.levels[i];
                let costs = own
                    .iter()
                    .map(|v| lesser((v - level) * (v - level), BOUND as f32));
                let join = before + costs.sum::<f32>();
                if join < eight.costs[i] {
                    (eight.costs[i], eight.starts[i]) = (join, start as u32);
                }
                least = lesser(eight.costs[i], least);
            }
        }
        least
    }

    /// Start and level of the last segment of the first past with this cost.
    fn holder(&self, cost: f32) -> (usize, f64) {
        let any = |eight: &&Eight| eight.costs.iter().fold(false, |any, c| any | (*c == cost));
        let Some(eight) = self.eights.iter().find(any) else {
            return (0, self.middle);
        };
        let at = eight.costs.iter().position(|c| *c == cost).unwrap_or(0);
        let level = self.middle + f64::from(eight.levels[at]);
        (eight.starts[at] as usize, level)
    }
}

/// The first if it is less, in one instruction.
fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}
