//! A tree with changes laid over it, in memory.

mod contents;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, ObjectType, Oid, Repository, Tree, TreeEntry, TreeWalkMode, TreeWalkResult};

use contents::Contents;

/// A file of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub blob: Oid,
    pub mode: i32,
}

impl Entry {
    /// Whether this very blob is meant by an abbreviated id of a patch.
    pub(super) fn is_called(&self, id: &Option<String>) -> bool {
        let named = id.as_ref().map(|id| id.to_ascii_lowercase());
        named.is_some_and(|id| self.blob.to_string().starts_with(&id))
    }
}

/// What stands at a path.
pub(super) enum Found {
    File(Entry),
    Absent,
    /// Something that a patch must not write to or through.
    Blocked(&'static str),
}

const FOLDER: &str = "a folder stands there";

/// What was known of a path before a change: nothing, that it is removed, or what it is.
type Before = Option<Option<Entry>>;

pub(super) struct Overlay<'r> {
    repo: &'r Repository,
    base: Tree<'r>,
    /// The folders of the base that were looked into. libgit2 reads, checks and parses a large
    /// one again for every file of it.
    read: RefCell<HashMap<Oid, Tree<'r>>>,
    /// All changes since the base; `None` is removed.
    files: BTreeMap<String, Option<Entry>>,
    /// The paths changed since the last tree was written, and what was known of
    /// them before.
    fresh: Vec<(String, Before)>,
    contents: Contents<'r>,
}

impl<'r> Overlay<'r> {
    pub(super) fn new(repo: &'r Repository, base: Tree<'r>) -> Self {
        Overlay {
            repo,
            base,
            read: RefCell::default(),
            files: BTreeMap::new(),
            fresh: Vec::new(),
            contents: Contents::new(repo),
        }
    }

    /// Looks up a path, without following symbolic links.
    pub(super) fn find(&self, path: &str) -> Result<Found, git2::Error> {
        let mut tree = Some(self.base.clone());
        for folder in folders(path) {
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
                Some(ObjectType::Tree) => tree = Some(self.folder(entry.id())?),
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
            Some(ObjectType::Tree) if self.emptied(path, entry.id())? => Found::Absent,
            Some(ObjectType::Tree) => Found::Blocked(FOLDER),
            _ => Found::Blocked("a submodule stands there"),
        })
    }

    /// A folder of the base, read once.
    fn folder(&self, id: Oid) -> Result<Tree<'r>, git2::Error> {
        if let Some(tree) = self.read.borrow().get(&id) {
            return Ok(tree.clone());
        }
        let tree = self.repo.find_tree(id)?;
        self.read.borrow_mut().insert(id, tree.clone());
        Ok(tree)
    }

    /// Whether the base has something at this path.
    fn is_in_base(&self, path: &str) -> Result<bool, git2::Error> {
        let mut tree = self.base.clone();
        for folder in folders(path) {
            match child(&tree, folder) {
                Some(entry) if entry.kind() == Some(ObjectType::Tree) => {
                    tree = self.folder(entry.id())?;
                }
                _ => return Ok(false),
            }
        }
        Ok(child(&tree, path).is_some())
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

    /// Whether every file of this folder of the base was removed. Asked only
    /// where [`made_folder`](Self::made_folder) has seen few removed.
    fn emptied(&self, path: &str, tree: Oid) -> Result<bool, git2::Error> {
        let mut open = vec![(path.to_owned(), tree)];
        while let Some((folder, tree)) = open.pop() {
            for entry in &self.folder(tree)? {
                let Ok(name) = entry.name() else {
                    return Ok(false);
                };
                let path = format!("{folder}/{name}");
                match entry.kind() {
                    Some(ObjectType::Tree) => open.push((path, entry.id())),
                    _ if self.removed(&path) => {}
                    _ => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    pub(super) fn is_file(&self, path: &str) -> Result<bool, git2::Error> {
        Ok(matches!(self.find(path)?, Found::File(_)))
    }

    /// Whether the base has anything of this name at its top.
    pub(super) fn has_top(&self, name: &str) -> bool {
        self.base.get_name(name).is_some()
    }

    /// Whether a patch of the series removed the file that stood there.
    pub(super) fn removed(&self, path: &str) -> bool {
        matches!(self.files.get(path), Some(None))
    }

    /// All files with this last component or this content. Reads every folder
    /// of the tree: for what is found no other way.
    pub(super) fn like(
        &self,
        name: &str,
        blob: Option<Oid>,
    ) -> Result<Vec<(String, Entry)>, git2::Error> {
        let fits = |path: &str, entry: &Entry| {
            path.rsplit('/').next() == Some(name) || Some(entry.blob) == blob
        };
        let mut found = BTreeMap::new();
        let walked = self.base.walk(TreeWalkMode::PreOrder, |folder, entry| {
            if let (Ok(name), Some(ObjectType::Blob)) = (entry.name(), entry.kind()) {
                let path = format!("{folder}{name}");
                let file = Entry {
                    blob: entry.id(),
                    mode: entry.filemode(),
                };
                if fits(&path, &file) && !self.files.contains_key(&path) {
                    found.insert(path, file);
                }
            }
            TreeWalkResult::Ok
        });
        // A folder that can't be read (its name is no UTF-8) may have another one.
        if walked.is_err() {
            return Ok(Vec::new());
        }
        for (path, entry) in &self.files {
            if let Some(entry) = entry.filter(|entry| fits(path, entry)) {
                found.insert(path.clone(), entry);
            }
        }
        Ok(found.into_iter().collect())
    }

    /// What a file holds. `None` when the patch has made it be read again too often.
    pub(super) fn content(&mut self, entry: &Entry) -> Result<Option<Vec<u8>>, git2::Error> {
        self.contents.read(entry.blob)
    }

    pub(super) fn put(
        &mut self,
        path: &str,
        content: Vec<u8>,
        mode: i32,
    ) -> Result<(), git2::Error> {
        let blob = self.contents.keep(content)?;
        self.set(path, Some(Entry { blob, mode }));
        match self.contents.are_many() {
            true => self.write_contents(),
            false => Ok(()),
        }
    }

    /// Makes objects of the contents that files have now.
    fn write_contents(&mut self) -> Result<(), git2::Error> {
        let changed = self.fresh.iter();
        let entries = changed.filter_map(|(path, _)| self.files.get(path).copied().flatten());
        self.contents.write(entries.map(|entry| entry.blob))
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.set(path, None);
    }

    /// Takes back that a file was removed.
    pub(super) fn put_back(&mut self, path: &str, entry: Entry) {
        self.set(path, Some(entry));
    }

    fn set(&mut self, path: &str, entry: Option<Entry>) {
        let before = self.files.insert(path.to_owned(), entry);
        self.fresh.push((path.to_owned(), before));
    }

    /// Takes back what was changed since the last tree was written.
    pub(super) fn roll_back(&mut self) {
        while let Some((path, before)) = self.fresh.pop() {
            match before {
                Some(entry) => self.files.insert(path, entry),
                None => self.files.remove(&path),
            };
        }
        self.contents.forget();
    }

    /// Writes the changes since the last call onto `tree`, the tree written then.
    pub(super) fn write(&mut self, tree: &Tree) -> Result<Oid, git2::Error> {
        self.write_contents()?;
        self.contents.forget();
        let mut fresh: BTreeMap<String, Before> = BTreeMap::new();
        for (path, before) in std::mem::take(&mut self.fresh) {
            fresh.entry(path).or_insert(before);
        }
        let (mut made, mut gone) = (BTreeMap::new(), BTreeSet::new());
        for (path, before) in &fresh {
            let was_there = || match before {
                Some(entry) => Ok(entry.is_some()),
                None => self.is_in_base(path),
            };
            match self.files.get(path) {
                Some(Some(entry)) => {
                    made.insert(path.as_str(), entry);
                }
                // A file both made and removed since then was never in the tree.
                _ if was_there()? => {
                    gone.insert(path.as_str());
                }
                _ => {}
            }
        }
        let mut removals = TreeUpdateBuilder::new();
        for path in &gone {
            removals.remove(*path);
        }
        // One update can't put a file in a folder's place.
        let replaces = gone
            .iter()
            .any(|path| folders(path).any(|f| made.contains_key(f)))
            || made
                .keys()
                .any(|path| folders(path).any(|f| gone.contains(f)));
        let cleared = match replaces {
            true => Some(
                self.repo
                    .find_tree(removals.create_updated(self.repo, tree)?)?,
            ),
            false => None,
        };
        let mut builder = match cleared {
            Some(_) => TreeUpdateBuilder::new(),
            None => removals,
        };
        for (path, entry) in made {
            builder.upsert(path, entry.blob, file_mode(entry.mode));
        }
        builder.create_updated(self.repo, cleared.as_ref().unwrap_or(tree))
    }
}

/// The folders that a path lies in.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(slash, _)| &path[..slash])
}

fn child(tree: &Tree, path: &str) -> Option<TreeEntry<'static>> {
    let name = path.rsplit('/').next()?;
    tree.get_name(name).map(|entry| entry.to_owned())
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
