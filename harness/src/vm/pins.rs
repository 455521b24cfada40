//! Where a guest's threads run and its memory lies on this machine: each vCPU on a CPU of its own, its
//! memory in the nearest node, and everything else of QEMU's out of the way. What was asked for is
//! read back from `/proc`.

use std::collections::BTreeSet;
use std::path::Path;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, OrHost, Result};
use crate::machine::files::Files;
use crate::machine::text::ranges;

/// CPUs and nodes of this machine, by the system's numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// The CPU of each vCPU, in their order.
    pub vcpus: Vec<u32>,
    /// Where QEMU's other threads may run, ascending; none lets them be.
    pub others: Vec<u32>,
    /// The node in which the memory of each of the guest's nodes lies, in their order; none lets the
    /// system choose.
    pub nodes: Vec<u32>,
}

impl Pins {
    /// Lets this thread of ktrial's, and the threads that it makes from now on, run beside the vCPUs
    /// only, until the guard is dropped. QEMU is held by [`Pins::hold`].
    ///
    /// # Errors
    /// A host fault if the system does not let it.
    pub fn keep_ktrial_off(&self) -> Result<KeptOff> {
        let own = Pid::from_raw(0);
        let before =
            sched_getaffinity(own).or_host(|| "ask on which CPUs ktrial may run".into())?;
        if !self.others.is_empty() {
            pin(0, &self.others)?;
        }
        Ok(KeptOff(before))
    }

    /// Puts the threads of a QEMU where they belong, `vcpus` by the order of its vCPUs, and sees that
    /// they and its memory are there.
    ///
    /// # Errors
    /// A host fault if the system does not let it, or that shows what is elsewhere.
    pub(super) fn hold(&self, qemu: u32, vcpus: &[i64]) -> Result<()> {
        // Twice, for a thread that came while the first one that made it was not held yet.
        self.apply(qemu, vcpus)?;
        self.apply(qemu, vcpus)?;
        let breaches = self.breaches(&Files::here(), qemu, vcpus);
        match breaches.is_empty() {
            true => Ok(()),
            false => {
                Err(Fault::host("QEMU does not lie where it was put").showing(breaches.join("\n")))
            }
        }
    }

    fn apply(&self, qemu: u32, vcpus: &[i64]) -> Result<()> {
        let threads = threads(&Files::here(), qemu);
        if !self.others.is_empty() {
            for &thread in threads.iter().filter(|id| !vcpus.contains(id)) {
                pin(thread, &self.others)?;
            }
        }
        for (&thread, &cpu) in vcpus.iter().zip(&self.vcpus) {
            pin(thread, &[cpu])?;
        }
        Ok(())
    }

    /// What of this is not so, read from `/proc`: a line for each thread and each node.
    fn breaches(&self, files: &Files, qemu: u32, vcpus: &[i64]) -> Vec<String> {
        let mut breaches = Vec::new();
        for (number, (thread, cpu)) in vcpus.iter().zip(&self.vcpus).enumerate() {
            let allowed = allowed(files, qemu, *thread);
            if allowed.as_deref() != Some(cpu.to_string().as_str()) {
                let found = allowed.unwrap_or_else(|| "unknown".into());
                breaches.push(format!(
                    "vCPU {number} may run on CPUs {found}, not {cpu} alone"
                ));
            }
        }
        if !self.others.is_empty() {
            let wanted = ranges(&self.others);
            for thread in threads(files, qemu) {
                let allowed = allowed(files, qemu, thread);
                if !vcpus.contains(&thread) && allowed.as_ref().is_some_and(|a| *a != wanted) {
                    breaches.push(format!(
                        "QEMU's thread {thread} may run on CPUs {}, not {wanted}",
                        allowed.unwrap_or_default()
                    ));
                }
            }
        }
        let maps = files.text(&format!("proc/{qemu}/numa_maps"));
        let maps = maps.unwrap_or_default();
        let bound: BTreeSet<&str> = maps
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("bind:"))
            .collect();
        let wanted: BTreeSet<u32> = self.nodes.iter().copied().collect();
        for node in wanted {
            if !bound.contains(node.to_string().as_str()) {
                breaches.push(format!("no memory is bound to node {node}"));
            }
        }
        breaches
    }
}

/// This thread is kept off measured CPUs; dropping it lets it run where it could before.
#[must_use]
pub struct KeptOff(CpuSet);

impl Drop for KeptOff {
    fn drop(&mut self) {
        let _ = sched_setaffinity(Pid::from_raw(0), &self.0);
    }
}

/// Whether the system lets a process bind memory to this node: containers often may not, and QEMU
/// then does not start.
pub fn may_bind(node: u32) -> bool {
    const BYTES: usize = 4096;
    const MPOL_BIND: i32 = 2;
    let Some(mask) = 1_u64.checked_shl(node) else {
        // More nodes than one word of a mask has; QEMU says what it thinks of it.
        return true;
    };
    // SAFETY: a fresh page of anonymous memory, which is given back; mbind(2) reads one word of mask,
    // of which it looks at all bits but one.
    unsafe {
        let page = nix::libc::mmap(
            std::ptr::null_mut(),
            BYTES,
            nix::libc::PROT_READ,
            nix::libc::MAP_PRIVATE | nix::libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if page == nix::libc::MAP_FAILED {
            return false;
        }
        let bits = u64::from(u64::BITS) + 1;
        let mask: *const u64 = &mask;
        let bound = nix::libc::syscall(nix::libc::SYS_mbind, page, BYTES, MPOL_BIND, mask, bits, 0);
        nix::libc::munmap(page, BYTES);
        bound == 0
    }
}

/// Lets a thread run on these CPUs alone.
fn pin(thread: i64, cpus: &[u32]) -> Result<()> {
    let doing = || format!("let thread {thread} run on CPUs {} alone", ranges(cpus));
    let thread = i32::try_from(thread).or_host(doing)?;
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu as usize).or_host(doing)?;
    }
    match sched_setaffinity(Pid::from_raw(thread), &set) {
        // A worker thread that has ended in the meantime.
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(why) => Err(Fault::host(format!("cannot {}: {why}", doing()))
            .next("`ktrial machine` says which CPUs ktrial may use")),
    }
}

fn threads(files: &Files, process: u32) -> Vec<i64> {
    let names = files.names(&format!("proc/{process}/task"));
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// The CPUs that a thread may use, as the kernel writes lists; none if it is gone.
fn allowed(files: &Files, process: u32, thread: i64) -> Option<String> {
    let path = Path::new("proc").join(format!("{process}/task/{thread}/status"));
    let status = files.text(&path.to_string_lossy())?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A QEMU with two vCPUs and a main thread, as `/proc` shows it on a machine of eight CPUs.
    fn proc(lists: [(&str, &str); 3], maps: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (thread, list) in lists {
            let task = folder.path().join("proc/7/task").join(thread);
            fs::create_dir_all(&task).unwrap();
            let status = format!("Name:\tqemu\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\n");
            fs::write(task.join("status"), status).unwrap();
        }
        fs::write(folder.path().join("proc/7/numa_maps"), maps).unwrap();
        folder
    }

    fn pins() -> Pins {
        Pins {
            vcpus: vec![2, 3],
            others: vec![0, 1],
            nodes: vec![0, 1],
        }
    }

    const MAPS: &str = "\
7f0000000000 bind:0 anon=65536 dirty=65536 active=0 N0=65536 kernelpagesize_kB=4
7f0020000000 bind:1 anon=65536 dirty=65536 N1=65536 kernelpagesize_kB=4
7f0040000000 default heap anon=3 N0=3 kernelpagesize_kB=4
";

    #[test]
    fn what_is_as_asked_for_is_no_breach() {
        let folder = proc([("7", "0-1"), ("8", "2"), ("9", "3")], MAPS);
        let breaches = pins().breaches(&Files::at(folder.path()), 7, &[8, 9]);
        assert_eq!(breaches, Vec::<String>::new());
    }

    #[test]
    fn each_thread_and_node_that_is_elsewhere_is_named() {
        let maps = "7f0000000000 bind:0 anon=1 N0=1\n7f0020000000 default anon=1 N1=1\n";
        let folder = proc([("7", "0-7"), ("8", "2-3"), ("9", "3")], maps);
        let breaches = pins().breaches(&Files::at(folder.path()), 7, &[8, 9]);
        assert_eq!(
            breaches,
            [
                "vCPU 0 may run on CPUs 2-3, not 2 alone",
                "QEMU's thread 7 may run on CPUs 0-7, not 0-1",
                "no memory is bound to node 1",
            ]
        );
    }

    #[test]
    fn a_node_that_is_not_there_binds_nothing() {
        assert!(!may_bind(63));
        // Where there is none, or a container may not, this machine binds nothing either.
        let _ = may_bind(0);
    }

    #[test]
    fn a_cpu_that_is_not_there_is_the_hosts_fault() {
        // Linux says EINVAL where none of the CPUs is there.
        let fault = pin(0, &[1_000]).unwrap_err();
        assert_eq!(fault.at, crate::fault::At::Host);
        assert!(fault.to_string().contains("CPUs 1000 alone"), "{fault}");
    }
}
