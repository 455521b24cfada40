//! What can be tried on a tree.

use std::fmt;

use git2::{Oid, Repository};

use super::{Series, SeriesError, System};
use crate::Patch;
use crate::apply::{Applied, ApplyError, Rung, apply};
use crate::history::ResolveError;

/// Whether a series can be tried on a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// It applies; how, in some words: `exactly`, `3 patches, offset, 2 mends`.
    Applies(String),
    /// It does not apply; why not.
    DoesNotApply(String),
    /// The tree lacks commits that it is made of; which, and what to do.
    NeedsHistory(String),
    /// It is for another system, which is this one.
    OtherSystem(System),
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Fit::Applies(how) => write!(f, "applies: {how}"),
            Fit::DoesNotApply(why) => write!(f, "does not apply: {why}"),
            Fit::NeedsHistory(why) => write!(f, "needs more history: {why}"),
            Fit::OtherSystem(system) => write!(f, "is for {system}"),
        }
    }
}

impl Series {
    /// Whether the series can be tried on the commit `tip` of a tree of `system`
    /// (`None` where that is not known). It is really applied, in memory, which costs
    /// a few milliseconds a patch; objects are written, no reference is.
    ///
    /// # Errors
    /// Only if the repository can't be read.
    pub fn fits(
        &self,
        system: Option<System>,
        repo: &Repository,
        tip: Oid,
    ) -> Result<Fit, git2::Error> {
        match (self.system, system) {
            (Some(own), Some(other)) if own != other => return Ok(Fit::OtherSystem(own)),
            _ => {}
        }
        let patches = match self.patches(repo, tip) {
            Ok(patches) => patches,
            Err(SeriesError::Resolve(ResolveError::Repository(error))) => return Err(error),
            Err(SeriesError::Resolve(error @ ResolveError::NotFound { .. })) => {
                return Ok(Fit::NeedsHistory(error.to_string()));
            }
            Err(error) => return Ok(Fit::DoesNotApply(error.to_string())),
        };
        match apply(repo, tip, &patches) {
            Ok(applied) => Ok(Fit::Applies(summary(&patches, &applied))),
            Err(ApplyError::Repository(error)) => Err(error),
            Err(error) => {
                let why = first_line(&error.to_string());
                Ok(Fit::DoesNotApply(match self.made_on(&patches) {
                    Some(revision) => format!("{why}; try --revision {revision}"),
                    None => why,
                }))
            }
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// How far it had to be helped: the weakest rung that a hunk stands on, and the mends.
fn summary(patches: &[Patch], applied: &Applied) -> String {
    if applied.patches.is_empty() {
        return "no patches".to_owned();
    }
    let files = || applied.patches.iter().flat_map(|patch| &patch.files);
    let rungs = files().flat_map(|file| file.hunks.iter().map(|hunk| hunk.rung));
    let rung = match rungs.max() {
        None | Some(Rung::Exact) => "exactly".to_owned(),
        Some(rung) => format!("by {}", rung.name()),
    };
    let read = patches.iter().flat_map(|patch| &patch.mends);
    let mends = read.chain(files().flat_map(|file| &file.mends));
    let added = mends.clone().filter(|mend| mend.changes_added()).count();
    match (mends.count(), added) {
        (0, _) => rung,
        (mends, 0) => format!("{rung}, {}", many(mends, "mend")),
        (mends, added) => format!(
            "{rung}, {}, {} not as in the patch",
            many(mends, "mend"),
            many(added, "added line")
        ),
    }
}

fn many(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
