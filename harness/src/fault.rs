//! Faults: whose they are, what happened, and what to type next.

use std::fmt::{self, Display};

use crate::terminal::plain;

/// Who is at fault. The answer decides the exit code and what the user does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The command line, or a file that the user wrote.
    User,
    /// The patch: it does not apply.
    Patch,
    /// The kernel under trial: it does not build, panics, or hangs.
    Kernel,
    /// The guest's own programs: the agent or a workload failed on a kernel that is alive.
    Guest,
    /// This machine: a tool, the disk, the accelerator.
    Host,
    /// Nobody: the user interrupted the run, which can be resumed.
    Interrupted,
}

impl At {
    const ALL: [At; 6] = [
        At::User,
        At::Patch,
        At::Kernel,
        At::Guest,
        At::Host,
        At::Interrupted,
    ];

    /// The process exit code, the same in every command (see the README's table).
    pub fn exit_code(self) -> u8 {
        match self {
            At::User => 2,
            At::Patch => 4,
            At::Kernel => 5,
            At::Guest | At::Host => 6,
            At::Interrupted => 130,
        }
    }

    /// The party that a stored fault's text names.
    pub fn named_in(text: &str) -> Option<At> {
        At::ALL.into_iter().find(|at| text.starts_with(at.label()))
    }

    fn label(self) -> &'static str {
        match self {
            At::User => "usage",
            At::Patch => "the patch is at fault",
            At::Kernel => "the kernel is at fault",
            At::Guest => "the guest's programs are at fault",
            At::Host => "this machine is at fault",
            At::Interrupted => "interrupted",
        }
    }
}

/// A failure with a named party, evidence, and a next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Who is at fault.
    pub at: At,
    /// One line: what happened.
    pub what: String,
    /// Evidence, shown indented: a hunk, a compiler's line, the console's last words.
    pub evidence: Vec<String>,
    /// What to type or do next.
    pub next: Option<String>,
}

/// The result of anything that can fail with a [`Fault`].
pub type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// A fault with one line of text.
    pub fn new(at: At, what: impl Into<String>) -> Fault {
        Fault {
            at,
            what: what.into(),
            evidence: Vec::new(),
            next: None,
        }
    }

    /// A fault of this machine.
    pub fn host(what: impl Into<String>) -> Fault {
        Fault::new(At::Host, what)
    }

    /// A fault in what the user typed or wrote.
    pub fn user(what: impl Into<String>) -> Fault {
        Fault::new(At::User, what)
    }

    /// Adds evidence, line by line.
    #[must_use]
    pub fn showing(mut self, text: impl AsRef<str>) -> Fault {
        self.evidence
            .extend(text.as_ref().lines().map(str::to_owned));
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Fault {
        self.next = Some(next.into());
        self
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at.label(), plain(&self.what))?;
        for line in &self.evidence {
            write!(f, "\n{}", format!("    {}", plain(line)).trim_end())?;
        }
        if let Some(next) = &self.next {
            write!(f, "\n  next: {}", plain(next))?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl From<ktrial_db::Error> for Fault {
    fn from(e: ktrial_db::Error) -> Fault {
        Fault::host(format!("the database: {e}"))
            .next("check the disk's free space and run `ktrial db check`")
    }
}

/// Turns a lower error into a fault of this machine, saying what was being done.
pub trait OrHost<T> {
    /// `doing` reads as in "cannot {doing}: {error}".
    fn or_host(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Display> OrHost<T> for std::result::Result<T, E> {
    fn or_host(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|e| Fault::host(format!("cannot {}: {e}", doing())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_documented_ones() {
        let codes = At::ALL.map(At::exit_code);
        assert_eq!(codes, [2, 4, 5, 6, 6, 130]);
    }

    #[test]
    fn the_party_is_found_again_in_the_text() {
        let fault = Fault::new(At::Kernel, "it panicked");
        assert_eq!(At::named_in(&fault.to_string()), Some(At::Kernel));
        assert_eq!(At::named_in("something else"), None);
    }

    #[test]
    fn a_fault_shows_party_evidence_and_next_step() {
        let fault = Fault::host("QEMU is missing")
            .showing("qemu-system-x86_64: not found")
            .next("apt install qemu-system-x86");
        assert_eq!(
            fault.to_string(),
            "this machine is at fault: QEMU is missing\n    qemu-system-x86_64: not found\n  next: apt install qemu-system-x86"
        );
    }
}
