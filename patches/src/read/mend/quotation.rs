//! A diff that is quoted as in a reply.

use std::borrow::Cow;
use std::ops::Range;

use super::rest;
use super::row::Row;
use crate::read::{Located, ReadErrorKind};

/// What stands before quoted lines, in the text and in the source of a web page.
const SIGNS: [&[u8]; 3] = [b">", b"|", b"&gt;"];

/// The deepest quotation that is taken off.
const DEEPEST: usize = 8;

/// The quoted lines, and the sign before them.
pub(super) struct Quotation {
    pub lines: Range<usize>,
    /// Where the description begins that is quoted above them.
    description: usize,
    sign: Vec<u8>,
}

/// Finds a quoted diff.
///
/// # Errors
/// The line of a reply's text between its lines.
pub(super) fn find(rows: &[Row]) -> Located<Option<Quotation>> {
    let start = (0..rows.len()).find_map(|at| Some((at, diff_behind_sign(rows, at)?)));
    let Some((start, sign)) = start else {
        return Ok(None);
    };
    let quoted = |row: &Row| unquoted(row, &sign).is_some();
    let length = rows[start..]
        .iter()
        .rposition(quoted)
        .map_or(0, |at| at + 1);
    let lines = start..start + length;
    let is_text = |row: &&Row| !quoted(row) && !row.text.trim_ascii().is_empty();
    if let Some(reply) = rows[lines.clone()].iter().find(is_text) {
        return Err((reply.number, ReadErrorKind::ReplyText));
    }
    // It may be the rest of the last line, which a mailer wrapped.
    if let Some(below) = rows.get(lines.end)
        && rest::plausible(rows, lines.end)
    {
        return Err((below.number, ReadErrorKind::ReplyText));
    }
    let description = description(&rows[..start], &sign);
    Ok(Some(Quotation {
        lines,
        description,
        sign,
    }))
}

/// Where the description begins that is quoted above a diff: right above it, and
/// whole. It is none where a mailer's line says who wrote it, where it quotes
/// itself, or where the reply left something out.
fn description(above: &[Row], sign: &[u8]) -> usize {
    let mut start = above.len();
    for (at, row) in above.iter().enumerate().rev() {
        let Some(text) = unquoted(row, sign) else {
            break;
        };
        let text = text.trim_ascii();
        let is_cut = [&b"[..."[..], b"[snip", b"..."]
            .iter()
            .any(|mark| text.starts_with(mark));
        if is_cut || text.ends_with(b"wrote:") || SIGNS.iter().any(|sign| text.starts_with(sign)) {
            return above.len();
        }
        start = at;
    }
    start
}

/// Takes the quotation off. What is around it is text of the reply and goes.
pub(super) fn take_off(rows: &mut Vec<Row>, quotation: &Quotation) {
    rows.truncate(quotation.lines.end);
    rows.drain(..quotation.description);
    for row in rows {
        let Some(length) = unquoted(row, &quotation.sign).map(<[u8]>::len) else {
            continue;
        };
        let start = row.text.len() - length;
        row.text = match &row.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
            Cow::Owned(text) => Cow::Owned(text[start..].to_vec()),
        };
    }
}

/// The sign before a line with which a diff begins.
fn diff_behind_sign(rows: &[Row], at: usize) -> Option<Vec<u8>> {
    let line = rows[at].content();
    let length = sign_length(line);
    let (sign, rest) = line.split_at(length);
    if sign.is_empty() {
        return None;
    }
    let below = |word: &[u8]| {
        let next = rows.get(at + 1).and_then(|row| unquoted(row, sign));
        next.is_some_and(|next| next.starts_with(word))
    };
    let begins = rest.starts_with(b"diff --git ")
        || (rest.starts_with(b"--- ") && below(b"+++ "))
        || (rest.starts_with(b"*** ") && below(b"--- "))
        || (rest.starts_with(b"diff -") && below(b"--- "))
        || (rest.starts_with(b"Index: ") && below(b"======"));
    begins.then(|| sign.to_vec())
}

/// The length of `> `, `>`, `> > ` and the like.
fn sign_length(line: &[u8]) -> usize {
    let mut length = 0;
    for _ in 0..DEEPEST {
        let rest = &line[length..];
        let blank = usize::from(rest.starts_with(b" ") && length > 0);
        let Some(sign) = SIGNS.iter().find(|sign| rest[blank..].starts_with(sign)) else {
            break;
        };
        length += blank + sign.len();
    }
    length + usize::from(length > 0 && line[length..].starts_with(b" "))
}

/// The line behind the sign; a line that is only the sign may have lost its last blank.
fn unquoted<'a>(row: &'a Row, sign: &[u8]) -> Option<&'a [u8]> {
    if let Some(rest) = row.text.strip_prefix(sign) {
        return Some(rest);
    }
    let bare = sign.trim_ascii_end();
    let rest = row.text.strip_prefix(bare)?;
    (row.content() == bare).then_some(rest)
}
