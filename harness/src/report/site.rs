//! The folder of the site: files come in whole or not at all, and nothing else there is touched.

use std::fs;
use std::path::{Path, PathBuf};

use crate::fault::{OrHost, Result};

/// A file beside the pages.
pub(super) struct Extra {
    /// Its name, made by ktrial and never from outside.
    pub(super) name: String,
    /// Its content.
    pub(super) bytes: Vec<u8>,
}

/// A folder that takes files.
pub(super) struct Site<'a>(&'a Path);

impl<'a> Site<'a> {
    /// Makes the folder if there is none.
    ///
    /// # Errors
    /// A host fault if it can't be made.
    pub(super) fn open(folder: &'a Path) -> Result<Site<'a>> {
        fs::create_dir_all(folder).or_host(|| format!("make the folder {}", folder.display()))?;
        Ok(Site(folder))
    }

    /// Puts a file in place of the one of that name, in one step: who reads meanwhile sees the old
    /// one or the new one. One that is the same already is left alone, with its time.
    ///
    /// # Errors
    /// A host fault if it can't be written.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.0.join(name);
        if fs::read(&path).is_ok_and(|old| old == bytes) {
            return Ok(path);
        }
        let new = self.0.join(format!(".{name}.new"));
        let doing = || format!("write {}", path.display());
        let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, &path));
        if written.is_err() {
            // Best effort: what failed is what has to be told.
            let _ = fs::remove_file(&new);
        }
        written.or_host(doing)?;
        Ok(path)
    }
}
