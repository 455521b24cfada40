use super::State::{Noisy, Quiet, Unknown};
use super::{assert_found, found, mend};

#[test]
fn the_clock_source() {
    let current = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    let available = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    let slow = [(current, "hpet\n"), (available, "tsc hpet acpi_pm \n")];
    assert_found(
        "clock source",
        &[
            (&[(current, "tsc\n")], Quiet, "tsc"),
            (&[(current, "kvm-clock\n")], Quiet, "kvm-clock"),
            (&slow, Noisy, "hpet"),
            (
                &[(current, "acpi_pm\n"), (available, "hpet acpi_pm \n")],
                Noisy,
                "acpi_pm",
            ),
            (&[(current, "sundial\n")], Unknown, "sundial"),
        ],
    );
    assert_eq!(
        mend("clock source", &slow),
        format!("echo tsc > /{current}")
    );
    // The kernel took the TSC out: no command brings it back.
    let without = [(current, "acpi_pm\n"), (available, "hpet acpi_pm \n")];
    assert_eq!(found("clock source", &without).mend, None);
}

#[test]
fn the_nmi_watchdog() {
    let path = "proc/sys/kernel/nmi_watchdog";
    assert_found(
        "NMI watchdog",
        &[
            (&[(path, "0\n")], Quiet, "off"),
            (&[(path, "1\n")], Noisy, "on"),
            (
                &[(path, "2\n")],
                Unknown,
                "2 in /proc/sys/kernel/nmi_watchdog",
            ),
        ],
    );
}

#[test]
fn address_randomization() {
    let path = "proc/sys/kernel/randomize_va_space";
    assert_found(
        "address randomization",
        &[
            (&[(path, "2\n")], Quiet, "full"),
            (&[(path, "1\n")], Noisy, "without the heap"),
            (&[(path, "0\n")], Noisy, "off"),
            (
                &[(path, "3\n")],
                Unknown,
                "3 in /proc/sys/kernel/randomize_va_space",
            ),
        ],
    );
    assert_eq!(
        mend("address randomization", &[(path, "0\n")]),
        "sysctl kernel.randomize_va_space=2"
    );
}

/// The kernel lowers the rate by itself: it is no setting that trials must share.
#[test]
fn sampling_by_perf() {
    let path = "proc/sys/kernel/perf_event_max_sample_rate";
    assert_found(
        "perf sampling",
        &[
            (&[(path, "1\n")], Quiet, "at most 1 a second"),
            (&[(path, "100000\n")], Quiet, "at most 100000 a second"),
            (&[(path, "200000\n")], Noisy, "at most 200000 a second"),
            (
                &[(path, "-\n")],
                Unknown,
                "no number in /proc/sys/kernel/perf_event_max_sample_rate",
            ),
        ],
    );
    assert!(!found("perf sampling", &[]).lasting);
}

#[test]
fn autogroups() {
    let path = "proc/sys/kernel/sched_autogroup_enabled";
    assert_found(
        "autogroups",
        &[
            (&[(path, "0\n")], Quiet, "off"),
            (&[(path, "1\n")], Quiet, "on"),
            (
                &[(path, "x\n")],
                Unknown,
                "x in /proc/sys/kernel/sched_autogroup_enabled",
            ),
        ],
    );
}
