//! What all tests of guests need: a base kernel, a launch, a command and what it said.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ktrial::guest::{Guest, Shape};
use ktrial::home::Home;
use ktrial::kernel::{Builder, Config, Kernel, Toolchain};
use ktrial::machine::places::Places;
use ktrial::progress::Progress;
use ktrial::tree::Tree;
use ktrial::trial::Run;
use ktrial::vm::{self, Boot, Clock, Counter, Launch};

pub const KTRIAL: &str = env!("CARGO_BIN_EXE_ktrial");

pub fn source() -> PathBuf {
    let tree = std::env::var_os("KTRIAL_TEST_TREE").expect("run these by ./test");
    PathBuf::from(tree)
}

pub fn home() -> Home {
    Home::open().unwrap()
}

pub fn fault_patch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../patches/tests/data/faults")
        .join(name)
}

/// `ktrial trial` with everything small; the caller adds what it is about.
pub fn trial(series: &Path, more: &[&str]) -> Command {
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

pub fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs the command and checks exit code and words; returns what it said.
pub fn expect(mut command: Command, code: i32, words: &[&str]) -> String {
    let output = command.output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for word in words {
        assert!(said.contains(word), "no {word:?} in:\n{said}");
    }
    said
}

pub fn base_kernel(home: &Home) -> Kernel {
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
pub const BOTH: [&str; 2] = [
    "exec:processes=2",
    "fd-churn:fds=20000,threads=2,touch=4096",
];

/// What starts these workloads, three iterations of each.
pub fn launch(
    home: &Home,
    kernel: &Kernel,
    workloads: &[&str],
    clock: Clock,
    cpus: u32,
    seed: u64,
) -> Launch {
    let programs = ktrial::guest::Programs::build(home).unwrap();
    let shape = Shape::plain(cpus, 512).unwrap();
    let guest = Guest {
        shape: &shape,
        pins: None,
        clock,
        programs: &programs,
    };
    let jobs: Vec<_> = workloads
        .iter()
        .map(|text| {
            let run = Run::parse(text, 100, 2).unwrap();
            let places = Places::of(&shape.located());
            run.job(&run.settings, 7, &places).unwrap()
        })
        .collect();
    guest.launch(kernel.image(), &jobs, seed).unwrap()
}

pub fn boot(home: &Home, kernel: &Kernel, cpus: u32, seed: u64) -> Boot {
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
pub fn plugin(home: &Home) -> Option<PathBuf> {
    match vm::counter::plugin(&vm::version(home).unwrap()) {
        Err(fault) if fault.what.contains("plugin interface") => None,
        found => Some(found.unwrap()),
    }
}

/// Guests that run out of the shared cache.
pub fn guests() -> usize {
    let pattern = format!("qemu-system.*{}", home().cache_root().display());
    let output = Command::new("pgrep")
        .args(["-fc", &pattern])
        .output()
        .unwrap();
    let count = String::from_utf8_lossy(&output.stdout);
    count.trim().parse().unwrap()
}

pub fn shared_cache(folder: &Path) -> PathBuf {
    let cache = folder.join("cache");
    std::fs::create_dir_all(&cache).unwrap();
    let link = cache.join("ktrial");
    if !link.exists() {
        std::os::unix::fs::symlink(home().cache_root(), &link).unwrap();
    }
    cache
}
