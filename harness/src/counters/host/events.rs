//! What can be counted of a thread.

use perf_event::Builder;
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};

use crate::workload::Metric;

/// One event.
#[derive(Debug)]
pub struct Event {
    /// The metric that is made of it, which begins with its source: `host.cycles`.
    pub name: &'static str,
    unit: &'static str,
    help: &'static str,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Hardware(Hardware),
    /// Loads that miss.
    Misses(CacheId),
    Software(Software),
}

const fn host(name: &'static str, kind: Kind, help: &'static str) -> Event {
    let unit = "1/op";
    Event {
        name,
        unit,
        help,
        kind,
    }
}

const fn vcpu(
    name: &'static str,
    unit: &'static str,
    software: Software,
    help: &'static str,
) -> Event {
    let kind = Kind::Software(software);
    Event {
        name,
        unit,
        help,
        kind,
    }
}

/// Of source `host`: the hardware's, in guest mode only.
pub static HARDWARE: [Event; 12] = [
    host(
        "host.cycles",
        Kind::Hardware(Hardware::CPU_CYCLES),
        "cycles that a processor spent in the guest",
    ),
    host(
        "host.instructions",
        Kind::Hardware(Hardware::INSTRUCTIONS),
        "instructions of the guest that retired",
    ),
    host(
        "host.cache-references",
        Kind::Hardware(Hardware::CACHE_REFERENCES),
        "accesses of the guest to the cache (mostly the last level)",
    ),
    host(
        "host.cache-misses",
        Kind::Hardware(Hardware::CACHE_MISSES),
        "accesses of the guest that missed that cache",
    ),
    host(
        "host.branches",
        Kind::Hardware(Hardware::BRANCH_INSTRUCTIONS),
        "branches of the guest that retired",
    ),
    host(
        "host.branch-misses",
        Kind::Hardware(Hardware::BRANCH_MISSES),
        "branches of the guest that were mispredicted",
    ),
    host(
        "host.stalled-frontend",
        Kind::Hardware(Hardware::STALLED_CYCLES_FRONTEND),
        "cycles in the guest without instructions to issue",
    ),
    host(
        "host.stalled-backend",
        Kind::Hardware(Hardware::STALLED_CYCLES_BACKEND),
        "cycles in the guest that waited for memory or units",
    ),
    host(
        "host.l1d-misses",
        Kind::Misses(CacheId::L1D),
        "loads of the guest that missed the first data cache",
    ),
    host(
        "host.llc-misses",
        Kind::Misses(CacheId::LL),
        "loads of the guest that missed the last cache",
    ),
    host(
        "host.dtlb-misses",
        Kind::Misses(CacheId::DTLB),
        "loads of the guest whose page was not in the TLB",
    ),
    host(
        "host.itlb-misses",
        Kind::Misses(CacheId::ITLB),
        "fetches of the guest whose page was not in the TLB",
    ),
];

/// Of source `vcpu`: this machine's kernel's, of the threads in all they do.
pub static SOFTWARE: [Event; 4] = [
    vcpu(
        "vcpu.switches",
        "1/op",
        Software::CONTEXT_SWITCHES,
        "context switches of the vCPU threads on this machine",
    ),
    vcpu(
        "vcpu.migrations",
        "1/op",
        Software::CPU_MIGRATIONS,
        "moves of the vCPU threads from one processor to another",
    ),
    vcpu(
        "vcpu.faults",
        "1/op",
        Software::PAGE_FAULTS,
        "page faults of the vCPU threads on this machine",
    ),
    vcpu(
        "vcpu.task",
        "ns/op",
        Software::TASK_CLOCK,
        "processor time of the vCPU threads on this machine",
    ),
];

/// What is made of them, each divided by the operations of an iteration.
pub fn metrics() -> Vec<Metric> {
    let events = HARDWARE.iter().chain(&SOFTWARE);
    events
        .map(|event| Metric::counted(event.name, event.unit, false, event.help))
        .collect()
}

impl Event {
    /// What asks the kernel for it; counting begins at once.
    pub(super) fn builder(&self) -> Builder<'static> {
        let mut builder = match self.kind {
            Kind::Hardware(event) => Builder::new(event),
            Kind::Misses(which) => Builder::new(Cache {
                which,
                operation: CacheOp::READ,
                result: CacheResult::MISS,
            }),
            Kind::Software(event) => Builder::new(event),
        };
        // The guest's kernel is kernel too; hypervisor is what some machines have below this one.
        builder.include_kernel().exclude_hv(false).enabled(true);
        builder.exclude_host(!matches!(self.kind, Kind::Software(_)));
        builder
    }
}
