//! The place of one hunk.

use super::range::{Range, Trim, context, stated};
use super::{Depth, Place, Refusal, SoFar};
use crate::Hunk;
use crate::apply::form::Form;
use crate::apply::search::Searched;

const TOO_MANY: Refusal = Refusal::Unplaceable(
    "too many hunks of this file are not where the patch says, or fit elsewhere, too",
);

const ASTRAY: Refusal = Refusal::Unplaceable(
    "its lines stand here with other blanks or with context left out, and in another function \
     than the one that it names behind its second `@@`, which the file has, too",
);

/// What is looked for in one attempt.
struct Wanted<'a> {
    lines: &'a [&'a [u8]],
    range: Range,
    form: Form,
    fuzz: usize,
    /// The index at which the untrimmed hunk should start.
    expected: i64,
}

impl<'a> Wanted<'a> {
    /// The lines of `hunk` in this form with so much fuzz, to be looked for in a file of `file`
    /// lines; `None` where too little is left of it, or it can't stand there.
    fn new(
        hunk: &Hunk,
        pattern: &'a [&'a [u8]],
        (form, fuzz): (Form, usize),
        expected: i64,
        file: usize,
    ) -> Option<Self> {
        let (start, end) = context(hunk);
        if fuzz > start.max(end) {
            return None;
        }
        let range = Range::of(hunk, fuzz, start, end, pattern.len(), file)?;
        let Trim { start, end } = range.trim;
        let lines = pattern.get(start..pattern.len().checked_sub(end)?)?;
        let says_something = |line: &&[u8]| line.iter().any(u8::is_ascii_alphanumeric);
        let wanted = Wanted {
            lines,
            range,
            form,
            fuzz,
            expected,
        };
        let tells = !lines.is_empty() && (!wanted.is_loose() || lines.iter().any(says_something));
        tells.then_some(wanted)
    }

    /// Not every line is compared byte for byte.
    fn is_loose(&self) -> bool {
        self.fuzz > 0 || self.form > Form::Bytes
    }

    /// Both places are as good.
    fn ambiguous(&self, one: usize, other: usize) -> Refusal {
        Refusal::Ambiguous {
            lines: vec![one + 1, other + 1],
            fuzz: self.fuzz as u32,
        }
    }
}

impl Searched<'_> {
    /// Goes down the ladder until a rung holds.
    pub(super) fn place(
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
        let mut doubt = None;
        for attempt in depth.attempts() {
            let file = self.lines.len();
            let Some(wanted) = Wanted::new(hunk, &pattern, attempt, expected, file) else {
                continue;
            };
            match self.nearest(&wanted, so_far.floor) {
                Ok(None) => {}
                // A stricter comparison of fewer lines may tell them apart.
                Err(refusal) if wanted.form > Form::Bytes && wanted.fuzz == 0 => {
                    doubt = doubt.or(Some(refusal));
                }
                Err(refusal) => return Err(refusal),
                Ok(Some(at)) if self.may_stand_folded(&wanted, at, so_far.floor) => {
                    // In the very file it was made from, a hunk stands where it says.
                    if !exact {
                        return Err(wanted.ambiguous(expected as usize, at));
                    }
                }
                Ok(Some(at)) => {
                    if !exact && let Some(twin) = self.twin_of(hunk, &wanted, at)? {
                        return Err(wanted.ambiguous(at, twin));
                    }
                    // Less than all its lines is no reason to change another function.
                    if wanted.is_loose() && self.is_astray_at(hunk, at)? {
                        doubt = doubt.or(Some(ASTRAY));
                        continue;
                    }
                    return Ok(Place {
                        at,
                        offset: at as i64 - stated as i64,
                        fuzz: wanted.fuzz,
                        form: wanted.form,
                        trim: wanted.range.trim,
                    });
                }
            }
        }
        Err(doubt.unwrap_or(Refusal::NoPlace { expected }))
    }

    /// Whether the lines, found elsewhere at `at`, stand where they should but for their tabs.
    fn may_stand_folded(&self, wanted: &Wanted, at: usize, floor: usize) -> bool {
        let expected = wanted.expected;
        wanted.form == Form::Bytes
            && at as i64 != expected
            && expected >= floor as i64
            && self.may_be_folded(wanted.lines, expected + wanted.range.trim.start as i64)
    }

    fn is_astray_at(&mut self, hunk: &Hunk, at: usize) -> Result<bool, Refusal> {
        let end = at + hunk.before().count();
        self.is_astray(&hunk.heading, at, end).ok_or(TOO_MANY)
    }

    fn twin_of(
        &mut self,
        hunk: &Hunk,
        wanted: &Wanted,
        at: usize,
    ) -> Result<Option<usize>, Refusal> {
        let first = at + wanted.range.trim.start;
        self.twin(&hunk.heading, wanted.form, wanted.lines, at, first)
            .ok_or(TOO_MANY)
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
