//! After a patch: the tree changed, in the files that are told and no others.

use std::collections::BTreeMap;

use git2::{DiffOptions, Repository, Tree};

use super::ApplyError;

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
    let mut options = DiffOptions::new();
    options.skip_binary_check(true).include_typechange(true);
    let diff = repo.diff_tree_to_tree(Some(before), Some(after), Some(&mut options))?;
    for delta in diff.deltas() {
        let path = delta
            .new_file()
            .path_bytes()
            .or(delta.old_file().path_bytes());
        let path = String::from_utf8_lossy(path.unwrap_or_default());
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
