//! The four answers.

use super::course::{Course, LEVEL, Silence};
use super::group::Lack;
use super::looks::Looks;
use super::student;

/// The false discovery rate that a trial allows over all its cells.
const FALSE_DISCOVERIES: f64 = 0.05;
/// More rounds than this are not worth proposing.
const MOST_ROUNDS: u32 = 200;
/// With fewer boots a side no difference can be found: of 2 against 2, all of one side lie above the
/// other by chance in one of three cases.
pub const FEWEST_ROUNDS: u32 = 3;

/// What is said of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// "improved", "regressed", "unchanged", "inconclusive", "unsupported" or "failed".
    pub word: &'static str,
    /// The interval of the logarithm of the ratio.
    pub interval: Option<(f64, f64)>,
    /// Why it is not decided, or has no figures.
    pub reason: Option<String>,
    /// Rounds that would probably settle it.
    pub rounds_needed: Option<u32>,
    /// Whether more rounds are of use.
    pub open: bool,
}

impl Answer {
    fn plain(word: &'static str, reason: impl Into<Option<String>>) -> Answer {
        Answer {
            word,
            interval: None,
            reason: reason.into(),
            rounds_needed: None,
            open: false,
        }
    }
}

/// What cannot be compared.
pub(super) fn silent(silence: &Silence) -> Answer {
    let inconclusive = |why: &str| Answer::plain("inconclusive", why.to_owned());
    match silence {
        Silence::Lack(Lack::Unsupported(why)) => Answer::plain("unsupported", why.clone()),
        Silence::Lack(Lack::Failed(why)) => Answer::plain("failed", why.clone()),
        Silence::Lack(Lack::Missing) => Answer::plain("failed", "a value is missing".to_owned()),
        Silence::NotPositive => inconclusive("a value of zero or less has no ratio"),
        // As long as there are looks, as more boots may differ.
        Silence::NoSpread => Answer {
            open: true,
            ..inconclusive("no spread between boots: the perturbation does not reach this metric")
        },
        Silence::TooFew => Answer {
            open: true,
            rounds_needed: Some(FEWEST_ROUNDS),
            ..inconclusive("fewer than two boots on a side")
        },
    }
}

/// Judges a cell by its course. `p` is adjusted for the trial's other cells, `margin` on logarithms,
/// `higher_is_better` as the metric has it.
pub fn decide(
    course: &Course,
    looks: &Looks,
    p: f64,
    margin: f64,
    higher_is_better: bool,
) -> Answer {
    if course.look.is_none() {
        let first = looks.rounds().first().copied().unwrap_or(1);
        let reason = format!("it is judged after {first} rounds, which are not complete");
        return Answer {
            open: true,
            rounds_needed: Some(first),
            ..Answer::plain("inconclusive", reason)
        };
    }
    let interval = course.interval(looks, LEVEL);
    let decided = word(course, p, margin, higher_is_better);
    if let Some(word) = decided {
        return Answer {
            interval,
            ..Answer::plain(word, None)
        };
    }
    let estimate = course.contrast.estimate();
    let boots = course.boots.0.min(course.boots.1);
    let beyond = estimate.abs() > margin;
    // What lies beyond the margin and apart from zero is held back by the other cells alone.
    let by_itself = interval.filter(|_| !(beyond && course.is_apart()));
    Answer {
        interval,
        rounds_needed: by_itself.and_then(|it| rounds_needed(estimate, it, margin, boots)),
        open: is_open(course, looks),
        ..Answer::plain("inconclusive", why_open(course, looks, p, beyond))
    }
}

/// "improved", "regressed" or "unchanged", if it is decided; as [`decide`] says it.
pub fn word(course: &Course, p: f64, margin: f64, higher_is_better: bool) -> Option<&'static str> {
    let estimate = course.contrast.estimate();
    let beyond = estimate.abs() > margin;
    if course.inside && !beyond {
        return Some("unchanged");
    }
    // An earlier look may have been surer: what is said must be so of all boots that there are.
    if !beyond || !course.is_apart() || p > FALSE_DISCOVERIES {
        return None;
    }
    Some(match (estimate > 0.0) == higher_is_better {
        true => "improved",
        false => "regressed",
    })
}

/// Whether more rounds are of use to a cell that is not decided.
pub fn is_open(course: &Course, looks: &Looks) -> bool {
    let last = looks.rounds().len() - 1;
    !course.hopeless && course.look.is_none_or(|look| look < last)
}

fn why_open(course: &Course, looks: &Looks, p: f64, beyond: bool) -> Option<String> {
    let differs = course.p <= 1.0 - LEVEL;
    if differs && !course.is_apart() {
        Some("an earlier look found a difference, and all boots together do not".into())
    } else if differs && beyond {
        Some("significant alone, but not among so many comparisons".into())
    } else if differs && p <= FALSE_DISCOVERIES {
        Some("it differs, perhaps by no more than the margin".into())
    } else if course.hopeless {
        let most = looks.rounds().last().copied().unwrap_or_default();
        Some(format!("given up: {most} rounds would hardly settle it"))
    } else {
        None
    }
}

/// How many rounds would probably settle it, with the spread and the estimate as they are: the
/// interval, which shrinks with the root of the boots and with Student's quantile, must fit between
/// the estimate and the margin's edge, or, beyond the margin, leave out zero.
fn rounds_needed(estimate: f64, (low, high): (f64, f64), margin: f64, boots: u32) -> Option<u32> {
    let away = estimate.abs();
    let room = if away < margin { margin - away } else { away };
    let width = |boots: u32| {
        let quantile = student::quantile(LEVEL, 2 * boots as usize - 2);
        quantile / f64::from(boots).sqrt()
    };
    let now = width(boots.max(2));
    let half = (high - low) / 2.0;
    (boots + 1..=MOST_ROUNDS).find(|more| half * width(*more) / now <= room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_that_would_settle_it_are_those_where_the_interval_fits() {
        // Student's 97.5 % quantiles (tables): 2.306 with 8 degrees of freedom, 2.042 with 30, 2.048
        // with 28. From 2.306 / sqrt(5) the width must halve: 2.042 / sqrt(16) does, 2.048 / sqrt(15)
        // does not.
        assert_eq!(rounds_needed(0.0, (-0.02, 0.02), 0.01, 5), Some(16));
        // Beyond the margin it must leave out zero, three quarters as wide: 2.145 / sqrt(8) is, with 14
        // degrees of freedom, and 2.179 / sqrt(7) is not.
        assert_eq!(rounds_needed(0.015, (-0.005, 0.035), 0.01, 5), Some(8));
        // A hundred times as narrow takes ten thousand times the boots.
        assert_eq!(rounds_needed(0.0, (-1.0, 1.0), 0.01, 5), None);
    }
}
