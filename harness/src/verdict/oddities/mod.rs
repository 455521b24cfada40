//! What is odd about a cell's data: it is marked and said, and nothing is ever dropped for it.
//!
//! Each rule alarms in about 1 % of cells of normal noise, so that among dozens of cells a note
//! means something, and nothing is named that is smaller than half the margin. All is done on
//! logarithms; where a value is zero or less there is no ratio, no verdict, and no note.

mod carried;
mod chance;
mod modes;
mod note;
mod outliers;
mod rounds;
mod within;

use super::boots::levels;
use super::median::median;

pub use carried::Answer;
pub use note::{MarkedBoot, Mode, Note};

/// One side of a cell, boot by boot. The slices go together, one entry a boot in the order of
/// rounds; a boot without samples has an empty one.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// What it is called in sentences: "base", "patched".
    pub name: &'a str,
    /// The rounds of the boots, from 0.
    pub rounds: &'a [u32],
    /// Values in the cell's unit, in the order of iterations, without warm-ups.
    pub samples: &'a [Vec<f64>],
    /// Values of the warm-ups before them. May be empty as a whole.
    pub warmups: &'a [Vec<f64>],
}

/// Everything odd about one cell, the weightiest first. `margin` is a share: 0.01 is 1 %.
pub fn notes(base: Side, variant: Side, margin: f64) -> Vec<Note> {
    let Some([base, variant]) = read([base, variant]) else {
        return Vec::new();
    };
    let floor = margin.ln_1p() / 2.0;
    let mut notes = Vec::new();
    notes.extend(carried::note(&base, &variant, margin));
    for group in [&base, &variant] {
        // Boots of the smaller mode lie far off too; once is enough to say so.
        match modes::note(group, floor) {
            Some(modes) => notes.push(modes),
            None => notes.extend(outliers::of_boots(group, floor)),
        }
    }
    let moves = within::notes(&base, &variant, floor);
    for group in [&base, &variant] {
        // What every boot does at the same place is no outlier.
        let usual = if moves.is_empty() {
            Vec::new()
        } else {
            within::profile(group)
        };
        notes.extend(outliers::of_samples(group, &usual, floor));
    }
    notes.extend(moves);
    notes.extend(rounds::note(&base, &variant, floor));
    notes
}

/// Which boots of a side lie far from the others, by the rule of outliers, whatever the margin:
/// one answer a boot, given their values in the cell's unit.
pub fn marked(values: &[f64]) -> Vec<bool> {
    if values.iter().any(|value| !is_positive(*value)) {
        return vec![false; values.len()];
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    outliers::marked(&logs)
}

/// A boot of a group, on logarithms.
#[derive(Debug)]
struct Boot {
    round: u32,
    level: f64,
    samples: Vec<f64>,
    warmups: Vec<f64>,
}

/// The boots of a side that have samples.
#[derive(Debug)]
struct Group<'a> {
    name: &'a str,
    boots: Vec<Boot>,
}

impl Group<'_> {
    fn levels(&self) -> Vec<f64> {
        self.boots.iter().map(|boot| boot.level).collect()
    }

    fn middle(&self) -> f64 {
        median(&self.levels()).unwrap_or_default()
    }
}

fn is_positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

/// Both sides on logarithms, with one level a boot. `None` if one has no boots, or a value no
/// logarithm.
fn read(sides: [Side<'_>; 2]) -> Option<[Group<'_>; 2]> {
    let every = |boots: &[Vec<f64>]| boots.iter().flatten().all(|value| is_positive(*value));
    if !sides.iter().all(|side| every(side.samples)) {
        return None;
    }
    let logs = |values: &Vec<f64>| -> Vec<f64> { values.iter().map(|v| v.ln()).collect() };
    let samples: Vec<Vec<f64>> = sides
        .iter()
        .flat_map(|side| side.samples.iter().map(logs))
        .collect();
    let mut boots = levels(&samples).into_iter().zip(samples);
    let groups = sides.map(|side| {
        let of_side = boots.by_ref().take(side.samples.len());
        let boots = of_side.enumerate().filter_map(|(at, (level, samples))| {
            // A warm-up of zero says nothing of the rest.
            let warmups = side.warmups.get(at);
            let warmups = warmups.filter(|values| values.iter().all(|v| is_positive(*v)));
            Some(Boot {
                round: side.rounds.get(at).copied().unwrap_or(at as u32),
                level: level?,
                samples,
                warmups: warmups.map(logs).unwrap_or_default(),
            })
        });
        Group {
            name: side.name,
            boots: boots.collect(),
        }
    });
    let both = groups.iter().all(|group| !group.boots.is_empty());
    both.then_some(groups)
}

#[cfg(test)]
mod tests;
