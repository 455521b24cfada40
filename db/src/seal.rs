//! Seals: a checksum over each boot and its samples, taken when they are stored.
//!
//! SQLite notices damage to its pages, not a flipped bit in a number. A figure that
//! someone will act on deserves better.

use crc32fast::Hasher;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::error::Result;
use crate::{BootId, row};

/// What is sealed, in an order that is the same each time. Columns are named one by
/// one: a column that a later schema adds is not under the seals of old boots.
const SEALED: [&str; 2] = [
    "SELECT trial, variant, round, position, attempt, seed, perturbation_json, outcome, detail,
        started_at, ended_at, guest_boot_ns
    FROM boot WHERE id = ?1",
    "SELECT cell, is_warmup, iteration, status, value, reason
    FROM sample WHERE boot = ?1 ORDER BY cell, is_warmup, iteration",
];

/// Seals a boot whose samples are all stored.
pub(crate) fn put(db: &Connection, boot: BootId) -> Result<()> {
    let crc32 = checksum(db, boot)?;
    row::insert(db, "seal", &[("boot", &boot), ("crc32", &crc32)])
}

/// The boots that are not as they were sealed, or were never sealed.
pub(crate) fn broken(db: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT boot.id, seal.crc32 FROM boot LEFT JOIN seal ON seal.boot = boot.id";
    let seals: Vec<(BootId, Option<u32>)> =
        row::all(db, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut broken = Vec::new();
    for (boot, sealed) in seals {
        if sealed != Some(checksum(db, boot)?) {
            broken.push(format!("boot {boot}"));
        }
    }
    Ok(broken)
}

fn checksum(db: &Connection, boot: BootId) -> Result<u32> {
    let mut hasher = Hasher::new();
    for sql in SEALED {
        let mut statement = db.prepare_cached(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query([boot])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                add(&mut hasher, row.get_ref(column)?);
            }
        }
    }
    Ok(hasher.finalize())
}

/// Adds one value; kind and length go first, so that no two rows read alike.
fn add(hasher: &mut Hasher, value: ValueRef) {
    let mut tagged = |tag: u8, bytes: &[u8]| {
        hasher.update(&[tag]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    match value {
        ValueRef::Null => tagged(0, &[]),
        ValueRef::Integer(number) => tagged(1, &number.to_le_bytes()),
        ValueRef::Real(number) => tagged(2, &number.to_bits().to_le_bytes()),
        ValueRef::Text(bytes) => tagged(3, bytes),
        ValueRef::Blob(bytes) => tagged(4, bytes),
    }
}
