//! `ktrial machine`: what this machine is and is made of, or another one.

pub(super) mod foreign;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::{Context, print, tune};
use crate::fault::{OrHost, Result};
use crate::machine::audit::{self, Audit};
use crate::machine::files::Files;
use crate::machine::identity::Identity;
use crate::machine::known::{self, Match};
use crate::machine::topology::Topology;
use crate::machine::{hwloc, text};
use crate::report;

/// Options of `ktrial machine`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// A known machine: opteron-6168-4s, x1.32xlarge, eight-core, dual-core
    #[arg(value_name = "NAME", group = "other")]
    name: Option<String>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    /// Draw it into this SVG file; '-' is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    svg: Option<PathBuf>,
    /// Another machine, which lstopo wrote to this XML file
    #[arg(long, value_name = "FILE", group = "other")]
    xml: Option<PathBuf>,
    /// Another machine, whose /sys and /proc are in this folder (hwloc-gather-topology copies them)
    #[arg(long, value_name = "FOLDER", group = "other")]
    sysfs: Option<PathBuf>,
    /// An imaginary machine, in hwloc's words: 'pack:2 [numa] core:4 pu:2'
    #[arg(long, value_name = "WORDS", group = "other")]
    like: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set what makes less noise, for one command only; without a command, say what would be set
    Tune(tune::Arguments),
}

/// Everything that is said of a machine; JSON has it so.
#[derive(Serialize)]
struct Described {
    /// None where only its structure is known.
    identity: Option<Identity>,
    topology: Topology,
    /// The known machines that it is, or is like.
    known: Vec<Match>,
    /// What on it makes noise; of this machine and of snapshots.
    audit: Option<Audit>,
    #[serde(skip)]
    title: String,
    /// What a known machine's file says besides.
    #[serde(skip)]
    sources: Vec<String>,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    if let Some(code) = foreign::serve(arguments)? {
        return Ok(code);
    }
    if let Some(Command::Tune(arguments)) = &arguments.command {
        return tune::run(context, arguments);
    }
    let described = describe(context, arguments)?;
    match &arguments.svg {
        Some(file) => draw(&described, file)?,
        None if arguments.json => {
            let json = serde_json::to_string_pretty(&described);
            print(&(json.or_host(|| "write JSON".into())? + "\n"))?;
        }
        None => print(&shown(&described))?,
    }
    Ok(0)
}

fn describe(context: &Context, arguments: &Arguments) -> Result<Described> {
    let cache = context.home.cache_root();
    if let Some(name) = &arguments.name {
        let known = known::find(name)?;
        let notes = known.notes.iter().map(|note| format!("note       {note}"));
        let sources = known
            .source
            .iter()
            .map(|source| format!("source     {source}"));
        return Ok(Described {
            identity: None,
            topology: known.topology()?,
            known: Vec::new(),
            audit: None,
            title: format!("{name}: {}", known.title),
            sources: notes.chain(sources).collect(),
        });
    }
    let ((topology, identity), title) = match (&arguments.xml, &arguments.sysfs, &arguments.like) {
        (Some(path), ..) => (foreign::xml(cache, path)?, file_name(path)),
        (_, Some(folder), _) => (foreign::sysfs(cache, folder)?, file_name(folder)),
        (.., Some(words)) => (foreign::words(cache, words)?, words.clone()),
        _ => ((hwloc::here()?, Some(Identity::here())), hostname()),
    };
    // Of a file or of words nothing is known but what the machine is made of.
    let files = match (&arguments.sysfs, identity.is_some()) {
        (Some(folder), _) => Some(Files::at(folder)),
        (None, here) => here.then(Files::here),
    };
    Ok(Described {
        known: known::matching(&topology, identity.as_ref())?,
        audit: files.as_ref().map(audit::audit),
        topology,
        identity,
        title,
        sources: Vec::new(),
    })
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn hostname() -> String {
    sysinfo::System::host_name().unwrap_or_else(|_| "this machine".into())
}

fn shown(described: &Described) -> String {
    let identity = described.identity.as_ref();
    let mut shown = text::render(&described.topology, identity, &described.known);
    for line in &described.sources {
        shown += &(crate::terminal::folded(line) + "\n");
    }
    if let Some(audit) = &described.audit {
        shown += &format!("\n{}", audit.render());
    }
    shown
}

fn draw(described: &Described, file: &Path) -> Result<()> {
    let svg = report::machine_svg(&described.topology, &described.title)?;
    if file == Path::new("-") {
        return print(&svg);
    }
    fs::write(file, svg).or_host(|| format!("write {}", file.display()))
}
