//! From a boot to rows: which line of which job is a sample of which cell.

use std::collections::BTreeMap;

use ktrial_db::{Cell, Db, NewArtifact, NewBoot, NewSample, Value, canonical_parameters};

use super::{Plan, PlannedVariant, Run};
use crate::counters;
use crate::fault::{At, Fault, OrHost, Result};
use crate::guest::Seen;
use crate::vm::frames::{Frame, JobEnd};
use crate::vm::{Boot, Clock};
use crate::workload::{self, Metric};

/// What one job of a boot said.
#[derive(Debug, Default, PartialEq)]
pub(super) struct JobReport {
    /// Values by metric and iteration of the program.
    samples: BTreeMap<(String, u32), f64>,
    /// How much was done, by iteration of the program.
    operations: BTreeMap<u32, u64>,
    /// What the kernel counted, by metric and iteration of the program.
    counts: BTreeMap<(String, u32), u64>,
    /// Why a source, or one metric of it, counts nothing.
    uncounted: BTreeMap<String, String>,
    unsupported: Option<String>,
    /// A line that should have been a sample and is none.
    damaged: Option<String>,
    errors: Vec<String>,
    end: Option<JobEnd>,
}

impl JobReport {
    /// The reports of all jobs of a boot, in their order.
    pub(super) fn all(frames: &[Frame], jobs: usize) -> Vec<JobReport> {
        let mut reports: Vec<JobReport> = (0..jobs).map(|_| JobReport::default()).collect();
        for frame in frames {
            match frame {
                Frame::Out { job, text } => {
                    if let Some(report) = reports.get_mut(*job) {
                        report.line(text);
                    }
                }
                Frame::Err { job, text } => {
                    if let Some(report) = reports.get_mut(*job) {
                        report.errors.push(text.clone());
                    }
                }
                Frame::End { job, how, .. } => {
                    if let Some(report) = reports.get_mut(*job) {
                        report.end = Some(*how);
                    }
                }
                _ => {}
            }
        }
        reports
    }

    fn line(&mut self, text: &str) {
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            ["sample", iteration, metric, value] => {
                let key = iteration.parse().map(|i| ((*metric).to_owned(), i));
                let value = value.parse::<f64>().ok().filter(|v| v.is_finite());
                match (key, value) {
                    (Ok(key), Some(value)) if !self.samples.contains_key(&key) => {
                        self.samples.insert(key, value);
                    }
                    _ => self.damaged = Some(text.to_owned()),
                }
            }
            ["operations", iteration, count] => match (iteration.parse(), count.parse::<u64>()) {
                (Ok(iteration), Ok(count)) if !self.operations.contains_key(&iteration) => {
                    self.operations.insert(iteration, count);
                }
                _ => self.damaged = Some(text.to_owned()),
            },
            ["count", iteration, metric, count] => {
                let key = iteration.parse().map(|i| ((*metric).to_owned(), i));
                match (key, count.parse()) {
                    (Ok(key), Ok(count)) if !self.counts.contains_key(&key) => {
                        self.counts.insert(key, count);
                    }
                    _ => self.damaged = Some(text.to_owned()),
                }
            }
            ["uncounted", source, reason @ ..] => {
                self.uncounted
                    .insert((*source).to_owned(), reason.join(" "));
            }
            ["unsupported", what, reason @ ..] => {
                self.unsupported = Some(format!("{what}: {}", reason.join(" ")));
            }
            _ => {}
        }
    }

    /// Why the job's samples are void, if they are.
    pub(super) fn failure(&self) -> Option<String> {
        let how = match self.end {
            Some(JobEnd::Exit(0)) => {
                return self
                    .damaged
                    .as_ref()
                    .map(|line| format!("printed {line:?}"));
            }
            Some(JobEnd::Exit(code)) => format!("exited with {code}"),
            Some(JobEnd::Signal(signal)) => format!("was killed by signal {signal}"),
            Some(JobEnd::Deadline) => "did not end before its deadline in the guest".into(),
            None => "never ended".into(),
        };
        let said: Vec<&str> = self.errors.iter().take(3).map(String::as_str).collect();
        Some(match said.as_slice() {
            [] => how,
            said => format!("{how}: {}", said.join("; ")),
        })
    }

    /// How much was done in an iteration.
    pub(super) fn operations(&self, iteration: u32) -> Option<u64> {
        self.operations.get(&iteration).copied()
    }

    /// What stands in the place of every value of the job, if it has none.
    pub(super) fn silence(&self) -> Option<Value> {
        let unsupported = self.unsupported.clone().map(Value::Unsupported);
        unsupported.or_else(|| self.failure().map(Value::Failed))
    }

    /// How much was done in all iterations.
    pub(super) fn all_operations(&self) -> u64 {
        let counts = self.operations.values().copied();
        counts.fold(0, u64::saturating_add)
    }

    /// Why a source, or one metric of it, counts nothing, if the guest said so.
    pub(super) fn uncounted(&self, source: &str) -> Option<&String> {
        self.uncounted.get(source)
    }

    /// What the kernel counted an operation.
    fn count(&self, metric: &Metric, iteration: u32) -> Value {
        if let Some(silence) = self.silence() {
            return silence;
        }
        let source = counters::source(&metric.name);
        let reason = source.and_then(|source| self.uncounted(source));
        if let Some(reason) = reason.or_else(|| self.uncounted(&metric.name)) {
            return Value::Unsupported(reason.clone());
        }
        let count = self.counts.get(&(metric.name.clone(), iteration));
        let operations = self.operations(iteration).filter(|count| *count > 0);
        match count.zip(operations) {
            Some((count, operations)) => Value::Ok(*count as f64 / operations as f64),
            None => Value::Missing,
        }
    }

    fn value(&self, metric: &Metric, iteration: u32) -> Value {
        if let Some(silence) = self.silence() {
            return silence;
        }
        self.samples
            .get(&(metric.name.clone(), iteration))
            .map_or(Value::Missing, |value| Value::Ok(*value))
    }
}

/// The samples of a boot whose jobs were `runs`, with the cells they belong to put in the database.
/// A cell is called by the run's own settings: what a variant sets differently is its own.
pub(super) fn samples(
    db: &mut Db,
    plan: &Plan,
    runs: &[Run],
    variant: &PlannedVariant,
    reports: &[JobReport],
) -> Result<Vec<NewSample>> {
    let mut samples = Vec::new();
    let blind = blind(plan);
    for (run, report) in runs.iter().zip(reports) {
        let workload = workload::find(&run.workload)?;
        for metric in workload.metrics_with(&variant.settings(run)) {
            samples.extend(row(db, run, metric, |i| report.value(metric, i))?);
        }
        for metric in &workload::counts()? {
            let value = |i| match blind.filter(|_| metric.unit.starts_with("ns")) {
                Some(why) => Value::Unsupported(why.to_owned()),
                None => report.count(metric, i),
            };
            samples.extend(row(db, run, metric, value)?);
        }
    }
    Ok(samples)
}

/// Why the time that a guest's kernel counts means nothing, if so: in virtual time one vCPU runs at a
/// time, while the clock of each goes on.
fn blind(plan: &Plan) -> Option<&'static str> {
    let many = plan.clock == Clock::Virtual && plan.shape.cpus > 1;
    many.then_some("processor time says nothing of several vCPUs in virtual time")
}

/// The samples of a boot in the cells of `metrics`: `value` by job, its report, metric and iteration.
pub(super) fn rows(
    db: &mut Db,
    runs: &[Run],
    reports: &[JobReport],
    metrics: &[Metric],
    value: impl Fn(usize, &JobReport, &str, u32) -> Value,
) -> Result<Vec<NewSample>> {
    let mut samples = Vec::new();
    for (job, (run, report)) in runs.iter().zip(reports).enumerate() {
        for metric in metrics {
            samples.extend(row(db, run, metric, |iteration| {
                value(job, report, &metric.name, iteration)
            })?);
        }
    }
    Ok(samples)
}

/// The samples of a run in one cell: `value` by iteration of the program.
fn row(
    db: &mut Db,
    run: &Run,
    metric: &Metric,
    value: impl Fn(u32) -> Value,
) -> Result<Vec<NewSample>> {
    let cell = db.put_cell(&Cell {
        workload: run.workload.clone(),
        parameters: canonical_parameters(&run.settings)?,
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        better: metric.better.clone(),
        primary: metric.primary,
    })?;
    let iterations = metric.iterations(run.timing().iterations);
    let sample = |iteration: u32| {
        let warmup = iteration < run.warmups && !metric.once;
        NewSample {
            cell,
            iteration: match warmup || metric.once {
                true => iteration,
                false => iteration - run.warmups,
            },
            warmup,
            value: value(iteration),
        }
    };
    Ok(iterations.map(sample).collect())
}

/// What of a boot is kept besides its samples.
pub(super) fn artifacts(boot: &Boot) -> Vec<NewArtifact> {
    let load = boot
        .load
        .as_ref()
        .and_then(|load| serde_json::to_vec(load).ok());
    let load = load.map(|bytes| ("load", bytes));
    [
        ("console", boot.console.clone()),
        ("frames", boot.results.clone()),
        ("qemu-log", boot.log.clone()),
        ("command", boot.command.clone().into_bytes()),
    ]
    .into_iter()
    .chain(load)
    .map(|(kind, bytes)| NewArtifact {
        kind: kind.to_owned(),
        bytes,
    })
    .collect()
}

/// The word and the fault of a boot that does not count: it crashed, or one of its jobs failed.
pub(super) fn trouble(
    boot: &Boot,
    variant: &str,
    runs: &[Run],
    reports: &[JobReport],
) -> Option<(String, Fault)> {
    if let Some(fault) = boot.fault(variant) {
        return Some((boot.ending.name().to_owned(), fault));
    }
    let fault = failed_job(variant, runs, reports)?;
    let fault = if boot.out_of_memory {
        fault
            .showing(&boot.last_words)
            .next("give the guest more --memory")
    } else {
        fault
    };
    Some((FAILED_JOB.to_owned(), fault))
}

/// The outcome of a boot in which a workload failed.
pub(super) const FAILED_JOB: &str = "workload";

/// The fault of the first job that failed.
pub(super) fn failed_job(variant: &str, runs: &[Run], reports: &[JobReport]) -> Option<Fault> {
    let (run, report, failure) = runs
        .iter()
        .zip(reports)
        .find_map(|(run, report)| Some((run, report, report.failure()?)))?;
    let at = match report.end {
        // In virtual time an idle guest leaps to its deadline: a lost wake-up looks like this.
        Some(JobEnd::Deadline) => At::Kernel,
        // The workload's own "usage".
        Some(JobEnd::Exit(2)) => At::User,
        _ => At::Guest,
    };
    Some(Fault::new(
        at,
        format!("{} failed on {variant}: it {failure}", run.workload),
    ))
}

/// What is to be said of a boot: what disturbed it, what is to be said `also`, a shape that is not what
/// was asked for, and warnings of its kernel.
pub(super) fn remarks(boot: &Boot, plan: &Plan, also: Option<String>) -> Option<String> {
    let disturbed = boot.disturbance().map(|why| format!("disturbed: {why}"));
    let seen = Seen::of(&boot.frames);
    let shaped = seen.map_or_else(Vec::new, |seen| {
        seen.differences(&plan.shape, plan.clock.has_dies())
    });
    let shaped = shaped
        .into_iter()
        .map(|line| format!("not the shape asked for: {line}"));
    let warnings = (boot.warnings > 0).then(|| format!("{} kernel warnings", boot.warnings));
    let remarks: Vec<String> = disturbed
        .into_iter()
        .chain(also)
        .chain(shaped)
        .chain(warnings)
        .collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

/// Guest time at the first job, in nanoseconds.
pub(super) fn guest_boot_ns(frames: &[Frame]) -> Option<u64> {
    frames.iter().find_map(|frame| match frame {
        // What no clock says is what a guest made up.
        Frame::Begin { ns, .. } => Some(*ns).filter(|ns| i64::try_from(*ns).is_ok()),
        _ => None,
    })
}

/// Stores a boot, whole or not at all.
pub(super) fn store(db: &mut Db, boot: &NewBoot) -> Result<()> {
    db.record_boot(boot)
        .map(drop)
        .or_host(|| "store a boot in the database".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(lines: &[&str], how: JobEnd) -> Vec<Frame> {
        let out = |text: &&str| Frame::Out {
            job: 0,
            text: (*text).to_owned(),
        };
        let mut frames: Vec<Frame> = lines.iter().map(out).collect();
        frames.push(Frame::End { job: 0, how, ns: 1 });
        frames
    }

    fn rate() -> Metric {
        workload::find("exec")
            .unwrap()
            .metric("rate")
            .unwrap()
            .clone()
    }

    #[test]
    fn values_missing_unsupported_and_failed_are_told_apart() {
        let whole = &JobReport::all(&frames(&["sample 0 rate 12.5"], JobEnd::Exit(0)), 1)[0];
        assert_eq!(whole.value(&rate(), 0), Value::Ok(12.5));
        assert_eq!(whole.value(&rate(), 1), Value::Missing);
        let lines = ["unsupported fastalloc socket: Invalid argument"];
        let unsupported = &JobReport::all(&frames(&lines, JobEnd::Exit(0)), 1)[0];
        assert_eq!(
            unsupported.value(&rate(), 0),
            Value::Unsupported("fastalloc: socket: Invalid argument".into())
        );
        let failed = &JobReport::all(&frames(&["sample 0 rate 1"], JobEnd::Signal(11)), 1)[0];
        assert!(
            matches!(failed.value(&rate(), 0), Value::Failed(why) if why.contains("signal 11"))
        );
        let cut = &JobReport::all(&[], 1)[0];
        assert!(matches!(cut.value(&rate(), 0), Value::Failed(why) if why == "never ended"));
    }

    #[test]
    fn numbers_that_are_none_void_the_job() {
        for value in ["nan", "inf", "1e999", "12,5", ""] {
            let line = format!("sample 0 rate {value}");
            let report = &JobReport::all(&frames(&[&line], JobEnd::Exit(0)), 1)[0];
            let value = report.value(&rate(), 0);
            assert!(matches!(value, Value::Failed(why) if why.contains("printed")));
        }
    }
}
