//! What can go wrong, and who is at fault.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the database refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path is empty, or the current folder is gone.
    #[error("{path:?} is no usable path for a database: {source}")]
    Path {
        /// As it was given.
        path: PathBuf,
        /// From the operating system.
        source: std::io::Error,
    },

    /// The file can't be opened.
    #[error(
        "cannot open the database {}: {reason}; the folder must exist and let you write, also to \
         read (SQLite keeps its -wal and -shm files beside the database)", path.display()
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        reason: String,
    },

    /// The file is something else, or its first page is damaged.
    #[error("{} is not a database; name another file, or move this one away", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },

    /// An SQLite database, but of another program.
    #[error(
        "{} is an SQLite database, but not one of ktrial's; name another file", path.display()
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
    },

    /// The database was written by a later ktrial.
    #[error(
        "{} was written by a newer ktrial (schema {found}, this one knows {known}); use that \
         ktrial, or another database", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema version in the file.
        found: i64,
        /// Latest schema version this crate knows.
        known: i64,
    },

    /// The database must be brought up to date, which reading alone may not do.
    #[error(
        "{} was written by an older ktrial (schema {found}, this one reads {known}); open it once \
         for writing, which brings it up to date", path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Schema version in the file.
        found: i64,
        /// Schema version this crate reads.
        known: i64,
    },

    /// The file doesn't hold together.
    #[error(
        "the database is damaged ({0}); `ktrial db check` says where; keep the file and go on with \
         a backup or a new one"
    )]
    Damaged(String),

    /// Another process held the database for longer than we wait.
    #[error("another process is writing to the database and does not end; try again when it has")]
    Busy,

    /// The disk is full.
    #[error("the disk of the database is full; free some space, then start again to go on")]
    Full,

    /// Something was to be written to a database opened for reading.
    #[error("the database is open for reading only, or the file may not be written")]
    ReadOnly,

    /// The operating system failed to read or write.
    #[error("the disk of the database failed: {0}")]
    Disk(String),

    /// The database can't be brought up to this ktrial's schema.
    #[error("the database can't be brought up to date: {0}")]
    Migration(#[from] rusqlite_migration::Error),

    /// NaN or an infinity, which no column holds.
    #[error("{table}.{column} must be a finite number, and is {value}")]
    NotFinite {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// What was to be stored.
        value: f64,
    },

    /// A number too large for SQLite's 63 bits.
    #[error("{table}.{column} can't be stored: {reason}")]
    Unstorable {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// Why not.
        reason: String,
    },

    /// A rule of the schema was broken; the text is the rule.
    #[error("the database refused a row: {0}")]
    Refused(String),

    /// An id that leads nowhere.
    #[error("there is no {what} {id} in the database")]
    NoSuch {
        /// The table.
        what: &'static str,
        /// The id.
        id: i64,
    },

    /// The variant already has a good boot in that round.
    #[error("variant {variant:?} already has a good boot in round {round}; it counts only once")]
    AlreadyCounted {
        /// The variant's name.
        variant: String,
        /// The round, counted from 0.
        round: u32,
    },

    /// The round lies outside of the trial.
    #[error("round {round} is outside of the trial, which has {rounds} counted from 0")]
    NoSuchRound {
        /// The round, counted from 0.
        round: u32,
        /// Rounds of the trial.
        rounds: u32,
    },

    /// The trial has ended, and its record is closed.
    #[error("trial {0} is finished; extend it, or begin another")]
    Finished(i64),

    /// A trial can't shrink: its boots are stored.
    #[error("a trial of {have} rounds can't be made one of {want}; rounds are only added")]
    Shrinking {
        /// Rounds it has.
        have: u32,
        /// Rounds asked for.
        want: u32,
    },

    /// A trial was called complete before each variant was booted in each round.
    #[error("the trial is not complete: {have} good boots of {want}")]
    Incomplete {
        /// Good boots stored.
        have: u64,
        /// Good boots needed: variants times rounds.
        want: u64,
    },

    /// Parameters that are not in the one form under which equal ones are equal.
    #[error("parameters must read \"name=value name=value\", sorted, each name once: {0:?}")]
    Parameters(String),

    /// One key stands for two different things.
    #[error("{what} {key} is stored with other content; its key must be a hash of the content")]
    Conflict {
        /// The table.
        what: &'static str,
        /// The key.
        key: String,
    },

    /// Anything else from SQLite.
    #[error("SQLite: {0}")]
    Sqlite(#[source] rusqlite::Error),
}

impl Error {
    /// What SQLite said while the file at `path` was being opened.
    pub(crate) fn at(error: rusqlite::Error, path: &Path) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase {
                path: path.to_owned(),
            },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Self::CannotOpen {
                path: path.to_owned(),
                reason: error.to_string(),
            },
            _ => error.into(),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error as Sql;
        let text = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::SystemIoFailure) => Self::Disk(text),
            Some(ErrorCode::ConstraintViolation) => Self::Refused(text),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(text),
            // Every statement is ours and fits the schema: one that SQLite can't make sense of has
            // met a schema whose bytes have changed.
            Some(ErrorCode::Unknown) => Self::Damaged(text),
            Some(_) => Self::Sqlite(error),
            // STRICT tables hold what the schema says, so a row that can't be read
            // was not written by us.
            None => match error {
                Sql::FromSqlConversionFailure(..)
                | Sql::IntegralValueOutOfRange(..)
                | Sql::InvalidColumnType(..)
                | Sql::Utf8Error(..)
                | Sql::SqlInputError { .. } => Self::Damaged(text),
                _ => Self::Sqlite(error),
            },
        }
    }
}
