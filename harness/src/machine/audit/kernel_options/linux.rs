//! Linux: `.config`.

use std::collections::BTreeSet;

use super::Costly;

/// Options that are `y` or `m`, without `CONFIG_`. `# CONFIG_X is not set` is off.
pub(super) fn on(config: &str) -> BTreeSet<&str> {
    let mut on = BTreeSet::new();
    for line in config.lines() {
        let line = line.trim();
        let unset = line
            .strip_prefix("# ")
            .and_then(|rest| rest.strip_suffix(" is not set"));
        let (name, is_on) = match (unset, line.split_once('=')) {
            (Some(name), _) => (name, false),
            (None, Some((name, value))) => (name, matches!(value, "y" | "m")),
            (None, None) => continue,
        };
        let Some(name) = name.strip_prefix("CONFIG_") else {
            continue;
        };
        match is_on {
            true => on.insert(name),
            false => on.remove(name),
        };
    }
    on
}

const LOCKDEP: &[&str] = &["PROVE_LOCKING", "LOCK_STAT", "DEBUG_LOCK_ALLOC"];

/// Effects are from the options' own help texts of Linux 6.1 (`lib/Kconfig.*`, `mm/Kconfig.debug`,
/// `kernel/*/Kconfig`) where they are in quotation marks; others are named.
pub(super) const OPTIONS: &[Costly] = &[
    Costly {
        name: "KASAN_GENERIC",
        effect: "checks every access to memory: \"the performance slowdown is ~x3\"",
        unless: &[],
    },
    Costly {
        name: "KASAN_SW_TAGS",
        effect: "checks every access to memory, and adds \"~20% for dynamic allocations\"",
        unless: &[],
    },
    Costly {
        // Before Linux 5.0 there was one kind, and no option that named it. The hardware's tags are
        // made for kernels in use.
        name: "KASAN",
        effect: "checks every access to memory: about three times slower",
        unless: &["KASAN_GENERIC", "KASAN_SW_TAGS", "KASAN_HW_TAGS"],
    },
    Costly {
        name: "KCSAN",
        effect: "watches for data races: \"5.0x slow-down\" of a boot on 8 CPUs (dev-tools/kcsan.rst)",
        unless: &[],
    },
    Costly {
        name: "KMSAN",
        effect: "follows uninitialized memory: \"slows the whole system down\"",
        unless: &[],
    },
    Costly {
        name: "PROVE_LOCKING",
        effect: "lockdep follows every lock: hackbench took 11 s instead of 3.4 s on an Exynos 5433 \
                 (commit 1531f1b24d43)",
        unless: &[],
    },
    Costly {
        name: "LOCK_STAT",
        effect: "times every lock, by lockdep's bookkeeping at each",
        unless: &[],
    },
    Costly {
        name: "DEBUG_LOCK_ALLOC",
        effect: "lockdep's bookkeeping at every lock, and no fast path for mutexes",
        unless: &["PROVE_LOCKING", "LOCK_STAT"],
    },
    Costly {
        name: "LOCKDEP",
        effect: "bookkeeping at every lock",
        unless: LOCKDEP,
    },
    Costly {
        name: "DEBUG_LOCKDEP",
        effect: "lockdep checks itself \"at the price of more runtime overhead\"",
        unless: &[],
    },
    Costly {
        name: "DEBUG_SPINLOCK",
        effect: "checks owner and state at every spin lock, none of which is inlined",
        unless: LOCKDEP,
    },
    Costly {
        name: "DEBUG_MUTEXES",
        effect: "checks every mutex",
        unless: LOCKDEP,
    },
    Costly {
        name: "DEBUG_ATOMIC_SLEEP",
        effect: "checks wherever the kernel might sleep, and counts preemption everywhere",
        unless: &[],
    },
    Costly {
        name: "DEBUG_PREEMPT",
        effect: "\"potential to introduce high runtime overhead\": checks each access to data of a CPU",
        unless: &[],
    },
    Costly {
        name: "DEBUG_OBJECTS",
        effect: "follows the life of timers, work items and other objects in a hash table under locks",
        unless: &[],
    },
    Costly {
        name: "DEBUG_PAGEALLOC_ENABLE_DEFAULT",
        effect: "unmaps every page that is freed: \"a large slowdown\"",
        unless: &[],
    },
    Costly {
        name: "DEBUG_PAGEALLOC",
        effect: "keeps the kernel from mapping memory in large pages",
        unless: &["DEBUG_PAGEALLOC_ENABLE_DEFAULT"],
    },
    Costly {
        name: "SLUB_DEBUG_ON",
        effect: "poisons and checks every object that is allocated or freed, outside the fast paths",
        unless: &[],
    },
    Costly {
        name: "DEBUG_SLAB",
        effect: "\"can make kmalloc/kfree-intensive workloads much slower\"",
        unless: &[],
    },
    Costly {
        name: "DEBUG_KMEMLEAK",
        effect: "records every allocation, and a thread searches all memory every ten minutes",
        unless: &["DEBUG_KMEMLEAK_DEFAULT_OFF"],
    },
    Costly {
        name: "DEBUG_VM",
        effect: "checks in memory management \"that may impact performance\"",
        unless: &["DEBUG_VM_PGFLAGS", "DEBUG_VM_RB", "DEBUG_VM_MAPLE_TREE"],
    },
    Costly {
        name: "DEBUG_VM_PGFLAGS",
        effect: "checks every use of a page's flags",
        unless: &[],
    },
    Costly {
        name: "DEBUG_VM_RB",
        effect: "walks a process's whole tree of mappings at each change",
        unless: &[],
    },
    Costly {
        name: "DEBUG_VM_MAPLE_TREE",
        effect: "walks a process's whole tree of mappings at each change",
        unless: &[],
    },
    Costly {
        name: "DEBUG_PER_CPU_MAPS",
        effect: "\"decreases performance\": checks each use of a map of CPUs",
        unless: &[],
    },
    Costly {
        name: "GCOV_PROFILE_ALL",
        effect: "counts in every block of code: \"significantly larger and run slower\"",
        unless: &[],
    },
    Costly {
        name: "KCOV_INSTRUMENT_ALL",
        effect: "calls a function in every block of code",
        unless: &[],
    },
    Costly {
        name: "PROFILE_ALL_BRANCHES",
        effect: "records every branch: \"a great overhead on the system\"",
        unless: &[],
    },
    Costly {
        name: "IRQSOFF_TRACER",
        effect: "traces wherever interrupts go off and on: \"kernel size and overhead increase\"",
        unless: &[],
    },
    Costly {
        name: "PREEMPT_TRACER",
        effect: "traces wherever preemption goes off and on: \"kernel size and overhead increase\"",
        unless: &[],
    },
];
