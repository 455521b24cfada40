//! `ktrial history`: the metrics of a tree over time, and where they changed.

use clap::Args;

use super::{Context, print};
use crate::fault::Result;
use crate::history::{series, text};

/// Options of `ktrial history`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only this workload
    #[arg(long, short)]
    workload: Option<String>,
    /// Only this metric, primary or not
    #[arg(long)]
    metric: Option<String>,
    /// All metrics, not only those that the workloads are for
    #[arg(long)]
    all: bool,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let wanted = series::Wanted {
        workload: arguments.workload.clone(),
        metric: arguments.metric.clone(),
        all: arguments.all,
    };
    let histories = series::histories(&context.database()?, &wanted)?;
    print(&text::render(&histories))?;
    Ok(0)
}
