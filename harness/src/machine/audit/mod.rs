//! The noise audit: what about this machine makes results differ, with what it does to them and the
//! command that mends it. It reads files only, and sets nothing.
//!
//! The checks are those of FreeBSD's checklist for micro-benchmarks (developers' handbook, chapter
//! "Regression and Performance Testing", and <https://wiki.freebsd.org/BenchmarkAdvice>), of
//! `pyperf system` (its `doc/system.rst`), of LKP (`programs/cpufreq_governor`, `lib/env.sh`) and of
//! MMTests (`run-mmtests.sh`), where they apply to a Linux host. Each names its own source.

mod frequency;
mod kernel;
pub mod kernel_options;
mod load;
mod memory;
mod processes;
mod processors;
mod render;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(super) use self::frequency::deep_idle_states;
use self::processes::Process;
use super::files::Files;

/// Longer than anything that a check says of a machine in order.
const MOST_CHARACTERS: usize = 1000;

/// What was found, one finding for each check, in the order of the checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// One for each check.
    pub findings: Vec<Finding>,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Of the check: `frequency governor`. Unique in an audit.
    pub name: String,
    /// What it comes to.
    pub state: State,
    /// What was read, in words: `powersave on CPUs 0-3`.
    pub found: String,
    /// What noise of this kind does to results: one sentence.
    pub effect: String,
    /// What root types to mend it; none where it is quiet, or where no command does.
    pub mend: Option<String>,
    /// Whether this is a setting, which stays until somebody changes it, and not a passing state
    /// such as load. Settings are part of what makes two trials comparable.
    pub lasting: bool,
}

/// What a finding comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It does not disturb.
    Quiet,
    /// It disturbs.
    Noisy,
    /// Something is there that the check does not understand.
    Unknown,
    /// This machine does not have it, or does not say.
    Absent,
}

/// One check: the parts of its finding that are always the same, and the look at the machine.
struct Check {
    name: &'static str,
    lasting: bool,
    effect: &'static str,
    look: fn(&Host) -> Seen,
}

/// What the checks look at.
struct Host<'a> {
    files: &'a Files,
    /// Those that ran when the audit began, without ktrial's own; none if nothing says.
    processes: Option<Vec<Process>>,
}

/// What a look has seen.
#[derive(Debug)]
struct Seen {
    state: State,
    found: String,
    mend: Option<String>,
}

impl Seen {
    fn quiet(found: impl Into<String>) -> Seen {
        Seen::new(State::Quiet, found)
    }

    fn noisy(found: impl Into<String>) -> Seen {
        Seen::new(State::Noisy, found)
    }

    /// Something that the check does not know.
    fn unknown(found: impl Into<String>) -> Seen {
        Seen::new(State::Unknown, found)
    }

    /// Nothing to look at; the file that is not there is named.
    fn absent(path: &str) -> Seen {
        Seen::new(State::Absent, format!("no /{path}"))
    }

    fn new(state: State, found: impl Into<String>) -> Seen {
        let found = found.into();
        Seen {
            state,
            found: found.chars().take(MOST_CHARACTERS).collect(),
            mend: None,
        }
    }

    /// With what root types.
    fn mended_by(mut self, command: impl Into<String>) -> Seen {
        self.mend = Some(command.into());
        self
    }
}

/// Looks at everything that is known to make noise.
pub fn audit(files: &Files) -> Audit {
    let host = Host {
        files,
        processes: processes::others(files),
    };
    let findings = checks().map(|check| {
        let seen = (check.look)(&host);
        Finding {
            name: check.name.into(),
            state: seen.state,
            found: seen.found,
            effect: check.effect.into(),
            mend: seen.mend,
            lasting: check.lasting,
        }
    });
    Audit {
        findings: findings.collect(),
    }
}

/// All checks, in the order in which they are told.
fn checks() -> impl Iterator<Item = &'static Check> {
    let groups: [&'static [Check]; 5] = [
        &frequency::CHECKS,
        &processors::CHECKS,
        &memory::CHECKS,
        &kernel::CHECKS,
        &load::CHECKS,
    ];
    groups.into_iter().flatten()
}

impl Audit {
    /// What was found of settings, by name: part of what makes two trials comparable. It is the same
    /// at every look until somebody changes a setting.
    pub fn settings(&self) -> BTreeMap<String, String> {
        let lasting = self.findings.iter().filter(|finding| finding.lasting);
        lasting
            .map(|finding| (finding.name.clone(), finding.found.clone()))
            .collect()
    }

    /// Those that disturb.
    pub fn noisy(&self) -> impl Iterator<Item = &Finding> {
        self.in_state(State::Noisy)
    }

    fn in_state(&self, state: State) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(move |finding| finding.state == state)
    }

    /// The whole audit in a few lines for a terminal: what disturbs first, each with its effect and
    /// the command that mends it.
    pub fn render(&self) -> String {
        render::render(self)
    }
}
