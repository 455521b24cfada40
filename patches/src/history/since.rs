//! The commit that changed the place where a patch no longer fits.

use std::collections::HashMap;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Mempack, Oid, Repository, Signature, Time};

use super::changes;
use super::entries::Entry;
use super::named::Named;
use super::part::{Hunks, Part, part};
use super::scratch::in_memory;
use super::turn::{self, Side};
use crate::Patch;
use crate::apply::{ApplyError, apply};

/// Commits named beside the first.
const LATER: usize = 2;

/// The commit after which a patch no longer applies, and those after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    /// The first of them: before it, the patch fitted.
    pub first: Named,
    /// The newest ones that changed the same place again, newest last; two at most.
    pub later: Vec<Named>,
    /// How many did between those.
    pub between: usize,
    /// Where the first moved the file that the patch names.
    pub moved_to: Option<String>,
}

/// The commit in the history of `tip` that changed the place which `error` is about: the
/// newest one before which the hunk fitted, or which removed, moved or made the file;
/// where the patch is applied already, the one that applied it. With it those that
/// changed the lines of the hunk again.
/// `None` where the history, `limit` commits of it at most, has no such commit.
///
/// # Errors
/// If the repository can't be read.
pub fn changed_since(
    repo: &Repository,
    tip: Oid,
    patches: &[Patch],
    error: &ApplyError,
    limit: usize,
) -> Result<Option<Since>, git2::Error> {
    let mut moved_to = None;
    let mut later = Vec::new();
    let found = match error {
        ApplyError::NoSuchFile { path, .. } => {
            let found = turn::newest(repo, tip, path, limit, &mut |file| Ok(file.is_some()))?;
            if let Some(commit) = found {
                moved_to = turn::renamed(repo, commit, path, Side::Old)?;
            }
            found
        }
        ApplyError::FileExists { path, .. } => {
            turn::newest(repo, tip, path, limit, &mut |file| Ok(file.is_none()))?
        }
        other => {
            match place(other).and_then(|(patch, path, hunks)| part(patches, patch, path, hunks)) {
                Some(part) => {
                    let found = last_fit(repo, tip, &part, limit)?;
                    if let (Some(first), ApplyError::HunkFailed(_)) = (found, other) {
                        later = changes::after(repo, tip, first, &part, limit)?;
                    }
                    found
                }
                None => None,
            }
        }
    };
    let Some(commit) = found else {
        return Ok(None);
    };
    let newest = &later[..later.len().min(LATER)];
    let named = newest.iter().rev().map(|&id| Named::of(repo, id));
    Ok(Some(Since {
        first: Named::of(repo, commit)?,
        later: named.collect::<Result<_, _>>()?,
        between: later.len() - newest.len(),
        moved_to,
    }))
}

/// The patch, path and hunks that an error is about.
fn place(error: &ApplyError) -> Option<(&str, &str, Hunks)> {
    match error {
        ApplyError::PartlyApplied { patch, done, .. } => Some((patch, done.first()?, Hunks::All)),
        ApplyError::AlreadyApplied { patch, path } => Some((patch, path, Hunks::All)),
        ApplyError::HunkFailed(failure) => {
            Some((&failure.patch, &failure.path, Hunks::Only(failure.hunk)))
        }
        ApplyError::Ambiguous { .. }
        | ApplyError::Unplaceable { .. }
        | ApplyError::NotEmptied { .. } => {
            let place = error.place()?;
            let hunks = place.hunk.map_or(Hunks::All, Hunks::UpTo);
            Some((place.patch, place.path, hunks))
        }
        _ => None,
    }
}

/// The newest commit before which the part applied.
fn last_fit(
    repo: &Repository,
    tip: Oid,
    part: &Part,
    limit: usize,
) -> Result<Option<Oid>, git2::Error> {
    in_memory(repo, |scratch, memory| {
        let mut known = HashMap::new();
        let mut holds = |file: Option<Entry>| {
            if let Some(&fits) = known.get(&file) {
                return Ok(fits);
            }
            let fits = applies_to(scratch, memory, part, file)?;
            known.insert(file, fits);
            Ok(fits)
        };
        turn::newest(scratch, tip, &part.path, limit, &mut holds)
    })
}

/// Whether the part applies to a tree that has this file and nothing else.
fn applies_to(
    repo: &Repository,
    memory: &Mempack,
    part: &Part,
    file: Option<Entry>,
) -> Result<bool, git2::Error> {
    let empty = repo.treebuilder(None)?.write()?;
    let mut tree = repo.find_tree(empty)?;
    if let Some(Entry { id, mode }) = file {
        let mode = match mode {
            0o120000 => FileMode::Link,
            0o100755 => FileMode::BlobExecutable,
            0o040000 | 0o160000 => return Ok(false),
            _ => FileMode::Blob,
        };
        let mut builder = TreeUpdateBuilder::new();
        builder.upsert(part.path.as_str(), id, mode);
        tree = repo.find_tree(builder.create_updated(repo, &tree)?)?;
    }
    let nobody = Signature::new("ktrial", "ktrial@localhost", &Time::new(0, 0))?;
    let base = repo.commit(None, &nobody, &nobody, "one file\n", &tree, &[])?;
    let outcome = apply(repo, base, &part.patches);
    memory.reset()?;
    match outcome {
        Ok(_) => Ok(true),
        Err(ApplyError::Repository(error)) => Err(error),
        Err(_) => Ok(false),
    }
}
