//! `ktrial verdict --self-test`: how often this machine's own A/A trials would cry wolf, and how
//! small an effect they can see.

use std::ffi::OsStr;
use std::path::Path;

use clap::Parser;
use ktrial_db::{AaTrial, Db};

use super::{Context, print, trial};
use crate::fault::{Fault, Result};
use crate::machine;
use crate::verdict::selftest::{self, stored, text};
use crate::vm;

/// Splits of each trial: a rate of 5 % is then known to half a per cent, but for their overlap.
const SPLITS: usize = 10_000;
/// Rounds of a side where a trial has boots for more: what a trial usually gets.
const USUAL_ROUNDS: usize = 12;
const SEED: u64 = 1;

/// The series that is no patch at all.
const CONTROL: &str = "linux-control-same";
/// Rounds of an A/A trial that is run for the test: two splits of the usual rounds.
const OWN_ROUNDS: usize = 24;

/// `ktrial trial`, to be called with words.
#[derive(Debug, Parser)]
struct Trial {
    #[command(flatten)]
    arguments: trial::Arguments,
}

/// Tests every stored A/A trial of this machine, after it has run one of `tree` if that is given.
pub(super) fn run(context: &Context, tree: Option<&Path>, rounds: Option<usize>) -> Result<u8> {
    if let Some(tree) = tree {
        let rounds = rounds.unwrap_or(OWN_ROUNDS).to_string();
        let words = ["trial", CONTROL, "--rounds", &rounds, "--tree"].map(OsStr::new);
        let words = words.into_iter().chain([tree.as_os_str()]);
        let parsed = Trial::try_parse_from(words)
            .map_err(|e| Fault::user(format!("the A/A trial is not understood: {e}")))?;
        trial::run(context, &parsed.arguments)?;
        print("\n")?;
    }
    let db = context.database()?;
    let machine = machine::describe(&vm::version(&context.home)?)?;
    let trials = db.aa_trials(&machine.key)?;
    if trials.is_empty() {
        return Err(Fault::user("this machine has no complete A/A trial")
            .next("run one: `ktrial trial linux-control-same --tree LINUX --rounds 24`, or give --tree LINUX here"));
    }
    for aa in &trials {
        print(&of_trial(&db, aa, rounds)?)?;
    }
    Ok(0)
}

fn of_trial(db: &Db, aa: &AaTrial, rounds: Option<usize>) -> Result<String> {
    let Some(trial) = db.trial(aa.trial)? else {
        return Ok(String::new());
    };
    let heading = format!(
        "trial {}: {}, {} time\n",
        trial.id, trial.title, trial.clock
    );
    let boots = stored::boots(db, aa)?;
    let side = rounds.unwrap_or_else(|| USUAL_ROUNDS.min(boots.values.len() / 2));
    Ok(
        match selftest::run(&boots, side, SPLITS, trial.margin, SEED) {
            Some(test) => format!("{heading}{}\n", text::render(&test, trial.margin)),
            None => format!(
                "{heading}too small: {} boots with values are not {side} against {side}\n\n",
                boots.values.len()
            ),
        },
    )
}
