//! Where hunks begin and end in a text that may be damaged.

use std::ops::Range;

use super::ends::{
    file_names, footer, heading, heading_of_plain_file, of_one_file, plain_end, signature,
};
use super::rest;
use super::row::{Mark, Row};
use super::tally::Counts;
use crate::read::path;

/// Goes from hunk to hunk.
#[derive(Default)]
pub(super) struct Cursor {
    /// The line it is at.
    pub at: usize,
    /// The file that the hunk is about, as the patch names it, without a date.
    pub path: Option<String>,
    in_file: bool,
    /// The names that come are git's, which have no dates.
    is_git: bool,
}

impl Cursor {
    /// The next heading of a hunk; the cursor then stands on the line after it.
    pub(super) fn next(&mut self, rows: &[Row]) -> Option<Counts> {
        while let Some(row) = rows.get(self.at) {
            if file_names(rows, self.at) {
                let names = [self.at + 1, self.at].into_iter();
                self.path = names
                    .filter_map(|at| self.name(&rows[at]))
                    .find(|name| name != "/dev/null");
                self.in_file = true;
                self.is_git = false;
                self.at += 2;
                continue;
            }
            self.is_git |= row.starts_with(b"diff --git ");
            self.at += 1;
            if self.in_file && row.starts_with(b"@@ -") {
                let counts = Counts::announced(row);
                if counts.is_some() {
                    return counts;
                }
            }
        }
        None
    }

    /// The name on a `---` or `+++` line.
    fn name(&self, row: &Row) -> Option<String> {
        let field = row.content().get(4..)?;
        let name = match self.is_git {
            true => path::parse(field),
            false => path::parse_dated(field).map(|(name, _)| name),
        };
        name.ok()
    }
}

/// What reading a hunk by its own counts finds.
pub(super) enum Exact {
    /// The counts are right; the line after the hunk.
    Whole(usize),
    /// So they are, and lines like context follow, which are text if the hunk has no rest of a
    /// wrapped line that has taken the place of one of them; the line after the hunk.
    Full(usize),
    /// The counts can be satisfied, and yet something there is no line of the
    /// hunk, or a line of it is left over.
    Doubt,
    /// The counts and the lines don't agree.
    Broken,
}

/// Reads the hunk whose lines start at `start` by its counts.
pub(super) fn exact(rows: &[Row], start: usize, counts: Counts) -> Exact {
    let mut left = counts;
    let mut at = start;
    let mut context = false;
    while !left.is_zero() {
        let Some(row) = rows.get(at) else {
            return Exact::Broken;
        };
        // Without context, two lines `-- x` and `++ y` can end a hunk.
        if heading_of_plain_file(rows, at) && (context || of_one_file(rows, at)) {
            return Exact::Doubt;
        }
        let mark = row.mark();
        context |= matches!(mark, Mark::Context | Mark::Empty);
        match left.less(Counts::one(mark)) {
            Some(rest) if mark != Mark::Missing => left = rest,
            _ if row.starts_with(b"\\") => return Exact::Doubt,
            _ => return Exact::Broken,
        }
        at += 1;
    }
    if rows
        .get(at)
        .is_some_and(|row| row.mark() == Mark::NoNewline)
    {
        at += 1;
    }
    let text_below = rows.get(at).is_some_and(|row| row.mark() == Mark::Missing);
    let swallowed = at > start && text_below && signature(rows, at - 1);
    if swallowed
        || rest::tail_follows(rows, at)
        || rest::last_word(rows, at)
        || rows.get(at).is_some_and(backslash)
    {
        return Exact::Doubt;
    }
    further(rows, start, at)
}

fn backslash(row: &Row) -> bool {
    row.content() == b"\\"
}

/// Lines that look like the hunk's own after it is complete. Changed ones show that its counts
/// are wrong, and so does the heading of another hunk below them; others are text, as they are
/// to git and GNU patch.
fn further(rows: &[Row], start: usize, end: usize) -> Exact {
    let blank = |row: &&Row| row.text.trim_ascii().is_empty();
    let is_context = |row: &&Row| row.mark() == Mark::Context;
    let next = end + rows[end..].iter().take_while(is_context).count();
    let blanks = rows[next..].iter().take_while(blank).count();
    if plain_end(rows, next + blanks) || rest::tail_follows(rows, next) {
        // Between two hunks of a file is no text.
        let goes_on = || {
            rows.get(next + blanks)
                .is_some_and(|row| row.starts_with(b"@@ -"))
        };
        if rows[end..next].iter().any(|row| !blank(&row)) && goes_on() {
            return Exact::Doubt;
        }
        let has_rest = || (start..=end).any(|at| rest::looks_like_a_rest(rows, at));
        return match next > end && has_rest() {
            true => Exact::Full(end),
            false => Exact::Whole(end),
        };
    }
    match rows.get(next).map(Row::mark) {
        Some(Mark::Added | Mark::Removed) if !file_names(rows, next) => Exact::Broken,
        _ => Exact::Whole(end),
    }
}

/// What ends the lines of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The heading of another hunk or file.
    Heading,
    /// A mail's signature or a list's footer.
    Signature,
    /// The end of the text.
    Text,
    /// Other text.
    Prose,
}

/// The lines that can belong to a hunk, whatever its counts say.
#[derive(Debug, Clone)]
pub(super) struct Region {
    /// Without empty lines at its end.
    pub body: Range<usize>,
    /// Empty lines that follow.
    pub blanks: usize,
    pub end: End,
}

impl Region {
    /// The region that starts at `start`.
    pub(super) fn find(rows: &[Row], start: usize) -> Region {
        let mut at = start;
        let end = loop {
            if at == rows.len() {
                break End::Text;
            } else if heading(rows, at) {
                break End::Heading;
            } else if signature(rows, at) || footer(&rows[at]) {
                break End::Signature;
            } else if rows[at].mark() == Mark::Missing && !rest::plausible(rows, at) {
                break End::Prose;
            }
            at += 1;
        };
        let blank = |row: &&Row| row.mark() == Mark::Empty;
        let blanks = rows[start..at].iter().rev().take_while(blank).count();
        Region {
            body: start..at - blanks,
            blanks,
            end,
        }
    }
}
