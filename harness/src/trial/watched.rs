//! After the rounds: each kernel is booted once more for each thing that it is watched for. What such
//! a boot says of times is thrown away.

use std::path::PathBuf;

use ktrial_db::{Db, MAX_ARTIFACT_BYTES, Observation, Trial, TrialId, Value, canonical_parameters};

use super::lanes::{self, Done, Due, Lanes};
use super::record::JobReport;
use super::rounds::stored;
use super::{Prepared, Run};
use crate::counters::fold::fold;
use crate::counters::stacks::{Stacks, Watch};
use crate::counters::symbols::Symbols;
use crate::fault::{At, OrHost, Result};
use crate::guest::perturb::boot_seed;
use crate::home::Home;
use crate::progress::Progress;
use crate::terminal::{complain, plain};
use crate::timestamp::unix_ms;
use crate::vm::Boot;
use crate::vm::frames::Frame;

/// Of all stacks of a boot together, so many bytes are kept, less than an observation may have: names
/// may have to be escaped.
const MOST_BYTES: usize = MAX_ARTIFACT_BYTES / 4;

/// Makes the boots that no earlier run has made.
pub(super) fn run(
    home: &Home,
    db: &mut Db,
    id: TrialId,
    prepared: &Prepared,
    progress: &Progress,
) -> Result<()> {
    let trial = stored(db, id)?;
    let due = still_due(db, &trial, &prepared.plan.watch)?;
    if due.is_empty() {
        return Ok(());
    }
    let lanes = lanes::count(prepared);
    let task = progress.task(
        &format!("watched boots ({lanes} at once)"),
        Some(due.len() as u64),
    );
    let folder: PathBuf = home.cache("run")?.join(&prepared.plan_key);
    let boots = Lanes::new(home, prepared, &prepared.plan.runs, folder.clone());
    let mut made = 0;
    let outcome = boots.run(lanes, due, |done| {
        let line = done.line(prepared);
        if done.again {
            return Ok(());
        }
        store(db, &trial, prepared, done)?;
        made += 1;
        task.step(made, &line);
        Ok(())
    });
    let _ = std::fs::remove_dir_all(&folder);
    outcome?;
    task.end(&format!("{made} made"));
    Ok(())
}

/// All with one seed, so that what differs are the kernels.
fn still_due(db: &Db, trial: &Trial, watches: &[Watch]) -> Result<Vec<Due>> {
    let made = db.observations(trial.id)?;
    let mut due = Vec::new();
    for &watch in watches {
        for (variant, stored) in trial.variants.iter().enumerate() {
            let is_it = |o: &Observation| o.variant == stored.id && o.kind == watch.kind();
            if !stored.left_out && !made.iter().any(is_it) {
                due.push(Due {
                    watch: Some(watch),
                    round: u32::MAX,
                    position: u32::try_from(variant).unwrap_or(u32::MAX),
                    variant,
                    attempt: 0,
                    disturbed_before: false,
                    seed: boot_seed(trial.seed, u32::MAX, 0),
                });
            }
        }
    }
    Ok(due)
}

/// Stores what was seen. A guest that fails while it is watched only has no profile: the rounds have
/// shown how it runs.
fn store(db: &mut Db, trial: &Trial, prepared: &Prepared, done: Done) -> Result<()> {
    let (due, boot) = (done.due, done.boot?);
    let Some(watch) = due.watch else {
        return Ok(());
    };
    let runs = &prepared.plan.runs;
    let variant = &prepared.plan.variants[due.variant];
    let reports = JobReport::all(&boot.frames, runs.len());
    // What one job's failure says of that job is in its own report.
    let trouble = match boot.fault(&variant.name) {
        Some(fault) if fault.at == At::Host => return Err(fault),
        other => other.map(|fault| fault.what),
    };
    if let Some(why) = &trouble {
        complain(&plain(&format!(
            "no {} of {}: {why}",
            watch.kind(),
            variant.name
        )));
    }
    let symbols = Symbols::read(&prepared.kernel(variant)?.symbols())?;
    let jobs = runs.iter().zip(&reports).enumerate();
    let seen = jobs.map(|(job, (run, report))| {
        let mut stacks = seen(watch, &boot, job, &symbols);
        if let Some(why) = trouble.clone().or_else(|| silence(report)) {
            stacks = absent(stacks, why);
        }
        stacks.keep_heaviest(MOST_BYTES / runs.len().max(1));
        fill_in(stacks, run, report)
    });
    let seen: Vec<Stacks> = seen.collect::<Result<_>>()?;
    Ok(db.record_observation(&Observation {
        trial: trial.id,
        variant: trial.variants[due.variant].id,
        kind: watch.kind().to_owned(),
        seed: due.seed,
        started_at: done.started_at,
        ended_at: unix_ms(),
        json: serde_json::to_vec(&seen).or_host(|| "write JSON".into())?,
    })?)
}

fn seen(watch: Watch, boot: &Boot, job: usize, symbols: &Symbols) -> Stacks {
    let lines = boot.frames.iter().filter_map(|frame| match frame {
        Frame::Out { job: other, text } if *other == job => Some(text.as_str()),
        _ => None,
    });
    let mut stacks = fold(watch, lines, symbols);
    // Lines that the agent did not forward were stacks, of which the lightest come last.
    for frame in &boot.frames {
        if let Frame::Drop { job: other, lines } = frame
            && *other == job
        {
            stacks.lost = stacks.lost.saturating_add(*lines);
        }
    }
    stacks
}

fn silence(report: &JobReport) -> Option<String> {
    match report.silence()? {
        Value::Unsupported(why) | Value::Failed(why) => Some(why),
        Value::Ok(_) | Value::Missing => None,
    }
}

fn absent(stacks: Stacks, why: String) -> Stacks {
    Stacks {
        event: stacks.event,
        unit: stacks.unit,
        absent: Some(why),
        ..Stacks::default()
    }
}

fn fill_in(stacks: Stacks, run: &Run, report: &JobReport) -> Result<Stacks> {
    Ok(Stacks {
        workload: run.workload.clone(),
        parameters: canonical_parameters(&run.settings)?,
        operations: report.all_operations(),
        ..stacks
    })
}
