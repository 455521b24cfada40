//! What counting costs (`bench/counters`): each way of counting in a boot of its own, round by round.

#![allow(clippy::print_stdout, reason = "it is a command")]

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::Parser;
use ktrial::counters::stacks::Watch;
use ktrial::fault::{Fault, OrHost, Result};
use ktrial::guest::{Guest, Programs, Shape};
use ktrial::home::Home;
use ktrial::kernel::Kernel;
use ktrial::machine::places::Places;
use ktrial::trial::Run;
use ktrial::vm::frames::Frame;
use ktrial::vm::{self, Clock, Counter};
use ktrial::workload::{self, Job};

/// An operation that is counted by function takes at most so many times as long as in plain TCG.
const AIM: f64 = 2.5;
const WORKLOADS: [&str; 2] = ["exec", "fd-churn:fds=20000,touch=4096"];

#[derive(Parser)]
struct Arguments {
    /// Boots of each way
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Guest milliseconds of an iteration; three are made of each workload
    #[arg(long, default_value_t = 500)]
    milliseconds: u64,
    /// Only the ways of this clock: emulated or virtual
    #[arg(long)]
    clock: Option<String>,
}

/// One way of counting.
struct Way {
    name: &'static str,
    clock: Clock,
    /// The guest's own kernel is asked.
    kernel: bool,
    /// This machine counts its vCPU threads.
    host: bool,
    /// The plugin counts, each instruction by itself or by block.
    plugin: Option<bool>,
    watch: Option<Watch>,
    /// The way beside which the guest's own figures are looked at.
    beside: &'static str,
}

const PLAIN: &str = "plain TCG";
const VIRTUAL: &str = "virtual time";

fn ways() -> Vec<Way> {
    let plain = || Way {
        name: PLAIN,
        clock: Clock::Emulated,
        kernel: false,
        host: false,
        plugin: None,
        watch: None,
        beside: PLAIN,
    };
    let virtual_time = || Way {
        name: VIRTUAL,
        clock: Clock::Virtual,
        beside: VIRTUAL,
        ..plain()
    };
    vec![
        plain(),
        Way {
            name: "  the guest's kernel",
            kernel: true,
            ..plain()
        },
        Way {
            name: "  and the vCPU threads",
            kernel: true,
            host: true,
            ..plain()
        },
        virtual_time(),
        Way {
            name: "  the guest's kernel",
            kernel: true,
            ..virtual_time()
        },
        Way {
            name: "  and instructions",
            kernel: true,
            plugin: Some(false),
            ..virtual_time()
        },
        Way {
            name: "  the same, one by one",
            kernel: true,
            plugin: Some(true),
            ..virtual_time()
        },
        Way {
            name: "  profile",
            kernel: true,
            watch: Some(Watch::Profile),
            ..virtual_time()
        },
        Way {
            name: "  locks",
            kernel: true,
            watch: Some(Watch::Locks),
            ..virtual_time()
        },
    ]
}

/// What a workload did in one boot.
#[derive(Clone, Copy)]
struct Did {
    /// Wall time an operation, in seconds.
    wall: f64,
    /// Operations a second of guest time.
    rate: f64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("bench/counters: {fault}");
            ExitCode::from(fault.at.exit_code())
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool> {
    let home = Home::open()?;
    let kernel = Kernel::newest(&home)?
        .ok_or_else(|| Fault::user("no kernel is in the cache").next("./quickstart builds one"))?;
    let counting = Programs::build(&home)?;
    let silent = without_counts(&home, counting.clone())?;
    let mut ways = ways();
    let wanted = |way: &Way| {
        arguments
            .clock
            .as_ref()
            .is_none_or(|clock| way.clock.name() == clock)
    };
    ways.retain(|way| way.name == PLAIN || wanted(way));
    let mut seen: Vec<[Vec<Did>; 2]> = ways.iter().map(|_| Default::default()).collect();
    for round in 0..arguments.rounds {
        eprintln!("round {} of {}", round + 1, arguments.rounds);
        for (way, seen) in ways.iter().zip(&mut seen) {
            let programs = if way.kernel { &counting } else { &silent };
            let did = boot(&home, &kernel, way, programs, arguments.milliseconds, round)?;
            for (seen, did) in seen.iter_mut().zip(did) {
                seen.push(did);
            }
        }
    }
    Ok(show(&kernel, &ways, &seen, arguments))
}

/// The workloads without what counts in them.
fn without_counts(home: &Home, programs: Programs) -> Result<Programs> {
    let folder = home.cache("run")?.join("bench-counters-sources");
    let doing = || format!("write {}", folder.display());
    std::fs::create_dir_all(&folder).or_host(doing)?;
    workload::SOURCES.extract(&folder).or_host(doing)?;
    let none = "#include \"counts.h\"\nvoid counts_begin(void) {}\nvoid counts_end(uint64_t n) { (void)n; }\n";
    std::fs::write(folder.join("common/none.c"), none).or_host(doing)?;
    let mut programs = programs;
    for name in ["exec", "fd-churn"] {
        let mut command = Command::new("musl-gcc");
        command.args([
            "-static",
            "-O2",
            "-std=gnu11",
            "-pthread",
            "-s",
            "-o",
            "none",
        ]);
        command.args([&format!("{name}/{name}.c"), "common/none.c"]);
        let status = command
            .current_dir(&folder)
            .status()
            .or_host(|| "run musl-gcc".into())?;
        if !status.success() {
            return Err(Fault::host(format!("musl-gcc can't build {name}")));
        }
        let binary = std::fs::read(folder.join("none")).or_host(doing)?;
        programs = programs.with(name, binary);
    }
    let _ = std::fs::remove_dir_all(&folder);
    Ok(programs)
}

fn boot(
    home: &Home,
    kernel: &Kernel,
    way: &Way,
    programs: &Programs,
    milliseconds: u64,
    round: u32,
) -> Result<[Did; 2]> {
    let jobs = WORKLOADS.map(|text| job(text, milliseconds, way.watch));
    let jobs = jobs.into_iter().collect::<Result<Vec<_>>>()?;
    let guest = Guest {
        shape: &Shape::plain(1, 1024)?,
        pins: None,
        clock: way.clock,
        programs,
    };
    let mut launch = guest.launch(kernel.image(), &jobs, u64::from(round))?;
    launch.marks = way.host;
    if let Some(exact) = way.plugin {
        launch.counter = Some(Counter {
            plugin: vm::counter::plugin(&vm::version(home)?)?,
            symbols: kernel.symbols(),
            exact,
        });
    }
    let folder = home.cache("run")?.join("bench-counters");
    std::fs::create_dir_all(&folder).or_host(|| format!("make {}", folder.display()))?;
    let mut begun: BTreeMap<usize, Instant> = BTreeMap::new();
    let mut walls: BTreeMap<usize, Duration> = BTreeMap::new();
    let boot = vm::boot(
        &launch,
        &folder,
        home.cache_root(),
        &mut |frame| match frame {
            Frame::Begin { job, .. } => drop(begun.insert(*job, Instant::now())),
            Frame::End { job, .. } => {
                walls.insert(
                    *job,
                    begun.get(job).map(Instant::elapsed).unwrap_or_default(),
                );
            }
            _ => {}
        },
    );
    let _ = std::fs::remove_dir_all(&folder);
    let boot = boot?;
    if let Some(fault) = boot.fault(way.name) {
        return Err(fault);
    }
    let did = |job: usize| {
        let wall = walls.get(&job).map(Duration::as_secs_f64);
        wall.and_then(|wall| did(&boot.frames, job, wall))
            .ok_or_else(|| {
                Fault::host(format!("{} was not measured: {}", WORKLOADS[job], way.name))
            })
    };
    Ok([did(0)?, did(1)?])
}

fn job(text: &str, milliseconds: u64, watch: Option<Watch>) -> Result<Job> {
    let run = Run::parse(text, milliseconds, 2)?;
    let job = run.job(&run.settings, 7, &Places::of(&[]))?;
    Ok(watch.map_or_else(|| job.clone(), |watch| watch.job(job.clone())))
}

fn did(frames: &[Frame], job: usize, wall: f64) -> Option<Did> {
    let (mut operations, mut rates) = (0.0, Vec::new());
    for frame in frames {
        let Frame::Out { job: other, text } = frame else {
            continue;
        };
        match text.split(' ').collect::<Vec<_>>().as_slice() {
            ["operations", _, count] if *other == job => operations += count.parse().unwrap_or(0.0),
            ["sample", iteration, "rate", rate] if *other == job && *iteration != "0" => {
                rates.extend(rate.parse::<f64>().ok());
            }
            _ => {}
        }
    }
    let rate = rates.iter().sum::<f64>() / rates.len() as f64;
    (operations > 0.0 && rate > 0.0).then_some(Did {
        wall: wall / operations,
        rate,
    })
}

/// Prints the table; whether the aim is met.
fn show(kernel: &Kernel, ways: &[Way], seen: &[[Vec<Did>; 2]], arguments: &Arguments) -> bool {
    println!(
        "kernel {} ({}), {} boots of each way, {} ms an iteration\n",
        kernel.hash, kernel.release, arguments.rounds, arguments.milliseconds
    );
    println!("{:<26}{:>24}{:>24}", "", "exec", "fd-churn");
    println!(
        "{:<26}{:>12}{:>12}{:>12}{:>12}",
        "", "wall", "guest", "wall", "guest"
    );
    let mut dearest: f64 = 0.0;
    for (way, of_way) in ways.iter().zip(seen) {
        let reference = ways
            .iter()
            .position(|other| other.name == way.beside)
            .unwrap_or(0);
        let mut line = format!("{:<26}", way.name);
        for (w, of_workload) in of_way.iter().enumerate() {
            // Boots of one round have one seed, and are near in time.
            let pairs = |of: usize| of_workload.iter().zip(&seen[of][w]);
            let wall = median(pairs(0).map(|(did, plain)| did.wall / plain.wall));
            let guest = median(pairs(reference).map(|(did, beside)| did.rate / beside.rate));
            line += &format!("{wall:>12.2}{:>+11.2} %", 100.0 * (guest - 1.0));
            if way.plugin == Some(false) {
                dearest = dearest.max(wall);
            }
        }
        println!("{line}");
    }
    println!(
        "\nwall: how long an operation takes on this machine, beside plain TCG; guest: how the guest's \
         own rate\nmoves beside the unindented line above it (in virtual time exactly)"
    );
    if dearest > 0.0 {
        println!("counting instructions: {dearest:.2} times plain TCG (aim: at most {AIM})");
    }
    dearest <= AIM
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    ktrial::verdict::median::median(&values).unwrap_or(f64::NAN)
}
