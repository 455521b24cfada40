//! The contents of files that a patch reads and makes.

use std::collections::{HashMap, HashSet};

use git2::{ObjectType, Oid, Repository};

/// Bytes of changed files held in memory before they are written.
const MAX_UNWRITTEN: usize = 64 << 20;

/// Bytes that one patch may make ktrial read once more, for files that it changes or copies again
/// and again: a thousand diffs of a file of half a megabyte.
const MAX_AGAIN: usize = 512 << 20;

pub(super) struct Contents<'r> {
    repo: &'r Repository,
    /// What are no objects yet: of a file that a patch changes many times, only the last is one.
    unwritten: HashMap<Oid, Vec<u8>>,
    unwritten_bytes: usize,
    /// What was read for this patch, and the bytes of what was read once more.
    seen: HashSet<Oid>,
    again: usize,
}

impl<'r> Contents<'r> {
    pub(super) fn new(repo: &'r Repository) -> Self {
        Contents {
            repo,
            unwritten: HashMap::new(),
            unwritten_bytes: 0,
            seen: HashSet::new(),
            again: 0,
        }
    }

    /// What a file holds. `None` when the patch has made it be read again too often.
    pub(super) fn read(&mut self, blob: Oid) -> Result<Option<Vec<u8>>, git2::Error> {
        let unwritten = self.unwritten.get(&blob);
        let again = !self.seen.insert(blob) || unwritten.is_some();
        let content = match unwritten {
            Some(content) => content.clone(),
            None => self.repo.find_blob(blob)?.content().to_vec(),
        };
        self.again += if again { content.len() } else { 0 };
        Ok(Some(content).filter(|_| self.again <= MAX_AGAIN))
    }

    /// Keeps what a file is to hold; gives its id.
    pub(super) fn keep(&mut self, content: Vec<u8>) -> Result<Oid, git2::Error> {
        let blob = Oid::hash_object(ObjectType::Blob, &content)?;
        self.unwritten_bytes += content.len();
        self.unwritten.insert(blob, content);
        Ok(blob)
    }

    /// Whether so many are kept that they should be written.
    pub(super) fn are_many(&self) -> bool {
        self.unwritten_bytes > MAX_UNWRITTEN
    }

    /// Makes objects of those that are still wanted, and drops the others.
    pub(super) fn write(&mut self, wanted: impl Iterator<Item = Oid>) -> Result<(), git2::Error> {
        let mut unwritten = std::mem::take(&mut self.unwritten);
        self.unwritten_bytes = 0;
        for content in wanted.filter_map(|blob| unwritten.remove(&blob)) {
            self.repo.blob(&content)?;
        }
        Ok(())
    }

    /// The next patch, or the same once more, starts anew.
    pub(super) fn forget(&mut self) {
        self.unwritten.clear();
        self.unwritten_bytes = 0;
        self.seen.clear();
        self.again = 0;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// 512 times 1 MiB is what a patch may make be read again, by the constant above.
    #[test]
    fn what_one_patch_reads_again_has_a_bound() {
        let folder = tempfile::TempDir::new().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        let mut contents = Contents::new(&repo);
        let blob = contents.keep(vec![b'x'; 1 << 20]).unwrap();
        for _ in 0..512 {
            assert!(contents.read(blob).unwrap().is_some());
        }
        assert!(contents.read(blob).unwrap().is_none());
        contents.write([blob].into_iter()).unwrap();
        contents.forget();
        assert!(contents.read(blob).unwrap().is_some());
    }
}
