//! `ktrial verdict`: judged again from what is stored.

use clap::Args;
use ktrial_db::Db;

use super::judged::Judged;
use super::{Context, pick, print, self_test};
use crate::fault::Result;

/// Options of `ktrial verdict`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The trial's number [default: the latest]
    trial: Option<i64>,
    /// List the trials instead
    #[arg(long, conflicts_with = "trial")]
    list: bool,
    #[command(flatten)]
    self_test: self_test::SelfTestArguments,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    if arguments.self_test.self_test {
        return self_test::run(context, &arguments.self_test);
    }
    let mut db = context.database()?;
    if arguments.list {
        return list(&db);
    }
    let id = pick(&db, arguments.trial)?;
    let judged = Judged::of(&mut db, id)?;
    print(&judged.text())?;
    if let Some(failure) = &judged.trial.failure {
        print(&format!("\nthis trial failed: {failure}\n"))?;
    }
    Ok(judged.exit_code())
}

fn list(db: &Db) -> Result<u8> {
    let lines = db.trials()?.into_iter().map(|trial| {
        let state = trial.outcome.as_deref().unwrap_or("unfinished");
        let wanted = trial.rounds * (trial.variants - trial.left_out);
        format!(
            "{:>4}  {:<12} {:>3}/{wanted:<3} boots  {} time  {}\n",
            trial.id, state, trial.boots_ok, trial.clock, trial.title
        )
    });
    print(&lines.collect::<String>())?;
    Ok(0)
}
