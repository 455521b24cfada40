//! From what this machine counted of a boot's vCPU threads to rows.

use ktrial_db::{Db, NewArtifact, NewSample, Value};

use super::Run;
use super::record::{self, JobReport};
use crate::counters::host::{self, Watched};
use crate::fault::{OrHost, Result};

/// What was counted in one boot.
pub(super) struct Hosted<'a>(pub(super) &'a Watched);

impl Hosted<'_> {
    /// The samples of a boot whose jobs were `runs`: events an operation.
    pub(super) fn samples(
        &self,
        db: &mut Db,
        runs: &[Run],
        reports: &[JobReport],
    ) -> Result<Vec<NewSample>> {
        record::rows(
            db,
            runs,
            reports,
            &host::metrics(),
            |job, report, metric, iteration| self.value(job, report, metric, iteration),
        )
    }

    fn value(&self, job: usize, report: &JobReport, metric: &str, iteration: u32) -> Value {
        if let Some(silence) = report.silence() {
            return silence;
        }
        // What the machine lacks goes before what the guest did not say, as it can be mended.
        let absent = self.0.absent.get(metric);
        if let Some(reason) = absent.or_else(|| report.uncounted(host::HOST)) {
            return Value::Unsupported(reason.clone());
        }
        let intervals = self.0.jobs.get(&job);
        let Some(interval) = intervals.and_then(|all| all.get(iteration as usize)) else {
            return match (&self.0.broken, intervals) {
                (Some(why), _) => Value::Unsupported(why.clone()),
                (None, None) => Value::Unsupported(UNMARKED.into()),
                (None, Some(_)) => Value::Missing,
            };
        };
        let operations = report.operations(iteration).filter(|count| *count > 0);
        match interval.get(metric).zip(operations) {
            Some((counted, operations)) => Value::Ok(counted.count / operations as f64),
            None => Value::Missing,
        }
    }

    /// All of it, with the share of the time in which each event was counted.
    pub(super) fn artifact(&self) -> Result<NewArtifact> {
        Ok(NewArtifact {
            kind: host::ARTIFACT.to_owned(),
            bytes: serde_json::to_vec(self.0).or_host(|| "write JSON".into())?,
        })
    }
}

/// Why nothing was counted in a job that never spoke to this machine.
const UNMARKED: &str = "the guest did not mark its iterations (no port ktrial.marks in it)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::host::{Count, Interval};
    use crate::vm::frames::{Frame, JobEnd};

    fn report(lines: &[&str], how: JobEnd) -> JobReport {
        let out = |text: &&str| Frame::Out {
            job: 0,
            text: (*text).to_owned(),
        };
        let mut frames: Vec<Frame> = lines.iter().map(out).collect();
        frames.push(Frame::End { job: 0, how, ns: 1 });
        JobReport::all(&frames, 1).remove(0)
    }

    /// 600 switches, and page faults that were counted half of the time; no cycles.
    fn watched() -> Watched {
        let count = |count, share| Count { count, share };
        let interval: Interval = [
            ("vcpu.switches".into(), count(600.0, 1.0)),
            ("vcpu.faults".into(), count(30.0, 0.5)),
        ]
        .into();
        Watched {
            absent: [("host.cycles".to_owned(), "no PMU".to_owned())].into(),
            jobs: [(0, vec![interval])].into(),
            ..Watched::default()
        }
    }

    #[test]
    fn counts_are_divided_by_the_operations_of_their_iteration() {
        let whole = report(&["operations 0 300"], JobEnd::Exit(0));
        let watched = watched();
        let value = |metric, iteration| Hosted(&watched).value(0, &whole, metric, iteration);
        assert_eq!(value("vcpu.switches", 0), Value::Ok(2.0));
        assert_eq!(value("vcpu.faults", 0), Value::Ok(0.1));
        assert_eq!(value("host.cycles", 0), Value::Unsupported("no PMU".into()));
        // Not counted in this iteration, and an iteration that was not marked.
        assert_eq!(value("vcpu.task", 0), Value::Missing);
        assert_eq!(value("vcpu.switches", 1), Value::Missing);
        let idle = report(&["operations 0 0"], JobEnd::Exit(0));
        let nothing = Hosted(&watched).value(0, &idle, "vcpu.switches", 0);
        assert_eq!(nothing, Value::Missing);
    }

    #[test]
    fn what_is_absent_has_a_reason_and_what_failed_has_no_counts() {
        let whole = report(&["operations 0 300"], JobEnd::Exit(0));
        let failed = report(&["operations 0 300"], JobEnd::Exit(1));
        let silent = report(
            &["operations 0 300", "uncounted host no answer within 5 s"],
            JobEnd::Exit(0),
        );
        let of =
            |watched: &Watched, report, job| Hosted(watched).value(job, report, "vcpu.task", 0);
        assert!(matches!(of(&watched(), &failed, 0), Value::Failed(_)));
        assert_eq!(
            of(&watched(), &silent, 0),
            Value::Unsupported("no answer within 5 s".into())
        );
        assert_eq!(
            of(&watched(), &whole, 1),
            Value::Unsupported(UNMARKED.into())
        );
        let broken = Watched {
            broken: Some("the guest sent 'x'".into()),
            ..watched()
        };
        assert_eq!(
            of(&broken, &whole, 1),
            Value::Unsupported("the guest sent 'x'".into())
        );
        let nothing = Watched::nothing("the monitor hung up");
        assert_eq!(
            of(&nothing, &whole, 0),
            Value::Unsupported("the monitor hung up".into())
        );
    }
}
