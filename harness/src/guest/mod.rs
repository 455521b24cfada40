//! Guests: what is booted around a kernel. The operating system's part is in [`linux`]; what runs
//! a guest is in [`crate::vm`] and knows none of this.

pub(crate) mod jobs;
mod linux;
pub mod perturb;
pub mod placement;
mod programs;
mod seen;
pub mod shape;

use std::path::PathBuf;
use std::time::Duration;

use crate::fault::Result;
use crate::vm::{Clock, Launch, Limits, Pins};
use crate::workload::Job;

#[cfg(test)]
pub(crate) use linux::SIGNS as LINUX_SIGNS;
pub use perturb::Perturbation;
pub use placement::Placement;
pub use programs::Programs;
pub use seen::Seen;
pub use shape::Shape;

/// Everything about a guest but the kernel and the seed.
#[derive(Debug, Clone)]
pub struct Guest<'a> {
    /// CPUs and memory.
    pub shape: &'a Shape,
    /// Where they lie on this machine; none leaves that to the system.
    pub pins: Option<&'a Pins>,
    /// What its time means.
    pub clock: Clock,
    /// The agent and the workloads, built for it.
    pub programs: &'a Programs,
}

impl Guest<'_> {
    /// What QEMU is to start for one boot of the kernel at `image`.
    ///
    /// # Errors
    /// A host fault if the initramfs cannot be made.
    pub fn launch(&self, image: PathBuf, jobs: &[Job], seed: u64) -> Result<Launch> {
        let perturbation = Perturbation::of(seed);
        let deadlines = jobs
            .iter()
            .map(|job| Duration::from_millis(job.deadline_ms));
        Ok(Launch {
            kernel: image,
            initrd: linux::initramfs(self.programs, &jobs::list(jobs, &perturbation))?,
            append: linux::command_line(&perturbation),
            cpus: self.shape.cpus,
            memory_mib: self.shape.memory_mib + perturbation.extra_mib,
            layout: self.shape.layout.clone(),
            pins: self.pins.cloned(),
            clock: self.clock,
            signs: linux::SIGNS,
            limits: Limits::of(self.clock, self.shape.cpus, deadlines),
            counter: None,
            marks: self.clock.may_be_answered(),
        })
    }
}
