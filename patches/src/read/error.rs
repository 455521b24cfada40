//! Why bytes make no patch, and where.

use std::fmt;

use super::ThreadError;
use crate::MAX_PATCH_BYTES;

/// Why bytes could not be read as a patch. Always the patch's fault.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}: {kind}", place(name, *line))]
pub struct ReadError {
    /// The name of the file.
    pub name: String,
    /// The line, from 1; within the decoded text where a mail is in base64 or quoted-printable.
    /// 0 where it is about a folder, which has no lines.
    pub line: usize,
    /// What is wrong there.
    pub kind: ReadErrorKind,
}

fn place(name: &str, line: usize) -> String {
    match line {
        0 => name.to_owned(),
        line => format!("{name}:{line}"),
    }
}

/// What is wrong with a patch.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum ReadErrorKind {
    /// More than [`MAX_PATCH_BYTES`].
    #[error("the patch has {0} bytes, more than the {MAX_PATCH_BYTES} that are read; split it")]
    TooLarge(usize),
    /// Not a mail, or a mail that can't be decoded.
    #[error("this mail can't be decoded: {0}")]
    Mail(&'static str),
    /// A date that is none: `git am` refuses it too.
    #[error("`{0}` is no date; put the `Date:` right, or take it out")]
    Date(String),
    /// In a character set that it is not in.
    #[error("this file can't be decoded: {0}")]
    Charset(&'static str),
    /// A thread of which no series can be made.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// Nothing in it changes a file.
    #[error(
        "no diff found: expected a mail or a thread of mails, a diff (unified, context or git's), \
         the output of `git show`, a saved web page or a git bundle"
    )]
    NoDiff,
    /// There is nothing in it.
    #[error("it is empty: expected a patch")]
    Empty,
    /// Compressed by the program that is named.
    #[error("it is compressed with {0}; unpack it first")]
    Compressed(&'static str),
    /// A kind of diff that is known and not read.
    #[error("{what} can't be read; {instead}")]
    Unsupported {
        /// What it is.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A line that a diff can't have there.
    #[error("expected {expected}, found `{found}`")]
    Expected {
        /// What a diff has there.
        expected: &'static str,
        /// The line.
        found: String,
    },
    /// The file or the mail ends inside a hunk.
    #[error(
        "the hunk announces {old} lines before and {new} after, but the patch ends or breaks off \
         when {old_left} and {new_left} of them are missing; it is probably cut off: take it again \
         from where it came"
    )]
    HunkTooShort {
        /// Lines announced before the patch.
        old: usize,
        /// Lines announced after the patch.
        new: usize,
        /// Lines that are missing of those before.
        old_left: usize,
        /// Lines that are missing of those after.
        new_left: usize,
    },
    /// A file whose content changes, by its `index` line, and no change of it.
    #[error(
        "the content of {0} changes, as the two ids here say, and how is not in the patch: no \
         hunk and no binary change follows; take the patch again from where it came"
    )]
    ContentMissing(String),
    /// Changed lines go on where the hunk should end.
    #[error("the hunk announces fewer lines than it has: it goes on with `{0}`")]
    HunkTooLong(String),
    /// A quoted patch with text of a reply between its lines.
    #[error(
        "the quoted patch has text of a reply here; take the patch from the mail that it answers"
    )]
    ReplyText,
    /// A damaged line that can be read in more than one way.
    #[error("can't tell what this line is: {0}")]
    Doubtful(String),
    /// A file name that is empty, badly quoted or not UTF-8.
    #[error("bad file name: {0}")]
    BadPath(&'static str),
}

/// A line of a file, shown as `name:line`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The name of the file.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&place(&self.name, self.line))
    }
}
