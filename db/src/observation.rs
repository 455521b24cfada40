//! Observations: boots that were watched from within, to say why and never how fast.

use rusqlite::Row;

use crate::error::{Error, Result};
use crate::row::{self, Seed};
use crate::{Db, MAX_ARTIFACT_BYTES, TrialId, VariantId, artifact};

/// What was seen in one boot that was watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The trial.
    pub trial: TrialId,
    /// A variant of that trial.
    pub variant: VariantId,
    /// How it was watched: "profile", "locks". Each once for a variant.
    pub kind: String,
    /// What the boot was perturbed from.
    pub seed: u64,
    /// When the guest was started, in unix milliseconds.
    pub started_at: i64,
    /// When it had ended, in unix milliseconds.
    pub ended_at: i64,
    /// What was seen, as JSON; at most [`MAX_ARTIFACT_BYTES`]. Empty where the stored bytes are
    /// damaged, which [`Db::check`] finds.
    pub json: Vec<u8>,
}

impl Db {
    /// Stores what was seen; when this returns, it is on disk.
    ///
    /// # Errors
    /// [`Error::Unstorable`] when it is too long; [`Error::Sqlite`] when the variant has one of
    /// this kind already, or is none of the trial's.
    pub fn record_observation(&mut self, observation: &Observation) -> Result<()> {
        let unstorable = |reason| Error::Unstorable {
            table: "observation",
            column: "content",
            reason,
        };
        if observation.json.len() > MAX_ARTIFACT_BYTES {
            let length = observation.json.len();
            return Err(unstorable(format!("{length} bytes are too many")));
        }
        let content = artifact::compress(&observation.json);
        let content = content.map_err(|error| unstorable(error.to_string()))?;
        row::insert(
            &self.connection,
            "observation",
            &[
                ("trial", &observation.trial),
                ("variant", &observation.variant),
                ("kind", &observation.kind),
                ("seed", &Seed(observation.seed)),
                ("started_at", &observation.started_at),
                ("ended_at", &observation.ended_at),
                ("content", &content),
            ],
        )
    }

    /// All observations of a trial, by kind, and in the order of its variants.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a row can't be read.
    pub fn observations(&self, trial: TrialId) -> Result<Vec<Observation>> {
        let sql = "SELECT observation.* FROM observation
            JOIN variant ON variant.id = observation.variant
            WHERE observation.trial = ?1 ORDER BY kind, variant.position";
        row::all(&self.connection, sql, [trial], |row| {
            let mut observation = read(row)?;
            observation.json = artifact::unpack(&observation.json).unwrap_or_default();
            Ok(observation)
        })
    }
}

/// A row, its content still packed.
fn read(row: &Row) -> rusqlite::Result<Observation> {
    Ok(Observation {
        trial: row.get("trial")?,
        variant: row.get("variant")?,
        kind: row.get("kind")?,
        seed: row.get::<_, Seed>("seed")?.0,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
        json: row.get("content")?,
    })
}
