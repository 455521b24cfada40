//! What a series says beside its patches.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The system that a tree is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// Linux.
    Linux,
    /// FreeBSD.
    FreeBsd,
    /// DragonFly BSD.
    DragonFly,
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            System::Linux => "linux",
            System::FreeBsd => "freebsd",
            System::DragonFly => "dragonfly",
        })
    }
}

/// The value of a workload's parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected true, false, a whole number or a string"
)]
pub enum Value {
    /// On or off.
    Bool(bool),
    /// A whole number, in the unit that the workload documents.
    Int(i64),
    /// Text.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Bool(on) => on.fmt(f),
            Value::Int(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

/// A workload at one setting of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// The workload's name.
    pub name: String,
    /// The parameters that differ from the workload's defaults.
    pub parameters: BTreeMap<String, Value>,
}

/// A figure that the author of a series states. ktrial says of each whether a
/// trial confirms it, contradicts it, or can't test it here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// What was measured, such as `exec rate` or `buildkernel wall time`.
    pub metric: String,
    /// The unit of `before` and `after`, such as `/s` or `%`.
    pub unit: Option<String>,
    /// The machine, in the author's words.
    pub machine: String,
    /// The name of that machine, where ktrial knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_machine: Option<String>,
    /// The figure before the series, where it is stated.
    pub before: Option<f64>,
    /// The figure with it, where it is stated.
    pub after: Option<f64>,
    /// The change in per cent, where the author states it so; negative is less.
    pub change_percent: Option<f64>,
    /// The other end of the change, where the author gives a range (`4 to 5 %`).
    pub change_percent_to: Option<f64>,
    /// The author's words, a line at most.
    pub quote: String,
    /// Where they stand: a commit, review or mail.
    pub source: String,
    /// What of a trial it can be held against; none where no workload measures it.
    pub test: Option<ClaimTest>,
}

impl Claim {
    /// The claimed change as ratios of after to before, the smaller first; twice the same where
    /// it is one figure. As stated, else of the figures before and after.
    pub fn change(&self) -> Option<(f64, f64)> {
        let ratio = |percent: f64| 1.0 + percent / 100.0;
        if let Some(from) = self.change_percent {
            let (from, to) = (ratio(from), ratio(self.change_percent_to.unwrap_or(from)));
            return Some((from.min(to), from.max(to)));
        }
        let ratio = self.after? / self.before?;
        Some((ratio, ratio))
    }
}

/// What a trial has to measure for a claim to be held against it, and on what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimTest {
    /// What the figure says.
    pub kind: ClaimKind,
    /// The variant that is meant, against `base`.
    pub variant: String,
    /// The workload.
    pub workload: String,
    /// The parameters of the workload that is meant; all of those named must match.
    pub parameters: BTreeMap<String, Value>,
    /// The workload's metric that the figure is one of: a change of it is the claimed change.
    pub metric: String,
    /// CPUs without which there is nothing to see; 1 at least.
    pub cpus: Option<u32>,
    /// The only clock that can see it; none where either does.
    pub clock: Option<ClaimClock>,
}

/// What a claim's figure says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimKind {
    /// By how much the series changes the metric.
    Change,
    /// How large the metric is, on the author's machine.
    Level,
}

/// The clock that a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimClock {
    /// The machine's own: contention, caches and parallelism show.
    Real,
    /// Instructions executed.
    Virtual,
}

impl fmt::Display for ClaimClock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ClaimClock::Real => "real",
            ClaimClock::Virtual => "virtual",
        })
    }
}

/// Which kernel a variant runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// The one without the patches.
    Base,
    /// The one with them.
    Patched,
}

/// A kernel together with workload parameters that are its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its name; never `base` or `patched`, which are there anyhow.
    pub name: String,
    /// The kernel it runs.
    pub kernel: Kernel,
    /// Parameters set in this variant only, keyed by `(workload, parameter)`.
    pub set: BTreeMap<(String, String), Value>,
}

/// A verdict on a variant against `base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Better than base.
    Improved,
    /// Worse than base.
    Regressed,
    /// Equal to base within the margin.
    Unchanged,
    /// Not known yet.
    Inconclusive,
    /// The kernel can't do what the workload asks for.
    Unsupported,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Verdict::Improved => "improved",
            Verdict::Regressed => "regressed",
            Verdict::Unchanged => "unchanged",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Unsupported => "unsupported",
        })
    }
}

/// What a trial of the series should find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The variant that is compared with `base`.
    pub variant: String,
    /// The workload.
    pub workload: String,
    /// The parameters of the workload's entry that is meant; all of those named must match.
    pub parameters: BTreeMap<String, Value>,
    /// The metric.
    pub metric: String,
    /// The verdicts that are right; one at least.
    pub verdicts: Vec<Verdict>,
}

impl Expectation {
    /// Whether this expectation speaks of that result.
    pub fn is_about(
        &self,
        variant: &str,
        workload: &str,
        parameters: &BTreeMap<String, Value>,
        metric: &str,
    ) -> bool {
        let named = (self.variant.as_str(), self.workload.as_str());
        named == (variant, workload)
            && self.metric == metric
            && is_within(&self.parameters, parameters)
    }

    /// Whether that verdict is as expected.
    pub fn is_met_by(&self, verdict: Verdict) -> bool {
        self.verdicts.contains(&verdict)
    }
}

/// Whether every parameter of the first map has the same value in the second.
pub(super) fn is_within(some: &BTreeMap<String, Value>, all: &BTreeMap<String, Value>) -> bool {
    some.iter().all(|(key, value)| all.get(key) == Some(value))
}
