//! Where ktrial keeps things: a cache that can be thrown away, and the database that cannot.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use crate::fault::{Fault, OrHost, Result};

/// The two folders of ktrial on this machine.
#[derive(Debug, Clone)]
pub struct Home {
    cache: PathBuf,
    state: PathBuf,
}

impl Home {
    /// `$KTRIAL_HOME` for both if set, else the XDG cache and state folders.
    ///
    /// # Errors
    /// A host fault if no home folder is known or a folder cannot be made.
    pub fn open() -> Result<Home> {
        if let Some(home) = std::env::var_os("KTRIAL_HOME").filter(|h| !h.is_empty()) {
            return Home::at(Path::new(&home));
        }
        let user = std::env::var_os("HOME").map(PathBuf::from);
        let folder = |variable: &str, below: &str| {
            std::env::var_os(variable)
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
                .or_else(|| user.as_ref().map(|u| u.join(below)))
                .map(|p| p.join("ktrial"))
                .ok_or_else(|| Fault::host("neither $KTRIAL_HOME nor $HOME is set"))
        };
        Home::with(
            folder("XDG_CACHE_HOME", ".cache")?,
            folder("XDG_STATE_HOME", ".local/state")?,
        )
    }

    /// Everything below one folder.
    ///
    /// # Errors
    /// A host fault if the folder cannot be made.
    pub fn at(root: &Path) -> Result<Home> {
        let root = std::path::absolute(root).or_host(|| format!("resolve {}", root.display()))?;
        Home::with(root.join("cache"), root.join("state"))
    }

    fn with(cache: PathBuf, state: PathBuf) -> Result<Home> {
        for folder in [&cache, &state] {
            fs::create_dir_all(folder).or_host(|| format!("make {}", folder.display()))?;
        }
        Ok(Home { cache, state })
    }

    /// The database file.
    pub fn database(&self) -> PathBuf {
        self.state.join("ktrial.db")
    }

    /// A folder of the cache, made if missing.
    ///
    /// # Errors
    /// A host fault if it cannot be made.
    pub fn cache(&self, name: &str) -> Result<PathBuf> {
        let folder = self.cache.join(name);
        fs::create_dir_all(&folder).or_host(|| format!("make {}", folder.display()))?;
        Ok(folder)
    }

    /// The root of the cache: a process that ktrial starts carries it, so that a later run
    /// knows its own leftovers.
    pub fn cache_root(&self) -> &Path {
        &self.cache
    }

    /// Waits for the only right to work on `what` (a tree, a build, a trial), freed when the
    /// returned guard is dropped or the process dies.
    ///
    /// # Errors
    /// A host fault if the lock file cannot be made.
    pub fn lock(&self, what: &str) -> Result<Lock> {
        let file = self.lock_file(what)?;
        Flock::lock(file, FlockArg::LockExclusive)
            .map(Lock)
            .map_err(|(_, e)| Fault::host(format!("cannot lock {what}: {e}")))
    }

    /// Like [`Home::lock`], but `None` at once if another process holds it.
    ///
    /// # Errors
    /// A host fault if the lock file cannot be made.
    pub fn try_lock(&self, what: &str) -> Result<Option<Lock>> {
        let file = self.lock_file(what)?;
        Ok(Flock::lock(file, FlockArg::LockExclusiveNonblock)
            .ok()
            .map(Lock))
    }

    fn lock_file(&self, what: &str) -> Result<File> {
        let path = self.cache("locks")?.join(what);
        File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .or_host(|| format!("open {}", path.display()))
    }
}

/// A held lock; dropping it frees it.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "held for its drop")] Flock<File>);
