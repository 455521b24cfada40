//! From a boot to rows: which line of which job is a sample of which cell.

use std::collections::BTreeMap;

use ktrial_db::{Cell, Db, NewArtifact, NewBoot, NewSample, Value, canonical_parameters};

use super::{PlannedVariant, Run};
use crate::fault::{At, Fault, OrHost, Result};
use crate::vm::Boot;
use crate::vm::frames::{Frame, JobEnd};
use crate::workload::{self, Metric, Workload};

/// What one job of a boot said.
#[derive(Debug, Default, PartialEq)]
pub(super) struct JobReport {
    /// Values by metric and iteration of the program.
    samples: BTreeMap<(String, u32), f64>,
    /// How much was done, by iteration of the program.
    operations: BTreeMap<u32, u64>,
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
    runs: &[Run],
    variant: &PlannedVariant,
    reports: &[JobReport],
) -> Result<Vec<NewSample>> {
    let mut samples = Vec::new();
    for (run, report) in runs.iter().zip(reports) {
        let workload = workload::find(&run.workload)?;
        let settings = variant.settings(run);
        let parameters = canonical_parameters(&run.settings)?;
        for metric in workload.metrics_with(&settings) {
            let cell = db.put_cell(&cell(&workload, metric, &parameters))?;
            for iteration in metric.iterations(run.timing().iterations) {
                let warmup = iteration < run.warmups && !metric.once;
                samples.push(NewSample {
                    cell,
                    iteration: if warmup || metric.once {
                        iteration
                    } else {
                        iteration - run.warmups
                    },
                    warmup,
                    value: report.value(metric, iteration),
                });
            }
        }
    }
    Ok(samples)
}

fn cell(workload: &Workload, metric: &Metric, parameters: &str) -> Cell {
    Cell {
        workload: workload.name.clone(),
        parameters: parameters.to_owned(),
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        better: metric.better.clone(),
        primary: metric.primary,
    }
}

/// What of a boot is kept besides its samples.
pub(super) fn artifacts(boot: &Boot) -> Vec<NewArtifact> {
    [
        ("console", boot.console.clone()),
        ("frames", boot.results.clone()),
        ("qemu-log", boot.log.clone()),
        ("command", boot.command.clone().into_bytes()),
    ]
    .into_iter()
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
    let fault = Fault::new(
        at,
        format!(
            "{} failed in the guest of {variant}: it {failure}",
            run.workload
        ),
    );
    let fault = if boot.out_of_memory {
        fault
            .showing(&boot.last_words)
            .next("give the guest more --memory")
    } else {
        fault
    };
    Some(("workload".to_owned(), fault))
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
