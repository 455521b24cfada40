//! Sources `host` and `vcpu`: what this machine counts of the threads that run a guest's vCPUs. `host`
//! is its hardware while the guest runs, and not QEMU or this machine's kernel, so it works for any
//! guest system; `vcpu` is what this machine's kernel counts of the threads themselves, with all they
//! do for the guest.
//!
//! The mission asks for the crate perf-event. It goes almost all the way (foreign threads,
//! `exclude_host`, times), but its descriptors outlive an exec, so that a QEMU or a compiler started
//! by another thread would hold them, and it panics when the kernel says that a counter ran longer
//! than it was on. perf-event2, its fork with the same names, does neither, so it is the only one
//! used. Both leave the kernel out unless told otherwise, and a context switch happens in the kernel.

mod counters;
mod events;
mod offer;
mod reading;
mod reason;
#[cfg(test)]
mod tests;
mod watched;

pub use counters::Counters;
pub use events::{Event, HARDWARE, SOFTWARE, metrics};
pub use offer::Offer;
pub use reading::{Count, Interval, Reading};
pub use watched::{ARTIFACT, Watched};

/// The source of what the hardware counts in guest mode.
pub const HOST: &str = "host";
/// The source of what the kernel counts of the vCPU threads.
pub const VCPU: &str = "vcpu";
