//! Opening: new files, foreign files, damaged files, and several at once.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests, too

mod fixture;

use std::fs;
use std::path::{Path, PathBuf};

use fixture::*;
use ktrial_db::*;
use rusqlite::Connection;
use tempfile::TempDir;

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("ktrial.db");
    (folder, path)
}

/// A finished trial with its verdict, as one file without a WAL beside it.
fn filled(path: &Path, rounds: u32) -> Begun {
    let mut db = Db::open(path).unwrap();
    let begun = begin(&mut db, rounds);
    boot_all(&mut db, &begun, rounds);
    db.finish_trial(begun.trial, 1, "complete", None).unwrap();
    db.replace_verdicts(begun.trial, &[verdict(&begun)])
        .unwrap();
    begun
}

fn sql(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// Everything a report reads.
fn read_all(db: &Db) -> Result<()> {
    for summary in db.trials()? {
        db.trial(summary.id)?;
        db.cells(summary.id)?;
        db.samples(summary.id)?;
        db.verdicts(summary.id)?;
        for boot in db.boots(summary.id)? {
            db.artifacts(boot.id)?;
            db.artifact(boot.id, "console")?;
        }
    }
    Ok(())
}

#[test]
fn a_new_database_is_durable_and_strict() {
    let (_folder, path) = folder();
    drop(Db::open(&path).unwrap());
    let raw = Connection::open(&path).unwrap();
    let mode: String = raw
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
    let loose: i64 = raw
        .query_row(
            "SELECT count(*) FROM pragma_table_list WHERE NOT strict
            AND name NOT LIKE 'sqlite_%'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(loose, 0);
    let tables: i64 = raw
        .query_row(
            "SELECT count(*) FROM pragma_table_list WHERE strict",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(tables, 14);
}

#[test]
fn reading_finds_what_was_written_and_writes_nothing() {
    let (_folder, path) = folder();
    let begun = filled(&path, 2);
    let mut db = Db::open_read_only(&path).unwrap();
    assert_eq!(db.samples(begun.trial).unwrap().len(), 12);
    assert_eq!(db.check().unwrap(), []);
    assert!(matches!(db.put_cell(&cell("new")), Err(Error::ReadOnly)));
    assert!(matches!(
        db.extend_trial(begun.trial, 3),
        Err(Error::ReadOnly)
    ));
}

#[test]
fn reading_goes_on_beside_a_writer() {
    let (_folder, path) = folder();
    let mut writer = Db::open(&path).unwrap();
    let begun = begin(&mut writer, 3);
    let reader = Db::open_read_only(&path).unwrap();
    assert_eq!(reader.boots(begun.trial).unwrap().len(), 0);
    writer.record_boot(&boot(&begun, 0)).unwrap();
    assert_eq!(reader.boots(begun.trial).unwrap().len(), 1);
}

#[test]
fn two_writers_wait_for_each_other() {
    let (_folder, path) = folder();
    let begun = begin(&mut Db::open(&path).unwrap(), 50);
    std::thread::scope(|scope| {
        for variant in [begun.base, begun.patched] {
            let (path, begun) = (&path, &begun);
            scope.spawn(move || {
                let mut db = Db::open(path).unwrap();
                for round in 0..50 {
                    let new = NewBoot {
                        variant,
                        ..boot(begun, round)
                    };
                    db.record_boot(&new).unwrap();
                }
            });
        }
    });
    let db = Db::open(&path).unwrap();
    assert_eq!(db.boots(begun.trial).unwrap().len(), 100);
    assert_eq!(db.check().unwrap(), []);
}

#[test]
fn many_may_make_the_same_database_at_once() {
    for _ in 0..5 {
        let (_folder, path) = folder();
        std::thread::scope(|scope| {
            let open = || {
                let mut db = Db::open(&path).unwrap();
                db.put_machine(&machine()).unwrap()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), MachineId(1));
            }
        });
        assert_eq!(Db::open(&path).unwrap().check().unwrap(), []);
    }
}

#[test]
fn what_is_no_database_is_told_and_left_alone() {
    let (_folder, path) = folder();
    let long = "Linux version 6.1\n".repeat(1000);
    for text in ["xy", "hello, this is a text\n", long.as_str()] {
        fs::write(&path, text).unwrap();
        for result in [Db::open(&path), Db::open_read_only(&path)] {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::NotADatabase { .. }), "{error}");
            assert!(error.to_string().contains("ktrial.db"), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn another_programs_database_is_told_and_left_alone() {
    let (_folder, path) = folder();
    for schema in ["CREATE TABLE moz_places (id)", "PRAGMA user_version = 1"] {
        let _ = fs::remove_file(&path);
        sql(&path, schema);
        let before = fs::read(&path).unwrap();
        let error = Db::open(&path).unwrap_err();
        assert!(matches!(error, Error::NotOurs { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_database_from_the_future_is_told_and_left_alone() {
    let (_folder, path) = folder();
    filled(&path, 1);
    sql(
        &path,
        "PRAGMA user_version = 1000; PRAGMA wal_checkpoint(TRUNCATE);",
    );
    let before = fs::read(&path).unwrap();
    for result in [Db::open(&path), Db::open_read_only(&path)] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Newer { found: 1000, .. }), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_empty_file_becomes_a_database_but_not_by_reading() {
    let (_folder, path) = folder();
    fs::write(&path, "").unwrap();
    let error = Db::open_read_only(&path).unwrap_err();
    assert!(matches!(error, Error::Older { found: 0, .. }), "{error}");
    assert_eq!(Db::open(&path).unwrap().check().unwrap(), []);
}

/// The schema of ktrial's first release, with everything that `filled` stores.
fn old(path: &Path, rounds: u32) -> Begun {
    let today = path.with_extension("today");
    let begun = filled(&today, rounds);
    sql(path, include_str!("../migrations/0001-first-schema.sql"));
    let raw = Connection::open(path).unwrap();
    raw.pragma_update(None, "user_version", 1).unwrap();
    raw.execute("ATTACH ?1 AS today", [today.to_str().unwrap()])
        .unwrap();
    let names = |sql: &str| -> Vec<String> {
        let mut names = raw.prepare(sql).unwrap();
        let rows = names.query_map([], |row| row.get(0)).unwrap();
        rows.map(|name| name.unwrap()).collect()
    };
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    for table in names("SELECT name FROM main.sqlite_schema WHERE type = 'table'") {
        let columns = names(&format!(
            "SELECT name FROM pragma_table_info('{table}', 'main')"
        ));
        let columns = columns.join(", ");
        let copy =
            format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM today.{table}");
        raw.execute(&copy, []).unwrap();
    }
    begun
}

#[test]
fn a_database_of_the_first_schema_is_brought_up_to_date_with_all_its_rows() {
    let (_folder, path) = folder();
    let begun = old(&path, 3);
    let before = fs::read(&path).unwrap();
    let error = Db::open_read_only(&path).unwrap_err();
    assert!(matches!(error, Error::Older { found: 1, .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);

    let mut db = Db::open(&path).unwrap();
    assert_eq!(db.samples(begun.trial).unwrap().len(), 18);
    let without = Verdict {
        notes_json: "[]".into(),
        ..verdict(&begun)
    };
    assert_eq!(db.verdicts(begun.trial).unwrap(), [without]);
    db.replace_verdicts(begun.trial, &[verdict(&begun)])
        .unwrap();
    assert_eq!(db.verdicts(begun.trial).unwrap(), [verdict(&begun)]);
    assert_eq!(db.check().unwrap(), []);
}

#[test]
fn paths_that_lead_nowhere_are_told() {
    let (folder, path) = folder();
    let no_folder = folder.path().join("missing/ktrial.db");
    for result in [
        Db::open(&no_folder),
        Db::open(folder.path()),
        Db::open_read_only(&path),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::CannotOpen { .. }), "{error}");
    }
    assert!(!path.exists());
    assert!(matches!(Db::open(Path::new("")), Err(Error::Path { .. })));
}

/// What is seen of a file that was damaged: findings or a clear error, no panic.
fn seen(path: &Path, bytes: &[u8]) -> Seen {
    fs::write(path, bytes).unwrap();
    let findings = Db::open(path).and_then(|db| {
        let _ = read_all(&db);
        db.check()
    });
    match findings {
        Ok(findings) if findings.is_empty() => Seen::Nothing,
        Ok(_) => Seen::Findings,
        Err(
            Error::NotADatabase { .. }
            | Error::NotOurs { .. }
            | Error::Newer { .. }
            | Error::Damaged(_),
        ) => Seen::Error,
        Err(error) => panic!("not a clear error: {error:?}"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Seen {
    Nothing,
    Findings,
    Error,
}

#[test]
fn a_damaged_page_is_found_wherever_it_is() {
    let (_folder, path) = folder();
    filled(&path, 60);
    let whole = fs::read(&path).unwrap();
    let pages: Vec<_> = (0..whole.len() / 4096)
        .map(|page| {
            let mut damaged = whole.clone();
            damaged[page * 4096..(page + 1) * 4096].fill(0xA5);
            seen(&path, &damaged)
        })
        .collect();
    assert!(!pages.contains(&Seen::Nothing), "{pages:?}");
    // Only the pages of the schema, the first among them, keep it from being opened.
    let opened = pages.iter().filter(|&&seen| seen == Seen::Findings).count();
    assert!(opened + 8 > pages.len() && opened > 30, "{pages:?}");
}

#[test]
fn flipped_bytes_are_found_where_they_change_what_was_measured() {
    let (_folder, path) = folder();
    let begun = filled(&path, 20);
    let whole = fs::read(&path).unwrap();
    let measured = |db: Db| Ok((db.boots(begun.trial)?, db.samples(begun.trial)?));
    let good = Db::open(&path).and_then(measured).unwrap();
    let mut counts = [0, 0];
    for index in (0..whole.len()).step_by(whole.len() / 500) {
        let mut damaged = whole.clone();
        for byte in damaged.iter_mut().skip(index).take(3) {
            *byte ^= 0xFF;
        }
        let seen = seen(&path, &damaged);
        let same = Db::open(&path)
            .and_then(measured)
            .is_ok_and(|measured| measured == good);
        assert!(same || seen != Seen::Nothing, "bytes at {index}");
        counts[usize::from(same)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn a_file_that_was_cut_is_found() {
    let (_folder, path) = folder();
    filled(&path, 20);
    let whole = fs::read(&path).unwrap();
    for length in (100..whole.len()).step_by(whole.len() / 20) {
        assert_ne!(
            seen(&path, &whole[..length]),
            Seen::Nothing,
            "{length} bytes"
        );
    }
}
