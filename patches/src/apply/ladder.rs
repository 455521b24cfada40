//! The ladder: one file's hunks, by the strongest way that holds.

use super::form::Form;
use super::journey::{self, Journey};
use super::place::{self, Depth, Placed, Refusal};
use super::search::Searched;
use super::{AppliedHunk, Rung, loose, merge, write};
use crate::{Hunk, Mend};

/// A file as it is, and what should be done to it.
pub(super) struct Ladder<'a> {
    content: &'a [u8],
    hunks: &'a [Hunk],
    origin: &'a Origin,
    /// What the files of the patch show of its way, once that is known.
    patch: Journey,
    file: Searched<'a>,
}

/// What is known of the file that the patch was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing.
    Unknown,
    /// It is the very file that is there.
    Same,
    /// It is another, with this content.
    Other(Vec<u8>),
}

/// How a file comes out.
pub(super) enum Outcome {
    Patched(Patched),
    /// It already is as the patch makes it: by a merge with the file that the
    /// patch was made from, or by its lines alone.
    Already {
        merged: bool,
    },
}

/// A patched file.
pub(super) struct Patched {
    pub content: Vec<u8>,
    pub hunks: Vec<AppliedHunk>,
    /// What was put right; the path is for the caller to fill in.
    pub mends: Vec<Mend>,
    /// What the file shows of the patch's way.
    pub journey: Journey,
}

impl Patched {
    /// A file that was made as a whole, not hunk by hunk.
    pub(super) fn whole(content: Vec<u8>) -> Self {
        Patched {
            content,
            hunks: Vec::new(),
            mends: Vec::new(),
            journey: Journey::default(),
        }
    }
}

/// Why it does not come out.
pub(super) enum Stop {
    /// The hunk of this index has no place.
    Hunk(usize, Refusal),
    Repository(git2::Error),
}

impl From<git2::Error> for Stop {
    fn from(error: git2::Error) -> Self {
        Stop::Repository(error)
    }
}

impl From<(usize, Refusal)> for Stop {
    fn from((index, refusal): (usize, Refusal)) -> Self {
        Stop::Hunk(index, refusal)
    }
}

impl<'a> Ladder<'a> {
    pub(super) fn new(
        content: &'a [u8],
        hunks: &'a [Hunk],
        origin: &'a Origin,
        patch: Journey,
    ) -> Self {
        let file = Searched::new(content);
        Ladder {
            content,
            hunks,
            origin,
            patch,
            file,
        }
    }

    /// All rungs.
    pub(super) fn climb(&mut self) -> Result<Outcome, Stop> {
        match self.climb_strictly() {
            Err(Stop::Hunk(..)) => {}
            done => return done,
        }
        // Text that does not fit the very file it was made from was damaged
        // on its way: found again there, it can be merged.
        if let Some(outcome) = self.merge(Depth::WHOLE)? {
            return Ok(outcome);
        }
        let placed = self.search(Depth::LAST);
        let rung = placed.as_ref().ok().map(|placed| placed.rung);
        if self.is_applied(rung, Depth::better_than(rung)) {
            return Ok(Outcome::Already { merged: false });
        }
        let placed = placed?;
        Ok(Outcome::Patched(self.patch(&self.file.lines, &placed)?))
    }

    /// The rungs that leave nothing out: exact, offset, merge.
    pub(super) fn climb_strictly(&mut self) -> Result<Outcome, Stop> {
        let merged = self.merge(Depth::STRICT)?;
        let found = self.search(Depth::STRICT);
        let rung = found.as_ref().ok().map(|placed| placed.rung);
        let found = found.and_then(|placed| self.patch(&self.file.lines, &placed));
        match (merged, found) {
            (Some(Outcome::Patched(merged)), Ok(found)) if merged.content == found.content => {
                Ok(Outcome::Patched(found))
            }
            // The merge has seen the whole file, the search a few lines of it.
            (Some(merged), _) => Ok(merged),
            (None, _) if self.is_applied(rung, Depth::STRICT) => {
                Ok(Outcome::Already { merged: false })
            }
            (None, found) => Ok(Outcome::Patched(found?)),
        }
    }

    fn search(&mut self, depth: Depth) -> Result<Placed, (usize, Refusal)> {
        let exact = *self.origin == Origin::Same;
        place::all(&mut self.file, self.hunks, exact, depth)
    }

    /// Whether the file is as the patch makes it, and more surely so than it is
    /// as the patch wants it (`None`: it is not).
    fn is_applied(&mut self, rung: Option<(Rung, usize)>, depth: Depth) -> bool {
        let exact = rung.is_some_and(|(rung, _)| rung == Rung::Exact);
        !exact && place::is_applied(&mut self.file, self.hunks, rung, depth)
    }

    /// The patch put on the file it was made from, and that merged with the
    /// file that is there.
    fn merge(&self, depth: Depth) -> Result<Option<Outcome>, Stop> {
        let Origin::Other(origin) = self.origin else {
            return Ok(None);
        };
        let mut before = Searched::new(origin);
        let Ok(placed) = place::all(&mut before, self.hunks, true, depth) else {
            return Ok(None);
        };
        let Ok(after) = self.patch(&before.lines, &placed) else {
            return Ok(None);
        };
        let Some(content) = merge::three_way(origin, self.content, &after.content)? else {
            return Ok(None);
        };
        if content == self.content {
            return Ok(Some(Outcome::Already { merged: true }));
        }
        let hunks = merge::moved(&after.content, &content, &after.hunks)?;
        let shift = |mend: Mend| moved_mend(mend, &after.hunks, &hunks);
        let mends = after.mends.into_iter().map(shift).collect();
        Ok(Some(Outcome::Patched(Patched {
            content,
            mends,
            hunks,
            journey: after.journey,
        })))
    }

    /// The hunks at their places, with what was lost on the way put right.
    fn patch(&self, lines: &[&[u8]], placed: &Placed) -> Result<Patched, (usize, Refusal)> {
        let loose = placed.places.iter().any(|place| place.form > Form::Bytes);
        let damaged = self.patch.is_damaged() || journey::looks_damaged(self.hunks);
        if !loose && !damaged {
            let written = write::all(lines, self.hunks, &placed.places)?;
            return Ok(Patched {
                hunks: written.hunks,
                ..Patched::whole(written.content)
            });
        }
        let restored = loose::restore(lines, self.hunks, &placed.places, self.patch);
        let written = write::all(lines, &restored.hunks, &placed.places)?;
        Ok(Patched {
            journey: restored.journey,
            mends: restored.mends(&written.hunks),
            content: written.content,
            hunks: written.hunks,
        })
    }
}

/// A mend in the file that the patch was made from, where it is in the merged one.
fn moved_mend(mend: Mend, from: &[AppliedHunk], to: &[AppliedHunk]) -> Mend {
    let hunk = from.partition_point(|hunk| hunk.line <= mend.line);
    let hunk = hunk.saturating_sub(1);
    let (Some(from), Some(to)) = (from.get(hunk), to.get(hunk)) else {
        return mend;
    };
    let line = mend.line as i64 + (to.line as i64 - from.line as i64);
    Mend {
        line: usize::try_from(line).unwrap_or(1),
        ..mend
    }
}
