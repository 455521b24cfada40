//! History: what the bases of all trials measured, one cell at a time.
//!
//! The base of a trial is its first variant, if that has no series: the tree as it is.

use rusqlite::Row;

use crate::error::Result;
use crate::{BootId, Cell, CellId, Db, KernelId, MachineId, TreeId, TrialId, Value};
use crate::{cell, row, sample};

/// A trial as a place in a history: when, where and under which conditions its base ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryTrial {
    /// The trial.
    pub trial: TrialId,
    /// When it began.
    pub started_at: i64,
    /// "complete" or "failed"; none while it runs or was interrupted.
    pub outcome: Option<String>,
    /// Where it ran.
    pub machine: MachineId,
    /// The tree that the base is.
    pub tree: TreeId,
    /// The base's kernel; none when it could not be built.
    pub kernel: Option<KernelId>,
    /// "virtual", "real" or "emulated".
    pub clock: String,
    /// "tcg" or "kvm".
    pub accelerator: String,
    /// The guest's shape, as JSON.
    pub shape_json: String,
    /// The whole plan, as JSON.
    pub plan_json: String,
    /// What the machine was when it began, as JSON.
    pub host_json: String,
    /// The base's own settings, as JSON.
    pub settings_json: String,
    /// Version of ktrial that began it.
    pub ktrial_version: String,
}

/// One value that the base of a trial measured.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryValue {
    /// In which trial.
    pub trial: TrialId,
    /// In which boot.
    pub boot: BootId,
    /// In the cell's unit, or why there is none.
    pub value: Value,
}

impl Db {
    /// All trials that have a base, the oldest first.
    pub fn history_trials(&self) -> Result<Vec<HistoryTrial>> {
        let sql = "SELECT trial.*, variant.kernel, variant.settings_json
            FROM trial JOIN variant ON variant.trial = trial.id
            WHERE variant.position = 0 AND variant.series IS NULL
            ORDER BY trial.started_at, trial.id";
        row::all(&self.connection, sql, [], read)
    }

    /// The cells that the bases of trials have values of, in the order of workload, parameters and
    /// metric.
    pub fn history_cells(&self) -> Result<Vec<(CellId, Cell)>> {
        let sql = "SELECT * FROM cell WHERE EXISTS (
                SELECT 1 FROM sample
                JOIN boot ON boot.id = sample.boot
                JOIN variant ON variant.id = boot.variant
                WHERE sample.cell = cell.id AND sample.status = 'ok' AND NOT sample.is_warmup
                    AND boot.outcome = 'ok'
                    AND variant.position = 0 AND variant.series IS NULL)
            ORDER BY workload, parameters, metric, unit, better, is_primary";
        row::all(&self.connection, sql, [], |row| {
            Ok((row.get("id")?, cell::read(row)?))
        })
    }

    /// What good boots of the bases of all trials measured in one cell, without warm-ups, by trial,
    /// boot and iteration.
    pub fn history_values(&self, cell: CellId) -> Result<Vec<HistoryValue>> {
        let sql = "SELECT boot.trial, boot.id AS boot, sample.status, sample.value, sample.reason
            FROM sample
            JOIN boot ON boot.id = sample.boot
            JOIN variant ON variant.id = boot.variant
            WHERE sample.cell = ?1 AND NOT sample.is_warmup AND boot.outcome = 'ok'
                AND variant.position = 0 AND variant.series IS NULL
            ORDER BY boot.trial, boot.round, boot.id, sample.iteration";
        row::all(&self.connection, sql, [cell], |row| {
            Ok(HistoryValue {
                trial: row.get("trial")?,
                boot: row.get("boot")?,
                value: sample::read_value(row)?,
            })
        })
    }
}

fn read(row: &Row) -> rusqlite::Result<HistoryTrial> {
    Ok(HistoryTrial {
        trial: row.get("id")?,
        started_at: row.get("started_at")?,
        outcome: row.get("outcome")?,
        machine: row.get("machine")?,
        tree: row.get("tree")?,
        kernel: row.get("kernel")?,
        clock: row.get("clock")?,
        accelerator: row.get("accelerator")?,
        shape_json: row.get("shape_json")?,
        plan_json: row.get("plan_json")?,
        host_json: row.get("host_json")?,
        settings_json: row.get("settings_json")?,
        ktrial_version: row.get("ktrial_version")?,
    })
}
