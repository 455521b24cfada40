//! `ktrial boot`: one guest, once.

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use super::shape::GuestArguments;
use super::trial::ClockChoice;
use super::{Context, print};
use crate::counters::host::{Count, Watched};
use crate::counters::instructions;
use crate::fault::{At, Fault, OrHost, Result};
use crate::guest::{Guest, Perturbation, Placement, Programs, Seen, Shape};
use crate::kernel::Kernel;
use crate::machine::places::Places;
use crate::trial::Run;
use crate::vm::frames::{Frame, JobEnd};
use crate::vm::{self, Clock, Counter, Pins};
use crate::workload::Job;

/// Options of `ktrial boot`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The hash of a kernel in the cache, or the file of an image (vmlinux, bzImage)
    kernel: String,
    /// What runs, in this order: NAME or NAME:PARAMETER=VALUE,FLAG,...; `ktrial workloads` lists them
    #[arg(long = "workload", short = 'w', value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Guest milliseconds of one iteration
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    duration: u64,
    /// Iterations that count, after one to warm up
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    iterations: u32,
    /// What the guest's time means
    #[arg(long, value_enum, default_value_t = ClockChoice::Virtual)]
    clock: ClockChoice,
    #[command(flatten)]
    guest: GuestArguments,
    /// Perturbs the boot: the one that a trial recorded gives that boot again
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Count the guest's instructions too, between the marks of each iteration
    #[arg(long)]
    count: bool,
    /// Print the console too
    #[arg(long)]
    console: bool,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<u8> {
    let start = Instant::now();
    let image = image(context, &arguments.kernel)?;
    let shape = arguments.guest.shape(context)?;
    let clock = arguments.clock.resolve(context)?;
    vm::check_turns(&vm::version(&context.home)?, clock, shape.cpus)?;
    let (placement, _right) = Placement::claim(&shape, clock, &context.progress)?;
    let _kept_off = placement
        .pins
        .as_ref()
        .map(Pins::keep_ktrial_off)
        .transpose()?;
    let guest = Guest {
        shape: &shape,
        pins: placement.pins.as_ref(),
        clock,
        programs: &Programs::build(&context.home)?,
    };
    let mut launch = guest.launch(image, &jobs(arguments, &shape)?, arguments.seed)?;
    if arguments.count {
        launch.counter = Some(counter(context, &arguments.kernel, clock)?);
    }
    let run = context.home.cache("run")?;
    let folder = run.join(format!("boot-{}", std::process::id()));
    std::fs::create_dir_all(&folder).or_host(|| format!("make {}", folder.display()))?;
    let cache = context.home.cache_root();
    let boot = vm::boot(&launch, &folder, cache, &mut |frame| show(frame, start));
    let _ = std::fs::remove_dir_all(&folder);
    let boot = boot?;
    if arguments.console {
        print(&String::from_utf8_lossy(&boot.console))?;
    }
    print(&shaped(&shape, clock, &boot.frames))?;
    if let Some(watched) = &boot.watched {
        print(&hosted(watched))?;
    }
    if let Some(fault) = boot.fault("this kernel") {
        return Err(fault);
    }
    if let Some(counts) = &boot.counts {
        print(&counted(counts)?)?;
    }
    let failed = boot.frames.iter().any(|frame| match frame {
        Frame::End { how, .. } => *how != JobEnd::Exit(0),
        _ => false,
    });
    if failed {
        return Err(Fault::new(
            At::Guest,
            "a workload failed; its line is above",
        ));
    }
    Ok(0)
}

fn image(context: &Context, kernel: &str) -> Result<PathBuf> {
    let path = Path::new(kernel);
    if path.is_file() {
        return match is_kernel(path) {
            true => Ok(path.to_path_buf()),
            false => Err(Fault::user(format!("{kernel} is no kernel image"))
                .next("give a vmlinux, a bzImage, or the hash of a kernel in the cache")),
        };
    }
    Ok(Kernel::find(&context.home, kernel)?.image())
}

/// What counts instructions by function of a kernel in the cache: its symbols lie there.
fn counter(context: &Context, kernel: &str, clock: Clock) -> Result<Counter> {
    if clock != Clock::Virtual {
        return Err(Fault::user("--count only counts in virtual time").next("leave --clock out"));
    }
    if Path::new(kernel).is_file() {
        return Err(Fault::user("--count needs to know the kernel's functions")
            .next("give the hash of a kernel in the cache"));
    }
    Ok(Counter {
        plugin: vm::counter::plugin(&vm::version(&context.home)?)?,
        symbols: Kernel::find(&context.home, kernel)?.symbols(),
        exact: false,
    })
}

/// An ELF file, or what the Linux boot protocol calls a kernel ("HdrS" at 0x202).
fn is_kernel(path: &Path) -> bool {
    let mut start = [0; 0x206];
    let read = std::fs::File::open(path).and_then(|mut f| f.read_exact(&mut start));
    read.is_ok() && (start.starts_with(b"\x7fELF") || start.ends_with(b"HdrS"))
}

fn jobs(arguments: &Arguments, shape: &Shape) -> Result<Vec<Job>> {
    let places = Places::of(&shape.located());
    let seed = Perturbation::of(arguments.seed).workload_seed;
    let typed = arguments.workloads.iter();
    typed
        .map(|text| {
            let run = Run::parse(text, arguments.duration, arguments.iterations)?;
            run.job(&run.settings, seed, &places)
        })
        .collect()
}

/// The guest's own word for its shape.
fn shaped(shape: &Shape, clock: Clock, frames: &[Frame]) -> String {
    let Some(seen) = Seen::of(frames) else {
        return "the guest does not say how its CPUs lie\n".into();
    };
    let differences = seen.differences(shape, clock.has_dies());
    let verdict = match differences.is_empty() {
        true => ": as asked for",
        false => "",
    };
    let lines = differences
        .iter()
        .map(|line| format!("  not as asked for: {line}\n"));
    format!("shape as the guest sees it: {}{verdict}\n", seen.words()) + &lines.collect::<String>()
}

/// What this machine counted of the vCPU threads in each iteration, and of what it counted nothing.
fn hosted(watched: &Watched) -> String {
    let mut text = format!("\n{}\n", watched.threads).replace("\n\n", "\n");
    let intervals = watched.jobs.iter().flat_map(|(job, all)| {
        let numbered = all.iter().enumerate();
        numbered.map(move |(iteration, interval)| (job, iteration, interval))
    });
    for (job, iteration, interval) in intervals {
        for (metric, Count { count, share }) in interval {
            let _ = write!(
                text,
                "job {job}, iteration {iteration}: {metric} {count:.0}"
            );
            if *share < 1.0 {
                let _ = write!(text, ", scaled from {:.0} % of the time", 100.0 * share);
            }
            text.push('\n');
        }
    }
    for (reason, metrics) in watched.lacks() {
        let _ = writeln!(text, "no {}: {reason}", metrics.join(", "));
    }
    if let Some(broken) = &watched.broken {
        let _ = writeln!(text, "counting broke off: {broken}");
    }
    text
}

/// The instructions of each iteration.
fn counted(counts: &[u8]) -> Result<String> {
    let jobs = instructions::read(&String::from_utf8_lossy(counts)).map_err(Fault::host)?;
    let mut text = String::new();
    for (job, intervals) in jobs.iter().enumerate() {
        for (iteration, interval) in intervals.iter().enumerate() {
            let (user, kernel) = (interval.user, interval.kernel);
            let _ = writeln!(
                text,
                "job {job}, iteration {iteration}: {kernel} instructions in the kernel, {user} in user space"
            );
        }
    }
    Ok(text)
}

/// One line a frame, at once, with the wall time since the command started.
fn show(frame: &Frame, start: Instant) {
    let text = match frame {
        Frame::Hello {
            system,
            release,
            machine,
            cpus,
        } => format!("{system} {release} {machine}, {cpus} CPU(s)"),
        Frame::Begin { job, ns } => format!("job {job} begins at guest {:.3} s", *ns as f64 / 1e9),
        Frame::Out { job, text } => format!("job {job}: {text}"),
        Frame::Err { job, text } => format!("job {job} error: {text}"),
        Frame::Drop { job, lines } => format!("job {job}: {lines} more lines were dropped"),
        Frame::End { job, how, ns } => {
            format!("job {job} ends at guest {:.3} s: {how:?}", *ns as f64 / 1e9)
        }
        Frame::Cpu { .. } | Frame::Node { .. } | Frame::Bye { .. } => return,
    };
    let _ = print(&format!("{:8.3} {text}\n", start.elapsed().as_secs_f64()));
}
