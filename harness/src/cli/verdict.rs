//! `ktrial verdict`: judged again from what is stored.

use clap::Args;

use super::{Context, pick, print};
use crate::fault::{Fault, Result};
use crate::verdict::{self, outcome, text};

/// Options of `ktrial verdict`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The trial's number [default: the latest]
    trial: Option<i64>,
    /// List the trials instead
    #[arg(long, conflicts_with = "trial")]
    list: bool,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let mut db = context.database()?;
    if arguments.list {
        let lines = db.trials()?.into_iter().map(|trial| {
            let state = trial.outcome.as_deref().unwrap_or("unfinished");
            let wanted = trial.rounds * trial.variants;
            format!(
                "{:>4}  {:<12} {:>3}/{wanted:<3} boots  {} time  {}\n",
                trial.id, state, trial.boots_ok, trial.clock, trial.title
            )
        });
        print(&lines.collect::<String>())?;
        return Ok(0);
    }
    let id = pick(&db, arguments.trial)?;
    let verdicts = verdict::judge(&mut db, id)?;
    let cells = db.cells(id)?;
    let trial = db
        .trial(id)?
        .ok_or_else(|| Fault::user(format!("there is no trial {id}")))?;
    print(&text::render(&trial, &cells, &verdicts))?;
    if let Some(failure) = &trial.failure {
        print(&format!("\nthis trial failed: {failure}\n"))?;
    }
    Ok(outcome::exit_code(&cells, &verdicts))
}
