//! Rows in, rows out: the few statements that every table shares.

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Row, params_from_iter};

use crate::error::{Error, Result};

/// A column's name and what it is to hold.
pub(crate) type Column<'a> = (&'static str, &'a dyn ToSql);

/// Adds one row. Names come from this crate's source, never from outside.
///
/// # Errors
/// A number that isn't finite or doesn't fit is refused by name: SQLite would
/// store a NaN as NULL and say nothing.
pub(crate) fn insert(db: &Connection, table: &'static str, columns: &[Column]) -> Result<()> {
    let values = storable(table, columns)?;
    let names = join(columns, ", ", |name, _| name.to_owned());
    let marks = join(columns, ", ", |_, mark| format!("?{mark}"));
    let sql = format!("INSERT INTO {table} ({names}) VALUES ({marks})");
    db.prepare_cached(&sql)?
        .execute(params_from_iter(values.iter()))?;
    Ok(())
}

/// The id of the row that equals `columns` in all of them, or of a new one.
pub(crate) fn find_or_insert(
    db: &Connection,
    table: &'static str,
    columns: &[Column],
) -> Result<i64> {
    let values = storable(table, columns)?;
    let equal = join(columns, " AND ", |name, mark| format!("{name} IS ?{mark}"));
    let sql = format!("SELECT id FROM {table} WHERE {equal}");
    let found = db
        .prepare_cached(&sql)?
        .query_row(params_from_iter(values.iter()), |row| row.get(0))
        .optional()?;
    if let Some(id) = found {
        return Ok(id);
    }
    insert(db, table, columns)?;
    Ok(db.last_insert_rowid())
}

fn join(columns: &[Column], separator: &str, part: impl Fn(&str, usize) -> String) -> String {
    let parts: Vec<_> = columns
        .iter()
        .enumerate()
        .map(|(index, (name, _))| part(name, index + 1))
        .collect();
    parts.join(separator)
}

fn storable<'a>(table: &'static str, columns: &[Column<'a>]) -> Result<Vec<ToSqlOutput<'a>>> {
    let one = |&(column, value): &Column<'a>| match value.to_sql() {
        Ok(ToSqlOutput::Owned(Value::Real(value))) if !value.is_finite() => Err(Error::NotFinite {
            table,
            column,
            value,
        }),
        Ok(value) => Ok(value),
        Err(error) => Err(Error::Unstorable {
            table,
            column,
            reason: error.to_string(),
        }),
    };
    columns.iter().map(one).collect()
}

/// All rows of a query.
pub(crate) fn all<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The first row of a query, if it has one.
pub(crate) fn first<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_row(params, read).optional()?)
}

/// A seed, all 64 bits of it, as the signed number of the same bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(pub(crate) u64);

impl ToSql for Seed {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.cast_signed().into())
    }
}

impl FromSql for Seed {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(|bits| Self(bits.cast_unsigned()))
    }
}
