//! Headings of files that a mailer wrapped, and signs that a web page wrote as entities.

use std::borrow::Cow;

use super::row::{Mark, Row};
use crate::read::{diff, path};

/// Joins wrapped `diff --git`, `---` and `+++` lines; returns those that got
/// their rest back.
pub(super) fn join(rows: &mut Vec<Row>) -> Vec<usize> {
    let mut joined = Vec::new();
    for at in 0..rows.len().saturating_sub(1) {
        let Some(between) = wrapped(rows, at) else {
            continue;
        };
        let tail = std::mem::take(&mut rows[at + 1].text);
        rows[at].join(between, &tail);
        joined.push(rows[at].number);
    }
    rows.retain(|row| !row.text.is_empty());
    joined
}

/// What stood between this line and its rest below; `None` where it is whole.
fn wrapped(rows: &[Row], at: usize) -> Option<&'static [u8]> {
    let (row, tail) = (&rows[at], &rows[at + 1]);
    if tail.mark() != Mark::Missing {
        return None;
    }
    let follows = |word: &[u8]| rows.get(at + 2).is_some_and(|next| next.starts_with(word));
    let named = (row.starts_with(b"--- ") && follows(b"+++ "))
        || (row.starts_with(b"+++ ") && follows(b"@@ -") && old_name_above(rows, at));
    if named {
        // Only a date can follow, and a tab parts it from the name.
        let has_tab = row.content().contains(&b'\t');
        return Some(if has_tab { b" " } else { b"\t" });
    }
    let names = diff::field(&row.text, b"diff --git ")?;
    let mut whole = names.to_vec();
    whole.push(b' ');
    whole.extend_from_slice(tail.content());
    let pair = |names: &[u8]| path::parse_pair(names).ok().flatten();
    (pair(names).is_none() && pair(&whole).is_some()).then_some(b" ")
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
