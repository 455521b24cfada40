#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

//! On made-up trees; the values are those that the kernel's documents give for each file.

mod killed;
mod restored;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Change, plan, render};
use crate::machine::files::Files;

const POLICY: &str = "sys/devices/system/cpu/cpufreq/policy0";
const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
const NUMA: &str = "proc/sys/kernel/numa_balancing";
const WATCHDOG: &str = "proc/sys/kernel/nmi_watchdog";
const KSM: &str = "sys/kernel/mm/ksm/run";

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A laptop as it comes: everything is as noisy as can be.
fn noisy(root: &Path) -> Files {
    for (name, value) in [
        ("scaling_governor", "powersave"),
        ("scaling_available_governors", "performance powersave"),
        ("scaling_driver", "intel_pstate"),
        ("energy_performance_preference", "balance_performance"),
        (
            "energy_performance_available_preferences",
            "default performance balance_performance balance_power power",
        ),
    ] {
        put(root, &format!("{POLICY}/{name}"), &format!("{value}\n"));
    }
    put(root, NO_TURBO, "0\n");
    for (state, name) in [(0, "POLL"), (1, "C1"), (2, "C6"), (3, "C10")] {
        let folder = format!("sys/devices/system/cpu/cpu0/cpuidle/state{state}");
        put(root, &format!("{folder}/name"), &format!("{name}\n"));
        put(root, &format!("{folder}/disable"), "0\n");
    }
    for path in [NUMA, WATCHDOG, KSM] {
        put(root, path, "1\n");
    }
    put(
        root,
        "sys/kernel/mm/transparent_hugepage/enabled",
        "[always] madvise never\n",
    );
    put(root, "proc/sys/kernel/randomize_va_space", "2\n");
    put(
        root,
        "proc/sys/kernel/perf_event_max_sample_rate",
        "100000\n",
    );
    put(
        root,
        "proc/sys/kernel/random/boot_id",
        "11111111-2222-3333-4444-555555555555\n",
    );
    Files::at(root)
}

/// The values of all files but the journal.
fn values(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("run/ktrial/tuned.json") {
                let text = fs::read_to_string(&path).unwrap();
                all.insert(path, text.trim().to_owned());
            }
        }
    }
    all
}

fn journal(root: &Path) -> PathBuf {
    root.join("run/ktrial/tuned.json")
}

#[test]
fn the_plan_is_what_is_noisy_and_has_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let files = noisy(folder.path());
    let before = values(folder.path());
    let expected = "\
energy preference: balance_performance -> performance
frequency governor: powersave -> performance
boost: 0 -> 1
idle state C6: 0 -> 1
idle state C10: 0 -> 1
NUMA balancing: 1 -> 0
NMI watchdog: 1 -> 0
KSM: 1 -> 0
";
    assert_eq!(render(&plan(&files)), expected);
    assert_eq!(values(folder.path()), before);
}

/// The generic switch of boost is 1 for on, that of intel_pstate 1 for off; a driver that has no
/// `performance` is left alone; KSM that only parts pages is.
#[test]
fn what_is_quiet_or_not_there_is_not_in_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let files = Files::at(root);
    assert!(plan(&files).is_empty());
    let boost = "sys/devices/system/cpu/cpufreq/boost";
    put(root, boost, "1\n");
    put(root, KSM, "2\n");
    put(root, WATCHDOG, "0\n");
    put(root, GOVERNOR, "powersave\n");
    put(
        root,
        &format!("{POLICY}/scaling_available_governors"),
        "powersave\n",
    );
    let expected = Change {
        name: "boost".into(),
        path: boost.into(),
        from: "1".into(),
        to: "0".into(),
    };
    assert_eq!(plan(&files), [expected]);
}
