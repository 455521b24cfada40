//! Blanks that a web page made non-breaking.

use std::borrow::Cow;

use super::row::{Mark, Row};
use crate::Rewrite;

/// U+00A0 in UTF-8.
const BLANK: &[u8] = b"\xc2\xa0";

/// A line that was changed: its number, and what became of it if the patch adds it.
pub(super) type Changed = (usize, Option<Rewrite>);

/// Puts blanks for non-breaking ones in a diff of which a line begins with
/// one, or a heading has one: then they are everywhere, and no part of the code.
pub(super) fn put_right(rows: &mut [Row]) -> Vec<Changed> {
    // Above the diff is the description, which may have any.
    let Some(start) = rows.iter().position(begins_diff) else {
        return Vec::new();
    };
    let diff = &mut rows[start..];
    if !diff.iter().any(is_damaged) {
        return Vec::new();
    }
    let damaged = diff.iter_mut().filter(|row| has_blank(&row.text));
    damaged.map(put_right_row).collect()
}

fn put_right_row(row: &mut Row) -> Changed {
    let was = row.content().to_vec();
    row.text = Cow::Owned(with_blanks(&row.text));
    let is_added = row.mark() == Mark::Added && !row.starts_with(b"+++ ");
    let added = is_added.then(|| Rewrite {
        was: was[1..].to_vec(),
        now: row.content()[1..].to_vec(),
    });
    (row.number, added)
}

fn begins_diff(row: &Row) -> bool {
    let words: [&[u8]; 3] = [b"--- ", b"diff -", b"Index: "];
    let head = with_blanks(&row.text[..row.text.len().min(16)]);
    words.iter().any(|word| head.starts_with(word))
}

fn has_blank(text: &[u8]) -> bool {
    text.windows(2).any(|two| two == BLANK)
}

fn is_damaged(row: &Row) -> bool {
    let words: [&[u8]; 4] = [b"---", b"+++", b"@@", b"diff"];
    row.starts_with(BLANK)
        || words.iter().any(|word| {
            let rest = row.text.strip_prefix(*word);
            rest.is_some_and(|rest| rest.starts_with(BLANK))
        })
}

fn with_blanks(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        match rest.strip_prefix(BLANK) {
            Some(behind) => {
                out.push(b' ');
                rest = behind;
            }
            None => {
                out.push(first);
                rest = after;
            }
        }
    }
    out
}
