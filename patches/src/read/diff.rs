//! Unified diffs, plain or from git.

mod git;
mod hunk;

pub(super) use hunk::header as hunk_header;

use super::ReadErrorKind;
use super::path;
use crate::text::shown;
use crate::{Change, FilePatch};

/// Lines read from one patch at most: more would take gigabytes once taken apart.
pub(super) const MAX_LINES: usize = 4_000_000;

/// A kind of trouble, and the line it is on.
pub(super) type Located<T> = Result<T, (usize, ReadErrorKind)>;

/// Where the description ends: git's own rule, a line `---`, `diff -…`,
/// `--- name` or `Index: `.
pub(super) fn description_end(bytes: &[u8]) -> usize {
    let mut at = 0;
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        let ends = match line.strip_prefix(b"---") {
            Some(rest) if rest.starts_with(b" ") => true,
            Some(rest) => rest.trim_ascii().is_empty(),
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
        last: first_line + before + MAX_LINES,
    };
    let mut files = Vec::new();
    while let Some(line) = input.peek(0) {
        if line.starts_with(b"diff --git ") {
            files.extend(git::file(&mut input)?);
        } else if input.at_file_header() {
            files.push(plain_file(&mut input)?);
        } else {
            refuse_what_is_not_read(&input, line)?;
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
    last: usize,
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
        if self.line <= self.last {
            return Ok(());
        }
        Err(self.error(ReadErrorKind::Unsupported {
            what: "a patch of more than 4,000,000 lines",
            instead: "split it",
        }))
    }

    fn at_file_header(&self) -> bool {
        self.starts_with(0, b"--- ") && self.starts_with(1, b"+++ ")
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
    } else if line.starts_with(b"diff --cc ")
        || line.starts_with(b"diff --combined ")
        || line.starts_with(b"@@@ ")
    {
        (
            "the combined diff of a merge",
            "use `git diff` against one parent",
        )
    } else if line.starts_with(b"***************") {
        ("a context diff", "make it with `diff -u`")
    } else if line.starts_with(b"GIT binary patch")
        || (line.starts_with(b"Binary files ") && line.trim_ascii_end().ends_with(b" differ"))
    {
        ("a change of a binary file", "leave it out of the series")
    } else {
        return Ok(());
    };
    Err(input.error(ReadErrorKind::Unsupported { what, instead }))
}

/// A file patch that starts with `---` and `+++`.
fn plain_file(input: &mut Input) -> Located<FilePatch> {
    let names = Names::read(input)?;
    if !input.starts_with(0, b"@@ -") {
        return Err(input.expected("a hunk, `@@ -line,count +line,count @@`"));
    }
    let hunks = hunk::all(input, names.carriage_returns)?;
    // Diffs without /dev/null show an absent file by a date of 1970.
    let absent = |epoch, start, count| epoch && start == 0 && count == 0;
    let first = hunks.first();
    let created = first.is_some_and(|h| absent(names.old_epoch, h.old_start, h.old_count));
    let deleted = first.is_some_and(|h| absent(names.new_epoch, h.new_start, h.new_count));
    let old = names.old.filter(|_| !created);
    let new = names.new.filter(|_| !deleted);
    let change = match (&old, &new) {
        (None, None) => {
            return Err(input.error(ReadErrorKind::BadPath("both names are /dev/null")));
        }
        (None, Some(_)) => Change::Create,
        (Some(_), None) => Change::Delete,
        (Some(_), Some(_)) => Change::Modify,
    };
    Ok(FilePatch {
        old,
        new,
        change,
        old_mode: None,
        new_mode: None,
        strip: None,
        old_blob: None,
        new_blob: None,
        carriage_returns: names.carriage_returns,
        hunks,
        binary: None,
    })
}

/// The `---` and `+++` lines.
struct Names {
    old: Option<String>,
    new: Option<String>,
    old_epoch: bool,
    new_epoch: bool,
    carriage_returns: bool,
}

impl Names {
    fn read(input: &mut Input) -> Located<Names> {
        let carriage_returns = input.peek(0).is_some_and(|line| line.ends_with(b"\r\n"));
        let (old, old_epoch) = name(input, b"--- ")?;
        let (new, new_epoch) = name(input, b"+++ ")?;
        Ok(Names {
            old,
            new,
            old_epoch,
            new_epoch,
            carriage_returns,
        })
    }
}

/// One name, `None` for /dev/null, and whether its date is the epoch's.
fn name(input: &mut Input, word: &[u8]) -> Located<(Option<String>, bool)> {
    let line = input.peek(0).unwrap_or_default();
    let rest = field(line, word).unwrap_or_default();
    let name = path::parse(rest).map_err(|kind| input.error(kind))?;
    let date = rest.splitn(2, |&b| b == b'\t').nth(1).unwrap_or_default();
    let epoch = [
        &b"1970-01-01 "[..],
        b"1969-12-31 ",
        b"Thu Jan  1 ",
        b"Wed Dec 31 ",
    ]
    .iter()
    .any(|start| date.starts_with(start))
        && (date.windows(4).any(|w| w == b"1970") || date.windows(4).any(|w| w == b"1969"));
    input.next();
    Ok((Some(name).filter(|name| name != "/dev/null"), epoch))
}
