//! Applying: patches become commits, on git objects and without a checkout.
//!
//! Only the blobs and the trees on the way to them are read and written, so
//! the cost does not grow with the size of the tree.

mod binary;
mod commit;
mod conflict;
mod damage;
mod elsewhere;
mod error;
mod failures;
mod file;
mod form;
mod functions;
mod habits;
mod journey;
mod ladder;
mod loose;
mod merge;
mod nearest;
mod overlay;
mod paths;
mod place;
mod refusal;
mod renamed;
mod search;
mod style;
mod twins;
mod verify;
mod write;

use std::collections::HashSet;

use git2::{Oid, Repository};

use crate::{Change, Mend, Patch};
use binary::Made;
use file::{FileOutcome, Target};
use journey::Journey;
use overlay::Overlay;

pub use conflict::{HunkFailure, ShownLine};
pub use error::ApplyError;
pub use failures::{Failures, failures};
pub(crate) use nearest::shown_at;

/// What came of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The tree after the last patch.
    pub tree: Oid,
    /// The commit of the last patch; the base where there is none.
    pub commit: Oid,
    /// What each patch did, in order.
    pub patches: Vec<AppliedPatch>,
}

impl Applied {
    /// The name of the last patch that touched this path.
    pub fn patch_of(&self, path: &str) -> Option<&str> {
        let touches = |patch: &&AppliedPatch| patch.files.iter().any(|file| file.path == path);
        self.patches
            .iter()
            .rev()
            .find(touches)
            .map(|patch| patch.name.as_str())
    }
}

/// What one patch did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedPatch {
    /// Its name.
    pub name: String,
    /// Its commit, on top of the one before it.
    pub commit: Oid,
    /// The files it touched, in the order of the patch.
    pub files: Vec<AppliedFile>,
    /// The files that the tree had as the patch makes them: a merge with what
    /// the patch was made from changes nothing there.
    pub already: Vec<String>,
}

/// What happened to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedFile {
    /// Its path in the tree, after the patch; where it is deleted, before it.
    pub path: String,
    /// The path that the patch means, where the tree has the file elsewhere by now.
    pub named: Option<String>,
    /// What was taken off the front of its name in the patch, such as `/usr/src/`; empty
    /// where that is nothing, or the `a/` and `b/` of git.
    pub stripped: String,
    /// What happened to it as a whole.
    pub change: Change,
    /// Where each hunk landed.
    pub hunks: Vec<AppliedHunk>,
    /// What was put right to find the places and to make the added lines fit.
    pub mends: Vec<Mend>,
}

/// Where a hunk landed, in the terms that `patch` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppliedHunk {
    /// Its first line in the patched file, from 1.
    pub line: usize,
    /// Lines between where the patch says it stands and where it stood.
    pub offset: i64,
    /// Context lines left out at each end to find it, 0 to 2.
    pub fuzz: u32,
    /// How far down the ladder it had to go.
    pub rung: Rung,
}

/// The ladder: the ways to find a hunk's place, each weaker than the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rung {
    /// It stands where the patch says.
    Exact,
    /// It stands on other lines.
    Offset,
    /// A three-way merge with the file that the patch was made from.
    Merge,
    /// With context lines left out.
    Fuzz,
    /// With blanks and tabs that differ.
    Whitespace,
    /// With `<…>` gone and `&lt;` for `<`, as web archives do.
    Markup,
}

impl Rung {
    /// One word for records and for people: `exact`, `offset`, `merge`.
    pub fn name(self) -> &'static str {
        match self {
            Rung::Exact => "exact",
            Rung::Offset => "offset",
            Rung::Merge => "merge",
            Rung::Fuzz => "fuzz",
            Rung::Whitespace => "whitespace",
            Rung::Markup => "markup",
        }
    }
}

/// Puts `patches` on the commit `base`, one commit each, and says where every
/// hunk landed. Objects are written to `repo`; no reference, index or work
/// tree is touched. Authors and dates are kept and the committer is fixed, so
/// the same input gives the same commit ids everywhere.
///
/// An empty series gives the base's own tree and commit.
///
/// # Errors
/// [`ApplyError`]; nothing refers to what was written until then.
pub fn apply(repo: &Repository, base: Oid, patches: &[Patch]) -> Result<Applied, ApplyError> {
    let mut parent = repo.find_commit(base)?;
    let mut tree = parent.tree()?;
    let fallback = parent.time();
    let mut overlay = Overlay::new(repo, tree.clone());
    paths::check_all(patches)?;
    let strip = paths::strip(&overlay, patches)?;
    let made = Made::default();
    let mut done = Vec::new();
    for patch in patches {
        let mut target = Target {
            repo,
            base,
            strip,
            made: &made,
            journey: Journey::default(),
        };
        let mut all = apply_files(&mut overlay, &target, patch)?;
        if all.journey.is_damaged() && patch.files.len() > 1 {
            // What one file shows is also true of those that show nothing.
            target.journey = all.journey;
            overlay.roll_back();
            all = apply_files(&mut overlay, &target, patch)?;
        }
        let next = repo.find_tree(overlay.write(&tree)?)?;
        if next.id() == tree.id() {
            return Err(ApplyError::NoChange {
                patch: patch.name.clone(),
            });
        }
        verify::check(repo, &patch.name, &tree, &next, &all.touched)?;
        tree = next;
        let (author, committer) = commit::signatures(&patch.header, fallback)?;
        let message = patch.header.commit_message();
        let commit = repo.commit(None, &author, &committer, &message, &tree, &[&parent])?;
        parent = repo.find_commit(commit)?;
        done.push(AppliedPatch {
            name: patch.name.clone(),
            commit,
            files: all.files,
            already: all.already,
        });
    }
    Ok(Applied {
        tree: tree.id(),
        commit: parent.id(),
        patches: done,
    })
}

/// What was done to all files of a patch.
#[derive(Default)]
struct AllFiles {
    files: Vec<AppliedFile>,
    already: Vec<String>,
    /// Every path that changed.
    touched: Vec<String>,
    /// What they show of the patch's way.
    journey: Journey,
}

/// What comes of each file of a patch, in their order. One whose place is taken
/// waits for the others: they may clear it, as where a file replaces a folder.
fn outcomes(
    overlay: &mut Overlay,
    target: &Target,
    patch: &Patch,
) -> Result<Vec<FileOutcome>, ApplyError> {
    let mut outcomes = Vec::with_capacity(patch.files.len());
    for file in &patch.files {
        outcomes.push(file::apply(overlay, target, patch, file)?);
    }
    for (outcome, file) in outcomes.iter_mut().zip(&patch.files) {
        if let FileOutcome::Blocked { .. } = outcome {
            *outcome = file::apply(overlay, target, patch, file)?;
        }
    }
    Ok(outcomes)
}

fn apply_files(
    overlay: &mut Overlay,
    target: &Target,
    patch: &Patch,
) -> Result<AllFiles, ApplyError> {
    let mut all = AllFiles::default();
    let (mut certain, mut gone) = (true, Vec::new());
    for outcome in outcomes(overlay, target, patch)? {
        match outcome {
            FileOutcome::Blocked { error } => return Err(error),
            FileOutcome::Applied {
                file,
                paths,
                journey,
            } => {
                all.journey = all.journey.and(journey);
                all.files.push(file);
                all.touched.extend(paths);
            }
            FileOutcome::Already { path, merged } => {
                certain &= merged;
                all.already.push(path);
            }
            FileOutcome::Gone { path, error } => gone.push((path, error)),
        }
    }
    // That a file is not there says little, unless other files are done, too,
    // or it was there once.
    if all.already.is_empty() && !gone.is_empty() {
        let (path, error) = gone.remove(0);
        if !renamed::was_removed(target.repo, target.base, &path)? {
            return Err(error);
        }
        all.already.push(path);
    }
    all.already.extend(gone.into_iter().map(|(path, _)| path));
    all.already = unique(all.already);
    let name = patch.name.clone();
    match all.already.first() {
        Some(path) if all.files.is_empty() => Err(ApplyError::AlreadyApplied {
            patch: name,
            path: path.clone(),
        }),
        Some(_) if !certain => Err(ApplyError::PartlyApplied {
            patch: name,
            done: all.already,
            open: unique(all.files.into_iter().map(|file| file.path).collect()),
        }),
        _ => Ok(all),
    }
}

/// Each path once: a patch can have several parts for one file.
fn unique(mut paths: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}
