//! From the instructions that were counted in a boot to rows: samples, and profiles by function.

use ktrial_db::{Db, NewArtifact, NewSample, Value, canonical_parameters};

use super::Run;
use super::record::{self, JobReport};
use crate::counters::instructions::{self, Interval, Jobs};
use crate::counters::profile::{self, Profile};
use crate::fault::{OrHost, Result};

/// What was counted in one boot, or why that is not known.
pub(super) struct Counted(std::result::Result<Jobs, String>);

impl Counted {
    /// Reads what the plugin has written.
    pub(super) fn read(counts: Option<&[u8]>) -> Counted {
        let text = counts.ok_or("the plugin wrote nothing");
        let text =
            text.and_then(|bytes| std::str::from_utf8(bytes).map_err(|_| "the counts are no text"));
        Counted(text.map_err(str::to_owned).and_then(instructions::read))
    }

    /// The samples of a boot whose jobs were `runs`: instructions an operation.
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
            &instructions::metrics(),
            |job, report, metric, iteration| self.value(job, report, metric, iteration),
        )
    }

    fn value(&self, job: usize, report: &JobReport, metric: &str, iteration: u32) -> Value {
        if let Some(silence) = report.silence() {
            return silence;
        }
        let operations = report.operations(iteration).filter(|count| *count > 0);
        match (self.interval(job, iteration), operations) {
            (Err(why), _) => Value::Failed(why.clone()),
            (Ok(Some(interval)), Some(operations)) => match interval.count(metric) {
                Some(count) => Value::Ok(count as f64 / operations as f64),
                None => Value::Missing,
            },
            _ => Value::Missing,
        }
    }

    fn interval(
        &self,
        job: usize,
        iteration: u32,
    ) -> std::result::Result<Option<&Interval>, &String> {
        let jobs = self.0.as_ref()?;
        Ok(jobs
            .get(job)
            .and_then(|intervals| intervals.get(iteration as usize)))
    }

    /// Where the instructions of each job went, over the iterations that count.
    pub(super) fn artifact(&self, runs: &[Run], reports: &[JobReport]) -> Result<NewArtifact> {
        let mut profiles = Vec::new();
        for (job, (run, report)) in runs.iter().zip(reports).enumerate() {
            let iterations = (run.warmups..run.timing().iterations).filter_map(|iteration| {
                let interval = self.interval(job, iteration).ok()??;
                Some((interval, report.operations(iteration)?))
            });
            let parameters = canonical_parameters(&run.settings)?;
            profiles.extend(Profile::of(&run.workload, &parameters, iterations));
        }
        Ok(NewArtifact {
            kind: profile::ARTIFACT.to_owned(),
            bytes: serde_json::to_vec(&profiles).or_host(|| "write JSON".into())?,
        })
    }
}
