//! The rounds: every variant once a round, in random order, side by side where the clock allows
//! it, and each boot stored when it ends.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use ktrial_db::{Db, NewBoot, Trial, TrialId, VariantId};

use super::record::{self, JobReport};
use super::{PlannedVariant, Prepared};
use crate::fault::{At, Fault, OrHost, Result};
use crate::guest::perturb::{boot_seed, round_order};
use crate::guest::{Guest, Perturbation};
use crate::home::Home;
use crate::machine;
use crate::progress::Progress;
use crate::timestamp::unix_ms;
use crate::vm::{self, Boot};
use crate::workload::{self, Job};

/// A boot that the machine, and not the kernel, spoiled is tried again this often.
const RETRIES: u32 = 1;

/// One boot that is due.
#[derive(Debug, Clone)]
struct Due {
    round: u32,
    position: u32,
    variant: usize,
    attempt: u32,
    seed: u64,
}

/// A boot that was made, or why it could not be.
struct Done {
    due: Due,
    started_at: i64,
    boot: Result<Boot>,
    /// Whether it is tried again, so that its fault is not the trial's.
    again: bool,
}

impl Done {
    fn in_jobs(&self) -> Duration {
        self.boot.as_ref().map_or(Duration::ZERO, |b| b.in_jobs)
    }

    /// What it was, for the progress.
    fn line(&self, prepared: &Prepared) -> String {
        let variant = &prepared.plan.variants[self.due.variant].name;
        let took = self.boot.as_ref().map_or(Duration::ZERO, |b| b.took);
        let took = crate::progress::duration(took);
        format!("round {}, {variant}, {took}", self.due.round + 1)
    }
}

/// Runs what is missing of the trial.
pub(super) fn run(
    home: &Home,
    db: &mut Db,
    id: TrialId,
    prepared: &Prepared,
    progress: &Progress,
) -> Result<()> {
    let trial = db
        .trial(id)?
        .ok_or_else(|| Fault::host(format!("trial {id} is gone from the database")))?;
    let due = still_due(db, &trial)?;
    let booted = trial.variants.iter().filter(|variant| !variant.left_out);
    let all = booted.count() * trial.rounds as usize;
    let resumed = all - due.len();
    if resumed > 0 {
        progress.say(&format!(
            "going on with trial {id}: {resumed} of {all} boots are done"
        ));
    }
    let folder = home.cache("run")?.join(&prepared.plan_key);
    // What a killed run left there; the lock on the trial says that nobody uses it.
    let _ = std::fs::remove_dir_all(&folder);
    let lanes = lanes(prepared);
    let task = progress.task(&format!("boots ({lanes} at once)"), Some(due.len() as u64));
    let boots = Lanes {
        home,
        prepared,
        folder: folder.clone(),
        stop: AtomicBool::new(false),
    };
    let start = Instant::now();
    let mut in_jobs = Duration::ZERO;
    let mut made = 0;
    let outcome = boots.run(lanes, due, |done| {
        in_jobs += done.in_jobs();
        let counts = !done.again;
        let line = done.line(prepared);
        store(db, &trial, prepared, done)?;
        made += usize::from(counts);
        task.step(made as u64, &line);
        Ok(())
    });
    let _ = std::fs::remove_dir_all(&folder);
    if let Err(fault) = outcome {
        fail(db, id, &fault)?;
        return Err(fault);
    }
    let lane_time = start.elapsed().as_secs_f64() * lanes as f64;
    let share = 100.0 * in_jobs.as_secs_f64() / lane_time.max(1e-3);
    task.end(&format!(
        "{made} made, {share:.0} % of the time in workloads"
    ));
    Ok(())
}

/// A kernel or a workload that fails ends the trial, and so does a workload that refuses its
/// parameters, which are the trial's; a machine that fails can be mended, and an
/// interrupt is no failure: then the same command goes on.
fn fail(db: &mut Db, id: TrialId, fault: &Fault) -> Result<()> {
    if ends_trial(fault.at) {
        db.finish_trial(id, unix_ms(), "failed", Some(&fault.to_string()))?;
    }
    Ok(())
}

fn ends_trial(at: At) -> bool {
    matches!(at, At::Kernel | At::Guest | At::User)
}

/// The boots that no earlier run has made, in the order of the trial's seed.
fn still_due(db: &Db, trial: &Trial) -> Result<Vec<Due>> {
    let boots = db.boots(trial.id)?;
    let counted: HashSet<(u32, VariantId)> = boots
        .iter()
        .filter(|b| b.outcome == "ok")
        .map(|b| (b.round, b.variant))
        .collect();
    let mut due = Vec::new();
    for round in 0..trial.rounds {
        let order = round_order(trial.seed, round, trial.variants.len());
        for (position, variant) in order.into_iter().enumerate() {
            let id = trial.variants[variant].id;
            if trial.variants[variant].left_out || counted.contains(&(round, id)) {
                continue;
            }
            let tried = boots.iter().filter(|b| b.round == round && b.variant == id);
            due.push(Due {
                round,
                position: position as u32,
                variant,
                attempt: tried.map(|b| b.attempt + 1).max().unwrap_or(0),
                seed: boot_seed(trial.seed, round, position as u32),
            });
        }
    }
    Ok(due)
}

/// Guests at once: one a core where each has a time of its own, else one.
fn lanes(prepared: &Prepared) -> usize {
    if prepared.plan.clock.runs_side_by_side() {
        machine::cpus()
    } else {
        1
    }
}

/// Boots guests, some at once, and hands each on when it ends.
struct Lanes<'a> {
    home: &'a Home,
    prepared: &'a Prepared,
    folder: PathBuf,
    stop: AtomicBool,
}

impl Lanes<'_> {
    /// Makes every boot that is due, and stops starting new ones at the first failure.
    fn run(
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
            let spoiled = matches!(&boot, Ok(boot) if boot.ending.at() == Some(At::Host));
            let again = spoiled && due.attempt < last;
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
        }
    }

    fn boot(&self, due: &Due) -> Result<Boot> {
        let prepared = self.prepared;
        let variant = &prepared.plan.variants[due.variant];
        let kernel = prepared
            .kernels
            .get(&variant.kernel)
            .ok_or_else(|| Fault::host(format!("the kernel of {} is gone", variant.name)))?;
        let guest = Guest {
            shape: prepared.plan.shape,
            clock: prepared.plan.clock,
            programs: &prepared.programs,
        };
        let launch = guest.launch(
            kernel.image(),
            &jobs(prepared, variant, due.seed)?,
            due.seed,
        )?;
        let folder = self
            .folder
            .join(format!("{}-{}-{}", due.round, due.position, due.attempt));
        std::fs::create_dir_all(&folder).or_host(|| format!("make {}", folder.display()))?;
        let boot = vm::boot(&launch, &folder, self.home.cache_root(), &mut |_| ());
        let _ = std::fs::remove_dir_all(&folder);
        boot
    }
}

/// The jobs of one boot.
fn jobs(prepared: &Prepared, variant: &PlannedVariant, seed: u64) -> Result<Vec<Job>> {
    let seed = Perturbation::of(seed).workload_seed;
    prepared
        .plan
        .runs
        .iter()
        .map(|run| {
            let workload = workload::find(&run.workload)?;
            Ok(workload.job(&variant.settings(run), run.timing(), seed))
        })
        .collect()
}

/// Stores what a boot was, then fails if it failed and is not tried again.
fn store(db: &mut Db, trial: &Trial, prepared: &Prepared, done: Done) -> Result<()> {
    let boot = done.boot?;
    let (due, plan) = (done.due, &prepared.plan);
    let planned = &plan.variants[due.variant];
    let reports = JobReport::all(&boot.frames, plan.runs.len());
    let trouble = record::trouble(&boot, &planned.name, &plan.runs, &reports);
    let samples = record::samples(db, &plan.runs, planned, &reports)?;
    let perturbation = serde_json::to_string(&Perturbation::of(due.seed));
    let warnings = (boot.warnings > 0).then(|| format!("{} kernel warnings", boot.warnings));
    record::store(
        db,
        &NewBoot {
            trial: trial.id,
            variant: trial.variants[due.variant].id,
            round: due.round,
            position: due.position,
            attempt: due.attempt,
            seed: due.seed,
            perturbation_json: perturbation.or_host(|| "write JSON".into())?,
            outcome: trouble
                .as_ref()
                .map_or("ok".into(), |(word, _)| word.clone()),
            detail: match &trouble {
                Some((_, fault)) => Some(fault.what.clone()),
                None => warnings,
            },
            started_at: done.started_at,
            ended_at: unix_ms(),
            guest_boot_ns: record::guest_boot_ns(&boot.frames),
            samples,
            artifacts: record::artifacts(&boot),
        },
    )?;
    match trouble {
        Some((_, fault)) if !done.again => Err(blame(db, trial, due.variant, fault)?),
        _ => Ok(()),
    }
}

/// A workload that fails with the variant's kernel, and ran well with the base's, is broken by the
/// kernel.
fn blame(db: &Db, trial: &Trial, variant: usize, mut fault: Fault) -> Result<Fault> {
    let base = trial.variants[0].id;
    let works = |b: &ktrial_db::Boot| b.variant == base && b.outcome == "ok";
    if fault.at == At::Guest && variant != 0 && db.boots(trial.id)?.iter().any(works) {
        fault.at = At::Kernel;
        fault.what += ", and ran well on the base";
    }
    Ok(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same command would only fail again; a mended machine or a second start goes on.
    #[test]
    fn a_trial_ends_with_what_would_happen_again() {
        assert!(
            [At::Kernel, At::Guest, At::User]
                .into_iter()
                .all(ends_trial)
        );
        assert!(![At::Host, At::Interrupted].into_iter().any(ends_trial));
    }
}
