//! The boots of a trial: a table of all, and what the telling ones wrote on their console.

use std::collections::HashSet;

use ktrial_db::{Boot, Db};
use serde::Serialize;

use super::format;
use super::record::{Record, has_failed, is_good};
use super::site::Extra;
use super::text;
use crate::fault::Result;

/// An excerpt is so many lines, each of so many characters.
const LINES: usize = 40;
const COLUMNS: usize = 240;
/// Consoles of failed boots that are shown; of the others the table says what happened.
const FAILED_SHOWN: usize = 12;

/// One line of the table of boots.
#[derive(Debug, Serialize)]
pub(super) struct BootRow {
    id: i64,
    /// Counted from 1.
    round: u32,
    order: u32,
    attempt: u32,
    variant: String,
    seed: String,
    good: bool,
    outcome: String,
    detail: Option<String>,
    duration: String,
    guest_boot: Option<String>,
}

/// The end of a console.
#[derive(Debug, Serialize)]
pub(super) struct Console {
    boot: i64,
    variant: String,
    round: u32,
    good: bool,
    outcome: String,
    excerpt: String,
    link: String,
}

/// The table of boots, in the order they ran.
pub(super) fn table(record: &Record) -> Vec<BootRow> {
    let row = |boot: &Boot| BootRow {
        id: boot.id.0,
        round: boot.round + 1,
        order: boot.position + 1,
        attempt: boot.attempt + 1,
        variant: record.variant_name(boot.variant).to_owned(),
        seed: boot.seed.to_string(),
        good: is_good(boot),
        outcome: boot.outcome.clone(),
        detail: boot.detail.clone(),
        duration: format::duration(boot.ended_at.abs_diff(boot.started_at)),
        guest_boot: boot.guest_boot_ns.map(|ns| format::value(ns as f64, "ns")),
    };
    record.boots.iter().map(row).collect()
}

/// The consoles of failed boots and of each variant's first one, and the whole of each as a file.
///
/// # Errors
/// A host fault if the database can't be read.
pub(super) fn consoles(db: &Db, record: &Record) -> Result<(Vec<Console>, Vec<Extra>)> {
    let (mut consoles, mut extras) = (Vec::new(), Vec::new());
    for boot in telling(&record.boots) {
        let Some(bytes) = db.artifact(boot.id, "console")? else {
            continue;
        };
        let link = format!("boot-{}-console.txt", boot.id);
        extras.push(Extra {
            name: link.clone(),
            bytes: text::console(&bytes).into_bytes(),
        });
        consoles.push(Console {
            boot: boot.id.0,
            variant: record.variant_name(boot.variant).to_owned(),
            round: boot.round + 1,
            good: is_good(boot),
            outcome: boot.outcome.clone(),
            excerpt: text::excerpt(&bytes, LINES, COLUMNS),
            link,
        });
    }
    Ok((consoles, extras))
}

/// Failed boots, then the first good one of each variant.
fn telling(boots: &[Boot]) -> Vec<&Boot> {
    let failed = boots
        .iter()
        .filter(|boot| has_failed(boot))
        .take(FAILED_SHOWN);
    let mut seen = HashSet::new();
    let first = boots
        .iter()
        .filter(|boot| is_good(boot) && seen.insert(boot.variant));
    failed.chain(first).collect()
}
