//! How a boot ended, and who is at fault for it.

use super::console::Sign;
use crate::fault::At;

/// How one boot ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The agent ran every job and said so.
    Complete,
    /// The kernel crashed; the sign says how, the text is its line.
    Crash(Sign, String),
    /// The agent was never heard of before the deadline.
    HangAtBoot,
    /// A job did not end, nor did the agent say that its deadline had passed.
    Hang,
    /// The guest went away without a word.
    Reset,
    /// It printed more than any sane guest does.
    Flood,
    /// The agent gave up, or its lines were damaged.
    Agent(String),
    /// QEMU itself failed.
    Qemu(String),
}

impl Ending {
    /// The word used in the database.
    pub fn name(&self) -> &'static str {
        match self {
            Ending::Complete => "ok",
            Ending::Crash(sign, _) => sign.name(),
            Ending::HangAtBoot => "hang-at-boot",
            Ending::Hang => "hang",
            Ending::Reset => "reset",
            Ending::Flood => "flood",
            Ending::Agent(_) => "agent",
            Ending::Qemu(_) => "qemu",
        }
    }

    /// Who is at fault; `None` for a complete boot.
    pub fn at(&self) -> Option<At> {
        match self {
            Ending::Complete => None,
            Ending::Crash(Sign::OutOfMemory | Sign::Agent, _) | Ending::Agent(_) => Some(At::Guest),
            Ending::Qemu(_) => Some(At::Host),
            _ => Some(At::Kernel),
        }
    }

    /// One line for people, which completes "the guest ...".
    pub fn describe(&self) -> String {
        match self {
            Ending::Complete => "ran every job".into(),
            Ending::Crash(sign, line) => format!("{}: {line}", sign.words()),
            Ending::HangAtBoot => "hung at boot: the agent never answered".into(),
            Ending::Hang => "hung under the workload".into(),
            Ending::Reset => "went away without a word (triple fault, or reset)".into(),
            Ending::Flood => "flooded its console or its results".into(),
            Ending::Agent(why) | Ending::Qemu(why) => why.clone(),
        }
    }
}

impl Sign {
    fn name(self) -> &'static str {
        match self {
            Sign::Panic => "panic",
            Sign::Oops => "oops",
            Sign::Bug => "bug",
            Sign::SoftLockup => "soft-lockup",
            Sign::HardLockup => "hard-lockup",
            Sign::Stall => "stall",
            Sign::OutOfMemory => "out-of-memory",
            Sign::Agent => "agent",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Sign::Panic => "panicked",
            Sign::Oops => "oopsed",
            Sign::Bug => "hit a BUG",
            Sign::SoftLockup | Sign::HardLockup => "locked up",
            Sign::Stall => "stalled",
            Sign::OutOfMemory => "ran out of memory",
            Sign::Agent => "gave up",
        }
    }
}
