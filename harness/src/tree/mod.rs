//! Kernel source trees. Whatever the user has (a git checkout, a tarball, a folder) becomes a
//! bare repository in ktrial's cache; the user's own files are never written.

mod checkout;
mod import;

use std::path::{Path, PathBuf};

use git2::{Oid, Repository};

use crate::fault::{Fault, OrHost, Result};
use crate::hash::hash16;
use crate::home::{Home, Lock};

/// A kernel source tree, ready for patches.
pub struct Tree {
    /// Which system's kernel it is.
    pub system: System,
    /// What a person calls it: `linux-source-6.1`, `linux`.
    pub name: String,
    /// Where it came from, as an absolute path.
    pub source: PathBuf,
    /// Short, stable key of this tree in the cache.
    pub key: String,
    /// The version that the tree states of itself, such as `6.1.192`.
    pub version: String,
    /// The commit that the base variant is built from.
    pub base: Oid,
    /// The bare repository in the cache; new objects go here.
    pub repository: Repository,
    folder: PathBuf,
}

/// The operating system that a tree is the kernel of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux.
    Linux,
}

impl System {
    /// The name used in files and in the database.
    pub fn name(self) -> &'static str {
        match self {
            System::Linux => "linux",
        }
    }
}

impl Tree {
    /// Opens a checkout, a tarball or a folder; the last two are imported the first time.
    /// `revision` picks the base of a git checkout and is refused elsewhere.
    ///
    /// # Errors
    /// A user fault if the source is none of these or no kernel is in it; a host fault if a tool
    /// or the disk fails.
    pub fn open(home: &Home, source: &Path, revision: Option<&str>) -> Result<Tree> {
        let source = source.canonicalize().map_err(|e| {
            Fault::user(format!("there is no tree at {}: {e}", source.display()))
                .next("give --tree a git checkout, a kernel tarball or a source folder")
        })?;
        if !source.is_dir() && !source.is_file() {
            return Err(Fault::user(format!(
                "{} is no file or folder",
                source.display()
            )));
        }
        let is_git = is_git(&source)?;
        if revision.is_some() && !is_git {
            return Err(Fault::user(format!(
                "{} is no git checkout, so it has no revisions",
                source.display()
            ))
            .next("leave --revision out"));
        }
        if source.is_dir() && !is_git && !source.join("Kbuild").is_file() {
            return Err(no_kernel(&source));
        }
        let key = if is_git {
            hash16([source.as_os_str().as_encoded_bytes()])
        } else {
            import::signature(&source)?
        };
        let folder = home.cache("trees")?.join(&key);
        let _lock = home.lock(&format!("tree-{key}"))?;
        let (repository, base) = if is_git {
            linked(&folder, &source, revision.unwrap_or("HEAD"))?
        } else {
            imported(home, &folder, &source)?
        };
        let name = tree_name(&source);
        let (system, version) = identify(&repository, base).ok_or_else(|| no_kernel(&source))?;
        Ok(Tree {
            system,
            name,
            source,
            key,
            version,
            base,
            repository,
            folder,
        })
    }

    /// The folder of checked-out sources that builds of this tree share.
    pub fn worktree(&self) -> PathBuf {
        self.folder.join("source")
    }

    /// Makes the worktree hold `commit`, touching only the files that differ.
    ///
    /// # Errors
    /// A host fault, most likely a full disk.
    pub fn check_out(&self, commit: Oid) -> Result<()> {
        checkout::check_out(&self.repository, &self.worktree(), commit)
    }

    /// The only right to use the worktree; builds of one tree take turns.
    ///
    /// # Errors
    /// A host fault if the lock file cannot be made.
    pub fn lock(&self, home: &Home) -> Result<Lock> {
        home.lock(&format!("worktree-{}", self.key))
    }

    /// The id of the tree object of `commit`.
    ///
    /// # Errors
    /// A host fault if the repository does not hold it.
    pub fn tree_of(&self, commit: Oid) -> Result<Oid> {
        self.repository
            .find_commit(commit)
            .map(|c| c.tree_id())
            .or_host(|| format!("find commit {commit}"))
    }
}

fn no_kernel(source: &Path) -> Fault {
    Fault::user(format!("{} holds no Linux kernel", source.display()))
        .next("at its top should be a Kbuild, and a Makefile that sets VERSION and PATCHLEVEL")
}

/// Whether the folder is a git repository. One of another user counts: nothing in it is run.
fn is_git(source: &Path) -> Result<bool> {
    // SAFETY: a plain setting of libgit2, made before any repository is opened.
    unsafe { git2::opts::set_verify_owner_validation(false) }
        .or_host(|| "set up libgit2".into())?;
    match Repository::open(source) {
        Ok(_) => Ok(source.is_dir()),
        Err(e) if e.code() == git2::ErrorCode::NotFound => Ok(false),
        Err(_) if !source.is_dir() => Ok(false),
        Err(e) => Err(Fault::user(format!(
            "cannot open {}: {e}",
            source.display()
        ))),
    }
}

/// The bare repository of an imported tarball or folder.
fn imported(home: &Home, folder: &Path, source: &Path) -> Result<(Repository, Oid)> {
    let git_dir = folder.join("git");
    if !git_dir.join(import::DONE).exists() {
        import::import(home, source, &git_dir)?;
    }
    let repository = open_bare(&git_dir)?;
    let base = resolve(&repository, import::BRANCH)?;
    Ok((repository, base))
}

/// A bare repository that borrows the objects of the user's checkout, so that patched trees and
/// commits never land in the user's own.
fn linked(folder: &Path, source: &Path, revision: &str) -> Result<(Repository, Oid)> {
    let theirs = Repository::open(source).or_host(|| format!("open {}", source.display()))?;
    let base = resolve(&theirs, revision)?;
    let git_dir = folder.join("git");
    let repository = if git_dir.join("HEAD").exists() {
        open_bare(&git_dir)?
    } else {
        Repository::init_bare(&git_dir).or_host(|| format!("make {}", git_dir.display()))?
    };
    let objects = theirs.commondir().join("objects");
    let info = git_dir.join("objects/info");
    std::fs::create_dir_all(&info).or_host(|| format!("make {}", info.display()))?;
    let alternates = info.join("alternates");
    std::fs::write(&alternates, format!("{}\n", objects.display()))
        .or_host(|| format!("write {}", alternates.display()))?;
    drop(repository);
    Ok((open_bare(&git_dir)?, base))
}

fn open_bare(git_dir: &Path) -> Result<Repository> {
    Repository::open_bare(git_dir).or_host(|| format!("open {}", git_dir.display()))
}

fn resolve(repository: &Repository, revision: &str) -> Result<Oid> {
    repository
        .revparse_single(revision)
        .and_then(|object| object.peel_to_commit())
        .map(|commit| commit.id())
        .map_err(|e| {
            Fault::user(format!("no commit is called {revision} there: {e}"))
                .next("give --revision a branch, tag or commit that the checkout has")
        })
}

/// Reads the kernel's own version from its top-level Makefile.
fn identify(repository: &Repository, base: Oid) -> Option<(System, String)> {
    let tree = repository.find_commit(base).ok()?.tree().ok()?;
    let makefile = tree.get_path(Path::new("Makefile")).ok()?;
    tree.get_path(Path::new("Kbuild")).ok()?;
    let blob = repository.find_blob(makefile.id()).ok()?;
    let text = String::from_utf8_lossy(blob.content());
    linux_version(&text).map(|version| (System::Linux, version))
}

/// `6.1.192` from the first lines of a Linux Makefile.
fn linux_version(makefile: &str) -> Option<String> {
    let value = |key: &str| {
        makefile.lines().take(12).find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    };
    let parts = [value("VERSION")?, value("PATCHLEVEL")?];
    let sublevel = value("SUBLEVEL").filter(|s| !s.is_empty() && s != "0");
    let extra = value("EXTRAVERSION").unwrap_or_default();
    let numbers: Vec<String> = parts.into_iter().chain(sublevel).collect();
    Some(format!("{}{extra}", numbers.join(".")))
}

/// The file name without archive suffixes.
fn tree_name(source: &Path) -> String {
    let name = source
        .file_name()
        .map_or_else(|| "tree".into(), |n| n.to_string_lossy().into_owned());
    name.split_once(".tar")
        .map_or(name.clone(), |(stem, _)| stem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_make_kernelversion_prints() {
        let makefile = "# SPDX-License-Identifier: GPL-2.0\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 192\nEXTRAVERSION =\nNAME = Curry Ramen\n";
        assert_eq!(linux_version(makefile).as_deref(), Some("6.1.192"));
        let rc = "VERSION = 7\nPATCHLEVEL = 0\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\n";
        assert_eq!(linux_version(rc).as_deref(), Some("7.0-rc3"));
        assert_eq!(linux_version("all:\n\tcc x.c\n"), None);
    }

    #[test]
    fn a_tree_is_called_after_its_archive() {
        assert_eq!(
            tree_name(Path::new("/usr/src/linux-source-6.1.tar.xz")),
            "linux-source-6.1"
        );
        assert_eq!(tree_name(Path::new("/home/u/linux")), "linux");
    }
}
