//! After a patch: the tree changed, in the files that are told and no others.

use std::collections::BTreeMap;

use git2::{Repository, Tree};

use super::ApplyError;
use crate::changed;

/// Compares the trees before and after a patch with the paths that it is said
/// to have touched; only ids are compared, no content is read.
pub(super) fn check(
    repo: &Repository,
    patch: &str,
    before: &Tree,
    after: &Tree,
    touched: &[String],
) -> Result<(), ApplyError> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for path in touched {
        *times.entry(path).or_default() += 1;
    }
    let wrong = |path: &str, what| {
        Err(ApplyError::Unverified {
            patch: patch.to_owned(),
            path: path.to_owned(),
            what,
        })
    };
    for path in changed::paths(repo, before, after)? {
        let path = String::from_utf8_lossy(&path);
        if times.remove(path.as_ref()).is_none() {
            return wrong(&path, "changed, though no hunk is said to be for it");
        }
    }
    // What is touched twice may be made and taken away again.
    match times.iter().find(|&(_, times)| *times == 1) {
        Some((path, _)) => wrong(path, "did not change"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use git2::build::TreeUpdateBuilder;
    use git2::{FileMode, Oid};

    use super::*;

    fn tree(repo: &Repository, files: &[(&str, &str)]) -> Oid {
        let empty = repo.treebuilder(None).unwrap().write().unwrap();
        let mut builder = TreeUpdateBuilder::new();
        for (path, content) in files {
            let blob = repo.blob(content.as_bytes()).unwrap();
            builder.upsert(*path, blob, FileMode::Blob);
        }
        builder
            .create_updated(repo, &repo.find_tree(empty).unwrap())
            .unwrap()
    }

    /// Which paths differ is plain to see here.
    #[test]
    fn what_is_told_must_be_what_changed() {
        let folder = tempfile::TempDir::new().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        let before = tree(&repo, &[("a/f", "1"), ("g", "1"), ("h", "1")]);
        let after = tree(&repo, &[("a/f", "2"), ("h", "1"), ("new", "1")]);
        let (before, after) = (
            repo.find_tree(before).unwrap(),
            repo.find_tree(after).unwrap(),
        );
        let told = |paths: &[&str]| {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            check(&repo, "p", &before, &after, &paths)
        };
        assert!(told(&["a/f", "g", "new"]).is_ok());
        assert!(told(&["a/f", "g", "new", "h", "h"]).is_ok());
        for wrong in [&["a/f", "g"][..], &["a/f", "g", "new", "h"]] {
            let error = told(wrong).unwrap_err();
            assert!(!error.is_patch_fault(), "{error}");
        }
    }
}
