//! Why the mails of a thread make no series.

use crate::read::Place;
use crate::read::tag::Version;

/// What is wrong with a thread.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum ThreadError {
    /// A number is not there.
    #[error("{version} has no {number}/{total}: found {found}")]
    Missing {
        /// The version of the series.
        version: Version,
        /// The first number that is missing.
        number: u32,
        /// How many patches there should be.
        total: u32,
        /// The numbers that are there.
        found: String,
    },
    /// The newest version has only some of the patches, as where one was sent again.
    #[error(
        "{version} has only {found}/{total}, while {complete} is complete; make one file of \
         the patches that you mean, in their order"
    )]
    Partial {
        /// The newest version.
        version: Version,
        /// The numbers that it has.
        found: String,
        /// How many patches there should be.
        total: u32,
        /// The newest version that has all.
        complete: Version,
    },
    /// Two mails that differ have one number.
    #[error(
        "{version} has two different mails for {number}/{total}, here and at {other}; take one out"
    )]
    Twice {
        /// The version of the series.
        version: Version,
        /// The number.
        number: u32,
        /// How many patches there should be.
        total: u32,
        /// Where the first of them is.
        other: Place,
    },
    /// A mail and one that is attached to it change one file, and differ.
    #[error(
        "the patch attached here and the one in the text of the mail at {other} change one file, \
         each in its own way; keep the one that is meant"
    )]
    Attached {
        /// Where the mail is.
        other: Place,
    },
    /// `8/7`.
    #[error("{number}/{total} is more than the series has; take it out, or number it anew")]
    Beyond {
        /// The number.
        number: u32,
        /// How many patches there should be.
        total: u32,
    },
    /// Only replies have diffs, and more than one.
    #[error("a second reply with a diff, beside that at {other}, and no patch; keep one of them")]
    SeveralReplies {
        /// Where the first of them is.
        other: Place,
    },
    /// Two series that have the same title and the same version.
    #[error(
        "{version} is there twice, here and at {other}, with another number of patches; keep one of them"
    )]
    SameVersion {
        /// Their version.
        version: Version,
        /// Where the first of them is.
        other: Place,
    },
    /// An RFC with the higher number, and a series that is none.
    #[error(
        "{version} here is an RFC, and the series at {other} is none: which of them is newer can't be told; keep one of them"
    )]
    Rfc {
        /// The version of the RFC.
        version: Version,
        /// Where the other series is.
        other: Place,
    },
}

/// Numbers as people write them: `1, 2, 4–7`; `none` of none.
pub(super) fn ranges(numbers: impl Iterator<Item = u32>) -> String {
    /// More would hide what the message says.
    const SHOWN: usize = 12;
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}–{last}"),
    };
    let mut shown: Vec<String> = runs.iter().take(SHOWN).map(run).collect();
    if runs.len() > SHOWN {
        shown.push("…".to_owned());
    }
    if shown.is_empty() {
        return "none".to_owned();
    }
    shown.join(", ")
}
