//! Finding the place of each hunk, as GNU `patch` does: exact, then at the
//! nearest offset, then with other blanks, then with context trimmed at both
//! ends. Unlike `patch`, a choice between equal places is refused.

use super::Rung;
use super::form::Form;
use super::search::Searched;
use crate::{Hunk, LineKind};

/// How loosely a place may be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Depth {
    /// Context lines that may be left out at each end.
    pub fuzz: usize,
    /// The loosest form in which lines may be compared.
    pub form: Form,
}

impl Depth {
    /// Every line, byte for byte.
    pub(super) const STRICT: Depth = Depth {
        fuzz: 0,
        form: Form::Bytes,
    };
    /// Every line, in any form.
    pub(super) const WHOLE: Depth = Depth {
        fuzz: 0,
        form: Form::Markup,
    };
    /// As far as the ladder goes.
    pub(super) const LAST: Depth = Depth {
        fuzz: 2,
        form: Form::Markup,
    };

    /// How far to look for the reversed hunks of a patch that needed this rung
    /// and fuzz, or found no place.
    pub(super) fn better_than(forward: Option<(Rung, usize)>) -> Depth {
        Depth {
            fuzz: forward.map_or(0, |(_, fuzz)| fuzz.saturating_sub(1)),
            form: match forward {
                Some((Rung::Markup, _)) => Form::Markup,
                None | Some((Rung::Whitespace, _)) => Form::Blanks,
                Some(_) => Form::Bytes,
            },
        }
    }

    /// What to try, in order. A place where all lines stand, in a looser form,
    /// comes before one with lines left out: it tells more.
    fn attempts(self) -> impl Iterator<Item = (Form, usize)> {
        let forms = move || Form::ALL.into_iter().filter(move |form| *form <= self.form);
        let whole = forms().map(|form| (form, 0));
        let fuzzy = move |form| (1..=self.fuzz).map(move |fuzz| (form, fuzz));
        whole.chain(forms().flat_map(fuzzy))
    }
}

/// The places of all hunks of a file.
pub(super) struct Placed {
    pub places: Vec<Place>,
    /// The lowest rung that any hunk needed, with its fuzz.
    pub rung: (Rung, usize),
}

/// A found place: the index of the line at which the untrimmed hunk starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub at: usize,
    pub offset: i64,
    pub fuzz: usize,
    pub form: Form,
    pub trim: Trim,
}

impl Place {
    pub(super) fn rung(&self) -> Rung {
        match (self.form, self.fuzz, self.offset) {
            (Form::Bytes, 0, 0) => Rung::Exact,
            (Form::Bytes, 0, _) => Rung::Offset,
            (Form::Bytes, ..) => Rung::Fuzz,
            (Form::Blanks, ..) => Rung::Whitespace,
            (Form::Markup, ..) => Rung::Markup,
        }
    }
}

/// Lines of context left out at the start and at the end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trim {
    pub start: usize,
    pub end: usize,
}

/// Why a hunk has no place.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Its lines do not stand in the file; they should at this line index.
    NoPlace { expected: i64 },
    /// They stand at several lines (from 1), equally good.
    Ambiguous { lines: Vec<usize>, fuzz: u32 },
    /// Its place can't be checked.
    Unplaceable(&'static str),
}

/// Finds the places of all hunks of a file in order. `exact` says that the file
/// is known to be the one that the patch was made from. An error names the hunk
/// by index.
pub(super) fn all(
    file: &mut Searched,
    hunks: &[Hunk],
    exact: bool,
    depth: Depth,
) -> Result<Placed, (usize, Refusal)> {
    let mut so_far = SoFar::default();
    let mut places = Vec::with_capacity(hunks.len());
    let mut rung = (Rung::Exact, 0);
    let mut stated_floor = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let (start, end) = context(hunk);
        if stated(hunk) + start < stated_floor {
            return Err((index, OUT_OF_ORDER));
        }
        stated_floor = stated(hunk) + hunk.before().count() - end.min(hunk.before().count());
        let place = file
            .place(hunk, &so_far, exact, depth)
            .map_err(|refusal| (index, refusal))?;
        so_far = SoFar {
            // The context at its end may be the start of the next hunk's.
            floor: place.at + hunk.before().count() - context(hunk).1,
            drift: place.offset,
        };
        rung = rung.max((place.rung(), place.fuzz));
        places.push(place);
    }
    Ok(Placed { places, rung })
}

/// Whether the file looks as it should after the patch: the reversed hunks
/// stand in it, and on a better rung than the one the patch itself needed
/// (`None`: it found no place).
pub(super) fn is_applied(
    file: &mut Searched,
    hunks: &[Hunk],
    forward: Option<(Rung, usize)>,
    depth: Depth,
) -> bool {
    if hunks.is_empty() {
        return false;
    }
    let reversed: Vec<Hunk> = hunks.iter().map(Hunk::reversed).collect();
    let Ok(backward) = all(file, &reversed, false, depth) else {
        return false;
    };
    // Context alone, somewhere else, shows little: enough to doubt a place
    // found with fuzz, too little to call a hunk without a place applied.
    let doubtful = forward.is_some_and(|(_, fuzz)| fuzz > 0);
    let adds = |hunk: &Hunk| hunk.lines.iter().any(|line| line.kind == LineKind::Added);
    let telling = backward.rung.0 == Rung::Exact || doubtful || hunks.iter().any(adds);
    telling && forward.is_none_or(|forward| backward.rung < forward)
}

const OUT_OF_ORDER: Refusal = Refusal::Unplaceable(
    "it overlaps the hunk above it or stands before it; put the hunks in the order of their lines",
);

const TOO_MANY: Refusal = Refusal::Unplaceable(
    "too many hunks of this file are not where the patch says, or fit elsewhere, too",
);

/// What the hunks placed so far leave for the next.
#[derive(Default)]
struct SoFar {
    /// Lines of the file that are dealt with.
    floor: usize,
    /// Offset of the last hunk: where the next one is looked for first.
    drift: i64,
}

/// What is looked for in one attempt.
struct Wanted<'a> {
    lines: &'a [&'a [u8]],
    range: Range,
    form: Form,
    fuzz: usize,
    expected: i64,
}

impl Searched<'_> {
    /// Goes down the ladder until a rung holds.
    fn place(
        &mut self,
        hunk: &Hunk,
        so_far: &SoFar,
        exact: bool,
        depth: Depth,
    ) -> Result<Place, Refusal> {
        let stated = stated(hunk);
        let expected = stated as i64 + so_far.drift;
        let pattern: Vec<&[u8]> = hunk.before().collect();
        if pattern.is_empty() {
            return self.place_without_context(stated, so_far, exact);
        }
        let (start, end) = context(hunk);
        let mut doubt = None;
        let attempts = depth.attempts();
        for (form, fuzz) in attempts.filter(|(_, fuzz)| *fuzz <= start.max(end)) {
            let range = Range::of(hunk, fuzz, start, end, pattern.len(), self.lines.len());
            let Some(range) = range else { continue };
            let trim = range.trim;
            if trim.start + trim.end >= pattern.len() {
                continue;
            }
            let lines = &pattern[trim.start..pattern.len() - trim.end];
            let says_something = |line: &&[u8]| line.iter().any(u8::is_ascii_alphanumeric);
            if (fuzz > 0 || form > Form::Bytes) && !lines.iter().any(says_something) {
                continue;
            }
            let wanted = Wanted {
                lines,
                range,
                form,
                fuzz,
                expected,
            };
            match self.nearest(&wanted, so_far.floor) {
                Ok(None) => {}
                // A stricter comparison of fewer lines may tell them apart.
                Err(refusal) if form > Form::Bytes && fuzz == 0 => doubt = doubt.or(Some(refusal)),
                Err(refusal) => return Err(refusal),
                Ok(Some(at)) => {
                    let first = at + trim.start;
                    let twin = match exact {
                        true => None,
                        false => self
                            .twin(&hunk.heading, form, lines, at, first)
                            .ok_or(TOO_MANY)?,
                    };
                    if let Some(twin) = twin {
                        return Err(Refusal::Ambiguous {
                            lines: vec![at + 1, twin + 1],
                            fuzz: fuzz as u32,
                        });
                    }
                    return Ok(Place {
                        at,
                        offset: at as i64 - stated as i64,
                        fuzz,
                        form,
                        trim,
                    });
                }
            }
        }
        Err(doubt.unwrap_or(Refusal::NoPlace { expected }))
    }

    /// A hunk that only inserts and shows no context fits anywhere, so its
    /// line number must be known to be right.
    fn place_without_context(
        &self,
        stated: usize,
        so_far: &SoFar,
        exact: bool,
    ) -> Result<Place, Refusal> {
        let certain = exact || self.lines.is_empty();
        if !certain {
            return Err(Refusal::Unplaceable(
                "it inserts lines without any context, so its place can't be checked; make the \
                 patch with context (`diff -u`)",
            ));
        }
        if stated > self.lines.len() || stated < so_far.floor {
            return Err(Refusal::NoPlace {
                expected: stated as i64,
            });
        }
        Ok(Place {
            at: stated,
            offset: 0,
            fuzz: 0,
            form: Form::Bytes,
            trim: Trim::default(),
        })
    }

    /// The match nearest to the expected index, if one is the best.
    fn nearest(&mut self, wanted: &Wanted, floor: usize) -> Result<Option<usize>, Refusal> {
        let &Wanted {
            lines,
            ref range,
            form,
            fuzz,
            expected,
        } = wanted;
        let allowed = |at: i64| at >= floor as i64 && range.holds(at);
        let trimmed = range.trim.start as i64;
        if allowed(expected) && self.stands_at(form, lines, expected + trimmed) {
            return Ok(usize::try_from(expected).ok());
        }
        if let Some(only) = range.only {
            let fits = allowed(only) && self.stands_at(form, lines, only + trimmed);
            return Ok(usize::try_from(only).ok().filter(|_| fits));
        }
        let found = self.search(form, lines).ok_or(TOO_MANY)?.into_iter();
        let found = found.map(|index| index as i64 - trimmed);
        let found: Vec<i64> = found.filter(|&at| allowed(at)).collect();
        let distance = |at: &i64| (at - expected).abs();
        let Some(best) = found.iter().copied().min_by_key(distance) else {
            return Ok(None);
        };
        // Where less is compared, a second place is a doubt wherever it is.
        let doubt = fuzz > 0 || form == Form::Markup;
        let equal = |at: &&i64| doubt || distance(at) == distance(&best);
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

/// The index of the line at which a hunk says that it starts.
fn stated(hunk: &Hunk) -> usize {
    match hunk.old_count {
        0 => hunk.old_start,
        _ => hunk.old_start.saturating_sub(1),
    }
}

/// Context lines at the start and at the end of a hunk.
pub(super) fn context(hunk: &Hunk) -> (usize, usize) {
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
