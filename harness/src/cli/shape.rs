//! The options that shape a guest: so many CPUs, or the structure of a machine.

use std::path::Path;
use std::str::FromStr;

use clap::Args;

use super::Context;
use super::machine::foreign;
use crate::fault::{Fault, Result};
use crate::guest::Shape;
use crate::guest::shape::{Mirror, Per, Scale};
use crate::machine;
use crate::machine::topology::Topology;
use crate::machine::{hwloc, known};

/// Options of every command that boots guests.
#[derive(Debug, Args)]
pub struct GuestArguments {
    /// The guests' CPUs [default: 1]
    #[arg(long, conflicts_with = "guest")]
    cpus: Option<u32>,
    /// The guests' memory in MiB [default: 1024; of shaped guests more, with their CPUs]
    #[arg(long)]
    memory: Option<u32>,
    /// Shape the guests after a machine: 'host' for this one, 'node' or 'node:1' for a NUMA node of it,
    /// a known one (x1.32xlarge), hwloc's words ('pack:2 numa:1 core:4 pu:2'), or an XML
    /// file that lstopo wrote
    #[arg(long, value_name = "MACHINE")]
    guest: Option<String>,
    /// So much of the cores of each part, such as 1/8, which keeps the structure; 'fit' for as much as
    /// this machine has CPUs for
    #[arg(long, requires = "guest")]
    scale: Option<ScaleChoice>,
    /// What a vCPU of a shaped guest stands for
    #[arg(long, value_enum, default_value_t = Per::Thread, requires = "guest")]
    per: Per,
}

/// How `--scale` is given.
#[derive(Debug, Clone, Copy)]
enum ScaleChoice {
    Fit,
    Share(Scale),
}

impl FromStr for ScaleChoice {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<ScaleChoice, String> {
        match text {
            "fit" => Ok(ScaleChoice::Fit),
            text => text.parse().map(ScaleChoice::Share),
        }
    }
}

impl GuestArguments {
    /// The shape that is meant; what it lacks of the machine is said.
    ///
    /// # Errors
    /// A user fault for a machine that is not known, or what does not fit in a guest.
    pub(super) fn shape(&self, context: &Context) -> Result<Shape> {
        let Some(name) = &self.guest else {
            return Shape::plain(self.cpus.unwrap_or(1), self.memory.unwrap_or(1024));
        };
        let (topology, node) = meant(context, name)?;
        let mirror = match self.scale {
            Some(ScaleChoice::Fit) => Mirror::fitting(&topology, node, self.per, machine::cpus())?,
            Some(ScaleChoice::Share(scale)) => Mirror::of(&topology, node, self.per, scale)?,
            None => Mirror::of(&topology, node, self.per, Scale::ALL)?,
        };
        let shape = mirror.shape(self.memory)?;
        context.progress.say(&format!(
            "guests like {name}: {}, {} MiB",
            shape.words(),
            shape.memory_mib
        ));
        for note in &mirror.notes {
            context.progress.say(&format!("of {name}: {note}"));
        }
        Ok(shape)
    }
}

/// A machine by what it is called on the command line, and the number of the node that is meant.
fn meant(context: &Context, name: &str) -> Result<(Topology, Option<u32>)> {
    let node = name.strip_prefix("node");
    match node.map(|rest| rest.strip_prefix(':').unwrap_or(rest)) {
        Some("") => {
            let here = hwloc::here()?;
            let first = first_node(&here);
            return Ok((here, Some(first)));
        }
        Some(number) if number.bytes().all(|b| b.is_ascii_digit()) => {
            let number = number.parse();
            let number = number.map_err(|_| Fault::user(format!("{name} is no NUMA node")))?;
            return Ok((hwloc::here()?, Some(number)));
        }
        _ => {}
    }
    let topology = match name {
        "host" => hwloc::here()?,
        file if file.ends_with(".xml") => {
            foreign::xml(context.home.cache_root(), Path::new(file))?.0
        }
        words if words.contains(':') => foreign::words(context.home.cache_root(), words)?.0,
        name => known::find(name)?.topology()?,
    };
    Ok((topology, None))
}

/// The number of the node with the lowest one.
fn first_node(topology: &Topology) -> u32 {
    let nodes = topology.parts(machine::topology::Is::Node);
    nodes
        .iter()
        .filter_map(|node| node.number)
        .min()
        .unwrap_or(0)
}
