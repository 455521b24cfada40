//! `ktrial verdict --self-test`: how often this machine's own A/A trials would cry wolf, and how
//! small an effect they can see.

use ktrial_db::{AaTrial, Db};

use super::{Context, print};
use crate::fault::{Fault, Result};
use crate::machine;
use crate::verdict::selftest::{self, stored, text};
use crate::vm;

/// Splits of each trial: a rate of 5 % is then known to half a per cent, but for their overlap.
const SPLITS: usize = 10_000;
/// Rounds of a side where a trial has boots for more: what a trial usually gets.
const USUAL_ROUNDS: usize = 12;
const SEED: u64 = 1;

/// Tests every stored A/A trial of this machine.
pub(super) fn run(context: &Context, db: &Db, rounds: Option<usize>) -> Result<u8> {
    let machine = machine::describe(&vm::version(&context.home)?)?;
    let trials = db.aa_trials(&machine.key)?;
    if trials.is_empty() {
        return Err(Fault::user("this machine has no complete A/A trial")
            .next("run one: `ktrial trial linux-control-same --tree LINUX --rounds 24`"));
    }
    for aa in &trials {
        print(&of_trial(db, aa, rounds)?)?;
    }
    Ok(0)
}

fn of_trial(db: &Db, aa: &AaTrial, rounds: Option<usize>) -> Result<String> {
    let Some(trial) = db.trial(aa.trial)? else {
        return Ok(String::new());
    };
    let heading = format!("trial {}: {}, {} time\n", trial.id, trial.title, trial.clock);
    let boots = stored::boots(db, aa)?;
    let side = rounds.unwrap_or_else(|| USUAL_ROUNDS.min(boots.values.len() / 2));
    Ok(match selftest::run(&boots, side, SPLITS, trial.margin, SEED) {
        Some(test) => format!("{heading}{}\n", text::render(&test, trial.margin)),
        None => format!(
            "{heading}too small: {} boots with values are not {side} against {side}\n\n",
            boots.values.len()
        ),
    })
}
