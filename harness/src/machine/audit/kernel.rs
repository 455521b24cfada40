//! Settings of the running kernel.

use super::{Check, Host, Seen};

pub(super) const CHECKS: [Check; 5] = [
    Check {
        name: "clock source",
        lasting: true,
        effect: "every reading of the clock leaves the processor or enters the kernel, which takes \
                 many times longer, and longer again where CPUs read at once",
        look: clock_source,
    },
    Check {
        name: "NMI watchdog",
        lasting: true,
        effect: "it interrupts every busy CPU now and then, and takes one of the counters that perf \
                 and ktrial count with",
        look: nmi_watchdog,
    },
    Check {
        name: "address randomization",
        lasting: true,
        effect: "without it every run has the same layout, and what that layout costs looks like an \
                 effect of the patch",
        look: randomization,
    },
    Check {
        name: "perf sampling",
        // The kernel lowers it by itself when sampling takes too long.
        lasting: false,
        effect: "whoever samples with perf interrupts the CPUs up to this often",
        look: perf_sampling,
    },
    Check {
        name: "autogroups",
        lasting: true,
        effect: "CPU time is shared between sessions, not between threads: a load in another session \
                 weighs otherwise",
        look: autogroups,
    },
];

/// `kvm-clock` and Hyper-V's page are read without a call, as the TSC is (`arch/x86/entry/vdso`);
/// `hpet` and `acpi_pm` are registers of a chip, `jiffies` counts ticks, and `xen` takes a system
/// call. FreeBSD's checklist warns of slow timecounters too.
fn clock_source(host: &Host) -> Seen {
    const FOLDER: &str = "sys/devices/system/clocksource/clocksource0";
    let path = format!("{FOLDER}/current_clocksource");
    let Some(current) = host.files.value(&path) else {
        return Seen::absent(&path);
    };
    match current.as_str() {
        "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page" => Seen::quiet(current),
        "arch_sys_counter" | "timebase" | "riscv_clocksource" | "tod" => Seen::quiet(current),
        "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies" | "pit" | "xen" => {
            let others = host.files.value(&format!("{FOLDER}/available_clocksource"));
            let has_tsc = others.is_some_and(|all| all.split_whitespace().any(|one| one == "tsc"));
            let seen = Seen::noisy(current);
            match has_tsc {
                true => seen.mended_by(format!("echo tsc > /{path}")),
                false => seen,
            }
        }
        _ => Seen::unknown(current),
    }
}

/// `Documentation/admin-guide/sysctl/kernel.rst`: 0 or 1; it "utilizes CPU performance counter
/// registers that are programmed to generate Non-Maskable Interrupts". LKP turns it off
/// (`lib/env.sh`).
fn nmi_watchdog(host: &Host) -> Seen {
    const PATH: &str = "proc/sys/kernel/nmi_watchdog";
    match host.files.value(PATH).as_deref() {
        None => Seen::absent(PATH),
        Some("0") => Seen::quiet("off"),
        Some("1") => Seen::noisy("on").mended_by("sysctl kernel.nmi_watchdog=0"),
        Some(other) => Seen::unknown(format!("{other} in /{PATH}")),
    }
}

/// pyperf's check "ASLR": full randomization (2) must be on. Why: Mytkowicz et al., "Producing Wrong
/// Data Without Doing Anything Obviously Wrong!", ASPLOS 2009.
fn randomization(host: &Host) -> Seen {
    const PATH: &str = "proc/sys/kernel/randomize_va_space";
    let found = match host.files.value(PATH).as_deref() {
        None => return Seen::absent(PATH),
        Some("2") => return Seen::quiet("full"),
        Some("1") => "without the heap",
        Some("0") => "off",
        Some(other) => return Seen::unknown(format!("{other} in /{PATH}")),
    };
    Seen::noisy(found).mended_by("sysctl kernel.randomize_va_space=2")
}

/// pyperf sets it to 1. It is a limit, and costs nothing while nobody samples; the kernel starts with
/// 100,000 (`DEFAULT_MAX_SAMPLE_RATE`), and `ktrial --profile` samples itself.
fn perf_sampling(host: &Host) -> Seen {
    const PATH: &str = "proc/sys/kernel/perf_event_max_sample_rate";
    match host
        .files
        .value(PATH)
        .map(|value| value.parse::<u64>().ok())
    {
        None => Seen::absent(PATH),
        Some(Some(rate)) if rate <= 100_000 => Seen::quiet(format!("at most {rate} a second")),
        Some(Some(rate)) => Seen::noisy(format!("at most {rate} a second"))
            .mended_by("sysctl kernel.perf_event_max_sample_rate=100000"),
        Some(None) => Seen::unknown(format!("no number in /{PATH}")),
    }
}

/// `kernel/sched/autogroup.c`; sched(7), "The autogroup feature". It disturbs nobody who is alone.
fn autogroups(host: &Host) -> Seen {
    const PATH: &str = "proc/sys/kernel/sched_autogroup_enabled";
    match host.files.value(PATH).as_deref() {
        None => Seen::absent(PATH),
        Some("0") => Seen::quiet("off"),
        Some("1") => Seen::quiet("on"),
        Some(other) => Seen::unknown(format!("{other} in /{PATH}")),
    }
}
