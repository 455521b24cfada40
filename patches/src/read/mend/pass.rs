//! One pass over the hunks of a text, in which each that is damaged is mended
//! in the one way that leaves no doubt.

use std::borrow::Cow;

use super::hunks::{Cursor, Exact, Region, exact};
use super::rest;
use super::row::{Mark, Row};
use super::tally::Counts;
use super::wrapped::{self, Joining};
use super::{context, counts, doubtful_counts};
use crate::read::{Located, ReadErrorKind};
use crate::{Mend, MendKind, Rewrite};

/// Candidates that an error names at most.
const NAMED: usize = 12;

/// Mends the hunks; those for which no mend is found stay as they are.
/// `may_recount`: counts that are wrong may be counted again.
///
/// # Errors
/// The line of a hunk that could be mended in several ways.
pub(super) fn run(rows: &mut Vec<Row>, may_recount: bool) -> Located<Vec<Mend>> {
    let mut pass = Pass {
        wraps: rest::has_wrapped_lines(rows),
        may_recount,
        mends: Vec::new(),
        rows,
    };
    let mut cursor = Cursor::default();
    while let Some(announced) = cursor.next(pass.rows) {
        cursor.at = pass.hunk(&cursor, announced)?;
    }
    let Pass { mends, rows, .. } = pass;
    rows.retain(|row| !row.text.is_empty());
    Ok(mends)
}

struct Pass<'p, 'a> {
    rows: &'p mut Vec<Row<'a>>,
    /// Some line has surely been wrapped.
    wraps: bool,
    may_recount: bool,
    mends: Vec<Mend>,
}

impl Pass<'_, '_> {
    /// Mends the hunk whose lines start at the cursor, and returns where it ends.
    fn hunk(&mut self, cursor: &Cursor, announced: Counts) -> Located<usize> {
        let start = cursor.at;
        let found = exact(self.rows, start, announced);
        if let Exact::Whole(end) = found {
            return Ok(end);
        }
        let region = Region::find(self.rows, start);
        let bare = context::without_blanks(self.rows, start, announced);
        let joining = wrapped::joining(self.rows, &region, announced, self.wraps);
        match (joining, bare) {
            (Joining::Doubt(candidates), _) => Err(self.doubtful(&candidates)),
            (Joining::Tails { tails, .. }, Some(_)) => Err(self.doubtful(&tails)),
            (Joining::Tails { tails, blanks }, None) => {
                self.join(cursor, &tails);
                Ok(region.body.end + blanks)
            }
            (Joining::None, Some((end, bare))) => {
                self.give_blanks(cursor, &bare);
                Ok(end)
            }
            (Joining::None, None) => {
                if let Exact::Full(end) = found {
                    return Ok(end);
                }
                if let Some(end) = self.recount(cursor, &region, announced) {
                    return Ok(end);
                }
                match found {
                    Exact::Doubt => Err((self.rows[start - 1].number, doubtful_counts())),
                    _ => Ok(start),
                }
            }
        }
    }

    fn doubtful(&self, candidates: &[usize]) -> (usize, ReadErrorKind) {
        let line = |at: &usize| self.rows[*at].number;
        let names = candidates.iter().take(NAMED).map(|at| line(at).to_string());
        let mut names = names.collect::<Vec<_>>().join(", ");
        if candidates.len() > NAMED {
            names.push_str(" …");
        }
        let what = format!(
            "a line of its own, or the rest of the line above that a mailer wrapped (lines that \
             can be one: {names}); join the wrapped lines, or put the hunk's counts right"
        );
        let first = candidates.first().map_or(1, line);
        (first, ReadErrorKind::Doubtful(what))
    }

    /// Joins lines to those above them.
    fn join(&mut self, cursor: &Cursor, tails: &[usize]) {
        let mut next = 0;
        while let Some(&first) = tails.get(next) {
            let head = first - 1;
            let was = self.rows[head].content().to_vec();
            let mut tail = first;
            while tails.get(next) == Some(&tail) {
                let text = std::mem::take(&mut self.rows[tail].text);
                let blank: &[u8] = match self.rows[head].content().last() {
                    Some(b' ' | b'\t') => b"",
                    _ => b" ",
                };
                self.rows[head].join(blank, &text);
                (tail, next) = (tail + 1, next + 1);
            }
            let row = &self.rows[head];
            let added = (head >= cursor.at && row.mark() == Mark::Added).then(|| Rewrite {
                was: was[1..].to_vec(),
                now: row.content()[1..].to_vec(),
            });
            let (line, lines) = (row.number, tail - head);
            self.note(cursor, MendKind::Wrapped, line, lines, added);
        }
    }

    fn give_blanks(&mut self, cursor: &Cursor, bare: &[usize]) {
        for &at in bare {
            let row = &mut self.rows[at];
            row.text = Cow::Owned([b" ", &row.text[..]].concat());
        }
        let line = bare.first().map_or(1, |&at| self.rows[at].number);
        self.note(cursor, MendKind::ContextBlank, line, bare.len(), None);
    }

    fn recount(&mut self, cursor: &Cursor, region: &Region, announced: Counts) -> Option<usize> {
        if !self.may_recount {
            return None;
        }
        let lines = counts::lines(self.rows, region, announced)?;
        let counted = Counts::of(&self.rows[lines.clone()]);
        let heading = &mut self.rows[cursor.at - 1];
        heading.text = Cow::Owned(counts::heading(heading, counted)?);
        let line = heading.number;
        self.note(cursor, MendKind::Counts, line, 1, None);
        Some(lines.end)
    }

    fn note(
        &mut self,
        cursor: &Cursor,
        kind: MendKind,
        line: usize,
        lines: usize,
        added: Option<Rewrite>,
    ) {
        self.mends.push(Mend {
            kind,
            path: cursor.path.clone(),
            line,
            lines,
            added,
        });
    }
}
