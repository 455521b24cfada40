//! Commits, newest first, in the order of `git log`.

use std::collections::{BinaryHeap, HashSet};

use git2::{Oid, Repository};

/// The history of a commit, itself included: the newest of those whose children have
/// all been seen or are older. Unlike libgit2's walk by time, which reads the whole history first
/// and puts commits of one second in any order, a commit comes after the child that led to it.
pub(crate) struct Walk<'r> {
    repo: &'r Repository,
    /// By date, and within one second those found first.
    open: BinaryHeap<(i64, std::cmp::Reverse<usize>, Oid)>,
    seen: HashSet<Oid>,
}

impl<'r> Walk<'r> {
    pub(crate) fn from(repo: &'r Repository, tip: Oid) -> Result<Self, git2::Error> {
        let mut walk = Walk {
            repo,
            open: BinaryHeap::new(),
            seen: HashSet::new(),
        };
        walk.find(tip)?;
        Ok(walk)
    }

    fn find(&mut self, commit: Oid) -> Result<(), git2::Error> {
        if self.seen.insert(commit) {
            let date = self.repo.find_commit(commit)?.time().seconds();
            let found = std::cmp::Reverse(self.seen.len());
            self.open.push((date, found, commit));
        }
        Ok(())
    }

    fn step(&mut self, commit: Oid) -> Result<Oid, git2::Error> {
        for parent in self.repo.find_commit(commit)?.parent_ids() {
            self.find(parent)?;
        }
        Ok(commit)
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Oid, git2::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (_, _, commit) = self.open.pop()?;
        Some(self.step(commit))
    }
}
