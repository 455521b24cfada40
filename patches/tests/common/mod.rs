//! Small trees in a repository of their own.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod damage;
pub mod reading;
pub mod thread;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Oid, Repository, Signature, Time};
use ktrial_patches::apply::{Applied, ApplyError, apply};
use ktrial_patches::read::read;
use tempfile::TempDir;

/// A bare repository that goes away with the value.
pub struct Lab {
    pub repo: Repository,
    folder: TempDir,
}

/// A file: its path, mode and content.
pub type File<'a> = (&'a str, i32, &'a [u8]);

impl Lab {
    pub fn new() -> Lab {
        let folder = TempDir::new().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        Lab { repo, folder }
    }

    pub fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// A commit of these files, at 2001-09-09 01:46:40 UTC.
    pub fn commit(&self, files: &[File]) -> Oid {
        let tree = self.repo.find_tree(self.tree(files)).unwrap();
        let who = Signature::new("A", "a@example.org", &Time::new(1_000_000_000, 0)).unwrap();
        self.repo
            .commit(None, &who, &who, "base\n", &tree, &[])
            .unwrap()
    }

    /// A tree of these files.
    pub fn tree(&self, files: &[File]) -> Oid {
        let empty = self.repo.treebuilder(None).unwrap().write().unwrap();
        let empty = self.repo.find_tree(empty).unwrap();
        let mut builder = TreeUpdateBuilder::new();
        for (path, mode, content) in files {
            let mode = match mode {
                0o100755 => FileMode::BlobExecutable,
                0o120000 => FileMode::Link,
                _ => FileMode::Blob,
            };
            builder.upsert(*path, self.repo.blob(content).unwrap(), mode);
        }
        builder.create_updated(&self.repo, &empty).unwrap()
    }

    pub fn content(&self, tree: Oid, path: &str) -> Vec<u8> {
        let tree = self.repo.find_tree(tree).unwrap();
        let entry = tree.get_path(std::path::Path::new(path)).unwrap();
        self.repo.find_blob(entry.id()).unwrap().content().to_vec()
    }

    /// Reads a patch and applies it to a commit of these files.
    pub fn try_patch(&self, files: &[File], patch: &str) -> Result<Applied, ApplyError> {
        let patches = read("test.patch", patch.as_bytes()).unwrap().patches;
        apply(&self.repo, self.commit(files), &patches)
    }
}

/// A plain file.
pub const fn file<'a>(path: &'a str, content: &'a str) -> File<'a> {
    (path, 0o100644, content.as_bytes())
}

/// Lines `1` to `last`, each on its own.
pub fn numbers(last: usize) -> String {
    (1..=last).map(|n| format!("{n}\n")).collect()
}

/// A section of a git binary patch, as git's `diff.c` writes it.
pub fn binary_section(kind: &str, data: &[u8]) -> String {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).unwrap();
    let letters: Vec<char> = ('0'..='9')
        .chain('A'..='Z')
        .chain('a'..='z')
        .chain("!#$%&()*+-;<=>?@^_`{|}~".chars())
        .collect();
    let mut section = format!("{kind} {}\n", data.len());
    for line in encoder.finish().unwrap().chunks(52) {
        // `A` is 1 byte, `Z` 26, `a` 27.
        section.push(letters[line.len() + 9]);
        for four in line.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..four.len()].copy_from_slice(four);
            let word = u32::from_be_bytes(bytes) as usize;
            let digits = [85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1];
            section.extend(digits.map(|digit| letters[word / digit % 85]));
        }
        section.push('\n');
    }
    section
}
