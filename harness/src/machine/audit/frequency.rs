//! How fast the processors run, and what makes that change: governors, boost, idle states, heat,
//! batteries.

use std::collections::{BTreeMap, BTreeSet};

use super::super::files::Files;
use super::super::text::ranges;
use super::{Check, Host, Seen};

const CPUS: &str = "sys/devices/system/cpu";
const POLICIES: &str = "sys/devices/system/cpu/cpufreq";

pub(super) const CHECKS: [Check; 5] = [
    Check {
        name: "frequency governor",
        lasting: true,
        effect: "the clock follows the load, so short work runs slower than long work, and the first \
                 work slower than the rest",
        look: governor,
    },
    Check {
        name: "boost",
        lasting: true,
        effect: "the clock follows heat and the number of busy cores: the same work differs by what \
                 else runs, and by what ran before",
        look: boost,
    },
    Check {
        name: "idle states",
        lasting: true,
        effect: "waking costs up to the time that is said, so waits and hand-overs take longer, by \
                 how long was slept",
        look: idle_states,
    },
    Check {
        name: "throttling by heat",
        lasting: false,
        effect: "a processor that got too hot ran slower than it says",
        look: throttling,
    },
    Check {
        name: "power supply",
        lasting: false,
        effect: "on battery the processor may be slowed at any time",
        look: power_supply,
    },
];

/// The policies of the frequency driver, each with its files' folder.
fn policies(files: &Files) -> Vec<String> {
    let names = files.names(POLICIES);
    names
        .into_iter()
        .filter(|name| name.starts_with("policy"))
        .map(|name| format!("{POLICIES}/{name}"))
        .collect()
}

/// `performance` holds the highest clock. So does `powersave` the lowest, but where the driver picks
/// clocks by itself (`Documentation/admin-guide/pm/intel_pstate.rst`: it is "not a counterpart of
/// the generic powersave governor"). LKP (`programs/cpufreq_governor`), MMTests and pyperf set
/// `performance`.
fn governor(host: &Host) -> Seen {
    let mut by_governor: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
    for policy in policies(host.files) {
        let value = |name: &str| host.files.value(&format!("{policy}/{name}"));
        let Some(governor) = value("scaling_governor") else {
            continue;
        };
        let driver = value("scaling_driver").unwrap_or_else(|| "no driver named".into());
        let cpus = value("affected_cpus").unwrap_or_default();
        let cpus = cpus
            .split_whitespace()
            .filter_map(|cpu| cpu.parse::<u32>().ok());
        by_governor
            .entry((governor, driver))
            .or_default()
            .extend(cpus);
    }
    if by_governor.is_empty() {
        return Seen::absent(&format!("{POLICIES}/policy*/scaling_governor"));
    }
    let found = by_governor.iter_mut().map(|((governor, driver), cpus)| {
        cpus.sort_unstable();
        format!("{governor} ({driver}) on CPUs {}", ranges(cpus))
    });
    let found = found.collect::<Vec<_>>().join("; ");
    let all = |holds: fn(&str, &str) -> bool| by_governor.keys().all(|(g, d)| holds(g, d));
    let known = |governor: &str, _: &str| {
        matches!(
            governor,
            "performance" | "powersave" | "ondemand" | "conservative" | "schedutil"
        )
    };
    if all(holds_still) {
        Seen::quiet(found)
    } else if all(known) {
        Seen::noisy(found).mended_by(format!(
            "echo performance | tee /{POLICIES}/policy*/scaling_governor"
        ))
    } else {
        // `userspace` holds what a program sets, and the program is not known.
        Seen::unknown(found)
    }
}

fn holds_still(governor: &str, driver: &str) -> bool {
    let picks_by_itself = matches!(driver, "intel_pstate" | "amd-pstate-epp" | "amd_pstate_epp");
    governor == "performance" || governor == "powersave" && !picks_by_itself
}

/// pyperf and MMTests turn it off; so does FreeBSD's BenchmarkAdvice. Values:
/// `Documentation/admin-guide/pm/intel_pstate.rst` (`no_turbo`), `cpufreq.rst` (`boost`), and
/// `amd-pstate.rst` (`boost` of each policy).
fn boost(host: &Host) -> Seen {
    let mut switches = vec![
        (format!("{CPUS}/intel_pstate/no_turbo"), "1", "0"),
        (format!("{POLICIES}/boost"), "0", "1"),
    ];
    let of_policies = policies(host.files).into_iter();
    switches.extend(of_policies.map(|policy| (format!("{policy}/boost"), "0", "1")));
    let mut seen = None;
    for (path, off, on) in switches {
        match host.files.value(&path) {
            None => continue,
            Some(value) if value == on => {
                return Seen::noisy("on").mended_by(format!("echo {off} > /{path}"));
            }
            Some(value) if value == off => seen = seen.or(Some(Seen::quiet("off"))),
            Some(value) => return Seen::unknown(format!("{value} in /{path}")),
        }
    }
    seen.unwrap_or_else(|| Seen::absent(&format!("{CPUS}/intel_pstate/no_turbo or cpufreq/boost")))
}

/// States from which a processor wakes at once: polling, halting, and the C1 kind. The names are
/// those of intel_idle, ACPI, the haltpoll driver, ARM and POWER.
fn wakes_at_once(name: &str) -> bool {
    let first = name.strip_prefix("C1");
    let first = first.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    first || matches!(name, "POLL" | "WFI" | "haltpoll" | "snooze")
}

/// A state that takes a while to wake from, of one processor, in use or not.
pub(in crate::machine) struct IdleState {
    /// As its driver calls it: `C6`.
    pub name: String,
    /// The file that takes it out of use with 1.
    pub disable: String,
    cpu: u32,
    /// `2`, of `state2`.
    number: String,
    /// In microseconds.
    latency: u64,
}

/// All deep idle states, and whether the processors have idle states at all.
fn deep(files: &Files) -> (Vec<IdleState>, bool) {
    let (mut deep, mut any) = (Vec::new(), false);
    for (cpu, folder) in cpus(files) {
        for state in files.names(&format!("{folder}/cpuidle")) {
            let path = |name: &str| format!("{folder}/cpuidle/{state}/{name}");
            let Some(name) = files.value(&path("name")) else {
                continue;
            };
            any = true;
            if !wakes_at_once(&name) {
                let latency = files.value(&path("latency"));
                deep.push(IdleState {
                    name,
                    disable: path("disable"),
                    cpu,
                    number: state.trim_start_matches("state").to_owned(),
                    latency: latency.and_then(|us| us.parse().ok()).unwrap_or(0),
                });
            }
        }
    }
    (deep, any)
}

/// The deep idle states of all processors.
pub(in crate::machine) fn deep_idle_states(files: &Files) -> Vec<IdleState> {
    deep(files).0
}

/// `Documentation/admin-guide/pm/cpuidle.rst`: `latency` is in microseconds, `disable` 1 takes a
/// state out of use. FreeBSD's BenchmarkAdvice, pyperf (`processor.max_cstate`) and MMTests
/// (`set-cstate-latency.pl`) keep processors from deep ones.
fn idle_states(host: &Host) -> Seen {
    let (mut states, any) = deep(host.files);
    if !any {
        let driver = host.files.value(&format!("{CPUS}/cpuidle/current_driver"));
        let mut seen = Seen::absent(&format!("{CPUS}/cpu*/cpuidle/state*"));
        if let Some(driver) = driver {
            seen.found = format!("no idle states, driver {driver}");
        }
        return seen;
    }
    states.retain(|state| {
        host.files
            .value(&state.disable)
            .is_none_or(|value| value == "0")
    });
    if states.is_empty() {
        return Seen::quiet("none deeper than C1 in use");
    }
    let longest = states.iter().map(|state| state.latency).max().unwrap_or(0);
    let mut cpus: Vec<u32> = states.iter().map(|state| state.cpu).collect();
    cpus.dedup();
    let words = |word: fn(&IdleState) -> &str| {
        let all: BTreeSet<&str> = states.iter().map(word).collect();
        all.into_iter().collect::<Vec<_>>()
    };
    let (names, numbers) = (words(|state| &state.name), words(|state| &state.number));
    Seen::noisy(format!(
        "{} in use, up to {longest} µs to wake, on CPUs {}",
        names.join(", "),
        ranges(&cpus)
    ))
    .mended_by(format!(
        "for n in {}; do echo 1 | tee /{CPUS}/cpu*/cpuidle/state$n/disable; done",
        numbers.join(" ")
    ))
}

/// The folders of the processors that are there, by number.
pub(super) fn cpus(files: &Files) -> Vec<(u32, String)> {
    let names = files.names(CPUS).into_iter();
    names
        .filter_map(|name| {
            let number = name.strip_prefix("cpu")?.parse().ok()?;
            Some((number, format!("{CPUS}/{name}")))
        })
        .collect()
}

/// The counters of x86 (`arch/x86/kernel/cpu/mce/therm_throt.c`) run since boot.
fn throttling(host: &Host) -> Seen {
    let mut counts: Vec<(u32, i64)> = Vec::new();
    for (cpu, folder) in cpus(host.files) {
        for name in ["core_throttle_count", "package_throttle_count"] {
            let path = format!("{folder}/thermal_throttle/{name}");
            match host.files.value(&path).map(|value| value.parse()) {
                None => {}
                Some(Ok(count)) => counts.push((cpu, count)),
                Some(Err(_)) => return Seen::unknown(format!("no number in /{path}")),
            }
        }
    }
    let mut hot = counts.iter().filter(|(_, count)| *count > 0).peekable();
    if counts.is_empty() {
        Seen::absent(&format!("{CPUS}/cpu*/thermal_throttle"))
    } else if hot.peek().is_none() {
        Seen::quiet("never since boot")
    } else {
        let most = hot.clone().map(|(_, count)| *count).max().unwrap_or(0);
        let mut cpus: Vec<u32> = hot.map(|(cpu, _)| *cpu).collect();
        cpus.dedup();
        Seen::noisy(format!(
            "up to {most} times since boot, on CPUs {}",
            ranges(&cpus)
        ))
    }
}

/// A check of pyperf. `Documentation/ABI/testing/sysfs-class-power`: `type` is `Mains` or `Battery`
/// among others, `online` 1 or 2 says that it gives power.
fn power_supply(host: &Host) -> Seen {
    const FOLDER: &str = "sys/class/power_supply";
    let names = host.files.names(FOLDER);
    let value = |name: &str, fact: &str| host.files.value(&format!("{FOLDER}/{name}/{fact}"));
    let mains = names.iter().filter_map(|name| {
        let is_mains = value(name, "type")? == "Mains";
        is_mains.then(|| value(name, "online"))
    });
    let mains: Vec<Option<String>> = mains.collect();
    let is = |wanted: &[&str]| {
        let mut known = mains.iter().flatten();
        known.any(|online| wanted.contains(&online.as_str()))
    };
    if mains.is_empty() {
        Seen::absent(&format!("{FOLDER}/*/online"))
    } else if is(&["1", "2"]) {
        Seen::quiet("mains")
    } else if is(&["0"]) {
        Seen::noisy("unplugged")
    } else {
        Seen::unknown("a power supply that does not say whether it is plugged in")
    }
}
