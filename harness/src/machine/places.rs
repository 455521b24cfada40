//! Which CPUs lie near each other, how many of each part there are, and in which order workers are
//! put on them.

use std::collections::{BTreeMap, BTreeSet};

use super::topology::{Is, Part, Topology};

/// A CPU and the parts that it lies in, each counted from 0 through the whole machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located {
    /// The system's number.
    pub cpu: u32,
    /// What lies in a socket.
    pub package: usize,
    /// A piece of silicon; the package where nothing is known of dies.
    pub die: usize,
    /// The NUMA node, in the order of the tree.
    pub node: usize,
    /// Cores that share the last cache; the die where nothing is known of one.
    pub complex: usize,
    /// The core.
    pub core: usize,
}

impl Topology {
    /// Its CPUs that are online, in the order in which they lie, those that may not be used among
    /// them.
    pub fn located(&self) -> Vec<Located> {
        let mut walk = Walk {
            last: self.last_shared_cache(),
            at: [0; PARTS],
            seen: [0; PARTS],
            found: Vec::new(),
        };
        walk.enter(&self.machine);
        walk.found
    }

    /// The same without those that may not be used.
    pub fn usable(&self) -> Vec<Located> {
        let mut located = self.located();
        located.retain(|cpu| !self.disallowed.contains(&cpu.cpu));
        located
    }

    /// The last level of cache, unless each core has one of its own.
    fn last_shared_cache(&self) -> Option<u8> {
        let levels = self.caches().into_iter().filter_map(|(is, _, _)| match is {
            Is::Cache(level) => Some(level),
            _ => None,
        });
        let last = levels.max()?;
        (self.count(Is::Cache(last)) < self.count(Is::Core)).then_some(last)
    }
}

const PACKAGE: usize = 0;
const DIE: usize = 1;
const NODE: usize = 2;
const COMPLEX: usize = 3;
const CORE: usize = 4;
const PARTS: usize = 5;

/// A walk through a machine, which knows in what it is.
struct Walk {
    last: Option<u8>,
    /// The parts that it is in.
    at: [usize; PARTS],
    /// How many of each it has seen.
    seen: [usize; PARTS],
    found: Vec<Located>,
}

impl Walk {
    fn enter(&mut self, part: &Part) {
        let before = self.at;
        match part.is {
            Is::Package => [PACKAGE, DIE].into_iter().for_each(|what| self.next(what)),
            // The first die of a package has been begun with it.
            Is::Die if self.found.iter().any(|cpu| cpu.die == self.at[DIE]) => self.next(DIE),
            Is::Core => self.next(CORE),
            Is::Cache(level) if Some(level) == self.last => self.next(COMPLEX),
            // Some systems tell nothing of cores.
            Is::Thread if self.at[CORE] == self.seen[CORE] => self.next(CORE),
            _ => {}
        }
        // Of several memories of one part, as fast ones beside large ones, the first is its CPUs'.
        if !part.memory.is_empty() {
            self.next(NODE);
            self.seen[NODE] += part.memory.len() - 1;
        }
        if let (Is::Thread, Some(cpu)) = (part.is, part.number) {
            let [package, die, node, complex, core] = self.at;
            self.found.push(Located {
                cpu,
                package,
                die,
                node,
                complex: if self.last.is_some() { complex } else { die },
                core,
            });
        }
        part.inside.iter().for_each(|inside| self.enter(inside));
        self.at = before;
    }

    fn next(&mut self, what: usize) {
        self.at[what] = self.seen[what];
        self.seen[what] += 1;
    }
}

/// In which order workers are put on CPUs, and how many of each part there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    spread: Vec<u32>,
    compact: Vec<u32>,
    counts: BTreeMap<&'static str, u32>,
}

/// The words for orders of CPUs.
pub const ORDERS: [&str; 2] = ["spread", "compact"];

impl Places {
    /// Of these CPUs.
    pub fn of(cpus: &[Located]) -> Places {
        let by =
            |part: fn(&Located) -> usize| -> BTreeSet<usize> { cpus.iter().map(part).collect() };
        let count = |part| u32::try_from(by(part).len()).unwrap_or(u32::MAX);
        let mut compact = cpus.to_vec();
        compact.sort_by_key(|c| (c.package, c.node, c.complex, c.core, c.cpu));
        let mut spread = compact.clone();
        spread.sort_by_key(|c| ranks(&compact, c));
        let numbers = |cpus: Vec<Located>| cpus.into_iter().map(|c| c.cpu).collect();
        Places {
            spread: numbers(spread),
            compact: numbers(compact),
            counts: [
                ("complexes", count(|c| c.complex)),
                ("nodes", count(|c| c.node)),
                ("packages", count(|c| c.package)),
                ("cores", count(|c| c.core)),
                ("threads", u32::try_from(cpus.len()).unwrap_or(u32::MAX)),
            ]
            .into(),
        }
    }

    /// CPUs in the order of that name: `spread` has one in each package first, then one in each node,
    /// each complex, each core, and then second threads; `compact` fills one part after the other.
    pub fn order(&self, name: &str) -> Option<&[u32]> {
        match name {
            "spread" => Some(&self.spread),
            "compact" => Some(&self.compact),
            _ => None,
        }
    }

    /// How many there are of `packages`, `nodes`, `complexes`, `cores` or `threads`.
    pub fn count(&self, name: &str) -> Option<u32> {
        self.counts.get(name).copied()
    }

    /// The counts of workers that tell of a machine: 1, 2, one for each part, all threads; each once,
    /// ascending.
    pub fn steps(&self) -> BTreeSet<u32> {
        let most = self.count("threads").unwrap_or(1);
        let mut steps: BTreeSet<u32> = self.counts.values().copied().collect();
        steps.extend([1, 2]);
        steps.retain(|step| *step <= most);
        steps
    }

    /// The same with the counts beside each, so that odd ones have even neighbours.
    pub fn steps_and_neighbours(&self) -> BTreeSet<u32> {
        let most = self.count("threads").unwrap_or(1);
        let steps = self.steps();
        let around = |step: &u32| step.saturating_sub(1).max(1)..=(step + 1).min(most.max(1));
        steps.iter().flat_map(around).collect()
    }
}

/// Its rank among the threads of its core, that core's among those of its complex, and so on; what
/// comes first differs last.
fn ranks(compact: &[Located], cpu: &Located) -> [usize; 5] {
    // How many different parts of that kind come before its own within the part around it.
    let rank = |part: fn(&Located) -> usize, around: fn(&Located) -> usize| {
        let same = compact.iter().filter(|c| around(c) == around(cpu));
        let before: BTreeSet<usize> = same.map(part).filter(|p| *p < part(cpu)).collect();
        before.len()
    };
    let thread = compact
        .iter()
        .filter(|c| c.core == cpu.core && c.cpu < cpu.cpu)
        .count();
    [
        thread,
        rank(|c| c.core, |c| c.complex),
        rank(|c| c.complex, |c| c.node),
        rank(|c| c.node, |c| c.package),
        cpu.package,
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::machine::hwloc;

    fn places(words: &str) -> Places {
        Places::of(&hwloc::synthetic(words).unwrap().located())
    }

    /// Two packages of two nodes, each with a complex of two cores of two threads; hwloc numbers CPUs
    /// in this order.
    #[test]
    fn workers_are_spread_over_packages_then_nodes_then_cores_then_threads() {
        let places = places("pack:2 numa:2 l3:1 core:2 pu:2");
        assert_eq!(
            places.order("spread").unwrap(),
            [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15]
        );
        assert_eq!(
            places.order("compact").unwrap(),
            (0..16).collect::<Vec<_>>()
        );
        assert_eq!(places.order("any"), None);
        let counts = ["packages", "nodes", "complexes", "cores", "threads"];
        let counts = counts.map(|name| places.count(name).unwrap());
        assert_eq!(counts, [2, 4, 4, 8, 16]);
        let steps: Vec<u32> = places.steps().into_iter().collect();
        assert_eq!(steps, [1, 2, 4, 8, 16]);
        let around: Vec<u32> = places.steps_and_neighbours().into_iter().collect();
        assert_eq!(around, [1, 2, 3, 4, 5, 7, 8, 9, 15, 16]);
    }

    #[test]
    fn complexes_are_what_shares_the_last_cache() {
        assert_eq!(
            places("pack:1 l3:4 core:2 pu:1").count("complexes"),
            Some(4)
        );
        // A last cache of each core's own is no complex.
        assert_eq!(
            places("pack:2 l2:4 core:1 pu:1").count("complexes"),
            Some(2)
        );
        let one = places("pu:1");
        assert_eq!(one.steps(), BTreeSet::from([1]));
        assert_eq!(one.steps_and_neighbours(), BTreeSet::from([1]));
    }
}
