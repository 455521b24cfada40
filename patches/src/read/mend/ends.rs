//! The lines at which a hunk must end: headings, signatures, footers.

use super::row::{Mark, Row};
use super::tally::Counts;
use crate::read::path;

/// Whether a hunk ends here beyond doubt.
pub(super) fn plain_end(rows: &[Row], at: usize) -> bool {
    at >= rows.len() || heading(rows, at) || signature(rows, at) || footer(&rows[at])
}

/// The lines `--- old` and `+++ new`.
pub(super) fn file_names(rows: &[Row], at: usize) -> bool {
    let starts = |ahead: usize, word| rows.get(at + ahead).is_some_and(|r| r.starts_with(word));
    starts(0, b"--- ") && starts(1, b"+++ ")
}

/// The same and a hunk's heading: no two changed lines can be taken for that,
/// where hunks end in context.
pub(super) fn heading_of_plain_file(rows: &[Row], at: usize) -> bool {
    file_names(rows, at) && rows.get(at + 2).is_some_and(|r| r.starts_with(b"@@ -"))
}

/// Whether `--- a/x` and `+++ b/x` name one file, by its last component.
pub(super) fn of_one_file(rows: &[Row], at: usize) -> bool {
    let name = |at: usize| {
        let name = path::parse(rows[at].content().get(4..)?).ok()?;
        let last = name.rsplit('/').next().map(str::to_owned);
        Some((name == "/dev/null", last))
    };
    match (name(at), name(at + 1)) {
        (Some((old_absent, old)), Some((new_absent, new))) => {
            old_absent || new_absent || old == new
        }
        _ => false,
    }
}

/// The heading of a hunk or of a file.
pub(super) fn heading(rows: &[Row], at: usize) -> bool {
    let row = &rows[at];
    if row.starts_with(b"@@ -") {
        return Counts::announced(row).is_some();
    }
    heading_of_plain_file(rows, at) || between_files(rows, at)
}

/// What git, diff, CVS and Subversion write between the diffs of two files. The
/// rest of a wrapped line can begin with the same word, so the line below counts too.
fn between_files(rows: &[Row], at: usize) -> bool {
    let (row, next) = (&rows[at], rows.get(at + 1));
    let next_starts = |word: &[u8]| next.is_some_and(|next| next.starts_with(word));
    let differ = |row: &Row| row.content().ends_with(b" differ");
    let only_in = |row: &Row| row.starts_with(b"Only in ") && row.text.contains(&b':');
    if row.starts_with(b"diff --git ") {
        let mark = next.map_or(Mark::Empty, Row::mark);
        return matches!(mark, Mark::Empty | Mark::Missing) || file_names(rows, at + 1);
    }
    if row.starts_with(b"diff -") {
        return is_command(rows, at) && (file_names(rows, at + 1) || next.is_some_and(differ));
    }
    if let Some(name) = row.content().strip_prefix(b"Index: ") {
        let names = |line: &[u8]| line.ends_with(name.trim_ascii());
        let old = next.and_then(|next| path::parse(next.content().get(4..)?).ok());
        let of_this_file = file_names(rows, at + 1) && old.is_some_and(|old| names(old.as_bytes()));
        let command = next_starts(b"diff -") && next.is_some_and(|next| names(next.content()));
        return next_starts(b"=====") || of_this_file || command;
    }
    (row.starts_with(b"Property changes on: ") && next_starts(b"_____"))
        || only_in(row)
        || (row.starts_with(b"Binary files ") && differ(row))
        || (row.starts_with(b"Files ") && differ(row))
        || row.starts_with(b"Common subdirectories: ")
        || row.starts_with(b"cvs diff: Diffing ")
        || row.starts_with(b"cvs server: Diffing ")
}

/// A `diff -options names` line. It ends with a name that the lines below have too or, as CVS
/// prints it, with a revision; the rest of a wrapped line does not.
fn is_command(rows: &[Row], at: usize) -> bool {
    let last = words(&rows[at]).next_back().unwrap_or_default();
    match last.strip_prefix(b"-") {
        Some(option) => matches!(option, [b'r', b'0'..=b'9', ..]),
        None => {
            let below = rows[at + 1..].iter().take(2);
            below.flat_map(words).any(|word| word == last)
        }
    }
}

/// The words of a line without quotes; of paths the last component.
fn words<'r>(row: &'r Row) -> impl DoubleEndedIterator<Item = &'r [u8]> {
    let words = row.content().split(u8::is_ascii_whitespace);
    let words = words.filter(|word| !word.is_empty());
    words.map(|word| {
        let name = word.rsplit(|&byte| byte == b'/').next().unwrap_or(word);
        let quote = |byte: &u8| matches!(byte, b'"' | b'\'');
        let start = name.iter().take_while(|byte| quote(byte)).count();
        let end = name.iter().rev().take_while(|byte| quote(byte)).count();
        name.get(start..name.len() - end).unwrap_or_default()
    })
}

/// `-- ` and below it a version or a name, or nothing; a removed line `- `
/// has further lines or a heading below it.
pub(super) fn signature(rows: &[Row], at: usize) -> bool {
    if !matches!(rows[at].content(), b"-- " | b"--") {
        return false;
    }
    let empty = |row: &&Row| row.mark() == Mark::Empty;
    let next = at + 1 + rows[at + 1..].iter().take_while(empty).count();
    match rows.get(next) {
        None => next > at + 1 || rows[at].content() == b"-- ",
        Some(row) => row.mark() == Mark::Missing && !heading(rows, next),
    }
}

/// What mailing lists put below a mail.
pub(super) fn footer(row: &Row) -> bool {
    row.starts_with(b"__________")
        || row.starts_with(b"To unsubscribe")
        || row.starts_with(b"-----BEGIN PGP SIGNATURE")
}
