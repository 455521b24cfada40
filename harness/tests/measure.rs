//! Measuring without a guest: boots of a machine as its `/proc` tells them, with real workloads on
//! this one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ktrial::fault::{At, Result};
use ktrial::guest::Shape;
use ktrial::home::Home;
use ktrial::machine::files::Files;
use ktrial::progress::Progress;
use ktrial::trial::bare::{self, Wanted};
use ktrial::trial::{Plan, Run, plan};
use ktrial::verdict;
use ktrial::vm::Clock;
use ktrial_db::{Db, TrialId};
use tempfile::TempDir;

/// A machine that is booted again and again.
struct Machine {
    folder: TempDir,
    db: Db,
}

impl Machine {
    fn new() -> Machine {
        let folder = TempDir::new().unwrap();
        let db = Db::open(&folder.path().join("ktrial.db")).unwrap();
        Machine { folder, db }
    }

    fn boots(&self, kernel: &str, id: &str) {
        let proc = self.folder.path().join("proc");
        fs::create_dir_all(proc.join("sys/kernel/random")).unwrap();
        let write = |path: &str, text: String| fs::write(proc.join(path), text).unwrap();
        write("sys/kernel/random/boot_id", format!("{id}\n"));
        write("sys/kernel/osrelease", format!("{kernel}\n"));
        let built = "(root@build) (gcc (Debian 12.2.0-14) 12.2.0, GNU ld 2.40) #1 SMP";
        write("version", format!("Linux version {kernel} {built}\n"));
    }

    fn measures(&mut self, variant: &str, duration_ms: u64) -> Result<TrialId> {
        let run = Run::parse("exec", duration_ms, 1)?;
        let home = Home::at(&cache(self.folder.path()))?;
        let wanted = Wanted {
            name: "two kernels".into(),
            variant: variant.into(),
            plan: Plan {
                variants: Vec::new(),
                runs: vec![run],
                looks: plan::looks(Clock::Real, 2, 24),
                margin: 0.01,
                margins: BTreeMap::new(),
                clock: Clock::Real,
                shape: Shape::plain(2, 1024)?,
                count: false,
                watch: Vec::new(),
                aa: false,
                programs: String::new(),
                claims: Vec::new(),
            },
            command_line: "ktrial measure".into(),
        };
        let files = Files::at(self.folder.path());
        let progress = Progress::new(true);
        bare::measure(&home, &mut self.db, wanted, &files, &progress)
    }
}

fn cache(folder: &Path) -> std::path::PathBuf {
    folder.join("home")
}

/// The fourth boot of each is the first that is judged.
#[test]
fn boots_of_two_kernels_are_one_trial_and_are_judged() {
    let mut machine = Machine::new();
    let mut id = None;
    for boot in 0..4 {
        for kernel in ["6.1.5", "6.1.5-patched"] {
            machine.boots(kernel, &format!("{kernel}-{boot}"));
            id = Some(machine.measures(kernel, 15).unwrap());
        }
    }
    let id = id.unwrap();
    assert_eq!(id, TrialId(1));
    let trial = machine.db.trial(id).unwrap().unwrap();
    let names: Vec<&str> = trial.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["6.1.5", "6.1.5-patched"]);
    assert_eq!(
        (trial.clock.as_str(), trial.accelerator.as_str()),
        ("real", bare::BARE)
    );
    let boots = machine.db.boots(id).unwrap();
    let counted: Vec<(i64, u32)> = boots
        .iter()
        .filter(|boot| boot.outcome == "ok")
        .map(|boot| (boot.variant.0, boot.round))
        .collect();
    assert_eq!(counted.len(), 8);
    // Other tests run beside this one: what they disturb is kept, and counts only the second time.
    assert!(
        boots
            .iter()
            .all(|boot| ["ok", "disturbed"].contains(&boot.outcome.as_str()))
    );
    let verdicts = verdict::judge(&mut machine.db, id).unwrap();
    let cells = machine.db.cells(id).unwrap();
    let (rate, _) = cells
        .iter()
        .find(|(_, cell)| cell.metric == "rate")
        .unwrap();
    let verdict = verdicts
        .iter()
        .find(|verdict| verdict.cell == *rate)
        .unwrap();
    assert_eq!((verdict.boots_base, verdict.boots_variant), (4, 4));
    assert!(
        verdict
            .ratio
            .is_some_and(|ratio| ratio > 0.05 && ratio < 20.0)
    );
    assert_eq!(machine.db.check().unwrap(), []);
}

#[test]
fn a_boot_counts_once_and_a_name_is_one_kernel() {
    let mut machine = Machine::new();
    machine.boots("6.1.5", "first");
    let id = machine.measures("base", 15).unwrap();
    let again = machine.measures("base", 15).unwrap_err();
    assert_eq!(again.at, At::User);
    assert!(
        again
            .what
            .contains("already in trial 1 (two kernels), as boot 1 of base"),
        "{again}"
    );
    // Nor under another name.
    assert!(
        machine
            .measures("patched", 15)
            .unwrap_err()
            .what
            .contains("already in trial 1")
    );
    machine.boots("6.1.6", "second");
    let other = machine.measures("base", 15).unwrap_err();
    assert!(
        other
            .what
            .contains("base is 6.1.5 in trial 1, and this is 6.1.6"),
        "{other}"
    );
    // With other options it is another trial.
    assert_ne!(machine.measures("base", 20).unwrap(), id);
    assert_eq!(machine.db.check().unwrap(), []);
}

/// The agent and the workload each are a group of their own, which a guard and their parents' end take
/// with them.
#[test]
fn a_measurement_that_is_killed_leaves_nothing_running() {
    let folder = TempDir::new().unwrap();
    let mut ktrial = Command::new(env!("CARGO_BIN_EXE_ktrial"))
        .args([
            "measure",
            "--look",
            "-w",
            "unmap:threads=2",
            "--duration",
            "60000",
        ])
        .env("KTRIAL_HOME", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pattern = format!("{}/cache/run/bare-.*/unmap", folder.path().display());
    let running = || {
        Command::new("pgrep")
            .args(["-f", &pattern])
            .output()
            .unwrap()
            .status
            .success()
    };
    let wait = |wanted: bool| {
        let start = Instant::now();
        while running() != wanted {
            assert!(
                start.elapsed() < Duration::from_secs(120),
                "still {}",
                !wanted
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait(true);
    ktrial.kill().unwrap();
    ktrial.wait().unwrap();
    wait(false);
}

#[test]
fn a_system_that_does_not_tell_its_boots_apart_is_not_measured() {
    let mut machine = Machine::new();
    let fault = machine.measures("base", 15).unwrap_err();
    assert_eq!(fault.at, At::Host);
    assert!(fault.what.contains("boot_id"), "{fault}");
}
