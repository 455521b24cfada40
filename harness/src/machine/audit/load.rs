//! Who else uses the machine, or may soon.

use std::collections::BTreeMap;

use super::processes::Process;
use super::{Check, Host, Seen};

/// A load that a machine without work has: a few daemons that wake now and then.
const IDLE_LOAD: f64 = 0.2;
/// Of all CPUs, so much work of others finds room beside a guest. ktrial's own choice.
const IDLE_SHARE: f64 = 0.05;
/// Of all time since boot; a percent of stolen time is a percent in the result. ktrial's own choice:
/// a tenth of the smallest margin that is usual.
const QUIET_STEAL: f64 = 0.001;

pub(super) const CHECKS: [Check; 6] = [
    Check {
        name: "load",
        lasting: false,
        effect: "other programs take CPU time and caches from the guests; the average of the last \
                 minute also holds what has just ended",
        look: load,
    },
    Check {
        name: "steal time",
        lasting: false,
        effect: "the hypervisor gave this machine's CPUs to others for that share of all time since \
                 boot",
        look: steal,
    },
    Check {
        name: "other guests",
        lasting: false,
        effect: "they take CPUs, caches and memory bandwidth whenever they like",
        look: guests,
    },
    Check {
        name: "background jobs",
        lasting: false,
        effect: "updates and indexing use CPUs and disk for minutes",
        look: jobs,
    },
    Check {
        name: "timers",
        lasting: false,
        effect: "what they start may fall into the trial; `systemctl list-timers` says when",
        look: timers,
    },
    Check {
        name: "irqbalance",
        lasting: true,
        effect: "it moves interrupts between CPUs, every ten seconds unless told otherwise: to \
                 measured ones too",
        look: irqbalance,
    },
];

/// proc_loadavg(5): the first number is the average of runnable and waiting threads over a minute.
fn load(host: &Host) -> Seen {
    const PATH: &str = "proc/loadavg";
    let Some(text) = host.files.value(PATH) else {
        return Seen::absent(PATH);
    };
    let Some(load) = text
        .split_whitespace()
        .next()
        .and_then(|first| first.parse::<f64>().ok())
    else {
        return Seen::unknown(format!("{text} in /{PATH}"));
    };
    let Some(cpus) = online(host) else {
        return Seen::unknown(format!("{load:.2}, on an unknown number of CPUs"));
    };
    let found = format!("{load:.2} on {cpus} CPUs");
    match load <= IDLE_LOAD.max(IDLE_SHARE * cpus as f64) {
        true => Seen::quiet(found),
        false => Seen::noisy(found).mended_by("top   # stop what uses CPU time, or wait"),
    }
}

/// How many CPUs are online: those with a line of their own in `/proc/stat`.
fn online(host: &Host) -> Option<usize> {
    let text = host.files.text("proc/stat")?;
    let own = text.lines().filter(|line| {
        let number = line.strip_prefix("cpu");
        number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    Some(own.count()).filter(|count| *count > 0)
}

/// proc_stat(5): the eighth number of the line `cpu` is stolen time; the two after it are guests'
/// time, which is in the first two already.
fn steal(host: &Host) -> Seen {
    const PATH: &str = "proc/stat";
    let Some(text) = host.files.text(PATH) else {
        return Seen::absent(PATH);
    };
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
    let times = line.map(|line| line.split_whitespace().map(str::parse::<u64>).take(8));
    let times: Option<Vec<u64>> = times.and_then(|times| times.collect::<Result<_, _>>().ok());
    let Some(times) = times.filter(|times| times.len() == 8) else {
        return Seen::unknown(format!("no stolen time in /{PATH}"));
    };
    let all: f64 = times.iter().map(|time| *time as f64).sum();
    let share = if all > 0.0 {
        times[7] as f64 / all
    } else {
        0.0
    };
    match share <= QUIET_STEAL {
        true => Seen::quiet(format!("{:.2} %", share * 100.0)),
        false => Seen::noisy(format!("{:.2} % since boot", share * 100.0)),
    }
}

/// What runs guests, as its name is in `/proc` (15 bytes at most).
fn guests(host: &Host) -> Seen {
    const NAMES: [&str; 8] = [
        "qemu-system-",
        "qemu-kvm",
        "kvm",
        "firecracker",
        "cloud-hyperviso",
        "crosvm",
        "VBoxHeadless",
        "vmware-vmx",
    ];
    running(host, "none", |name| {
        NAMES.iter().any(|known| match known.ends_with('-') {
            true => name.starts_with(known),
            false => name == *known,
        })
    })
}

/// Package managers, indexers and the like that are at work now.
fn jobs(host: &Host) -> Seen {
    const NAMES: [&str; 22] = [
        "updatedb",
        "updatedb.mlocat",
        "updatedb.plocat",
        "unattended-upgr",
        "apt",
        "apt-get",
        "aptitude",
        "apt.systemd.dai",
        "dpkg",
        "dnf",
        "dnf-automatic",
        "yum",
        "zypper",
        "pacman",
        "packagekitd",
        "mandb",
        "man-db",
        "tracker-miner-f",
        "baloo_file",
        "fstrim",
        "e2scrub",
        "btrfs",
    ];
    running(host, "none", |name| NAMES.contains(&name))
}

/// FreeBSD's checklist: cron(8) and other daemons only add noise. When systemd's timers fire is not
/// in files; that they have fired before is: a timer that must not be missed leaves a stamp
/// (systemd.timer(5), `Persistent=`).
fn timers(host: &Host) -> Seen {
    const DAEMONS: [&str; 6] = ["cron", "crond", "anacron", "atd", "fcron", "bcron-sched"];
    const STAMPS: &str = "var/lib/systemd/timers";
    let Some(processes) = &host.processes else {
        return Seen::absent("proc/*/stat");
    };
    let mut found: Vec<String> = counted(processes, |name| DAEMONS.contains(&name))
        .into_keys()
        .collect();
    let services = found.clone();
    let stamps = host.files.names(STAMPS).into_iter();
    let stamps: Vec<String> = stamps
        .filter_map(|name| Some(name.strip_prefix("stamp-")?.to_owned()))
        .collect();
    let is_systemd = processes.iter().any(|process| process.name == "systemd");
    if is_systemd {
        found.extend(stamps.iter().cloned());
    }
    if found.is_empty() {
        return Seen::quiet("none known");
    }
    let stop = services.iter().chain(stamps.iter().filter(|_| is_systemd));
    let stop = stop.cloned().collect::<Vec<_>>().join(" ");
    Seen::noisy(found.join(", "))
        .mended_by(format!("systemctl stop {stop}   # start them again after"))
}

/// irqbalance(1): `-t`, 10 seconds by default. pyperf stops it.
fn irqbalance(host: &Host) -> Seen {
    let seen = running(host, "not running", |name| name == "irqbalance");
    match seen.state {
        super::State::Noisy => Seen::noisy("running").mended_by("systemctl stop irqbalance"),
        _ => seen,
    }
}

/// Noisy if there are such processes, which are told with their numbers.
fn running(host: &Host, without: &str, is_one: impl Fn(&str) -> bool) -> Seen {
    let Some(processes) = &host.processes else {
        return Seen::absent("proc/*/stat");
    };
    let counts = counted(processes, is_one);
    if counts.is_empty() {
        return Seen::quiet(without);
    }
    let found = counts
        .iter()
        .map(|(name, count)| format!("{count} × {name}"));
    Seen::noisy(found.collect::<Vec<_>>().join(", "))
}

fn counted(processes: &[Process], is_one: impl Fn(&str) -> bool) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for process in processes.iter().filter(|process| is_one(&process.name)) {
        *counts.entry(process.name.clone()).or_insert(0) += 1;
    }
    counts
}
