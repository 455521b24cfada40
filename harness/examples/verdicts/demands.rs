//! What must hold of ktrial in every row.

use crate::host::{Noise, Row};
use crate::judges::LEVEL;
use crate::trials::{Outcome, SHIFTS, Scores, alarms_again};

/// So many standard errors above the nominal level a figure may be by chance: that happens in 5 % of
/// full runs if all alarms of 4 numbers of boots, 4 spreads, 9 kinds of noise and 3 sizes of trials
/// are at that level (Bonferroni, one-sided).
const FAMILY: f64 = 3.7;
/// Between this many and those, alarms are counted again with a second seed and so many times the
/// cells, and judged by that count and this bound alone. It is the bound of leads as well.
const DOUBT: f64 = 2.6;
const AGAIN: usize = 4;
/// Finds are judged where the better of the peers finds this share, at shifts beyond the margin of
/// verdicts, from so many rounds on.
const JUDGED: std::ops::RangeInclusive<f64> = 0.1..=0.95;
const MARGIN: f64 = 0.01;
const ROUNDS: usize = 5;
/// So much less than the better of the peers it may find in normal noise, and where the host drifts
/// too weakly to be seen in some.
const LOSS: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The share of unshifted trials with an alarm.
    Alarms,
    /// The share of false ones among calls.
    FalseDiscoveries,
    /// The share of cells called unchanged, of those shifted by just the margin.
    Unchanged,
    /// How much more than the better of the peers is found, in normal noise and weak drift.
    Normal,
    /// The same with drift, skewed noise or outliers.
    Other,
}

/// One figure that something is demanded of.
#[derive(Debug)]
pub struct Check {
    pub kind: Kind,
    pub row: Row,
    pub size: usize,
    /// Where cells are shifted.
    pub shift: Option<f64>,
    pub value: f64,
    /// Whether it was asked again.
    pub again: bool,
    pub holds: bool,
}

/// All that is demanded of a row.
pub fn checks(outcome: &Outcome, seed: u64, null: usize) -> Vec<Check> {
    let of_size = |scores: &Scores| {
        let mut checks = vec![alarms(&outcome.row, scores, seed, null)];
        checks.extend(false_discoveries(&outcome.row, scores));
        checks.extend(finds(&outcome.row, scores));
        checks
    };
    let mut checks: Vec<Check> = outcome.sizes.iter().flat_map(of_size).collect();
    checks.extend(unchanged(outcome));
    checks
}

/// The standard error of a share that is just the nominal level.
fn error(count: usize) -> f64 {
    (LEVEL * (1.0 - LEVEL) / count as f64).sqrt()
}

fn alarms(row: &Row, scores: &Scores, seed: u64, null: usize) -> Check {
    let above =
        |rate: f64, trials: usize| (rate - LEVEL) / (LEVEL * (1.0 - LEVEL) / trials as f64).sqrt();
    let first = above(scores.alarms[0], scores.trials);
    let again = (DOUBT..FAMILY).contains(&first);
    let (value, holds) = if again {
        let second_seed = !seed;
        let (rate, trials) = alarms_again(row, scores.size, second_seed, AGAIN * null);
        (rate, above(rate, trials) < DOUBT)
    } else {
        (scores.alarms[0], first < DOUBT)
    };
    Check {
        kind: Kind::Alarms,
        row: *row,
        size: scores.size,
        shift: None,
        value,
        again,
        holds,
    }
}

/// In trials of one cell every alarm is a false one or a right one; there it says nothing.
fn false_discoveries(row: &Row, scores: &Scores) -> Vec<Check> {
    let many = scores.size > 1;
    let shifts = SHIFTS.iter().zip(&scores.shifts).filter(|_| many);
    shifts
        .map(|(shift, at)| Check {
            kind: Kind::FalseDiscoveries,
            row: *row,
            size: scores.size,
            shift: Some(*shift),
            value: at.false_share.mean,
            again: false,
            holds: at.false_share.mean <= LEVEL + FAMILY * at.false_share.error,
        })
        .collect()
}

fn unchanged(outcome: &Outcome) -> Option<Check> {
    let at = SHIFTS.iter().position(|shift| *shift == MARGIN)?;
    let cells = &outcome.used[1 + at];
    let wrong = cells.iter().filter(|cell| cell.unchanged).count();
    let value = wrong as f64 / cells.len() as f64;
    Some(Check {
        kind: Kind::Unchanged,
        row: outcome.row,
        size: 1,
        shift: Some(MARGIN),
        value,
        again: false,
        holds: value <= LEVEL + FAMILY * error(cells.len()),
    })
}

fn finds(row: &Row, scores: &Scores) -> Vec<Check> {
    let kind = match row.noise {
        Noise::Normal | Noise::Stroll => Kind::Normal,
        Noise::Skewed | Noise::Outliers | Noise::Line | Noise::Walk => Kind::Other,
        Noise::Heavy | Noise::Bimodal | Noise::Halves => return Vec::new(),
    };
    let mut checks = Vec::new();
    for (shift, at) in SHIFTS.iter().zip(&scores.shifts) {
        let [_, student, ranks] = at.finds;
        let best = student.max(ranks);
        if row.rounds < ROUNDS || *shift <= MARGIN || !JUDGED.contains(&best) {
            continue;
        }
        let value = at.lead.mean;
        checks.push(Check {
            kind,
            row: *row,
            size: scores.size,
            shift: Some(*shift),
            value,
            again: false,
            holds: match kind {
                Kind::Normal => value >= -LOSS,
                _ => value > -DOUBT * at.lead.error,
            },
        });
    }
    checks
}
