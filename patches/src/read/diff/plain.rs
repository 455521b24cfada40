//! Files of plain diffs: nothing but two names, then hunks.

use super::names::{Fuller, Names};
use super::{Input, Located, context, hunk};
use crate::read::ReadErrorKind;
use crate::{Change, FilePatch, Hunk};

/// A file patch that starts with `---` and `+++`.
pub(super) fn unified(input: &mut Input, fuller: &Fuller) -> Located<FilePatch> {
    let names = Names::read(input, [b"--- ", b"+++ "], Some(fuller))?;
    if !input.starts_with(0, b"@@ -") {
        return Err(input.expected("a hunk, `@@ -line,count +line,count @@`"));
    }
    let hunks = hunk::all(input, names.carriage_returns)?;
    file(input, names, hunks)
}

/// A file patch that starts with `***` and `---`.
pub(super) fn context(input: &mut Input, fuller: &Fuller) -> Located<FilePatch> {
    let names = Names::read(input, [b"*** ", b"--- "], Some(fuller))?;
    let hunks = context::all(input, names.carriage_returns)?;
    file(input, names, hunks)
}

fn file(input: &Input, names: Names, hunks: Vec<Hunk>) -> Located<FilePatch> {
    // Diffs without /dev/null show an absent file by a date of 1970.
    let absent = |epoch, start, count| epoch && start == 0 && count == 0;
    let first = hunks.first();
    let created = first.is_some_and(|h| absent(names.old_absent, h.old_start, h.old_count));
    let deleted = first.is_some_and(|h| absent(names.new_absent, h.new_start, h.new_count));
    let (old, new) = match (names.old, names.new) {
        (Some(old), Some(new)) if created => (None, Some(shorter(new, old))),
        (Some(old), Some(new)) if deleted => (Some(shorter(old, new)), None),
        names => names,
    };
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

/// Of `sys.orig/x.c` and `sys/x.c`, the tree has the shorter one (GNU patch's rule).
fn shorter(own: String, other: String) -> String {
    if other.len() < own.len() { other } else { own }
}

/// What `diff` prints without `-u` and `-c`: `12,13c12` above `< old` and `> new`.
pub(super) fn starts_normal_diff(input: &Input) -> bool {
    let line = input.peek(0).unwrap_or_default().trim_ascii_end();
    let is_range = |range: &[u8]| {
        let mut numbers = range.splitn(2, |&b| b == b',');
        numbers.all(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
    };
    // Two ranges of two numbers; a longer line is none.
    let command = line.iter().take(64).position(u8::is_ascii_alphabetic);
    let Some(at) = command.filter(|_| line.len() <= 64) else {
        return false;
    };
    let marks: &[&[u8]] = match line[at] {
        b'a' => &[b"> "],
        b'c' | b'd' => &[b"< "],
        _ => return false,
    };
    is_range(&line[..at])
        && is_range(&line[at + 1..])
        && marks.iter().any(|mark| input.starts_with(1, mark))
}
