//! What the boots of one variant say in one cell.

use std::collections::BTreeMap;

use ktrial_db::{BootId, CellId, Sample, Value, VariantId};

/// The boots of a variant in a cell, in the order of their rounds.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) boots: Vec<GroupBoot>,
    /// Why there is no value, if any boot had none.
    pub(super) lack: Option<Lack>,
}

/// One boot.
#[derive(Debug, Clone)]
pub(super) struct GroupBoot {
    pub(super) round: u32,
    /// Values in the cell's unit, in the order of iterations, without those that warm up.
    pub(super) values: Vec<f64>,
}

/// Why a value is none: three different things, and none of them is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lack {
    Missing,
    Unsupported(String),
    Failed(String),
}

impl Group {
    /// The samples of `variant` in `cell` that are no warm-up.
    pub(super) fn of(samples: &[Sample], variant: VariantId, cell: CellId) -> Group {
        let mut boots: BTreeMap<(u32, BootId), Vec<f64>> = BTreeMap::new();
        let mut lack = None;
        let counts = |s: &&Sample| s.variant == variant && s.cell == cell && !s.warmup;
        for sample in samples.iter().filter(counts) {
            let boot = boots.entry((sample.round, sample.boot)).or_default();
            match &sample.value {
                Value::Ok(value) => boot.push(*value),
                Value::Missing => lack = Some(Lack::Missing),
                Value::Unsupported(why) => lack = Some(Lack::Unsupported(why.clone())),
                Value::Failed(why) => lack = Some(Lack::Failed(why.clone())),
            }
        }
        let boot = |((round, _), values)| GroupBoot { round, values };
        Group {
            boots: boots.into_iter().map(boot).collect(),
            lack,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.boots.is_empty()
    }

    /// How many of the first rounds have a boot, without a gap.
    pub(super) fn rounds(&self) -> u32 {
        let whole = (0..).zip(&self.boots);
        whole
            .take_while(|(round, boot)| boot.round == *round)
            .count() as u32
    }

    /// The boots of the first `rounds` rounds.
    pub(super) fn until(&self, rounds: u32) -> &[GroupBoot] {
        let end = self.boots.partition_point(|boot| boot.round < rounds);
        &self.boots[..end]
    }

    /// All values of all boots.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.boots
            .iter()
            .flat_map(|boot| boot.values.iter().copied())
    }

    /// The middle of the boots' medians, in the cell's unit.
    pub(super) fn middle(&self) -> Option<f64> {
        let medians: Vec<f64> = self
            .boots
            .iter()
            .filter_map(|b| median(&b.values))
            .collect();
        median(&medians)
    }
}

/// The median of values in any order; of an even number, the mean of the middle two.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some((sorted[n / 2 - 1] + sorted[n / 2]) / 2.0),
    }
}
