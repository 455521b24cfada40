//! A/A trials: both sides were the same kernel with the same settings, so that whatever was found
//! is noise.

use crate::error::Result;
use crate::{Db, TrialId, VariantId, row};

/// A variant of a complete trial that is its base to the bit and was booted all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AaTrial {
    /// The trial; it may have other variants, which are not the same.
    pub trial: TrialId,
    /// Its base.
    pub base: VariantId,
    /// The variant that is the same.
    pub variant: VariantId,
}

impl Db {
    /// The complete A/A trials of the machine with this key, the oldest first: one for each variant
    /// whose kernel is the base's, as a build or by the hash of its image, and whose settings are.
    pub fn aa_trials(&self, machine_key: &str) -> Result<Vec<AaTrial>> {
        let sql = "SELECT trial.id AS trial, base.id AS base, variant.id AS variant
            FROM trial
            JOIN machine ON machine.id = trial.machine AND machine.key = ?1
            JOIN variant AS base ON base.trial = trial.id AND base.position = 0
            JOIN variant ON variant.trial = trial.id AND variant.position > 0
            LEFT JOIN kernel AS base_kernel ON base_kernel.id = base.kernel
            LEFT JOIN kernel ON kernel.id = variant.kernel
            WHERE trial.outcome = 'complete' AND NOT variant.left_out
                AND variant.settings_json = base.settings_json
                AND (variant.kernel = base.kernel
                    OR kernel.image_sha256 = base_kernel.image_sha256)
            ORDER BY trial.id, variant.position";
        row::all(&self.connection, sql, [machine_key], |row| {
            Ok(AaTrial {
                trial: row.get("trial")?,
                base: row.get("base")?,
                variant: row.get("variant")?,
            })
        })
    }
}
