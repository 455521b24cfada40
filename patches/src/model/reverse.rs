//! The patch that undoes a patch.

use super::{BinaryChange, Change, FilePatch, Header, Hunk, Patch, Trailers, is_empty_blob};

/// Why a patch can't be reversed: it does not have what it takes away.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{patch}: can't be reversed: {why}, for {path}")]
pub struct Irreversible {
    /// The patch.
    pub patch: String,
    /// The file, as the patch names it.
    pub path: String,
    /// What is missing.
    pub why: &'static str,
}

impl Patch {
    /// The patch that undoes this one: its files in the opposite order, each
    /// with names, modes, hunks and binary sections the other way round. Who
    /// wrote the patch did not write this one, so it has no author; its date stays.
    ///
    /// # Errors
    /// [`Irreversible`] where the patch does not have what it takes away.
    pub fn reversed(&self) -> Result<Patch, Irreversible> {
        let reverse = |file: &FilePatch| {
            file.reversed().map_err(|why| Irreversible {
                patch: self.name.clone(),
                path: crate::text::shown(file.name().as_bytes()),
                why,
            })
        };
        let files: Result<Vec<FilePatch>, Irreversible> =
            self.files.iter().rev().map(reverse).collect();
        Ok(Patch {
            name: self.name.clone(),
            header: Header {
                subject: reverted(&self.header.subject),
                author: None,
                date: self.header.date,
                message: self.header.message.clone(),
            },
            // The commit it was made on is without what it takes away.
            trailers: Trailers {
                base_commit: None,
                ..self.trailers.clone()
            },
            mends: self.mends.clone(),
            files: files?,
            source: self.source.clone(),
        })
    }
}

/// The subject that `git revert` gives.
fn reverted(subject: &str) -> String {
    let once = subject
        .strip_prefix("Revert \"")
        .and_then(|rest| rest.strip_suffix('"'));
    match once {
        Some(once) => format!("Reapply \"{once}\""),
        None => format!("Revert \"{subject}\""),
    }
}

impl FilePatch {
    fn name(&self) -> &str {
        let name = self.new.as_deref().or(self.old.as_deref());
        name.unwrap_or_default()
    }

    fn reversed(&self) -> Result<FilePatch, &'static str> {
        let change = match self.change {
            Change::Modify => Change::Modify,
            Change::Rename => Change::Rename,
            Change::Create | Change::Copy => Change::Delete,
            Change::Delete => Change::Create,
        };
        if self.lost_content() {
            return Err("it removes a file without showing its lines");
        }
        let stays = matches!(self.change, Change::Modify | Change::Rename);
        let (old_mode, new_mode) = match (stays, self.old_mode, self.new_mode) {
            (true, None, Some(_)) => return Err("it has a new mode without the old one"),
            // The mode stays as it is.
            (true, old, None) => (old, None),
            (_, old, new) => (new, old),
        };
        Ok(FilePatch {
            old: self.new.clone(),
            new: self.old.clone(),
            change,
            old_mode,
            new_mode: new_mode.filter(|_| self.change != Change::Copy),
            strip: self.strip,
            old_blob: self.new_blob.clone(),
            new_blob: self.old_blob.clone(),
            carriage_returns: self.carriage_returns,
            hunks: self.hunks.iter().map(Hunk::reversed).collect(),
            binary: self
                .binary
                .as_ref()
                .map(BinaryChange::reversed)
                .transpose()?,
        })
    }

    /// `git diff --irreversible-delete` leaves the lines out.
    fn lost_content(&self) -> bool {
        self.change == Change::Delete
            && self.hunks.is_empty()
            && self.binary.is_none()
            && !self.old_blob.as_deref().is_some_and(is_empty_blob)
    }
}

impl BinaryChange {
    fn reversed(&self) -> Result<BinaryChange, &'static str> {
        match &self.reverse {
            None => Err("it has a binary change in one direction only"),
            Some(reverse) => Ok(BinaryChange {
                forward: reverse.clone(),
                reverse: Some(self.forward.clone()),
            }),
        }
    }
}
