//! Under which conditions a point was measured. Points are compared only where all are equal.

use std::collections::BTreeMap;

use ktrial_db::{Cell, HistoryTrial, Kernel, Machine, canonical_parameters};
use serde_json::Value;

use crate::hash::hash16;
use crate::trial::bare::BARE;
use crate::trial::host::Host;
use crate::trial::{Plan, Run};

/// The conditions, by name: those of the host (its system, kernel and QEMU), of the guest, of the
/// build, and of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(BTreeMap<String, String>);

/// A condition that is another one than before. One that was not recorded is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which.
    pub name: String,
    /// What it was.
    pub before: String,
    /// What it is.
    pub after: String,
}

impl Key {
    /// The conditions of `cell` in a trial.
    pub fn of(trial: &HistoryTrial, machine: &Machine, kernel: &Kernel, cell: &Cell) -> Key {
        let mut key = Key(BTreeMap::new());
        // Without a guest it is what is measured.
        if trial.accelerator != BARE {
            key.put("host kernel", &machine.os_release);
        }
        let host = Host::stored(&trial.host_json);
        key.put("guests lie", &host.placement.words());
        for (name, found) in host.settings {
            key.put(&format!("host's {name}"), &found);
        }
        key.put_all("host ", &machine.facts_json);
        key.put("clock", &trial.clock);
        key.put("accelerator", &trial.accelerator);
        key.put_all("guest ", &trial.shape_json);
        key.put("toolchain", &kernel.toolchain);
        key.put("kernel options", &kernel.config_hash);
        key.put_all("settings of ", &trial.settings_json);
        key.put("ktrial", &trial.ktrial_version);
        match serde_json::from_str::<Plan>(&trial.plan_json) {
            Ok(plan) => {
                key.put("guest's programs", &plan.programs);
                key.put_run(&plan.runs, cell);
            }
            Err(_) => key.put("plan", &hash16([&trial.plan_json])),
        }
        key
    }

    /// What is different in `after`, by name.
    pub fn differences(&self, after: &Key) -> Vec<Difference> {
        let names: std::collections::BTreeSet<&String> =
            self.0.keys().chain(after.0.keys()).collect();
        let value = |key: &Key, name: &String| key.0.get(name).cloned().unwrap_or_default();
        names
            .into_iter()
            .map(|name| Difference {
                name: name.clone(),
                before: value(self, name),
                after: value(after, name),
            })
            .filter(|found| found.before != found.after)
            .collect()
    }

    /// One condition by its name; empty if it was not recorded.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    fn put(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// The members of a JSON object, each a condition; what is no object is one as a whole.
    fn put_all(&mut self, prefix: &str, json: &str) {
        match serde_json::from_str(json) {
            Ok(Value::Object(members)) => {
                for (name, value) in members {
                    let text = value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned);
                    self.put(&format!("{prefix}{name}"), &text);
                }
            }
            _ => self.put(prefix.trim_end(), json),
        }
    }

    /// How the run of this cell was timed, and what ran before it in the same boot.
    fn put_run(&mut self, runs: &[Run], cell: &Cell) {
        let is_it = |run: &&Run| {
            run.workload == cell.workload
                && canonical_parameters(&run.settings).is_ok_and(|p| p == cell.parameters)
        };
        let Some(at) = runs.iter().position(|run| is_it(&run)) else {
            return;
        };
        let run = &runs[at];
        self.put("duration ms", &run.duration_ms.to_string());
        self.put("iterations", &run.iterations.to_string());
        self.put("warm-ups", &run.warmups.to_string());
        let before: Vec<String> = runs[..at]
            .iter()
            .map(|run| {
                let setting = canonical_parameters(&run.settings).unwrap_or_default();
                format!("{} {setting}", run.workload).trim_end().to_owned()
            })
            .collect();
        self.put("run before it", &before.join(", "));
    }
}
