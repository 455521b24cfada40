//! Linux guests: an initramfs with the agent as `/init`, and the kernel's command line.

use cpio::newc::{Builder, ModeFileType, trailer};

use super::{Perturbation, Programs};
use crate::fault::{OrHost, Result};
use crate::vm::Signs;
use crate::vm::console::Sign;

/// The name of the agent among the programs.
const AGENT: &str = "agent";

/// What every guest boots with. A crash ends the guest at once (`panic=-1` reboots, and QEMU is
/// told to exit on that) after the console has said why. `tsc=reliable`: with two emulated CPUs
/// Linux would take the slow hpet for a clock, and a reading would cost five times as much.
const OPTIONS: &str = "console=ttyS0 panic=-1 oops=panic softlockup_panic=1 hung_task_panic=0 \
     nokaslr page_alloc.shuffle=1 random.trust_cpu=off tsc=reliable";

/// What Linux prints when it is in trouble, most telling first.
pub(crate) const SIGNS: Signs = &[
    ("ktrial-agent: ", Sign::Agent),
    ("soft lockup - CPU#", Sign::SoftLockup),
    ("hard LOCKUP", Sign::HardLockup),
    ("self-detected stall on CPU", Sign::Stall),
    ("detected stalls on CPUs", Sign::Stall),
    ("kernel BUG at ", Sign::Bug),
    ("BUG: kernel NULL pointer dereference", Sign::Oops),
    ("BUG: unable to handle", Sign::Oops),
    ("general protection fault", Sign::Oops),
    ("invalid opcode: ", Sign::Oops),
    ("divide error: ", Sign::Oops),
    ("Oops: ", Sign::Oops),
    ("Kernel panic - not syncing", Sign::Panic),
    ("Out of memory: Killed process", Sign::OutOfMemory),
];

/// The kernel's command line. A word with a dot in it is no option to Linux and is left alone.
pub(super) fn command_line(perturbation: &Perturbation) -> String {
    format!("{OPTIONS} ktrial.seed={}", perturbation.word)
}

/// A newc archive: folders, the console node, the agent as `/init`, the workloads in `/bin`, and
/// the job list.
pub(super) fn initramfs(programs: &Programs, jobs: &str) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    for folder in ["bin", "dev", "ktrial", "proc", "sys", "tmp"] {
        archive.add(
            Builder::new(folder)
                .mode(0o755)
                .set_mode_file_type(ModeFileType::Directory),
            &[],
        )?;
    }
    // init's standard streams are opened before anything is mounted on /dev.
    let console = Builder::new("dev/console")
        .mode(0o600)
        .rdev_major(5)
        .rdev_minor(1);
    archive.add(console.set_mode_file_type(ModeFileType::Char), &[])?;
    archive.file("ktrial/jobs", 0o444, jobs.as_bytes())?;
    for (name, bytes) in programs.iter() {
        if name == AGENT {
            archive.file("init", 0o755, bytes)?;
        } else {
            archive.file(&format!("bin/{name}"), 0o755, bytes)?;
        }
    }
    archive.finish()
}

#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    inode: u32,
}

impl Archive {
    fn file(&mut self, name: &str, mode: u32, bytes: &[u8]) -> Result<()> {
        let entry = Builder::new(name)
            .mode(mode)
            .set_mode_file_type(ModeFileType::Regular);
        self.add(entry, bytes)
    }

    fn add(&mut self, entry: Builder, content: &[u8]) -> Result<()> {
        use std::io::Write;
        self.inode += 1;
        let doing = || "write the initramfs".to_owned();
        let size = u32::try_from(content.len()).or_host(doing)?;
        let mut writer = entry.ino(self.inode).nlink(1).write(&mut self.bytes, size);
        writer.write_all(content).or_host(doing)?;
        writer.finish().map(drop).or_host(doing)
    }

    fn finish(mut self) -> Result<Vec<u8>> {
        trailer(&mut self.bytes)
            .map(drop)
            .or_host(|| "write the initramfs".into())?;
        Ok(self.bytes)
    }
}
