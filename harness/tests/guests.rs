//! Real kernels: built from source, booted, repeated, broken, killed. Run by `./test`, which sets
//! `KTRIAL_HOME` (a cache shared by all tests, so that each kernel is built once) and
//! `KTRIAL_TEST_TREE` (a Linux 6.1 source).

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use ktrial::counters::instructions;
use ktrial::guest::{Guest, Shape};
use ktrial::home::Home;
use ktrial::kernel::{Builder, Config, Kernel, Toolchain};
use ktrial::progress::Progress;
use ktrial::tree::Tree;
use ktrial::trial::Run;
use ktrial::vm::frames::Frame;
use ktrial::vm::{self, Boot, Clock, Counter, Ending, Launch};
use ktrial::workload;

const KTRIAL: &str = env!("CARGO_BIN_EXE_ktrial");

fn source() -> PathBuf {
    let tree = std::env::var_os("KTRIAL_TEST_TREE").expect("run these by ./test");
    PathBuf::from(tree)
}

fn home() -> Home {
    Home::open().unwrap()
}

fn fault_patch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../patches/tests/data/faults")
        .join(name)
}

/// `ktrial trial` with everything small; the caller adds what it is about.
fn trial(series: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(KTRIAL);
    command
        .arg("trial")
        .arg(series)
        .arg("--tree")
        .arg(source())
        .args([
            "--clock",
            "virtual",
            "--duration",
            "50",
            "--iterations",
            "1",
        ])
        .args(more)
        .stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs the command and checks exit code and words; returns what it said.
fn expect(mut command: Command, code: i32, words: &[&str]) -> String {
    let output = command.output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for word in words {
        assert!(said.contains(word), "no {word:?} in:\n{said}");
    }
    said
}

fn base_kernel(home: &Home) -> Kernel {
    let tree = Tree::open(home, &source(), None).unwrap();
    let applied = ktrial_patches::apply::apply(&tree.repository, tree.base, &[]).unwrap();
    let builder = Builder {
        home,
        tree: &tree,
        config: &Config::with(None).unwrap(),
        toolchain: &Toolchain::find(home).unwrap(),
        jobs: ktrial::machine::cpus(),
        progress: &Progress::new(false),
    };
    builder.build("base", &applied).unwrap()
}

/// `exec` and then `fd-churn`.
const BOTH: [&str; 2] = [
    "exec:processes=2",
    "fd-churn:fds=20000,threads=2,touch=4096",
];

/// What starts these workloads, three iterations of each.
fn launch(
    home: &Home,
    kernel: &Kernel,
    workloads: &[&str],
    clock: Clock,
    cpus: u32,
    seed: u64,
) -> Launch {
    let programs = ktrial::guest::Programs::build(home).unwrap();
    let guest = Guest {
        shape: &Shape::plain(cpus, 512).unwrap(),
        pins: None,
        clock,
        programs: &programs,
    };
    let jobs: Vec<_> = workloads
        .iter()
        .map(|text| {
            let run = Run::parse(text, 100, 2).unwrap();
            let workload = workload::find(&run.workload).unwrap();
            workload.job(&run.settings, run.timing(), 7)
        })
        .collect();
    guest.launch(kernel.image(), &jobs, seed).unwrap()
}

fn boot(home: &Home, kernel: &Kernel, cpus: u32, seed: u64) -> Boot {
    let mut launch = launch(home, kernel, &BOTH, Clock::Virtual, cpus, seed);
    launch.counter = plugin(home).map(|plugin| Counter {
        plugin,
        symbols: kernel.symbols(),
        exact: false,
    });
    let folder = tempfile::tempdir().unwrap();
    vm::boot(&launch, folder.path(), home.cache_root(), &mut |_| ()).unwrap()
}

/// What counts instructions; none where QEMU is too old for it, which is refused (tested in
/// vm/counter.rs).
fn plugin(home: &Home) -> Option<PathBuf> {
    match vm::counter::plugin(&vm::version(home).unwrap()) {
        Err(fault) if fault.what.contains("plugin interface") => None,
        found => Some(found.unwrap()),
    }
}

/// Guests that run out of the shared cache.
fn guests() -> usize {
    let pattern = format!("qemu-system.*{}", home().cache_root().display());
    let output = Command::new("pgrep")
        .args(["-fc", &pattern])
        .output()
        .unwrap();
    let count = String::from_utf8_lossy(&output.stdout);
    count.trim().parse().unwrap()
}

#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn the_same_seed_repeats_to_the_digit_and_instruction_and_another_one_does_not() {
    let home = home();
    let kernel = base_kernel(&home);
    // A QEMU that starves the second vCPU is refused (tested in vm/version.rs).
    let qemu = vm::version(&home).unwrap();
    let turns = vm::check_turns(&qemu, Clock::Virtual, 2);
    for cpus in if turns.is_ok() { 1..=2 } else { 1..=1 } {
        let first = boot(&home, &kernel, cpus, 11);
        assert_eq!(first.ending, Ending::Complete, "{}", first.last_words);
        let second = boot(&home, &kernel, cpus, 11);
        let bytes = |boot: &Boot| String::from_utf8_lossy(&boot.results).into_owned();
        assert_eq!(bytes(&first), bytes(&second), "{cpus} CPUs");
        let other = boot(&home, &kernel, cpus, 12);
        assert_ne!(bytes(&first), bytes(&other), "{cpus} CPUs");
        if plugin(&home).is_none() {
            continue;
        }
        // To the instruction, in every function.
        let counts = |boot: &Boot| String::from_utf8(boot.counts.clone().unwrap()).unwrap();
        let jobs = instructions::read(&counts(&first)).unwrap();
        assert_eq!(jobs.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
        assert!(
            jobs[1][2].functions.contains_key("__sys_socket"),
            "{:?}",
            jobs[1]
        );
        assert!(
            counts(&first) == counts(&second),
            "{cpus} CPUs: other counts"
        );
    }
}

/// Two threads keep two vCPUs busy for 100 ms in each iteration, but for what this machine takes
/// from them; what is not virtual time is about the wall's.
#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn the_threads_of_an_emulated_guest_are_counted_in_each_of_its_iterations() {
    let home = home();
    let kernel = base_kernel(&home);
    let launch = launch(&home, &kernel, &BOTH, Clock::Emulated, 2, 3);
    let folder = tempfile::tempdir().unwrap();
    let boot = vm::boot(&launch, folder.path(), home.cache_root(), &mut |_| ()).unwrap();
    assert_eq!(boot.ending, Ending::Complete, "{}", boot.last_words);
    let watched = boot.watched.unwrap();
    assert_eq!(watched.broken, None);
    assert_eq!(watched.threads, "2 vCPUs on a thread each");
    let said = String::from_utf8_lossy(&boot.results);
    assert!(!said.contains("uncounted host"), "{said}");
    let iterations: Vec<usize> = watched.jobs.values().map(Vec::len).collect();
    assert_eq!(iterations, [3, 3]);
    assert!(watched.absent["host.cycles"].contains("guest mode"));
    if !watched.absent.contains_key("vcpu.task") {
        for churn in &watched.jobs[&1] {
            let task = churn["vcpu.task"].count / 1e6;
            // Less than 20 ms of 200 would be no guest that works, more than 1 s no iteration alone.
            assert!((20.0..1_000.0).contains(&task), "{task} ms");
            assert!(churn["vcpu.switches"].count >= 1.0);
        }
    }
    // In virtual time nobody answers.
    let quiet = self::boot(&home, &kernel, 1, 3);
    assert!(quiet.watched.is_none());
}

#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn a_loop_of_known_length_is_found_in_its_function_to_one_per_cent() {
    let churn = [
        "--deterministic",
        "--rounds-max",
        "5",
        "-w",
        "fd-churn:fds=2000,touch=0",
    ];
    let series = fault_patch("known-loop.patch");
    if plugin(&home()).is_none() {
        expect(trial(&series, &churn), 6, &["plugin interface"]);
        return;
    }
    let said = expect(trial(&series, &churn), 1, &["tcg.all insn/op", "REGRESSED"]);
    // The first line of the table is the sum, the next what costs most: base, patched, cost, ±, name.
    let table = said.split("instructions an operation\n").nth(1).unwrap();
    let dearest: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(dearest[4], "ktrial_known_loop", "{said}");
    let cost: f64 = dearest[2].parse().unwrap();
    // 9,999 and the return.
    assert!((9_900.0..10_100.0).contains(&cost), "{said}");
}

/// The catalogue's patch takes an index out, so that a bitmap of all descriptors is searched.
#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn a_profile_puts_the_search_of_the_bitmap_first_and_locks_are_looked_at() {
    let watched = [
        "--rounds",
        "1",
        "--profile",
        "--locks",
        "-w",
        "fd-churn:touch=0",
        "-w",
        "exec:processes=2",
    ];
    let series = Path::new("linux-fd-linear-scan");
    expect(trial(series, &watched), 3, &["watched boots"]);
    let mut profile = Command::new(KTRIAL);
    profile.arg("profile");
    let said = expect(
        profile,
        0,
        &["samples by cpu-clock", "lock:contention_begin"],
    );
    let table = said.split("samples by cpu-clock\n").nth(1).unwrap();
    // What is said of the samples, the heads, all functions together, and then the dearest.
    let dearest = table.lines().nth(3).unwrap();
    assert!(dearest.ends_with(" _find_next_zero_bit"), "{said}");
    let most: Vec<&str> = dearest.split_whitespace().collect();
    let share: f64 = most[2].parse().unwrap();
    assert!(share > 50.0, "{said}");
}

/// Two threads of one process on two vCPUs: each has to tell the other to drop what it unmapped.
#[test]
#[ignore = "boots real kernels; ./test runs it"]
fn unmapping_on_several_vcpus_takes_shootdowns_and_on_one_none() {
    let home = home();
    let kernel = base_kernel(&home);
    for cpus in [1, 2] {
        if vm::check_turns(&vm::version(&home).unwrap(), Clock::Virtual, cpus).is_err() {
            continue;
        }
        let launch = launch(&home, &kernel, &["unmap"], Clock::Virtual, cpus, 5);
        let folder = tempfile::tempdir().unwrap();
        let boot = vm::boot(&launch, folder.path(), home.cache_root(), &mut |_| ()).unwrap();
        assert_eq!(boot.ending, Ending::Complete, "{}", boot.last_words);
        let count = |name: &str| {
            let start = format!("count 1 {name} ");
            boot.frames.iter().find_map(|frame| match frame {
                Frame::Out { text, .. } => text.strip_prefix(&start)?.parse::<u64>().ok(),
                _ => None,
            })
        };
        let shootdowns = count("irq.tlb").unwrap();
        match cpus {
            1 => assert_eq!(shootdowns, 0),
            // 100 ms hold some 800 operations of 16 pages, most of them while the other thread runs.
            _ => assert!(shootdowns > 100, "{shootdowns}"),
        }
        assert!(count("vmstat.pgfault").unwrap() > 16 * 100);
    }
}

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

/// A folder in which `ktrial` leads to the shared cache.
fn shared_cache(folder: &Path) -> PathBuf {
    let cache = folder.join("cache");
    std::fs::create_dir_all(&cache).unwrap();
    let link = cache.join("ktrial");
    if !link.exists() {
        std::os::unix::fs::symlink(home().cache_root(), &link).unwrap();
    }
    cache
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
