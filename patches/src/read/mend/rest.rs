//! Lines that can be the rest of the line above: a mailer broke that at a blank.

use super::ends::plain_end;
use super::row::{Mark, Row};

/// Mailers break lines that are longer than 72 columns or more; up to this
/// many less may stand there where the line was quoted before.
const NARROWEST: usize = 60;

/// Tabs are this wide.
const TAB: usize = 8;

/// Whether line `at` can be the rest of the one above: with its first word,
/// that one would be too long for a mailer.
pub(super) fn plausible(rows: &[Row], at: usize) -> bool {
    let Some(above) = at.checked_sub(1).map(|above| &rows[above]) else {
        return false;
    };
    let tail = rows[at].content().trim_ascii_start();
    let word = tail.split(|b| b.is_ascii_whitespace()).next();
    let word = word.unwrap_or_default();
    !word.is_empty()
        && !matches!(above.mark(), Mark::Empty | Mark::NoNewline)
        && columns(above.content()) + 1 + columns(word) > NARROWEST
}

/// How wide a line is on a terminal.
fn columns(line: &[u8]) -> usize {
    let width = |columns: usize, &byte: &u8| match byte {
        b'\t' => columns + TAB - columns % TAB,
        // Not the first byte of a character of UTF-8.
        0x80..=0xbf => columns,
        _ => columns + 1,
    };
    line.iter().fold(0, width)
}

/// Whether the last line of a hunk that ends before `at` goes on there.
pub(super) fn tail_follows(rows: &[Row], at: usize) -> bool {
    let mut next = at;
    while !plain_end(rows, next) && rows[next].mark() == Mark::Missing {
        if !plausible(rows, next) {
            return false;
        }
        next += 1;
    }
    next > at
}

/// Whether `--` at the very end of the text may be the last word of the line above, as well as a
/// signature mark that has lost its blank.
pub(super) fn last_word(rows: &[Row], at: usize) -> bool {
    let dashes = rows.get(at).is_some_and(|row| row.content() == b"--");
    dashes && plausible(rows, at) && rows[at + 1..].iter().all(|row| row.mark() == Mark::Empty)
}

/// Whether some line of the text has surely been wrapped: its rest has none of
/// a hunk's marks, and a line of the hunk follows.
pub(super) fn has_wrapped_lines(rows: &[Row]) -> bool {
    (1..rows.len()).any(|at| {
        let marked = |at: usize| {
            let mark = rows.get(at).map(Row::mark);
            matches!(mark, Some(Mark::Context | Mark::Removed | Mark::Added))
        };
        rows[at].mark() == Mark::Missing
            && marked(at - 1)
            && marked(at + 1)
            && plausible(rows, at)
            && !plain_end(rows, at)
    })
}

/// A line with a mark that could be the rest of the line above. A rest begins
/// with a word or, where there were several blanks, with one of them; so nothing
/// that has a tab behind its mark is one. An empty line can be the rest of a
/// line with a blank at its end.
pub(super) fn looks_like_a_rest(rows: &[Row], at: usize) -> bool {
    match rows[at].mark() {
        Mark::Empty => at > 0 && columns(rows[at - 1].content()) > NARROWEST,
        Mark::Context | Mark::Removed | Mark::Added => {
            rows[at].content().get(1) != Some(&b'\t') && plausible(rows, at)
        }
        Mark::NoNewline | Mark::Missing => false,
    }
}
