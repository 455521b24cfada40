//! Where in a file a hunk may stand.

use crate::{Hunk, LineKind};

/// Lines of context left out at the start and at the end.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::apply) struct Trim {
    pub start: usize,
    pub end: usize,
}

/// The index of the line at which a hunk says that it starts.
pub(super) fn stated(hunk: &Hunk) -> usize {
    match hunk.old_count {
        0 => hunk.old_start,
        _ => hunk.old_start.saturating_sub(1),
    }
}

/// Context lines at the start and at the end of a hunk.
pub(in crate::apply) fn context(hunk: &Hunk) -> (usize, usize) {
    let is_context = |line: &&crate::Line| line.kind == LineKind::Context;
    let start = hunk.lines.iter().take_while(is_context).count();
    let end = hunk.lines.iter().rev().take_while(is_context).count();
    (start, end)
}

/// Where a hunk may start at one level of fuzz.
pub(super) struct Range {
    pub(super) trim: Trim,
    /// The largest index.
    max: i64,
    /// The only index, for a hunk at the start or end of its file: less
    /// context at one end means that the file ended there.
    pub(super) only: Option<i64>,
}

impl Range {
    pub(super) fn of(
        hunk: &Hunk,
        fuzz: usize,
        start: usize,
        end: usize,
        pattern: usize,
        file: usize,
    ) -> Option<Range> {
        let most = start.max(end);
        let trim = Trim {
            start: (fuzz + start).saturating_sub(most),
            end: (fuzz + end).saturating_sub(most),
        };
        let at_start = fuzz + start < most && hunk.old_start <= 1;
        let at_end = fuzz + end < most;
        let max = file as i64 - (pattern - trim.end) as i64;
        let last = file as i64 - pattern as i64;
        let only = match (at_start, at_end) {
            (true, true) if last != 0 => return None,
            (true, _) => Some(0),
            (false, true) => Some(last),
            (false, false) => None,
        };
        Some(Range { trim, max, only })
    }

    pub(super) fn holds(&self, at: i64) -> bool {
        at <= self.max && self.only.is_none_or(|only| at == only)
    }
}
