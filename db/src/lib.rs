//! The store of ktrial: one SQLite file with what was tried, what was measured
//! and what was concluded.
//!
//! Only this crate speaks SQL, and it knows nothing of the harness: callers hand
//! over plain structs and get plain structs back. `README.md` in this folder says
//! what each table holds. Three promises hold everywhere:
//!
//! - **A boot is stored whole or not at all.** [`Db::record_boot`] is one
//!   transaction, on disk when it returns, kill or power cut notwithstanding.
//! - **What was measured is never overwritten**, and a variant counts once in a
//!   round, however often that round is tried.
//! - **A value is a number or says why it is none.** NaN and infinities are refused.
//!
//! Unless said otherwise, times are unix milliseconds and a method fails with
//! [`Error`] when the disk, the file or another process is in the way.

mod aa;
mod artifact;
mod boot;
mod cell;
mod check;
mod error;
mod history;
mod id;
mod kernel;
mod machine;
mod migrations;
mod observation;
mod row;
mod sample;
mod seal;
mod series;
mod tree;
mod trial;
mod verdict;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

pub use aa::AaTrial;
pub use artifact::{ArtifactSize, MAX_ARTIFACT_BYTES, NewArtifact};
pub use boot::{Boot, NewBoot};
pub use cell::{Cell, canonical_parameters, setting};
pub use check::Finding;
pub use error::{Error, Result};
pub use history::{HistoryTrial, HistoryValue};
pub use id::{BootId, CellId, KernelId, MachineId, SeriesId, TreeId, TrialId, VariantId};
pub use kernel::Kernel;
pub use machine::Machine;
pub use observation::Observation;
pub use sample::{NewSample, Sample, Value};
pub use series::{PatchText, Series};
pub use tree::Tree;
pub use trial::{NewTrial, NewVariant, Trial, TrialSummary, Variant};
pub use verdict::Verdict;

/// How long a statement waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// An open ktrial database. One process may write while others read.
#[derive(Debug)]
pub struct Db {
    connection: Connection,
}

impl Db {
    /// Opens the database at `path`, makes it when there is none, and brings an
    /// older one up to date. The folder must exist.
    ///
    /// # Errors
    /// [`Error::NotADatabase`], [`Error::NotOurs`] and [`Error::Newer`] leave the
    /// file as it was; [`Error::CannotOpen`] when the folder is missing or closed.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let (mut connection, path) = connect(path, flags)?;
        migrations::identify(&connection, &path)?;
        // With FULL, a commit is on disk when it returns; NORMAL in WAL mode may
        // lose the last boots in a power cut.
        enter_wal(&connection)?;
        connection.pragma_update(None, "synchronous", "full")?;
        migrations::bring_up_to_date(&mut connection)?;
        Ok(Self { connection })
    }

    /// Opens an existing database to read it; every method that writes then fails
    /// with [`Error::ReadOnly`].
    ///
    /// # Errors
    /// As [`Db::open`], and [`Error::Older`] when the schema would have to be
    /// brought up to date first.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        let (connection, path) = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let found = migrations::identify(&connection, &path)?;
        migrations::require_latest(found, path)?;
        Ok(Self { connection })
    }

    /// A database that lives as long as the value, for tests and for looking.
    pub fn in_memory() -> Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        configure(&mut connection)?;
        migrations::bring_up_to_date(&mut connection)?;
        Ok(Self { connection })
    }
}

/// Connects without touching the file yet; SQLite reads at the first statement.
fn connect(path: &Path, flags: OpenFlags) -> Result<(Connection, PathBuf)> {
    // An absolute path can't be taken for ":memory:", nor for the empty path, for
    // which SQLite makes a database that vanishes when it is closed.
    let path = std::path::absolute(path).map_err(|source| Error::Path {
        path: path.to_owned(),
        source,
    })?;
    let open = || -> rusqlite::Result<Connection> {
        // SQLite's own mutexes protect nothing here: a Db is not Sync.
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&path, flags)?;
        configure(&mut connection)?;
        Ok(connection)
    };
    match open() {
        Ok(connection) => Ok((connection, path)),
        Err(error) => Err(Error::at(error, &path)),
    }
}

/// Turns the write-ahead log on. Where two processes make one database at once, both hold a read
/// lock and want more; SQLite then fails one of them at once, whatever the busy timeout says.
fn enter_wal(connection: &Connection) -> rusqlite::Result<()> {
    let start = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(e) if is_busy(&e) && start.elapsed() < BUSY_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Sets what a connection needs and the file doesn't keep.
fn configure(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Every transaction here writes. A deferred one could find, half way, that
    // another process wrote first, and would then fail without waiting.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    // The file may come from elsewhere: its schema gets no say beyond tables.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "foreign_keys", true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_for_the_disk_and_references_are_kept() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::open(&folder.path().join("ktrial.db")).unwrap();
        let pragma = |name| -> i64 {
            let read = |row: &rusqlite::Row| row.get(0);
            db.connection.pragma_query_value(None, name, read).unwrap()
        };
        assert_eq!(pragma("synchronous"), 2); // FULL, as SQLite's manual numbers it
        assert_eq!(pragma("foreign_keys"), 1);
        assert_eq!(pragma("trusted_schema"), 0);
        assert_eq!(pragma("busy_timeout"), 30_000);
    }
}
