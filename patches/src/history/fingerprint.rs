//! What a series can see of a tree, as one hash: where two commits have the same,
//! the series does the same on both.

use std::collections::{BTreeMap, HashMap, HashSet};

use git2::{ObjectType, Oid, Repository};

use super::entries::Entries;
use crate::{Change, Patch};

/// Components of a path that are told apart; what is below them counts as a whole.
const DEPTH: usize = 64;

/// Places told apart at most. No series that people make comes near; for one
/// that does, every commit counts as different.
const MAX_PLACES: usize = 1 << 20;

/// The paths that a series may mean, as a tree of names: all that its names can
/// become when components are stripped from them.
struct Places {
    below: Vec<BTreeMap<String, usize>>,
    full: bool,
}

impl Places {
    fn of(patches: &[Patch]) -> Places {
        let mut places = Places {
            below: vec![BTreeMap::new()],
            full: false,
        };
        for path in names(patches) {
            for suffix in suffixes(path) {
                places.add(suffix);
            }
        }
        places
    }

    fn add(&mut self, path: &str) {
        let mut at = 0;
        for name in path.split('/').take(DEPTH) {
            let next = self.below.len();
            let known = self.below[at].get(name).copied();
            if known.is_none() && next >= MAX_PLACES {
                self.full = true;
                return;
            }
            at = known.unwrap_or_else(|| {
                self.below[at].insert(name.to_owned(), next);
                self.below.push(BTreeMap::new());
                next
            });
        }
    }
}

fn names(patches: &[Patch]) -> impl Iterator<Item = &str> {
    let files = patches.iter().flat_map(|patch| &patch.files);
    let names = files.flat_map(|file| file.old.iter().chain(&file.new));
    names.map(String::as_str)
}

/// The path, and what is left of it when components are taken off its start.
fn suffixes(path: &str) -> impl Iterator<Item = &str> {
    let after = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    std::iter::once(path).chain(after).take(DEPTH)
}

/// Fingerprints of trees. What is known of a folder is kept, so that a commit
/// costs no more than the folders that it changes.
pub(super) struct Fingerprints<'r> {
    repo: &'r Repository,
    places: Places,
    entries: Entries<'r>,
    /// The files that must be there before the series.
    needed: Vec<String>,
    /// The last components of their paths.
    last_names: HashSet<String>,
    /// The start of the hashes that the patches give for them.
    blobs: HashSet<String>,
    by_place: HashMap<(Oid, usize), Oid>,
    by_name: HashMap<Oid, Oid>,
}

impl<'r> Fingerprints<'r> {
    pub(super) fn new(repo: &'r Repository, patches: &[Patch]) -> Self {
        let needed = needed(patches);
        let last = |path: &String| path.rsplit('/').next().map(str::to_owned);
        let files = patches.iter().flat_map(|patch| &patch.files);
        let blobs = files.filter_map(|file| file.old_blob.as_deref().map(blob_start));
        Fingerprints {
            repo,
            blobs: blobs.collect(),
            places: Places::of(patches),
            entries: Entries::new(repo),
            last_names: needed.iter().filter_map(last).collect(),
            needed,
            by_place: HashMap::new(),
            by_name: HashMap::new(),
        }
    }

    /// The fingerprint of a commit's tree.
    pub(super) fn of(&mut self, commit: Oid) -> Result<Oid, git2::Error> {
        let tree = self.repo.find_commit(commit)?.tree_id();
        if self.places.full {
            return Ok(tree);
        }
        let named = self.at(tree, 0)?;
        if self.has_all(commit)? {
            return Ok(named);
        }
        // A file that has moved is looked for elsewhere: those that are called
        // or that are the same count as well.
        let moved = self.like(tree)?;
        hash(&[named.as_bytes(), moved.as_bytes()].concat())
    }

    fn has_all(&mut self, commit: Oid) -> Result<bool, git2::Error> {
        for path in &self.needed {
            let mut found = false;
            for suffix in suffixes(path) {
                found = found || self.entries.at(commit, suffix)?.is_some();
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What a folder has at the places below one.
    fn at(&mut self, folder: Oid, place: usize) -> Result<Oid, git2::Error> {
        if let Some(known) = self.by_place.get(&(folder, place)) {
            return Ok(*known);
        }
        let tree = self.repo.find_tree(folder)?;
        let mut seen = Vec::new();
        let below: Vec<(String, usize)> = self.places.below[place]
            .iter()
            .map(|(name, &at)| (name.clone(), at))
            .collect();
        for (name, at) in below {
            let Some(entry) = tree.get_name(&name) else {
                continue;
            };
            seen.extend_from_slice(name.as_bytes());
            seen.push(0);
            let is_open = entry.kind() == Some(ObjectType::Tree) && !self.is_last(at);
            let id = match is_open {
                true => self.at(entry.id(), at)?,
                false => entry.id(),
            };
            seen.extend_from_slice(id.as_bytes());
            seen.extend_from_slice(&entry.filemode().to_be_bytes());
        }
        let print = hash(&seen)?;
        self.by_place.insert((folder, place), print);
        Ok(print)
    }

    fn is_last(&self, place: usize) -> bool {
        self.places.below[place].is_empty()
    }

    /// The files anywhere below a folder that are called as one of the series is,
    /// or have its content.
    fn like(&mut self, folder: Oid) -> Result<Oid, git2::Error> {
        if let Some(known) = self.by_name.get(&folder) {
            return Ok(*known);
        }
        let tree = self.repo.find_tree(folder)?;
        let mut seen = Vec::new();
        for entry in &tree {
            let is_called_so = entry
                .name()
                .is_ok_and(|name| self.last_names.contains(name));
            let is_ours = is_called_so || self.blobs.contains(&blob_start(&entry.id().to_string()));
            match entry.kind() {
                Some(ObjectType::Tree) => {
                    let below = self.like(entry.id())?;
                    seen.extend_from_slice(entry.name_bytes());
                    seen.push(0);
                    seen.extend_from_slice(below.as_bytes());
                }
                _ if is_ours => {
                    seen.extend_from_slice(entry.name_bytes());
                    seen.push(0);
                    seen.extend_from_slice(entry.id().as_bytes());
                }
                _ => {}
            }
        }
        let print = hash(&seen)?;
        self.by_name.insert(folder, print);
        Ok(print)
    }
}

/// The files that must be there before the series, as the patches call them.
fn needed(patches: &[Patch]) -> Vec<String> {
    let mut made = HashSet::new();
    let mut needed = Vec::new();
    for file in patches.iter().flat_map(|patch| &patch.files) {
        let both = [&file.old, &file.new].into_iter().flatten();
        let is_made = both.clone().any(|path| made.contains(path));
        if let Some(old) = file.old.as_ref().filter(|_| !is_made) {
            needed.push(old.clone());
        }
        if is_made || matches!(file.change, Change::Create | Change::Rename | Change::Copy) {
            made.extend(both);
        }
    }
    needed.sort();
    needed.dedup();
    needed
}

/// As much of a blob's hash as every patch gives.
fn blob_start(hash: &str) -> String {
    hash.chars()
        .take(7)
        .collect::<String>()
        .to_ascii_lowercase()
}

fn hash(bytes: &[u8]) -> Result<Oid, git2::Error> {
    Oid::hash_object(ObjectType::Blob, bytes)
}
