//! The boots of a stored A/A trial.

use std::collections::BTreeMap;

use ktrial_db::{AaTrial, BootId, Cell, CellId, Db, Trial, Value};

use super::{Boots, Measured};
use crate::counters;
use crate::fault::Result;
use crate::verdict::design::Design;

/// The boots of both sides, in the order they were made, with the cells in which each of them has
/// values above zero; and the names of all other cells.
///
/// # Errors
/// A host fault from the database.
pub fn boots(db: &Db, aa: &AaTrial, trial: &Trial) -> Result<(Boots, Vec<String>)> {
    let design = Design::of(trial)?;
    let mut values: BTreeMap<BootId, BTreeMap<CellId, Option<Vec<f64>>>> = BTreeMap::new();
    for sample in db.samples(aa.trial)? {
        let is_of_aa = sample.variant == aa.base || sample.variant == aa.variant;
        if !is_of_aa || sample.warmup {
            continue;
        }
        let boot = values.entry(sample.boot).or_default();
        let cell = boot.entry(sample.cell).or_insert_with(|| Some(Vec::new()));
        match sample.value {
            Value::Ok(value) if value > 0.0 => {
                if let Some(cell) = cell {
                    cell.push(value);
                }
            }
            _ => *cell = None,
        }
    }
    let whole = |id: &CellId| {
        values
            .values()
            .all(|boot| matches!(boot.get(id), Some(Some(_))))
    };
    let (cells, others): (Vec<_>, Vec<_>) = db
        .cells(aa.trial)?
        .into_iter()
        .filter(|(_, cell)| !counters::explains(cell))
        .partition(|(id, _)| whole(id));
    let of_boot = |mut boot: BTreeMap<CellId, Option<Vec<f64>>>| -> Vec<Vec<f64>> {
        cells
            .iter()
            .filter_map(|(id, _)| boot.remove(id)?)
            .collect()
    };
    let values = values.into_values().map(of_boot).collect();
    let measured = |(_, cell): &(CellId, Cell)| Measured {
        name: name(cell),
        higher: cell.better == "higher",
        margin: design.margin(&cell.metric),
    };
    let boots = Boots {
        values,
        cells: cells.iter().map(measured).collect(),
    };
    Ok((boots, others.iter().map(|(_, cell)| name(cell)).collect()))
}

fn name(cell: &Cell) -> String {
    let setting = cell.setting();
    let name = format!("{} {setting} {}", cell.workload, cell.metric);
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}
