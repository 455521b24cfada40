//! `ktrial verdict`: judged again from what is stored.

use clap::Args;
use ktrial_db::{Cell, CellId, Db, Trial, TrialId, Verdict};

use super::{Context, pick, print, self_test};
use crate::counters::stored::{self, Difference};
use crate::fault::{At, Fault, Result};
use crate::verdict::{self, claims, identical, outcome, text};

/// Under a verdict, so many functions are named; `ktrial profile` names more.
const FUNCTIONS: usize = 5;

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

/// A trial with its verdicts, computed and stored anew.
pub(super) struct Judged {
    pub trial: Trial,
    pub cells: Vec<(CellId, Cell)>,
    pub verdicts: Vec<Verdict>,
    /// What is said of variants that were not booted.
    left_out: String,
    /// The claims of the series, held against the verdicts.
    claims: Vec<claims::HeldClaim>,
    /// Where instructions went, if they were counted.
    differences: Vec<Difference>,
}

impl Judged {
    pub(super) fn of(db: &mut Db, id: TrialId) -> Result<Judged> {
        let verdicts = verdict::judge(db, id)?;
        let trial = db.trial(id)?;
        let trial = trial.ok_or_else(|| Fault::user(format!("there is no trial {id}")))?;
        let cells = db.cells(id)?;
        Ok(Judged {
            left_out: identical::render(db, &trial)?,
            claims: claims::held(db, &trial, &cells, &verdicts)?,
            differences: stored::differences(db, &trial)?,
            trial,
            cells,
            verdicts,
        })
    }

    pub(super) fn text(&self) -> String {
        let mut text = match identical::is_all_left_out(&self.trial) {
            true => format!("trial {}: {}\n", self.trial.id, self.trial.title),
            false => {
                let booted = identical::booted(&self.trial);
                text::render(&booted, &self.cells, &self.verdicts)
            }
        };
        text.push_str(&stored::render(&self.differences, FUNCTIONS));
        text.push_str(&self.left_out);
        text.push_str(&claims::render(&self.claims));
        text
    }

    /// The code of what stopped a trial that failed, else that of its verdicts.
    pub(super) fn exit_code(&self) -> u8 {
        match &self.trial.failure {
            Some(failure) => At::named_in(failure).unwrap_or(At::Kernel).exit_code(),
            None if identical::is_all_left_out(&self.trial) => outcome::FINE,
            None => outcome::exit_code(&self.cells, &self.verdicts),
        }
    }
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
