//! A guest that has the structure of a machine: its packages, dies, cores, threads and NUMA nodes.

use std::collections::BTreeMap;

use super::{Scale, Shape};
use crate::fault::{Fault, Result};
use crate::machine::places::Located;
use crate::machine::topology::{Is, Topology};
use crate::vm::Layout;
use crate::vm::layout::Node;

/// What a vCPU stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Per {
    /// A core of the machine.
    Core,
    /// A hardware thread.
    Thread,
}

/// A machine in the form in which QEMU takes one, with where each part comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    layout: Layout,
    /// Memory of each node of the layout in the machine, in bytes.
    bytes: Vec<u64>,
    /// What the layout does not have of the machine, a sentence each.
    pub notes: Vec<String>,
}

/// The least memory of a node: Linux leaves out smaller ones.
const LEAST_NODE_MIB: u32 = 64;

impl Mirror {
    /// The whole of a machine but for what may not be used, or only its node of that number; `scale`
    /// of the cores of each part.
    ///
    /// # Errors
    /// A user fault if there is no such node, or nothing that may be used in it.
    pub fn of(topology: &Topology, node: Option<u32>, per: Per, scale: Scale) -> Result<Mirror> {
        let mut cores = Cores::of(topology);
        if let Some(number) = node {
            cores.only(number)?;
        }
        if cores.all.is_empty() {
            return Err(Fault::user("this machine has no CPU that may be used"));
        }
        let mut notes = Vec::new();
        if !topology.kinds.is_empty() {
            notes.push("its cores are of several kinds, which the guest's are not".to_owned());
        }
        let threads = cores.threads(per, &mut notes);
        let dies = cores.dies(scale, &mut notes);
        let [packages, per_package, per_die] = sizes(&dies);
        let mut nodes = Nodes::default();
        let mut cpu = 0;
        for core in dies.iter().flatten().flatten() {
            nodes.add(core.node, (cpu..).take(threads));
            cpu += threads as u32;
        }
        if node.is_none() {
            for &memory_alone in &cores.without {
                nodes.add(memory_alone, std::iter::empty());
            }
        }
        let layout = Layout {
            packages,
            dies: per_package,
            cores: per_die,
            threads: threads as u32,
            distances: nodes.distances(topology),
            nodes: nodes.cpus.into_iter().map(no_memory).collect(),
        };
        let all = topology.parts(Is::Node);
        let bytes = |at: &usize| all.get(*at).and_then(|node| node.bytes).unwrap_or(0);
        Ok(Mirror {
            layout,
            bytes: nodes.numbers.iter().map(bytes).collect(),
            notes,
        })
    }

    /// The largest share of a machine, one of a whole number, that has at most so many vCPUs.
    ///
    /// # Errors
    /// A user fault as [`Mirror::of`] has, or if even one core of each part is more.
    pub fn fitting(
        topology: &Topology,
        node: Option<u32>,
        per: Per,
        cpus: usize,
    ) -> Result<Mirror> {
        let most = u32::try_from(topology.count(Is::Thread)).unwrap_or(u32::MAX);
        for whole in 1..=most.max(1) {
            let mirror = Mirror::of(topology, node, per, Scale::one_of(whole))?;
            if mirror.cpus() as usize <= cpus {
                return Ok(mirror);
            }
        }
        let least = Mirror::of(topology, node, per, Scale::one_of(most))?.cpus();
        Err(Fault::user(format!(
            "with one core of each part it still has {least} vCPUs, and this machine has {cpus} CPUs"
        ))
        .next("--per core halves it where cores have two threads; virtual time takes any number"))
    }

    /// vCPUs in all.
    pub fn cpus(&self) -> u32 {
        self.layout.cpus()
    }

    /// A guest of this structure with so much memory, which lies in its nodes as the machine's does; by
    /// default 1 GiB, and 32 MiB more for each vCPU beyond the eighth.
    ///
    /// # Errors
    /// A user fault if it has too many vCPUs, or too little memory for its nodes.
    pub fn shape(&self, memory_mib: Option<u32>) -> Result<Shape> {
        let cpus = self.cpus();
        let nodes = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let least = nodes.saturating_mul(LEAST_NODE_MIB);
        let usual = (1024 + 32 * cpus.saturating_sub(8)).max(2 * least);
        let memory_mib = memory_mib.unwrap_or(usual);
        if memory_mib < least {
            return Err(Fault::user(format!(
                "--memory {memory_mib} is too little for {nodes} nodes, which want {LEAST_NODE_MIB} \
                 MiB each"
            )));
        }
        let mut layout = self.layout.clone();
        let shares = shares(memory_mib, &self.bytes);
        for (node, mib) in layout.nodes.iter_mut().zip(shares) {
            node.memory_mib = mib;
        }
        let shape = Shape {
            cpus,
            memory_mib,
            layout: Some(layout),
        };
        shape.check()
    }
}

/// One core of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Core {
    package: usize,
    /// Counted through the whole machine.
    die: usize,
    /// The place of its node among all of the machine.
    node: usize,
    /// How many of its threads may be used.
    threads: usize,
}

impl Core {
    fn of(threads: &[Located]) -> Option<Core> {
        let first = threads.first()?;
        Some(Core {
            package: first.package,
            die: first.die,
            node: first.node,
            threads: threads.len(),
        })
    }
}

/// Cores in the order in which they lie: by package, and by die in that.
type Dies = Vec<Vec<Vec<Core>>>;

struct Cores {
    all: Vec<Core>,
    /// The system's numbers of the nodes.
    nodes: Vec<Option<u32>>,
    /// Places of those in which no core lies.
    without: Vec<usize>,
}

impl Cores {
    fn of(topology: &Topology) -> Cores {
        let located = topology.located();
        let nodes: Vec<_> = topology.parts(Is::Node).iter().map(|n| n.number).collect();
        let bare = |node: &usize| located.iter().all(|cpu| cpu.node != *node);
        let without = (0..nodes.len()).filter(bare).collect();
        let usable = topology.usable();
        Cores {
            all: usable
                .chunk_by(|a, b| a.core == b.core)
                .filter_map(Core::of)
                .collect(),
            nodes,
            without,
        }
    }

    fn only(&mut self, number: u32) -> Result<()> {
        let at = self.nodes.iter().position(|node| *node == Some(number));
        self.all.retain(|core| Some(core.node) == at);
        if self.all.is_empty() {
            let numbers: Vec<u32> = self.nodes.iter().copied().flatten().collect();
            let numbers = crate::machine::text::ranges(&numbers);
            return Err(
                Fault::user(format!("there is no CPU to be used in a node {number}"))
                    .next(format!("the nodes are {numbers}")),
            );
        }
        Ok(())
    }

    /// Threads that each core of the guest has.
    fn threads(&self, per: Per, notes: &mut Vec<String>) -> usize {
        let counts = self.all.iter().map(|core| core.threads);
        let (least, most) = (counts.clone().min(), counts.max());
        match (per, least, most) {
            (Per::Thread, Some(least), Some(most)) if least < most => {
                notes.push(format!(
                    "its cores have {least} to {most} threads: the guest has {least} in each"
                ));
                least
            }
            (Per::Thread, Some(least), _) => least,
            _ => 1,
        }
    }

    /// The cores that the guest has: so many of each node in each die, then as many in each die as in
    /// every other, and as many dies in each package.
    fn dies(&self, scale: Scale, notes: &mut Vec<String>) -> Dies {
        let mut packages: BTreeMap<usize, BTreeMap<usize, BTreeMap<usize, Vec<Core>>>> =
            BTreeMap::new();
        for core in &self.all {
            let dies = packages.entry(core.package).or_default();
            let nodes = dies.entry(core.die).or_default();
            nodes.entry(core.node).or_default().push(core.clone());
        }
        let all_dies = || packages.values().flat_map(BTreeMap::values);
        let parts = all_dies().flat_map(BTreeMap::values);
        if parts.map(Vec::len).any(|cores| !scale.leaves_any(cores)) {
            notes.push("so small a share is less than a core of each part: it has one".to_owned());
        }
        let kept = |nodes: &BTreeMap<usize, Vec<Core>>| -> Vec<Vec<Core>> {
            let cut = |cores: &Vec<Core>| cores[..scale.of(cores.len())].to_vec();
            nodes.values().map(cut).collect()
        };
        let size = |nodes: Vec<Vec<Core>>| nodes.iter().map(Vec::len).sum::<usize>();
        let cores = all_dies().map(kept).map(size).min().unwrap_or(0);
        let dies = packages.values().map(BTreeMap::len).min().unwrap_or(0);
        let result: Dies = packages
            .values()
            .map(|all| {
                all.values()
                    .take(dies)
                    .map(|nodes| level(kept(nodes), cores))
            })
            .map(Iterator::collect)
            .collect();
        let possible: usize = all_dies().map(kept).map(size).sum();
        let left_out = possible - result.iter().flatten().map(Vec::len).sum::<usize>();
        if left_out > 0 {
            notes.push(format!(
                "{left_out} of its cores are left out, for all packages of a guest are alike"
            ));
        }
        result
    }
}

/// `count` of the cores of a die, in their order, the last of the node that has most going first.
fn level(mut nodes: Vec<Vec<Core>>, count: usize) -> Vec<Core> {
    while nodes.iter().map(Vec::len).sum::<usize>() > count {
        if let Some(most) = nodes.iter_mut().rev().max_by_key(|cores| cores.len()) {
            most.pop();
        }
    }
    nodes.concat()
}

/// Packages, dies of each, and cores of each of these.
fn sizes(dies: &Dies) -> [u32; 3] {
    let first = dies.first();
    let die = first.and_then(|dies| dies.first());
    let size = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    [
        size(dies.len()),
        size(first.map_or(0, Vec::len)),
        size(die.map_or(0, Vec::len)),
    ]
}

/// The guest's nodes, in the order in which its CPUs come to them.
#[derive(Default)]
struct Nodes {
    /// Places among the machine's.
    numbers: Vec<usize>,
    cpus: Vec<Vec<u32>>,
}

impl Nodes {
    fn add(&mut self, node: usize, cpus: impl Iterator<Item = u32>) {
        let known = self.numbers.iter().position(|other| *other == node);
        let at = known.unwrap_or_else(|| {
            self.numbers.push(node);
            self.cpus.push(Vec::new());
            self.numbers.len() - 1
        });
        self.cpus[at].extend(cpus);
    }

    /// The machine's distances between them, if they are such as QEMU takes.
    fn distances(&self, topology: &Topology) -> Option<Vec<Vec<u8>>> {
        let all = topology
            .distances
            .as_ref()
            .filter(|_| self.numbers.len() > 1)?;
        let one = |from: usize, to: usize| {
            let distance = u8::try_from(*all.get(from)?.get(to)?).ok()?;
            let fits = match from == to {
                true => distance == 10,
                false => (10..255).contains(&distance),
            };
            fits.then_some(distance)
        };
        let row = |from: &usize| self.numbers.iter().map(|to| one(*from, *to)).collect();
        self.numbers.iter().map(row).collect()
    }
}

fn no_memory(cpus: Vec<u32>) -> Node {
    Node {
        cpus,
        memory_mib: 0,
    }
}

/// `all` MiB in proportion to `bytes`, whole MiB, none too small.
fn shares(all: u32, bytes: &[u64]) -> Vec<u32> {
    let count = bytes.len() as u128;
    let sum: u128 = bytes.iter().map(|b| u128::from(*b)).sum();
    let free = u128::from(all) - count * u128::from(LEAST_NODE_MIB);
    let share = |bytes: &u64| {
        let part = match sum {
            0 => free / count,
            sum => free * u128::from(*bytes) / sum,
        };
        LEAST_NODE_MIB + u32::try_from(part).unwrap_or(0)
    };
    let mut shares: Vec<u32> = bytes.iter().map(share).collect();
    let rest = all - shares.iter().sum::<u32>();
    if let Some(first) = shares.first_mut() {
        *first += rest;
    }
    shares
}
