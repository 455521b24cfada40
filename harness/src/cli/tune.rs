//! `ktrial machine tune`: a machine set for one command, and put back.

use std::process::Command;

use clap::Args;

use super::{Context, print};
use crate::fault::{Fault, Result};
use crate::machine::files::Files;
use crate::machine::tune::{self, How, Returned, Tuned};
use crate::process;

/// Options of `ktrial machine tune`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The command to run meanwhile; without one, what would be set is only said
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let files = Files::here();
    let Some((program, rest)) = arguments.command.split_first() else {
        let changes = tune::plan(&files);
        print(&match changes.is_empty() {
            true => "nothing to set\n".to_owned(),
            false => tune::render(&changes),
        })?;
        return Ok(0);
    };
    let tuned = Tuned::set(&files)?;
    for (change, why) in &tuned.refused {
        context
            .progress
            .say(&format!("{} is as it was: {why}", change.name));
    }
    context.progress.say(&match tuned.set.as_slice() {
        [] => "nothing to set".to_owned(),
        set => format!("set for this run:\n{}", tune::render(set).trim_end()),
    });
    let mut command = Command::new(program);
    command.args(rest);
    let ran = process::run_in_foreground(command);
    for returned in tuned.restore()? {
        say(context, &returned);
    }
    ran
}

/// What of putting back is worth a line.
fn say(context: &Context, returned: &Returned) {
    let change = &returned.change;
    let line = match &returned.how {
        How::PutBack | How::AsBefore => return,
        How::SetByOthers { now } => format!(
            "somebody has set {} to {now} meanwhile: it is left so (it was {})",
            change.name, change.from
        ),
        How::Gone => format!("{} is gone: /{}", change.name, change.path),
        How::Refused { why } => format!("{} could not be put back: {why}", change.name),
    };
    context.progress.say(&line);
}

/// Puts back what a killed run has left set; what fails is said, and is no fault of this command.
pub(super) fn put_back(context: &Context) {
    match tune::restore_leftovers(&Files::here()) {
        Ok(returned) if returned.is_empty() => {}
        Ok(returned) => {
            let count = returned.len();
            context.progress.say(&format!(
                "an earlier run had {count} settings of this machine changed: they are put back"
            ));
            returned.iter().for_each(|one| say(context, one));
        }
        Err(Fault { what, .. }) => context.progress.say(&format!(
            "an earlier run has left settings of this machine changed: {what}"
        )),
    }
}
