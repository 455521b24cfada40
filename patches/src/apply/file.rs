//! One file of one patch: found in the tree, patched, and put back.

use git2::{Oid, Repository};

use super::binary::{self, Made};
use super::journey::Journey;
use super::ladder::{Ladder, Origin, Outcome, Patched};
use super::overlay::{Entry, Found, Overlay};
use super::{AppliedFile, ApplyError, merge, paths};
use crate::{BinaryChange, Change, FilePatch, Hunk, Mend, Patch};

/// What a series is applied to.
pub(super) struct Target<'r> {
    pub repo: &'r Repository,
    /// The commit below the series.
    pub base: Oid,
    /// Components to strip from names where the patch does not say.
    pub strip: paths::Strip,
    /// What binary patches of the series made so far.
    pub made: &'r Made,
    /// What the files of the patch show of its way, once that is known.
    pub journey: Journey,
}

/// What came of one file of a patch.
pub(super) enum FileOutcome {
    /// It is changed.
    Applied {
        file: AppliedFile,
        /// The paths that differ now.
        paths: Vec<String>,
        /// What the file shows of the patch's way.
        journey: Journey,
    },
    /// It is as the patch makes it.
    Already {
        path: String,
        /// A merge with the file that the patch was made from says so.
        merged: bool,
    },
    /// What stands where it should come to stand may be gone once the other
    /// files of the patch are done.
    Blocked { error: ApplyError },
    /// It is to be removed, and is not there: done, or not the right tree.
    Gone { path: String, error: ApplyError },
}

/// One file of one patch, with what is needed to say what is wrong with it.
pub(super) struct Job<'a> {
    pub target: &'a Target<'a>,
    pub patch: &'a Patch,
    pub file: &'a FilePatch,
    pub change: Change,
    /// Where the file is before the patch, by the patch.
    pub old: String,
    /// Where it is afterwards.
    pub new: String,
    /// What was taken off its names.
    pub stripped: String,
}

/// Applies one file of a patch and lays the result over the tree.
pub(super) fn apply(
    overlay: &mut Overlay,
    target: &Target,
    patch: &Patch,
    file: &FilePatch,
) -> Result<FileOutcome, ApplyError> {
    let names = paths::names(overlay, patch, file, target.strip)?;
    let found = overlay.find(&names.old)?;
    let change = match (file.change, &found) {
        // A plain diff that inserts at line 0 of a file that is not there makes it.
        (Change::Modify, Found::Absent) if file.inserts_at_start() => Change::Create,
        (change, _) => change,
    };
    let job = Job {
        target,
        patch,
        file,
        change,
        old: names.old,
        new: names.new,
        stripped: names.stripped,
    };
    match (change, found) {
        (Change::Create, _) => job.create(overlay),
        (_, Found::Blocked(why)) => Err(job.unsafe_path(&job.old, why)),
        (_, Found::Absent) => job.without_file(overlay),
        (Change::Delete, Found::File(entry)) => job.delete(overlay, &entry),
        (Change::Modify, Found::File(entry)) => job.modify(overlay, &entry),
        (Change::Rename | Change::Copy, Found::File(entry)) => job.transfer(overlay, &entry),
    }
}

impl Job<'_> {
    fn create(&self, overlay: &mut Overlay) -> Result<FileOutcome, ApplyError> {
        match overlay.find(&self.new)? {
            Found::Absent => {}
            Found::Blocked(why) => return Ok(self.blocked(why)),
            Found::File(entry) => {
                let after = self.file.hunks.iter().flat_map(Hunk::after);
                let wanted: Vec<u8> = after.flatten().copied().collect();
                let same = match &self.file.binary {
                    Some(_) => entry.is_called(&self.file.new_blob),
                    None => self.content(overlay, &entry)? == wanted,
                };
                if same {
                    return Ok(self.already(&self.new, true));
                }
                return Err(self.file_exists());
            }
        }
        match self.climb(&[], &Origin::Unknown, &self.new)? {
            Outcome::Already { merged } => Ok(self.already(&self.new, merged)),
            Outcome::Patched(patched) => {
                let mode = self.file.new_mode.unwrap_or(0o100644);
                self.put(overlay, patched, mode, self.change, (&self.new, None))
            }
        }
    }

    fn modify(&self, overlay: &mut Overlay, entry: &Entry) -> Result<FileOutcome, ApplyError> {
        self.same_type(entry)?;
        let content = self.content(overlay, entry)?;
        let origin = self.origin(entry)?;
        match self.climb(&content, &origin, &self.new)? {
            Outcome::Patched(patched) => {
                self.put_over(overlay, entry, &content, patched, (&self.new, None))
            }
            Outcome::Already { merged } => self.mode_only(overlay, entry, content, merged),
        }
    }

    /// A rename or a copy.
    fn transfer(&self, overlay: &mut Overlay, entry: &Entry) -> Result<FileOutcome, ApplyError> {
        self.same_type(entry)?;
        match self.place_of_transfer(overlay, entry)? {
            Found::Absent => {}
            Found::Blocked(why) => return Ok(self.blocked(why)),
            Found::File(_) => return Err(self.file_exists()),
        }
        let content = self.content(overlay, entry)?;
        let origin = self.origin(entry)?;
        let patched = match self.climb(&content, &origin, &self.new)? {
            Outcome::Patched(patched) => patched,
            // Its edits are there, at the old name.
            Outcome::Already { .. } => Patched::whole(content),
        };
        let mode = self.file.new_mode.unwrap_or(entry.mode);
        if self.change == Change::Rename {
            overlay.remove(&self.old);
        }
        self.put(overlay, patched, mode, self.change, (&self.new, None))
    }

    /// What stands where a file is moved or copied to. One that is moved may
    /// only be in its own way: `f` to `f/f`.
    fn place_of_transfer(
        &self,
        overlay: &mut Overlay,
        entry: &Entry,
    ) -> Result<Found, git2::Error> {
        let found = overlay.find(&self.new)?;
        if self.change != Change::Rename || !matches!(found, Found::Blocked(_)) {
            return Ok(found);
        }
        overlay.remove(&self.old);
        let found = overlay.find(&self.new)?;
        overlay.put_back(&self.old, *entry);
        Ok(found)
    }

    fn delete(&self, overlay: &mut Overlay, entry: &Entry) -> Result<FileOutcome, ApplyError> {
        let content = self.content(overlay, entry)?;
        // A file that has changed since is not removed, so there is no merge.
        let origin = match self.is_origin(entry) {
            true => Origin::Same,
            false => Origin::Unknown,
        };
        match self.climb(&content, &origin, &self.old)? {
            Outcome::Patched(patched) if patched.content.is_empty() => self.gone(overlay, patched),
            // A copy goes away whatever it holds: its source still has that.
            Outcome::Patched(patched) if self.is_copy(overlay, &patched.content)? => {
                self.gone(overlay, patched)
            }
            Outcome::Patched(Patched { content, .. }) => Err(self.not_emptied(&content)),
            Outcome::Already { .. } => Err(self.not_emptied(&content)),
        }
    }

    fn gone(&self, overlay: &mut Overlay, patched: Patched) -> Result<FileOutcome, ApplyError> {
        overlay.remove(&self.old);
        Ok(FileOutcome::Applied {
            journey: patched.journey,
            file: self.applied(patched, self.change, (&self.old, None)),
            paths: vec![self.old.clone()],
        })
    }

    /// Whether what is left of a file that goes away is the file it was a copy of.
    fn is_copy(&self, overlay: &mut Overlay, content: &[u8]) -> Result<bool, ApplyError> {
        match overlay.find(&self.new)? {
            Found::File(entry) if self.new != self.old => {
                Ok(self.content(overlay, &entry)? == content)
            }
            _ => Ok(false),
        }
    }

    /// What a file of the tree holds.
    pub(super) fn content(
        &self,
        overlay: &mut Overlay,
        entry: &Entry,
    ) -> Result<Vec<u8>, ApplyError> {
        let content = overlay.content(entry)?;
        content.ok_or_else(|| ApplyError::TooOften {
            patch: self.patch.name.clone(),
            path: self.old.clone(),
        })
    }

    /// Every hunk, by any rung.
    fn climb(&self, content: &[u8], origin: &Origin, path: &str) -> Result<Outcome, ApplyError> {
        if let Some(change) = &self.file.binary {
            return self.binary(change, content, path);
        }
        let hunks = self.hunks_for(content);
        Ladder::new(content, &hunks, origin, self.target.journey)
            .climb()
            .map_err(|stop| self.stopped(stop, content, &hunks, path))
    }

    /// A binary file, which is changed as a whole or not at all.
    pub(super) fn binary(
        &self,
        change: &BinaryChange,
        content: &[u8],
        path: &str,
    ) -> Result<Outcome, ApplyError> {
        match binary::content(self.target.made, self.file, change, content) {
            Ok(content) => Ok(Outcome::Patched(Patched::whole(content))),
            Err(binary::Refusal::AlreadyApplied) => Ok(Outcome::Already { merged: true }),
            Err(binary::Refusal::Wrong(why)) => Err(ApplyError::Binary {
                patch: self.patch.name.clone(),
                path: path.to_owned(),
                why,
            }),
        }
    }

    /// Puts a file back in its place.
    pub(super) fn put_over(
        &self,
        overlay: &mut Overlay,
        entry: &Entry,
        content: &[u8],
        patched: Patched,
        at: (&str, Option<&str>),
    ) -> Result<FileOutcome, ApplyError> {
        let mode = self.file.new_mode.unwrap_or(entry.mode);
        if patched.content == content && mode == entry.mode {
            let says_nothing = patched.hunks.is_empty();
            return match says_nothing {
                true => Ok(self.already(at.0, true)),
                false => Ok(FileOutcome::Applied {
                    journey: patched.journey,
                    file: self.applied(patched, Change::Modify, at),
                    paths: Vec::new(),
                }),
            };
        }
        self.put(overlay, patched, mode, Change::Modify, at)
    }

    /// The hunks are there; the mode may not be.
    fn mode_only(
        &self,
        overlay: &mut Overlay,
        entry: &Entry,
        content: Vec<u8>,
        merged: bool,
    ) -> Result<FileOutcome, ApplyError> {
        match self.file.new_mode {
            Some(mode) if mode != entry.mode => {
                let at = (self.new.as_str(), None);
                self.put(overlay, Patched::whole(content), mode, self.change, at)
            }
            _ => Ok(self.already(&self.new, merged)),
        }
    }

    fn put(
        &self,
        overlay: &mut Overlay,
        mut patched: Patched,
        mode: i32,
        change: Change,
        at: (&str, Option<&str>),
    ) -> Result<FileOutcome, ApplyError> {
        let (path, _) = at;
        if mode == 0o120000 {
            paths::check_link(self.patch, path, &patched.content)?;
        }
        let mut paths = vec![path.to_owned()];
        if change == Change::Rename {
            paths.push(self.old.clone());
        }
        let content = std::mem::take(&mut patched.content);
        overlay.put(path, content, mode)?;
        Ok(FileOutcome::Applied {
            journey: patched.journey,
            file: self.applied(patched, change, at),
            paths,
        })
    }

    fn applied(&self, patched: Patched, change: Change, at: (&str, Option<&str>)) -> AppliedFile {
        let (path, named) = at;
        let mend = |mend| Mend {
            path: Some(path.to_owned()),
            ..mend
        };
        AppliedFile {
            path: path.to_owned(),
            named: named.map(str::to_owned),
            stripped: self.stripped.clone(),
            change,
            hunks: patched.hunks,
            mends: patched.mends.into_iter().map(mend).collect(),
        }
    }

    pub(super) fn already(&self, path: &str, merged: bool) -> FileOutcome {
        FileOutcome::Already {
            path: path.to_owned(),
            merged,
        }
    }

    /// Whether this very blob is what the patch was made from.
    fn is_origin(&self, entry: &Entry) -> bool {
        entry.is_called(&self.file.old_blob)
    }

    pub(super) fn origin(&self, entry: &Entry) -> Result<Origin, git2::Error> {
        if self.is_origin(entry) {
            return Ok(Origin::Same);
        }
        let Some(id) = &self.file.old_blob else {
            return Ok(Origin::Unknown);
        };
        let found = merge::find_blob(self.target.repo, id)?;
        Ok(found.map_or(Origin::Unknown, |(_, content)| Origin::Other(content)))
    }

    /// The hunks, with the carriage returns that reading took off put back
    /// where the file has them.
    pub(super) fn hunks_for(&self, content: &[u8]) -> Vec<Hunk> {
        let mut hunks = self.file.hunks.clone();
        let first = content.split_inclusive(|&b| b == b'\n').next();
        if self.file.carriage_returns && first.is_some_and(|line| line.ends_with(b"\r\n")) {
            for line in hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
                if line.bytes.pop() == Some(b'\n') {
                    line.bytes.extend_from_slice(b"\r\n");
                }
            }
        }
        hunks
    }
}
