//! Finding the place of each hunk, as GNU `patch` does: exact, then at the
//! nearest offset, then with other blanks, then with context trimmed at both
//! ends. Unlike `patch`, a choice between equal places is refused.

mod one;
mod range;

use super::Rung;
use super::form::Form;
use super::search::Searched;
use crate::{Hunk, LineKind};
use range::stated;

pub(super) use range::{Trim, context};

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
    for (index, hunk) in hunks.iter().enumerate() {
        let place = so_far.next(file, hunk, exact, depth);
        let place = place.map_err(|refusal| (index, refusal))?;
        rung = rung.max((place.rung(), place.fuzz));
        places.push(place);
    }
    Ok(Placed { places, rung })
}

/// All hunks of a file that have no place, `most` at most, by index: each is looked
/// for as if those that failed above it were not there.
pub(super) fn failing(
    file: &mut Searched,
    hunks: &[Hunk],
    exact: bool,
    depth: Depth,
    most: usize,
) -> Vec<(usize, Refusal)> {
    let mut so_far = SoFar::default();
    let hunks = hunks.iter().enumerate();
    let failed = hunks.filter_map(|(index, hunk)| {
        let place = so_far.next(file, hunk, exact, depth);
        place.err().map(|refusal| (index, refusal))
    });
    failed.take(most).collect()
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

/// What the hunks placed so far leave for the next.
#[derive(Default)]
struct SoFar {
    /// Lines of the file that are dealt with.
    floor: usize,
    /// Offset of the last hunk: where the next one is looked for first.
    drift: i64,
    /// Lines of the file that the patch was made from which are dealt with.
    stated_floor: usize,
}

impl SoFar {
    /// The place of the next hunk.
    fn next(
        &mut self,
        file: &mut Searched,
        hunk: &Hunk,
        exact: bool,
        depth: Depth,
    ) -> Result<Place, Refusal> {
        let (start, end) = context(hunk);
        if stated(hunk) + start < self.stated_floor {
            return Err(OUT_OF_ORDER);
        }
        let before = hunk.before().count();
        self.stated_floor = stated(hunk) + before - end.min(before);
        let place = file.place(hunk, self, exact, depth)?;
        // The context at its end may be the start of the next hunk's.
        self.floor = place.at + before - end;
        self.drift = place.offset;
        Ok(place)
    }
}
