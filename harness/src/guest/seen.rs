//! What a guest says of its own shape, held against what was asked for.

use std::collections::{BTreeMap, BTreeSet};

use super::Shape;
use crate::vm::Layout;
use crate::vm::frames::Frame;

/// CPUs and nodes as the guest's kernel sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// By the number of a CPU: package, die and core, as the kernel numbers them, and its node.
    cpus: BTreeMap<u32, [Option<i64>; 4]>,
    /// By the number of a node: its memory in MiB, and its distances to all, in their order.
    nodes: BTreeMap<u32, (u64, Vec<u8>)>,
}

/// A number above this is none of a guest's, which has 255 CPUs at the most.
const MOST: u32 = 4_095;
/// Lines that are said, and characters of each: a guest is not trusted.
const LINES: usize = 6;
const CHARACTERS: usize = 300;

const PARTS: [&str; 4] = ["packages", "dies", "cores", "nodes"];

/// Firmware and the kernel itself keep some of a node's memory: at most so much of it, and so many MiB.
const KEPT: f64 = 0.15;
const KEPT_MIB: f64 = 96.0;

impl Seen {
    /// From the lines of its agent; none if it said nothing of it.
    pub fn of(frames: &[Frame]) -> Option<Seen> {
        let mut seen = Seen::default();
        for frame in frames {
            match frame {
                // What no guest has is what one made up.
                Frame::Cpu { number, .. } | Frame::Node { number, .. } if *number > MOST => {}
                Frame::Cpu { number, parts } => {
                    seen.cpus.insert(*number, *parts);
                }
                Frame::Node {
                    number,
                    mib,
                    distances,
                } => {
                    seen.nodes.insert(*number, (*mib, distances.clone()));
                }
                _ => {}
            }
        }
        (seen != Seen::default()).then_some(seen)
    }

    /// `4 packages, 4 nodes, 8 cores, 16 threads`.
    pub fn words(&self) -> String {
        let count = |part: usize| match self.sets(part, part == 1) {
            Ok(sets) => sets.len().to_string(),
            Err(_) => "unknown".into(),
        };
        format!(
            "packages {}, dies {}, nodes {}, cores {}, CPUs {}",
            count(0),
            count(1),
            count(3),
            count(2),
            self.cpus.len()
        )
    }

    /// What is not as it was asked for, a line each; `dies` says whether the guest can have any.
    pub fn differences(&self, shape: &Shape, dies: bool) -> Vec<String> {
        let mut lines = self.all_differences(shape, dies);
        lines.truncate(LINES);
        let cut = |line: String| line.chars().take(CHARACTERS).collect();
        lines.into_iter().map(cut).collect()
    }

    fn all_differences(&self, shape: &Shape, dies: bool) -> Vec<String> {
        let numbers: Vec<u32> = self.cpus.keys().copied().collect();
        if numbers != (0..shape.cpus).collect::<Vec<u32>>() {
            let found = crate::machine::text::ranges(&numbers);
            return vec![format!("it has CPUs {found}, not {}", shape.cpus)];
        }
        let Some(layout) = &shape.layout else {
            return Vec::new();
        };
        let mut differences = Vec::new();
        // Older kernels do not tell what die a CPU is on.
        let dies = dies && layout.dies > 1;
        for (part, name) in PARTS.into_iter().enumerate() {
            if part == 1 && !dies {
                continue;
            }
            let wanted = wanted(layout, part);
            match self.sets(part, dies) {
                Ok(found) if found == wanted => {}
                Ok(found) => differences.push(format!(
                    "its {name} are {}, not {}",
                    words(&found),
                    words(&wanted)
                )),
                Err(()) => differences.push(format!("it does not say what its {name} are")),
            }
        }
        differences.extend(self.node_differences(layout));
        differences
    }

    /// The CPUs of each part, or that the kernel does not tell.
    fn sets(&self, part: usize, dies: bool) -> Result<BTreeSet<Vec<u32>>, ()> {
        let mut sets: BTreeMap<Vec<i64>, Vec<u32>> = BTreeMap::new();
        for (cpu, parts) in &self.cpus {
            let mut parts = *parts;
            if !dies {
                parts[1] = Some(0);
            }
            // Dies are numbered in a package, cores in a die; nodes in the machine.
            let within = if part == 3 {
                &parts[3..]
            } else {
                &parts[..=part]
            };
            let key: Option<Vec<i64>> = within.iter().copied().collect();
            sets.entry(key.ok_or(())?).or_default().push(*cpu);
        }
        Ok(sets.into_values().collect())
    }

    fn node_differences(&self, layout: &Layout) -> Vec<String> {
        let mut differences = Vec::new();
        for (number, wanted) in (0..).zip(&layout.nodes) {
            let Some((mib, distances)) = self.nodes.get(&number) else {
                differences.push(format!("it has no node {number}"));
                continue;
            };
            let (least, most) = (f64::from(wanted.memory_mib), *mib as f64);
            if most < least * (1.0 - KEPT) - KEPT_MIB {
                differences.push(format!(
                    "node {number} has {mib} MiB, not {}",
                    wanted.memory_mib
                ));
            }
            let row = layout
                .distances
                .as_ref()
                .and_then(|all| all.get(number as usize));
            if row.is_some_and(|row| row != distances) {
                let row = row.into_iter().flatten();
                differences.push(format!(
                    "the distances of node {number} are {}, not {}",
                    list(distances.iter()),
                    list(row)
                ));
            }
        }
        differences
    }
}

fn wanted(layout: &Layout, part: usize) -> BTreeSet<Vec<u32>> {
    let mut sets: BTreeMap<[u32; 3], Vec<u32>> = BTreeMap::new();
    for cpu in 0..layout.cpus() {
        let place = layout.place(cpu);
        let key = match part {
            0 => [place.package, 0, 0],
            1 => [place.package, place.die, 0],
            2 => [place.package, place.die, place.core],
            _ => [layout.node(cpu).map_or(u32::MAX, |node| node as u32), 0, 0],
        };
        sets.entry(key).or_default().push(cpu);
    }
    sets.into_values().collect()
}

/// `0-3 | 4-7`.
fn words(sets: &BTreeSet<Vec<u32>>) -> String {
    let sets = sets.iter().map(|cpus| crate::machine::text::ranges(cpus));
    sets.collect::<Vec<_>>().join(" | ")
}

fn list<'a>(numbers: impl Iterator<Item = &'a u8>) -> String {
    numbers.map(u8::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vm::layout::Node;

    fn shape() -> Shape {
        let node = |cpus: [u32; 4]| Node {
            cpus: cpus.to_vec(),
            memory_mib: 512,
        };
        Shape {
            cpus: 8,
            memory_mib: 1024,
            layout: Some(Layout {
                packages: 2,
                dies: 1,
                cores: 2,
                threads: 2,
                nodes: vec![node([0, 1, 2, 3]), node([4, 5, 6, 7])],
                distances: Some(vec![vec![10, 21], vec![21, 10]]),
            }),
        }
    }

    /// As Linux numbers them in a guest: cores from 0 in each package.
    fn frames(change: impl Fn(&mut [Option<i64>; 4], u32)) -> Vec<Frame> {
        let mut frames: Vec<Frame> = (0..8)
            .map(|number| {
                let cpu = i64::from(number);
                let mut parts = [Some(cpu / 4), Some(0), Some(cpu / 2 % 2), Some(cpu / 4)];
                change(&mut parts, number);
                Frame::Cpu { number, parts }
            })
            .collect();
        frames.extend((0..2).map(|number| Frame::Node {
            number,
            mib: 470,
            distances: if number == 0 {
                vec![10, 21]
            } else {
                vec![21, 10]
            },
        }));
        frames
    }

    #[test]
    fn what_is_as_asked_for_has_no_difference() {
        let seen = Seen::of(&frames(|_, _| ())).unwrap();
        assert_eq!(seen.differences(&shape(), true), Vec::<String>::new());
        assert_eq!(seen.words(), "packages 2, dies 2, nodes 2, cores 4, CPUs 8");
        assert_eq!(Seen::of(&[]), None);
    }

    #[test]
    fn each_part_that_is_another_is_named() {
        let seen = Seen::of(&frames(|parts, cpu| {
            parts[3] = Some(0);
            parts[2] = Some(i64::from(cpu % 4));
        }));
        assert_eq!(
            seen.unwrap().differences(&shape(), true),
            [
                "its cores are 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7, not 0-1 | 2-3 | 4-5 | 6-7",
                "its nodes are 0-7, not 0-3 | 4-7",
            ]
        );
        // A kernel before Linux 5.3 does not tell of dies, which is no matter where there is one.
        let silent = Seen::of(&frames(|parts, _| parts[1] = None)).unwrap();
        assert_eq!(silent.differences(&shape(), true), Vec::<String>::new());
        let mut dies = shape();
        if let Some(layout) = &mut dies.layout {
            (layout.dies, layout.cores) = (2, 1);
        }
        assert_eq!(silent.differences(&dies, false), Vec::<String>::new());
        assert_eq!(
            silent.differences(&dies, true),
            [
                "it does not say what its dies are",
                "it does not say what its cores are"
            ]
        );
    }

    #[test]
    fn distances_memory_and_cpus_that_are_missing_are_named() {
        let mut lines = frames(|_, _| ());
        lines[8] = Frame::Node {
            number: 0,
            mib: 130,
            distances: vec![10, 20],
        };
        lines.remove(9);
        let seen = Seen::of(&lines).unwrap();
        assert_eq!(
            seen.differences(&shape(), true),
            [
                "node 0 has 130 MiB, not 512",
                "the distances of node 0 are 10 20, not 10 21",
                "it has no node 1",
            ]
        );
        // What a guest makes up has a bound.
        lines.extend((5_000..9_000).map(|number| Frame::Cpu {
            number,
            parts: [Some(0); 4],
        }));
        lines.remove(3);
        assert_eq!(
            Seen::of(&lines).unwrap().differences(&shape(), true),
            ["it has CPUs 0-2,4-7, not 8"]
        );
    }
}
