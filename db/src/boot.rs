//! Boots: one start of one guest each, the unit that counts.

use rusqlite::{Connection, Row};

use crate::error::{Error, Result};
use crate::row::{self, Seed};
use crate::trial::State;
use crate::{BootId, Db, NewArtifact, NewSample, TrialId, VariantId};
use crate::{artifact, sample, seal};

/// A boot that ended, with all it left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct NewBoot {
    /// The trial.
    pub trial: TrialId,
    /// A variant of that trial.
    pub variant: VariantId,
    /// Counted from 0, below the trial's rounds.
    pub round: u32,
    /// Place in the random order of its round, from 0.
    pub position: u32,
    /// Which try of this variant in this round, from 0.
    pub attempt: u32,
    /// What it was perturbed from; the same seed gives the same boot again.
    pub seed: u64,
    /// How it was perturbed, as JSON.
    pub perturbation_json: String,
    /// "ok" counts; anything else ("panic", "hang") is kept and doesn't.
    pub outcome: String,
    /// What went wrong, in words.
    pub detail: Option<String>,
    /// When the guest was started.
    pub started_at: i64,
    /// When it had ended.
    pub ended_at: i64,
    /// Guest time from the kernel's start to the agent's, in nanoseconds.
    pub guest_boot_ns: Option<u64>,
    /// What was measured; a boot that failed may have some.
    pub samples: Vec<NewSample>,
    /// What it wrote, one of each kind.
    pub artifacts: Vec<NewArtifact>,
}

/// A stored boot. Fields that are not described here are those of [`NewBoot`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Boot {
    pub id: BootId,
    pub trial: TrialId,
    pub variant: VariantId,
    pub round: u32,
    pub position: u32,
    pub attempt: u32,
    pub seed: u64,
    pub perturbation_json: String,
    pub outcome: String,
    pub detail: Option<String>,
    pub started_at: i64,
    pub ended_at: i64,
    pub guest_boot_ns: Option<u64>,
}

impl Db {
    /// Stores a boot with its samples and artifacts, whole or not at all. When
    /// this returns, it is on disk.
    ///
    /// # Errors
    /// [`Error::AlreadyCounted`] when the variant has a good boot in that round;
    /// [`Error::Finished`] and [`Error::NoSuchRound`] when the trial takes no such
    /// boot; [`Error::NoSuch`] when the variant is none of the trial's, [`Error::Refused`] when it is
    /// left out;
    /// [`Error::NotFinite`] for a NaN or an infinity among the samples.
    pub fn record_boot(&mut self, boot: &NewBoot) -> Result<BootId> {
        // Compressing is slow and needs no lock.
        let artifacts = artifact::pack_all(&boot.artifacts)?;
        let transaction = self.connection.transaction()?;
        require_wanted(&transaction, boot)?;
        insert_boot(&transaction, boot)?;
        let id = BootId(transaction.last_insert_rowid());
        for sample in &boot.samples {
            sample::insert(&transaction, id, sample)?;
        }
        for artifact in &artifacts {
            artifact::insert(&transaction, id, artifact)?;
        }
        seal::put(&transaction, id)?;
        transaction.commit()?;
        Ok(id)
    }

    /// The boots of a trial, good and bad, by round, order and attempt.
    pub fn boots(&self, trial: TrialId) -> Result<Vec<Boot>> {
        let sql = "SELECT * FROM boot WHERE trial = ?1 ORDER BY round, position, attempt, id";
        row::all(&self.connection, sql, [trial], read)
    }
}

/// Fails unless the trial is open, and waits for this variant in this round.
fn require_wanted(db: &Connection, boot: &NewBoot) -> Result<()> {
    let state = State::of(db, boot.trial)?;
    state.require_open(boot.trial)?;
    if boot.round >= state.rounds {
        return Err(Error::NoSuchRound {
            round: boot.round,
            rounds: state.rounds,
        });
    }
    let sql = "SELECT name, left_out FROM variant WHERE id = ?1 AND trial = ?2";
    let read = |row: &Row| Ok((row.get("name")?, row.get("left_out")?));
    let found: Option<(String, bool)> = row::first(db, sql, (boot.variant, boot.trial), read)?;
    let Some((variant, left_out)) = found else {
        return Err(Error::NoSuch {
            what: "variant of this trial",
            id: boot.variant.0,
        });
    };
    if left_out {
        return Err(Error::Refused(format!(
            "{variant} is left out of its trial: it takes no boots"
        )));
    }
    if boot.outcome == "ok" && is_counted(db, boot)? {
        return Err(Error::AlreadyCounted {
            variant,
            round: boot.round,
        });
    }
    Ok(())
}

fn is_counted(db: &Connection, boot: &NewBoot) -> Result<bool> {
    let sql = "SELECT 1 FROM boot
        WHERE trial = ?1 AND variant = ?2 AND round = ?3 AND outcome = 'ok'";
    let key = (boot.trial, boot.variant, boot.round);
    Ok(row::first(db, sql, key, |_| Ok(()))?.is_some())
}

fn insert_boot(db: &Connection, boot: &NewBoot) -> Result<()> {
    row::insert(
        db,
        "boot",
        &[
            ("trial", &boot.trial),
            ("variant", &boot.variant),
            ("round", &boot.round),
            ("position", &boot.position),
            ("attempt", &boot.attempt),
            ("seed", &Seed(boot.seed)),
            ("perturbation_json", &boot.perturbation_json),
            ("outcome", &boot.outcome),
            ("detail", &boot.detail),
            ("started_at", &boot.started_at),
            ("ended_at", &boot.ended_at),
            ("guest_boot_ns", &boot.guest_boot_ns),
        ],
    )
}

fn read(row: &Row) -> rusqlite::Result<Boot> {
    Ok(Boot {
        id: row.get("id")?,
        trial: row.get("trial")?,
        variant: row.get("variant")?,
        round: row.get("round")?,
        position: row.get("position")?,
        attempt: row.get("attempt")?,
        seed: row.get::<_, Seed>("seed")?.0,
        perturbation_json: row.get("perturbation_json")?,
        outcome: row.get("outcome")?,
        detail: row.get("detail")?,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
        guest_boot_ns: row.get("guest_boot_ns")?,
    })
}
