//! `ktrial trial`: the main job.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ktrial_patches::catalogue::{self, Series};

use super::{Context, print};
use crate::fault::{Fault, Result};
use crate::guest::{Clock, Shape};
use crate::kernel::Config;
use crate::tree::Tree;
use crate::trial::{self, Plan, Run, Wanted, plan};
use crate::verdict::{self, outcome, text};
use crate::vm::accel;
use crate::{machine, report};

/// Options of `ktrial trial`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A series of the catalogue, a folder with a series.toml, or a patch file or mbox
    series: String,
    /// The kernel source: a git checkout, a tarball (.tar.xz, ...) or a folder
    #[arg(long, value_name = "PATH")]
    tree: PathBuf,
    /// The base, where the tree is a git checkout [default: HEAD]
    #[arg(long)]
    revision: Option<String>,
    /// What runs in each boot: NAME or NAME:PARAMETER=VALUE,FLAG,...; may be repeated
    /// [default: what the series says, else exec and fd-churn]
    #[arg(long = "workload", short = 'w', value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Boots of each variant
    #[arg(long, short, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Differences within this many per cent count as none
    #[arg(long, default_value = "1", value_parser = percent)]
    margin: f64,
    /// Guest milliseconds of one iteration
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    duration: u64,
    /// Iterations that count, in each boot, after one to warm up
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    iterations: u32,
    /// What the guests' time means
    #[arg(long, value_enum, default_value_t = ClockChoice::Auto)]
    clock: ClockChoice,
    /// The guests' CPUs
    #[arg(long, default_value_t = 1)]
    cpus: u32,
    /// The guests' memory in MiB
    #[arg(long, default_value_t = 1024)]
    memory: u32,
    /// Kernel options (lines of a .config) on top of ktrial's small config
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Orders the boots and perturbs them; drawn and recorded if not given
    #[arg(long)]
    seed: Option<u64>,
    /// The series is a control: exit 0 if it shows what its series.toml expects
    #[arg(long)]
    control: bool,
    /// Write the report there when done
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    /// Jobs for make [default: the CPUs]
    #[arg(long, short)]
    jobs: Option<usize>,
}

/// How `--clock` is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ClockChoice {
    /// Real where KVM boots a guest, else virtual
    Auto,
    /// KVM: the machine's own time
    Real,
    /// TCG, time is counted instructions: repeatable, and blind to contention and caches
    Virtual,
    /// TCG in wall time: for looking only
    Emulated,
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    let number: f64 = text
        .trim_end_matches('%')
        .trim()
        .parse()
        .map_err(|_| "a number of per cent, such as 2 or 0.5".to_owned())?;
    if number > 0.0 && number < 100.0 {
        Ok(number / 100.0)
    } else {
        Err("a number of per cent between 0 and 100".into())
    }
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let series = open_series(&arguments.series)?;
    if arguments.control && series.expectations.is_empty() {
        return Err(Fault::user(format!(
            "{} expects nothing, so it is no control",
            series.name
        ))
        .next("leave --control out"));
    }
    let plan = plan(context, arguments, &series)?;
    let config = Config::with(arguments.config.as_deref())?;
    let tree = Tree::open(
        &context.home,
        &arguments.tree,
        arguments.revision.as_deref(),
    )?;
    let wanted = Wanted {
        tree: &tree,
        series: &series,
        config: &config,
        plan,
        seed: arguments.seed,
        command_line: std::env::args().collect::<Vec<_>>().join(" "),
        jobs: arguments.jobs.unwrap_or_else(machine::cpus),
    };
    let prepared = trial::prepare(&context.home, wanted, &context.progress)?;
    let mut db = context.database()?;
    let ran = trial::run(&context.home, &mut db, &prepared, &context.progress)?;
    conclude(&mut db, ran.id, arguments, &series)
}

/// Judges, prints, writes the report; returns the exit code.
fn conclude(
    db: &mut ktrial_db::Db,
    id: ktrial_db::TrialId,
    arguments: &Arguments,
    series: &Series,
) -> Result<u8> {
    let verdicts = verdict::judge(db, id)?;
    let cells = db.cells(id)?;
    let trial = db
        .trial(id)?
        .ok_or_else(|| Fault::host(format!("trial {id} is gone from the database")))?;
    print(&text::render(&trial, &cells, &verdicts))?;
    let code = if arguments.control {
        let held = outcome::hold(&series.expectations, &trial, &cells, &verdicts);
        print(&text::render_control(&held))?;
        outcome::control_exit_code(&held)
    } else {
        outcome::exit_code(&cells, &verdicts)
    };
    if let Some(folder) = &arguments.report {
        let index = report::write(db, folder)?;
        print(&format!("\nreport: {}\n", index.display()))?;
    }
    Ok(code)
}

fn plan(context: &Context, arguments: &Arguments, series: &Series) -> Result<Plan> {
    let (duration, iterations) = (arguments.duration, arguments.iterations);
    let runs = if !arguments.workloads.is_empty() {
        let typed = arguments.workloads.iter();
        typed
            .map(|text| Run::parse(text, duration, iterations))
            .collect::<Result<_>>()?
    } else if series.workloads.is_empty() {
        ["exec", "fd-churn:touch=0"]
            .iter()
            .map(|text| Run::parse(text, duration, iterations))
            .collect::<Result<_>>()?
    } else {
        plan::runs(series, duration, iterations)?
    };
    Ok(Plan {
        variants: plan::variants(series)?,
        runs,
        rounds: arguments.rounds,
        margin: arguments.margin,
        shape: Shape {
            cpus: arguments.cpus,
            memory_mib: arguments.memory,
        }
        .check()?,
        // Last, because it may try a guest.
        clock: arguments.clock.resolve(context),
    })
}

/// A name of the catalogue, a folder, or a file.
pub(super) fn open_series(name: &str) -> Result<Series> {
    let path = Path::new(name);
    let series = if path.is_dir() {
        Series::open(path)
    } else if path.is_file() {
        Series::from_patch_file(path)
    } else {
        catalogue::find(name)
    };
    series.map_err(|e| Fault::user(e.to_string()))
}

impl ClockChoice {
    /// The clock that is meant; `auto` tries KVM, and says once if it does not work.
    pub(super) fn resolve(self, context: &Context) -> Clock {
        match self {
            ClockChoice::Real => Clock::Real,
            ClockChoice::Virtual => Clock::Virtual,
            ClockChoice::Emulated => Clock::Emulated,
            ClockChoice::Auto => match accel::try_kvm(&context.home) {
                Ok(()) => Clock::Real,
                Err(why) => {
                    context.progress.say(&format!(
                        "KVM does not work here ({why}): guests run emulated, in virtual time"
                    ));
                    Clock::Virtual
                }
            },
        }
    }
}
