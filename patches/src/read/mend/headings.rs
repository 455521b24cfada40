//! Headings of files that a mailer wrapped, and signs that a web page wrote as entities.

use std::borrow::Cow;

use super::row::{Mark, Row};
use crate::read::diff;

/// Joins wrapped `diff --git`, `---`, `+++` and `rename` lines; returns the
/// number of each that got its rest back, and of how many lines it was made.
pub(super) fn join(rows: &mut Vec<Row>) -> Vec<(usize, usize)> {
    let mut joined: Vec<(usize, usize)> = Vec::new();
    let mut head = 0;
    for next in 1..rows.len() {
        let Some(between) = wrapped(rows, head, next) else {
            head = next;
            continue;
        };
        let tail = std::mem::take(&mut rows[next].text);
        rows[head].join(between, &tail);
        let number = rows[head].number;
        match joined.last_mut() {
            Some(last) if last.0 == number => last.1 += 1,
            _ => joined.push((number, 2)),
        }
    }
    rows.retain(|row| !row.text.is_empty());
    joined
}

/// What stood between a line and its rest below; `None` where it is whole.
fn wrapped(rows: &[Row], head: usize, next: usize) -> Option<&'static [u8]> {
    let (row, tail) = (&rows[head], &rows[next]);
    if tail.mark() != Mark::Missing {
        return None;
    }
    let follows = |word: &[u8]| rows.get(next + 1).is_some_and(|row| row.starts_with(word));
    let named = (row.starts_with(b"---") && follows(b"+++"))
        || (row.starts_with(b"+++") && follows(b"@@ -") && old_name_above(rows, head));
    let name = row.content().get(3..).unwrap_or_default();
    if named && name.trim_ascii().is_empty() {
        return Some(b" ");
    } else if named && name.starts_with(b" ") {
        // Only a date can follow, and a tab parts it from the name.
        let has_tab = name.contains(&b'\t');
        return Some(if has_tab { b" " } else { b"\t" });
    }
    broken_name(row, tail).then_some(b" ")
}

/// Lines of git's that end in a name.
const NAMES: [&[u8]; 5] = [
    b"diff --git",
    b"rename from",
    b"rename to",
    b"copy from",
    b"copy to",
];

/// Lines that git puts below `diff --git`.
const BELOW_NAMES: [&[u8]; 12] = [
    b"index ",
    b"old mode ",
    b"new mode ",
    b"new file mode ",
    b"deleted file mode ",
    b"similarity index ",
    b"dissimilarity index ",
    b"rename ",
    b"copy ",
    b"diff --git ",
    b"Binary files ",
    b"GIT binary patch",
];

/// Whether a line that names two files has the second of them below it.
fn broken_name(row: &Row, tail: &Row) -> bool {
    if row.starts_with(b"Binary files ") {
        let whole = |row: &Row| row.content().ends_with(b" differ") || row.content() == b"differ";
        return !whole(row) && whole(tail);
    }
    let one_name = |name: &[u8]| !name.is_empty() && !name.contains(&b' ');
    let below = BELOW_NAMES.iter().any(|word| tail.starts_with(word));
    if below || tail.mark() != Mark::Missing || !one_name(tail.content().trim_ascii()) {
        return false;
    }
    let line = row.content().trim_ascii_end();
    let first_name = line.strip_prefix(b"diff --git ");
    NAMES.contains(&line) || first_name.is_some_and(one_name)
}

/// The line of a heading that has lost its second name, and reads without it.
pub(super) fn broken(rows: &[Row]) -> Option<usize> {
    let broken = rows.windows(2).find(|two| broken_name(&two[0], &two[1]));
    broken.map(|two| two[0].number)
}

/// Whether the line above is `--- old`, which may just have got its rest back.
fn old_name_above(rows: &[Row], at: usize) -> bool {
    let above = rows[..at].iter().rev().find(|row| !row.text.is_empty());
    above.is_some_and(|above| above.starts_with(b"--- "))
}

/// Signs before lines, and whole headings, in which a web page wrote
/// characters as entities; returns the lines that had them. What is behind the
/// sign of a hunk's line stays: only the tree can tell what it was.
pub(super) fn decode(rows: &mut [Row]) -> Vec<usize> {
    let mut decoded = Vec::new();
    for at in 0..rows.len() {
        let row = &rows[at];
        let text = if is_heading(rows, at) {
            [&characters(row.content()), &row.text[row.content().len()..]].concat()
        } else if let Some((length, sign @ (b'+' | b'-' | b' ' | b'\\'))) = entity(&row.text) {
            [&[sign], &row.text[length..]].concat()
        } else {
            continue;
        };
        if text != *row.text {
            rows[at].text = Cow::Owned(text);
            decoded.push(rows[at].number);
        }
    }
    decoded
}

/// Whether a line with entities in it is the heading of a hunk or a file.
fn is_heading(rows: &[Row], at: usize) -> bool {
    let starts = |at: Option<usize>, word: &[u8]| {
        let row = at.and_then(|at| rows.get(at));
        row.is_some_and(|row| {
            let head = &row.content()[..row.content().len().min(LONGEST_SIGN)];
            characters(head).starts_with(word)
        })
    };
    if !rows[at].text.contains(&b'&') {
        return false;
    }
    let here = Some(at);
    starts(here, b"diff --git ")
        || (starts(here, b"@@ -") && is_hunk_once_decoded(&rows[at]))
        || (starts(here, b"--- ") && starts(Some(at + 1), b"+++ "))
        || (starts(here, b"+++ ") && starts(at.checked_sub(1), b"--- "))
}

fn is_hunk_once_decoded(row: &Row) -> bool {
    let is_hunk = |line: &[u8]| diff::hunk_header(line).is_some();
    !is_hunk(row.content()) && is_hunk(&characters(row.content()))
}

/// Room for the first word of a heading, with its characters as entities.
const LONGEST_SIGN: usize = 64;

/// A line with its entities decoded.
fn characters(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&first, after)) = rest.split_first() {
        let (length, byte) = entity(rest).unwrap_or((1, first));
        out.push(byte);
        rest = if length == 1 { after } else { &rest[length..] };
    }
    out
}

/// The entity at the start of a text: its length, and the character.
fn entity(text: &[u8]) -> Option<(usize, u8)> {
    const ENTITIES: [(&[u8], u8); 14] = [
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&amp;", b'&'),
        (b"&quot;", b'"'),
        (b"&plus;", b'+'),
        (b"&nbsp;", b' '),
        (b"&#32;", b' '),
        (b"&#34;", b'"'),
        (b"&#43;", b'+'),
        (b"&#45;", b'-'),
        (b"&#64;", b'@'),
        (b"&#92;", b'\\'),
        (b"&#160;", b' '),
        (b"&#x2b;", b'+'),
    ];
    let lower = text[..text.len().min(6)].to_ascii_lowercase();
    let found = ENTITIES.iter().find(|(name, _)| lower.starts_with(name));
    found.map(|&(name, byte)| (name.len(), byte))
}
