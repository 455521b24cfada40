//! A trial: variants × rounds × workloads, in random order, every boot stored when it ends.

pub mod plan;
mod prepare;
mod record;
mod rounds;

use ktrial_db::{Db, TrialId};

use crate::fault::{Fault, Result};
use crate::home::Home;
use crate::progress::Progress;

pub use plan::{KernelOf, Plan, PlannedVariant, Run};
pub use prepare::{Prepared, Wanted, applied_line, apply_series, prepare};

/// What came of running a trial.
#[derive(Debug)]
pub struct Ran {
    /// The trial, in the database.
    pub id: TrialId,
    /// Boots that an earlier, interrupted run had already done.
    pub resumed: usize,
    /// Boots of this run.
    pub boots: usize,
}

/// Runs a prepared trial to its end, or goes on with one of the same plan that was interrupted.
///
/// # Errors
/// The fault of the first boot that failed, after it was stored; an interrupt, after which the same
/// call goes on; a host fault of the database.
pub fn run(home: &Home, db: &mut Db, prepared: &Prepared, progress: &Progress) -> Result<Ran> {
    let _lock = home
        .try_lock(&format!("trial-{}", prepared.plan_key))?
        .ok_or_else(|| {
            Fault::user("another ktrial is running this very trial")
                .next("wait for it, or give another --seed")
        })?;
    let id = match db.unfinished_trial(&prepared.plan_key)? {
        Some(id) => id,
        None => prepared.begin(db)?,
    };
    let (resumed, boots) = rounds::run(home, db, id, prepared, progress)?;
    db.finish_trial(id, now_ms(), "complete", None)?;
    Ok(Ran { id, resumed, boots })
}

/// Unix time in milliseconds.
pub(crate) fn now_ms() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_millis() as i64)
}
