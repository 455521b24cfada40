//! The command line: one file a command. Each is thin; the work is in the library.

mod apply;
mod boot;
mod db;
mod doctor;
mod history;
mod judged;
mod machine;
mod margin;
mod measure;
mod profile;
mod report;
mod self_test;
mod series;
mod shape;
mod trial;
mod tune;
mod verdict;
mod workloads;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::fault::{Fault, OrHost, Result};
use crate::home::Home;
use crate::process::{self, leftovers};
use crate::progress::Progress;
use crate::terminal::{complain, plain};

const EXIT_CODES: &str = "\
Exit codes:
  0    nothing regressed
  1    something regressed
  2    usage: the command line, a file of yours, or a tree that lacks what the series needs
  3    inconclusive
  4    the patch is at fault: it can't be read, or does not apply
  5    the kernel is at fault: it does not build, panics or hangs
  6    this machine is at fault: tool, disk, accelerator, or the guest's own programs
  130  interrupted; the same command goes on

ktrial keeps its cache in $XDG_CACHE_HOME/ktrial and its database in
$XDG_STATE_HOME/ktrial; $KTRIAL_HOME puts both below one folder.";

/// Puts kernel patches on trial: builds the kernel with and without them, boots both again and
/// again in random order, measures, and gives a verdict.
#[derive(Debug, Parser)]
#[command(name = "ktrial", version, after_help = EXIT_CODES)]
struct Cli {
    /// Show no progress
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What works on this machine, tried and not assumed; what to install
    Doctor,
    /// Put a series on trial: base against patched
    Trial(trial::Arguments),
    /// Boot one kernel once and run workloads: a look, or a recorded boot again from its seed
    Boot(boot::Arguments),
    /// Run workloads on the kernel that runs now, without a guest, and judge it against others that
    /// this machine ran before
    Measure(measure::Arguments),
    /// Judge a trial again from its stored samples
    Verdict(verdict::Arguments),
    /// Metrics of a tree over the weeks: where each changed, by how much, between which commits
    History(history::Arguments),
    /// Where the instructions of a trial's kernels went, function by function
    Profile(profile::Arguments),
    /// Write the HTML report
    Report(report::Arguments),
    /// Put a series on a branch of a tree, with authors and dates kept
    Apply(apply::Arguments),
    /// The catalogue: list, show, check against a tree, import
    #[command(subcommand)]
    Series(series::Command),
    /// What this machine is, or another one: its name, packages, nodes, caches, cores, threads
    Machine(machine::Arguments),
    /// The workloads: parameters with defaults and ranges, and what each measures
    Workloads,
    /// The database: check, path
    #[command(subcommand)]
    Db(db::Command),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What every command has at hand.
struct Context {
    home: Home,
    progress: Progress,
}

/// Parses the command line and runs it; the result is the process exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(code) => ExitCode::from(code),
        Err(fault) => {
            complain(&format!("ktrial: {fault}"));
            ExitCode::from(fault.at.exit_code())
        }
    }
}

fn run(cli: Cli) -> Result<u8> {
    if let Command::Completions { shell } = cli.command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "ktrial", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        return Ok(0);
    }
    process::catch_interrupts()?;
    let context = Context {
        home: Home::open()?,
        progress: Progress::new(cli.quiet),
    };
    for leftover in leftovers::sweep(context.home.cache_root()) {
        context.progress.say(&format!(
            "an earlier run had left {} (pid {}) running; it is ended",
            leftover.name, leftover.pid
        ));
    }
    tune::put_back(&context);
    match cli.command {
        Command::Doctor => doctor::run(&context),
        Command::Trial(arguments) => trial::run(&context, &arguments),
        Command::Boot(arguments) => boot::run(&context, &arguments),
        Command::Measure(arguments) => measure::run(&context, &arguments),
        Command::Verdict(arguments) => verdict::run(&context, &arguments),
        Command::History(arguments) => history::run(&context, &arguments),
        Command::Profile(arguments) => profile::run(&context, &arguments),
        Command::Report(arguments) => report::run(&context, &arguments),
        Command::Apply(arguments) => apply::run(&context, &arguments),
        Command::Series(command) => series::run(&context, &command),
        Command::Machine(arguments) => machine::run(&context, &arguments),
        Command::Workloads => workloads::run(),
        Command::Db(command) => db::run(&context, &command),
        Command::Completions { .. } => Ok(0),
    }
}

impl Context {
    fn database(&self) -> Result<ktrial_db::Db> {
        Ok(ktrial_db::Db::open(&self.home.database())?)
    }
}

/// Prints to standard output; a reader that has gone away (`| head`) is no fault.
fn print(text: &str) -> Result<()> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(plain(text).as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(e).or_host(|| "write to standard output".into())
        }
        _ => Ok(()),
    }
}

/// A trial by its number, or the latest one.
fn pick(db: &ktrial_db::Db, wanted: Option<i64>) -> Result<ktrial_db::TrialId> {
    match wanted {
        Some(id) => Ok(ktrial_db::TrialId(id)),
        None => db.latest_trial()?.ok_or_else(|| {
            Fault::user("there is no trial yet").next("`ktrial trial --help` says how to run one")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// clap finds names used twice, and options that need or exclude what is not there, only when a
    /// command is first asked for.
    #[test]
    fn every_command_is_built_without_a_clash() {
        Cli::command().debug_assert();
    }
}
