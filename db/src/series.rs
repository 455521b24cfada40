//! Series: the patches that were put on trial, with their texts, so that a report
//! shows what was applied long after the mail is gone.

use rusqlite::{Connection, Row};

use crate::error::{Error, Result};
use crate::{Db, SeriesId, row};

/// An ordered list of patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Hash of the patches' content.
    pub key: String,
    /// Name in the catalogue, or the one it was given.
    pub name: String,
    /// One line that says what it does.
    pub title: String,
    /// Where it comes from: a file, a message id, a commit.
    pub source: String,
    /// The patches in the order of application.
    pub patches: Vec<PatchText>,
}

/// One patch of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchText {
    /// File name or subject.
    pub name: String,
    /// The patch as it was applied.
    pub text: String,
}

impl Db {
    /// The id of this series, equal in every field; stored if it is new.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the same key, name, title and source are stored
    /// with other patches.
    pub fn put_series(&mut self, series: &Series) -> Result<SeriesId> {
        let transaction = self.connection.transaction()?;
        let before = transaction.total_changes();
        let id = SeriesId(row::find_or_insert(
            &transaction,
            "series",
            &[
                ("key", &series.key),
                ("name", &series.name),
                ("title", &series.title),
                ("source", &series.source),
            ],
        )?);
        let is_new = transaction.total_changes() > before;
        if is_new {
            insert_patches(&transaction, id, &series.patches)?;
        } else if patches(&transaction, id)? != series.patches {
            return Err(Error::Conflict {
                what: "series",
                key: series.key.clone(),
            });
        }
        transaction.commit()?;
        Ok(id)
    }

    /// The series with this id.
    pub fn series(&self, id: SeriesId) -> Result<Option<Series>> {
        let sql = "SELECT * FROM series WHERE id = ?1";
        let Some(series) = row::first(&self.connection, sql, [id], read)? else {
            return Ok(None);
        };
        let patches = patches(&self.connection, id)?;
        Ok(Some(Series { patches, ..series }))
    }
}

fn insert_patches(db: &Connection, series: SeriesId, patches: &[PatchText]) -> Result<()> {
    for (position, patch) in (0_i64..).zip(patches) {
        row::insert(
            db,
            "patch",
            &[
                ("series", &series),
                ("position", &position),
                ("name", &patch.name),
                ("text", &patch.text),
            ],
        )?;
    }
    Ok(())
}

fn patches(db: &Connection, series: SeriesId) -> Result<Vec<PatchText>> {
    let sql = "SELECT name, text FROM patch WHERE series = ?1 ORDER BY position";
    row::all(db, sql, [series], |row| {
        Ok(PatchText {
            name: row.get("name")?,
            text: row.get("text")?,
        })
    })
}

fn read(row: &Row) -> rusqlite::Result<Series> {
    Ok(Series {
        key: row.get("key")?,
        name: row.get("name")?,
        title: row.get("title")?,
        source: row.get("source")?,
        patches: Vec::new(),
    })
}
