//! What colours and marks mean: those that are in the picture.

use super::block::{Block, row, stack};
use super::letter;
use crate::machine::text::{kind_of, ranges};
use crate::machine::topology::{Is, Part, Topology};
use crate::terminal::headline;

/// Kinds of cores that have colours of their own.
pub(super) const KINDS: usize = 4;

/// Kinds that are explained, as many as have letters.
const LETTERS: usize = 26;

pub(super) fn legend(topology: &Topology) -> Block {
    let mut rows = Vec::new();
    let has = |is: fn(Is) -> bool| {
        let mut found = false;
        topology
            .machine
            .each(&mut |part: &Part| found |= is(part.is));
        found
    };
    let mut entries = vec![entry(
        "thread",
        "0",
        "hardware thread: the system's number of a CPU",
    )];
    if has(|is| is == Is::Node) {
        entries.push(entry("memory", " ", "memory of a NUMA node"));
    }
    if has(|is| matches!(is, Is::Cache(_))) {
        entries.push(entry("cache", " ", "cache over what shares it"));
    }
    if has(|is| matches!(is, Is::InstructionCache(_))) {
        entries.push(entry("cache instructions", " ", "cache of instructions"));
    }
    rows.push(row(entries));
    if !topology.disallowed.is_empty() {
        let said = format!(
            "may not be used here: CPUs {}",
            ranges(&topology.disallowed)
        );
        rows.push(entry("thread forbidden", "0", &headline(&said)));
    }
    if !topology.offline.is_empty() {
        let said = format!("offline: CPUs {}", ranges(&topology.offline));
        rows.push(entry("thread offline", "0", &headline(&said)));
    }
    for (at, kind) in topology.kinds.iter().enumerate().take(LETTERS) {
        let class = format!("core kind-{}", at % KINDS);
        let mark = letter(at).to_string();
        rows.push(entry(&class, &mark, &headline(&kind_of(kind))));
    }
    stack(rows, 4)
}

fn entry(class: &str, mark: &str, said: &str) -> Block {
    let mut said = Block::label("small", said, 10);
    said.shift(0, 3);
    // Room to the next one.
    said.width += 12;
    said.height += 3;
    row(vec![Block::thread(class, mark), said])
}
