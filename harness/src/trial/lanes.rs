//! Lanes: guests that boot side by side, where the clock allows it, and are handed on as they end.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use super::{PlannedVariant, Prepared, Run};
use crate::counters::stacks::Watch;
use crate::fault::{At, OrHost, Result};
use crate::guest::{Guest, Perturbation};
use crate::home::Home;
use crate::machine;
use crate::machine::places::Places;
use crate::timestamp::unix_ms;
use crate::vm::{self, Boot, Counter};
use crate::workload::Job;

/// A boot that the machine, and not the kernel, spoiled or disturbed is made again this often.
const RETRIES: u32 = 1;

/// One boot that is due.
#[derive(Debug, Clone)]
pub(super) struct Due {
    /// What it is watched for; then nothing else is counted in it.
    pub(super) watch: Option<Watch>,
    pub(super) round: u32,
    pub(super) position: u32,
    pub(super) variant: usize,
    pub(super) attempt: u32,
    /// Whether an earlier attempt was disturbed: one is enough.
    pub(super) disturbed_before: bool,
    pub(super) seed: u64,
}

/// A boot that was made, or why it could not be.
pub(super) struct Done {
    pub(super) due: Due,
    pub(super) started_at: i64,
    pub(super) boot: Result<Boot>,
    /// Whether it is tried again, so that its fault is not the trial's.
    pub(super) again: bool,
}

impl Done {
    pub(super) fn in_jobs(&self) -> Duration {
        self.boot.as_ref().map_or(Duration::ZERO, |b| b.in_jobs)
    }

    /// What it was, for the progress.
    pub(super) fn line(&self, prepared: &Prepared) -> String {
        let variant = &prepared.plan.variants[self.due.variant].name;
        let took = self.boot.as_ref().map_or(Duration::ZERO, |b| b.took);
        let took = crate::progress::duration(took);
        let again = if self.again { ", made again" } else { "" };
        match self.due.watch {
            Some(watch) => format!("{} of {variant}, {took}{again}", watch.kind()),
            None => format!("round {}, {variant}, {took}{again}", self.due.round + 1),
        }
    }
}

/// Boots guests, some at once, and hands each on when it ends.
pub(super) struct Lanes<'a> {
    home: &'a Home,
    prepared: &'a Prepared,
    /// What runs in each boot.
    runs: &'a [Run],
    folder: PathBuf,
    /// Until when a disturbed boot may be made again; none for any time.
    again_until: Option<Instant>,
    stop: AtomicBool,
}

/// Guests at once: one a core where each has a time of its own, else one.
pub(super) fn count(prepared: &Prepared) -> usize {
    if prepared.plan.clock.runs_side_by_side() {
        machine::cpus()
    } else {
        1
    }
}

impl<'a> Lanes<'a> {
    /// Lanes whose guests run `runs` and use `folder` while they live.
    pub(super) fn new(
        home: &'a Home,
        prepared: &'a Prepared,
        runs: &'a [Run],
        folder: PathBuf,
    ) -> Lanes<'a> {
        Lanes {
            home,
            prepared,
            runs,
            folder,
            again_until: None,
            stop: AtomicBool::new(false),
        }
    }

    /// The same, which makes no disturbed boot again after that time.
    pub(super) fn again_until(self, time: Option<Instant>) -> Lanes<'a> {
        Lanes {
            again_until: time,
            ..self
        }
    }

    /// Makes every boot that is due, and stops starting new ones at the first failure.
    pub(super) fn run(
        &self,
        lanes: usize,
        due: Vec<Due>,
        mut take: impl FnMut(Done) -> Result<()>,
    ) -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(lanes)
            .build()
            .or_host(|| "start threads".into())?;
        let (sender, receiver): (Sender<Done>, Receiver<Done>) = mpsc::channel();
        let mut outcome = Ok(());
        pool.in_place_scope_fifo(|scope| {
            for due in due {
                let sender = sender.clone();
                scope.spawn_fifo(move |_| {
                    if !self.stop.load(Ordering::SeqCst) {
                        self.make(due, &sender);
                    }
                });
            }
            drop(sender);
            for done in receiver {
                if let Err(fault) = take(done) {
                    self.stop.store(true, Ordering::SeqCst);
                    if outcome.is_ok() {
                        outcome = Err(fault);
                    }
                }
            }
        });
        outcome
    }

    /// Makes one boot; tries again where the machine was at fault. Every attempt is handed on.
    fn make(&self, mut due: Due, sender: &Sender<Done>) {
        let last = due.attempt + RETRIES;
        loop {
            let started_at = unix_ms();
            let boot = self.boot(&due);
            let again =
                due.attempt < last && boot.as_ref().is_ok_and(|boot| self.is_bad(boot, &due));
            let disturbed = boot.as_ref().is_ok_and(|boot| boot.disturbance().is_some());
            let _ = sender.send(Done {
                due: due.clone(),
                started_at,
                boot,
                again,
            });
            if !again {
                return;
            }
            due.attempt += 1;
            due.disturbed_before |= disturbed;
        }
    }

    /// Whether a boot says less of its kernel than another one would.
    fn is_bad(&self, boot: &Boot, due: &Due) -> bool {
        // What a watched boot says of times is thrown away anyway.
        let may_repeat = due.watch.is_none() && !due.disturbed_before;
        let in_time = || self.again_until.is_none_or(|until| Instant::now() < until);
        match boot.ending.at() {
            Some(at) => at == At::Host,
            None => may_repeat && boot.disturbance().is_some() && in_time(),
        }
    }

    fn boot(&self, due: &Due) -> Result<Boot> {
        let prepared = self.prepared;
        let variant = &prepared.plan.variants[due.variant];
        let kernel = prepared.kernel(variant)?;
        let guest = Guest {
            shape: &prepared.plan.shape,
            pins: prepared.host.placement.pins.as_ref(),
            clock: prepared.plan.clock,
            programs: &prepared.programs,
        };
        let places = Places::of(&prepared.plan.shape.located());
        let mut jobs = jobs(self.runs, variant, due.seed, &places)?;
        if let Some(watch) = due.watch {
            jobs = jobs.into_iter().map(|job| watch.job(job)).collect();
        }
        let mut launch = guest.launch(kernel.image(), &jobs, due.seed)?;
        launch.marks &= due.watch.is_none();
        let plugin = prepared.counter.clone().filter(|_| due.watch.is_none());
        launch.counter = plugin.map(|plugin| Counter {
            plugin,
            symbols: kernel.symbols(),
            exact: false,
        });
        let kind = due.watch.map_or("round", Watch::kind);
        let folder = self.folder.join(format!(
            "{kind}-{}-{}-{}",
            due.round, due.position, due.attempt
        ));
        std::fs::create_dir_all(&folder).or_host(|| format!("make {}", folder.display()))?;
        let boot = vm::boot(&launch, &folder, self.home.cache_root(), &mut |_| ());
        let _ = std::fs::remove_dir_all(&folder);
        boot
    }
}

/// The jobs of one boot.
pub(super) fn jobs(
    runs: &[Run],
    variant: &PlannedVariant,
    seed: u64,
    places: &Places,
) -> Result<Vec<Job>> {
    let seed = Perturbation::of(seed).workload_seed;
    let job = |run: &Run| run.job(&variant.settings(run), seed, places);
    runs.iter().map(job).collect()
}
