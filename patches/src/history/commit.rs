//! A commit as a patch.

use git2::{Oid, Repository};

use super::ResolveError;
use crate::Patch;

/// The patch that a commit with one parent is, with author, date, message, modes,
/// renames and binary files: what `git format-patch` writes of it, read again.
///
/// # Errors
/// [`ResolveError::NoPatch`] for a merge or a commit without a parent.
pub fn from_commit(repo: &Repository, commit: Oid) -> Result<Patch, ResolveError> {
    let _ = repo;
    Err(ResolveError::NoPatch {
        commit,
        what: "not read yet",
    })
}
