//! Boots one guest and says how it ended. Only this folder knows QEMU; it knows nothing of
//! variants, rounds or verdicts.

pub mod accel;
mod clock;
pub mod console;
pub mod counter;
mod ending;
mod follow;
pub mod frames;
pub mod layout;
mod marks;
pub mod pins;
mod qemu;
mod vcpus;
mod version;
mod watch;

use std::path::PathBuf;
use std::time::Duration;

pub use accel::Accelerator;
pub use clock::Clock;
pub use console::Signs;
pub use counter::Counter;
pub use ending::Ending;
pub use layout::Layout;
pub use pins::Pins;
pub use qemu::{PROGRAM, fingerprint};
pub use version::{check_turns, version};
pub use watch::{Boot, boot};

/// Everything QEMU needs to know for one boot.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The kernel image.
    pub kernel: PathBuf,
    /// The initramfs, a newc archive.
    pub initrd: Vec<u8>,
    /// The kernel's command line.
    pub append: String,
    /// Virtual CPUs.
    pub cpus: u32,
    /// Memory in MiB; what is more than that of the layout's nodes lies in the first of them.
    pub memory_mib: u32,
    /// How they lie; none leaves that to QEMU.
    pub layout: Option<Layout>,
    /// Where its threads run and its memory lies on this machine; none leaves that to the system.
    pub pins: Option<Pins>,
    /// What the guest's time means.
    pub clock: Clock,
    /// What trouble looks like on its console.
    pub signs: Signs,
    /// When to give up.
    pub limits: Limits,
    /// Counts its instructions; only what is emulated can be counted.
    pub counter: Option<Counter>,
    /// Answers the marks of its iterations, and counts what its vCPU threads do between them.
    pub marks: bool,
}

/// When to give up on a guest, in wall time, and how much it may say.
#[derive(Debug, Clone)]
pub struct Limits {
    /// From QEMU's start to the agent's first word.
    pub boot: Duration,
    /// By job: the agent's own deadline, in guest time.
    pub jobs: Vec<Duration>,
    /// Wall seconds that a guest second may take at the most. Once the agent has spoken, the
    /// boot's own pace is taken instead if it is slower.
    pub slowdown: f64,
    /// Bytes of console and of results, each.
    pub output: u64,
}

/// Enough for any console that makes sense, and little for a disk.
const OUTPUT: u64 = 32 << 20;

impl Limits {
    /// What each clock is allowed: an emulated second of busy guest is some five of wall.
    /// Emulated CPUs come up one after the other, some four seconds each on a busy machine.
    pub fn of(clock: Clock, cpus: u32, jobs: impl Iterator<Item = Duration>) -> Limits {
        let cpus = u64::from(cpus);
        let (boot_s, slowdown) = match clock {
            Clock::Real => (60, 2.0),
            Clock::Emulated => (120 + 6 * cpus, 2.0),
            Clock::Virtual => (120 + 6 * cpus, 12.0),
        };
        Limits {
            boot: Duration::from_secs(boot_s),
            jobs: jobs.collect(),
            slowdown,
            output: OUTPUT,
        }
    }
}
