//! What the boots that were watched have seen, as it is stored: base and variant side by side.
//!
//! Names come out of a guest. Here, once, they are made fit to be shown and short enough to be
//! drawn; nothing behind this has to mistrust them, but for what HTML and XML ask to be escaped.

use std::collections::BTreeMap;

use ktrial_db::{Db, Observation, Trial, Variant, VariantId, setting};

use super::stacks::{LOCKS, PROFILE, Stacks};
use crate::fault::Result;
use crate::terminal;

/// A stack has at most so many frames: of a deeper one the outermost and the two innermost stay.
const DEEPEST: usize = 128;
/// Above it, not every whole number is an f64.
const LARGEST: u64 = 1 << 53;
/// More settings than any trial has; a guest that says more is not believed.
const MOST_SETTINGS: usize = 256;
/// What stands for a name that is not there.
pub const UNKNOWN: &str = "?";

/// What was seen in a trial.
#[derive(Debug, Default, PartialEq)]
pub struct Observed {
    /// Base and variant of each setting, variant by variant.
    pub pairs: Vec<Pair>,
    /// Entries that could not be read, as those of a later ktrial.
    pub unread: usize,
}

/// One workload at one setting, watched in the same way in the base and in a variant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pair {
    /// [`PROFILE`] or [`LOCKS`].
    pub kind: String,
    /// The workload's name.
    pub workload: String,
    /// `fds=500000 touch=0`, sorted by name.
    pub parameters: String,
    /// What made each stack be taken. Stacks of two events are no pair.
    pub event: String,
    /// What a stack weighs.
    pub unit: String,
    /// What the trial calls the two kernels.
    pub names: [String; 2],
    /// What was seen in the base and in the variant; none of a kernel that was not watched.
    pub sides: [Option<Stacks>; 2],
}

impl Pair {
    /// Whether these are waits for locks.
    pub fn is_locks(&self) -> bool {
        self.kind == LOCKS
    }

    /// `fd-churn fds=500000 touch=0`.
    pub fn what(&self) -> String {
        what(&self.workload, &self.parameters)
    }

    /// Both sides, where both were seen.
    pub fn both(&self) -> Option<[&Stacks; 2]> {
        let [base, variant] = &self.sides;
        Some([base.as_ref()?, variant.as_ref()?])
    }

    /// Operations of both sides, where both are known.
    pub fn operations(&self) -> Option<[f64; 2]> {
        let operations = self.both()?.map(|side| side.operations);
        let known = operations.iter().all(|operations| *operations > 0);
        known.then(|| operations.map(|operations| operations as f64))
    }

    /// `base lost 12 stacks`, `base: why nothing was seen`, `base was not watched`; empty where
    /// nothing is lacking.
    pub fn lacks(&self) -> String {
        let sides = self.names.iter().zip(&self.sides);
        let lacks = sides.filter_map(|(name, side)| match side {
            None => Some(format!("{name} was not watched")),
            Some(Stacks {
                absent: Some(why), ..
            }) => Some(format!("{name}: {why}")),
            Some(Stacks { lost: 0, .. }) => None,
            Some(Stacks { lost, .. }) => Some(format!("{name} lost {lost} stacks")),
        });
        lacks.collect::<Vec<_>>().join("; ")
    }

    /// What there is to say where no stack was seen: `nothing seen by cpu-clock`.
    pub fn nothing(&self) -> String {
        match self.lacks() {
            none if none.is_empty() => format!("nothing seen by {}", self.event),
            lacks => lacks,
        }
    }
}

/// A workload and its setting for people: without flags that are off.
pub fn what(workload: &str, parameters: &str) -> String {
    let text = format!("{workload} {}", setting(parameters));
    text.trim_end().to_owned()
}

/// All that was seen in a trial.
///
/// # Errors
/// A host fault from the database.
pub fn observed(db: &Db, trial: &Trial) -> Result<Observed> {
    Ok(paired(&trial.variants, &db.observations(trial.id)?))
}

fn paired(variants: &[Variant], observations: &[Observation]) -> Observed {
    let mut seen = SeenBy::default();
    for observation in observations {
        // What is no list is one entry that can't be read.
        let entries: Vec<serde_json::Value> =
            serde_json::from_slice(&observation.json).unwrap_or_else(|_| vec![().into()]);
        for entry in entries {
            seen.put(observation.variant, &observation.kind, entry);
        }
    }
    // Profiles before locks, and settings in the order in which they ran.
    seen.keys.sort_by_key(|key| key.0 != PROFILE);
    let mut pairs = Vec::new();
    if let Some((base, variants)) = variants.split_first() {
        for variant in variants {
            for key in &seen.keys {
                let sides = [base, variant].map(|of| seen.get(of.id, key));
                if sides.iter().any(Option::is_some) {
                    let names = [base, variant].map(|of| name(&of.name));
                    pairs.push(pair(key.clone(), names, sides));
                }
            }
        }
    }
    Observed {
        pairs,
        unread: seen.unread,
    }
}

/// Kind, workload, parameters, event, unit.
type Key = (String, String, String, String, String);

/// Stacks by the kernel in which they were seen.
#[derive(Default)]
struct SeenBy {
    variants: BTreeMap<VariantId, BTreeMap<Key, Stacks>>,
    /// In the order in which they came.
    keys: Vec<Key>,
    unread: usize,
}

impl SeenBy {
    fn put(&mut self, variant: VariantId, kind: &str, entry: serde_json::Value) {
        let stacks = serde_json::from_value(entry).ok().and_then(fit);
        let Some(stacks) = stacks.filter(|_| [PROFILE, LOCKS].contains(&kind)) else {
            self.unread += 1;
            return;
        };
        let key = key(kind, &stacks);
        if !self.keys.contains(&key) {
            if self.keys.len() == MOST_SETTINGS {
                self.unread += 1;
                return;
            }
            self.keys.push(key.clone());
        }
        let of_variant = self.variants.entry(variant).or_default();
        of_variant
            .entry(key)
            .and_modify(|known| known.add(&stacks))
            .or_insert(stacks);
    }

    fn get(&self, variant: VariantId, key: &Key) -> Option<Stacks> {
        self.variants.get(&variant)?.get(key).cloned()
    }
}

fn key(kind: &str, stacks: &Stacks) -> Key {
    let Stacks {
        workload,
        parameters,
        event,
        unit,
        ..
    } = stacks.clone();
    (kind.to_owned(), workload, parameters, event, unit)
}

fn pair(key: Key, names: [String; 2], sides: [Option<Stacks>; 2]) -> Pair {
    let (kind, workload, parameters, event, unit) = key;
    Pair {
        kind,
        workload,
        parameters,
        event,
        unit,
        names,
        sides,
    }
}

/// Stacks whose names can be shown and whose numbers can be added up; none where a guest's numbers
/// are none that could have been counted.
fn fit(seen: Stacks) -> Option<Stacks> {
    let folded = |weights: &BTreeMap<String, u64>| {
        let mut sums = BTreeMap::new();
        let mut total = 0_u64;
        for (stack, weight) in weights {
            total = total.checked_add(*weight)?;
            *sums.entry(fit_stack(stack)).or_insert(0) += weight;
        }
        (total <= LARGEST).then_some(sums)
    };
    Some(Stacks {
        stacks: folded(&seen.stacks)?,
        times: folded(&seen.times)?,
        workload: name(&seen.workload),
        parameters: terminal::headline(&terminal::plain(&seen.parameters)),
        event: name(&seen.event),
        unit: name(&seen.unit),
        operations: seen.operations,
        lost: seen.lost,
        absent: seen.absent.as_deref().map(name),
    })
}

fn fit_stack(stack: &str) -> String {
    let frames: Vec<&str> = stack.split(';').collect();
    let kept = match frames.len() {
        0..=DEEPEST => frames,
        deep => [&frames[..DEEPEST - 3], &["\u{2026}"], &frames[deep - 2..]].concat(),
    };
    let names: Vec<String> = kept.into_iter().map(name).collect();
    names.join(";")
}

fn name(text: &str) -> String {
    // No XML may hold these two.
    let text = terminal::plain(text).replace(['\n', '\t', '\u{fffe}', '\u{ffff}'], " ");
    match terminal::headline(text.trim()) {
        empty if empty.is_empty() => UNKNOWN.to_owned(),
        name => name,
    }
}

#[cfg(test)]
mod tests;
