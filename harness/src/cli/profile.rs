//! `ktrial profile`: where the instructions of a trial's kernels went.

use clap::Args;

use super::{Context, pick, print};
use crate::counters::stored;
use crate::fault::{Fault, Result};

/// Options of `ktrial profile`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The trial's number [default: the latest]
    trial: Option<i64>,
    /// How many functions are shown, those that the change costs or saves most
    #[arg(long, short = 'n', default_value_t = 20)]
    top: usize,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let db = context.database()?;
    let id = pick(&db, arguments.trial)?;
    let trial = db.trial(id)?;
    let trial = trial.ok_or_else(|| Fault::user(format!("there is no trial {id}")))?;
    let differences = stored::differences(&db, &trial)?;
    if differences.is_empty() {
        return Err(
            Fault::user(format!("the instructions of trial {id} were not counted"))
                .next("`ktrial trial --deterministic` counts them"),
        );
    }
    print(&stored::render(&differences, arguments.top))?;
    Ok(0)
}
