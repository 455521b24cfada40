//! `ktrial machine`: what this machine is made of, or another one.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::print;
use crate::fault::{Fault, OrHost, Result};
use crate::machine::{hwloc, text};

/// Options of `ktrial machine`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    /// Another machine, which lstopo wrote to this XML file
    #[arg(long, value_name = "FILE", group = "other")]
    xml: Option<PathBuf>,
    /// Another machine, whose /sys and /proc are in this folder (hwloc-gather-topology copies them)
    #[arg(long, value_name = "FOLDER", group = "other")]
    sysfs: Option<PathBuf>,
    /// An imaginary machine, in hwloc's words: 'pack:2 numa:1 core:4 pu:2'
    #[arg(long, value_name = "WORDS", group = "other")]
    like: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<u8> {
    let topology = match (&arguments.xml, &arguments.sysfs, &arguments.like) {
        (Some(path), ..) => hwloc::xml(path)?,
        (_, Some(folder), _) => {
            be_there(folder)?;
            hwloc::here()?
        }
        (.., Some(words)) => hwloc::synthetic(words)?,
        _ => hwloc::here()?,
    };
    let said = match arguments.json {
        true => serde_json::to_string_pretty(&topology).or_host(|| "write JSON".into())? + "\n",
        false => text::render(&topology),
    };
    print(&said)?;
    Ok(0)
}

/// hwloc learns of a snapshot from its environment alone, which must stand before anything runs: this
/// command starts itself once more with it.
fn be_there(folder: &Path) -> Result<()> {
    const FOLDER: &str = "HWLOC_FSROOT";
    if !folder.join("sys/devices/system").is_dir() {
        return Err(Fault::user(format!(
            "{} has no sys/devices/system in it",
            folder.display()
        ))
        .next("hwloc-gather-topology makes an archive of such a folder: unpack it"));
    }
    if std::env::var_os(FOLDER).is_some_and(|there| there == folder.as_os_str()) {
        return Ok(());
    }
    let own = std::env::current_exe().or_host(|| "find this command's own file".into())?;
    let failed = Command::new(own)
        .args(std::env::args_os().skip(1))
        .env(FOLDER, folder)
        .env("HWLOC_THISSYSTEM", "0")
        .env("HWLOC_COMPONENTS", "linux,stop")
        .exec();
    Err(failed).or_host(|| "start this command again".into())
}
