//! A file that is not at its path: where the history of the tree says it went,
//! or the one file of that name that the patch fits.

use std::collections::{BinaryHeap, HashSet};
use std::path::Path;

use git2::{Commit, Delta, DiffFindOptions, DiffOptions, Oid, Repository, Tree};

use crate::changed;

/// Commits looked at to find the one that moved a file.
const MAX_COMMITS: usize = 2000;

/// Times that one file is followed.
const MAX_MOVES: usize = 8;

/// Files compared with each other in the commit that moved a file.
const MAX_COMPARED: usize = 1000;

/// How much of a file stays where it is moved, in percent: git's own measure.
pub(super) const SIMILAR: u32 = 50;

/// Where the file that stood at `path` is in the tree of `tip`, by its history.
pub(super) fn by_history(
    repo: &Repository,
    tip: Oid,
    path: &str,
) -> Result<Option<String>, git2::Error> {
    let tip = repo.find_commit(tip)?;
    let tree = tip.tree()?;
    let mut path = path.to_owned();
    let mut left = MAX_COMMITS;
    for _ in 0..MAX_MOVES {
        let Some((before, after)) = removal(&tip, &path, &mut left)? else {
            return Ok(None);
        };
        let Some(next) = moved_to(repo, &before, &after, &path)? else {
            return Ok(None);
        };
        if stands(&tree, &next) {
            return Ok(Some(next));
        }
        path = next;
    }
    Ok(None)
}

/// Whether the tree of `tip` once had a file at `path`, by its history.
pub(super) fn was_removed(repo: &Repository, tip: Oid, path: &str) -> Result<bool, git2::Error> {
    let tip = repo.find_commit(tip)?;
    Ok(removal(&tip, path, &mut { MAX_COMMITS })?.is_some())
}

fn stands(tree: &Tree, path: &str) -> bool {
    tree.get_path(Path::new(path)).is_ok()
}

/// The trees before and after the newest commit that removed the path. Where a
/// merge has the path from one side only, the side without it is followed.
fn removal<'r>(
    tip: &Commit<'r>,
    path: &str,
    left: &mut usize,
) -> Result<Option<(Tree<'r>, Tree<'r>)>, git2::Error> {
    let mut seen = HashSet::from([tip.id()]);
    let mut queue = BinaryHeap::from([Newest(tip.clone())]);
    while let Some(Newest(commit)) = queue.pop() {
        if *left == 0 {
            return Ok(None);
        }
        *left -= 1;
        let mut without = Vec::new();
        let mut with = None;
        for parent in commit.parents() {
            let tree = parent.tree()?;
            match stands(&tree, path) {
                true => with = with.or(Some(tree)),
                false => without.push(parent),
            }
        }
        match with {
            Some(before) if without.is_empty() => return Ok(Some((before, commit.tree()?))),
            _ => {}
        }
        without.retain(|parent| seen.insert(parent.id()));
        queue.extend(without.into_iter().map(Newest));
    }
    Ok(None)
}

/// Commits, the newest first.
struct Newest<'r>(Commit<'r>);

impl Newest<'_> {
    fn key(&self) -> (i64, Oid) {
        (self.0.time().seconds(), self.0.id())
    }
}

impl Ord for Newest<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Newest<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Newest<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Newest<'_> {}

/// The new name that libgit2's rename detection gives.
fn moved_to(
    repo: &Repository,
    before: &Tree,
    after: &Tree,
    path: &str,
) -> Result<Option<String>, git2::Error> {
    let mut options = DiffOptions::new();
    options.skip_binary_check(true);
    changed::narrow(&mut options, repo, before, after)?;
    let mut diff = repo.diff_tree_to_tree(Some(before), Some(after), Some(&mut options))?;
    let mut find = DiffFindOptions::new();
    find.renames(true)
        .rename_threshold(SIMILAR as u16)
        .rename_limit(MAX_COMPARED);
    diff.find_similar(Some(&mut find))?;
    let moved = |delta: &git2::DiffDelta| {
        delta.status() == Delta::Renamed && delta.old_file().path() == Some(Path::new(path))
    };
    let delta = diff.deltas().find(moved);
    let new = delta.and_then(|delta| delta.new_file().path_bytes().map(<[u8]>::to_vec));
    Ok(new.and_then(|path| String::from_utf8(path).ok()))
}

/// How much of the lines of the longer file the two have in common, in percent.
pub(super) fn similarity(one: &[u8], other: &[u8]) -> Result<u32, git2::Error> {
    if one == other {
        return Ok(100);
    }
    let mut options = DiffOptions::new();
    options.context_lines(u32::MAX).force_text(true);
    let diff = git2::Patch::from_buffers(one, None, other, None, Some(&mut options))?;
    let (same, added, removed) = diff.line_stats()?;
    let longer = same + added.max(removed);
    Ok((100 * same / longer.max(1)) as u32)
}
