//! A file of a patch that is not at its path: found elsewhere in the tree, and
//! patched there by the rungs that leave nothing out.

use super::file::{FileOutcome, Job, Target};
use super::ladder::{Ladder, Origin, Outcome, Stop};
use super::overlay::{Entry, Found, Overlay};
use super::{ApplyError, merge, renamed};
use crate::{Change, LineKind};

/// Files of one name that a patch is tried on, where its own is not there.
const MAX_CANDIDATES: usize = 64;

impl Job<'_> {
    /// The file that the patch is about is not at its path.
    pub(super) fn without_file(&self, overlay: &mut Overlay) -> Result<FileOutcome, ApplyError> {
        match self.change {
            Change::Delete => Ok(FileOutcome::Gone {
                path: self.old.clone(),
                error: self.no_such_file(),
            }),
            Change::Rename => match overlay.find(&self.new)? {
                // The tree has moved it to the same place.
                Found::File(entry) if !overlay.removed(&self.old) => {
                    self.elsewhere(overlay, &self.new, &entry)
                }
                _ => Err(self.no_such_file()),
            },
            Change::Modify if !overlay.removed(&self.old) => self.search_elsewhere(overlay),
            _ => Err(self.no_such_file()),
        }
    }

    /// Looks where the tree has the file by now.
    fn search_elsewhere(&self, overlay: &mut Overlay) -> Result<FileOutcome, ApplyError> {
        let Target { repo, base, .. } = *self.target;
        if let Some(path) = renamed::by_history(repo, base, &self.old)?
            && let Found::File(entry) = overlay.find(&path)?
        {
            return self.elsewhere(overlay, &path, &entry);
        }
        let (origin, blob) = match &self.file.old_blob {
            Some(id) => merge::find_blob(repo, id)?
                .map_or((None, None), |(blob, content)| (Some(content), Some(blob))),
            None => (None, None),
        };
        let name = self.old.rsplit('/').next().unwrap_or_default();
        let candidates = overlay.like(name, blob)?;
        // A name that stands everywhere says nothing.
        if candidates.len() > MAX_CANDIDATES {
            return Err(self.no_such_file());
        }
        let mut fitting = Vec::new();
        for (path, entry) in candidates {
            let content = self.content(overlay, &entry)?;
            let similar = match &origin {
                Some(origin) => renamed::similarity(origin, &content)? >= renamed::SIMILAR,
                None => true,
            };
            if similar && self.same_type(&entry).is_ok() && self.fits(&content, &entry)? {
                fitting.push((path, entry));
            }
        }
        match &fitting[..] {
            [] => Err(self.no_such_file()),
            // A name and a few lines do not make it the same file.
            several if origin.is_none() => Err(self.no_such_file_but(several)),
            [(path, entry)] => self.elsewhere(overlay, path, entry),
            several => Err(ApplyError::SeveralFiles {
                patch: self.patch.name.clone(),
                path: self.old.clone(),
                candidates: several.iter().map(|(path, _)| path.clone()).collect(),
            }),
        }
    }

    /// Whether the hunks apply here without leaving anything out, or have been.
    fn fits(&self, content: &[u8], entry: &Entry) -> Result<bool, ApplyError> {
        let hunks = self.hunks_for(content);
        let origin = self.origin(entry)?;
        let changes = |line: &crate::Line| line.kind != LineKind::Context;
        if !hunks.iter().flat_map(|hunk| &hunk.lines).any(changes) {
            // A change of mode alone fits every file.
            return Ok(origin == Origin::Same);
        }
        match Ladder::new(content, &hunks, &origin, self.target.journey).climb_strictly() {
            Ok(_) => Ok(true),
            Err(Stop::Hunk(..)) => Ok(false),
            Err(Stop::Repository(error)) => Err(error.into()),
        }
    }

    /// Applies to a file at another path than the patch has, strictly.
    fn elsewhere(
        &self,
        overlay: &mut Overlay,
        path: &str,
        entry: &Entry,
    ) -> Result<FileOutcome, ApplyError> {
        self.same_type(entry)?;
        let content = self.content(overlay, entry)?;
        let hunks = self.hunks_for(&content);
        let origin = self.origin(entry)?;
        let outcome = match &self.file.binary {
            Some(change) => self.binary(change, &content, path)?,
            None => Ladder::new(&content, &hunks, &origin, self.target.journey)
                .climb_strictly()
                .map_err(|stop| self.stopped(stop, &content, &hunks, path))?,
        };
        match outcome {
            Outcome::Already { merged } => Ok(self.already(path, merged)),
            Outcome::Patched(patched) => {
                self.put_over(overlay, entry, &content, patched, (path, Some(&self.old)))
            }
        }
    }
}
