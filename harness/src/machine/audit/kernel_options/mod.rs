//! Options of a kernel under trial that swamp what a patch does: checking and tracing that cost more
//! than most patches gain. The seed of the chgsbsize series is one: a debugging malloc alone cost 20
//! to 25 %.
//!
//! Left out are options that most distributions set because they cost little: `UBSAN_BOUNDS`,
//! `DEBUG_LIST`, `KFENCE`, `FUNCTION_TRACER` ("very small and not measurable even in
//! micro-benchmarks", its help text), and those that do nothing without a boot option
//! (`PAGE_POISONING`, `PAGE_OWNER`).

mod bsd;
mod linux;
#[cfg(test)]
mod tests;

use ktrial_patches::catalogue::System;
use serde::{Deserialize, Serialize};

/// An option that is on and swamps results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swamping {
    /// As it stands in the configuration: `CONFIG_KASAN_GENERIC`, `WITNESS`.
    pub option: String,
    /// What it does to results, with the source's own figure where there is one.
    pub effect: String,
}

/// An option that swamps.
struct Costly {
    name: &'static str,
    effect: &'static str,
    /// Nothing is said of it where one of these is on: they turn it on, or off.
    unless: &'static [&'static str],
}

/// The options in a kernel's configuration that swamp results, in a fixed order; of options that set
/// others, only the first cause. A Linux `.config`, or a KERNCONF of FreeBSD or DragonFly, in which
/// the last line about an option is the one that counts.
///
/// A KERNCONF's `include` lines are not followed: see [`included`].
pub fn swamping(system: System, config: &str) -> Vec<Swamping> {
    let (on, table) = match system {
        System::Linux => (linux::on(config), linux::OPTIONS),
        System::FreeBsd => (bsd::on(config), bsd::FREEBSD),
        System::DragonFly => (bsd::on(config), bsd::DRAGONFLY),
    };
    let swamping = table.iter().filter(|option| {
        let without = !option.unless.iter().any(|other| on.contains(other));
        on.contains(option.name) && without
    });
    let prefix = match system {
        System::Linux => "CONFIG_",
        _ => "",
    };
    swamping
        .map(|option| Swamping {
            option: format!("{prefix}{}", option.name),
            effect: option.effect.into(),
        })
        .collect()
}

/// The files that a KERNCONF includes, as it names them, in order. What they set is before what the
/// KERNCONF sets: put their text in front of its own, and ask [`swamping`] about the whole.
pub fn included(config: &str) -> Vec<String> {
    bsd::included(config)
}
