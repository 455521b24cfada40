//! The rounds: every variant once a round, in random order, and each boot stored when it ends. After
//! the rounds of each look, what is decided stops running, and the trial ends when all of it is, or
//! when its time is up.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ktrial_db::{Boot, Db, NewBoot, Trial, TrialId, VariantId, canonical_parameters};

use super::counted::Counted;
use super::hosted::Hosted;
use super::lanes::{self, Done, Due, Lanes};
use super::record::{self, JobReport};
use super::{Plan, PlannedVariant, Prepared, Run};
use crate::fault::{At, Fault, OrHost, Result};
use crate::guest::Perturbation;
use crate::guest::perturb::{boot_seed, round_order};
use crate::home::Home;
use crate::progress::Progress;
use crate::timestamp::unix_ms;
use crate::verdict::remarks::DISTURBED;
use crate::verdict::{self, Setting};

/// Runs what is missing of the trial, look by look. What an earlier run has made is in the
/// database, and what it stopped is found again from that.
pub(super) fn run(
    home: &Home,
    db: &mut Db,
    id: TrialId,
    prepared: &Prepared,
    progress: &Progress,
) -> Result<()> {
    let folder = home.cache("run")?.join(&prepared.plan_key);
    // What a killed run left there; the lock on the trial says that nobody uses it.
    let _ = std::fs::remove_dir_all(&folder);
    let mut stage = Stage {
        home,
        prepared,
        progress,
        folder,
        runs: prepared.plan.runs.clone(),
        before: 0,
        from: 0,
        to: 0,
    };
    for &look in &prepared.plan.looks {
        (stage.before, stage.from, stage.to) = (stage.from, stage.to, look);
        if stage.from > 0 && !stage.may_begin(db, id)? {
            break;
        }
        let outcome = stage.run(db, id);
        let _ = std::fs::remove_dir_all(&stage.folder);
        if let Err(fault) = outcome {
            fail(db, id, &fault)?;
            return Err(fault);
        }
        stage.settle(db, id)?;
        if stage.runs.is_empty() {
            break;
        }
    }
    Ok(())
}

/// The rounds between two looks.
struct Stage<'a> {
    home: &'a Home,
    prepared: &'a Prepared,
    progress: &'a Progress,
    folder: PathBuf,
    /// What is not decided yet.
    runs: Vec<Run>,
    /// Where the rounds of the stage before began, and where these begin and end.
    before: u32,
    from: u32,
    to: u32,
}

impl Stage<'_> {
    /// How long the boots since that round took together, in milliseconds, where several run at once
    /// only a share of it.
    fn took(&self, boots: &[Boot], from: u32) -> u64 {
        let made = boots.iter().filter(|boot| boot.round >= from);
        let took: i64 = made.map(|boot| boot.ended_at - boot.started_at).sum();
        u64::try_from(took).unwrap_or(0) / lanes::count(self.prepared) as u64
    }

    /// Raises the trial's rounds to this stage's, unless the time left is too short for it.
    fn may_begin(&self, db: &mut Db, id: TrialId) -> Result<bool> {
        let trial = stored(db, id)?;
        // An earlier run has begun it.
        if trial.rounds >= self.to {
            return Ok(true);
        }
        if let Some(budget) = self.prepared.budget_ms {
            let boots = db.boots(id)?;
            let spent = self.took(&boots, 0);
            // The newest rounds tell best, as settings that were decided run no more.
            let next = self.took(&boots, self.before) * u64::from(self.to - self.from)
                / u64::from((self.from - self.before).max(1));
            if spent + next > budget {
                let spent = crate::progress::duration(Duration::from_millis(spent));
                self.progress.say(&format!(
                    "the budget is spent: {} rounds took {spent}",
                    self.from
                ));
                return Ok(false);
            }
        }
        db.extend_trial(id, self.to)?;
        Ok(true)
    }

    /// Makes the boots of these rounds that are still due.
    fn run(&self, db: &mut Db, id: TrialId) -> Result<()> {
        let trial = stored(db, id)?;
        let due = self.still_due(db, &trial)?;
        let all = booted(&trial) * (self.to - self.from) as usize;
        let resumed = all - due.len();
        if resumed > 0 {
            self.progress.say(&format!(
                "going on with trial {id}: {resumed} of {all} boots {}are done",
                self.which_rounds()
            ));
        }
        if due.is_empty() {
            return Ok(());
        }
        let lanes = lanes::count(self.prepared);
        let name = format!("boots {}({lanes} at once)", self.which_rounds());
        let task = self.progress.task(&name, Some(due.len() as u64));
        let start = Instant::now();
        let left = match self.prepared.budget_ms {
            Some(all) => Some(all.saturating_sub(self.took(&db.boots(id)?, 0))),
            None => None,
        };
        let boots = Lanes::new(self.home, self.prepared, &self.runs, self.folder.clone())
            .again_until(left.map(|left| start + Duration::from_millis(left)));
        let mut in_jobs = Duration::ZERO;
        let mut made = 0;
        boots.run(lanes, due, |done| {
            in_jobs += done.in_jobs();
            let counts = !done.again;
            let line = done.line(self.prepared);
            let variant = &self.prepared.plan.variants[done.due.variant];
            let plan = &self.prepared.plan;
            let also = self.prepared.host.set_otherwise_now();
            store(db, &trial, plan, variant, &self.runs, done, also)?;
            made += usize::from(counts);
            task.step(made as u64, &line);
            Ok(())
        })?;
        let lane_time = start.elapsed().as_secs_f64() * lanes as f64;
        let share = 100.0 * in_jobs.as_secs_f64() / lane_time.max(1e-3);
        task.end(&format!(
            "{made} made, {share:.0} % of the time in workloads"
        ));
        Ok(())
    }

    fn which_rounds(&self) -> String {
        match self.prepared.plan.looks.len() {
            0 | 1 => String::new(),
            _ => format!("of rounds {} to {} ", self.from + 1, self.to),
        }
    }

    /// Looks at what is there, and leaves only those runs that are worth more rounds.
    fn settle(&mut self, db: &Db, id: TrialId) -> Result<()> {
        if self.prepared.plan.looks.last() == Some(&self.to) {
            return Ok(());
        }
        let open = verdict::unsettled(db, id, self.to)?;
        let mut left = Vec::new();
        for run in self.runs.drain(..) {
            let setting = Setting {
                workload: run.workload.clone(),
                parameters: canonical_parameters(&run.settings)?,
            };
            if open.contains(&setting) {
                left.push(run);
            } else {
                let (rounds, name) = (self.to, setting.to_string());
                self.progress
                    .say(&format!("{name} ends after {rounds} rounds"));
            }
        }
        self.runs = left;
        Ok(())
    }

    /// The boots that no earlier run has made, in the order of the trial's seed.
    fn still_due(&self, db: &Db, trial: &Trial) -> Result<Vec<Due>> {
        let boots = db.boots(trial.id)?;
        let counted: HashSet<(u32, VariantId)> = boots
            .iter()
            .filter(|b| b.outcome == "ok")
            .map(|b| (b.round, b.variant))
            .collect();
        let mut due = Vec::new();
        for round in self.from..self.to {
            let order = round_order(trial.seed, round, trial.variants.len());
            for (position, variant) in order.into_iter().enumerate() {
                let id = trial.variants[variant].id;
                if trial.variants[variant].left_out || counted.contains(&(round, id)) {
                    continue;
                }
                let tried = || boots.iter().filter(|b| b.round == round && b.variant == id);
                due.push(Due {
                    watch: None,
                    round,
                    position: position as u32,
                    variant,
                    attempt: tried().map(|b| b.attempt + 1).max().unwrap_or(0),
                    disturbed_before: tried().any(|b| b.outcome == DISTURBED),
                    seed: boot_seed(trial.seed, round, position as u32),
                });
            }
        }
        Ok(due)
    }
}

/// How many variants are booted: not those that are the base to the bit.
fn booted(trial: &Trial) -> usize {
    let variants = trial.variants.iter();
    variants.filter(|variant| !variant.left_out).count()
}

pub(super) fn stored(db: &Db, id: TrialId) -> Result<Trial> {
    db.trial(id)?
        .ok_or_else(|| Fault::host(format!("trial {id} is gone from the database")))
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

/// Stores what a boot was, with what is to be said of it `also`, then fails if it failed and is not
/// tried again.
fn store(
    db: &mut Db,
    trial: &Trial,
    plan: &Plan,
    variant: &PlannedVariant,
    runs: &[Run],
    done: Done,
    also: Option<String>,
) -> Result<()> {
    let boot = done.boot?;
    let due = done.due;
    let reports = JobReport::all(&boot.frames, runs.len());
    let trouble = record::trouble(&boot, &variant.name, runs, &reports);
    let mut samples = record::samples(db, plan, runs, variant, &reports)?;
    let mut artifacts = record::artifacts(&boot);
    if plan.count {
        let counted = Counted::read(boot.counts.as_deref());
        samples.extend(counted.samples(db, runs, &reports)?);
        artifacts.push(counted.artifact(runs, &reports)?);
    }
    if let Some(watched) = &boot.watched {
        let hosted = Hosted(watched);
        samples.extend(hosted.samples(db, runs, &reports)?);
        artifacts.push(hosted.artifact()?);
    }
    let perturbation = serde_json::to_string(&Perturbation::of(due.seed));
    let (outcome, detail) = called(&trouble, record::remarks(&boot, plan, also), done.again);
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
            outcome,
            detail,
            started_at: done.started_at,
            ended_at: unix_ms(),
            guest_boot_ns: record::guest_boot_ns(&boot.frames),
            samples,
            artifacts,
        },
    )?;
    match trouble {
        Some((_, fault)) if !done.again => Err(blame(db, trial, due.variant, fault)?),
        _ => Ok(()),
    }
}

/// The outcome and the detail of a boot. One that ran well and is made again was disturbed: it is
/// kept, and does not count.
fn called(
    trouble: &Option<(String, Fault)>,
    remarks: Option<String>,
    again: bool,
) -> (String, Option<String>) {
    match trouble {
        Some((word, fault)) => {
            let all = [fault.what.clone()].into_iter().chain(remarks);
            (word.clone(), Some(all.collect::<Vec<_>>().join("; ")))
        }
        None if again => (DISTURBED.into(), remarks),
        None => ("ok".into(), remarks),
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
