//! Writing a file with its hunks in their places.

use super::AppliedHunk;
use super::place::{Place, Refusal, context};
use crate::{Hunk, LineKind};

/// A file with its hunks applied.
pub(super) struct Written {
    pub content: Vec<u8>,
    pub hunks: Vec<AppliedHunk>,
}

/// Puts the hunks at their places. Context keeps the bytes of the file. An
/// error names the hunk by index.
pub(super) fn all(
    old: &[&[u8]],
    hunks: &[Hunk],
    places: &[Place],
) -> Result<Written, (usize, Refusal)> {
    let mut out = Output::default();
    for (index, (hunk, place)) in hunks.iter().zip(places).enumerate() {
        out.apply(old, hunk, place)
            .map_err(|refusal| (index, refusal))?;
    }
    out.copy(&old[out.floor..]);
    Ok(Written {
        content: out.content,
        hunks: out.hunks,
    })
}

/// The patched file as far as it is written.
#[derive(Default)]
struct Output {
    content: Vec<u8>,
    /// Lines in `content`.
    written: usize,
    /// Lines of the old file that are dealt with.
    floor: usize,
    hunks: Vec<AppliedHunk>,
    /// A line was put right behind one that has no newline.
    glued: bool,
}

impl Output {
    fn apply(&mut self, old: &[&[u8]], hunk: &Hunk, place: &Place) -> Result<(), Refusal> {
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
        self.hunks.push(AppliedHunk {
            line,
            offset: place.offset,
            fuzz: place.fuzz as u32,
            rung: place.rung(),
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
}
