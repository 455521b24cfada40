//! Looking more than once: a trial that is judged after 4, 5, 6, ... rounds, and ends as soon as
//! something is decided, would cry wolf three times as often as it says if each look were taken at
//! 5 %. So each look may spend only its share of the 5 %, and what it finds is told as the chance
//! that any of the looks so far would have found it.
//!
//! Sources: Lan and DeMets, Biometrika 70 (1983), p. 659 (spending, at looks nobody has to fix
//! beforehand); Kim and DeMets, Biometrika 74 (1987), p. 149 (the spending function a t^r);
//! Armitage, McPherson and Rowe, J. R. Statist. Soc. A 132 (1969), p. 235 (the recursion from look
//! to look); Jennison and Turnbull, *Group Sequential Methods* (2000), section 3.8 (levels found
//! for a normal statistic are used with a t test's p-values), chapter 9 (repeated intervals),
//! section 10.2 (giving up).

use std::f64::consts::{PI, SQRT_2};

/// The power of the spending function: with 1, each round may spend the same.
const POWER: f64 = 1.0;
/// Overall levels that boundaries are computed for; between them lie straight lines, on
/// logarithms.
const LEVELS: [f64; 18] = [
    1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 5e-4, 2e-3, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2,
    0.4, 0.7, 0.95,
];
/// Points of the grid on which paths that have not ended are counted; odd, for Simpson's rule.
const GRID: usize = 161;
/// Standard deviations beyond which no path is counted.
const FAR: f64 = 9.0;
/// The drift that all rounds together would find with a chance of 80 % at 5 %: 1.960 + 0.842.
const PLANNED_DRIFT: f64 = 2.802;
/// A cell is given up when, even with the planned drift, its chance has fallen below this.
const GIVE_UP: f64 = 0.2;

/// After which rounds a trial is judged, and what each of these looks may spend.
#[derive(Debug, Clone)]
pub struct Looks {
    rounds: Vec<u32>,
    /// By look and entry of [`LEVELS`]: the logarithm of the nominal two-sided p-value at which the
    /// look ends a trial of that overall level.
    nominal: Vec<[f64; LEVELS.len()]>,
}

impl Looks {
    /// Looks after these rounds, growing; the last one is the most that there can be. Others than
    /// growing ones are left out; no look at all is one after a single round.
    pub fn new(rounds: &[u32]) -> Looks {
        let mut kept: Vec<u32> = Vec::with_capacity(rounds.len());
        for &round in rounds {
            if kept.last().is_none_or(|last| round > *last) && round > 0 {
                kept.push(round);
            }
        }
        if kept.is_empty() {
            kept.push(1);
        }
        let most = kept.last().map_or(1.0, |last| f64::from(*last));
        let times: Vec<f64> = kept.iter().map(|round| f64::from(*round) / most).collect();
        let mut nominal = vec![[0.0; LEVELS.len()]; kept.len()];
        for (entry, level) in LEVELS.iter().enumerate() {
            for (look, p) in boundaries(&times, *level).into_iter().enumerate() {
                nominal[look][entry] = p.ln();
            }
        }
        Looks {
            rounds: kept,
            nominal,
        }
    }

    /// The rounds of each look.
    pub fn rounds(&self) -> &[u32] {
        &self.rounds
    }

    /// The overall level at which `p`, two-sided and in [0, 1], would just have ended the trial at
    /// this look: a p-value that holds whenever the trial ends, as the smallest of all looks so
    /// far. In [0, 1]; with one look alone it is `p` itself.
    pub fn overall(&self, look: usize, p: f64) -> f64 {
        let Some(nominal) = self.nominal.get(look) else {
            return 1.0;
        };
        let levels = LEVELS.map(f64::ln);
        if p.ln() > nominal[LEVELS.len() - 1] && self.rounds.len() > 1 {
            return 1.0;
        }
        line(nominal, &levels, p.ln()).exp().min(1.0)
    }

    /// The nominal two-sided level of this look in a trial of an overall level `alpha` (0 to 1,
    /// open): what an interval of this look must be taken at to hold at every look.
    pub fn nominal(&self, look: usize, alpha: f64) -> f64 {
        let levels = LEVELS.map(f64::ln);
        let nominal = self.nominal.get(look);
        nominal.map_or(alpha, |nominal| line(&levels, nominal, alpha.ln()).exp())
    }

    /// Whether the rounds that are left would hardly make a difference of what has nominal
    /// two-sided p-value `p` at this look: the chance of ending below 5 % at the last look, with the
    /// drift that the whole trial was made to find, is below one in five. Never so at the last look,
    /// which leaves nothing to give up.
    pub fn is_hopeless(&self, look: usize, p: f64) -> bool {
        let (Some(round), Some(most)) = (self.rounds.get(look), self.rounds.last()) else {
            return false;
        };
        let time = f64::from(*round) / f64::from(*most);
        if time >= 1.0 {
            return false;
        }
        let now = upper_quantile(p / 2.0) * time.sqrt();
        let wanted = upper_quantile(self.nominal(self.rounds.len() - 1, 0.05) / 2.0);
        let missing = wanted - now - PLANNED_DRIFT * (1.0 - time);
        upper_tail(missing / (1.0 - time).sqrt()) < GIVE_UP
    }
}

/// Looks for a trial of at most `most` rounds: after `first`, and then a tenth or at least `step`
/// rounds on each time.
pub fn schedule(first: u32, step: u32, most: u32) -> Vec<u32> {
    let step = step.max(1);
    let mut rounds = Vec::new();
    let mut next = first.max(1);
    while next < most {
        rounds.push(next);
        next += step.max(next / 10);
    }
    rounds.push(most);
    rounds
}

/// The nominal two-sided p-value that ends the trial at each of the looks, which lie at `times` in
/// (0, 1], so that the chance of ending by look k without a difference is `alpha` times t^[`POWER`].
fn boundaries(times: &[f64], alpha: f64) -> Vec<f64> {
    let mut levels = Vec::with_capacity(times.len());
    let mut paths = Paths::new();
    let (mut spent, mut before) = (0.0, 0.0);
    for &time in times {
        let budget = alpha * time.powf(POWER);
        let step = (time - before).sqrt();
        let bound = paths.bound(step, budget - spent);
        levels.push(2.0 * upper_tail(bound / time.sqrt()));
        paths.go_on(step, bound);
        (spent, before) = (budget, time);
    }
    levels
}

/// Where the sum stands of those paths that have not ended: a density on a grid from -edge to edge.
struct Paths {
    edge: f64,
    /// Density times Simpson's weight. One point of weight 1 at the start.
    weights: Vec<f64>,
}

impl Paths {
    fn new() -> Paths {
        Paths {
            edge: 0.0,
            weights: vec![1.0],
        }
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let last = (self.weights.len() - 1).max(1) as f64;
        let at = move |i: usize| self.edge * (2.0 * i as f64 / last - 1.0);
        self.weights.iter().enumerate().map(move |(i, w)| {
            let place = if self.weights.len() == 1 { 0.0 } else { at(i) };
            (place, *w)
        })
    }

    /// The chance of a path to be beyond `bound`, on either side, a step on.
    fn beyond(&self, step: f64, bound: f64) -> f64 {
        let upper: f64 = self
            .points()
            .map(|(place, weight)| weight * upper_tail((bound - place) / step))
            .sum();
        2.0 * upper
    }

    /// The bound that a share `budget` of all paths passes, a step on.
    fn bound(&self, step: f64, budget: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.edge + FAR * step);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if self.beyond(step, middle) > budget {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// A step on, without the paths that are beyond `bound`.
    fn go_on(&mut self, step: f64, bound: f64) {
        let spacing = 2.0 * bound / (GRID - 1) as f64;
        let density = |at: f64| -> f64 {
            let part = |(place, weight): (f64, f64)| {
                let z = (at - place) / step;
                weight * (-z * z / 2.0).exp()
            };
            self.points().map(part).sum::<f64>() / (step * (2.0 * PI).sqrt())
        };
        let simpson = |i: usize| match i {
            0 => 1.0,
            i if i == GRID - 1 => 1.0,
            i if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let weights = (0..GRID).map(|i| {
            let at = bound * (2.0 * i as f64 / (GRID - 1) as f64 - 1.0);
            density(at) * simpson(i) * spacing / 3.0
        });
        self.weights = weights.collect();
        self.edge = bound;
    }
}

/// Straight lines through the points (`from`, `to`), both growing; the first and the last line go
/// on.
fn line(from: &[f64; LEVELS.len()], to: &[f64; LEVELS.len()], at: f64) -> f64 {
    let after = from.partition_point(|x| *x < at).clamp(1, LEVELS.len() - 1);
    let (x, y) = (from[after - 1], to[after - 1]);
    let run = from[after] - x;
    if run > 0.0 {
        y + (to[after] - y) * (at - x) / run
    } else {
        y
    }
}

/// P(Z > z) of the standard normal.
fn upper_tail(z: f64) -> f64 {
    libm::erfc(z / SQRT_2) / 2.0
}

/// The z whose upper tail is `p`, by halves.
fn upper_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if upper_tail(middle) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn z(p: f64) -> f64 {
        upper_quantile(p / 2.0)
    }

    const FIVE: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

    /// The share of paths that have ended after each of five looks with these bounds for z.
    fn ended(bounds: [f64; 5]) -> Vec<f64> {
        let mut paths = Paths::new();
        let mut sum = 0.0;
        let step = 0.2f64.sqrt();
        let next = |(time, bound): (&f64, f64)| {
            sum += paths.beyond(step, bound * time.sqrt());
            paths.go_on(step, bound * time.sqrt());
            sum
        };
        FIVE.iter().zip(bounds).map(next).collect()
    }

    #[test]
    fn the_constants_of_pocock_and_of_obrien_and_fleming_spend_5_percent() {
        // Five looks at a two-sided 5 %: 2.413 at each (Pocock, Biometrika 64, 1977, table 1), and
        // 2.040 times the root of 5 / k (O'Brien and Fleming, Biometrics 35, 1979; Jennison and
        // Turnbull, tables 2.1 and 2.3). On the way as scipy 1.17.1 integrates the same:
        // 1 - multivariate_normal.cdf(b, cov, lower_limit=-b), cov of sqrt(t_i / t_j).
        let pocock = ended([2.413; 5]);
        let expected = [
            0.015_821_8,
            0.027_538_8,
            0.036_561_4,
            0.043_874_5,
            0.050_022_0,
        ];
        for (found, expected) in pocock.iter().zip(expected) {
            assert!((found - expected).abs() < 2e-6, "{pocock:?}");
        }
        let fleming = ended(FIVE.map(|time| 2.040 / f64::sqrt(time)));
        let expected = [5.077e-6, 0.001_259_6, 0.008_906_1, 0.025_590_4, 0.050_009_2];
        for (found, expected) in fleming.iter().zip(expected) {
            assert!((found - expected).abs() < 2e-6, "{fleming:?}");
        }
    }

    #[test]
    fn spending_in_proportion_to_time_spends_a_fifth_at_each_of_five_looks() {
        let found: Vec<f64> = boundaries(&FIVE, 0.05).into_iter().map(z).collect();
        let expected = [2.575_829, 2.491_968, 2.410_835, 2.339_155, 2.275_524];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 2e-4, "{found} {expected}");
        }
        // scipy, as above, of these bounds: 0.0100000, 0.0200000, 0.0299997, 0.0399994, 0.0499987.
        let spent = ended(expected);
        for (spent, look) in spent.iter().zip(1..) {
            assert!((spent - 0.01 * f64::from(look)).abs() < 2e-6, "{spent}");
        }
    }

    #[test]
    fn a_single_look_is_the_plain_test() {
        let looks = Looks::new(&[12]);
        for p in [1e-9, 1e-5, 0.003, 0.049, 0.3, 0.8, 1.0] {
            assert!((looks.overall(0, p) / p - 1.0).abs() < 1e-6, "{p}");
            assert!((looks.nominal(0, p) / p - 1.0).abs() < 1e-6, "{p}");
        }
    }

    #[test]
    fn what_is_spent_is_what_may_be() {
        let looks = Looks::new(&schedule(4, 1, 24));
        assert_eq!(looks.rounds()[0], 4);
        for (look, _) in looks.rounds().iter().enumerate() {
            for alpha in [0.001, 0.03, 0.05, 0.1] {
                let back = looks.overall(look, looks.nominal(look, alpha));
                assert!((back / alpha - 1.0).abs() < 1e-9, "{look} {alpha} {back}");
            }
            assert!(looks.nominal(look, 0.05) < 0.05);
        }
        // The first look spends 4 / 24 of it.
        assert!((looks.nominal(0, 0.05) - 0.05 / 6.0).abs() < 1e-4);
    }

    #[test]
    fn the_schedule_ends_with_the_most() {
        assert_eq!(schedule(4, 1, 8), [4, 5, 6, 7, 8]);
        assert_eq!(schedule(4, 2, 9), [4, 6, 8, 9]);
        assert_eq!(schedule(4, 1, 3), [3]);
        let long = schedule(4, 1, 100);
        assert_eq!(long.last(), Some(&100));
        assert!(long.len() < 40, "{long:?}");
    }

    #[test]
    fn a_cell_is_given_up_when_the_planned_drift_is_out_of_reach() {
        let looks = Looks::new(&[6, 12]);
        // Half-way with z = 0: 2.178 is wanted at the end, 1.401 can be expected of the rest, so
        // the chance is P(Z > (2.178 - 1.401) / 0.7071) = P(Z > 1.10) = 0.136.
        assert!(looks.is_hopeless(0, 1.0));
        // With z = 1 half-way: (2.178 - 0.707 - 1.401) / 0.7071 = 0.10, 0.46.
        assert!(!looks.is_hopeless(0, 0.3173));
    }
}
