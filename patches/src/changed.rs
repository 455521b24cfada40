//! The paths in which two trees differ. Folders that are equal are never read, so that the cost
//! is that of the difference; libgit2's own diff reads both trees whole.

use std::collections::BTreeMap;

use git2::{DiffOptions, Oid, Repository, Tree};

const FOLDER: i32 = 0o040000;

type Entries = BTreeMap<Vec<u8>, (Oid, i32)>;

/// The paths of files, links and submodules that are in one tree only or differ in content or
/// mode, sorted.
pub(crate) fn paths(
    repo: &Repository,
    before: &Tree,
    after: &Tree,
) -> Result<Vec<Vec<u8>>, git2::Error> {
    let mut found = Vec::new();
    let mut folders = vec![(Vec::new(), Some(before.id()), Some(after.id()))];
    while let Some((folder, before, after)) = folders.pop() {
        let (old, mut new) = (entries(repo, before)?, entries(repo, after)?);
        let both = old.into_iter().map(|(name, old)| {
            let new = new.remove(&name);
            (name, Some(old), new)
        });
        let mut all: Vec<_> = both.collect();
        all.extend(new.into_iter().map(|(name, new)| (name, None, Some(new))));
        for (name, old, new) in all {
            if old == new {
                continue;
            }
            let path = [&folder[..], &name].concat();
            let file = |entry: Option<(Oid, i32)>| entry.filter(|&(_, mode)| mode != FOLDER);
            let tree = |entry: Option<(Oid, i32)>| {
                entry.filter(|&(_, mode)| mode == FOLDER).map(|(id, _)| id)
            };
            if file(old) != file(new) {
                found.push(path.clone());
            }
            if tree(old) != tree(new) {
                folders.push(([&path[..], b"/"].concat(), tree(old), tree(new)));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Makes a diff of two trees by libgit2 read no more than what differs.
pub(crate) fn narrow(
    options: &mut DiffOptions,
    repo: &Repository,
    before: &Tree,
    after: &Tree,
) -> Result<(), git2::Error> {
    options.disable_pathspec_match(true);
    for path in paths(repo, before, after)? {
        options.pathspec(path);
    }
    Ok(())
}

fn entries(repo: &Repository, tree: Option<Oid>) -> Result<Entries, git2::Error> {
    let Some(tree) = tree else {
        return Ok(Entries::new());
    };
    let tree = repo.find_tree(tree)?;
    let entry = |entry: git2::TreeEntry| {
        let meant = (entry.id(), entry.filemode_raw());
        (entry.name_bytes().to_vec(), meant)
    };
    Ok(tree.iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The trees of one file each are made by hand: what differs is plain to see.
    #[test]
    fn what_differs_is_told_once() {
        let folder = tempfile::TempDir::new().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        let blob = |text: &str| repo.blob(text.as_bytes()).unwrap();
        let tree = |entries: &[(&str, Oid, i32)]| {
            let mut builder = repo.treebuilder(None).unwrap();
            for &(name, id, mode) in entries {
                builder.insert(name, id, mode).unwrap();
            }
            builder.write().unwrap()
        };
        let (one, two) = (blob("1"), blob("2"));
        let same = tree(&[("s", one, 0o100644)]);
        let old = tree(&[
            ("changed", one, 0o100644),
            ("folder", tree(&[("a", one, 0o100644)]), 0o040000),
            ("gone", one, 0o100644),
            ("mode", one, 0o100644),
            ("same", same, 0o040000),
            ("turned", one, 0o100644),
        ]);
        let new = tree(&[
            ("changed", two, 0o100644),
            ("folder", tree(&[("b", one, 0o100644)]), 0o040000),
            ("made", one, 0o100644),
            ("mode", one, 0o100755),
            ("same", same, 0o040000),
            ("turned", tree(&[("x", one, 0o100644)]), 0o040000),
        ]);
        let (old, new) = (repo.find_tree(old).unwrap(), repo.find_tree(new).unwrap());
        let paths = paths(&repo, &old, &new).unwrap();
        let texts: Vec<_> = paths
            .iter()
            .map(|path| String::from_utf8_lossy(path))
            .collect();
        let wanted = [
            "changed", "folder/a", "folder/b", "gone", "made", "mode", "turned", "turned/x",
        ];
        assert_eq!(texts, wanted);
    }
}
