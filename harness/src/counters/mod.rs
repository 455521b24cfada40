//! What is counted in a guest besides what its workloads say: why it got slower. Each source has a
//! word of its own, with which the names of its metrics begin, so that no two are ever compared.

use ktrial_db::Cell;

pub mod difference;
pub mod host;
pub mod instructions;
pub mod profile;
pub mod stacks;
pub mod stored;

/// The source of a metric that is counted: `irq` of `irq.tlb`. None of what a workload measures itself.
pub fn source(metric: &str) -> Option<&str> {
    metric.split_once('.').map(|(source, _)| source)
}

/// Whether a cell is there to explain what others show: no verdict on the trial hangs on it.
pub fn explains(cell: &Cell) -> bool {
    !cell.primary && source(&cell.metric).is_some()
}
