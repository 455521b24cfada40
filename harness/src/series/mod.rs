//! Series on trees: opening one, applying it, and saying how that went, to people and for the
//! record. What a patch or a tree says is data here as everywhere.

pub mod record;

mod account;
mod branch;
mod evidence;
mod fit;
#[cfg(test)]
mod fixture;
mod import;
mod open;
mod refusal;

use git2::Repository;
use ktrial_patches::Patch;
use ktrial_patches::apply::{Applied, apply};
use ktrial_patches::catalogue::Series;
use ktrial_patches::history::{self, Base, Reference};

use crate::fault::{OrHost, Result};
use crate::process::ending_at_once;
use crate::terminal::headline;
use crate::tree::{Tree, proper_name};

pub use account::{full, left_out, listed, loud, read_mends, summary};
pub use branch::{Branched, put_on_branch};
pub use fit::fit;
pub use import::{Imported, Importing, import};
pub use open::open;

/// A series as it went onto a tree.
#[derive(Debug)]
pub struct Outcome {
    /// Its patches, those made of the tree's commits among them.
    pub patches: Vec<Patch>,
    /// Where they landed.
    pub applied: Applied,
    /// They were undone, not done.
    pub reverse: bool,
    /// Commits that were found by their messages outside the history of the base: the
    /// patch, and the branch or tag that has it; empty where none is known.
    pub taken: Vec<(String, String)>,
}

/// Applies a series to the base of a tree, in ktrial's own repository of it.
///
/// # Errors
/// A patch fault with the place and what changed it since; a user fault if the tree lacks a commit
/// that the series names; a host fault if the tree's repository can't be used.
pub fn apply_to(tree: &Tree, series: &Series) -> Result<Outcome> {
    ending_at_once(|| apply_in(&tree.repository, tree, series))
}

/// The same in another repository that has the tree's base.
fn apply_in(repository: &Repository, tree: &Tree, series: &Series) -> Result<Outcome> {
    let patches = patches_of(repository, tree, series)?;
    match apply(repository, tree.base, &patches) {
        Ok(applied) => Ok(Outcome {
            taken: taken(repository, tree, series, &patches)?,
            patches,
            applied,
            reverse: series.reverse,
        }),
        Err(error) if series.reverse => {
            Err(refusal::of_undoing(repository, tree, &patches, &error))
        }
        Err(error) => {
            let fault = refusal::of_apply(repository, tree, &patches, &error);
            Err(match series.made_on(&patches) {
                Some(revision) if tree.is_git => fault.next(format!(
                    "--revision {revision} is what the series was made on"
                )),
                _ => fault,
            })
        }
    }
}

fn patches_of(repository: &Repository, tree: &Tree, series: &Series) -> Result<Vec<Patch>> {
    // Before a whole history is searched for what can't be there.
    if let Some(fault) = refusal::of_other_system(tree, series) {
        return Err(fault);
    }
    let patches = series.patches(repository, tree.base);
    patches.map_err(|error| refusal::of_patches(series, error))
}

/// See [`Outcome::taken`].
fn taken(
    repository: &Repository,
    tree: &Tree,
    series: &Series,
    patches: &[Patch],
) -> Result<Vec<(String, String)>> {
    let mut taken = Vec::new();
    if series.searched().is_none() {
        return Ok(taken);
    }
    for patch in patches {
        // What the series brings along is called after its file.
        let commit = repository.revparse_single(&patch.name);
        let Ok(commit) = commit.and_then(|object| object.peel_to_commit()) else {
            continue;
        };
        let from = history::taken_from(repository, tree.base, commit.id());
        if let Some(from) = from.or_host(|| format!("look for {}", patch.name))? {
            taken.push((patch.name.clone(), from));
        }
    }
    Ok(taken)
}

/// The branch or tag whose last commit is the newest, where that is newer than the base.
pub fn newer_elsewhere(tree: &Tree) -> Option<String> {
    let seconds = |id| Some(tree.repository.find_commit(id).ok()?.time().seconds());
    let base = seconds(tree.base)?;
    let references = tree.repository.references().ok()?;
    let newest = references.flatten().filter_map(|reference| {
        let name = reference.shorthand().ok()?.to_owned();
        let is_side = reference.is_branch() || reference.is_remote() || reference.is_tag();
        let commit = reference.peel_to_commit().ok().filter(|_| is_side)?;
        let newer = commit.time().seconds() > base;
        newer.then(|| (commit.time().seconds(), name))
    });
    newest.max().map(|(_, name)| name)
}

/// The newest commit in the history of the tree's base on which a series applies, among `limit`,
/// and how it applies there.
///
/// # Errors
/// As [`apply_to`], but for a patch that does not apply.
pub fn find_base(tree: &Tree, series: &Series, limit: usize) -> Result<Option<(Base, Outcome)>> {
    ending_at_once(|| {
        let patches = patches_of(&tree.repository, tree, series)?;
        let found = history::find_base(&tree.repository, tree.base, &patches, limit)
            .map_err(|error| refusal::of_apply(&tree.repository, tree, &patches, &error))?;
        Ok(found.map(|base| {
            let outcome = Outcome {
                taken: Vec::new(),
                patches,
                applied: base.applied.clone(),
                reverse: series.reverse,
            };
            (base, outcome)
        }))
    })
}

/// Commits in the history of the tree's base, `limit` at most.
pub fn commits(tree: &Tree, limit: usize) -> usize {
    let walk = tree.repository.revwalk().and_then(|mut walk| {
        walk.push(tree.base)?;
        Ok(walk)
    });
    walk.map_or(0, |walk| walk.take(limit).flatten().count())
}

/// What a series says of its system where the tree is of another one; patches often go from one
/// BSD to the other, so that this is worth a line and no refusal.
pub fn foreign(tree: &Tree, series: &Series) -> Option<String> {
    let (wanted, found) = (series.system?, tree.system);
    let found = match found {
        Some(found) if found == wanted => return None,
        Some(found) => format!("is {}", proper_name(found)),
        None => "is no kernel that ktrial knows".to_owned(),
    };
    Some(format!(
        "note: {} is for {}, and {} {found}",
        series.name,
        proper_name(wanted),
        tree.name
    ))
}

/// A reference as people say it: `commit 8cdef6cbcc73`, `review D9586`.
pub fn described(reference: &Reference) -> String {
    match reference {
        Reference::Commit(name) => format!("commit {name}"),
        Reference::Range(range) => format!("commits {range}"),
        Reference::Subject(subject) => format!("the commit with the subject `{subject}`"),
        Reference::Svn(revision) => format!("Subversion revision r{revision}"),
        Reference::Review(review) => format!("the commits of review {review}"),
        Reference::Bundle { name, .. } => format!("the commits of the bundle {name}"),
    }
}

/// The commits that the bundles of a series bring along, oldest first, as far as they can be read
/// without the tree: `8cdef6cbcc73  kern: count again`.
///
/// # Errors
/// A patch fault for a bundle that can't be unpacked.
pub fn bundled(series: &Series) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for reference in series.references() {
        let Reference::Bundle { name, bytes } = reference else {
            continue;
        };
        let (commits, whole) = history::bundled(name, bytes)
            .map_err(|error| refusal::of_series(&series.name, error.into()))?;
        let line = |commit: &history::Named| {
            let subject = headline(&commit.subject);
            format!("{:.12}  {subject}", commit.id.to_string())
        };
        lines.extend(commits.iter().map(line));
        if !whole {
            lines.push("others that can only be read with the tree".to_owned());
        }
    }
    Ok(account::listed(lines))
}
