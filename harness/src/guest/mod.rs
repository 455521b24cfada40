//! Guests: what is booted around a kernel. The operating system's part is in [`linux`]; what runs
//! a guest is in [`crate::vm`] and knows none of this.

mod jobs;
mod linux;
pub mod perturb;
mod programs;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fault::{Fault, Result};
use crate::vm::{Clock, Launch, Limits};
use crate::workload::Job;

#[cfg(test)]
pub(crate) use linux::SIGNS as LINUX_SIGNS;
pub use perturb::Perturbation;
pub use programs::Programs;

/// The guest's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Virtual CPUs, 1 to 255.
    pub cpus: u32,
    /// Memory in MiB before the boot's perturbation, at least 128.
    pub memory_mib: u32,
}

impl Shape {
    /// Checks the ranges.
    ///
    /// # Errors
    /// A user fault that names the option out of range.
    pub fn check(self) -> Result<Shape> {
        if !(1..=255).contains(&self.cpus) {
            return Err(Fault::user(format!("--cpus {} is not 1 to 255", self.cpus)));
        }
        if !(128..=1 << 22).contains(&self.memory_mib) {
            return Err(Fault::user(format!(
                "--memory {} is not 128 to 4194304 MiB",
                self.memory_mib
            )));
        }
        Ok(self)
    }
}

/// Everything about a guest but the kernel and the seed.
#[derive(Debug, Clone)]
pub struct Guest<'a> {
    /// CPUs and memory.
    pub shape: Shape,
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
            clock: self.clock,
            signs: linux::SIGNS,
            limits: Limits::of(self.clock, self.shape.cpus, deadlines),
            counter: None,
            marks: self.clock.may_be_answered(),
        })
    }
}
