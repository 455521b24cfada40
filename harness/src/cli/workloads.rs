//! `ktrial workloads`: what can be run in a guest, and what of it can be set.

use super::print;
use crate::fault::Result;
use crate::machine::places::ORDERS;
use crate::workload::{self, Kind, Parameter};

pub(super) fn run() -> Result<u8> {
    for workload in workload::all()? {
        print(&format!("{}: {}\n", workload.name, workload.summary))?;
        for parameter in &workload.parameters {
            let range = range(parameter);
            print(&format!(
                "  {:<12} {range:<34} {}\n",
                parameter.name, parameter.help
            ))?;
        }
        for metric in &workload.metrics {
            let unit = format!("{}, {} is better", metric.unit, metric.better);
            print(&format!(
                "  > {:<14} {unit:<30} {}\n",
                metric.name, metric.help
            ))?;
        }
    }
    Ok(0)
}

/// `500000 (1 to 15000000 bytes)`, or `flag`.
fn range(parameter: &Parameter) -> String {
    let unit = match parameter.kind {
        Kind::Flag => return "flag".into(),
        Kind::Place => return ORDERS.join(" or "),
        Kind::Count => "",
        Kind::Bytes => " bytes",
        Kind::Milliseconds => " ms",
    };
    format!(
        "{} ({} to {}{unit})",
        parameter.default, parameter.min, parameter.max
    )
}
