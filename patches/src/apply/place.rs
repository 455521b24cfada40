//! Finding the place of each hunk, as GNU `patch` does: exact, then at the
//! nearest offset, then with context trimmed at both ends. Unlike `patch`, a
//! choice between equal places is refused.

use super::search::Searched;
use super::{AppliedHunk, Rung};
use crate::{Hunk, LineKind};

/// Context lines that may be left out at each end.
pub(super) const MAX_FUZZ: usize = 2;

/// A file with its hunks applied.
pub(super) struct Done {
    pub content: Vec<u8>,
    pub hunks: Vec<AppliedHunk>,
    /// The lowest rung that any hunk needed, with its fuzz.
    pub rung: (Rung, usize),
}

/// Why a hunk has no place.
pub(super) enum Refusal {
    /// Its lines do not stand in the file; they should at this line index.
    NoPlace { expected: i64 },
    /// They stand at several lines (from 1), equally good.
    Ambiguous { lines: Vec<usize>, fuzz: u32 },
    /// Its place can't be checked.
    Unplaceable(&'static str),
}

/// Applies all hunks of a file in order. `exact` says that the file is known
/// to be the one that the patch was made from. An error names the hunk by index.
pub(super) fn all(
    content: &[u8],
    hunks: &[Hunk],
    exact: bool,
    max_fuzz: usize,
) -> Result<Done, (usize, Refusal)> {
    let mut file = Searched::new(content);
    let mut out = Output::default();
    for (index, hunk) in hunks.iter().enumerate() {
        let place = file
            .place(hunk, &out, exact, max_fuzz)
            .map_err(|refusal| (index, refusal))?;
        out.apply(&file.lines, hunk, place)
            .map_err(|refusal| (index, refusal))?;
    }
    Ok(out.finish(&file.lines))
}

/// Whether the file looks as it should after the patch: the reversed hunks
/// stand in it, and on a better rung than the one the patch itself needed
/// (`None`: it found no place).
pub(super) fn is_applied(content: &[u8], hunks: &[Hunk], forward: Option<(Rung, usize)>) -> bool {
    if hunks.is_empty() {
        return false;
    }
    let reversed: Vec<Hunk> = hunks.iter().map(Hunk::reversed).collect();
    let (fuzz, doubtful) = match forward {
        Some((Rung::Fuzz, fuzz)) => (fuzz.saturating_sub(1), true),
        _ => (0, false),
    };
    let Ok(backward) = all(content, &reversed, false, fuzz) else {
        return false;
    };
    // Context alone, somewhere else, shows little: enough to doubt a place
    // found with fuzz, too little to call a hunk without a place applied.
    let adds = |hunk: &Hunk| hunk.lines.iter().any(|line| line.kind == LineKind::Added);
    let telling = backward.rung.0 == Rung::Exact || doubtful || hunks.iter().any(adds);
    telling && forward.is_none_or(|forward| backward.rung < forward)
}

const TOO_MANY: Refusal =
    Refusal::Unplaceable("too many hunks of this file are not where the patch says");

/// A found place: the index of the line at which the untrimmed hunk starts.
#[derive(Debug, Clone, Copy)]
struct Place {
    at: usize,
    offset: i64,
    fuzz: usize,
    trim: Trim,
}

/// Lines of context left out at the start and at the end.
#[derive(Debug, Clone, Copy, Default)]
struct Trim {
    start: usize,
    end: usize,
}

/// The patched file as far as it is written.
#[derive(Default)]
struct Output {
    content: Vec<u8>,
    /// Lines in `content`.
    written: usize,
    /// Lines of the old file that are dealt with.
    floor: usize,
    /// Offset of the last hunk: where the next one is looked for first.
    drift: i64,
    hunks: Vec<AppliedHunk>,
    rung: Option<(Rung, usize)>,
    /// A line was put right behind one that has no newline.
    glued: bool,
}

impl Output {
    fn apply(&mut self, old: &[&[u8]], hunk: &Hunk, place: Place) -> Result<(), Refusal> {
        let first = place.at + place.trim.start;
        self.copy(&old[self.floor..first]);
        let line = (self.written + 1).saturating_sub(place.trim.start);
        self.floor = first;
        // The context at its end may be the start of the next hunk's.
        let end = hunk.lines.len() - context(hunk).1;
        for line in hunk.lines.iter().take(end).skip(place.trim.start) {
            match line.kind {
                LineKind::Removed => self.floor += 1,
                LineKind::Context => {
                    self.copy(&old[self.floor..=self.floor]);
                    self.floor += 1;
                }
                LineKind::Added => self.copy(&[&line.bytes]),
            }
        }
        let open_end = self.content.last().is_some_and(|&b| b != b'\n');
        if self.glued || (open_end && self.floor < old.len()) {
            return Err(Refusal::Unplaceable(
                "it ends the file without a newline, but stands before its end",
            ));
        }
        self.drift = place.offset;
        let rung = match (place.fuzz, place.offset) {
            (0, 0) => Rung::Exact,
            (0, _) => Rung::Offset,
            _ => Rung::Fuzz,
        };
        self.rung = self.rung.max(Some((rung, place.fuzz)));
        self.hunks.push(AppliedHunk {
            line,
            offset: place.offset,
            fuzz: place.fuzz as u32,
            rung,
        });
        Ok(())
    }

    fn copy(&mut self, lines: &[&[u8]]) {
        self.written += lines.len();
        for line in lines {
            self.glued |= self.content.last().is_some_and(|&b| b != b'\n');
            self.content.extend_from_slice(line);
        }
    }

    fn finish(mut self, old: &[&[u8]]) -> Done {
        self.copy(&old[self.floor..]);
        Done {
            content: self.content,
            hunks: self.hunks,
            rung: self.rung.unwrap_or((Rung::Exact, 0)),
        }
    }
}

impl Searched<'_> {
    /// Goes down the ladder until a rung holds.
    fn place(
        &mut self,
        hunk: &Hunk,
        out: &Output,
        exact: bool,
        max_fuzz: usize,
    ) -> Result<Place, Refusal> {
        let stated = match hunk.old_count {
            0 => hunk.old_start,
            _ => hunk.old_start.saturating_sub(1),
        };
        let expected = stated as i64 + out.drift;
        let pattern: Vec<&[u8]> = hunk.before().collect();
        if pattern.is_empty() {
            return self.place_without_context(stated, out, exact);
        }
        let (start, end) = context(hunk);
        for fuzz in 0..=max_fuzz.min(start.max(end)) {
            let range = Range::of(hunk, fuzz, start, end, pattern.len(), self.lines.len());
            let Some(range) = range else { continue };
            if range.trim.start + range.trim.end >= pattern.len() {
                break;
            }
            let trimmed = &pattern[range.trim.start..pattern.len() - range.trim.end];
            let says_something = |line: &&[u8]| line.iter().any(u8::is_ascii_alphanumeric);
            if fuzz > 0 && !trimmed.iter().any(says_something) {
                break;
            }
            if let Some(at) = self.nearest(trimmed, &range, expected, out.floor, fuzz)? {
                return Ok(Place {
                    at,
                    offset: at as i64 - stated as i64,
                    fuzz,
                    trim: range.trim,
                });
            }
        }
        Err(Refusal::NoPlace { expected })
    }

    /// A hunk that only inserts and shows no context fits anywhere, so its
    /// line number must be known to be right.
    fn place_without_context(
        &self,
        stated: usize,
        out: &Output,
        exact: bool,
    ) -> Result<Place, Refusal> {
        let certain = exact || self.lines.is_empty();
        if !certain {
            return Err(Refusal::Unplaceable(
                "it inserts lines without any context, so its place can't be checked; make the \
                 patch with context (`diff -u`)",
            ));
        }
        if stated > self.lines.len() || stated < out.floor {
            return Err(Refusal::NoPlace {
                expected: stated as i64,
            });
        }
        Ok(Place {
            at: stated,
            offset: 0,
            fuzz: 0,
            trim: Trim::default(),
        })
    }

    /// The match nearest to the expected index, if one is the best.
    fn nearest(
        &mut self,
        trimmed: &[&[u8]],
        range: &Range,
        expected: i64,
        floor: usize,
        fuzz: usize,
    ) -> Result<Option<usize>, Refusal> {
        let allowed = |at: i64| at >= floor as i64 && range.holds(at);
        let first = expected + range.trim.start as i64;
        if allowed(expected) && self.stands_at(trimmed, first) {
            return Ok(usize::try_from(expected).ok());
        }
        if let Some(only) = range.only {
            let first = only + range.trim.start as i64;
            let fits = allowed(only) && self.stands_at(trimmed, first);
            return Ok(usize::try_from(only).ok().filter(|_| fits));
        }
        let found = self.search(trimmed).ok_or(TOO_MANY)?.into_iter();
        let found = found.map(|index| index as i64 - range.trim.start as i64);
        let found: Vec<i64> = found.filter(|&at| allowed(at)).collect();
        let distance = |at: &i64| (at - expected).abs();
        let Some(best) = found.iter().copied().min_by_key(distance) else {
            return Ok(None);
        };
        let equal = |at: &&i64| fuzz > 0 || distance(at) == distance(&best);
        let rivals: Vec<usize> = found
            .iter()
            .filter(equal)
            .map(|&at| at as usize + 1)
            .collect();
        if rivals.len() > 1 {
            return Err(Refusal::Ambiguous {
                lines: rivals,
                fuzz: fuzz as u32,
            });
        }
        Ok(usize::try_from(best).ok())
    }
}

/// Context lines at the start and at the end of a hunk.
fn context(hunk: &Hunk) -> (usize, usize) {
    let is_context = |line: &&crate::Line| line.kind == LineKind::Context;
    let start = hunk.lines.iter().take_while(is_context).count();
    let end = hunk.lines.iter().rev().take_while(is_context).count();
    (start, end)
}

/// Where a hunk may start at one level of fuzz.
struct Range {
    trim: Trim,
    /// The largest index.
    max: i64,
    /// The only index, for a hunk at the start or end of its file: less
    /// context at one end means that the file ended there.
    only: Option<i64>,
}

impl Range {
    fn of(
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

    fn holds(&self, at: i64) -> bool {
        at <= self.max && self.only.is_none_or(|only| at == only)
    }
}
