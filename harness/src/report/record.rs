//! Everything that the database has of one trial, read once and then only looked at.

use std::collections::HashMap;

use ktrial_db::{
    Boot, BootId, Cell, CellId, Db, Kernel, Machine, Sample, Series, Tree, Trial, TrialId, Variant,
    VariantId, Verdict,
};

use crate::fault::{Fault, Result};
use crate::verdict::remarks::DISTURBED;

/// One trial with all that belongs to it.
pub(super) struct Record {
    pub(super) trial: Trial,
    pub(super) tree: Tree,
    pub(super) machine: Machine,
    /// In the order of [`Trial::variants`].
    pub(super) built: Vec<Built>,
    /// Good and bad, by round and order.
    pub(super) boots: Vec<Boot>,
    pub(super) cells: Vec<(CellId, Cell)>,
    /// Of good boots, and after them of failed ones.
    pub(super) samples: Vec<Sample>,
    pub(super) verdicts: Vec<Verdict>,
}

/// What a variant was made of.
pub(super) struct Built {
    pub(super) kernel: Option<Kernel>,
    pub(super) series: Option<Series>,
}

impl Record {
    /// Reads a trial.
    ///
    /// # Errors
    /// A host fault if the database can't be read or lacks something that it refers to.
    pub(super) fn read(db: &Db, id: TrialId) -> Result<Record> {
        let trial = db.trial(id)?.ok_or_else(|| lost("trial", id.0))?;
        let boots = db.boots(id)?;
        let mut samples = db.samples(id)?;
        for boot in boots.iter().filter(|boot| !is_good(boot)) {
            samples.extend(db.boot_samples(boot.id)?);
        }
        Ok(Record {
            tree: db
                .tree(trial.tree)?
                .ok_or_else(|| lost("tree", trial.tree.0))?,
            machine: db
                .machine(trial.machine)?
                .ok_or_else(|| lost("machine", trial.machine.0))?,
            built: trial
                .variants
                .iter()
                .map(|v| built(db, v))
                .collect::<Result<_>>()?,
            cells: db.cells(id)?,
            verdicts: db.verdicts(id)?,
            trial,
            boots,
            samples,
        })
    }

    /// What the trial calls this variant.
    pub(super) fn variant_name(&self, id: VariantId) -> &str {
        let found = self.trial.variants.iter().find(|variant| variant.id == id);
        found.map_or("?", |variant| &variant.name)
    }

    /// The cell with this id, if the trial has samples of it.
    pub(super) fn cell(&self, id: CellId) -> Option<&Cell> {
        self.cells
            .iter()
            .find(|(other, _)| *other == id)
            .map(|(_, cell)| cell)
    }

    /// The boots by their id.
    pub(super) fn boots_by_id(&self) -> HashMap<BootId, &Boot> {
        self.boots.iter().map(|boot| (boot.id, boot)).collect()
    }

    /// The trial's number, which is part of its files' names.
    pub(super) fn number(&self) -> i64 {
        self.trial.id.0
    }
}

/// Whether a boot counts.
pub(super) fn is_good(boot: &Boot) -> bool {
    boot.outcome == "ok"
}

/// Whether it went wrong: one that was only disturbed did not.
pub(super) fn has_failed(boot: &Boot) -> bool {
    !is_good(boot) && boot.outcome != DISTURBED
}

fn built(db: &Db, variant: &Variant) -> Result<Built> {
    let kernel = variant
        .kernel
        .map(|id| db.kernel(id))
        .transpose()?
        .flatten();
    let series = variant
        .series
        .map(|id| db.series(id))
        .transpose()?
        .flatten();
    Ok(Built { kernel, series })
}

fn lost(what: &str, id: i64) -> Fault {
    Fault::host(format!(
        "the database refers to {what} {id}, which is not there"
    ))
    .next("run `ktrial db check`")
}
