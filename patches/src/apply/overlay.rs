//! A tree with changes laid over it, in memory.

use std::collections::BTreeMap;

use git2::build::TreeUpdateBuilder;
use git2::{ErrorCode, FileMode, ObjectType, Oid, Repository, Tree, TreeEntry};

use super::binary::Made;

/// A file of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub blob: Oid,
    pub mode: i32,
}

/// What stands at a path.
pub(super) enum Found {
    File(Entry),
    Absent,
    /// Something that a patch must not write to or through.
    Blocked(&'static str),
}

const FOLDER: &str = "a folder stands there";

pub(super) struct Overlay<'r> {
    repo: &'r Repository,
    base: Tree<'r>,
    /// All changes since the base; `None` is removed.
    files: BTreeMap<String, Option<Entry>>,
    /// The paths changed since the last tree was written.
    fresh: Vec<String>,
    /// What binary patches made so far.
    pub binary: Made,
}

impl<'r> Overlay<'r> {
    pub(super) fn new(repo: &'r Repository, base: Tree<'r>) -> Self {
        Overlay {
            repo,
            base,
            files: BTreeMap::new(),
            fresh: Vec::new(),
            binary: Made::default(),
        }
    }

    /// Looks up a path, without following symbolic links.
    pub(super) fn find(&self, path: &str) -> Result<Found, git2::Error> {
        let mut tree = Some(self.base.clone());
        for (slash, _) in path.match_indices('/') {
            let folder = &path[..slash];
            match self.files.get(folder) {
                Some(Some(entry)) => return Ok(not_a_folder(entry.mode)),
                Some(None) => {
                    tree = None;
                    continue;
                }
                None => {}
            }
            let Some(entry) = tree.as_ref().and_then(|tree| child(tree, folder)) else {
                if self.files.is_empty() {
                    return Ok(Found::Absent);
                }
                tree = None;
                continue;
            };
            match entry.kind() {
                Some(ObjectType::Tree) => tree = Some(self.repo.find_tree(entry.id())?),
                _ => return Ok(not_a_folder(entry.filemode())),
            }
        }
        match self.files.get(path) {
            Some(Some(entry)) => return Ok(Found::File(*entry)),
            _ if self.made_folder(path) => return Ok(Found::Blocked(FOLDER)),
            Some(None) => return Ok(Found::Absent),
            None => {}
        }
        let Some(entry) = tree.as_ref().and_then(|tree| child(tree, path)) else {
            return Ok(Found::Absent);
        };
        Ok(match entry.kind() {
            Some(ObjectType::Blob) => Found::File(Entry {
                blob: entry.id(),
                mode: entry.filemode(),
            }),
            Some(ObjectType::Tree) => Found::Blocked(FOLDER),
            _ => Found::Blocked("a submodule stands there"),
        })
    }

    /// Whether a changed file lies in a folder of this name. Where more than a
    /// thousand were removed from it, one is taken to be left.
    fn made_folder(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        let files = self.files.range(inside.clone()..);
        let mut files = files.take_while(|(path, _)| path.starts_with(&inside));
        let mut seen = 0;
        files.any(|(_, entry)| {
            seen += 1;
            entry.is_some() || seen > 1000
        })
    }

    pub(super) fn is_file(&self, path: &str) -> Result<bool, git2::Error> {
        Ok(matches!(self.find(path)?, Found::File(_)))
    }

    /// Whether the base has anything of this name at its top.
    pub(super) fn has_top(&self, name: &str) -> bool {
        self.base.get_name(name).is_some()
    }

    pub(super) fn content(&self, entry: &Entry) -> Result<Vec<u8>, git2::Error> {
        Ok(self.repo.find_blob(entry.blob)?.content().to_vec())
    }

    pub(super) fn put(&mut self, path: &str, content: &[u8], mode: i32) -> Result<(), git2::Error> {
        let blob = self.repo.blob(content)?;
        self.files
            .insert(path.to_owned(), Some(Entry { blob, mode }));
        self.fresh.push(path.to_owned());
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.files.insert(path.to_owned(), None);
        self.fresh.push(path.to_owned());
    }

    /// Writes the changes since the last call onto `tree`, the tree written then.
    pub(super) fn write(&mut self, tree: &Tree) -> Result<Oid, git2::Error> {
        let mut builder = TreeUpdateBuilder::new();
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort();
        fresh.dedup();
        for path in fresh {
            match self.files.get(&path) {
                Some(Some(entry)) => {
                    builder.upsert(path.as_str(), entry.blob, file_mode(entry.mode));
                }
                // A file both made and removed since then was never in the tree.
                _ if is_in(tree, &path)? => {
                    builder.remove(path.as_str());
                }
                _ => {}
            }
        }
        builder.create_updated(self.repo, tree)
    }
}

fn child(tree: &Tree, path: &str) -> Option<TreeEntry<'static>> {
    let name = path.rsplit('/').next()?;
    tree.get_name(name).map(|entry| entry.to_owned())
}

fn is_in(tree: &Tree, path: &str) -> Result<bool, git2::Error> {
    match tree.get_path(std::path::Path::new(path)) {
        Ok(_) => Ok(true),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn not_a_folder(mode: i32) -> Found {
    Found::Blocked(match mode {
        0o120000 => "the path goes through a symbolic link",
        0o160000 => "the path goes into a submodule",
        _ => "a file stands where the path needs a folder",
    })
}

fn file_mode(mode: i32) -> FileMode {
    match mode {
        0o100755 => FileMode::BlobExecutable,
        0o120000 => FileMode::Link,
        0o100664 => FileMode::BlobGroupWritable,
        _ => FileMode::Blob,
    }
}
