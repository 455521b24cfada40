//! What was counted of a guest's vCPU threads in one boot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::reading::Interval;

/// What it is called among what a boot leaves behind: one of these, as JSON.
pub const ARTIFACT: &str = "host-counters";

/// One boot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// How many threads ran the vCPUs, and where that is not one each, a word on it.
    pub threads: String,
    /// By metric: why it was not counted.
    pub absent: BTreeMap<String, String>,
    /// By job: the iterations that ended, in their order.
    pub jobs: BTreeMap<usize, Vec<Interval>>,
    /// Why the guest's marks are not to be trusted from some point on.
    pub broken: Option<String>,
}

impl Watched {
    /// What was not counted, together by reason.
    pub fn lacks(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut lacks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (metric, reason) in &self.absent {
            lacks.entry(reason).or_default().push(metric);
        }
        lacks
    }

    /// Nothing of what was to be counted, for a reason.
    pub fn nothing(reason: &str) -> Watched {
        let metrics = super::metrics().into_iter();
        Watched {
            absent: metrics
                .map(|metric| (metric.name, reason.to_owned()))
                .collect(),
            ..Watched::default()
        }
    }
}
