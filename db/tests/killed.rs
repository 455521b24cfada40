//! A process that dies while it writes loses nothing it was told is stored.

#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are tests, too

mod fixture;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fixture::*;
use ktrial_db::*;

const PATH: &str = "KTRIAL_DB_TEST_PATH";
const ROUNDS: u32 = 100_000;

/// Writes boots until it is killed; says so after each. Only the test below runs it.
#[test]
#[ignore = "is the process that gets killed"]
fn writer() {
    let Some(path) = std::env::var_os(PATH) else {
        return;
    };
    let mut db = Db::open(Path::new(&path)).unwrap();
    let begun = begin(&mut db, ROUNDS);
    let done = db.boots(begun.trial).unwrap().len() as u32;
    for round in done..ROUNDS {
        let mut new = boot(&begun, round);
        // Enough that a boot is many pages, some of them being written at the kill.
        new.samples.extend((1..200).map(|iteration| NewSample {
            cell: begun.rate,
            iteration,
            warmup: false,
            value: Value::Ok(f64::from(iteration) / 3.0),
        }));
        db.record_boot(&new).unwrap();
        // Not println!, which the test harness would catch.
        let mut out = std::io::stdout().lock();
        writeln!(out, "stored {round}").unwrap();
        out.flush().unwrap();
    }
}

/// Runs the writer, kills it after `delay`, and counts the boots it said it stored.
fn killed_after(path: &Path, delay: Duration) -> usize {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writer", "--ignored", "--nocapture"])
        .env(PATH, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = child.stdout.take().unwrap();
    std::thread::sleep(delay);
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    let lines = BufReader::new(out).lines().map(|line| line.unwrap());
    // The harness's own "test writer ... " may stand before the first.
    lines.filter(|line| line.contains("stored ")).count()
}

#[test]
fn no_boot_is_lost_or_stored_in_part_by_kill_9() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("ktrial.db");
    let (mut told, mut stored) = (0, 0);
    for kill in 0..20 {
        // Spread over 3 to 400 ms, so that opening and making it are hit as well.
        let delay = Duration::from_micros(3_000 + (kill * 7_919_777) % 397_000);
        let said = killed_after(&path, delay);
        let db = Db::open(&path).unwrap();
        assert_eq!(db.check().unwrap(), [], "kill {kill} after {delay:?}");
        let now = match db.latest_trial().unwrap() {
            Some(trial) => db.boots(trial).unwrap().len(),
            None => 0,
        };
        // One may have been stored that the writer had no time to tell.
        let new = now - stored;
        assert!(
            new == said || new == said + 1,
            "kill {kill}: {new} stored, {said} told"
        );
        told += said;
        stored = now;
    }
    assert!(
        told > 20,
        "the writer only told of {told} boots: nothing was tested"
    );
    assert_eq!(Db::open(&path).unwrap().trials().unwrap().len(), 1);
}

#[test]
fn after_a_power_cut_the_boots_are_a_beginning_of_those_written() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("ktrial.db");
    let mut db = Db::open(&path).unwrap();
    let begun = begin(&mut db, 20);
    boot_all(&mut db, &begun, 20);
    // A cut leaves the log torn somewhere after the last commit that was synced.
    let wal = folder.path().join("ktrial.db-wal");
    let (file, log) = (fs::read(&path).unwrap(), fs::read(&wal).unwrap());
    let after = folder.path().join("after.db");
    let mut counts = Vec::new();
    for length in (0..=log.len()).step_by(log.len() / 97) {
        let _ = fs::remove_file(folder.path().join("after.db-shm"));
        fs::write(&after, &file).unwrap();
        fs::write(folder.path().join("after.db-wal"), &log[..length]).unwrap();
        let db = Db::open(&after).unwrap();
        assert_eq!(db.check().unwrap(), [], "{length} bytes of the log");
        counts.push(db.boots(begun.trial).unwrap().len());
    }
    assert!(counts.is_sorted(), "{counts:?}");
    assert!(
        counts.first() == Some(&0) && counts.last() >= Some(&39),
        "{counts:?}"
    );
}
