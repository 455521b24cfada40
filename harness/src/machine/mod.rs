//! The machine that a trial runs on: the stable facts that its samples carry.

pub mod audit;
pub mod files;
pub mod hwloc;
pub mod text;
pub mod topology;
pub mod tune;

use ktrial_db::Machine;
use serde_json::json;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::fault::{OrHost, Result};
use crate::hash::hash16;

/// What this machine is.
///
/// # Errors
/// A host fault if the system does not say.
pub fn describe(qemu: &str) -> Result<Machine> {
    let what = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing())
        .with_memory(MemoryRefreshKind::everything());
    let system = System::new_with_specifics(what).or_host(|| "ask the system what it is".into())?;
    let cpu_model = system
        .cpus()
        .first()
        .map_or_else(|| "unknown".into(), |cpu| cpu.brand().trim().to_owned());
    let cpus = cpus() as u32;
    let hostname = System::host_name().unwrap_or_else(|_| "unknown".into());
    // Firmware takes some memory, differently after an update: whole GiB are stable.
    let memory_gib = system.total_memory() >> 30;
    let stable = format!("{hostname}\n{cpu_model}\n{cpus}\n{memory_gib}");
    Ok(Machine {
        key: hash16([stable]),
        cpu_model,
        cpus,
        memory_bytes: system.total_memory(),
        os_release: System::kernel_version().unwrap_or_default(),
        facts_json: json!({
            "qemu": qemu,
            "system": System::long_os_version().ok(),
        })
        .to_string(),
        hostname,
    })
}

/// CPUs that this process may use.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
