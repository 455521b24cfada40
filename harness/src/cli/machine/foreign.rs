//! Machines of strangers. hwloc is a C library that trusts the files it reads, takes the square of the
//! time for twice the CPUs, and learns of a snapshot from its environment alone: a second ktrial, with
//! little memory and little time, reads them, and says what it read in JSON.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::Arguments;
use crate::cli::print;
use crate::fault::{At, Fault, OrHost, Result};
use crate::machine::files::Files;
use crate::machine::hwloc;
use crate::machine::identity::Identity;
use crate::machine::topology::Topology;
use crate::process;

/// Tells the second ktrial that it is one.
const READER: &str = "KTRIAL_READS_MACHINE";

/// hwloc takes less than a second for the largest machines there are.
const DEADLINE: Duration = Duration::from_secs(20);

/// Address space of the second ktrial, its own libraries included.
const MEMORY: u64 = 2 << 30;

/// JSON of a machine of a hundred thousand threads.
const MOST_BYTES: u64 = 64 << 20;

/// What it is made of, and who it is, where there are files that say it.
pub(in crate::cli) type Foreign = (Topology, Option<Identity>);

/// If this is the second ktrial: reads, prints, and ends.
pub(super) fn serve(arguments: &Arguments) -> Result<Option<u8>> {
    if std::env::var_os(READER).is_none() {
        return Ok(None);
    }
    let limit = nix::libc::rlimit {
        rlim_cur: MEMORY,
        rlim_max: MEMORY,
    };
    // SAFETY: the structure is valid for the call, which changes this process's limit alone.
    unsafe { nix::libc::setrlimit(nix::libc::RLIMIT_AS, &limit) };
    let topology = match (&arguments.xml, &arguments.like) {
        (Some(path), _) => hwloc::xml(path)?,
        (_, Some(words)) => hwloc::synthetic(words)?,
        _ => hwloc::here()?,
    };
    let folder = arguments.sysfs.as_ref();
    let identity = folder.map(|folder| Identity::read(&Files::at(folder)));
    let json = serde_json::to_string(&(topology, identity));
    print(&json.or_host(|| "write JSON".into())?)?;
    Ok(Some(0))
}

/// A machine that `lstopo` wrote to an XML file.
pub(in crate::cli) fn xml(cache: &Path, path: &Path) -> Result<Foreign> {
    let mut command = reader()?;
    command.arg("--xml").arg(path);
    read(command, cache, &path.to_string_lossy())
}

/// A machine that is described in hwloc's words.
pub(in crate::cli) fn words(cache: &Path, words: &str) -> Result<Foreign> {
    let mut command = reader()?;
    command.arg(format!("--like={words}"));
    read(command, cache, &format!("{words:?}"))
        .map_err(|fault| fault.next("for example: 'pack:2 [numa] l3:1 core:4 pu:2'"))
}

/// A machine whose `/sys` and `/proc` are in a folder.
pub(super) fn sysfs(cache: &Path, folder: &Path) -> Result<Foreign> {
    const NEXT: &str = "hwloc-gather-topology makes an archive of such a folder: unpack it";
    let has_cpus = ["cpu", "node"].iter().any(|part| {
        let part = folder.join("sys/devices/system").join(part);
        part.read_dir()
            .is_ok_and(|mut entries| entries.next().is_some())
    });
    if !has_cpus {
        return Err(Fault::user(format!(
            "{} has no CPUs in its sys/devices/system",
            folder.display()
        ))
        .next(NEXT));
    }
    let mut command = reader()?;
    command
        .arg("--sysfs")
        .arg(folder)
        .env("HWLOC_FSROOT", folder)
        .env("HWLOC_THISSYSTEM", "0")
        .env("HWLOC_COMPONENTS", "linux,stop");
    let name = folder.to_string_lossy();
    read(command, cache, &name).map_err(|fault| fault.next(NEXT))
}

fn reader() -> Result<Command> {
    let own = std::env::current_exe().or_host(|| "find this command's own file".into())?;
    let mut command = Command::new(own);
    command.arg("machine").env(READER, "1");
    // What a user set for hwloc is about this machine.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HWLOC_") {
            command.env_remove(name);
        }
    }
    Ok(command)
}

fn read(mut command: Command, cache: &Path, name: &str) -> Result<Foreign> {
    let mut outputs = [temporary(cache)?, temporary(cache)?];
    let [stdout, stderr] = &outputs;
    let shared = |file: &File| file.try_clone().or_host(|| "duplicate a file".into());
    command
        .stdin(Stdio::null())
        .stdout(shared(stdout)?)
        .stderr(shared(stderr)?);
    let what = format!("{name} can't be read as a machine");
    let ended = process::spawn(command, cache)?.wait(DEADLINE);
    let status = ended.map_err(|fault| match fault.at {
        At::Interrupted => fault,
        _ => Fault::user(format!(
            "{what}: hwloc found no end of it in {} s",
            DEADLINE.as_secs()
        )),
    })?;
    let [stdout, stderr] = outputs.each_mut().map(|file| {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        std::io::Result::Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    let (stdout, stderr) = (stdout.or_host(saying)?, stderr.or_host(saying)?);
    match status.code() {
        Some(0) => serde_json::from_str(&stdout)
            .map_err(|why| Fault::user(format!("{what}: it is too large or too deep: {why}"))),
        Some(_) => Err(Fault::user(what).showing(without_name(&stderr))),
        None => Err(Fault::user(format!(
            "{what}: hwloc broke on it ({})",
            process::describe(status)
        ))),
    }
}

fn saying() -> String {
    "read what a second ktrial said".into()
}

/// The last lines, which say why.
fn without_name(said: &str) -> String {
    const LINES: usize = 3;
    let lines: Vec<&str> = said.trim().lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.join("\n")
        .replace("ktrial: ", "")
        .replace("usage: ", "")
}

fn temporary(cache: &Path) -> Result<File> {
    tempfile::tempfile_in(cache).or_host(|| format!("make a temporary file in {}", cache.display()))
}
