//! The workloads: what each is, what can be set, what it measures. Their sources and manifests
//! lie in `workloads/` and are part of the command.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::fault::{Fault, Result};
use crate::machine::places::{ORDERS, Places};

/// The folder `workloads/`.
pub static SOURCES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../workloads");

/// One workload, as its `workload.toml` says.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The name of its folder.
    #[serde(skip)]
    pub name: String,
    /// One line.
    pub summary: String,
    /// The program that a job starts.
    run: String,
    #[serde(rename = "program")]
    programs: Vec<Program>,
    /// What can be set.
    #[serde(rename = "parameter", default)]
    pub parameters: Vec<Parameter>,
    /// What it measures.
    #[serde(rename = "metric")]
    pub metrics: Vec<Metric>,
}

/// A program of the guest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its file name in the guest's `/bin`.
    pub name: String,
    /// C files below `workloads/`.
    pub sources: Vec<String>,
    /// Whether it counts what the kernel does in each iteration, with [`Counts::sources`] besides.
    #[serde(default)]
    counts: bool,
}

/// Something that can be set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// What it is called.
    pub name: String,
    /// The option of the program.
    pub option: String,
    /// What kind of value it takes.
    pub kind: Kind,
    /// Whether it counts the workers, which may then be said in words for parts of a machine.
    #[serde(default)]
    pub workers: bool,
    /// The value if none is given; flags are off.
    #[serde(default)]
    pub default: u64,
    /// The smallest value.
    #[serde(default)]
    pub min: u64,
    /// The largest value.
    #[serde(default = "most")]
    pub max: u64,
    /// One line.
    pub help: String,
}

fn most() -> u64 {
    u64::MAX
}

/// The kind of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number of things.
    Count,
    /// A number of bytes.
    Bytes,
    /// A time in milliseconds.
    Milliseconds,
    /// On or off.
    Flag,
    /// An order of CPUs on which workers are put, by its name; none unless it is asked for.
    Place,
}

/// Something that is measured.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// What it is called.
    pub name: String,
    /// `1/s`, `ns`.
    pub unit: String,
    /// `higher` or `lower`.
    pub better: String,
    /// Whether a verdict on the trial hangs on it.
    #[serde(default)]
    pub primary: bool,
    /// The flag without which it is not measured.
    #[serde(default)]
    with: Option<String>,
    /// The flag with which it is not measured.
    #[serde(default)]
    without: Option<String>,
    /// Measured once a run, as iteration 0, and not in each iteration.
    #[serde(default)]
    pub once: bool,
    /// One line.
    pub help: String,
}

/// Values by parameter name, as text: `fds` = `500000`, `fastalloc` = `true`.
pub type Settings = BTreeMap<String, String>;

/// How long and how often a workload measures in one boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Length of one iteration, in guest milliseconds.
    pub duration_ms: u64,
    /// Iterations in a boot, the warm-up included.
    pub iterations: u32,
}

/// One program run in the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Path of the program in the guest.
    pub program: String,
    /// Its arguments; none holds a blank.
    pub arguments: Vec<String>,
    /// When the agent kills it, in guest milliseconds.
    pub deadline_ms: u64,
}

/// What is counted in every workload: `common/counts.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    /// What a program that counts is built with.
    sources: Vec<String>,
    #[serde(rename = "metric")]
    metrics: Vec<Metric>,
}

/// Programs of the guest that are no workload.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Others {
    #[allow(dead_code, reason = "for people who read the file")]
    summary: String,
    #[serde(rename = "program")]
    programs: Vec<Program>,
}

/// Every workload there is, sorted by name.
///
/// # Errors
/// A host fault if a manifest in the command is broken, which the tests rule out.
pub fn all() -> Result<Vec<Workload>> {
    SOURCES
        .dirs()
        .map(|dir| dir.path().join("workload.toml"))
        .filter(|path| SOURCES.contains(path))
        .map(|path| {
            let mut workload: Workload = manifest(&path.to_string_lossy())?;
            let folder = path.parent().unwrap_or(&path);
            workload.name = folder.to_string_lossy().into_owned();
            Ok(workload)
        })
        .collect()
}

/// What the kernel of a guest counts itself, in every workload.
///
/// # Errors
/// A host fault if the file in the command is broken, which the tests rule out.
pub fn counts() -> Result<Vec<Metric>> {
    Ok(manifest::<Counts>("common/counts.toml")?.metrics)
}

fn manifest<T: serde::de::DeserializeOwned>(path: &str) -> Result<T> {
    let text = SOURCES
        .get_file(path)
        .and_then(|f| f.contents_utf8())
        .unwrap_or_default();
    toml::from_str(text).map_err(|e| Fault::host(format!("workloads/{path}: {e}")))
}

/// The workload called `name`.
///
/// # Errors
/// A user fault that lists the workloads there are.
pub fn find(name: &str) -> Result<Workload> {
    let mut all = all()?;
    let Some(at) = all.iter().position(|w| w.name == name) else {
        let names: Vec<String> = all.into_iter().map(|w| w.name).collect();
        return Err(Fault::user(format!("no workload is called {name:?}"))
            .next(format!("there are: {}", names.join(", "))));
    };
    Ok(all.swap_remove(at))
}

/// Every program that goes into a guest, the agent's first.
///
/// # Errors
/// A host fault if a manifest in the command is broken.
pub fn programs() -> Result<Vec<Program>> {
    let mut all = manifest::<Others>("agent/agent.toml")?.programs;
    all.extend(manifest::<Others>("watch/watch.toml")?.programs);
    all.extend(self::all()?.into_iter().flat_map(|w| w.programs));
    let counts = manifest::<Counts>("common/counts.toml")?;
    for program in all.iter_mut().filter(|program| program.counts) {
        program.sources.extend(counts.sources.iter().cloned());
    }
    Ok(all)
}

impl Workload {
    /// `settings` with every default filled in.
    ///
    /// # Errors
    /// A user fault for an unknown name or a value out of range.
    pub fn complete(&self, settings: &Settings) -> Result<Settings> {
        for (name, value) in settings {
            let Some(parameter) = self.parameters.iter().find(|p| &p.name == name) else {
                let names: Vec<&str> = self.parameters.iter().map(|p| p.name.as_str()).collect();
                return Err(
                    Fault::user(format!("{} has no parameter {name}", self.name))
                        .next(format!("it has: {}", names.join(", "))),
                );
            };
            parameter.check(&self.name, value)?;
        }
        let filled = self.parameters.iter().filter_map(|parameter| {
            let given = settings.get(&parameter.name).cloned();
            let value = given.or_else(|| parameter.default_text())?;
            Some((parameter.name.clone(), value))
        });
        Ok(filled.collect())
    }

    /// The job that runs this workload with complete settings, on a machine with these CPUs.
    pub fn job(&self, settings: &Settings, timing: Timing, seed: u32, places: &Places) -> Job {
        let mut arguments = vec![
            "-d".to_owned(),
            timing.duration_ms.to_string(),
            "-i".to_owned(),
            timing.iterations.to_string(),
            "-s".to_owned(),
            seed.to_string(),
        ];
        for parameter in &self.parameters {
            match settings.get(&parameter.name) {
                Some(value) if parameter.kind == Kind::Flag => {
                    arguments.extend((value == "true").then(|| parameter.option.clone()));
                }
                Some(value) if parameter.kind == Kind::Place => {
                    if let Some(order) = places.order(value) {
                        let order: Vec<String> = order.iter().map(u32::to_string).collect();
                        arguments.extend([parameter.option.clone(), order.join("+")]);
                    }
                }
                Some(value) => arguments.extend([parameter.option.clone(), value.clone()]),
                None => {}
            }
        }
        Job {
            program: format!("/bin/{}", self.run),
            arguments,
            deadline_ms: SETUP_MS + 4 * timing.duration_ms * u64::from(timing.iterations),
        }
    }

    /// The metrics that a run with complete settings owes.
    pub fn metrics_with<'a>(&'a self, settings: &'a Settings) -> impl Iterator<Item = &'a Metric> {
        let on = |flag: &String| settings.get(flag).is_some_and(|value| value == "true");
        self.metrics.iter().filter(move |metric| {
            metric.with.as_ref().is_none_or(on) && !metric.without.as_ref().is_some_and(on)
        })
    }

    /// The metric called `name`.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|m| m.name == name)
    }
}

/// Guest time allowed for setting up: ten million descriptors take about ten seconds.
const SETUP_MS: u64 = 60_000;

impl Metric {
    /// One that is counted in each iteration of any workload; less of it is better.
    pub fn counted(name: &str, unit: &str, primary: bool, help: &str) -> Metric {
        Metric {
            name: name.to_owned(),
            unit: unit.to_owned(),
            better: "lower".to_owned(),
            primary,
            with: None,
            without: None,
            once: false,
            help: help.to_owned(),
        }
    }

    /// The iterations of a run of `all` in which it is measured.
    pub fn iterations(&self, all: u32) -> std::ops::Range<u32> {
        0..if self.once { 1 } else { all }
    }
}

impl Parameter {
    fn default_text(&self) -> Option<String> {
        match self.kind {
            Kind::Flag => Some("false".into()),
            Kind::Place => None,
            _ => Some(self.default.to_string()),
        }
    }

    fn check(&self, workload: &str, value: &str) -> Result<()> {
        let fits = match self.kind {
            Kind::Flag => value == "true" || value == "false",
            Kind::Place => ORDERS.contains(&value),
            _ => value
                .parse::<u64>()
                .is_ok_and(|n| (self.min..=self.max).contains(&n)),
        };
        if fits {
            return Ok(());
        }
        let wanted = match self.kind {
            Kind::Flag => "true or false".to_owned(),
            Kind::Place => ORDERS.join(" or "),
            _ => format!("a number from {} to {}", self.min, self.max),
        };
        Err(Fault::user(format!(
            "{workload}.{} is {wanted}, not {value}",
            self.name
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn every_manifest_is_whole_and_every_source_is_there() {
        let all = all().unwrap();
        let names: Vec<&str> = all.iter().map(|w| w.name.as_str()).collect();
        assert_eq!(names, ["exec", "fd-churn", "unmap"]);
        for program in programs().unwrap() {
            for source in &program.sources {
                assert!(SOURCES.get_file(source).is_some(), "{source}");
            }
        }
        assert!(
            counts()
                .unwrap()
                .iter()
                .all(|m| m.name.contains('.') && !m.primary)
        );
        for workload in &all {
            assert!(workload.metrics.iter().any(|m| m.primary));
            assert!(workload.programs.iter().any(|p| p.name == workload.run));
            assert!(workload.complete(&Settings::new()).is_ok());
        }
    }

    #[test]
    fn a_job_carries_options_and_flags_only_where_set() {
        let churn = find("fd-churn").unwrap();
        let set = churn
            .complete(&settings(&[("fds", "1000"), ("fastalloc", "true")]))
            .unwrap();
        let timing = Timing {
            duration_ms: 500,
            iterations: 3,
        };
        let places = Places::of(&[]);
        let job = churn.job(&set, timing, 9, &places);
        assert_eq!(job.program, "/bin/fd-churn");
        assert_eq!(
            job.arguments.join(" "),
            "-d 500 -i 3 -s 9 -n 1000 -t 1 -m 400000 -f"
        );
    }

    #[test]
    fn bad_settings_are_the_users_fault_and_say_what_is_wanted() {
        let churn = find("fd-churn").unwrap();
        for (name, value, says) in [
            ("fd", "1", "no parameter fd"),
            ("fds", "-1", "a number from"),
            ("fds", "99999999999999999999", "a number from"),
            ("fastalloc", "1", "true or false"),
        ] {
            let fault = churn.complete(&settings(&[(name, value)])).unwrap_err();
            assert_eq!(fault.at, crate::fault::At::User);
            assert!(fault.to_string().contains(says), "{fault}");
        }
        assert!(
            find("fd_churn")
                .unwrap_err()
                .to_string()
                .contains("exec, fd-churn")
        );
    }
}
