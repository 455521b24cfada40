//! `ktrial measure`: the workloads on the kernel that runs now.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::judged::Judged;
use super::margin::{self, Margin};
use super::{Context, print};
use crate::fault::{Fault, Result};
use crate::guest::perturb::Perturbation;
use crate::guest::{Programs, Shape};
use crate::machine;
use crate::machine::files::Files;
use crate::machine::hwloc;
use crate::machine::load::Load;
use crate::machine::places::Places;
use crate::terminal::shell_line;
use crate::trial::bare::{self, Wanted};
use crate::trial::{Plan, Run, plan};
use crate::vm::Clock;
use crate::vm::frames::{Frame, JobEnd};

/// Options of `ktrial measure`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What the trial is called: boots of one name, with the same options, are judged together
    #[arg(required_unless_present = "look", value_parser = NonEmptyStringValueParser::new())]
    name: Option<String>,
    /// What the running kernel is called in it; the first one is what others are compared with
    /// [default: its release]
    #[arg(long = "as", value_name = "VARIANT", value_parser = NonEmptyStringValueParser::new())]
    variant: Option<String>,
    /// What runs: NAME or NAME:PARAMETER=VALUE,FLAG,...; may be repeated; `ktrial workloads` lists
    /// them [default: exec and fd-churn]
    #[arg(long = "workload", short = 'w', value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Differences within this many per cent count as none; METRIC=PERCENT is for one metric, and
    /// may be repeated [default: 1]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    margin: Vec<Margin>,
    /// Milliseconds of one iteration
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    duration: u64,
    /// Iterations that count, in each boot, after one to warm up
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    iterations: u32,
    /// Only show what is measured; nothing is stored
    #[arg(long, conflicts_with_all = ["name", "variant"])]
    look: bool,
}

/// Boots of each kernel up to which looks are planned; more can be made.
const MOST_BOOTS: u32 = 24;

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let plan = plan(arguments)?;
    let Some(name) = &arguments.name else {
        return look(context, &plan);
    };
    let files = Files::here();
    let release = files.value("proc/sys/kernel/osrelease");
    let wanted = Wanted {
        name: name.clone(),
        variant: arguments
            .variant
            .clone()
            .or(release)
            .unwrap_or_else(|| "base".into()),
        plan,
        command_line: shell_line(std::env::args_os()),
    };
    let mut db = context.database()?;
    let id = bare::measure(&context.home, &mut db, wanted, &files, &context.progress)?;
    let judged = Judged::of(&mut db, id)?;
    if judged.trial.variants.len() == 1 {
        let boots = judged.trial.rounds;
        print(&format!(
            "trial {id}: {boots} boot(s) of {}; measure another kernel under this name to compare\n",
            judged.trial.variants[0].name
        ))?;
        return Ok(0);
    }
    print(&judged.text())?;
    Ok(judged.exit_code())
}

fn plan(arguments: &Arguments) -> Result<Plan> {
    let usual = ["exec".to_owned(), "fd-churn:touch=0,fds=1000".to_owned()];
    let typed = match arguments.workloads.is_empty() {
        true => &usual[..],
        false => &arguments.workloads[..],
    };
    let (duration, iterations, places) = (arguments.duration, arguments.iterations, places()?);
    let runs = typed
        .iter()
        .map(|text| Run::parse_all(text, duration, iterations, &places));
    let runs = runs.collect::<Result<Vec<_>>>()?.concat();
    plan::check_runs(&runs)?;
    let (margin, margins) = margin::split(&arguments.margin, &runs)?;
    let here = machine::describe("")?;
    Ok(Plan {
        variants: Vec::new(),
        runs,
        looks: plan::looks(Clock::Real, 2, MOST_BOOTS),
        margin,
        margins,
        clock: Clock::Real,
        shape: Shape {
            cpus: here.cpus,
            memory_mib: u32::try_from(here.memory_bytes >> 30).unwrap_or(u32::MAX) << 10,
            layout: None,
        },
        count: false,
        watch: Vec::new(),
        aa: false,
        programs: String::new(),
        claims: Vec::new(),
    })
}

fn places() -> Result<Places> {
    Ok(Places::of(&hwloc::here()?.usable()))
}

/// Runs it once, and prints the lines of the workloads.
fn look(context: &Context, plan: &Plan) -> Result<u8> {
    let programs = Programs::build(&context.home)?;
    let _right = machine::exclusive::Exclusive::wait(&context.progress)?;
    let seed = Perturbation::of(0).workload_seed;
    let places = places()?;
    let jobs = plan
        .runs
        .iter()
        .map(|run| run.job(&run.settings, seed, &places));
    let jobs = jobs.collect::<Result<Vec<_>>>()?;
    let sampled = bare::sample(&context.home, &programs, &jobs, 0)?;
    for frame in &sampled.frames {
        match frame {
            Frame::Out { job, text } | Frame::Err { job, text } => {
                print(&format!("{}: {text}\n", plan.runs[*job].workload))?;
            }
            Frame::End { how, job, .. } if *how != JobEnd::Exit(0) => {
                return Err(Fault::host(format!(
                    "{} failed: {how:?}",
                    plan.runs[*job].workload
                )));
            }
            _ => {}
        }
    }
    let disturbance = sampled.load.as_ref().and_then(Load::disturbance);
    if let Some(why) = disturbance {
        print(&format!("disturbed: {why}\n"))?;
    }
    Ok(0)
}
