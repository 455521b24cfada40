//! What there is to set.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::super::files::Files;
use crate::machine::audit;

const CPUS: &str = "sys/devices/system/cpu";
const POLICIES: &str = "sys/devices/system/cpu/cpufreq";

/// One file of one value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Change {
    /// Of the setting: `frequency governor`. Several files of one setting share it.
    pub name: String,
    /// Without the leading slash.
    pub path: String,
    /// The value that it has.
    pub from: String,
    /// The value that it is to have.
    pub to: String,
}

/// What tuning would set, in that order; empty if all is set already.
pub fn plan(files: &Files) -> Vec<Change> {
    let mut changes = Vec::new();
    frequency(files, &mut changes);
    idle_states(files, &mut changes);
    for (name, path, to) in [
        ("NUMA balancing", "proc/sys/kernel/numa_balancing", "0"),
        ("NMI watchdog", "proc/sys/kernel/nmi_watchdog", "0"),
    ] {
        add(files, &mut changes, name, path.into(), to);
    }
    // 2 stops it too, and keeps pages from being merged again.
    let ksm = "sys/kernel/mm/ksm/run";
    if files.value(ksm).as_deref() == Some("1") {
        add(files, &mut changes, "KSM", ksm.into(), "0");
    }
    changes
}

/// Governor and boost. A driver that picks clocks by itself keeps a preference beside the governor,
/// which can't be set while the governor is `performance`: so it is set before, and put back after.
fn frequency(files: &Files, changes: &mut Vec<Change>) {
    let policies = files.names(POLICIES).into_iter();
    let policies = policies.filter(|name| name.starts_with("policy"));
    let policies: Vec<String> = policies.map(|name| format!("{POLICIES}/{name}")).collect();
    for policy in &policies {
        let offers = |name: &str| {
            let words = files.value(&format!("{policy}/{name}"));
            words.is_some_and(|words| words.split_whitespace().any(|word| word == "performance"))
        };
        let governor = files.value(&format!("{policy}/scaling_governor"));
        let is_set = governor.as_deref() == Some("performance");
        if !is_set && offers("energy_performance_available_preferences") {
            let path = format!("{policy}/energy_performance_preference");
            add(files, changes, "energy preference", path, "performance");
        }
        if offers("scaling_available_governors") {
            let path = format!("{policy}/scaling_governor");
            add(files, changes, "frequency governor", path, "performance");
        }
    }
    let own = format!("{CPUS}/intel_pstate/no_turbo");
    let all = format!("{POLICIES}/boost");
    if files.has(&own) {
        add(files, changes, "boost", own, "1");
    } else if files.has(&all) {
        add(files, changes, "boost", all, "0");
    } else {
        for policy in &policies {
            add(files, changes, "boost", format!("{policy}/boost"), "0");
        }
    }
}

fn idle_states(files: &Files, changes: &mut Vec<Change>) {
    for state in audit::deep_idle_states(files) {
        let name = format!("idle state {}", state.name);
        add(files, changes, &name, state.disable, "1");
    }
}

fn add(files: &Files, changes: &mut Vec<Change>, name: &str, path: String, to: &str) {
    if let Some(from) = files.value(&path).filter(|from| from != to) {
        changes.push(Change {
            name: name.into(),
            path,
            from,
            to: to.into(),
        });
    }
}

/// The changes for people, a line for each setting: `boost: 0 -> 1`.
pub fn render(changes: &[Change]) -> String {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for change in changes {
        let line = format!("{}: {} -> {}", change.name, change.from, change.to);
        match lines.iter_mut().find(|(other, _)| *other == line) {
            Some((_, count)) => *count += 1,
            None => lines.push((line, 1)),
        }
    }
    let mut text = String::new();
    for (line, count) in lines {
        let _ = match count {
            1 => writeln!(text, "{line}"),
            _ => writeln!(text, "{line}   ({count} files)"),
        };
    }
    text
}
