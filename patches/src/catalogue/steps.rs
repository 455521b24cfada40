//! The steps of a series, and the patches that come of them.

use git2::{Oid, Repository};

use super::{Series, SeriesError, Step};
use crate::history::{self, Reference, ResolveError};
use crate::read::{LeftOut, Reason};
use crate::{Change, FilePatch, Irreversible, Patch};

impl Series {
    /// The patches that it brings along: all of them, unless it names commits.
    pub fn own_patches(&self) -> impl Iterator<Item = &Patch> {
        self.steps.iter().filter_map(|step| match step {
            Step::Patch(patch) => Some(&**patch),
            Step::Commits(_) => None,
        })
    }

    /// The commits that the tree must have for it, under all their names.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        let references = self.steps.iter().filter_map(|step| match step {
            Step::Patch(_) => None,
            Step::Commits(references) => Some(references),
        });
        references.flatten()
    }

    /// The revision on which the first of its `patches` was made, such as `8cdef6cbcc73~1`,
    /// where that is a commit of the tree; where it is undone, the commit itself.
    pub fn made_on(&self, patches: &[Patch]) -> Option<String> {
        let first = match self.reverse {
            true => self.steps.last()?,
            false => self.steps.first()?,
        };
        let is_bundle = |one: &Reference| matches!(one, Reference::Bundle { .. });
        let Step::Commits(references) = first else {
            return None;
        };
        let commit = &patches.first()?.name;
        match self.reverse {
            _ if references.iter().any(is_bundle) => None,
            true => Some(commit.clone()),
            false => Some(format!("{commit}~1")),
        }
    }

    /// A commit of the tree that it needs and has no hash of, so that it must be looked
    /// for in the messages of all commits.
    pub fn searched(&self) -> Option<&Reference> {
        let in_messages = |one: &Reference| {
            matches!(
                one,
                Reference::Subject(_) | Reference::Svn(_) | Reference::Review(_)
            )
        };
        self.steps.iter().find_map(|step| match step {
            Step::Commits(all) if all.iter().all(in_messages) => all.first(),
            _ => None,
        })
    }

    /// All its patches in the order in which they apply: commits looked up in the
    /// history of `tip`, and everything turned round where it is reversed.
    ///
    /// # Errors
    /// [`SeriesError::Resolve`] where the tree lacks a commit.
    pub fn patches(&self, repo: &Repository, tip: Oid) -> Result<Vec<Patch>, SeriesError> {
        let mut patches = Vec::new();
        for step in &self.steps {
            match step {
                Step::Patch(patch) => patches.push((**patch).clone()),
                Step::Commits(references) => patches.extend(first_known(repo, tip, references)?),
            }
        }
        match self.reverse {
            true => Ok(undone(&patches)?),
            false => Ok(patches),
        }
    }
}

/// The patches of the first reference that the tree knows; where it knows none, what is
/// said of the first.
fn first_known(
    repo: &Repository,
    tip: Oid,
    references: &[Reference],
) -> Result<Vec<Patch>, ResolveError> {
    let mut unknown = None;
    for reference in references {
        match history::resolve(repo, tip, reference) {
            Err(error @ ResolveError::NotFound { .. }) => {
                unknown.get_or_insert(error);
            }
            done => return done,
        }
    }
    unknown.map_or(Ok(Vec::new()), Err)
}

/// The patches that undo these, last one first.
pub(super) fn undone(patches: &[Patch]) -> Result<Vec<Patch>, Irreversible> {
    patches.iter().rev().map(Patch::reversed).collect()
}

/// What was left out of a file that a list names: the list says what the series is, so a part
/// of one is no news there.
pub(super) fn without_alone(left_out: Vec<LeftOut>) -> impl Iterator<Item = LeftOut> {
    let is_news = |it: &LeftOut| !matches!(it.why, Reason::Alone { .. });
    left_out.into_iter().filter(is_news)
}

/// Has so many components stripped from the names of the files, as `patch -p` does;
/// `None` leaves that as it is.
pub(super) fn strip<'a>(patches: impl IntoIterator<Item = &'a mut Patch>, level: Option<usize>) {
    let Some(level) = level else { return };
    for file in patches.into_iter().flat_map(|patch| &mut patch.files) {
        file.strip = Some(match is_moved_without_prefix(file) {
            true => level.saturating_sub(1),
            false => level,
        });
    }
}

/// Git's lines `rename from` and `copy from` lack the `a/` that its other names have.
fn is_moved_without_prefix(file: &FilePatch) -> bool {
    matches!(file.change, Change::Rename | Change::Copy) && file.strip == Some(0)
}
