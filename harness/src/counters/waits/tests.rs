#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::counters::stacks::LOCKS;

fn side(operations: u64, waits: &[(&str, u64, u64)]) -> Option<Stacks> {
    Some(Stacks {
        operations,
        stacks: waits.iter().map(|(s, ns, _)| ((*s).into(), *ns)).collect(),
        times: waits
            .iter()
            .map(|(s, _, times)| ((*s).into(), *times))
            .collect(),
        ..Stacks::default()
    })
}

fn pair(sides: [Option<Stacks>; 2]) -> Pair {
    Pair {
        kind: LOCKS.into(),
        workload: "fd-churn".into(),
        parameters: "threads=4".into(),
        event: "lock:contention_begin".into(),
        unit: "ns".into(),
        names: ["base".into(), "patched".into()],
        sides,
    }
}

fn both() -> Pair {
    pair([
        side(
            100,
            &[
                ("sys;alloc_fd;[files->file_lock]", 1_500_000, 3),
                ("x;alloc_fd;[files->file_lock]", 500_000, 1),
                ("sys;close_fd;[files->file_lock]", 1000, 1),
            ],
        ),
        side(
            50,
            &[
                ("sys;alloc_fd;[files->file_lock]", 9_000_000, 3),
                ("[lock]", 50_000, 2),
            ],
        ),
    ])
}

#[test]
fn waits_are_summed_by_lock_and_who_waited() {
    let waits = waits(&both()).unwrap();
    assert!(waits.is_by_operation);
    let found: Vec<_> = waits
        .lines
        .iter()
        .map(|l| (&*l.lock, &*l.caller, l.cost))
        .collect();
    assert_eq!(
        found,
        [
            // 9 ms ÷ 50 − 2 ms ÷ 100, in ns
            ("[files->file_lock]", "alloc_fd", 160_000.0),
            ("[lock]", "?", 1000.0),
            ("[files->file_lock]", "close_fd", -10.0),
        ]
    );
    let first = waits.lines[0].waits;
    assert_eq!(first.map(mean), [Some(500_000.0), Some(3_000_000.0)]);
    assert_eq!(
        render(&both(), &waits, 1),
        "\npatched against base, fd-churn threads=4: waits for locks by lock:contention_begin\n\
         \x20 one boot each, slowed down by the watching, so no verdict\n\
         \x20                               base                             variant\n\
         \x20     total ms     times     mean \u{b5}s      total ms     times     mean \u{b5}s    cost ns/op   lock, and who waited\n\
         \x20        2.001         5       400.2         9.050         5      1810.0     +160990.0   all\n\
         \x20        2.000         4       500.0         9.000         3      3000.0     +160000.0   [files->file_lock] in alloc_fd\n"
    );
}

#[test]
fn without_operations_or_a_side_all_waits_are_compared() {
    let mut unknown = both();
    unknown.sides[1].as_mut().unwrap().operations = 0;
    let found = waits(&unknown).unwrap();
    assert!(!found.is_by_operation);
    assert_eq!(found.lines[0].cost, 7_000_000.0);
    let mut alone = both();
    alone.sides[1] = None;
    let found = waits(&alone).unwrap();
    assert_eq!(found.lines[0].waits[1], Seen::default());
    assert!(render(&alone, &found, 9).contains("        0.000         0           -"));
    assert_eq!(waits(&pair([side(1, &[]), None])), None);
}

#[test]
fn a_profile_is_no_wait_and_a_wait_no_profile() {
    let mut other = both();
    assert_eq!(crate::counters::shares::shares(&other), None);
    other.kind = crate::counters::stacks::PROFILE.into();
    assert_eq!(waits(&other), None);
}
