//! Iterations of a boot that differ by their place in it: warm-up and drift.
//!
//! Iterations inside a boot may depend on each other, so they are no test by themselves: each boot
//! has one sign, and the signs of boots are tested. For a trend the sign is that of the boot's share
//! of Page's L (J. Am. Stat. Assoc. 58, 1963, p. 216); for the first iteration, whether it ranks in
//! the upper or the lower half.

use super::chance::signs;
use super::{Boot, Group, Note, median};

/// Levels: of a trend and of the first iteration in both sides together, and of each in one side
/// alone. With four of the last they come to 1 % a cell.
const TREND: f64 = 0.004;
const FIRST: f64 = 0.002;
const ALONE: f64 = 0.001;

/// What iterations do in both sides, or else in one of them.
pub(super) fn notes(base: &Group, variant: &Group, floor: f64) -> Vec<Note> {
    let both: Vec<&Boot> = base.boots.iter().chain(&variant.boots).collect();
    let name = format!("{} and {}", base.name, variant.name);
    if let Some(note) = note(&name, &both, (TREND, FIRST), floor) {
        return vec![note];
    }
    let one = |group: &Group| {
        let boots: Vec<&Boot> = group.boots.iter().collect();
        note(group.name, &boots, (ALONE, ALONE), floor)
    };
    [base, variant].into_iter().filter_map(one).collect()
}

fn note(of: &str, boots: &[&Boot], (trend, first): (f64, f64), floor: f64) -> Option<Note> {
    let iterations = boots.iter().map(|boot| boot.samples.len()).max()?;
    let mut boots = boots.to_vec();
    boots.retain(|boot| boot.samples.len() == iterations);
    if iterations < 2 {
        return None;
    }
    let rising = Signs::of(&boots, |boot| page(&boot.samples));
    let starts = Signs::of(&boots, |boot| first_rank(&boot.samples));
    let has_trend = rising.p() <= trend;
    let of = of.to_owned();
    if has_trend && shape(&boots) == Shape::Steady {
        let by = slope(&median_profile(&boots, false)) * (iterations - 1) as f64;
        return (by.abs() >= floor).then(|| Note::Drift {
            of,
            by: by.exp_m1(),
            boots: rising.more(),
            out_of: boots.len(),
        });
    }
    if !has_trend && starts.p() > first {
        return None;
    }
    let step = |boot: &&Boot| Some(boot.samples[0] - median(&boot.samples[1..])?);
    let by = median(&boots.iter().filter_map(step).collect::<Vec<_>>())?;
    if by.abs() < floor {
        return None;
    }
    let (by, boots_so, out_of) = (by.exp_m1(), starts.more(), boots.len());
    Some(if has_trend && shape(&boots) == Shape::Unknown {
        Note::Uneven {
            of,
            by,
            boots: boots_so,
            out_of,
        }
    } else {
        Note::WarmUp {
            of,
            by,
            boots: boots_so,
            out_of,
        }
    })
}

/// How many boots have a positive and a negative sign; those of zero say nothing.
struct Signs {
    up: usize,
    down: usize,
}

impl Signs {
    fn of(boots: &[&Boot], sign: impl Fn(&Boot) -> f64) -> Signs {
        let signs: Vec<f64> = boots.iter().map(|boot| sign(boot)).collect();
        Signs {
            up: signs.iter().filter(|sign| **sign > 0.0).count(),
            down: signs.iter().filter(|sign| **sign < 0.0).count(),
        }
    }

    fn p(&self) -> f64 {
        signs(self.up, self.down)
    }

    fn more(&self) -> usize {
        self.up.max(self.down)
    }
}

/// A boot's share of Page's L, less what is expected without a trend: the sum of places times
/// ranks. Equal values share the mean of their ranks.
fn page(samples: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by(|&a, &b| samples[a].total_cmp(&samples[b]));
    let middle = (samples.len() as f64 + 1.0) / 2.0;
    let mut sum = 0.0;
    let mut before = 0;
    for tied in order.chunk_by(|&a, &b| samples[a] == samples[b]) {
        let rank = before as f64 + (tied.len() as f64 + 1.0) / 2.0;
        let places: f64 = tied.iter().map(|&at| at as f64 + 1.0 - middle).sum();
        sum += (rank - middle) * places;
        before += tied.len();
    }
    sum
}

/// By how many more values the first is above than below; zero in the very middle.
fn first_rank(samples: &[f64]) -> f64 {
    let Some((first, rest)) = samples.split_first() else {
        return 0.0;
    };
    let above = rest.iter().filter(|value| *value < first).count();
    let below = rest.iter().filter(|value| *value > first).count();
    above as f64 - below as f64
}

#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// It goes on to the end as it began.
    Steady,
    /// It comes to rest.
    Settling,
    /// Two values can't tell.
    Unknown,
}

/// How a trend goes on: it is steady when the second half is at least half as steep as the first.
/// Warm-ups count here, as they show how it began.
fn shape(boots: &[&Boot]) -> Shape {
    let whole = median_profile(boots, true);
    if whole.len() < 3 {
        return Shape::Unknown;
    }
    let middle = whole.len() / 2;
    let direction = slope(&median_profile(boots, false)).signum();
    let [early, late] = [&whole[..=middle], &whole[middle..]].map(|half| direction * slope(half));
    if late > 0.0 && late >= early / 2.0 {
        Shape::Steady
    } else {
        Shape::Settling
    }
}

/// What is usual at each place of a side's boots, beside their levels.
pub(super) fn profile(group: &Group) -> Vec<f64> {
    let boots: Vec<&Boot> = group.boots.iter().collect();
    median_profile(&boots, false)
}

/// The median over boots of each value above its boot's level, in order, with warm-ups or without;
/// values that not all boots have are left out.
fn median_profile(boots: &[&Boot], with_warmups: bool) -> Vec<f64> {
    let above_level = |boot: &&Boot| -> Vec<f64> {
        let warmups = boot.warmups.iter().filter(|_| with_warmups);
        let values = warmups.chain(&boot.samples);
        values.map(|value| value - boot.level).collect()
    };
    let all: Vec<Vec<f64>> = boots.iter().map(above_level).collect();
    let length = all.iter().map(Vec::len).min().unwrap_or_default();
    (0..length)
        .filter_map(|at| median(&all.iter().map(|values| values[at]).collect::<Vec<_>>()))
        .collect()
}

/// The least squares slope over places.
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut top, mut bottom) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let from_middle = at as f64 - middle;
        top += from_middle * value;
        bottom += from_middle * from_middle;
    }
    if bottom > 0.0 { top / bottom } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_pages_l_add_up_to_the_one_of_scipy() {
        // scipy 1.17.1, the example of its page_trend_test (students' ratings of three classes):
        // L = 133.5, where 10 * 3 * 4^2 / 4 = 120 are expected.
        let ratings = [
            [3.0, 4.0, 3.0],
            [2.0, 2.0, 4.0],
            [3.0, 3.0, 5.0],
            [1.0, 3.0, 2.0],
            [2.0, 3.0, 2.0],
            [2.0, 4.0, 5.0],
            [1.0, 2.0, 4.0],
            [3.0, 4.0, 4.0],
            [2.0, 4.0, 5.0],
            [1.0, 3.0, 4.0],
        ];
        let sum: f64 = ratings.iter().map(|row| page(row)).sum();
        assert!((sum - 13.5).abs() < 1e-12, "{sum}");
        assert_eq!(page(&[1.0, 1.0, 1.0]), 0.0);
        assert_eq!(page(&[3.0, 2.0]), -0.5);
    }

    #[test]
    fn the_first_ranks_above_below_or_in_the_middle() {
        assert_eq!(first_rank(&[2.0, 1.0, 3.0]), 0.0);
        assert_eq!(first_rank(&[9.0, 1.0, 3.0, 4.0]), 3.0);
        assert_eq!(first_rank(&[1.0, 1.0, 3.0]), -1.0);
        assert_eq!(first_rank(&[1.0]), 0.0);
    }

    #[test]
    fn a_slope_is_that_of_least_squares() {
        // numpy 2: polyfit(range(4), [1, 3, 2, 5], 1)[0] = 1.1.
        assert!((slope(&[1.0, 3.0, 2.0, 5.0]) - 1.1).abs() < 1e-12);
        assert_eq!(slope(&[4.0]), 0.0);
    }
}
