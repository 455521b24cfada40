//! From the addresses that a guest's `watch` program prints (`workloads/PROTOCOL.md`) to folded
//! stacks with names.

use super::USER;
use super::stacks::{OTHER, Stacks, Watch};
use super::symbols::Symbols;

/// What is said of an address in no function that is known: of a module, or made at run time.
const UNKNOWN: &str = "[unknown]";

/// The stacks in what one job printed; workload, setting and operations are left to fill in.
pub fn fold<'a>(watch: Watch, lines: impl Iterator<Item = &'a str>, symbols: &Symbols) -> Stacks {
    let (event, unit) = watch.event();
    let mut stacks = Stacks {
        event: event.to_owned(),
        unit: unit.to_owned(),
        ..Stacks::default()
    };
    let locks = LockFunctions::of(symbols);
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["watched", _, _, lost] => {
                stacks.lost = stacks.lost.saturating_add(lost.parse().unwrap_or(0));
            }
            ["stack", weight, times, frames] => match (weight.parse(), times.parse()) {
                (Ok(weight), Ok(times)) => {
                    let stack = names(frames, symbols, &locks);
                    add(&mut stacks, watch, stack, weight, times);
                }
                _ => stacks.lost = stacks.lost.saturating_add(1),
            },
            _ => {}
        }
    }
    stacks
}

fn add(stacks: &mut Stacks, watch: Watch, stack: String, weight: u64, times: u64) {
    // A sample weighs 1.
    if watch == Watch::Locks {
        let sum = stacks.times.entry(stack.clone()).or_insert(0);
        *sum = sum.saturating_add(times);
    }
    let sum = stacks.stacks.entry(stack).or_insert(0);
    *sum = sum.saturating_add(weight);
}

/// `ffffffff81000010,ffffffff81000020,lock:1:ffff888000000000`, the outermost first.
fn names(frames: &str, symbols: &Symbols, locks: &LockFunctions) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut addresses: Vec<u64> = Vec::new();
    let mut lock = None;
    for frame in frames.split(',') {
        match frame.split(':').collect::<Vec<_>>().as_slice() {
            ["user"] => names.push(USER.to_owned()),
            ["other"] => names.push(OTHER.to_owned()),
            ["lock", flags, address] => lock = Some(lock_name(flags, address, symbols)),
            _ => addresses.push(u64::from_str_radix(frame, 16).unwrap_or(0)),
        }
    }
    let innermost = addresses.len().saturating_sub(1);
    let mut called: Vec<(u64, &str)> = (0..)
        .zip(&addresses)
        .map(|(at, &address)| {
            // All but the innermost of a sample say where they go on: behind the call, which may be
            // the function's last instruction.
            let at_call = at < innermost || lock.is_some();
            let address = address.wrapping_sub(u64::from(at_call));
            (address, symbols.at(address).unwrap_or(UNKNOWN))
        })
        .collect();
    if lock.is_some() {
        // Who waits is who wants the lock, and not what a lock is made of.
        while called.len() > 1 && called.last().is_some_and(|(at, name)| locks.has(*at, name)) {
            called.pop();
        }
    }
    let called = called.into_iter().map(|(_, name)| name.to_owned());
    called
        .chain(names)
        .chain(lock)
        .collect::<Vec<_>>()
        .join(";")
}

/// `[tasklist_lock]` where the lock has a name, else what kind it is.
fn lock_name(flags: &str, address: &str, symbols: &Symbols) -> String {
    let address = u64::from_str_radix(address, 16).unwrap_or(0);
    let flags = u32::from_str_radix(flags, 16).unwrap_or(u32::MAX);
    let kind = || LOCK_KINDS.iter().find(|(bits, _)| *bits == flags);
    let kind = || kind().map_or("lock", |(_, kind)| kind);
    format!("[{}]", symbols.at(address).unwrap_or_else(kind))
}

/// Linux's flags of a contention (include/trace/events/lock.h), in the words of `perf lock
/// contention` (tools/perf/builtin-lock.c, Linux 6.1).
const LOCK_KINDS: [(u32, &str); 13] = [
    (0, "semaphore"),
    (SPIN, "spinlock"),
    (SPIN | READ, "rwlock:R"),
    (SPIN | WRITE, "rwlock:W"),
    (READ, "rwsem:R"),
    (WRITE, "rwsem:W"),
    (RT, "rtmutex"),
    (RT | READ, "rwlock-rt:R"),
    (RT | WRITE, "rwlock-rt:W"),
    (PERCPU | READ, "pcpu-sem:R"),
    (PERCPU | WRITE, "pcpu-sem:W"),
    (MUTEX, "mutex"),
    (MUTEX | SPIN, "mutex"),
];
const SPIN: u32 = 1;
const READ: u32 = 2;
const WRITE: u32 = 4;
const RT: u32 = 8;
const PERCPU: u32 = 16;
const MUTEX: u32 = 32;

/// The functions that locks are made of: of a section of their own, of the scheduler's, where those
/// that sleep lie, and of the tracepoint (as perf has it: machine__is_lock_function).
struct LockFunctions(Vec<(u64, u64)>);

impl LockFunctions {
    fn of(symbols: &Symbols) -> LockFunctions {
        let sections = [
            ("__lock_text_start", "__lock_text_end"),
            ("__sched_text_start", "__sched_text_end"),
        ];
        let bounds = sections.map(|(start, end)| symbols.find(start).zip(symbols.find(end)));
        LockFunctions(bounds.into_iter().flatten().collect())
    }

    fn has(&self, address: u64, name: &str) -> bool {
        self.0
            .iter()
            .any(|(start, end)| (*start..*end).contains(&address))
            || name.contains("trace_contention_begin")
            || name.contains("traceiter_contention_begin")
            || name.contains("queued_spin_lock_slowpath")
    }
}

#[cfg(test)]
mod tests;
