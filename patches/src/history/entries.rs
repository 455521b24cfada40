//! Files of a tree at many commits, without reading a folder twice.

use std::collections::HashMap;

use git2::{ObjectType, Oid, Repository};

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub id: Oid,
    pub mode: i32,
}

/// Looks up paths, and remembers what each folder had at each of them.
pub(super) struct Entries<'r> {
    repo: &'r Repository,
    /// By folder and path below it.
    known: HashMap<(Oid, String), Option<Entry>>,
}

impl<'r> Entries<'r> {
    pub(super) fn new(repo: &'r Repository) -> Self {
        Entries {
            repo,
            known: HashMap::new(),
        }
    }

    /// What a commit has at a path.
    pub(super) fn at(&mut self, commit: Oid, path: &str) -> Result<Option<Entry>, git2::Error> {
        let mut folder = self.repo.find_commit(commit)?.tree_id();
        let mut rest = path;
        let mut asked = Vec::new();
        let found = loop {
            if let Some(found) = self.known.get(&(folder, rest.to_owned())) {
                break *found;
            }
            asked.push((folder, rest.to_owned()));
            let (name, below) = match rest.split_once('/') {
                Some((name, below)) => (name, Some(below)),
                None => (rest, None),
            };
            let tree = self.repo.find_tree(folder)?;
            let Some(entry) = tree.get_name(name) else {
                break None;
            };
            match below {
                Some(below) if entry.kind() == Some(ObjectType::Tree) => {
                    (folder, rest) = (entry.id(), below);
                }
                Some(_) => break None,
                None => {
                    break Some(Entry {
                        id: entry.id(),
                        mode: entry.filemode(),
                    });
                }
            }
        };
        for place in asked {
            self.known.insert(place, found);
        }
        Ok(found)
    }
}
