//! What is counted in a guest besides what its workloads say: why it got slower. Each source has a
//! word of its own, with which the names of its metrics begin, so that no two are ever compared.

use ktrial_db::Cell;

pub mod difference;
pub mod flame;
pub mod fold;
pub mod host;
pub mod instructions;
pub mod observed;
pub mod profile;
pub mod shares;
pub mod stacks;
pub mod stored;
pub mod symbols;
pub mod waits;

/// What user space is called among functions of the kernel.
pub const USER: &str = "user space";

/// The source of a metric that is counted: `irq` of `irq.tlb`. None of what a workload measures itself.
pub fn source(metric: &str) -> Option<&str> {
    metric.split_once('.').map(|(source, _)| source)
}

/// A source for people: what it counts, and where.
pub fn in_words(source: &str) -> Option<&'static str> {
    Some(match source {
        "rusage" => "what the system charged to the workload's processes (getrusage)",
        "vmstat" => "the guest's memory management (/proc/vmstat)",
        "stat" => "the guest's processors (/proc/stat)",
        "schedstat" => "tasks that wait for a processor in the guest (/proc/schedstat)",
        "irq" => "interrupts in the guest (/proc/interrupts)",
        "sw" => "software events of the guest's kernel (perf)",
        "pmu" => "the guest's performance counters (perf)",
        "host" => "the host's performance counters, in guest mode only (perf, on the vCPU threads)",
        "vcpu" => "what the host's scheduler did with the vCPU threads",
        "tcg" => "instructions, counted by the emulator",
        _ => return None,
    })
}

/// Whether a cell is there to explain what others show: no verdict on the trial hangs on it.
pub fn explains(cell: &Cell) -> bool {
    !cell.primary && source(&cell.metric).is_some()
}
