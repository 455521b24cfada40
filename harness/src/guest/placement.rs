//! Where a guest's vCPUs and memory go on this machine: one vCPU to a CPU, its packages and nodes on
//! those of the machine, and CPUs left for everything else.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Shape;
use crate::fault::{Fault, Result};
use crate::machine::exclusive::Exclusive;
use crate::machine::files::Files;
use crate::machine::topology::{Is, Topology};
use crate::machine::{self, hwloc};
use crate::progress::Progress;
use crate::vm::pins::may_bind;
use crate::vm::{Clock, Pins};

/// Pins, with what they can't do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// None where the machine has too few CPUs.
    pub pins: Option<Pins>,
    /// What is not as it should be, a sentence each.
    pub notes: Vec<String>,
}

impl Placement {
    /// Places a guest on this machine, with the right to measure on it: in real time that is waited
    /// for, and in emulated time a guest that has not got it is not held on the CPUs of one that has.
    ///
    /// # Errors
    /// A host fault if the machine can't be read; a user fault as [`Placement::check`] has; an
    /// interrupt.
    pub fn claim(
        shape: &Shape,
        clock: Clock,
        progress: &Progress,
    ) -> Result<(Placement, Option<Exclusive>)> {
        let right = match clock {
            Clock::Real => Some(Exclusive::wait(progress)?),
            Clock::Emulated => Exclusive::try_take()?,
            Clock::Virtual => None,
        };
        let mut placement = Placement::here(shape, clock)?;
        placement.check(clock)?;
        if clock == Clock::Emulated && right.is_none() {
            placement.pins = None;
            let note = "another ktrial is on this machine: nothing is pinned";
            placement.notes.push(note.into());
        }
        for note in &placement.notes {
            progress.say(&format!("guests: {note}"));
        }
        Ok((placement, right))
    }

    /// Places a guest on this machine. In virtual time nothing is pinned: time is instructions, and its
    /// vCPUs take turns on one thread.
    ///
    /// # Errors
    /// A host fault if the machine can't be read.
    pub fn here(shape: &Shape, clock: Clock) -> Result<Placement> {
        let mut placement = match clock {
            Clock::Virtual => Placement::default(),
            Clock::Real | Clock::Emulated => {
                let has_nodes = Files::here().has("sys/devices/system/node");
                place(&hwloc::here()?, shape, |node| has_nodes && may_bind(node))
            }
        };
        let dies = shape.layout.as_ref().map_or(1, |layout| layout.dies);
        if dies > 1 && !clock.has_dies() {
            let note = "emulated processors have no dies: a package's cores are in one";
            placement.notes.push(note.into());
        }
        if clock == Clock::Virtual && shape.cpus as usize > machine::cpus() {
            placement.notes.push(format!(
                "{} vCPUs take turns: virtual time says nothing of how they scale",
                shape.cpus
            ));
        }
        Ok(placement)
    }

    /// How guests lie, without the numbers: `pinned, memory bound`; empty where
    /// nothing is held.
    pub fn words(&self) -> String {
        let Some(pins) = &self.pins else {
            return String::new();
        };
        let bound = if pins.nodes.is_empty() {
            ""
        } else {
            ", memory bound"
        };
        let alone = if pins.others.is_empty() {
            ""
        } else {
            ", QEMU's other threads apart"
        };
        format!("pinned{bound}{alone}")
    }

    /// Refuses to measure in real time what has to share CPUs.
    ///
    /// # Errors
    /// A user fault that says how many there are.
    pub fn check(&self, clock: Clock) -> Result<()> {
        match &self.pins {
            None if clock == Clock::Real => Err(Fault::user(self.notes.join("; "))
                .next("in real time each vCPU wants a CPU of its own: give fewer --cpus, a --scale, or --clock virtual")),
            _ => Ok(()),
        }
    }
}

/// A core that is still free.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Core {
    /// Place of its node in the order of the tree.
    node: usize,
    /// Those that may be used.
    threads: Vec<u32>,
}

/// Places a guest on a machine; `may_bind` says whether memory can be bound to one of its nodes.
pub fn place(host: &Topology, shape: &Shape, may_bind: impl Fn(u32) -> bool) -> Placement {
    let cores = cores(host);
    let usable: Vec<u32> = cores.iter().flat_map(|c| c.threads.clone()).collect();
    if shape.cpus as usize > usable.len() {
        return Placement {
            pins: None,
            notes: vec![format!(
                "{} vCPUs share {} CPUs: nothing is pinned",
                shape.cpus,
                usable.len()
            )],
        };
    }
    let mut notes = Vec::new();
    let groups = groups(shape);
    let threads = shape.layout.as_ref().map_or(1, |layout| layout.threads) as usize;
    let (vcpus, nodes) = fill(cores.clone(), &groups, threads, &mut notes);
    let others = others(&cores, &vcpus, &mut notes);
    let numbers: Vec<Option<u32>> = host.parts(Is::Node).iter().map(|n| n.number).collect();
    let number = |at: &usize| numbers.get(*at).copied().flatten();
    let mut bound: Vec<u32> = nodes.iter().filter_map(number).collect();
    bound.retain(|node| may_bind(*node));
    if bound.len() != nodes.len() {
        bound.clear();
        notes
            .push("memory is bound to no node: the system has none, or does not let ktrial".into());
    }
    Placement {
        pins: Some(Pins {
            vcpus,
            others,
            nodes: bound,
        }),
        notes,
    }
}

/// The vCPUs of each of the guest's nodes.
fn groups(shape: &Shape) -> Vec<Vec<u32>> {
    match &shape.layout {
        Some(layout) => layout.nodes.iter().map(|node| node.cpus.clone()).collect(),
        None => vec![(0..shape.cpus).collect()],
    }
}

/// The machine's cores, that of its first CPU last: most interrupts go there.
fn cores(host: &Topology) -> Vec<Core> {
    let located = host.usable();
    let mut cores: Vec<Core> = located
        .chunk_by(|a, b| a.core == b.core)
        .map(|threads| Core {
            node: threads[0].node,
            threads: threads.iter().map(|thread| thread.cpu).collect(),
        })
        .collect();
    cores.sort_by_key(|core| core.threads.contains(&0));
    cores
}

/// A CPU for each vCPU and a node for each of the guest's: each node goes where most of its cores fit.
fn fill(
    mut free: Vec<Core>,
    groups: &[Vec<u32>],
    threads: usize,
    notes: &mut Vec<String>,
) -> (Vec<u32>, Vec<usize>) {
    let count: usize = groups.iter().map(Vec::len).sum();
    let mut vcpus = vec![0; count];
    let mut nodes = Vec::new();
    let (mut scattered, mut torn) = (false, false);
    for group in groups {
        let fits = |node: usize| {
            let cores = free.iter().filter(|core| core.node == node);
            cores
                .map(|core| core.threads.len() / threads)
                .sum::<usize>()
        };
        let all: BTreeSet<usize> = free.iter().map(|core| core.node).collect();
        let used = |node: &usize| nodes.contains(node);
        let wanted = group.len() / threads;
        // The first empty one in which all of it fits, else the one with most room.
        let best = all.iter().copied().max_by_key(|node| {
            let room = fits(*node).min(wanted);
            (room, !used(node), std::cmp::Reverse(*node))
        });
        let node = best.unwrap_or(0);
        for core in group.chunks(threads) {
            let (cpus, whole) = take(&mut free, node, core.len());
            torn |= !whole;
            scattered |= cpus.iter().any(|(_, at)| *at != node);
            for (vcpu, (cpu, _)) in core.iter().zip(cpus) {
                vcpus[*vcpu as usize] = cpu;
            }
        }
        nodes.push(node);
    }
    let distinct: BTreeSet<&usize> = nodes.iter().collect();
    if distinct.len() < nodes.len() {
        notes.push(format!(
            "{} nodes of the guest lie on {} of this machine",
            nodes.len(),
            distinct.len()
        ));
    }
    if scattered {
        notes.push("CPUs of one node of the guest lie on several of this machine".into());
    }
    if torn {
        notes.push("threads of one core of the guest lie on several of this machine".into());
    }
    (vcpus, nodes)
}

/// Takes `count` threads of one core, in this node if it can; says for each in which node it lies, and
/// whether they are of one core.
fn take(free: &mut Vec<Core>, node: usize, count: usize) -> (Vec<(u32, usize)>, bool) {
    let has = |core: &Core| core.threads.len() >= count;
    // Whole cores first: a second guest core on the threads of a first one shares its pipelines.
    let position = |near: bool, full: usize| {
        let fits = |core: &Core| has(core) && (core.node == node || !near);
        free.iter()
            .position(|core| fits(core) && core.threads.len() >= full)
    };
    let most = free
        .iter()
        .filter(|core| core.node == node)
        .map(|c| c.threads.len());
    let most = most.max().unwrap_or(0);
    let at = position(true, most)
        .or_else(|| position(true, 0))
        .or_else(|| position(false, 0));
    if let Some(at) = at {
        let core = &mut free[at];
        let node = core.node;
        let cpus = core.threads.drain(..count).map(|cpu| (cpu, node)).collect();
        free.retain(|core| !core.threads.is_empty());
        return (cpus, true);
    }
    let mut cpus = Vec::new();
    while cpus.len() < count {
        let near = free.iter().position(|core| core.node == node);
        let Some(core) = free.get_mut(near.unwrap_or(0)) else {
            break;
        };
        cpus.push((core.threads.remove(0), core.node));
        free.retain(|core| !core.threads.is_empty());
    }
    (cpus, false)
}

/// The CPUs for all else: of cores on which no vCPU runs, or else those on which none runs.
fn others(cores: &[Core], vcpus: &[u32], notes: &mut Vec<String>) -> Vec<u32> {
    let is_measured = |cpu: &u32| vcpus.contains(cpu);
    let apart = cores
        .iter()
        .filter(|core| !core.threads.iter().any(is_measured));
    let mut others: Vec<u32> = apart.flat_map(|core| core.threads.clone()).collect();
    if others.is_empty() {
        let all = cores.iter().flat_map(|core| core.threads.clone());
        others = all.filter(|cpu| !is_measured(cpu)).collect();
        notes.push(match others.is_empty() {
            true => "no CPU is left for QEMU's other threads and ktrial: they run on measured ones"
                .into(),
            false => "QEMU's other threads and ktrial share cores with measured CPUs".into(),
        });
    }
    others.sort_unstable();
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::shape::{Mirror, Per, Scale};

    fn machine(words: &str) -> Topology {
        hwloc::synthetic(words).unwrap()
    }

    fn shape(words: &str) -> Shape {
        let mirror = Mirror::of(&machine(words), None, Per::Thread, Scale::ALL).unwrap();
        mirror.shape(None).unwrap()
    }

    fn pins(placement: &Placement) -> &Pins {
        placement.pins.as_ref().unwrap()
    }

    /// hwloc numbers CPUs in the order of its words: core 0 of package 0 has 0 and 1, package 1 begins
    /// with 8.
    const HOST: &str = "pack:2 numa:1 core:4 pu:2";

    #[test]
    fn nodes_lie_on_nodes_and_cores_on_cores() {
        let placement = place(&machine(HOST), &shape("pack:2 numa:1 core:2 pu:2"), |_| {
            true
        });
        let pins = pins(&placement);
        // The core of CPU 0 is taken last.
        assert_eq!(pins.vcpus, [2, 3, 4, 5, 8, 9, 10, 11]);
        assert_eq!(pins.nodes, [0, 1]);
        assert_eq!(pins.others, [0, 1, 6, 7, 12, 13, 14, 15]);
        assert_eq!(placement.notes, Vec::<String>::new());
    }

    #[test]
    fn one_vcpu_a_core_leaves_its_other_thread_alone() {
        let placement = place(&machine(HOST), &Shape::plain(4, 1024).unwrap(), |_| true);
        let pins = pins(&placement);
        // Only the second package has four cores besides that of CPU 0, but all four fit in the first.
        assert_eq!(pins.nodes, [0]);
        assert_eq!(pins.vcpus, [2, 4, 6, 0]);
        assert_eq!(pins.others, (8..16).collect::<Vec<_>>());
    }

    #[test]
    fn the_whole_machine_leaves_nothing_and_says_so() {
        let placement = place(&machine(HOST), &shape(HOST), |_| true);
        let pins = pins(&placement);
        let all: BTreeSet<u32> = pins.vcpus.iter().copied().collect();
        assert_eq!(all, (0..16).collect());
        assert!(pins.others.is_empty());
        assert_eq!(placement.notes.len(), 1);
        assert!(
            placement.notes[0].contains("no CPU is left"),
            "{:?}",
            placement.notes
        );
    }

    #[test]
    fn what_does_not_fit_is_said_and_not_pinned() {
        let placement = place(
            &machine("core:2 pu:1"),
            &Shape::plain(4, 1024).unwrap(),
            |_| true,
        );
        assert_eq!(placement.pins, None);
        assert_eq!(placement.notes, ["4 vCPUs share 2 CPUs: nothing is pinned"]);
    }

    #[test]
    fn more_vcpus_than_cpus_are_refused_in_real_time_alone() {
        let shape = Shape::plain(4, 1024).unwrap();
        let placement = place(&machine("core:2 pu:1"), &shape, |_| true);
        let fault = placement.check(Clock::Real).unwrap_err();
        assert_eq!(fault.at, crate::fault::At::User);
        assert!(fault.what.contains("4 vCPUs share 2 CPUs"), "{fault}");
        assert!(placement.check(Clock::Emulated).is_ok());
        let fits = place(&machine(HOST), &shape, |_| true);
        assert!(fits.check(Clock::Real).is_ok());
        let whole = Placement::here(&shape, Clock::Virtual).unwrap();
        assert!(whole.pins.is_none() && whole.check(Clock::Virtual).is_ok());
    }

    #[test]
    fn a_guest_of_other_structure_is_placed_as_near_as_it_goes() {
        let host = machine("pack:1 numa:1 core:8 pu:1");
        let placement = place(&host, &shape("pack:2 numa:1 core:1 pu:2"), |_| true);
        let found = pins(&placement);
        assert_eq!(found.vcpus, [1, 2, 3, 4]);
        assert_eq!(found.nodes, [0, 0]);
        assert_eq!(
            placement.notes,
            [
                "2 nodes of the guest lie on 1 of this machine",
                "threads of one core of the guest lie on several of this machine",
            ]
        );
        let unbound = place(&host, &Shape::plain(2, 1024).unwrap(), |_| false);
        assert!(pins(&unbound).nodes.is_empty());
        assert!(unbound.notes[0].contains("bound to no node"));
    }

    #[test]
    fn forbidden_cpus_are_not_used() {
        let host = Topology {
            disallowed: vec![1, 2, 8],
            ..machine(HOST)
        };
        let placement = place(&host, &Shape::plain(13, 1024).unwrap(), |_| true);
        let pins = pins(&placement);
        assert!(pins.vcpus.iter().all(|cpu| ![1, 2, 8].contains(cpu)));
        assert!(
            placement
                .notes
                .iter()
                .any(|note| note.contains("several of this machine"))
        );
    }
}
