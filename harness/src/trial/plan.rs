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
mod tests {
    use super::*;

    #[test]
    fn a_typed_workload_is_a_run_with_defaults_filled_in() {
        let run = Run::parse("fd-churn:fds=1000,touch=0,fastalloc", 500, 2).unwrap();
        assert_eq!(run.settings["fds"], "1000");
        assert_eq!(run.settings["fastalloc"], "true");
        assert_eq!(run.settings["threads"], "1");
        assert_eq!(run.timing().iterations, 3);
    }

    #[test]
    fn one_cell_is_not_measured_twice_nor_for_days() {
        let run = |text, duration| Run::parse(text, duration, 2).unwrap();
        let twice = [run("exec", 300), run("exec:processes=1", 300)];
        assert!(check_runs(&twice).is_err());
        assert!(check_runs(&[run("exec", 300), run("exec:processes=2", 300)]).is_ok());
        assert!(check_runs(&[run("exec", 1_300_000)]).is_err());
    }

    #[test]
    fn the_catalogues_claims_are_about_what_is_measured_and_others_are_refused() {
        for series in ktrial_patches::catalogue::list().unwrap() {
            assert_eq!(claims(&series).unwrap().len(), series.claims.len());
        }
        let mut series = ktrial_patches::catalogue::find("linux-fd-alloc-bitmap").unwrap();
        let test = series
            .claims
            .iter_mut()
            .find_map(|claim| claim.test.as_mut());
        test.unwrap().metric = "latency_p95".into();
        let fault = claims(&series).unwrap_err();
        assert_eq!(fault.at, crate::fault::At::User);
        assert!(
            fault.what.contains("fd-churn latency_p95"),
            "{}",
            fault.what
        );
    }

    /// Four packages of two cores with two threads.
    fn places() -> Places {
        let words = "pack:4 numa:1 core:2 pu:2";
        Places::of(&crate::machine::hwloc::synthetic(words).unwrap().located())
    }

    #[test]
    fn workers_are_counted_in_words_for_parts_and_then_spread() {
        let all = |text| Run::parse_all(text, 500, 2, &places()).unwrap();
        let counts = |runs: Vec<Run>| -> Vec<String> {
            runs.iter()
                .map(|run| run.settings["threads"].clone())
                .collect()
        };
        assert_eq!(
            counts(all("unmap:threads=topology")),
            ["1", "2", "4", "8", "16"]
        );
        assert_eq!(
            counts(all("unmap:threads=topology+-1")),
            ["1", "2", "3", "4", "5", "7", "8", "9", "15", "16"]
        );
        assert_eq!(
            counts(all("unmap:threads=3|nodes|cores|packages")),
            ["3", "4", "8"]
        );
        let place = |text| all(text)[0].settings.get("place").cloned();
        assert_eq!(place("unmap:threads=nodes").as_deref(), Some("spread"));
        assert_eq!(
            place("unmap:threads=nodes,place=compact").as_deref(),
            Some("compact")
        );
        assert_eq!(place("unmap:threads=4"), None);
        let run = &all("unmap:threads=nodes")[0];
        let job = run.job(&run.settings, 1, &places()).unwrap();
        let arguments = job.arguments.join(" ");
        // One thread in each package, then its second core, then second threads.
        assert!(
            arguments.contains("-c 0+4+8+12+2+6+10+14+1+5+9+13+3+7+11+15"),
            "{arguments}"
        );
        for text in [
            "unmap:pages=cores",
            "unmap:threads=sockets",
            "unmap:place=far",
        ] {
            assert!(Run::parse_all(text, 500, 2, &places()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_claim_about_a_machine_that_nobody_knows_is_refused() {
        let mut series = ktrial_patches::catalogue::find("dragonfly-exec-rate").unwrap();
        let known = series.claims[1].known_machine.as_deref();
        assert_eq!(known, Some("opteron-6168-4s"));
        series.claims[1].known_machine = Some("opteron-6168".into());
        let fault = claims(&series).unwrap_err();
        assert_eq!(fault.at, crate::fault::At::User);
        assert!(fault.next.unwrap().contains("opteron-6168-4s"));
    }

    #[test]
    fn several_values_are_several_runs_each_with_each() {
        let runs = Run::parse_all(
            "fd-churn:threads=1..3,touch=0|400000,fastalloc",
            500,
            2,
            &places(),
        );
        let runs = runs.unwrap();
        let found: Vec<_> = runs
            .iter()
            .map(|run| {
                let of = |name: &str| run.settings[name].as_str();
                (of("threads"), of("touch"), of("fastalloc"))
            })
            .collect();
        let expected = [
            ("1", "0", "true"),
            ("1", "400000", "true"),
            ("2", "0", "true"),
            ("2", "400000", "true"),
            ("3", "0", "true"),
            ("3", "400000", "true"),
        ];
        assert_eq!(found, expected);
        assert!(check_runs(&runs).is_ok());
        let one = Run::parse_all("exec", 500, 2, &places()).unwrap();
        assert_eq!(one, [Run::parse("exec", 500, 2).unwrap()]);
    }

    #[test]
    fn a_sweep_of_nonsense_is_the_users_fault() {
        for text in [
            "exec:processes=0..2",
            "exec:processes=1|5000",
            "exec:procs=1..2",
            "exec:processes=1..2,processes=3",
            "fd-churn:fastalloc=0..1",
            "fd-churn:threads=1..10,fds=1..10",
        ] {
            let fault = Run::parse_all(text, 500, 2, &places()).unwrap_err();
            assert_eq!(fault.at, crate::fault::At::User, "{text}");
        }
    }

    #[test]
    fn typos_are_the_users_fault() {
        for text in [
            "fd-chrn",
            "exec:procs=2",
            "exec:processes=0",
            "exec:processes=1,processes=2",
        ] {
            assert_eq!(
                Run::parse(text, 500, 2).unwrap_err().at,
                crate::fault::At::User
            );
        }
    }
}
