//! How a guest's CPUs and memory lie: packages, dies, cores, threads, and NUMA nodes with the
//! distances between them.

use serde::{Deserialize, Serialize};

/// What lies in what. Every package is like every other, as QEMU wants it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// At least 1.
    pub packages: u32,
    /// Of a package, at least 1.
    pub dies: u32,
    /// Of a die, at least 1.
    pub cores: u32,
    /// Of a core, at least 1.
    pub threads: u32,
    /// NUMA nodes, at least 1; all CPUs lie in them.
    pub nodes: Vec<Node>,
    /// From each node to each, 10 to itself and more to others, at most 254; none leaves it to the
    /// guest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distances: Option<Vec<Vec<u8>>>,
}

/// A NUMA node of a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Numbers of its vCPUs, ascending; none in a node of memory alone.
    pub cpus: Vec<u32>,
    /// Its memory in MiB, at least 1.
    pub memory_mib: u32,
}

/// Where a vCPU lies: numbers of its package, of its die in that, and of its core in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// From 0.
    pub package: u32,
    /// From 0 in each package.
    pub die: u32,
    /// From 0 in each die.
    pub core: u32,
}

impl Layout {
    /// vCPUs in all.
    pub fn cpus(&self) -> u32 {
        self.packages * self.dies * self.cores * self.threads
    }

    /// The same with all cores of a package in one die.
    pub(super) fn without_dies(&self) -> Layout {
        Layout {
            dies: 1,
            cores: self.dies * self.cores,
            ..self.clone()
        }
    }

    /// Where QEMU puts a vCPU: the threads of a core come first, then the cores of a die, its
    /// package, and the next.
    pub fn place(&self, cpu: u32) -> Place {
        let core = cpu / self.threads;
        let die = core / self.cores;
        Place {
            package: die / self.dies,
            die: die % self.dies,
            core: core % self.cores,
        }
    }

    /// The node of a vCPU.
    pub fn node(&self, cpu: u32) -> Option<usize> {
        let has = |node: &Node| node.cpus.contains(&cpu);
        self.nodes.iter().position(has)
    }

    /// QEMU's words for it; each node's memory is bound to the host's node of that number in `hosts`,
    /// and taken at once where `whole` says so.
    pub(super) fn arguments(&self, extra_mib: u32, hosts: &[u32], whole: bool) -> Vec<String> {
        let mut words = vec![
            "-smp".into(),
            format!(
                "{},sockets={},dies={},cores={},threads={}",
                self.cpus(),
                self.packages,
                self.dies,
                self.cores,
                self.threads
            ),
        ];
        for (number, node) in self.nodes.iter().enumerate() {
            // What a boot has beyond its shape lies in the first node.
            let extra = if number == 0 { extra_mib } else { 0 };
            let memory = memory_argument(number, node.memory_mib + extra, hosts.get(number), whole);
            words.extend(["-object".into(), memory]);
            let runs = runs(&node.cpus).map(|(first, last)| format!(",cpus={first}-{last}"));
            let cpus: String = runs.collect();
            words.extend([
                "-numa".into(),
                format!("node,nodeid={number},memdev=memory{number}{cpus}"),
            ]);
        }
        for (from, row) in self.distances.iter().flatten().enumerate() {
            for (to, distance) in row.iter().enumerate().filter(|(to, _)| *to != from) {
                words.extend([
                    "-numa".into(),
                    format!("dist,src={from},dst={to},val={distance}"),
                ]);
            }
        }
        words
    }
}

/// QEMU's words for the memory of one node.
pub(super) fn memory_argument(number: usize, mib: u32, host: Option<&u32>, whole: bool) -> String {
    let mut words = format!("memory-backend-ram,id=memory{number},size={mib}M");
    if let Some(host) = host {
        words += &format!(",host-nodes={host},policy=bind");
    }
    if whole {
        words += ",prealloc=on";
    }
    words
}

/// The first and last of each run of consecutive numbers.
fn runs(numbers: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    numbers
        .chunk_by(|a, b| a + 1 == *b)
        .filter_map(|run| Some((*run.first()?, *run.last()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_by_two() -> Layout {
        let node = |cpus: [u32; 4]| Node {
            cpus: cpus.to_vec(),
            memory_mib: 256,
        };
        Layout {
            packages: 2,
            dies: 1,
            cores: 2,
            threads: 2,
            nodes: vec![node([0, 1, 2, 3]), node([4, 5, 6, 7])],
            distances: Some(vec![vec![10, 21], vec![31, 10]]),
        }
    }

    #[test]
    fn vcpus_are_numbered_thread_by_thread() {
        let layout = two_by_two();
        assert_eq!(layout.cpus(), 8);
        let place = |package, die, core| Place { package, die, core };
        assert_eq!(layout.place(0), place(0, 0, 0));
        assert_eq!(layout.place(3), place(0, 0, 1));
        assert_eq!(layout.place(6), place(1, 0, 1));
        assert_eq!(layout.node(5), Some(1));
        let dies = Layout { dies: 2, ..layout };
        assert_eq!(dies.place(6), place(0, 1, 1));
        assert_eq!(dies.place(15), place(1, 1, 1));
    }

    #[test]
    fn qemu_is_told_all_of_it() {
        let words = two_by_two().arguments(6, &[1, 0], false);
        assert_eq!(
            words.join(" "),
            "-smp 8,sockets=2,dies=1,cores=2,threads=2 \
             -object memory-backend-ram,id=memory0,size=262M,host-nodes=1,policy=bind \
             -numa node,nodeid=0,memdev=memory0,cpus=0-3 \
             -object memory-backend-ram,id=memory1,size=256M,host-nodes=0,policy=bind \
             -numa node,nodeid=1,memdev=memory1,cpus=4-7 \
             -numa dist,src=0,dst=1,val=21 -numa dist,src=1,dst=0,val=31"
        );
    }

    #[test]
    fn scattered_numbers_are_several_runs() {
        let found: Vec<_> = runs(&[0, 1, 4, 6, 7]).collect();
        assert_eq!(found, [(0, 1), (4, 4), (6, 7)]);
    }
}
