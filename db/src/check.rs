//! `ktrial db check`: does the file hold together, and does it say what a run of
//! ktrial would have written?

use std::fmt;

use rusqlite::{Connection, Row};

use crate::error::{Error, Result};
use crate::{Db, artifact, row, seal};

/// Something in the database that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken, as a sentence.
    pub rule: &'static str,
    /// Where.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)
    }
}

/// A rule, and the query for the rows that break it, each as one text.
type Rule = (&'static str, &'static str);

/// SQLite's own: pages, indexes, types, constraints and references.
const INTEGRITY: &[Rule] = &[
    (
        "the file is whole",
        "SELECT integrity_check FROM pragma_integrity_check
        WHERE integrity_check <> 'ok'",
    ),
    (
        "references lead somewhere",
        "SELECT printf('%s row %s names a %s that is not there',
            \"table\", coalesce(rowid, '?'), parent)
        FROM pragma_foreign_key_check",
    ),
];

/// What constraints can't say, because it spans rows.
const INVARIANTS: &[Rule] = &[
    (
        "a trial has a variant",
        "SELECT printf('trial %d', id) FROM trial
        WHERE id NOT IN (SELECT trial FROM variant)",
    ),
    (
        "a complete trial has a good boot of each variant in each round",
        "SELECT printf('trial %d, variant %s: %d of %d', trial.id, variant.name,
            count(DISTINCT boot.round), trial.rounds)
        FROM trial JOIN variant ON variant.trial = trial.id
        LEFT JOIN boot ON boot.variant = variant.id AND boot.outcome = 'ok'
        WHERE trial.outcome = 'complete' AND NOT variant.left_out
        GROUP BY variant.id HAVING count(DISTINCT boot.round) <> trial.rounds",
    ),
    (
        "a variant counts once in a round",
        // "+" keeps SQLite from answering from the index that is being checked.
        "SELECT printf('trial %d, variant %d, round %d: %d good boots', +trial, +variant, +round,
            count(*))
        FROM boot WHERE +outcome = 'ok' GROUP BY +trial, +variant, +round HAVING count(*) > 1",
    ),
    (
        "a boot belongs to a round of its trial",
        "SELECT printf('boot %d: round %d of %d', boot.id, boot.round, trial.rounds)
        FROM boot JOIN trial ON trial.id = boot.trial WHERE boot.round >= trial.rounds",
    ),
    (
        "a variant that was booted has a kernel",
        "SELECT printf('variant %d (%s)', id, name) FROM variant
        WHERE kernel IS NULL AND id IN (SELECT variant FROM boot)",
    ),
    (
        "a variant that is left out was not booted",
        "SELECT printf('variant %d (%s)', id, name) FROM variant
        WHERE left_out AND id IN (SELECT variant FROM boot)",
    ),
    (
        "a good boot has samples",
        "SELECT printf('boot %d', id) FROM boot
        WHERE outcome = 'ok' AND id NOT IN (SELECT boot FROM sample)",
    ),
    (
        "a verdict is about a cell that was measured in both variants",
        "SELECT printf('trial %d, variant %d, cell %d', trial, variant, cell) FROM verdict
        WHERE 2 > (SELECT count(DISTINCT boot.variant)
            FROM boot JOIN sample ON sample.boot = boot.id
            WHERE boot.variant IN (verdict.variant, verdict.baseline)
                AND sample.cell = verdict.cell)",
    ),
    (
        "a verdict rests on no more boots than there are",
        "SELECT printf('trial %d, variant %d, cell %d: %d and %d', trial, variant, cell,
            boots_base, boots_variant) FROM verdict
        WHERE boots_base > (SELECT count(*) FROM boot
                WHERE variant = verdict.baseline AND outcome = 'ok')
            OR boots_variant > (SELECT count(*) FROM boot
                WHERE variant = verdict.variant AND outcome = 'ok')",
    ),
];

/// Rows shown for each rule; a damaged file can break one a million times.
const SHOWN: usize = 100;

impl Db {
    /// Looks for damage and contradictions; nothing found, nothing wrong. Reads
    /// the whole file, so it takes as long as that.
    ///
    /// # Errors
    /// Only what keeps it from looking, such as a lock that isn't released. Damage
    /// is what it finds.
    pub fn check(&self) -> Result<Vec<Finding>> {
        let db = &self.connection;
        let mut findings = Vec::new();
        for (rule, sql) in INTEGRITY.iter().chain(INVARIANTS) {
            note(&mut findings, rule, broken(db, sql))?;
        }
        let rule = "a boot and its samples are as they were recorded";
        note(&mut findings, rule, seal::broken(db))?;
        note(&mut findings, "artifacts unpack", bad_artifacts(db))?;
        note(&mut findings, "observations unpack", bad_observations(db))?;
        let rule = "the schema is what the migrations make";
        note(&mut findings, rule, foreign_schema(db))?;
        Ok(findings)
    }
}

/// Adds what was seen. A page that can't be read is a finding like any other.
fn note(
    findings: &mut Vec<Finding>,
    rule: &'static str,
    details: Result<Vec<String>>,
) -> Result<()> {
    let details = match details {
        Err(Error::Damaged(text)) => vec![format!("can't be checked, {text}")],
        other => other?,
    };
    findings.extend(details.into_iter().map(|detail| Finding { rule, detail }));
    Ok(())
}

fn broken(db: &Connection, sql: &str) -> Result<Vec<String>> {
    let sql = format!("SELECT * FROM ({sql}) LIMIT {SHOWN}");
    row::all(db, &sql, [], |row| row.get(0))
}

fn bad_artifacts(db: &Connection) -> Result<Vec<String>> {
    let mut statement = db.prepare("SELECT * FROM artifact")?;
    let faults = statement.query_map([], artifact_fault)?;
    let details = faults.filter_map(|fault| fault.map_err(Error::from).transpose());
    details.take(SHOWN).collect()
}

fn artifact_fault(row: &Row) -> rusqlite::Result<Option<String>> {
    let (boot, kind): (i64, String) = (row.get("boot")?, row.get("kind")?);
    let content: Vec<u8> = row.get("content")?;
    let fault = artifact::fault(&content, row.get("raw_bytes")?, row.get("is_cut")?);
    Ok(fault.map(|fault| format!("boot {boot}, {kind}: {fault}")))
}

fn bad_observations(db: &Connection) -> Result<Vec<String>> {
    let rows = row::all(
        db,
        "SELECT trial, variant, kind, content FROM observation",
        [],
        |row| {
            let place: (i64, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((place, artifact::unpack(&row.get::<_, Vec<u8>>(3)?)))
        },
    )?;
    let bad = rows
        .into_iter()
        .filter_map(|((trial, variant, kind), unpacked)| {
            let error = unpacked.err()?;
            Some(format!("trial {trial}, variant {variant}, {kind}: {error}"))
        });
    Ok(bad.take(SHOWN).collect())
}

/// Tables, indexes and triggers that differ from those of a new database.
fn foreign_schema(db: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema ORDER BY 1";
    let read = |db: &Connection| -> Result<Vec<(String, String)>> {
        row::all(db, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    let (here, expected) = (read(db)?, read(&Db::in_memory()?.connection)?);
    let extra = here.iter().filter(|object| !expected.contains(object));
    let missing = expected.iter().filter(|object| !here.contains(object));
    Ok(extra
        .map(|(name, _)| format!("{name} is not of this ktrial"))
        .chain(missing.map(|(name, _)| format!("{name} is missing or changed")))
        .collect())
}
