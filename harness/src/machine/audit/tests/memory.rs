use super::State::{Noisy, Quiet, Unknown};
use super::{assert_found, found, mend};

#[test]
fn numa_balancing() {
    let path = "proc/sys/kernel/numa_balancing";
    assert_found(
        "NUMA balancing",
        &[
            (&[(path, "0\n")], Quiet, "off"),
            (&[(path, "1\n")], Noisy, "on (1)"),
            (&[(path, "2\n")], Noisy, "on (2)"),
            (
                &[(path, "9\n")],
                Unknown,
                "9 in /proc/sys/kernel/numa_balancing",
            ),
        ],
    );
    assert_eq!(
        mend("NUMA balancing", &[(path, "1\n")]),
        "sysctl kernel.numa_balancing=0"
    );
}

#[test]
fn transparent_huge_pages() {
    let path = "sys/kernel/mm/transparent_hugepage/enabled";
    assert_found(
        "transparent huge pages",
        &[
            (&[(path, "[always] madvise never\n")], Noisy, "always"),
            (&[(path, "always [madvise] never\n")], Quiet, "madvise"),
            (&[(path, "always madvise [never]\n")], Quiet, "never"),
            (
                &[(path, "always madvise never\n")],
                Unknown,
                "always madvise never in /sys/kernel/mm/transparent_hugepage/enabled",
            ),
        ],
    );
    assert_eq!(
        mend(
            "transparent huge pages",
            &[(path, "[always] madvise never\n")]
        ),
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    );
}

#[test]
fn merging_of_pages() {
    let path = "sys/kernel/mm/ksm/run";
    assert_found(
        "KSM",
        &[
            (&[(path, "0\n")], Quiet, "off"),
            (&[(path, "1\n")], Noisy, "on"),
            (&[(path, "2\n")], Quiet, "off"),
            (&[(path, "x\n")], Unknown, "x in /sys/kernel/mm/ksm/run"),
        ],
    );
}

/// Lines as in proc_meminfo(5).
#[test]
fn swap() {
    let path = "proc/meminfo";
    let text = |all: u64, free: u64| {
        format!(
            "MemTotal:       16309876 kB\nSwapCached:            0 kB\nSwapTotal:      {all} kB\nSwapFree:       {free} kB\n"
        )
    };
    assert_found(
        "swap",
        &[
            (&[(path, &text(0, 0))], Quiet, "no swap"),
            (&[(path, &text(2097152, 2097152))], Quiet, "none in use"),
            (
                &[(path, &text(2097152, 2084864))],
                Noisy,
                "12.0 of 2048.0 MiB in use",
            ),
            (
                &[(path, "MemTotal: 1 kB\n")],
                Unknown,
                "no SwapTotal and SwapFree in /proc/meminfo",
            ),
        ],
    );
    assert!(!found("swap", &[]).lasting);
}
