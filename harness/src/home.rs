//! Where ktrial keeps things: a cache that can be thrown away, and the database that cannot.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::fault::{Fault, OrHost, Result};
use crate::process;

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
        let user = user.filter(|home| home.is_absolute());
        let folder = |variable: &str, below: &str| {
            std::env::var_os(variable)
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
                .or_else(|| user.as_ref().map(|u| u.join(below)))
                .map(|p| p.join("ktrial"))
                .ok_or_else(|| Fault::host("neither $KTRIAL_HOME nor an absolute $HOME is set"))
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
        let made = |folder: &Path| {
            fs::create_dir_all(folder)
                .and_then(|()| folder.canonicalize())
                .map_err(|e| {
                    Fault::host(format!("cannot use {}: {e}", folder.display()))
                        .next("set KTRIAL_HOME to a folder that you may write to")
                })
        };
        let (cache, state) = (made(&cache)?, made(&state)?);
        // make takes none of these in the path of a tree.
        let odd = |c: char| c.is_whitespace() || ":\\\"'$#%".contains(c);
        if cache.to_str().is_none_or(|path| path.contains(odd)) {
            return Err(Fault::user(format!(
                "no kernel can be built below {}: make takes no blank, colon, quote or the like in a path",
                cache.display()
            ))
            .next("set KTRIAL_HOME to a folder without them"));
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
    /// A host fault if the lock cannot be had; an interrupt.
    pub fn lock(&self, what: &str) -> Result<Lock> {
        loop {
            if let Some(lock) = self.try_lock(what)? {
                return Ok(lock);
            }
            process::check_interrupt()?;
            std::thread::sleep(process::TICK);
        }
    }

    /// Like [`Home::lock`], but `None` at once if another process holds it.
    ///
    /// # Errors
    /// A host fault if the lock cannot be had for another reason.
    pub fn try_lock(&self, what: &str) -> Result<Option<Lock>> {
        match Flock::lock(self.lock_file(what)?, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => Ok(Some(Lock(lock))),
            Err((_, Errno::EWOULDBLOCK)) => Ok(None),
            Err((_, e)) => Err(Fault::host(format!("cannot lock {what}: {e}"))),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_freed_by_its_drop() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path()).unwrap();
        let lock = home.try_lock("tree").unwrap();
        assert!(lock.is_some());
        assert!(home.try_lock("tree").unwrap().is_none());
        assert!(home.try_lock("other").unwrap().is_some());
        drop(lock);
        assert!(home.try_lock("tree").unwrap().is_some());
    }

    #[test]
    fn a_home_that_make_cannot_work_in_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fault = Home::at(&folder.path().join("my kernels")).unwrap_err();
        assert_eq!(fault.at, crate::fault::At::User);
        assert!(fault.to_string().contains("KTRIAL_HOME"));
    }
}
