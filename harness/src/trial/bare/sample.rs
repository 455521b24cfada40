//! Workloads run here and now, by the same agent as in a guest.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::fault::{Fault, OrHost, Result};
use crate::guest::{Perturbation, Programs, jobs};
use crate::home::Home;
use crate::machine::files::Files;
use crate::machine::load::{Load, Measured, Meter, Own};
use crate::process;
use crate::vm::frames::{Frame, FrameReader};
use crate::workload::Job;

/// What one measurement gave.
pub struct Sampled {
    /// Every frame of the agent, in order.
    pub frames: Vec<Frame>,
    /// What else ran meanwhile.
    pub load: Option<Load>,
}

/// Runs the jobs here, beside everything else that runs.
///
/// # Errors
/// A host fault if the agent can't be run, or does not end; an interrupt.
pub fn sample(home: &Home, programs: &Programs, jobs: &[Job], seed: u64) -> Result<Sampled> {
    let run = home.cache("run")?;
    let folder = tempfile::Builder::new().prefix("bare-").tempdir_in(&run);
    let folder = folder.or_host(|| format!("make a folder in {}", run.display()))?;
    let doing = || format!("write {}", folder.path().display());
    programs.install(folder.path()).or_host(doing)?;
    let here = |job: &Job| Job {
        program: folder
            .path()
            .join(job.program.trim_start_matches("/bin/"))
            .display()
            .to_string(),
        ..job.clone()
    };
    let list = jobs::list(
        &jobs.iter().map(here).collect::<Vec<_>>(),
        &Perturbation::of(seed),
    );
    let [list_file, results] = ["jobs", "results"].map(|name| folder.path().join(name));
    std::fs::write(&list_file, list).or_host(doing)?;
    let mut command = Command::new(folder.path().join("agent"));
    command
        .args([&list_file, &results])
        .current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let log = folder.path().join("agent.log");
    command.stderr(std::fs::File::create(&log).or_host(doing)?);
    let deadlines = jobs
        .iter()
        .map(|job| Duration::from_millis(job.deadline_ms));
    let deadline = deadlines.sum::<Duration>() + GRACE;
    let load = follow(command, home.cache_root(), deadline, &log)?;
    let frames = frames(&results)?;
    match frames.last() {
        Some(Frame::Bye { .. }) => Ok(Sampled { frames, load }),
        _ => Err(Fault::host("the agent did not run all jobs").showing(said(&log))),
    }
}

/// Beyond the jobs' own deadlines, for the agent to report them.
const GRACE: Duration = Duration::from_secs(30);

/// Waits for the agent, and looks at what else runs.
fn follow(command: Command, cache: &Path, deadline: Duration, log: &Path) -> Result<Option<Load>> {
    let mut child = process::spawn(command, cache)?;
    let measured = Measured {
        cpus: Vec::new(),
        own: Own::Tree(std::process::id()),
    };
    let mut meter = Meter::start(Files::here(), measured);
    let start = Instant::now();
    loop {
        if let Some(status) = child.poll()? {
            let how = process::describe(status);
            return match status.success() {
                true => Ok(meter.as_mut().map(Meter::load)),
                false => Err(Fault::host(format!("the agent ended with {how}")).showing(said(log))),
            };
        }
        process::check_interrupt()?;
        if start.elapsed() > deadline {
            return Err(Fault::host("the agent did not end").showing(said(log)));
        }
        if let Some(meter) = &mut meter {
            meter.look();
        }
        std::thread::sleep(5 * process::TICK);
    }
}

fn said(log: &Path) -> String {
    crate::input::text(log).unwrap_or_default()
}

fn frames(results: &Path) -> Result<Vec<Frame>> {
    let bytes = std::fs::read(results).or_host(|| format!("read {}", results.display()))?;
    let frames = FrameReader::default().push(&bytes);
    frames.map_err(|why| Fault::host(format!("the agent sent {why}")))
}
