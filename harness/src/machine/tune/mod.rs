//! A machine tuned for a run: set what can be set, and put everything back however the run ends.
//!
//! What is set, and why, is what the noise audit finds noisy and a file can mend without a reboot.
//! Left alone are:
//! - transparent huge pages: with or without them is another thing that is measured, not less noise;
//!   pyperf leaves them alone too;
//! - address space randomization: one fixed layout is one fixed error (pyperf: it "must *not* be
//!   disabled");
//! - SMT and CPUs that are offline: they change the machine that the trial is about;
//! - the limit of perf's sampling, which pyperf sets to 1: `ktrial --profile` samples, and a limit
//!   costs nothing while nobody does;
//! - irqbalance, cron and timers: no file stops them.

mod journal;
mod plan;
#[cfg(test)]
mod tests;

use nix::unistd::{AccessFlags, access};

use self::journal::Journal;
pub use self::plan::{Change, plan, render};
use super::files::Files;
use crate::fault::{Fault, Result};

/// A machine that is tuned, until it is restored or dropped. After a kill, [`restore_leftovers`] puts
/// back what is still set.
#[derive(Debug)]
pub struct Tuned {
    files: Files,
    /// None when all is put back.
    journal: Option<Journal>,
    /// What was set, in that order.
    pub set: Vec<Change>,
    /// What did not take its value, with the reason; it is as it was.
    pub refused: Vec<(Change, String)>,
}

/// What became of a change when it was to be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returned {
    /// The change.
    pub change: Change,
    /// What became of it.
    pub how: How,
}

/// How a change was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// The value is again what it was.
    PutBack,
    /// The value was already what it had been: the change was never made, or undone.
    AsBefore,
    /// Somebody else has set another value since, which was left alone.
    SetByOthers {
        /// That value.
        now: String,
    },
    /// The file is not there any more: a CPU went offline, a driver was unloaded.
    Gone,
    /// The file does not take its old value; the journal keeps the change, and the next start tries
    /// again.
    Refused {
        /// What the system said.
        why: String,
    },
}

impl Tuned {
    /// Sets everything that [`plan`] says. A file that does not take its value is left as it was, and
    /// told in `refused`.
    ///
    /// # Errors
    /// A host fault, with nothing set, if the files may not be written (root may), if another ktrial
    /// has tuned this machine, or if the journal can't be written.
    pub fn set(files: &Files) -> Result<Tuned> {
        let mut tuned = Tuned {
            files: files.clone(),
            journal: None,
            set: Vec::new(),
            refused: Vec::new(),
        };
        let changes = plan(files);
        if changes.is_empty() && Journal::is_empty(files) {
            // Nothing to do, for which nobody needs to be root.
            return Ok(tuned);
        }
        may_write(files, &changes)?;
        let mut journal = Journal::open(files)?;
        // Of a ktrial that was killed: its values are not the machine's own.
        let returned = put_back(files, &mut journal)?;
        if let Some(why) = returned.into_iter().find_map(|one| match one.how {
            How::Refused { why } => Some(why),
            _ => None,
        }) {
            let what = "what an earlier run set can't be put back: nothing was set";
            return Err(Fault::host(what).showing(why));
        }
        journal.begin(files)?;
        tuned.journal = Some(journal);
        // Planned again, as the leftovers are put back.
        for change in plan(files) {
            tuned.make(change)?;
        }
        Ok(tuned)
    }

    /// Makes one change, which is in the journal before it is made.
    fn make(&mut self, change: Change) -> Result<()> {
        if let Some(journal) = &mut self.journal {
            journal.add(&change)?;
        }
        let written = self.files.set(&change.path, &change.to);
        let now = self.files.value(&change.path);
        if now.as_deref() == Some(change.to.as_str()) {
            self.set.push(change);
            return Ok(());
        }
        let why = match written {
            Err(fault) => fault.what,
            Ok(()) => format!(
                "it holds {} all the same",
                now.as_deref().unwrap_or("nothing")
            ),
        };
        if now.as_deref() != Some(change.from.as_str()) {
            // A value between the two: neither what was asked for nor what was there.
            let _ = self.files.set(&change.path, &change.from);
        }
        self.refused.push((change, why));
        Ok(())
    }

    /// Puts everything back, the last change first, and says what became of each.
    ///
    /// # Errors
    /// A host fault if the journal can't be read or emptied.
    pub fn restore(mut self) -> Result<Vec<Returned>> {
        self.undo()
    }

    fn undo(&mut self) -> Result<Vec<Returned>> {
        match self.journal.take() {
            None => Ok(Vec::new()),
            Some(mut journal) => put_back(&self.files, &mut journal),
        }
    }
}

impl Drop for Tuned {
    fn drop(&mut self) {
        // What fails stays in the journal, and the next start tries again and says it.
        let _ = self.undo();
    }
}

/// Puts back what a ktrial that was killed had set: what each start does first. Empty if there is
/// nothing to do, or if the ktrial that set it still runs.
///
/// # Errors
/// A host fault if the journal is there and can't be read or emptied.
pub fn restore_leftovers(files: &Files) -> Result<Vec<Returned>> {
    match Journal::leftover(files)? {
        None => Ok(Vec::new()),
        Some(mut journal) => put_back(files, &mut journal),
    }
}

/// Puts back what stands in the journal, in reverse order; empties it unless something is refused.
fn put_back(files: &Files, journal: &mut Journal) -> Result<Vec<Returned>> {
    let changes = journal.changes(files)?;
    let returned: Vec<Returned> = changes
        .into_iter()
        .rev()
        .map(|change| {
            let how = put_one_back(files, &change);
            Returned { change, how }
        })
        .collect();
    let is_refused = |one: &Returned| matches!(one.how, How::Refused { .. });
    if !returned.iter().any(is_refused) {
        journal.empty()?;
    }
    Ok(returned)
}

fn put_one_back(files: &Files, change: &Change) -> How {
    if !files.has(&change.path) {
        return How::Gone;
    }
    match files.value(&change.path) {
        Some(now) if now == change.from => return How::AsBefore,
        Some(now) if now != change.to => return How::SetByOthers { now },
        // Ours, or without a value, which nobody sets.
        _ => {}
    }
    let written = files.set(&change.path, &change.from);
    match (written, files.value(&change.path)) {
        (_, Some(now)) if now == change.from => How::PutBack,
        (Err(fault), _) => How::Refused { why: fault.what },
        (Ok(()), now) => How::Refused {
            why: format!(
                "it holds {} all the same",
                now.as_deref().unwrap_or("nothing")
            ),
        },
    }
}

/// Whether this process may write what it is to set.
fn may_write(files: &Files, changes: &[Change]) -> Result<()> {
    let denied = changes.iter().find(|change| {
        access(&files.path(&change.path), AccessFlags::W_OK) == Err(nix::errno::Errno::EACCES)
    });
    match denied {
        None => Ok(()),
        Some(change) => Err(Fault::host(format!(
            "this machine's settings are root's: nothing was set ({} may not be written)",
            files.path(&change.path).display()
        ))
        .next("run it as root (sudo ktrial machine tune …)")),
    }
}
