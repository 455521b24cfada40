//! What the kernel does to memory by itself.

use super::{Check, Host, Seen};

pub(super) const CHECKS: [Check; 4] = [
    Check {
        name: "NUMA balancing",
        lasting: true,
        effect: "pages are unmapped and moved while a program runs: page faults that are not its own",
        look: numa_balancing,
    },
    Check {
        name: "transparent huge pages",
        lasting: true,
        effect: "which memory lies in huge pages depends on what is free at the moment, and changes \
                 in the background",
        look: huge_pages,
    },
    Check {
        name: "KSM",
        lasting: true,
        effect: "a thread of the kernel compares pages, and a write to a merged page costs a copy",
        look: merging,
    },
    Check {
        name: "swap",
        lasting: false,
        effect: "what lies in swap is read from disk when it is touched",
        look: swap,
    },
];

/// `Documentation/admin-guide/sysctl/kernel.rst`: 0 is off, 1 and 2 are kinds of it, 3 both; "The
/// unmapping of pages and trapping faults incur additional overhead". LKP sets it for each test.
fn numa_balancing(host: &Host) -> Seen {
    const PATH: &str = "proc/sys/kernel/numa_balancing";
    match host.files.value(PATH).as_deref() {
        None => Seen::absent(PATH),
        Some("0") => Seen::quiet("off"),
        Some(value @ ("1" | "2" | "3")) => {
            Seen::noisy(format!("on ({value})")).mended_by("sysctl kernel.numa_balancing=0")
        }
        Some(other) => Seen::unknown(format!("{other} in /{PATH}")),
    }
}

/// `Documentation/admin-guide/mm/transhuge.rst`: the word in brackets of `always [madvise] never` is
/// in force. With `madvise`, a program gets what it asks for, and QEMU asks for its guests' memory.
fn huge_pages(host: &Host) -> Seen {
    const PATH: &str = "sys/kernel/mm/transparent_hugepage/enabled";
    let Some(value) = host.files.value(PATH) else {
        return Seen::absent(PATH);
    };
    match chosen(&value) {
        Some("always") => Seen::noisy("always").mended_by(format!("echo madvise > /{PATH}")),
        Some(word @ ("madvise" | "never")) => Seen::quiet(word),
        _ => Seen::unknown(format!("{value} in /{PATH}")),
    }
}

/// The word in brackets.
fn chosen(words: &str) -> Option<&str> {
    let mut words = words.split_whitespace();
    words.find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
}

/// `Documentation/admin-guide/mm/ksm.rst`: 0 stops it, 1 runs it, 2 stops it and parts what was
/// merged; its "scans may use a lot of processing power".
fn merging(host: &Host) -> Seen {
    const PATH: &str = "sys/kernel/mm/ksm/run";
    match host.files.value(PATH).as_deref() {
        None => Seen::absent(PATH),
        Some("0" | "2") => Seen::quiet("off"),
        Some("1") => Seen::noisy("on").mended_by(format!("echo 0 > /{PATH}")),
        Some(other) => Seen::unknown(format!("{other} in /{PATH}")),
    }
}

/// `/proc/meminfo` says kilobytes, which are KiB (proc_meminfo(5)).
fn swap(host: &Host) -> Seen {
    const PATH: &str = "proc/meminfo";
    let Some(text) = host.files.text(PATH) else {
        return Seen::absent(PATH);
    };
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    };
    match (kib("SwapTotal:"), kib("SwapFree:")) {
        (Some(0), _) => Seen::quiet("no swap"),
        (Some(all), Some(free)) if free == all => Seen::quiet("none in use"),
        (Some(all), Some(free)) if free < all => Seen::noisy(format!(
            "{:.1} of {:.1} MiB in use",
            (all - free) as f64 / 1024.0,
            all as f64 / 1024.0
        ))
        .mended_by("swapoff --all && swapon --all"),
        _ => Seen::unknown(format!("no SwapTotal and SwapFree in /{PATH}")),
    }
}
