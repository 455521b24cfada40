//! Commits found by what people call them.

use git2::{Oid, Repository};

use super::{Reference, ResolveError};
use crate::Patch;

/// The patches that a reference names, in the order in which they apply.
/// Looks in the history of `tip` first, then in that of all branches and tags.
///
/// # Errors
/// [`ResolveError`], with what to do.
pub fn resolve(
    repo: &Repository,
    tip: Oid,
    reference: &Reference,
) -> Result<Vec<Patch>, ResolveError> {
    let _ = (repo, reference);
    Err(ResolveError::NoPatch {
        commit: tip,
        what: "not read yet",
    })
}
