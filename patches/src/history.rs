//! The commits of a tree: patches made of them, and the commit on which a patch applies.

mod base;
mod bundle;
mod changes;
mod commit;
mod entries;
mod fingerprint;
mod named;
mod pack;
mod part;
mod range;
mod resolve;
mod scratch;
mod search;
mod since;
mod turn;

use git2::{Oid, Repository};

use crate::read::ReadError;

pub use base::{Base, find_base};
pub use bundle::bundled;
pub(crate) use bundle::is_bundle;
pub use commit::from_commit;
pub use named::Named;
pub use resolve::resolve;
pub use search::taken_from;
pub use since::{Since, changed_since};

/// A way to name commits of a tree, or to bring them along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// One commit, by (abbreviated) hash, tag or branch.
    Commit(String),
    /// `from..to`: the commits after `from` up to `to`, oldest first, without merges.
    Range(String),
    /// The commit with exactly this subject.
    Subject(String),
    /// The commit of a Subversion revision, by `git-svn-id:` or by FreeBSD's git notes.
    Svn(u32),
    /// The commits of a review, such as `D9586`, by `Differential Revision:`, oldest first.
    Review(String),
    /// A git bundle: the commits that it holds beyond those it says it needs.
    Bundle {
        /// The name of its file.
        name: String,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// Why a reference names no patches.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The tree's history has no such commit.
    #[error("the tree's history has no {what}; {next}")]
    NotFound {
        /// What was looked for: `commit 8cdef6cbcc73`, `subject \`…\``.
        what: String,
        /// What to do.
        next: String,
    },
    /// Several commits fit.
    #[error("{what} fits {} commits: {}", commits.len(), some(commits))]
    Ambiguous {
        /// What was looked for.
        what: String,
        /// The commits that fit.
        commits: Vec<Oid>,
    },
    /// A merge, or a commit without a parent: no patch says what it does.
    #[error("commit {commit} is {what}, which is no patch")]
    NoPatch {
        /// The commit.
        commit: Oid,
        /// What it is.
        what: &'static str,
    },
    /// More commits than a series may have.
    #[error("{commits} commits are more than a series can have; name fewer")]
    TooMany {
        /// How many were named.
        commits: usize,
    },
    /// What it changes can't be read as a patch.
    #[error("commit {commit}: {error}")]
    Read {
        /// The commit.
        commit: Oid,
        /// What is wrong.
        error: ReadError,
    },
    /// A bundle that can't be unpacked.
    #[error("{name}: {why}")]
    Bundle {
        /// Its name.
        name: String,
        /// What is wrong and what to do.
        why: String,
    },
    /// The repository can't be read. Not the series' fault.
    #[error("the tree's git repository can't be used: {}", .0.message())]
    Repository(#[from] git2::Error),
}

impl ResolveError {
    /// What to say of a commit that is not to be found.
    fn missing(repo: &Repository, tip: Oid, what: String) -> ResolveError {
        let alone = repo
            .find_commit(tip)
            .is_ok_and(|tip| tip.parent_count() == 0);
        let next = if repo.is_shallow() {
            "this clone is shallow: `git fetch --unshallow` in the tree brings the rest of its history"
        } else if alone {
            "it is one commit without a history, as an imported archive is: take a git clone of the \
             tree"
        } else {
            "look at the spelling, or fetch the branch that has it"
        };
        ResolveError::NotFound {
            what,
            next: next.to_owned(),
        }
    }
}

fn some(commits: &[Oid]) -> String {
    let first: Vec<String> = commits.iter().take(5).map(Oid::to_string).collect();
    first.join(", ") + if commits.len() > 5 { ", …" } else { "" }
}
