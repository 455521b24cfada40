//! A host that drifts: boots that rise or fall over the rounds, base and variant together.

use super::chance::kendall;
use super::{Group, Note, median};

/// The share of cells without drift in which one is named.
const LEVEL: f64 = 0.01;

/// Mann and Kendall's test of trend over rounds, and the size by Theil and Sen's slope (Sen,
/// J. Am. Stat. Assoc. 63, 1968, p. 1379).
pub(super) fn note(base: &Group, variant: &Group, floor: f64) -> Option<Note> {
    let rounds = by_round(base, variant);
    let (mut s, mut slopes) = (0i64, Vec::new());
    for (at, (round, level)) in rounds.iter().enumerate() {
        for (earlier, before) in &rounds[..at] {
            s += i64::from(level > before) - i64::from(level < before);
            slopes.push((level - before) / f64::from(round - earlier));
        }
    }
    let (first, last) = (rounds.first()?.0, rounds.last()?.0);
    let by = median(&slopes)? * f64::from(last - first);
    let named = by.abs() >= floor && kendall(s, rounds.len()) <= LEVEL;
    named.then(|| Note::HostDrift {
        by: by.exp_m1(),
        from: first,
        to: last,
    })
}

/// The mean of what boots of a round lie above the middle of their side, where both sides have one.
fn by_round(base: &Group, variant: &Group) -> Vec<(u32, f64)> {
    let above = |group: &Group| -> std::collections::BTreeMap<u32, f64> {
        let middle = group.middle();
        let boots = group.boots.iter();
        boots
            .map(|boot| (boot.round, boot.level - middle))
            .collect()
    };
    let (base, variant) = (above(base), above(variant));
    base.into_iter()
        .filter_map(|(round, a)| Some((round, (a + variant.get(&round)?) / 2.0)))
        .collect()
}
