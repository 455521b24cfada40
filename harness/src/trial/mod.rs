//! A trial: variants × rounds × workloads, in random order, every boot stored when it ends.

pub mod bare;
mod counted;
pub mod host;
mod hosted;
mod identical;
mod lanes;
pub mod plan;
mod prepare;
mod record;
mod rounds;
mod watched;

use ktrial_db::{Db, TrialId};

use crate::fault::{Fault, Result};
use crate::home::Home;
use crate::progress::Progress;
use crate::timestamp::unix_ms;
use crate::vm::Pins;

pub use plan::{KernelOf, Plan, PlannedVariant, Run};
pub use prepare::{Prepared, Wanted, prepare};

/// Runs a prepared trial to its end, or goes on with one of the same plan that was interrupted.
///
/// # Errors
/// The fault of the first boot that failed, after it was stored; an interrupt, after which the same
/// call goes on; a host fault of the database.
pub fn run(home: &Home, db: &mut Db, prepared: &Prepared, progress: &Progress) -> Result<TrialId> {
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
    let pins = prepared.host.placement.pins.as_ref();
    let _kept_off = pins.map(Pins::keep_ktrial_off).transpose()?;
    // As it was stored: a kernel may have been built again since.
    let trial = db.trial(id)?;
    if trial.is_some_and(|trial| trial.variants.iter().any(|variant| !variant.left_out)) {
        rounds::run(home, db, id, prepared, progress)?;
        watched::run(home, db, id, prepared, progress)?;
    }
    db.finish_trial(id, unix_ms(), "complete", None)?;
    Ok(id)
}
