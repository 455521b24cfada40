//! Trials that fail, each by somebody's fault, and trials that are killed, or have nothing to boot.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::lab::*;

#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn a_patch_that_does_not_apply_is_the_patchs_fault_and_shows_the_hunk() {
    let said = expect(
        trial(&fault_patch("does-not-apply.patch"), &["--rounds", "1"]),
        4,
        &[
            "the patch is at fault",
            "fs/file.c",
            "the patch expects",
            "the tree has",
            "next:",
        ],
    );
    assert!(!said.contains("building"), "{said}");
}

#[test]
#[ignore = "builds real kernels; ./test runs it"]
fn a_patch_that_does_not_compile_shows_the_compilers_line_and_names_the_patch() {
    expect(
        trial(&fault_patch("does-not-compile.patch"), &["--rounds", "1"]),
        5,
        &[
            "the kernel of patched does not build",
            "fs/file.c:",
            "error:",
            "does-not-compile.patch",
        ],
    );
}

#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn kernels_that_panic_or_hang_are_told_apart_within_the_deadline() {
    for (patch, word) in [
        ("panics-at-boot.patch", "panicked"),
        ("hangs-at-boot.patch", "hung at boot"),
        ("panics-under-workload.patch", "panicked"),
    ] {
        let start = Instant::now();
        let churn = ["--rounds", "1", "-w", "fd-churn:fds=200000,touch=0"];
        expect(
            trial(&fault_patch(patch), &churn),
            5,
            &["the guest of patched", word, "    ["],
        );
        // A build of one file, a good boot beside it, and the deadline of 120 s for the hang.
        assert!(start.elapsed() < Duration::from_secs(600), "{patch}");
        assert_eq!(guests(), 0, "{patch} left a guest running");
    }
}

#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn a_trial_killed_in_the_middle_of_a_boot_goes_on_and_counts_nothing_twice() {
    let state = tempfile::tempdir().unwrap();
    let database = state.path().join("ktrial/ktrial.db");
    let run = || {
        // Within 5 % it is settled at the first look, after four rounds.
        let options = [
            "--rounds-max",
            "6",
            "--margin",
            "5",
            "-w",
            "exec",
            "--seed",
            "5",
        ];
        let mut command = trial(Path::new("linux-control-same"), &options);
        // The cache is shared, the database is this test's own.
        command.env_remove("KTRIAL_HOME");
        command.env("XDG_CACHE_HOME", shared_cache(state.path()));
        command.env("XDG_STATE_HOME", state.path());
        command
    };
    let stored = || match ktrial_db::Db::open_read_only(&database) {
        Ok(db) => db.trials().unwrap().iter().map(|t| t.boots_ok).sum(),
        Err(_) => 0,
    };
    for killed_after in [1, 3] {
        let mut child = run()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        // A guest is always on its way while boots are missing.
        while stored() < killed_after || guests() == 0 {
            assert!(
                start.elapsed() < Duration::from_secs(600),
                "no boot was stored"
            );
            assert!(
                child.try_wait().unwrap().is_none(),
                "it ended before it was killed"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(guests(), 0, "a guest outlived ktrial");
    }
    let output = run().output().unwrap();
    let said = text(&output);
    assert!(said.contains("going on with trial 1"), "{said}");
    assert!(
        said.contains("exec processes=1 ends after 4 rounds"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(0), "{said}");
    let db = ktrial_db::Db::open(&database).unwrap();
    assert_eq!(db.check().unwrap(), []);
    let trials = db.trials().unwrap();
    assert_eq!(trials.len(), 1, "{said}");
    assert_eq!((trials[0].boots_ok, trials[0].boots_failed), (8, 0));
}

/// The catalogue's patch that moves no line, as a series with claims.
fn wording(folder: &Path) -> PathBuf {
    let patch = "0001-fs-file-say-which-descriptor-alloc_fd-takes.patch";
    let catalogue = Path::new(env!("CARGO_MANIFEST_DIR")).join("../patches/series");
    let series = folder.join("wording");
    std::fs::create_dir_all(&series).unwrap();
    std::fs::copy(
        catalogue.join("linux-control-wording").join(patch),
        series.join(patch),
    )
    .unwrap();
    let claim = |metric: &str, more: &str| {
        format!(
            "[[claim]]\nmetric = \"{metric}\"\nmachine = \"any\"\nchange = \"+5 %\"\n\
             quote = \"faster\"\nsource = \"this test\"\n{more}"
        )
    };
    let manifest = format!(
        "title = \"t\"\nsystem = \"linux\"\npatches = [\"{patch}\"]\n{}{}\
         [[workload]]\nname = \"exec\"\n",
        claim(
            "rate of exec",
            "test = { kind = \"change\", workload = \"exec\", metric = \"rate\" }\n"
        ),
        claim("wall time of a build", ""),
    );
    std::fs::write(series.join("series.toml"), manifest).unwrap();
    series
}

#[test]
#[ignore = "builds and boots real kernels; ./test runs it"]
fn a_comment_that_moves_no_line_is_the_base_to_the_bit_and_not_booted_unless_asked_for() {
    let state = tempfile::tempdir().unwrap();
    let series = wording(state.path());
    let ours = |mut command: Command| {
        command.env_remove("KTRIAL_HOME");
        command.env("XDG_CACHE_HOME", shared_cache(state.path()));
        command.env("XDG_STATE_HOME", state.path());
        command
    };
    let identical = "patched is bit-identical to base (sha256 ";
    let words = [
        identical,
        "): nothing to measure; --aa runs it anyway",
        "not testable here: rate of exec\n      claimed change +5 %; with this config patched is the \
         base to the bit",
        "not testable here: wall time of a build\n      claimed change +5 %; no workload of ktrial \
         measures it",
    ];
    expect(ours(trial(&series, &["--rounds", "12"])), 0, &words);
    let mut verdict = Command::new(KTRIAL);
    verdict.arg("verdict");
    let said = expect(ours(verdict), 0, &words);
    let database = state.path().join("ktrial/ktrial.db");
    let db = ktrial_db::Db::open(&database).unwrap();
    let line = &db.trials().unwrap()[0];
    assert_eq!(line.outcome.as_deref(), Some("complete"), "{said}");
    assert_eq!((line.boots_ok, line.left_out), (0, 2), "{said}");
    drop(db);

    let aa = ["--aa", "--rounds", "2", "-w", "exec"];
    let said = expect(ours(trial(&series, &aa)), 3, &["not settled: rate of exec"]);
    assert!(!said.contains(identical), "{said}");
    let db = ktrial_db::Db::open(&database).unwrap();
    assert_eq!(db.check().unwrap(), []);
    let latest = db
        .trial(db.latest_trial().unwrap().unwrap())
        .unwrap()
        .unwrap();
    let machine = db.machine(latest.machine).unwrap().unwrap();
    let found: Vec<_> = db
        .aa_trials(&machine.key)
        .unwrap()
        .iter()
        .map(|aa| aa.trial)
        .collect();
    assert_eq!(found, [latest.id]);
}

#[test]
#[ignore = "needs the shared cache; ./test runs it"]
fn a_missing_qemu_is_this_machines_fault_and_says_what_to_install() {
    let bin = tempfile::tempdir().unwrap();
    let mut command = trial(Path::new("linux-control-same"), &["--rounds", "1"]);
    command.env("PATH", bin.path());
    expect(
        command,
        6,
        &[
            "this machine is at fault",
            "qemu-system-x86_64",
            "ktrial doctor",
        ],
    );
}

#[test]
#[ignore = "mounts a small disk; ./test runs it"]
fn a_full_disk_is_this_machines_fault() {
    let disk = tempfile::tempdir().unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64m", "ktrial-test"])
        .arg(disk.path())
        .status()
        .unwrap();
    if !mount.success() {
        eprintln!("not tried: mounting needs root");
        return;
    }
    let mut command = trial(Path::new("linux-control-same"), &["--rounds", "1"]);
    command.env("KTRIAL_HOME", disk.path());
    let output = command.output().unwrap();
    Command::new("umount").arg(disk.path()).status().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("free"), "{said}");
}
