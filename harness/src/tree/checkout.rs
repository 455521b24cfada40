//! One worktree a tree; switching it touches only the files that differ, so that `make` rebuilds
//! only what those reach.

use std::fs;
use std::path::Path;

use git2::build::CheckoutBuilder;
use git2::{Oid, Repository};

use crate::fault::{OrHost, Result};

/// Makes `worktree` hold the files of `commit` and nothing else.
pub(super) fn check_out(repository: &Repository, worktree: &Path, commit: Oid) -> Result<()> {
    let doing = || format!("check out {commit} to {}", worktree.display());
    fs::create_dir_all(worktree).or_host(doing)?;
    repository.set_workdir(worktree, false).or_host(doing)?;
    let commit = repository.find_commit(commit).or_host(doing)?;
    let mut options = CheckoutBuilder::new();
    options
        .force()
        .remove_untracked(true)
        .remove_ignored(true)
        // A tree's .gitattributes must not change a byte of what is compiled.
        .disable_filters(true);
    repository
        .checkout_tree(commit.as_object(), Some(&mut options))
        .or_host(doing)
}
