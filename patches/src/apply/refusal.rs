//! Why a file of a patch is refused, in the words of [`ApplyError`].

use super::file::{FileOutcome, Job};
use super::ladder::Stop;
use super::overlay::Entry;
use super::place::Refusal;
use super::{ApplyError, HunkFailure, nearest};
use crate::Hunk;

impl Job<'_> {
    /// A patch for a file is not put on a symbolic link, nor the other way round.
    pub(super) fn same_type(&self, entry: &Entry) -> Result<(), ApplyError> {
        let link = |mode: i32| mode == 0o120000;
        if self
            .file
            .new_mode
            .is_some_and(|mode| link(mode) != link(entry.mode))
        {
            let why = "a file and a symbolic link do not turn into each other; git removes the one \
                       and makes the other";
            return Err(self.unsafe_path(&self.old, why));
        }
        match self.file.old_mode.or(self.file.new_mode) {
            Some(mode) if link(mode) != link(entry.mode) => {
                let why = match link(mode) {
                    true => "the patch is for a symbolic link, and the tree has a file there",
                    false => "the patch is for a file, and the tree has a symbolic link there",
                };
                Err(self.unsafe_path(&self.old, why))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn stopped(
        &self,
        stop: Stop,
        content: &[u8],
        hunks: &[Hunk],
        path: &str,
    ) -> ApplyError {
        let (index, refusal) = match stop {
            Stop::Hunk(index, refusal) => (index, refusal),
            Stop::Repository(error) => return error.into(),
        };
        let (patch, path) = (self.patch.name.clone(), path.to_owned());
        let (hunk, line) = (index + 1, hunks[index].old_start);
        match refusal {
            Refusal::NoPlace { expected } => ApplyError::HunkFailed(Box::new(HunkFailure {
                patch,
                path,
                hunk,
                hunks: hunks.len(),
                ..nearest::show(content, &hunks[index], expected)
            })),
            Refusal::Ambiguous { lines, fuzz } => ApplyError::Ambiguous {
                patch,
                path,
                hunk,
                line,
                lines,
                fuzz,
            },
            Refusal::Unplaceable(why) => ApplyError::Unplaceable {
                patch,
                path,
                hunk,
                line,
                why,
            },
        }
    }

    pub(super) fn no_such_file(&self) -> ApplyError {
        self.no_such_file_but(&[])
    }

    /// With the files that could be meant, if something said so.
    pub(super) fn no_such_file_but(&self, alike: &[(String, Entry)]) -> ApplyError {
        ApplyError::NoSuchFile {
            patch: self.patch.name.clone(),
            path: self.old.clone(),
            named: self.file.old.clone().unwrap_or_default(),
            alike: alike.iter().map(|(path, _)| path.clone()).collect(),
        }
    }

    pub(super) fn file_exists(&self) -> ApplyError {
        ApplyError::FileExists {
            patch: self.patch.name.clone(),
            path: self.new.clone(),
        }
    }

    pub(super) fn not_emptied(&self, content: &[u8]) -> ApplyError {
        ApplyError::NotEmptied {
            patch: self.patch.name.clone(),
            path: self.old.clone(),
            lines: crate::text::lines(content).len(),
        }
    }

    pub(super) fn blocked(&self, why: &'static str) -> FileOutcome {
        FileOutcome::Blocked {
            error: self.unsafe_path(&self.new, why),
        }
    }

    pub(super) fn unsafe_path(&self, path: &str, why: &'static str) -> ApplyError {
        ApplyError::UnsafePath {
            patch: self.patch.name.clone(),
            path: path.to_owned(),
            why,
        }
    }
}
