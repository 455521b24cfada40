//! Context lines that have lost the blank before them.

use super::ends::{plain_end, signature};
use super::row::{Mark, Row};
use super::tally::Counts;

/// The end of a hunk all of whose context lines have lost their blank, as some
/// archives strip it, and the lines that have to get it back. `None` where the
/// counts don't match exactly then, or one line has kept its blank.
pub(super) fn without_blanks(
    rows: &[Row],
    start: usize,
    announced: Counts,
) -> Option<(usize, Vec<usize>)> {
    let mut left = announced;
    let mut at = start;
    let mut bare = Vec::new();
    while !left.is_zero() {
        if plain_end(rows, at) || signature(rows, at) {
            return None;
        }
        let mark = match rows[at].mark() {
            Mark::Context => return None,
            Mark::Missing => {
                bare.push(at);
                Mark::Context
            }
            mark => mark,
        };
        left = left.less(Counts::one(mark))?;
        at += 1;
    }
    if rows
        .get(at)
        .is_some_and(|row| row.mark() == Mark::NoNewline)
    {
        at += 1;
    }
    let ends = plain_end(rows, at) || rows[at].mark() == Mark::Empty;
    (ends && !bare.is_empty()).then_some((at, bare))
}
