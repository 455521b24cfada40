//! `ktrial trial`: the main job.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use ktrial_patches::catalogue::Series;

use super::judged::Judged;
use super::margin::{self, Margin};
use super::shape::GuestArguments;
use super::{Context, print};
use crate::counters::stacks::Watch;
use crate::fault::{Fault, Result};
use crate::kernel::Config;
use crate::machine::places::Places;
use crate::terminal::shell_line;
use crate::tree::{self, Tree};
use crate::trial::{self, Plan, Run, Wanted, plan};
use crate::verdict::{outcome, text};
use crate::vm::Clock;
use crate::vm::accel::{self, Accelerator};
use crate::{machine, report, series, vm};

/// Options of `ktrial trial`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A series of the catalogue, a folder of patches, a patch file or mbox, or - for standard input
    series: String,
    /// The kernel source: a git checkout, a tarball (.tar.xz, ...) or a folder
    #[arg(long, value_name = "PATH")]
    tree: PathBuf,
    /// The base, where the tree is a git checkout [default: HEAD]
    #[arg(long)]
    revision: Option<String>,
    /// What runs in each boot: NAME or NAME:PARAMETER=VALUE,FLAG,...; may be repeated; 1..8 and
    /// '1|2|4' are several values, each a setting of its own, and so are 'topology' (1, 2, one worker
    /// for each package, node, complex, core, thread of the guest) and 'topology+-1'; `ktrial
    /// workloads` lists them
    /// [default: what the series says, else exec and fd-churn]
    #[arg(long = "workload", short = 'w', value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// At most so many boots of each variant: after 4 and then after every few it is judged, and
    /// what is decided stops running
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=200))]
    rounds_max: u32,
    /// How long the boots may take together, such as 40m or 2h: after the first look, no rounds are
    /// begun that would probably end later
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    budget: Option<Duration>,
    /// So many boots of each variant, no fewer and no more, judged once
    #[arg(long, short, conflicts_with_all = ["rounds_max", "budget"], value_parser = clap::value_parser!(u32).range(1..=200))]
    rounds: Option<u32>,
    /// Differences within this many per cent count as none; METRIC=PERCENT is for one metric, and
    /// may be repeated [default: 1]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    margin: Vec<Margin>,
    /// Guest milliseconds of one iteration
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    duration: u64,
    /// Iterations that count, in each boot, after one to warm up
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    iterations: u32,
    /// What the guests' time means
    #[arg(long, value_enum, default_value_t = ClockChoice::Auto)]
    clock: ClockChoice,
    /// Count every instruction of the guests, by kernel function: in virtual time, so the same on
    /// any machine, however busy
    #[arg(long)]
    deterministic: bool,
    /// Then boot each kernel once more and sample its stacks; `ktrial profile` and the report show
    /// them
    #[arg(long)]
    profile: bool,
    /// Then boot each kernel once more and look at every wait for a lock that was held
    #[arg(long)]
    locks: bool,
    #[command(flatten)]
    guest: GuestArguments,
    /// Kernel options (lines of a .config) on top of ktrial's small config
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Orders the boots and perturbs them; drawn and recorded if not given
    #[arg(long)]
    seed: Option<u64>,
    /// Boot a variant even where its kernel is the base's to the bit, to see what noise there is
    #[arg(long)]
    aa: bool,
    /// The series is a control: exit 0 if it shows what its series.toml expects
    #[arg(long)]
    control: bool,
    /// Write the report there when done
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    /// Jobs for make [default: the CPUs]
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
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

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let series = series::open(&arguments.series)?;
    // Whatever tree it is, it would have to be of this system.
    series.system.map_or(Ok(()), tree::check_bootable)?;
    if arguments.control && series.expectations.is_empty() {
        return Err(Fault::user(format!(
            "{} expects nothing, so it is no control",
            series.name
        ))
        .next("leave --control out"));
    }
    // Before the tree, which takes a minute to import: whatever is cheap to find wrong.
    let mut plan = plan(context, arguments, &series)?;
    let config = Config::with(arguments.config.as_deref())?;
    if let Some(folder) = &arguments.report {
        std::fs::create_dir_all(folder)
            .map_err(|e| Fault::user(format!("no report fits in {}: {e}", folder.display())))?;
    }
    // A checkout is opened at once; anything else is imported, which a machine without QEMU is told
    // before.
    if !tree::is_git(&arguments.tree)? {
        vm::version(&context.home)?;
    }
    let tree = Tree::open(
        &context.home,
        &arguments.tree,
        arguments.revision.as_deref(),
    )?;
    tree.check_bootable()?;
    plan.clock = match arguments.deterministic {
        true => arguments.clock.countable()?,
        false => arguments.clock.resolve(context)?,
    };
    plan.looks = match arguments.rounds {
        Some(rounds) => vec![rounds],
        None => plan::looks(plan.clock, plan.variants.len(), arguments.rounds_max),
    };
    let wanted = Wanted {
        tree: &tree,
        series: &series,
        config: &config,
        plan,
        seed: arguments.seed,
        command_line: shell_line(std::env::args_os()),
        jobs: arguments.jobs.map_or_else(machine::cpus, usize::from),
        budget_ms: arguments
            .budget
            .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
    };
    let prepared = trial::prepare(&context.home, wanted, &context.progress)?;
    let mut db = context.database()?;
    let ran = trial::run(&context.home, &mut db, &prepared, &context.progress);
    let code = match &ran {
        Ok(id) => conclude(&mut db, *id, arguments, &series)?,
        Err(_) => 0,
    };
    // Also of a trial that failed: its pages have the console.
    if let Some(folder) = &arguments.report {
        let index = report::write(&db, folder)?;
        print(&format!("\nreport: {}\n", index.display()))?;
    }
    ran.map(|_| code)
}

/// Judges and prints; returns the exit code.
fn conclude(
    db: &mut ktrial_db::Db,
    id: ktrial_db::TrialId,
    arguments: &Arguments,
    series: &Series,
) -> Result<u8> {
    let judged = Judged::of(db, id)?;
    print(&judged.text())?;
    if !arguments.control {
        return Ok(judged.exit_code());
    }
    let held = outcome::hold(
        &series.expectations,
        &judged.trial,
        &judged.cells,
        &judged.verdicts,
    );
    print(&text::render_control(&held))?;
    Ok(outcome::control_exit_code(&held))
}

/// The plan but for its clock, which may have to be tried, and for what hangs on that.
fn plan(context: &Context, arguments: &Arguments, series: &Series) -> Result<Plan> {
    let (duration, iterations) = (arguments.duration, arguments.iterations);
    let shape = arguments.guest.shape(context)?;
    let places = Places::of(&shape.located());
    let runs = if !arguments.workloads.is_empty() {
        let typed = arguments.workloads.iter();
        let runs: Vec<Vec<Run>> = typed
            .map(|text| Run::parse_all(text, duration, iterations, &places))
            .collect::<Result<_>>()?;
        runs.concat()
    } else if series.workloads.is_empty() {
        ["exec", "fd-churn:touch=0"]
            .iter()
            .map(|text| Run::parse(text, duration, iterations))
            .collect::<Result<_>>()?
    } else {
        plan::runs(series, duration, iterations)?
    };
    plan::check_runs(&runs)?;
    let (margin, margins) = margin::split(&arguments.margin, &runs)?;
    Ok(Plan {
        variants: plan::variants(series)?,
        runs,
        looks: Vec::new(),
        margin,
        margins,
        shape,
        clock: Clock::Virtual,
        count: arguments.deterministic,
        watch: arguments.watch(),
        aa: arguments.aa || series.aa,
        programs: String::new(),
        claims: plan::claims(series)?,
    })
}

impl Arguments {
    fn watch(&self) -> Vec<Watch> {
        let asked = [(self.profile, Watch::Profile), (self.locks, Watch::Locks)];
        let asked = asked.into_iter().filter(|(asked, _)| *asked);
        asked.map(|(_, watch)| watch).collect()
    }
}

impl ClockChoice {
    /// The clock of guests whose instructions are counted.
    ///
    /// # Errors
    /// A user fault for any other one.
    fn countable(self) -> Result<Clock> {
        match self {
            ClockChoice::Auto | ClockChoice::Virtual => Ok(Clock::Virtual),
            ClockChoice::Real | ClockChoice::Emulated => Err(Fault::user(
                "--deterministic counts instructions, which only repeat in virtual time",
            )
            .next("leave --clock out")),
        }
    }

    /// The clock that is meant; `auto` tries KVM, and says once if it does not work.
    ///
    /// # Errors
    /// A host fault if real time is wanted and KVM does not boot a guest.
    pub(super) fn resolve(self, context: &Context) -> Result<Clock> {
        let kvm = || accel::try_out(&context.home, Accelerator::Kvm);
        match self {
            ClockChoice::Virtual => Ok(Clock::Virtual),
            ClockChoice::Emulated => Ok(Clock::Emulated),
            ClockChoice::Real => kvm().map(|()| Clock::Real).map_err(|why| {
                Fault::host(format!("KVM does not work here: {why}"))
                    .next("leave --clock out, or take --clock virtual")
            }),
            ClockChoice::Auto => Ok(kvm().map_or_else(
                |why| {
                    context.progress.say(&format!(
                        "KVM does not work here ({why}): guests run emulated, in virtual time"
                    ));
                    Clock::Virtual
                },
                |()| Clock::Real,
            )),
        }
    }
}
