//! A guest's shape: how many CPUs, how much memory, and how they lie.

mod cut;
mod mirror;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::fault::{Fault, Result};
use crate::machine::places::Located;
use crate::vm::Layout;

pub use cut::Scale;
pub use mirror::{Mirror, Per};

/// The guest's shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Virtual CPUs, 1 to 255.
    pub cpus: u32,
    /// Memory in MiB before the boot's perturbation, at least 128.
    pub memory_mib: u32,
    /// How they lie; none leaves that to QEMU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
}

/// The most vCPUs that a guest has: more want an interrupt remapper.
pub const MOST_CPUS: u32 = 255;

impl Shape {
    /// So many CPUs in one package, and memory in one node.
    ///
    /// # Errors
    /// A user fault that names the option out of range.
    pub fn plain(cpus: u32, memory_mib: u32) -> Result<Shape> {
        let shape = Shape {
            cpus,
            memory_mib,
            layout: None,
        };
        shape.check()
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// A user fault that names the option out of range.
    pub fn check(self) -> Result<Shape> {
        if !(1..=MOST_CPUS).contains(&self.cpus) {
            let fault = Fault::user(format!("{} vCPUs are not 1 to {MOST_CPUS}", self.cpus));
            return Err(fault.next("give other --cpus, or a smaller --scale"));
        }
        if !(128..=1 << 22).contains(&self.memory_mib) {
            return Err(Fault::user(format!(
                "--memory {} is not 128 to 4194304 MiB",
                self.memory_mib
            )));
        }
        Ok(self)
    }

    /// Where its vCPUs lie: as cores of one package, where nothing was asked for.
    pub fn located(&self) -> Vec<Located> {
        let plain = Layout {
            packages: 1,
            dies: 1,
            cores: self.cpus,
            threads: 1,
            nodes: Vec::new(),
            distances: None,
        };
        let layout = self.layout.as_ref().unwrap_or(&plain);
        let locate = |cpu| {
            let place = layout.place(cpu);
            let die = (place.package * layout.dies + place.die) as usize;
            Located {
                cpu,
                package: place.package as usize,
                die,
                node: layout.node(cpu).unwrap_or(0),
                complex: die,
                core: (cpu / layout.threads) as usize,
            }
        };
        (0..self.cpus).map(locate).collect()
    }

    /// `4 packages × 2 cores × 2 threads, 4 nodes`; `2 CPUs` where nothing more was asked for.
    pub fn words(&self) -> String {
        let Some(layout) = &self.layout else {
            return counted(self.cpus, "CPU");
        };
        let parts = [
            (layout.packages, "package", true),
            (layout.dies, "die", layout.dies > 1),
            (layout.cores, "core", true),
            (layout.threads, "thread", true),
        ];
        let parts = parts.into_iter().filter(|(_, _, shown)| *shown);
        let parts: Vec<String> = parts.map(|(n, word, _)| counted(n, word)).collect();
        let nodes = u32::try_from(layout.nodes.len()).unwrap_or(u32::MAX);
        format!("{}, {}", parts.join(" × "), counted(nodes, "node"))
    }
}

fn counted(count: u32, word: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural}")
}
