//! The schema and how it grew: `migrations/` in order, each applied once.
//!
//! A migration that has been released is never edited; a change is a new file.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};
use rusqlite_migration::{M, Migrations};

use crate::error::{Error, Result};

const STEPS: &[M<'static>] = &[
    M::up(include_str!("../migrations/0001-first-schema.sql")),
    M::up(include_str!("../migrations/0002-notes-of-verdicts.sql")),
    M::up(include_str!("../migrations/0003-images.sql")),
    M::up(include_str!("../migrations/0004-observations.sql")),
    M::up(include_str!("../migrations/0005-hosts.sql")),
];
const MIGRATIONS: Migrations<'static> = Migrations::from_slice(STEPS);

/// The schema version this crate reads and writes.
const LATEST: i64 = STEPS.len() as i64;

/// `PRAGMA application_id` of a ktrial database, "KTRL"; the first migration sets it.
const APPLICATION_ID: i64 = 0x4B54_524C;

/// Says which schema version the file has, 0 when it is new and empty.
///
/// # Errors
/// When it is no database, not ktrial's, or from a later ktrial. Nothing is written.
pub(crate) fn identify(connection: &Connection, path: &Path) -> Result<i64> {
    let read = || -> rusqlite::Result<(i64, i64, i64)> {
        // One transaction, or a process that is just making the database could
        // be seen half way.
        let transaction =
            rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
        let number = |sql| transaction.query_row(sql, [], |row| row.get(0));
        Ok((
            number("PRAGMA application_id")?,
            number("PRAGMA user_version")?,
            number("SELECT count(*) FROM sqlite_schema")?,
        ))
    };
    let (application, version, objects) = read().map_err(|error| Error::at(error, path))?;
    let is_new = (application, version, objects) == (0, 0, 0);
    if !is_new && application != APPLICATION_ID {
        return Err(Error::NotOurs {
            path: path.to_owned(),
        });
    }
    if version > LATEST {
        return Err(Error::Newer {
            path: path.to_owned(),
            found: version,
            known: LATEST,
        });
    }
    Ok(version)
}

/// Refuses a database that is not of the latest schema.
pub(crate) fn require_latest(found: i64, path: PathBuf) -> Result<()> {
    if found == LATEST {
        return Ok(());
    }
    Err(Error::Older {
        path,
        found,
        known: LATEST,
    })
}

/// Applies what is missing, in one transaction.
pub(crate) fn bring_up_to_date(connection: &mut Connection) -> Result<()> {
    let Err(error) = MIGRATIONS.to_latest(connection) else {
        return Ok(());
    };
    // The library looks at the version before it takes the lock, so of two
    // processes that make a database together, one finds it made.
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == LATEST {
        Ok(())
    } else {
        Err(failure(error))
    }
}

/// Names the disk, the lock or the damage when it was one of those.
fn failure(error: rusqlite_migration::Error) -> Error {
    match error {
        rusqlite_migration::Error::RusqliteError { err, query } => match Error::from(err) {
            Error::Sqlite(err) => rusqlite_migration::Error::RusqliteError { err, query }.into(),
            known => known,
        },
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_apply() {
        MIGRATIONS.validate().unwrap();
    }

    #[test]
    fn every_file_of_the_folder_is_applied_in_the_order_of_its_number() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        assert_eq!(files.len(), STEPS.len());
        for (index, (file, step)) in files.iter().zip(STEPS).enumerate() {
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(name.starts_with(&format!("{:04}-", index + 1)), "{name}");
            let sql = std::fs::read_to_string(file).unwrap();
            assert_eq!(format!("{step:?}"), format!("{:?}", M::up(&sql)), "{name}");
        }
    }
}
