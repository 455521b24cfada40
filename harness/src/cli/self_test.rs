//! `ktrial verdict --self-test`: how often this machine's own A/A trials would cry wolf, and how
//! small an effect they can see.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use clap::{Args, Parser};
use ktrial_db::Trial;

use super::{Context, print, trial};
use crate::fault::{Fault, OrHost, Result};
use crate::verdict::decide::FEWEST_ROUNDS;
use crate::verdict::selftest::{self, Boots, kept, stored, text};
use crate::{input, machine, process, vm};

/// Splits of each trial: a rate of 5 % is then known to half a per cent, but for their overlap.
const SPLITS: usize = 10_000;
/// Rounds of a side where a trial has boots for twice as many: what a trial usually gets.
const USUAL_ROUNDS: usize = 12;
const SEED: u64 = 1;
/// The series that is no patch at all.
const CONTROL: &str = "linux-control-same";

/// Options of the self-test.
#[derive(Debug, Args)]
pub struct SelfTestArguments {
    /// Test this machine by its own A/A trials: how often they would cry wolf, and how small an
    /// effect they can see
    #[arg(long, conflicts_with_all = ["trial", "list"])]
    pub self_test: bool,
    /// Rounds that a trial is taken to have in the self-test [default: 12, or a quarter of the
    /// boots]
    #[arg(long, requires = "self_test", value_parser = clap::value_parser!(u16).range(i64::from(FEWEST_ROUNDS)..=200))]
    rounds: Option<u16>,
    /// Run an A/A trial of this Linux source first, of twice the rounds
    #[arg(long, requires = "self_test", value_name = "PATH")]
    tree: Option<PathBuf>,
    /// Test the boots that are kept in this file instead
    #[arg(
        long,
        requires = "self_test",
        conflicts_with = "tree",
        value_name = "FILE"
    )]
    data: Option<PathBuf>,
    /// Keep the boots of the newest A/A trial in this file
    #[arg(
        long,
        requires = "self_test",
        conflicts_with = "data",
        value_name = "FILE"
    )]
    keep: Option<PathBuf>,
}

/// `ktrial trial`, to be called with words.
#[derive(Debug, Parser)]
struct TrialCommand {
    #[command(flatten)]
    arguments: trial::Arguments,
}

pub(super) fn run(context: &Context, arguments: &SelfTestArguments) -> Result<u8> {
    let rounds = arguments.rounds.map(usize::from);
    if let Some(file) = &arguments.data {
        let boots = kept::read(&input::text(file)?).map_err(|mut fault| {
            fault.what = format!("{}, {}", file.display(), fault.what);
            fault
        })?;
        let test = tested(&boots, rounds).ok_or_else(|| {
            Fault::user(format!("{}: {}", file.display(), too_small(&boots, rounds)))
        })?;
        print(&test)?;
        return Ok(0);
    }
    if let Some(file) = &arguments.keep {
        // Before minutes of work.
        let open = OpenOptions::new().create(true).append(true).open(file);
        open.map_err(|e| Fault::user(format!("cannot write {}: {e}", file.display())))?;
    }
    if let Some(tree) = &arguments.tree {
        run_aa(context, tree, 2 * rounds.unwrap_or(USUAL_ROUNDS))?;
    }
    let db = context.database()?;
    let machine = machine::describe(&vm::version(&context.home)?)?;
    let trials = db.aa_trials(&machine.key)?;
    let Some(newest) = trials.last() else {
        return Err(Fault::user("this machine has no complete A/A trial")
            .next("give --tree LINUX to run one; it takes some ten minutes without KVM"));
    };
    for aa in &trials {
        let Some(trial) = db.trial(aa.trial)? else {
            continue;
        };
        let (boots, others) = stored::boots(&db, aa, &trial)?;
        print(&format!("{}\n", heading(&trial)))?;
        if !others.is_empty() {
            print(&format!(
                "left out, without values above zero in each boot: {}\n",
                others.join(", ")
            ))?;
        }
        let small = || format!("{}\n\n", too_small(&boots, rounds));
        print(&tested(&boots, rounds).unwrap_or_else(small))?;
        if let Some(file) = arguments.keep.as_ref().filter(|_| aa == newest) {
            keep(&boots, &trial, file)?;
        }
    }
    Ok(0)
}

/// Runs an A/A trial, which is stored like any other.
fn run_aa(context: &Context, tree: &Path, rounds: usize) -> Result<()> {
    let rounds = rounds.to_string();
    let words = ["trial", CONTROL, "--rounds", &rounds, "--tree"].map(OsStr::new);
    let words = words.into_iter().chain([tree.as_os_str()]);
    let parsed = TrialCommand::try_parse_from(words)
        .map_err(|e| Fault::user(format!("the A/A trial is not understood: {e}")))?;
    trial::run(context, &parsed.arguments)?;
    print("\n")
}

fn heading(trial: &Trial) -> String {
    format!(
        "trial {}: {}, {} time ({})",
        trial.id, trial.title, trial.clock, trial.accelerator
    )
}

/// The table of the test; none where the boots are too few. A signal ends it at once.
fn tested(boots: &Boots, rounds: Option<usize>) -> Option<String> {
    let test = || selftest::run(boots, side(boots, rounds), SPLITS, SEED);
    let test = process::ending_at_once(test)?;
    Some(format!("{}\n", text::render(&test)))
}

/// Boots of a side: of a quarter each, a split leaves half of the boots to differ from the next one.
fn side(boots: &Boots, rounds: Option<usize>) -> usize {
    rounds.unwrap_or_else(|| USUAL_ROUNDS.min(boots.values.len() / 4))
}

fn too_small(boots: &Boots, rounds: Option<usize>) -> String {
    let (count, side) = (
        boots.values.len(),
        side(boots, rounds).max(FEWEST_ROUNDS as usize),
    );
    format!("too small: {count} boots with values are not {side} against {side}")
}

fn keep(boots: &Boots, trial: &Trial, file: &Path) -> Result<()> {
    let about = [
        heading(trial),
        format!("seed {}, ktrial {}", trial.seed, trial.ktrial_version),
        format!("as run: {}", trial.command_line),
        format!("began {}", crate::timestamp::date(trial.started_at / 1000)),
        "BOOT,higher or lower is better,CELL,VALUES".to_owned(),
    ];
    std::fs::write(file, kept::write(boots, &about)).or_host(|| format!("write {}", file.display()))
}
