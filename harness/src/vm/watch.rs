//! Follows one guest from QEMU's start to its end, and gives its ending a name.

use std::path::Path;
use std::time::{Duration, Instant};

use super::console::{Console, Sign};
use super::ending::Ending;
use super::follow::Follower;
use super::frames::{Frame, FrameReader};
use super::qemu::{Paths, Qemu};
use super::vcpus::Vcpus;
use super::{Clock, Launch, Limits};
use crate::counters::host::Watched;
use crate::fault::{At, Fault, Result};
use crate::machine::files::Files;
use crate::machine::load::{Load, Measured, Meter};
use crate::process;

/// One boot, as it was.
#[derive(Debug)]
pub struct Boot {
    /// How it ended.
    pub ending: Ending,
    /// Every frame that came, in order.
    pub frames: Vec<Frame>,
    /// The frames as bytes.
    pub results: Vec<u8>,
    /// The console, cut in the middle if very long.
    pub console: Vec<u8>,
    /// From the first sign of trouble on, or the last lines.
    pub last_words: String,
    /// Kernel warnings on the console.
    pub warnings: u32,
    /// Whether the kernel killed a process for want of memory.
    pub out_of_memory: bool,
    /// What was counted, as the plugin wrote it.
    pub counts: Option<Vec<u8>>,
    /// What this machine counted of its vCPU threads, where its iterations were marked.
    pub watched: Option<Watched>,
    /// What else ran on this machine since the agent's first word; not looked at in virtual time,
    /// which does not pass meanwhile.
    pub load: Option<Load>,
    /// QEMU's own messages.
    pub log: Vec<u8>,
    /// QEMU's command line.
    pub command: String,
    /// From QEMU's start to the agent's first word.
    pub until_agent: Option<Duration>,
    /// Wall time in jobs.
    pub in_jobs: Duration,
    /// From QEMU's start to its end.
    pub took: Duration,
}

/// Boots a guest in `folder` (made for this boot alone) and follows it to its end; `heard` is told
/// of each frame as it comes.
///
/// # Errors
/// A host fault if QEMU cannot be started; an interrupt. A guest that fails is no error but an
/// [`Ending`].
pub fn boot(
    launch: &Launch,
    folder: &Path,
    cache: &Path,
    heard: &mut dyn FnMut(&Frame),
) -> Result<Boot> {
    let files = Paths::in_folder(folder);
    let mut qemu = Qemu::start(launch, &files, cache)?;
    let vcpus = vcpus(&mut qemu, launch);
    if let Some(pins) = &launch.pins {
        qemu.pin(pins)?;
    }
    let measured = (launch.clock != Clock::Virtual).then(|| qemu.measured(launch.pins.as_ref()));
    let mut watch = Watch {
        measured: measured.transpose()?,
        meter: None,
        console_file: Follower::open(&files.console)?,
        results_file: Follower::open(&files.results)?,
        qemu,
        limits: &launch.limits,
        heard,
        console: Console::watching(launch.signs),
        reader: FrameReader::default(),
        frames: Vec::new(),
        results: Vec::new(),
        phase: Phase::Booting,
        start: Instant::now(),
        until_agent: None,
        in_jobs: Duration::ZERO,
        pace: launch.limits.slowdown,
    };
    let ending = watch.until_the_end()?;
    let ending = watch.name(ending, &files)?;
    let took = watch.start.elapsed();
    let counts = match launch.counter {
        Some(_) => watch.counts(&files)?,
        None => None,
    };
    let watched = vcpus.map(|counted| match counted {
        Ok(vcpus) => vcpus.end(),
        Err(fault) => Watched::nothing(&fault.what),
    });
    Ok(Boot {
        ending,
        took,
        load: watch.meter.as_mut().map(Meter::load),
        frames: watch.frames,
        results: watch.results,
        last_words: watch.console.last_words(),
        warnings: watch.console.warnings,
        out_of_memory: matches!(watch.console.sign(), Some((Sign::OutOfMemory, _))),
        console: watch.console.into_bytes(),
        log: std::fs::read(&files.log).unwrap_or_default(),
        command: watch.qemu.command,
        until_agent: watch.until_agent,
        in_jobs: watch.in_jobs,
        counts,
        watched,
    })
}

/// Counts from now on, if the guest's iterations are marked. A guest that can't be counted runs all
/// the same; that it ends at once is for others to say.
fn vcpus(qemu: &mut Qemu, launch: &Launch) -> Option<Result<Vcpus>> {
    let stream = qemu.marks.take()?;
    let jobs = launch.limits.jobs.len();
    let threads = qemu.vcpu_threads();
    Some(threads.and_then(|threads| Vcpus::start(stream, launch.clock, &threads, jobs)))
}

/// What the guest is doing, as far as it has said.
#[derive(Debug, Clone, Copy)]
enum Phase {
    Booting,
    Job { id: usize, since: Instant },
    Idle { since: Instant },
    Done { since: Instant },
}

/// A guest that has said its last word may take this long to power off.
const POWER_OFF: Duration = Duration::from_secs(5);
/// Between two jobs, or before the first, the agent has little to do.
const IDLE: Duration = Duration::from_secs(60);
/// Grace on top of a job's own deadline, for the agent to report it.
const GRACE: Duration = Duration::from_secs(15);

struct Watch<'a> {
    qemu: Qemu,
    limits: &'a Limits,
    heard: &'a mut dyn FnMut(&Frame),
    console_file: Follower,
    results_file: Follower,
    console: Console,
    reader: FrameReader,
    frames: Vec<Frame>,
    results: Vec<u8>,
    phase: Phase,
    start: Instant,
    until_agent: Option<Duration>,
    in_jobs: Duration,
    /// Wall seconds a guest second takes at the most.
    pace: f64,
    /// What of the machine is measured, if anything else on it would show.
    measured: Option<Measured>,
    meter: Option<Meter>,
}

impl Watch<'_> {
    /// Looks until the guest is gone or has to be ended; `None` if it went by itself.
    fn until_the_end(&mut self) -> Result<Option<Ending>> {
        loop {
            let gone = self.qemu.child.poll()?.is_some();
            if let Some(meter) = &mut self.meter {
                meter.look();
            }
            if let Some(ending) = self.read()? {
                return Ok(Some(ending));
            }
            if gone {
                return Ok(None);
            }
            process::check_interrupt()?;
            if let Phase::Done { since } = self.phase {
                if since.elapsed() > POWER_OFF {
                    self.qemu.quit();
                    return Ok(None);
                }
            } else if let Some(ending) = self.overdue() {
                return Ok(Some(ending));
            }
            std::thread::sleep(process::TICK);
        }
    }

    /// Takes in what is new on the console and in the results.
    fn read(&mut self) -> Result<Option<Ending>> {
        self.console.push(&self.console_file.new_bytes()?);
        let results = self.results_file.new_bytes()?;
        if self.console_file.read > self.limits.output
            || self.results_file.read > self.limits.output
        {
            return Ok(Some(Ending::Flood));
        }
        self.take_results(results)
    }

    fn take_results(&mut self, bytes: Vec<u8>) -> Result<Option<Ending>> {
        let frames = match self.reader.push(&bytes) {
            Ok(frames) => frames,
            Err(why) => return Ok(Some(Ending::Agent(format!("sent {why}")))),
        };
        self.results.extend(bytes);
        for frame in frames {
            self.enter(&frame);
            (self.heard)(&frame);
            self.frames.push(frame);
        }
        Ok(None)
    }

    fn enter(&mut self, frame: &Frame) {
        let since = Instant::now();
        if let (Phase::Job { since, .. }, Frame::End { .. }) = (self.phase, frame) {
            self.in_jobs += since.elapsed();
        }
        self.phase = match *frame {
            Frame::Hello { .. } => {
                self.until_agent = Some(self.start.elapsed());
                // A guest that says it twice does not end what is looked at.
                if let Some(measured) = self.measured.take() {
                    self.meter = Meter::start(Files::here(), measured);
                }
                Phase::Idle { since }
            }
            Frame::Begin { job, ns } => {
                // The guest's clock against the wall's: this host's own pace.
                if ns > 0 {
                    let pace = self.start.elapsed().as_secs_f64() / (ns as f64 / 1e9);
                    self.pace = self.pace.max(2.0 * pace);
                }
                Phase::Job { id: job, since }
            }
            Frame::End { .. } => Phase::Idle { since },
            Frame::Bye { .. } => Phase::Done { since },
            _ => return,
        };
    }

    /// What the plugin has written, once QEMU is gone and has written all of it.
    fn counts(&mut self, files: &Paths) -> Result<Option<Vec<u8>>> {
        let since = Instant::now();
        while self.qemu.child.poll()?.is_none() && since.elapsed() < POWER_OFF {
            std::thread::sleep(process::TICK);
        }
        Ok(std::fs::read(&files.counts).ok())
    }

    /// The ending, if the guest has passed the deadline of what it is doing.
    fn overdue(&self) -> Option<Ending> {
        match self.phase {
            Phase::Booting => {
                (self.start.elapsed() > self.limits.boot).then_some(Ending::HangAtBoot)
            }
            Phase::Idle { since } => (since.elapsed() > IDLE).then_some(Ending::Hang),
            Phase::Job { id, since } => {
                let allowed = self.limits.jobs.get(id).copied().unwrap_or(IDLE);
                let allowed = allowed.mul_f64(self.pace.clamp(1.0, 100.0)) + GRACE;
                (since.elapsed() > allowed).then_some(Ending::Hang)
            }
            Phase::Done { .. } => None,
        }
    }

    /// The final name: what the console says goes before what a deadline says.
    fn name(&mut self, ended: Option<Ending>, files: &Paths) -> Result<Ending> {
        if ended.is_none() {
            let limit = self.limits.output;
            let rest = self.console_file.rest(limit)?;
            self.console.push(&rest);
            let rest = self.results_file.rest(limit)?;
            if let Some(damaged) = self.take_results(rest)? {
                return Ok(damaged);
            }
        }
        let done = matches!(self.phase, Phase::Done { .. });
        match self.console.sign() {
            // The kernel killed a process; what the agent says of its job is what counts.
            Some((Sign::OutOfMemory | Sign::Agent, _)) if done => return Ok(Ending::Complete),
            Some((sign, line)) => return Ok(Ending::Crash(sign, line.to_owned())),
            None if done => return Ok(Ending::Complete),
            None => {}
        }
        // A guest whose words could not be written looks like one that says nothing.
        if is_full(&files.results) {
            return Ok(Ending::Qemu("was cut short: the disk is full".into()));
        }
        if let Some(ending) = ended {
            return Ok(ending);
        }
        Ok(match self.qemu.child.poll()? {
            Some(status) if !status.success() => {
                let said = std::fs::read_to_string(&files.log).unwrap_or_default();
                let how = process::describe(status);
                Ending::Qemu(format!("was lost: QEMU ended with {how} {}", said.trim()))
            }
            _ => Ending::Reset,
        })
    }
}

/// Whether the disk that holds `path` has less than a MiB left.
fn is_full(path: &Path) -> bool {
    nix::sys::statvfs::statvfs(path).is_ok_and(|disk| {
        let free = disk.blocks_available() * disk.fragment_size();
        free < 1 << 20
    })
}

impl Boot {
    /// What disturbed it, if anything did.
    pub fn disturbance(&self) -> Option<String> {
        self.load.as_ref().and_then(Load::disturbance)
    }

    /// The fault of a boot that is not complete, for the variant called `variant`.
    pub fn fault(&self, variant: &str) -> Option<Fault> {
        let at = self.ending.at()?;
        let fault = Fault::new(
            at,
            format!("the guest of {variant} {}", self.ending.describe()),
        );
        Some(match at {
            At::Host => fault.next("`ktrial doctor` tries QEMU and the disk"),
            _ => fault.showing(&self.last_words),
        })
    }
}
