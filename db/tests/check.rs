//! Each rule of `check` finds the thing it is there for, and a good database has
//! nothing to be found.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests, too

mod fixture;

use std::path::Path;

use fixture::*;
use ktrial_db::*;
use rusqlite::Connection;

/// What `check` says after `sql` was done to a finished trial behind ktrial's back.
fn findings_after(sql: &str) -> Vec<String> {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("ktrial.db");
    fill(&path);
    let raw = Connection::open(&path).unwrap();
    let unguarded = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;";
    raw.execute_batch(&format!("{unguarded} {sql}")).unwrap();
    let findings = Db::open(&path).unwrap().check().unwrap();
    findings.iter().map(Finding::to_string).collect()
}

fn fill(path: &Path) {
    let mut db = Db::open(path).unwrap();
    let begun = begin(&mut db, 2);
    boot_all(&mut db, &begun, 2);
    db.finish_trial(begun.trial, 1, "complete", None).unwrap();
    db.replace_verdicts(begun.trial, &[verdict(&begun)])
        .unwrap();
}

/// Breaks any seal that the statement touched, which is a finding by itself.
const SEAL: &str = "a boot and its samples are as they were recorded";

/// This rule is broken and, apart from the seal, no other.
fn assert_finds(sql: &str, rule: &str) {
    let mut findings = findings_after(sql);
    findings.retain(|finding| rule.starts_with(SEAL) || !finding.starts_with(SEAL));
    assert!(!findings.is_empty(), "nothing found: {sql}");
    for finding in &findings {
        assert!(finding.starts_with(rule), "{sql}: {findings:#?}");
    }
}

#[test]
fn a_good_database_has_no_findings() {
    assert_eq!(findings_after(""), Vec::<String>::new());
}

#[test]
fn trials_without_variants() {
    assert_finds(
        "INSERT INTO trial SELECT 9, 'p', machine, tree, '', 0, 1, 0.1, clock, accelerator,
            '{}', '{}', '', '', 0, NULL, NULL, NULL, '{}' FROM trial",
        "a trial has a variant: trial 9",
    );
}

#[test]
fn complete_trials_that_lack_a_boot() {
    assert_finds(
        "PRAGMA foreign_keys = ON; UPDATE verdict SET boots_base = 1;
        DELETE FROM boot WHERE round = 1 AND variant = 1",
        "a complete trial has a good boot of each variant in each round: trial 1, variant base: \
         1 of 2",
    );
}

#[test]
fn boots_outside_of_the_trial() {
    assert_finds(
        "INSERT INTO boot SELECT 9, trial, variant, 7, 0, 0, 0, '{}', 'hang', NULL, 0, 0, NULL
            FROM boot WHERE id = 1",
        "a boot belongs to a round of its trial: boot 9: round 7 of 2",
    );
}

#[test]
fn boots_of_no_kernel() {
    assert_finds(
        "UPDATE variant SET kernel = NULL WHERE id = 2",
        "a variant that was booted has a kernel: variant 2 (patched)",
    );
}

#[test]
fn good_boots_without_samples() {
    assert_finds(
        "DELETE FROM sample WHERE boot = 3",
        "a good boot has samples: boot 3",
    );
}

#[test]
fn verdicts_about_nothing() {
    assert_finds(
        "DELETE FROM sample WHERE cell = 1 AND boot IN (SELECT id FROM boot WHERE variant = 2)",
        "a verdict is about a cell that was measured in both variants: trial 1, variant 2, cell 1",
    );
    assert_finds(
        "UPDATE verdict SET boots_base = 3",
        "a verdict rests on no more boots than there are: trial 1, variant 2, cell 1: 3 and 2",
    );
}

#[test]
fn artifacts_that_do_not_unpack() {
    assert_finds(
        "DROP TRIGGER artifact_is_final; UPDATE artifact SET content = x'1f8b' WHERE id = 2;
        CREATE TRIGGER artifact_is_final BEFORE UPDATE ON artifact
BEGIN SELECT RAISE(ABORT, 'an artifact is never overwritten'); END;",
        "artifacts unpack: boot 2, console: the database is damaged",
    );
    assert_finds(
        "INSERT INTO artifact SELECT 9, boot, 'frames', 39, 0, content FROM artifact WHERE id = 1",
        "artifacts unpack: boot 1, frames: unpacks to 38 bytes and should be 39",
    );
}

/// `INSERT` of what is no gzip at all; nothing keeps a statement of its own from that.
#[test]
fn observations_that_do_not_unpack() {
    assert_finds(
        "INSERT INTO observation (trial, variant, kind, seed, started_at, ended_at, content)
            VALUES (1, 2, 'profile', 0, 0, 0, x'1f8b')",
        "observations unpack: trial 1, variant 2, profile: the database is damaged",
    );
}

#[test]
fn figures_that_changed_by_themselves() {
    let again = "CREATE TRIGGER sample_is_final BEFORE UPDATE ON sample
BEGIN SELECT RAISE(ABORT, 'a sample is never overwritten'); END;";
    for change in [
        "UPDATE sample SET value = 6691.2500000000009 WHERE boot = 3 AND NOT is_warmup
            AND status = 'ok'",
        "UPDATE sample SET iteration = 1 WHERE boot = 3 AND NOT is_warmup",
        "DELETE FROM sample WHERE boot = 3 AND is_warmup",
    ] {
        assert_finds(
            &format!("DROP TRIGGER sample_is_final; {change}; {again}"),
            "a boot and its samples are as they were recorded: boot 3",
        );
    }
    assert_finds(
        "DELETE FROM seal WHERE boot = 3",
        "a boot and its samples are as they were recorded: boot 3",
    );
}

#[test]
fn samples_whose_status_and_value_do_not_go_together() {
    for (status, value, reason) in [
        ("ok", "NULL", "NULL"),
        ("missing", "0.0", "NULL"),
        ("unsupported", "0.0", "'flag'"),
        ("failed", "NULL", "NULL"),
        ("ok", "1.0", "'why'"),
        ("ok", "9e999", "NULL"),
    ] {
        assert_finds(
            &format!("INSERT INTO sample VALUES (1, 1, 0, 9, '{status}', {value}, {reason})"),
            "the file is whole: CHECK constraint failed in sample",
        );
    }
}

#[test]
fn references_that_lead_nowhere() {
    assert_finds(
        "UPDATE variant SET series = 77 WHERE id = 2",
        "references lead somewhere: variant row 2 names a series that is not there",
    );
}

#[test]
fn boots_that_count_twice() {
    let findings = findings_after(
        "DROP INDEX boot_counted;
        INSERT INTO boot SELECT 9, trial, variant, round, 0, 1, 0, '{}', 'ok', NULL, 0, 0, NULL
            FROM boot WHERE id = 1;
        INSERT INTO sample SELECT 9, cell, is_warmup, iteration, status, value, reason
            FROM sample WHERE boot = 1;
        INSERT INTO seal SELECT 9, crc32 FROM seal WHERE boot = 1",
    );
    assert_eq!(
        findings,
        [
            "a variant counts once in a round: trial 1, variant 1, round 0: 2 good boots",
            "a boot and its samples are as they were recorded: boot 9",
            "the schema is what the migrations make: index boot_counted is missing or changed",
        ]
    );
}

#[test]
fn schemas_that_were_changed_by_hand() {
    assert_finds(
        "CREATE TABLE note (text TEXT)",
        "the schema is what the migrations make: table note is not of this ktrial",
    );
}

#[test]
fn what_was_measured_is_final_for_everyone() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("ktrial.db");
    fill(&path);
    let raw = Connection::open(&path).unwrap();
    for (sql, words) in [
        (
            "UPDATE sample SET value = 1",
            "a sample is never overwritten",
        ),
        (
            "UPDATE boot SET outcome = 'hang'",
            "a boot is never overwritten",
        ),
        (
            "UPDATE artifact SET raw_bytes = 1",
            "an artifact is never overwritten",
        ),
    ] {
        let error = raw.execute(sql, []).unwrap_err();
        assert_eq!(error.to_string(), words);
    }
}
