//! The newest commit on which a series applies.

use std::collections::HashSet;

use git2::{Oid, Repository};

use super::fingerprint::Fingerprints;
use super::named::Named;
use super::scratch::in_memory;
use crate::Patch;
use crate::apply::{Applied, ApplyError, apply};

/// A commit on which a series applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The commit.
    pub commit: Named,
    /// Commits between it and the tip, in the order of [`find_base`].
    pub behind: usize,
    /// How the series applies there.
    pub applied: Applied,
}

/// The newest commit in the history of `tip` on which the patches apply, looking at
/// `limit` commits at most, newest first, in the order of `git log`. Where the
/// patches name the commit that they were made on (`base-commit:`), and they apply
/// to it, the search goes on until it gets there. A commit is only tried where a
/// file that the series names differs from all those tried before, so that most
/// cost a few lookups.
///
/// # Errors
/// [`ApplyError::Repository`].
pub fn find_base(
    repo: &Repository,
    tip: Oid,
    patches: &[Patch],
    limit: usize,
) -> Result<Option<Base>, ApplyError> {
    let found = in_memory(repo, |scratch, memory| {
        let applies = |commit| -> Result<bool, ApplyError> {
            let outcome = apply(scratch, commit, patches);
            memory.reset()?;
            match outcome {
                Ok(_) => Ok(true),
                Err(error) if error.is_patch_fault() => Ok(false),
                Err(error) => Err(error),
            }
        };
        let stated = stated_base(scratch, tip, patches)?;
        let stated = match stated {
            Some(base) if applies(base)? => Some(base),
            _ => None,
        };
        newest(scratch, tip, patches, &applies, |looked_at| {
            looked_at < limit || stated.is_some()
        })
    })?;
    let Some((commit, behind)) = found else {
        return Ok(None);
    };
    let applied = apply(repo, commit, patches)?;
    Ok(Some(Base {
        commit: Named::of(repo, commit)?,
        behind,
        applied,
    }))
}

/// The commit of `base-commit:`, where the history of `tip` has it.
fn stated_base(repo: &Repository, tip: Oid, patches: &[Patch]) -> Result<Option<Oid>, git2::Error> {
    let mut named = patches.iter().map(|patch| &patch.trailers.base_commit);
    let named = named.find_map(Option::as_ref);
    let Some(base) = named.and_then(|hash| Oid::from_str(hash).ok()) else {
        return Ok(None);
    };
    let is_there = repo.find_commit(base).is_ok();
    let is_ours = is_there && (base == tip || repo.graph_descendant_of(tip, base)?);
    Ok(Some(base).filter(|_| is_ours))
}

fn newest(
    repo: &Repository,
    tip: Oid,
    patches: &[Patch],
    applies: &dyn Fn(Oid) -> Result<bool, ApplyError>,
    goes_on: impl Fn(usize) -> bool,
) -> Result<Option<(Oid, usize)>, ApplyError> {
    // Unsorted is the order of `git log`, as it goes. `Sort::TIME` reads the whole history first, and
    // may put a commit before its child of the same second.
    let mut walk = repo.revwalk()?;
    walk.push(tip)?;
    let mut fingerprints = Fingerprints::new(repo, patches);
    let mut failed = HashSet::new();
    for (behind, commit) in walk.enumerate() {
        if !goes_on(behind) {
            break;
        }
        let commit = commit?;
        if failed.insert(fingerprints.of(commit)?) && applies(commit)? {
            return Ok(Some((commit, behind)));
        }
    }
    Ok(None)
}
