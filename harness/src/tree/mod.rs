//! Kernel source trees. Whatever the user has (a git checkout, a tarball, a folder) becomes a
//! bare repository in ktrial's cache; the user's own files are never written.

mod checkout;
mod identify;
mod import;
mod linked;
mod unopened;

use std::path::{Path, PathBuf};

use git2::{Oid, Repository, RepositoryOpenFlags};
use ktrial_patches::catalogue::System;

use crate::fault::{Fault, OrHost, Result};
use crate::hash::hash16;
use crate::home::{Home, Lock};

pub use identify::proper_name;
pub(crate) use import::BRANCH as IMPORT_BRANCH;

/// A kernel source tree, ready for patches.
pub struct Tree {
    /// Which system's kernel it is; `None` for a git repository that is none that ktrial knows.
    pub system: Option<System>,
    /// What a person calls it: `linux-source-6.1`, `linux`.
    pub name: String,
    /// Where it came from, as an absolute path.
    pub source: PathBuf,
    /// Short, stable key of this tree in the cache.
    pub key: String,
    /// The version that the tree states of itself, such as `6.1.192` or `15.1-RELEASE-p1`; may be
    /// empty.
    pub version: String,
    /// The commit that the base variant is built from.
    pub base: Oid,
    /// The bare repository in the cache; new objects go here.
    pub repository: Repository,
    /// Whether `source` is a git repository of the user's own.
    pub is_git: bool,
    folder: PathBuf,
}

impl Tree {
    /// Opens a checkout, a tarball or a folder; the last two are imported the first time.
    /// `revision` picks the base of a git checkout and is refused elsewhere.
    ///
    /// # Errors
    /// A user fault if the source is none of these, or a tarball or folder without a kernel; a host
    /// fault if a tool or the disk fails.
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
        // Before it is all read in: it might be anything.
        if source.is_dir() && !is_git {
            let file = |path: &str| Some(source.join(path)).filter(|path| path.is_file());
            identify::identify(|path| std::fs::read(file(path)?).ok())
                .ok_or_else(|| no_kernel(&source))?;
        }
        let key = if is_git {
            hash16([source.as_os_str().as_encoded_bytes()])
        } else {
            import::signature(&source)?
        };
        Tree::with(home, source, key, is_git, |folder, source| match is_git {
            true => linked::linked(&folder.join("git"), source, revision.unwrap_or("HEAD")),
            false => imported(home, folder, source),
        })
    }

    /// A tree of an earlier trial, if its source is still there and nothing has to be imported
    /// for it; a git checkout at its present HEAD.
    ///
    /// # Errors
    /// A user fault if its source is no kernel any more; a host fault of the disk.
    pub fn of_record(home: &Home, record: &ktrial_db::Tree) -> Result<Option<Tree>> {
        let source = Path::new(&record.source);
        if !source.exists() {
            return Ok(None);
        }
        if is_git(source)? {
            return Tree::open(home, source, None).map(Some);
        }
        let key = record.key.split_once('-').map_or("", |(key, _)| key);
        let git_dir = home.cache("trees")?.join(key).join("git");
        if key.is_empty() || !git_dir.join(import::DONE).exists() {
            return Ok(None);
        }
        Tree::with(home, source.to_owned(), key.to_owned(), false, |_, _| {
            opened(&git_dir)
        })
        .map(Some)
    }

    fn with(
        home: &Home,
        source: PathBuf,
        key: String,
        is_git: bool,
        repository: impl FnOnce(&Path, &Path) -> Result<(Repository, Oid)>,
    ) -> Result<Tree> {
        let folder = home.cache("trees")?.join(&key);
        let _lock = home.lock(&format!("tree-{key}"))?;
        let (repository, base) = repository(&folder, &source)?;
        let (system, version) = match identify::identify(|path| content(&repository, base, path)) {
            Some((system, version)) => (Some(system), version),
            None if is_git => (None, String::new()),
            None => return Err(no_kernel(&source)),
        };
        Ok(Tree {
            system,
            name: tree_name(&source),
            source,
            key,
            version,
            base,
            repository,
            is_git,
            folder,
        })
    }

    /// Its name with its version, where it has one: `linux-source-6.1 6.1.192`.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
            .trim_end()
            .to_owned()
    }

    /// Whether ktrial knows how to build and boot it.
    ///
    /// # Errors
    /// A user fault if not.
    pub fn check_bootable(&self) -> Result<()> {
        match self.system {
            Some(system) => check_bootable(system),
            None => Err(no_kernel(&self.source)),
        }
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

/// Whether ktrial knows how to build and boot a system's kernel.
///
/// # Errors
/// A user fault if not.
pub fn check_bootable(system: System) -> Result<()> {
    if system == System::Linux {
        return Ok(());
    }
    Err(Fault::user(format!(
        "ktrial can apply to {} trees but not boot them yet",
        proper_name(system)
    ))
    .next("`ktrial apply` puts the series on a branch, to be built and measured there"))
}

fn no_kernel(source: &Path) -> Fault {
    Fault::user(format!(
        "{} holds no kernel that ktrial knows",
        source.display()
    ))
    .next(identify::EXPECTED)
}

/// A file of a commit.
fn content(repository: &Repository, commit: Oid, path: &str) -> Option<Vec<u8>> {
    let tree = repository.find_commit(commit).ok()?.tree().ok()?;
    let entry = tree.get_path(Path::new(path)).ok()?;
    let blob = repository.find_blob(entry.id()).ok()?;
    Some(blob.content().to_vec())
}

/// Whether the folder is a git repository. One of another user counts: nothing in it is run.
pub(crate) fn is_git(source: &Path) -> Result<bool> {
    // SAFETY: a plain setting of libgit2, made before any repository is opened.
    unsafe { git2::opts::set_verify_owner_validation(false) }
        .or_host(|| "set up libgit2".into())?;
    match Repository::open(source) {
        Ok(_) => Ok(source.is_dir()),
        Err(_) if !source.is_dir() => Ok(false),
        Err(error) => unopened::because(source, &error).map_or(Ok(false), Err),
    }
}

/// The bare repository of an imported tarball or folder.
fn imported(home: &Home, folder: &Path, source: &Path) -> Result<(Repository, Oid)> {
    let git_dir = folder.join("git");
    if !git_dir.join(import::DONE).exists() {
        import::import(home, source, &git_dir)?;
    }
    opened(&git_dir)
}

fn opened(git_dir: &Path) -> Result<(Repository, Oid)> {
    let repository = open_bare(git_dir)?;
    let base = resolve(&repository, import::BRANCH)?;
    Ok((repository, base))
}

fn open_bare(git_dir: &Path) -> Result<Repository> {
    // libgit2's plain `open_bare` knows nothing of shallow histories.
    let how = RepositoryOpenFlags::BARE | RepositoryOpenFlags::NO_SEARCH;
    Repository::open_ext(git_dir, how, &[] as &[&Path])
        .or_host(|| format!("open {}", git_dir.display()))
}

fn resolve(repository: &Repository, revision: &str) -> Result<Oid> {
    repository
        .revparse_single(revision)
        .and_then(|object| object.peel_to_commit())
        .map(|commit| commit.id())
        .map_err(|e| {
            let why = e.message();
            Fault::user(format!("no commit is called {revision} there: {why}"))
                .next("give --revision a branch, tag or commit that the checkout has")
        })
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
    fn a_tree_is_called_after_its_archive() {
        assert_eq!(
            tree_name(Path::new("/usr/src/linux-source-6.1.tar.xz")),
            "linux-source-6.1"
        );
        assert_eq!(tree_name(Path::new("/home/u/linux")), "linux");
    }
}
