//! Where everything of a machine lies in its picture: boxes in boxes, as `lstopo` draws them, with
//! memory on top and caches as bars over what shares them. Here are the coordinates; `machine.svg`
//! draws them.

mod block;
mod legend;

use std::collections::BTreeMap;

use serde::Serialize;

use super::text::{cache_name, size};
use super::topology::{Is, Part, Topology};
use crate::fault::{Fault, Result};
use block::{Block, grid, row, stack};

/// A picture ready to be drawn; lengths are pixels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drawing {
    title: String,
    width: u32,
    height: u32,
    boxes: Vec<Rectangle>,
    labels: Vec<Label>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Rectangle {
    /// Names of the style sheet.
    class: String,
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Label {
    class: &'static str,
    x: u32,
    /// Of the line that letters stand on.
    y: u32,
    text: String,
}

/// More parts than the largest machines have; such a picture has some ten megabytes.
const MOST_PARTS: usize = 40_000;
/// More nodes than a table of distances can show.
const MOST_NODES: usize = 16;
/// Around the whole picture.
const MARGIN: u32 = 12;
/// Between the picture's parts.
const APART: u32 = 14;

impl Drawing {
    /// Lays out a machine.
    ///
    /// # Errors
    /// A user fault if it has more parts than a picture can show.
    pub fn of(topology: &Topology, title: &str) -> Result<Drawing> {
        let mut parts = topology.offline.len();
        topology.machine.each(&mut |_| parts += 1);
        if parts > MOST_PARTS {
            return Err(Fault::user(format!(
                "a machine of {parts} parts can't be drawn: {MOST_PARTS} at most"
            ))
            .next("leave out --svg, or take --json"));
        }
        let artist = Artist::of(topology);
        let mut rows = vec![
            Block::label("title", title, 15),
            artist.block(&topology.machine),
        ];
        rows.extend(artist.offline());
        rows.extend(distances(topology));
        rows.push(legend::legend(topology));
        let mut all = stack(rows, APART);
        all.shift(MARGIN, MARGIN);
        Ok(Drawing {
            title: title.to_owned(),
            width: all.width + 2 * MARGIN,
            height: all.height + 2 * MARGIN,
            boxes: all.boxes,
            labels: all.labels,
        })
    }
}

/// The letter of a kind of cores, in the picture and its legend.
fn letter(kind: usize) -> char {
    let letters = ('A'..='Z').nth(kind);
    letters.unwrap_or('?')
}

/// Knows of each CPU what is to be seen.
struct Artist<'a> {
    topology: &'a Topology,
    kinds: BTreeMap<u32, usize>,
}

impl Artist<'_> {
    fn of(topology: &Topology) -> Artist<'_> {
        let kinds = topology.kinds.iter().enumerate();
        let kinds = kinds.flat_map(|(at, kind)| kind.cpus.iter().map(move |cpu| (*cpu, at)));
        Artist {
            topology,
            kinds: kinds.collect(),
        }
    }

    fn block(&self, part: &Part) -> Block {
        let mut rows: Vec<Block> = part.memory.iter().map(|node| self.block(node)).collect();
        let inside: Vec<Block> = part.inside.iter().map(|part| self.block(part)).collect();
        let text = self.text(part);
        match part.is {
            Is::Thread => rows.push(self.thread(part, &text)),
            Is::Node => rows.insert(0, Block::bar("memory", &text)),
            Is::Cache(_) => rows.push(Block::bar("cache", &text)),
            Is::InstructionCache(_) => rows.push(Block::bar("cache instructions", &text)),
            _ => {}
        }
        match part.is {
            Is::Core => rows.push(row(inside)),
            _ => rows.extend(grid(inside)),
        }
        let stacked = stack(rows, block::GAP).stretched();
        match self.frame(part) {
            Some(class) => stacked.framed(&class, &text),
            None => stacked,
        }
    }

    /// The class of what has a border and other parts inside.
    fn frame(&self, part: &Part) -> Option<String> {
        match part.is {
            Is::Machine => Some("machine".into()),
            Is::Package => Some("package".into()),
            Is::Die | Is::Group => Some("group".into()),
            Is::Core => Some(match self.kind(part) {
                Some(kind) => format!("core kind-{}", kind % legend::KINDS),
                None => "core".into(),
            }),
            _ => None,
        }
    }

    /// The kind of a core: that of its first thread.
    fn kind(&self, core: &Part) -> Option<usize> {
        self.kinds.get(core.cpus().first()?).copied()
    }

    fn text(&self, part: &Part) -> String {
        let numbered = |name: &str| match part.number {
            Some(number) => format!("{name} {number}"),
            None => name.to_owned(),
        };
        let sized = |name: String| match part.bytes {
            Some(bytes) => format!("{name} {}", size(bytes)),
            None => name.trim_end_matches(':').to_owned(),
        };
        match part.is {
            Is::Machine => match self.topology.memory_bytes() {
                0 => "machine".into(),
                bytes => format!("machine, {}", size(bytes)),
            },
            Is::Package => numbered("package"),
            Is::Die => numbered("die"),
            Is::Group => "group".into(),
            Is::Node => sized(numbered("node") + ":"),
            Is::Cache(_) | Is::InstructionCache(_) => sized(cache_name(part.is)),
            Is::Core => match self.kind(part) {
                Some(kind) => format!("{} {}", numbered("core"), letter(kind)),
                None => numbered("core"),
            },
            Is::Thread => part.number.map_or_else(|| "?".into(), |n| n.to_string()),
        }
    }

    fn thread(&self, thread: &Part, text: &str) -> Block {
        let is_forbidden = thread
            .number
            .is_some_and(|number| self.topology.disallowed.binary_search(&number).is_ok());
        match is_forbidden {
            true => Block::thread("thread forbidden", text),
            false => Block::thread("thread", text),
        }
    }

    /// CPUs that are offline, which belong to nothing.
    fn offline(&self) -> Option<Block> {
        let cpus = self.topology.offline.iter();
        let cpus = cpus.map(|cpu| Block::thread("thread offline", &cpu.to_string()));
        let cpus = grid(cpus.collect())?;
        Some(cpus.framed("group", "offline"))
    }
}

/// How far each node is from each.
fn distances(topology: &Topology) -> Option<Block> {
    let distances = topology.distances.as_ref()?;
    let nodes = topology.parts(Is::Node);
    if !(2..=MOST_NODES).contains(&distances.len()) {
        return None;
    }
    let name = |at: usize| {
        let number = nodes.get(at).and_then(|node| node.number);
        number.map_or_else(|| "?".into(), |number| number.to_string())
    };
    let head = (0..distances.len()).map(|at| Block::cell("head", &name(at)));
    let mut rows = vec![row(std::iter::once(Block::cell("head", "node"))
        .chain(head)
        .collect())];
    for (at, far) in distances.iter().enumerate() {
        let cells = far
            .iter()
            .map(|far| Block::cell("distance", &far.to_string()));
        rows.push(row(std::iter::once(Block::cell("head", &name(at)))
            .chain(cells)
            .collect()));
    }
    Some(stack(rows, 0).framed("group", "distances between nodes"))
}

#[cfg(test)]
mod tests;
