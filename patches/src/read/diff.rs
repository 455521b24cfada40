//! Diffs: unified or with context, plain, from git, CVS or Subversion.

mod binary;
mod context;
mod git;
mod hunk;
mod names;
mod plain;

pub(super) use hunk::header as hunk_header;

use super::{Located, ReadErrorKind};
use crate::FilePatch;
use crate::text::shown;
use names::Fuller;

/// Lines read of one file at most, of all mails in it together: more would take
/// gigabytes once taken apart.
pub(super) const MAX_LINES: usize = 4_000_000;

pub(super) fn too_many_lines() -> ReadErrorKind {
    ReadErrorKind::Unsupported {
        what: "a patch of more than 4,000,000 lines",
        instead: "split it",
    }
}

/// Where the description ends: git's own rule, a line `---`, `diff -…`,
/// `--- name` or `Index: `, and the head of a context diff.
pub(super) fn description_end(bytes: &[u8]) -> usize {
    let mut at = 0;
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        let ends = match line.strip_prefix(b"---") {
            Some(rest) if rest.starts_with(b" ") => true,
            Some(rest) => rest.trim_ascii().is_empty(),
            None if line.starts_with(b"*** ") => bytes[at + line.len()..].starts_with(b"--- "),
            None => line.starts_with(b"diff -") || line.starts_with(b"Index: "),
        };
        if ends {
            return at;
        }
        at += line.len();
    }
    at
}

/// All file patches in a text. `first_line` is the line number of its start.
pub(super) fn parse(bytes: &[u8], first_line: usize) -> Located<Vec<FilePatch>> {
    let start = description_end(bytes);
    let before = bytes[..start].iter().filter(|&&b| b == b'\n').count();
    let mut input = Input {
        rest: &bytes[start..],
        line: first_line + before,
    };
    let mut files = Vec::new();
    let mut fuller = Fuller::default();
    while let Some(line) = input.peek(0) {
        if line.starts_with(b"diff --git ") {
            files.extend(git::file(&mut input)?);
            fuller = Fuller::default();
        } else if input.at_file_header() {
            files.push(plain::unified(&mut input, &fuller)?);
            fuller = Fuller::default();
        } else if input.at_context_header() {
            files.push(plain::context(&mut input, &fuller)?);
            fuller = Fuller::default();
        } else {
            refuse_what_is_not_read(&input, line)?;
            fuller.note(line);
            input.next();
        }
        input.check_length()?;
    }
    Ok(files)
}

/// The lines that are left, and where they are.
struct Input<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Input<'a> {
    /// The line `ahead` of the next one, with its line end.
    fn peek(&self, ahead: usize) -> Option<&'a [u8]> {
        self.rest.split_inclusive(|&b| b == b'\n').nth(ahead)
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.peek(0)?;
        self.rest = &self.rest[line.len()..];
        self.line += 1;
        Some(line)
    }

    fn starts_with(&self, ahead: usize, prefix: &[u8]) -> bool {
        self.peek(ahead)
            .is_some_and(|line| line.starts_with(prefix))
    }

    fn check_length(&self) -> Located<()> {
        if self.line <= MAX_LINES {
            return Ok(());
        }
        Err(self.error(too_many_lines()))
    }

    fn at_file_header(&self) -> bool {
        self.starts_with(0, b"--- ") && self.starts_with(1, b"+++ ")
    }

    fn at_context_header(&self) -> bool {
        self.starts_with(0, b"*** ")
            && self.starts_with(1, b"--- ")
            && self.starts_with(2, context::STARS)
    }

    /// Trouble with the line that comes next.
    fn error(&self, kind: ReadErrorKind) -> (usize, ReadErrorKind) {
        (self.line, kind)
    }

    fn expected(&self, expected: &'static str) -> (usize, ReadErrorKind) {
        let found = shown(self.peek(0).unwrap_or(b"the end of the patch"));
        self.error(ReadErrorKind::Expected { expected, found })
    }
}

/// What a line says after its first word, without its line end.
pub(super) fn field<'a>(line: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(word)?;
    let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
    Some(rest.strip_suffix(b"\r").unwrap_or(rest))
}

/// Kinds of diff that would be lost in silence if they were taken for text.
fn refuse_what_is_not_read(input: &Input, line: &[u8]) -> Located<()> {
    let (what, instead) = if line.starts_with(b"@@ -") {
        return Err(input.expected("the lines `--- old name` and `+++ new name` before a hunk"));
    } else if line.starts_with(context::STARS) {
        return Err(input.expected("the lines `*** old name` and `--- new name` before a hunk"));
    } else if line.starts_with(b"diff --cc ")
        || line.starts_with(b"diff --combined ")
        || line.starts_with(b"@@@ ")
    {
        (
            "the combined diff of a merge",
            "use `git diff` against one parent",
        )
    } else if line.starts_with(b"GIT binary patch") {
        (
            "a binary change without its `diff --git` line",
            "make it with `git diff --binary`",
        )
    } else if is_binary_without_data(line) {
        (
            "a change of a binary file that is not in the patch",
            "make it with `git diff --binary`, or leave the file out",
        )
    } else if plain::starts_normal_diff(input) {
        ("a diff without names and context", "make it with `diff -u`")
    } else {
        return Ok(());
    };
    Err(input.error(ReadErrorKind::Unsupported { what, instead }))
}

/// What diff and Subversion say in place of a binary file's change.
fn is_binary_without_data(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    (line.starts_with(b"Binary files ") && line.ends_with(b" differ"))
        || line.starts_with(b"Cannot display: file marked as a binary type")
}
