//! What a trial sets out to do, before anything is built.

mod sweep;

use std::collections::BTreeMap;

use ktrial_patches::catalogue::{Claim, Kernel, Series};
use serde::{Deserialize, Serialize};

use crate::counters::stacks::Watch;
use crate::fault::{Fault, Result};
use crate::guest::Shape;
use crate::machine;
use crate::machine::places::Places;
use crate::verdict::looks::schedule;
use crate::vm::Clock;
use crate::workload::{self, Job, Settings, Timing};

/// The whole plan; stored with the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What is compared, the base first.
    pub variants: Vec<PlannedVariant>,
    /// What runs in each boot, in this order.
    pub runs: Vec<Run>,
    /// After how many rounds it is judged, growing; the last is the most that there are.
    pub looks: Vec<u32>,
    /// Differences within this share count as none,
    pub margin: f64,
    /// but of these metrics within these shares.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub margins: BTreeMap<String, f64>,
    /// What the guests' time means.
    pub clock: Clock,
    /// CPUs and memory of the guests.
    pub shape: Shape,
    /// The guests' instructions are counted; only what is emulated can be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count: bool,
    /// What each kernel is watched for in a boot of its own, after the rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watch: Vec<Watch>,
    /// A variant that is its base to the bit is booted all the same.
    #[serde(default)]
    pub aa: bool,
    /// Hash of the agent and the workloads as they were compiled, 16 hex digits; filled in when they are.
    #[serde(default)]
    pub programs: String,
    /// What the author of the series claims, to be held against what is measured.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

/// One variant: a kernel, and settings of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedVariant {
    /// What it is called.
    pub name: String,
    /// Which kernel it boots.
    pub kernel: KernelOf,
    /// By workload: what is set differently from the run's own settings.
    pub settings: BTreeMap<String, Settings>,
}

/// Which kernel a variant boots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelOf {
    /// The tree as it is.
    Base,
    /// The tree with the series.
    Patched,
}

impl KernelOf {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            KernelOf::Base => "base",
            KernelOf::Patched => "patched",
        }
    }
}

/// One workload at one setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The workload's name.
    pub workload: String,
    /// Every parameter, defaults included.
    pub settings: Settings,
    /// Length of an iteration in guest milliseconds.
    pub duration_ms: u64,
    /// Measured iterations in a boot.
    pub iterations: u32,
    /// Iterations before those: stored, marked, not judged.
    pub warmups: u32,
}

impl Run {
    /// One workload with `settings` over its defaults.
    ///
    /// # Errors
    /// A user fault for an unknown workload, parameter or value.
    pub fn new(
        workload: &str,
        settings: &Settings,
        duration_ms: u64,
        iterations: u32,
    ) -> Result<Run> {
        Ok(Run {
            workload: workload.to_owned(),
            settings: workload::find(workload)?.complete(settings)?,
            duration_ms,
            iterations,
            warmups: 1,
        })
    }

    /// `NAME` or `NAME:PARAMETER=VALUE,FLAG,...`, as typed.
    ///
    /// # Errors
    /// A user fault for what is not of that form, or unknown.
    pub fn parse(text: &str, duration_ms: u64, iterations: u32) -> Result<Run> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut settings = Settings::new();
        for part in rest.split(',').filter(|p| !p.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, "true"));
            if settings.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(Fault::user(format!("{key} is given twice for {name}")));
            }
        }
        Run::new(name, &settings, duration_ms, iterations)
    }

    /// The same where parameters may have several values: `threads=1..8`, `threads=1|2|4..6`. One
    /// run for each, in the order typed; of several such parameters, each with each, the last the
    /// fastest. Workers may be said in words for the parts of the machine that they run on (see
    /// [`sweep`]), and are then spread over it.
    ///
    /// # Errors
    /// A user fault as [`Run::parse`] has, and for what names no value, one twice, or too many.
    pub fn parse_all(
        text: &str,
        duration_ms: u64,
        iterations: u32,
        places: &Places,
    ) -> Result<Vec<Run>> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let workload = workload::find(name)?;
        let counts_workers = |key: &str| {
            workload
                .parameters
                .iter()
                .any(|p| p.workers && p.name == key)
        };
        let mut texts = vec![String::new()];
        let mut in_words = false;
        for part in rest.split(',').filter(|p| !p.is_empty()) {
            let words = match part.split_once('=') {
                Some((key, values)) => {
                    let places = Some(places).filter(|_| counts_workers(key));
                    let swept = sweep::values(values, places)?;
                    in_words |= swept.in_words;
                    let values = swept.values.iter();
                    values.map(|value| format!("{key}={value}")).collect()
                }
                None => vec![part.to_owned()],
            };
            sweep::check_count(texts.len().saturating_mul(words.len()))?;
            let with = |before: &String| {
                let before = before.clone();
                words.iter().map(move |word| format!("{before},{word}"))
            };
            texts = texts.iter().flat_map(with).collect();
        }
        // One worker in each node is one in each node only if they are put there.
        let place = match in_words && !rest.split(',').any(|part| part.starts_with("place=")) {
            true => ",place=spread",
            false => "",
        };
        texts
            .iter()
            .map(|rest| Run::parse(&format!("{name}:{rest}{place}"), duration_ms, iterations))
            .collect()
    }

    /// The job that runs it with these settings on a machine with those CPUs.
    ///
    /// # Errors
    /// A user fault if there is no such workload.
    pub fn job(&self, settings: &Settings, seed: u32, places: &Places) -> Result<Job> {
        let workload = workload::find(&self.workload)?;
        Ok(workload.job(settings, self.timing(), seed, places))
    }

    /// How the program is to be timed: warm-ups are its first iterations.
    pub fn timing(&self) -> Timing {
        Timing {
            duration_ms: self.duration_ms,
            iterations: self.warmups + self.iterations,
        }
    }
}

impl PlannedVariant {
    /// The run's settings with this variant's own on top.
    pub fn settings(&self, run: &Run) -> Settings {
        let mut settings = run.settings.clone();
        if let Some(own) = self.settings.get(&run.workload) {
            settings.extend(own.clone());
        }
        settings
    }
}

/// The variants that a series wants: `base`, `patched`, and those it names itself.
///
/// # Errors
/// A user fault for a setting that no workload has.
pub fn variants(series: &Series) -> Result<Vec<PlannedVariant>> {
    let plain = |name: &str, kernel| PlannedVariant {
        name: name.to_owned(),
        kernel,
        settings: BTreeMap::new(),
    };
    let mut variants = vec![
        plain("base", KernelOf::Base),
        plain("patched", KernelOf::Patched),
    ];
    for own in &series.variants {
        let kernel = match own.kernel {
            Kernel::Base => KernelOf::Base,
            Kernel::Patched => KernelOf::Patched,
        };
        let mut variant = plain(&own.name, kernel);
        for ((name, parameter), value) in &own.set {
            let set = Settings::from([(parameter.clone(), value.to_string())]);
            workload::find(name)?.complete(&set)?;
            variant
                .settings
                .entry(name.clone())
                .or_default()
                .extend(set);
        }
        variants.push(variant);
    }
    Ok(variants)
}

/// After how many rounds a trial of at most `most` is judged: each time as many boots as can run at
/// once, at the least.
pub fn looks(clock: Clock, variants: usize, most: u32) -> Vec<u32> {
    let at_once = if clock.runs_side_by_side() {
        machine::cpus()
    } else {
        1
    };
    let step = at_once.div_ceil(variants.max(1));
    schedule(FIRST_LOOK, u32::try_from(step).unwrap_or(most), most)
}

/// Fewer rounds than this decide hardly anything, even of the largest effects.
const FIRST_LOOK: u32 = 4;

/// The claims of a series.
///
/// # Errors
/// A user fault for one that is to be held against a workload, parameter or metric that is not
/// there, or that is about a machine of a name that ktrial does not know.
pub fn claims(series: &Series) -> Result<Vec<Claim>> {
    for claim in &series.claims {
        if let Some(name) = &claim.known_machine {
            machine::known::find(name)?;
        }
        let Some(test) = &claim.test else { continue };
        let workload = workload::find(&test.workload)?;
        let parameters = test.parameters.iter();
        let parameters = parameters.map(|(name, value)| (name.clone(), value.to_string()));
        workload.complete(&parameters.collect())?;
        if workload.metric(&test.metric).is_none() {
            let names: Vec<&str> = workload.metrics.iter().map(|m| m.name.as_str()).collect();
            return Err(Fault::user(format!(
                "the claim \"{}\" is about {} {}, which is not measured",
                claim.metric, test.workload, test.metric
            ))
            .next(format!("{} has: {}", test.workload, names.join(", "))));
        }
    }
    Ok(series.claims.clone())
}

/// Refuses what would measure one cell twice, or run longer than the agent waits.
///
/// # Errors
/// A user fault that names the run.
pub fn check_runs(runs: &[Run]) -> Result<()> {
    for (at, run) in runs.iter().enumerate() {
        let same =
            |other: &Run| (&other.workload, &other.settings) == (&run.workload, &run.settings);
        if runs[..at].iter().any(same) {
            return Err(Fault::user(format!(
                "{} is asked for twice at the same setting",
                run.workload
            )));
        }
        let timed = run
            .duration_ms
            .saturating_mul(u64::from(run.timing().iterations));
        if timed > LONGEST_MS {
            return Err(Fault::user(format!(
                "{} would take over an hour of guest time in each boot",
                run.workload
            ))
            .next("take a shorter --duration or fewer --iterations"));
        }
    }
    Ok(())
}

/// The longest that one workload may measure in one boot: an hour of guest time.
const LONGEST_MS: u64 = 3_600_000;

/// The runs that a series asks for.
///
/// # Errors
/// A user fault for an unknown workload or parameter.
pub fn runs(series: &Series, duration_ms: u64, iterations: u32) -> Result<Vec<Run>> {
    series
        .workloads
        .iter()
        .map(|wanted| {
            let settings = wanted
                .parameters
                .iter()
                .map(|(name, value)| (name.clone(), value.to_string()))
                .collect();
            Run::new(&wanted.name, &settings, duration_ms, iterations)
        })
        .collect()
}

#[cfg(test)]
mod tests;
