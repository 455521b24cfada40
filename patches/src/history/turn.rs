//! The commit at which something about a file ceased to hold.

use std::collections::{BinaryHeap, HashSet};

use git2::{Delta, Oid, Repository};

use super::commit;
use super::entries::{Entries, Entry};

/// Whether something holds for a file, or for its absence.
pub(super) type Holds<'a> = &'a mut dyn FnMut(Option<Entry>) -> Result<bool, git2::Error>;

/// A commit to look at, and what the file was called by then. The newest comes
/// first, and of two of one second the one that was met first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    seconds: i64,
    order: std::cmp::Reverse<usize>,
    pub commit: Oid,
    path: String,
}

/// A file at a commit, and at each of its parents.
pub(super) struct Change {
    pub here: Option<Entry>,
    pub before: Vec<Option<Entry>>,
}

/// The way back through a file's history.
pub(super) struct Way<'r> {
    repo: &'r Repository,
    entries: Entries<'r>,
    open: BinaryHeap<Step>,
    seen: HashSet<(Oid, String)>,
    /// Whether only the parent that a file comes from is followed.
    simplified: bool,
    /// The newest merge that took the file of one parent where it held at another.
    overruled: Option<Oid>,
}

/// The newest commit before which `holds` held for the file at `path`, given that
/// it does not at `tip`. The history is simplified as `git log -- path` does: where
/// a commit has the file from one of its parents, only that one is followed. Where
/// a file comes from another by a rename, that one is followed.
///
/// Where it never held on that way, as when a merge brings a vendor's file, all
/// parents are followed, and a merge that took the file of one parent although it
/// held at another is good enough. Looks at `limit` commits at most, twice.
pub(super) fn newest(
    repo: &Repository,
    tip: Oid,
    path: &str,
    limit: usize,
    holds: Holds,
) -> Result<Option<Oid>, git2::Error> {
    let mut overruled = None;
    for simplified in [true, false] {
        let mut way = Way::new(repo, tip, path)?;
        way.simplified = simplified;
        for _ in 0..limit {
            let Some(step) = way.open.pop() else {
                break;
            };
            if way.is_turn(&step, tip, holds)? {
                return Ok(Some(step.commit));
            }
        }
        // An end that comes from the limit says nothing of the way beyond it.
        overruled = way.overruled.filter(|_| way.open.is_empty());
    }
    Ok(overruled)
}

impl<'r> Way<'r> {
    /// From `tip` on, simplified.
    pub(super) fn new(repo: &'r Repository, tip: Oid, path: &str) -> Result<Self, git2::Error> {
        let mut way = Way {
            repo,
            entries: Entries::new(repo),
            open: BinaryHeap::new(),
            seen: HashSet::new(),
            simplified: true,
            overruled: None,
        };
        way.push(tip, path)?;
        Ok(way)
    }

    /// The newest commit that is not looked at yet.
    pub(super) fn next(&mut self) -> Option<Step> {
        self.open.pop()
    }

    /// What a commit made of the file, and what its parents had, where it is none of
    /// those; its parents are the next steps.
    pub(super) fn change(&mut self, step: &Step) -> Result<Option<Change>, git2::Error> {
        let (commit, path) = (step.commit, step.path.as_str());
        let here = self.entries.at(commit, path)?;
        let parents: Vec<Oid> = self.repo.find_commit(commit)?.parent_ids().collect();
        let mut before = self.at_each(&parents, path)?;
        if let Some(same) = before.iter().position(|there| *there == here) {
            self.push(parents[same], path)?;
            return Ok(None);
        }
        let old = match before == [None] {
            true => renamed(self.repo, commit, path, Side::New)?,
            false => None,
        };
        if let Some(old) = old {
            before = vec![self.entries.at(parents[0], &old)?];
            self.push(parents[0], &old)?;
            return Ok(Some(Change { here, before }));
        }
        for parent in parents {
            self.push(parent, path)?;
        }
        Ok(Some(Change { here, before }))
    }

    /// What the file is in each of these commits.
    fn at_each(&mut self, commits: &[Oid], path: &str) -> Result<Vec<Option<Entry>>, git2::Error> {
        let at = |&commit: &Oid| self.entries.at(commit, path);
        commits.iter().map(at).collect()
    }

    fn push(&mut self, commit: Oid, path: &str) -> Result<(), git2::Error> {
        if self.seen.insert((commit, path.to_owned())) {
            self.open.push(Step {
                seconds: self.repo.find_commit(commit)?.time().seconds(),
                order: std::cmp::Reverse(self.seen.len()),
                commit,
                path: path.to_owned(),
            });
        }
        Ok(())
    }

    /// Whether it held at all parents; where not, those are the next steps.
    fn is_turn(&mut self, step: &Step, tip: Oid, holds: Holds) -> Result<bool, git2::Error> {
        let (commit, path) = (step.commit, step.path.as_str());
        let here = self.entries.at(commit, path)?;
        let parents: Vec<Oid> = self.repo.find_commit(commit)?.parent_ids().collect();
        let before = self.at_each(&parents, path)?;
        let same = before.iter().position(|there| *there == here);
        if let Some(same) = same.filter(|_| self.simplified || parents.len() == 1) {
            self.push(parents[same], path)?;
            return Ok(false);
        }
        if parents.is_empty() {
            // What was there before a cut or an import is not known.
            let is_cut = self.repo.is_shallow() || commit == tip;
            return Ok(!is_cut && here.is_some() && holds(None)?);
        }
        if before == [None]
            && !holds(None)?
            && let Some(old) = renamed(self.repo, commit, path, Side::New)?
        {
            let there = self.entries.at(parents[0], &old)?;
            let held = holds(there)?;
            if !held {
                self.push(parents[0], &old)?;
            }
            return Ok(held);
        }
        let mut held = Vec::new();
        for (&parent, there) in parents.iter().zip(before) {
            held.push(holds(there)?);
            if held.last() == Some(&false) {
                self.push(parent, path)?;
            }
        }
        if held.contains(&true) && self.overruled.is_none() {
            self.overruled = Some(commit);
        }
        Ok(!held.contains(&false))
    }
}

/// Which name of a rename is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Old,
    New,
}

/// The other name of a file that a commit renames.
pub(super) fn renamed(
    repo: &Repository,
    commit: Oid,
    path: &str,
    known: Side,
) -> Result<Option<String>, git2::Error> {
    let commit = repo.find_commit(commit)?;
    if commit.parent_count() != 1 {
        return Ok(None);
    }
    let diff = commit::diff(repo, &commit)?;
    for delta in diff
        .deltas()
        .filter(|delta| delta.status() == Delta::Renamed)
    {
        let (old, new) = (delta.old_file(), delta.new_file());
        let (known, other) = match known {
            Side::Old => (old.path_bytes(), new.path_bytes()),
            Side::New => (new.path_bytes(), old.path_bytes()),
        };
        if known == Some(path.as_bytes()) {
            let other = other.and_then(|path| std::str::from_utf8(path).ok());
            return Ok(other.map(str::to_owned));
        }
    }
    Ok(None)
}
