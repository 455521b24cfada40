//! What an earlier ktrial left running, if its guard was killed with it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use super::MARK;

/// A process that was killed: its id and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Process id.
    pub pid: u32,
    /// Program name as the kernel has it.
    pub name: String,
}

/// Kills every process that a ktrial with this cache started and that is still there although
/// that ktrial is gone. Returns what it killed.
pub fn sweep(cache: &Path) -> Vec<Leftover> {
    let Ok(mut system) = System::new() else {
        return Vec::new();
    };
    let what = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, what);
    let mut swept = Vec::new();
    for (pid, process) in system.processes() {
        let Some(parent) = process
            .environ()
            .iter()
            .find_map(|variable| marked_by(variable, cache))
        else {
            continue;
        };
        let alive = system.process(sysinfo::Pid::from_u32(parent)).is_some();
        if !alive && kill(Pid::from_raw(pid.as_u32() as i32), Signal::SIGKILL).is_ok() {
            swept.push(Leftover {
                pid: pid.as_u32(),
                name: process.name().to_string_lossy().into_owned(),
            });
        }
    }
    swept
}

/// The pid in `KTRIAL_CHILD_OF=<pid>:<cache>` if the cache is this one.
fn marked_by(variable: &OsStr, cache: &Path) -> Option<u32> {
    let value = variable
        .as_bytes()
        .strip_prefix(MARK.as_bytes())?
        .strip_prefix(b"=")?;
    let colon = value.iter().position(|&b| b == b':')?;
    if &value[colon + 1..] != cache.as_os_str().as_bytes() {
        return None;
    }
    std::str::from_utf8(&value[..colon]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_names_the_parent_and_only_for_this_cache() {
        let variable = OsStr::new("KTRIAL_CHILD_OF=42:/var/cache/a");
        assert_eq!(marked_by(variable, Path::new("/var/cache/a")), Some(42));
        assert_eq!(marked_by(variable, Path::new("/var/cache/b")), None);
        assert_eq!(marked_by(OsStr::new("PATH=/bin"), Path::new("/bin")), None);
        assert_eq!(
            marked_by(OsStr::new("KTRIAL_CHILD_OF=x:/c"), Path::new("/c")),
            None
        );
    }
}
