//! Samples: the measured values, one row each.

use rusqlite::{Connection, Row};

use crate::error::Result;
use crate::{BootId, CellId, Db, TrialId, VariantId, row};

/// What came of one measurement.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A finite number.
    Ok(f64),
    /// It was asked for, and nothing came.
    Missing,
    /// This kernel, guest or machine can't; with the reason.
    Unsupported(String),
    /// It was tried and went wrong; with the reason.
    Failed(String),
}

/// One measurement of a boot that is being recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSample {
    /// What was measured.
    pub cell: CellId,
    /// Which of the runs in this boot, from 0; warm-ups are counted apart.
    pub iteration: u32,
    /// Whether it was a warm-up, which is kept and not judged.
    pub warmup: bool,
    /// What came of it.
    pub value: Value,
}

/// One stored measurement, with where it belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The boot it was taken in.
    pub boot: BootId,
    /// The variant of that boot.
    pub variant: VariantId,
    /// The round of that boot.
    pub round: u32,
    /// What was measured.
    pub cell: CellId,
    /// Which of the runs in this boot, from 0; warm-ups are counted apart.
    pub iteration: u32,
    /// Whether it was a warm-up, which is kept and not judged.
    pub warmup: bool,
    /// What came of it.
    pub value: Value,
}

impl Db {
    /// The samples of a trial's good boots, by round, boot, cell and iteration,
    /// warm-ups before the rest. Those of failed boots never count; see
    /// [`Db::boot_samples`] for them.
    pub fn samples(&self, trial: TrialId) -> Result<Vec<Sample>> {
        self.select_samples("boot.trial = ?1 AND boot.outcome = 'ok'", trial.0)
    }

    /// The samples of one boot, good or not.
    pub fn boot_samples(&self, boot: BootId) -> Result<Vec<Sample>> {
        self.select_samples("boot.id = ?1", boot.0)
    }

    fn select_samples(&self, which: &str, id: i64) -> Result<Vec<Sample>> {
        let sql = format!(
            "SELECT sample.*, boot.variant, boot.round
            FROM boot JOIN sample ON sample.boot = boot.id
            WHERE {which}
            ORDER BY boot.round, boot.position, boot.id, cell, is_warmup DESC, iteration"
        );
        row::all(&self.connection, &sql, [id], read)
    }
}

/// Adds one sample to a boot.
pub(crate) fn insert(db: &Connection, boot: BootId, sample: &NewSample) -> Result<()> {
    let (status, value, reason) = match &sample.value {
        Value::Ok(value) => ("ok", Some(*value), None),
        Value::Missing => ("missing", None, None),
        Value::Unsupported(reason) => ("unsupported", None, Some(reason)),
        Value::Failed(reason) => ("failed", None, Some(reason)),
    };
    row::insert(
        db,
        "sample",
        &[
            ("boot", &boot),
            ("cell", &sample.cell),
            ("is_warmup", &sample.warmup),
            ("iteration", &sample.iteration),
            ("status", &status),
            ("value", &value),
            ("reason", &reason),
        ],
    )
}

fn read(row: &Row) -> rusqlite::Result<Sample> {
    Ok(Sample {
        boot: row.get("boot")?,
        variant: row.get("variant")?,
        round: row.get("round")?,
        cell: row.get("cell")?,
        iteration: row.get("iteration")?,
        warmup: row.get("is_warmup")?,
        value: read_value(row)?,
    })
}

/// The value of a row with status, value and reason; an error when they don't go together, which the
/// schema forbids.
pub(crate) fn read_value(row: &Row) -> rusqlite::Result<Value> {
    let status: String = row.get("status")?;
    match (status.as_str(), row.get("value")?, row.get("reason")?) {
        ("ok", Some(value), None) => Ok(Value::Ok(value)),
        ("missing", None, None) => Ok(Value::Missing),
        ("unsupported", None, Some(reason)) => Ok(Value::Unsupported(reason)),
        ("failed", None, Some(reason)) => Ok(Value::Failed(reason)),
        _ => Err(rusqlite::Error::FromSqlConversionFailure(
            row.as_ref().column_index("status")?,
            rusqlite::types::Type::Text,
            format!("a sample of status {status:?} whose value and reason don't go with it").into(),
        )),
    }
}
