//! A commit as people name it.

use git2::{Oid, Repository};

use super::commit::{date, message, subject};
use crate::Date;

/// A commit with what `git log` says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The commit.
    pub id: Oid,
    /// Its author's name.
    pub author: String,
    /// The author's date, as `git log` shows it.
    pub date: Date,
    /// Its subject.
    pub subject: String,
}

impl Named {
    pub(super) fn of(repo: &Repository, id: Oid) -> Result<Named, git2::Error> {
        let commit = repo.find_commit(id)?;
        let author = commit.author();
        Ok(Named {
            id,
            author: String::from_utf8_lossy(author.name_bytes()).into_owned(),
            date: date(&author),
            subject: subject(&message(&commit)),
        })
    }
}
