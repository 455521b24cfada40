//! What a machine is made of: packages, dies, caches, cores and hardware threads, with the memory
//! that is near to each, and how far it is from the others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A machine. What is offline is counted, and is not in the tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// All of it; what is in it lies inside.
    pub machine: Part,
    /// Numbers of the CPUs that are offline, ascending.
    pub offline: Vec<u32>,
    /// Numbers of the CPUs that are online and that this process may not use: a cgroup or a
    /// container keeps them from it. Ascending.
    pub disallowed: Vec<u32>,
    /// Kinds of cores, the weakest first; none where all are alike or nothing is known.
    pub kinds: Vec<Kind>,
    /// From each NUMA node (in the order of the tree) to each, as firmware says, 10 being near; none
    /// where that is not known.
    pub distances: Option<Vec<Vec<u64>>>,
    /// What the machine says of itself: `DMIProductName`, `CPUModel`.
    pub facts: BTreeMap<String, String>,
}

/// A part of a machine, with the parts inside it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    pub is: Is,
    /// The system's number, where it has one. Not unique among the cores of several packages.
    pub number: Option<u32>,
    /// Of a cache or a NUMA node.
    pub bytes: Option<u64>,
    /// NUMA nodes that are local to all of it, and to no part inside it alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Part>,
    /// In the order in which they lie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<Part>,
}

/// What a part is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Is {
    /// The whole machine.
    #[default]
    Machine,
    /// What lies in a socket.
    Package,
    /// A piece of silicon, where a package has several.
    Die,
    /// Parts that lie near each other, of which no more is known.
    Group,
    /// A cache of this level, for data or for both.
    Cache(u8),
    /// A cache of instructions, of this level.
    InstructionCache(u8),
    /// A NUMA node.
    Node,
    /// A core.
    Core,
    /// A hardware thread: what the system calls a CPU.
    Thread,
}

/// CPUs of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// Numbers of its CPUs, ascending.
    pub cpus: Vec<u32>,
    /// `CoreType` and the like, as the system says.
    pub facts: BTreeMap<String, String>,
}

impl Topology {
    /// How many parts of this kind there are.
    pub fn count(&self, is: Is) -> usize {
        self.parts(is).len()
    }

    /// All parts of this kind, in the order of the tree, with memory before what lies inside.
    pub fn parts(&self, is: Is) -> Vec<&Part> {
        let mut found = Vec::new();
        self.machine.find(is, &mut found);
        found
    }

    /// The memory of all nodes, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let nodes = self.parts(Is::Node);
        nodes.iter().filter_map(|node| node.bytes).sum()
    }

    /// The sizes of all caches, by what they are, each once with how many there are: `(Cache(2),
    /// 512 KiB, 8)`, the nearest to a core first.
    pub fn caches(&self) -> Vec<(Is, u64, usize)> {
        let mut all: BTreeMap<(u8, bool, u64), usize> = BTreeMap::new();
        self.machine.each(&mut |part| {
            let key = match part.is {
                Is::Cache(level) => (level, false),
                Is::InstructionCache(level) => (level, true),
                _ => return,
            };
            *all.entry((key.0, key.1, part.bytes.unwrap_or(0)))
                .or_insert(0) += 1;
        });
        let sizes = all
            .into_iter()
            .map(|((level, instructions, bytes), count)| {
                let is = match instructions {
                    true => Is::InstructionCache(level),
                    false => Is::Cache(level),
                };
                (is, bytes, count)
            });
        sizes.collect()
    }

    /// Threads of a core that has most of them.
    pub fn threads_per_core(&self) -> usize {
        let cores = self.parts(Is::Core);
        cores
            .iter()
            .map(|core| core.inside.len())
            .max()
            .unwrap_or(1)
            .max(1)
    }
}

impl Part {
    fn find<'a>(&'a self, is: Is, found: &mut Vec<&'a Part>) {
        if self.is == is {
            found.push(self);
        }
        for part in self.memory.iter().chain(&self.inside) {
            part.find(is, found);
        }
    }

    /// It and all in it, memory before what lies inside.
    pub(super) fn each(&self, see: &mut impl FnMut(&Part)) {
        see(self);
        for part in self.memory.iter().chain(&self.inside) {
            part.each(see);
        }
    }

    /// Takes the sizes of its NUMA nodes away: they are not known.
    pub(super) fn forget_memory(&mut self) {
        if self.is == Is::Node {
            self.bytes = None;
        }
        let inside = self.memory.iter_mut().chain(&mut self.inside);
        inside.for_each(Part::forget_memory);
    }

    /// Numbers of the CPUs in it, ascending.
    pub fn cpus(&self) -> Vec<u32> {
        let mut threads = Vec::new();
        self.find(Is::Thread, &mut threads);
        let mut cpus: Vec<u32> = threads.iter().filter_map(|thread| thread.number).collect();
        cpus.sort_unstable();
        cpus
    }
}
