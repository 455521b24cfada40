//! Verdicts: what was concluded from the samples. They can be computed again.

use rusqlite::Row;

use crate::error::Result;
use crate::{CellId, Db, TrialId, VariantId, row};

/// What is said of one variant against a baseline in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The variant that is judged.
    pub variant: VariantId,
    /// The variant it is judged against.
    pub baseline: VariantId,
    /// What was measured.
    pub cell: CellId,
    /// "improved", "regressed", "unchanged", "inconclusive", "unsupported" or "failed".
    pub verdict: String,
    /// Variant over baseline: 0.93 is 7 % less.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval; none when it has no end.
    pub low: Option<f64>,
    /// Upper end of the ratio's interval; none when it has no end.
    pub high: Option<f64>,
    /// Confidence level of the interval, above 0 and below 1.
    pub level: f64,
    /// Of the test that the two are equal.
    pub p_value: Option<f64>,
    /// The same, corrected for the number of comparisons.
    pub p_adjusted: Option<f64>,
    /// Boots of the baseline that the verdict rests on.
    pub boots_base: u32,
    /// Boots of the variant that the verdict rests on.
    pub boots_variant: u32,
    /// The baseline's estimate, in the cell's unit.
    pub base_value: Option<f64>,
    /// The variant's estimate, in the cell's unit.
    pub variant_value: Option<f64>,
    /// The margin it was judged by: 0.02 is 2 %.
    pub margin: f64,
    /// Rounds in all that would probably settle an open question.
    pub rounds_needed: Option<u32>,
    /// How it was computed.
    pub method: String,
    /// Why it says what it says, where that needs words.
    pub reason: Option<String>,
    /// What is odd about the samples, a JSON array; "[]" where nothing is.
    pub notes_json: String,
    /// When it was computed.
    pub computed_at: i64,
}

impl Db {
    /// Puts these verdicts in place of the trial's present ones, all at once.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) when a variant is none of the
    /// trial's, or a figure is out of its range; the present ones then stay.
    pub fn replace_verdicts(&mut self, trial: TrialId, verdicts: &[Verdict]) -> Result<()> {
        let transaction = self.connection.transaction()?;
        transaction.execute("DELETE FROM verdict WHERE trial = ?1", [trial])?;
        for verdict in verdicts {
            row::insert(
                &transaction,
                "verdict",
                &[
                    ("trial", &trial),
                    ("variant", &verdict.variant),
                    ("baseline", &verdict.baseline),
                    ("cell", &verdict.cell),
                    ("verdict", &verdict.verdict),
                    ("ratio", &verdict.ratio),
                    ("low", &verdict.low),
                    ("high", &verdict.high),
                    ("level", &verdict.level),
                    ("p_value", &verdict.p_value),
                    ("p_adjusted", &verdict.p_adjusted),
                    ("boots_base", &verdict.boots_base),
                    ("boots_variant", &verdict.boots_variant),
                    ("base_value", &verdict.base_value),
                    ("variant_value", &verdict.variant_value),
                    ("margin", &verdict.margin),
                    ("rounds_needed", &verdict.rounds_needed),
                    ("method", &verdict.method),
                    ("reason", &verdict.reason),
                    ("notes_json", &verdict.notes_json),
                    ("computed_at", &verdict.computed_at),
                ],
            )?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// The verdicts of a trial, by variant and then by cell, in the order of
    /// [`Db::cells`].
    pub fn verdicts(&self, trial: TrialId) -> Result<Vec<Verdict>> {
        let sql = "SELECT verdict.* FROM verdict
            JOIN variant ON variant.id = verdict.variant
            JOIN cell ON cell.id = verdict.cell
            WHERE verdict.trial = ?1
            ORDER BY variant.position, cell.workload, cell.parameters, cell.metric, cell.unit,
                cell.better, cell.is_primary, verdict.baseline";
        row::all(&self.connection, sql, [trial], read)
    }
}

fn read(row: &Row) -> rusqlite::Result<Verdict> {
    Ok(Verdict {
        variant: row.get("variant")?,
        baseline: row.get("baseline")?,
        cell: row.get("cell")?,
        verdict: row.get("verdict")?,
        ratio: row.get("ratio")?,
        low: row.get("low")?,
        high: row.get("high")?,
        level: row.get("level")?,
        p_value: row.get("p_value")?,
        p_adjusted: row.get("p_adjusted")?,
        boots_base: row.get("boots_base")?,
        boots_variant: row.get("boots_variant")?,
        base_value: row.get("base_value")?,
        variant_value: row.get("variant_value")?,
        margin: row.get("margin")?,
        rounds_needed: row.get("rounds_needed")?,
        method: row.get("method")?,
        reason: row.get("reason")?,
        notes_json: row.get("notes_json")?,
        computed_at: row.get("computed_at")?,
    })
}
