//! What the boots of one variant say in one cell.

use std::collections::BTreeMap;

use ktrial_db::{BootId, CellId, Sample, Value, VariantId};

use super::median::median;
use super::oddities::Side;

/// The boots of a variant in a cell, in the order of their rounds: one entry a boot in each list.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) rounds: Vec<u32>,
    /// Values in the cell's unit, in the order of iterations.
    pub(super) values: Vec<Vec<f64>>,
    /// The same of the iterations before those, which warm up and are not judged.
    pub(super) warmups: Vec<Vec<f64>>,
    /// Why there is no value, if any boot had none.
    pub(super) lack: Option<Lack>,
}

/// Why a value is none: three different things, and none of them is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lack {
    Missing,
    Unsupported(String),
    Failed(String),
}

impl Group {
    /// The samples of `variant` in `cell`.
    pub(super) fn of(samples: &[Sample], variant: VariantId, cell: CellId) -> Group {
        let mut boots: BTreeMap<(u32, BootId), [Vec<f64>; 2]> = BTreeMap::new();
        let mut group = Group::default();
        let is_of = |s: &&Sample| s.variant == variant && s.cell == cell;
        for sample in samples.iter().filter(is_of) {
            let boot = boots.entry((sample.round, sample.boot)).or_default();
            let lack = match &sample.value {
                Value::Ok(value) => {
                    boot[usize::from(sample.warmup)].push(*value);
                    continue;
                }
                Value::Missing => Lack::Missing,
                Value::Unsupported(why) => Lack::Unsupported(why.clone()),
                Value::Failed(why) => Lack::Failed(why.clone()),
            };
            if !sample.warmup {
                group.lack = Some(lack);
            }
        }
        for ((round, _), [values, warmups]) in boots {
            group.rounds.push(round);
            group.values.push(values);
            group.warmups.push(warmups);
        }
        group
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// How many of the first rounds have a boot, without a gap.
    pub(super) fn whole_rounds(&self) -> u32 {
        let whole = (0..).zip(&self.rounds);
        whole.take_while(|(round, have)| round == *have).count() as u32
    }

    /// How many boots are of the first `rounds` rounds.
    pub(super) fn until(&self, rounds: u32) -> usize {
        self.rounds.partition_point(|round| *round < rounds)
    }

    /// What is looked through for oddities, under a name for sentences.
    pub(super) fn side<'a>(&'a self, name: &'a str) -> Side<'a> {
        Side {
            name,
            rounds: &self.rounds,
            samples: &self.values,
            warmups: &self.warmups,
        }
    }

    /// The middle of the boots' medians, in the cell's unit.
    pub(super) fn middle(&self) -> Option<f64> {
        let medians: Vec<f64> = self.values.iter().filter_map(|of| median(of)).collect();
        median(&medians)
    }
}
