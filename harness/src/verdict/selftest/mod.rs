//! The A/A self-test: boots of one kernel, split again and again at random into two sides between
//! which there is no difference, and judged as any trial is.
//!
//! The splits overlap, so the rate of alarms is less certain than as many trials would make it. Its
//! error is estimated by the infinitesimal jackknife for statistics of subsamples (Efron, J. Am.
//! Stat. Assoc. 109, 2014, p. 991; Wager, Hastie and Efron, J. Mach. Learn. Res. 15, 2014, p. 1625,
//! with the correction for a finite number of splits of its section 3.1).

pub mod kept;
pub mod stored;
pub mod text;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::adjust;
use super::course::{self, Course, EQUIVALENCE};
use super::decide::{self, Answer};
use super::group::Group;
use super::looks::Looks;

/// The chance with which an effect must be found, or no effect settled, to count as seen.
const POWER: f64 = 0.8;
/// Splits for the effects that would be found; a rate of 80 % is then known to 2 %.
const EFFECT_SPLITS: usize = 400;

/// The boots of one kernel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Boots {
    /// What was measured.
    pub cells: Vec<Measured>,
    /// By boot and cell: values in the cell's unit, in the order of iterations.
    pub values: Vec<Vec<Vec<f64>>>,
}

/// A cell that all boots have values of.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// A name for people.
    pub name: String,
    /// Whether more of it is better.
    pub higher: bool,
    /// Differences within this share count as none, between 0 and 1.
    pub margin: f64,
}

/// What the self-test found.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfTest {
    /// Boots there are.
    pub boots: usize,
    /// Boots a side of each split.
    pub side: usize,
    /// Splits that were judged.
    pub splits: usize,
    /// Splits with an alarm in any cell.
    pub alarms: Rate,
    /// Cells that alone differ at 5 %, over all splits and cells, margin or not: a share that
    /// is 0.05 at most if the test is right.
    pub differs: Rate,
    /// By cell.
    pub cells: Vec<CellTest>,
}

/// How often something was so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The share of splits, 0 to 1.
    pub share: f64,
    /// The half width of its 95 % interval. None where a split takes more than half of the boots: then
    /// all splits say much the same, and nothing says how other boots would do.
    pub half: Option<f64>,
}

/// What the self-test found in one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellTest {
    /// What was measured.
    pub name: String,
    /// Splits in which it alone differs at 5 %.
    pub differs: f64,
    /// Splits in which it was called improved or regressed.
    pub alarms: f64,
    /// Whether chance shows in it at all: not where all boots are alike.
    pub varies: bool,
    /// The smallest effect that is told from none in four of five splits, as a share: 0.01 is 1 %. None
    /// where the boots of a side are too few for any.
    pub sees: Option<f64>,
    /// The smallest margin inside which four of five splits are settled as unchanged.
    pub settles: Option<f64>,
}

/// Judges `splits` random splits of `side` boots against `side`, as in a trial; the same for the same
/// seed. None if there are not enough boots for one split, or no cells.
pub fn run(boots: &Boots, side: usize, splits: usize, seed: u64) -> Option<SelfTest> {
    if boots.values.len() < 2 * side
        || side < decide::FEWEST_ROUNDS as usize
        || boots.cells.is_empty()
        || splits < 2
    {
        return None;
    }
    let looks = Looks::new(&[u32::try_from(side).ok()?]);
    let drawn: Vec<Split> = (0..splits)
        .into_par_iter()
        .map(|number| Split::draw(boots, side, seed, number as u64))
        .collect();
    let judged: Vec<Vec<Judged>> = drawn
        .par_iter()
        .map(|split| split.judge(boots, &looks))
        .collect();
    let any: Vec<f64> = judged
        .iter()
        .map(|cells| f64::from(u8::from(cells.iter().any(|cell| cell.alarm))))
        .collect();
    let cells = boots.cells.len() as f64;
    let differing: Vec<f64> = judged
        .iter()
        .map(|of| of.iter().filter(|cell| cell.differs).count() as f64 / cells)
        .collect();
    let share = |cell: usize, is: fn(&Judged) -> bool| {
        judged.iter().filter(|of| is(&of[cell])).count() as f64 / splits as f64
    };
    let some: Vec<Vec<Option<Course>>> = drawn[..EFFECT_SPLITS.min(splits)]
        .par_iter()
        .map(|split| split.courses(boots, &looks))
        .collect();
    let cell_tests = (0..boots.cells.len()).into_par_iter().map(|cell| {
        let intervals = |level: f64| -> Vec<Option<(f64, f64)>> {
            let courses = some.iter().map(|of| of[cell].as_ref());
            courses
                .map(|course| course?.contrast.interval(level))
                .collect()
        };
        CellTest {
            varies: some.iter().any(|of| of[cell].is_some()),
            name: boots.cells[cell].name.clone(),
            differs: share(cell, |judged| judged.differs),
            alarms: share(cell, |judged| judged.alarm),
            sees: mostly(&intervals(course::LEVEL), |(low, _)| -low),
            settles: mostly(&intervals(1.0 - EQUIVALENCE), |(low, high)| high.max(-low)),
        }
    });
    Some(SelfTest {
        boots: boots.values.len(),
        side,
        splits,
        alarms: rate(&any, &drawn, boots.values.len()),
        differs: rate(&differing, &drawn, boots.values.len()),
        cells: cell_tests.collect(),
    })
}

/// The size, as a share, that is enough for four of five intervals: an effect is found where it
/// lifts the interval above zero, and a margin settles where it holds the interval.
fn mostly(intervals: &[Option<(f64, f64)>], needs: fn((f64, f64)) -> f64) -> Option<f64> {
    let mut sizes: Vec<f64> = intervals
        .iter()
        .map(|interval| interval.map_or(f64::INFINITY, needs))
        .collect();
    sizes.sort_by(f64::total_cmp);
    let enough = (POWER * sizes.len() as f64).ceil() as usize;
    let size = *sizes.get(enough.checked_sub(1)?)?;
    Some(size.exp_m1()).filter(|size| size.is_finite())
}

/// A cell of a split, judged.
struct Judged {
    differs: bool,
    alarm: bool,
}

/// Which boots are on which side.
struct Split {
    base: Vec<usize>,
    variant: Vec<usize>,
}

impl Split {
    fn draw(boots: &Boots, side: usize, seed: u64, number: u64) -> Split {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        let mut all: Vec<usize> = (0..boots.values.len()).collect();
        let (chosen, _) = all.partial_shuffle(&mut random, 2 * side);
        let (base, variant) = chosen.split_at(side);
        Split {
            base: base.to_vec(),
            variant: variant.to_vec(),
        }
    }

    /// All cells of the split, compared.
    fn courses(&self, boots: &Boots, looks: &Looks) -> Vec<Option<Course>> {
        let group = |side: &[usize], cell: usize| Group {
            rounds: (0..).take(side.len()).collect(),
            values: side
                .iter()
                .map(|boot| boots.values[*boot][cell].clone())
                .collect(),
            ..Group::default()
        };
        let compared: Vec<_> = (0..boots.cells.len())
            .map(|cell| {
                let (base, variant) = (group(&self.base, cell), group(&self.variant, cell));
                course::compare(&base, &variant, looks).ok()
            })
            .collect();
        let modes = course::modes_by_look(compared.iter().flatten(), looks);
        let each = compared.into_iter().zip(&boots.cells);
        each.map(|(of, cell)| Course::of(of?, &modes, looks, cell.margin.ln_1p()))
            .collect()
    }

    fn judge(&self, boots: &Boots, looks: &Looks) -> Vec<Judged> {
        let courses = self.courses(boots, looks);
        let mut p: Vec<Option<f64>> = courses
            .iter()
            .map(|course| course.as_ref().map(|course| course.p))
            .collect();
        adjust::benjamini_hochberg(&mut p);
        let cells = courses.iter().zip(p).zip(&boots.cells);
        cells
            .map(|((course, p), cell)| {
                let answer = |course: &Course| -> Answer {
                    let (p, margin) = (p.unwrap_or(1.0), cell.margin.ln_1p());
                    decide::decide(course, looks, p, margin, cell.higher)
                };
                let word = course.as_ref().map(|course| answer(course).word);
                Judged {
                    differs: course.as_ref().is_some_and(|course| course.p <= 0.05),
                    alarm: matches!(word, Some("improved" | "regressed")),
                }
            })
            .collect()
    }

    fn has(&self, boot: usize) -> bool {
        self.base.contains(&boot) || self.variant.contains(&boot)
    }
}

/// The mean over splits.
fn rate(outcomes: &[f64], splits: &[Split], boots: usize) -> Rate {
    let count = outcomes.len() as f64;
    let mean = outcomes.iter().sum::<f64>() / count;
    let spread = outcomes.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / count;
    let (all, drawn) = (
        boots as f64,
        splits.first().map_or(0, |s| 2 * s.base.len()) as f64,
    );
    let covariances = (0..boots).map(|boot| {
        let sum: f64 = splits
            .iter()
            .zip(outcomes)
            .map(|(split, t)| (f64::from(u8::from(split.has(boot))) - drawn / all) * (t - mean))
            .sum();
        (sum / count).powi(2)
    });
    let without_replacement = (all - 1.0) / all * (all / (all - drawn).max(1.0)).powi(2);
    let jackknife = without_replacement * covariances.sum::<f64>();
    // What chance adds to so many covariances of so few splits.
    let noise = without_replacement * drawn * (1.0 - drawn / all) * spread / count;
    let variance = (jackknife - noise).max(0.0) + spread / count;
    Rate {
        share: mean,
        half: (2.0 * drawn <= all).then(|| 1.96 * variance.sqrt()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// 60 boots of two cells of normal noise, 1 % between boots.
    fn boots() -> Boots {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let mut normal = || {
            let (a, b): (f64, f64) = (random.random(), random.random());
            (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
        };
        let mut boot = |_| {
            (0..2)
                .map(|_| {
                    let level = 100.0 * (0.01 * normal()).exp();
                    vec![level]
                })
                .collect()
        };
        Boots {
            cells: [("a", true), ("b", false)]
                .map(|(name, higher)| Measured {
                    name: name.into(),
                    higher,
                    margin: 0.01,
                })
                .into(),
            values: (0..60).map(&mut boot).collect(),
        }
    }

    #[test]
    fn normal_noise_gives_what_students_test_would() {
        let found = run(&boots(), 5, 200, 1).unwrap();
        assert!(
            found.differs.share < 0.09 && found.differs.share > 0.01,
            "{found:?}"
        );
        assert!(found.alarms.share < 0.06, "{found:?}");
        // 5 against 5, sigma 1 %: Student's test has 80 % power at 2.02 sigma (scipy 1.17.1:
        // nct.sf(2.306, 8, d * sqrt(5 / 2)) = 0.8 at d = 2.0); the spread of 60 boots is known
        // to 9 %.
        for cell in &found.cells {
            let sees = cell.sees.unwrap();
            assert!((0.016..0.027).contains(&sees), "{cell:?}");
            assert!(cell.settles.unwrap() > 0.01, "{cell:?}");
        }
        assert_eq!(found, run(&boots(), 5, 200, 1).unwrap());
    }

    #[test]
    fn the_interval_knows_that_splits_overlap() {
        // Half of 60 boots are marked, and a split's outcome is how many of its 10 are. Over all
        // splits that is 10 times the share of marked boots, whose variance with boots drawn anew
        // is s^2 / 60 with s^2 = 60 / 59 / 4; however many splits there are.
        let boots = boots();
        let splits: Vec<Split> = (0..4000).map(|i| Split::draw(&boots, 5, 7, i)).collect();
        let marked = |split: &Split| {
            let all = split.base.iter().chain(&split.variant);
            all.filter(|boot| **boot < 30).count() as f64
        };
        let outcomes: Vec<f64> = splits.iter().map(marked).collect();
        let found = rate(&outcomes, &splits, 60);
        assert!((found.share - 5.0).abs() < 0.1, "{found:?}");
        let half = found.half.unwrap();
        let expected = 1.96 * (100.0 * 60.0 / 59.0 / 4.0 / 60.0f64).sqrt();
        assert!((half / expected - 1.0).abs() < 0.05, "{half} {expected}");
    }

    #[test]
    fn splits_of_nearly_all_boots_say_nothing_of_others() {
        let found = run(&boots(), 30, 20, 1).unwrap();
        assert_eq!((found.alarms.half, found.differs.half), (None, None));
        assert!(run(&boots(), 15, 20, 1).unwrap().alarms.half.is_some());
    }

    #[test]
    fn too_few_boots_are_no_test() {
        assert_eq!(run(&boots(), 31, 100, 1), None);
        assert_eq!(run(&Boots::default(), 5, 100, 1), None);
    }
}
