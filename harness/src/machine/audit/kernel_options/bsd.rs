//! FreeBSD and DragonFly: a KERNCONF, as config(5) and config(8) say.

use std::collections::BTreeSet;

use super::Costly;

/// The options that are set, by name, without their values.
pub(super) fn on(config: &str) -> BTreeSet<&str> {
    let mut on = BTreeSet::new();
    for (word, rest) in statements(config) {
        // Several stand behind one word, with commas between.
        let names = rest.split(',').filter_map(|one| {
            let name = one.split('=').next()?.trim().trim_matches('"');
            (!name.is_empty()).then_some(name)
        });
        match word {
            "options" | "option" => on.extend(names),
            "nooptions" | "nooption" => names.for_each(|name| {
                on.remove(name);
            }),
            _ => {}
        }
    }
    on
}

/// What `include` names, without quotation marks.
pub(super) fn included(config: &str) -> Vec<String> {
    let statements = statements(config).filter(|(word, _)| *word == "include");
    statements
        .map(|(_, rest)| rest.trim_matches('"').to_owned())
        .collect()
}

/// Each line's first word, and the rest without a comment behind `#`.
fn statements(config: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = config.lines().filter_map(|line| {
        let line = line.split('#').next()?.trim();
        line.split_once(|c: char| c.is_whitespace())
    });
    lines.map(|(word, rest)| (word, rest.trim()))
}

const DIAGNOSTIC: Costly = Costly {
    name: "DIAGNOSTIC",
    effect: "checks that are too dear for INVARIANTS, and more messages",
    unless: &[],
};

/// Where a text is in quotation marks, it is that of `sys/amd64/conf/GENERIC-NODEBUG`,
/// `sys/conf/NOTES` or `sys/conf/std.debug`. What `std.nodebug` takes out for benchmarks is here, but
/// for debug messages of drivers.
pub(super) const FREEBSD: &[Costly] = &[
    Costly {
        name: "INVARIANTS",
        effect: "checks throughout the kernel: \"significant performance impact on running systems\"",
        unless: &[],
    },
    Costly {
        name: "WITNESS",
        effect: "follows the order of all locks: \"significant performance impact on running systems\"",
        unless: &[],
    },
    DIAGNOSTIC,
    Costly {
        name: "KASAN",
        effect: "checks every access to memory of the kernel (kasan(9))",
        unless: &[],
    },
    Costly {
        name: "KMSAN",
        effect: "follows uninitialized memory of the kernel (kmsan(9))",
        unless: &[],
    },
    Costly {
        name: "KCSAN",
        effect: "watches for data races at every access to memory",
        unless: &[],
    },
    Costly {
        name: "COVERAGE",
        effect: "calls a function in every block of code",
        unless: &["KCOV"],
    },
    Costly {
        name: "KCOV",
        effect: "calls a function in every block of code",
        unless: &[],
    },
    Costly {
        name: "DEBUG_MEMGUARD",
        effect: "\"a replacement allocator for the kernel\" that finds writes to freed memory",
        unless: &[],
    },
    Costly {
        name: "DEBUG_REDZONE",
        effect: "puts checked borders around every allocation of malloc(9)",
        unless: &[],
    },
    Costly {
        name: "MALLOC_DEBUG_MAXZONES",
        effect: "\"separate malloc(9) zones\": memory of one size is spread over several",
        unless: &[],
    },
    Costly {
        name: "DEADLKRES",
        effect: "a thread of the kernel looks through all threads every few seconds",
        unless: &[],
    },
    Costly {
        name: "LOCK_PROFILING",
        effect: "times every lock, and none is inlined",
        unless: &[],
    },
    Costly {
        name: "MUTEX_DEBUG",
        effect: "\"various extra assertions in the mutex code\"",
        unless: &[],
    },
    Costly {
        name: "DEBUG_LOCKS",
        effect: "records who takes each lockmgr(9) lock",
        unless: &[],
    },
    Costly {
        name: "DEBUG_VFS_LOCKS",
        effect: "checks the lock of a vnode at each operation on it",
        unless: &[],
    },
    Costly {
        name: "FULL_PREEMPTION",
        effect: "\"will reduce performance\": its use is to show races",
        unless: &[],
    },
    Costly {
        name: "KTR",
        effect: "records events of the kernel in a buffer; no lock is inlined",
        unless: &[],
    },
    Costly {
        name: "BUF_TRACKING",
        effect: "records the history of each buffer",
        unless: &["FULL_BUF_TRACKING"],
    },
    Costly {
        name: "FULL_BUF_TRACKING",
        effect: "records the history of each buffer",
        unless: &[],
    },
    Costly {
        name: "QUEUE_MACRO_DEBUG_TRASH",
        effect: "overwrites the pointers of whatever leaves a list",
        unless: &[],
    },
];

/// `sys/config/X86_64_GENERIC` has INVARIANTS on. Texts in quotation marks are those of
/// `sys/config/LINT64`; the others say what the code does that the option adds.
pub(super) const DRAGONFLY: &[Costly] = &[
    Costly {
        name: "INVARIANTS",
        effect: "checks throughout the kernel, off by default in LINT64's words \"because of the extra \
                 time it would take\", and on in X86_64_GENERIC",
        unless: &[],
    },
    DIAGNOSTIC,
    Costly {
        name: "SLAB_DEBUG",
        effect: "records who allocates, at each allocation of the kernel",
        unless: &[],
    },
    Costly {
        name: "DEBUG_LOCKS",
        effect: "searches all tokens that a thread holds at each one that it takes",
        unless: &[],
    },
    Costly {
        name: "DEBUG_CRIT_SECTIONS",
        effect: "records who enters and leaves each critical section",
        unless: &[],
    },
    Costly {
        name: "SOCKBUF_DEBUG",
        effect: "walks a socket's whole buffer at each change",
        unless: &[],
    },
    Costly {
        name: "MBUF_DEBUG",
        effect: "follows every mbuf that is in use",
        unless: &[],
    },
    Costly {
        name: "VM_PAGE_DEBUG",
        effect: "records who makes pages busy",
        unless: &[],
    },
    Costly {
        name: "PMAP_DEBUG",
        effect: "records who holds each entry of a page table",
        unless: &[],
    },
    Costly {
        name: "KTR",
        effect: "records events of the kernel in a buffer",
        unless: &[],
    },
];
