//! What may happen to the blanks of a patch on its way, and what can be undone.

use super::form::{is_blank, split_end};
use crate::LineKind;

/// What happened to tabs and runs of blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Damage {
    /// Nothing, but perhaps at the ends of lines.
    #[default]
    None,
    /// A tab became this many blanks.
    Each(usize),
    /// A tab became the blanks up to the next multiple of `width`, counted from
    /// column `mark`: 1 where the `+` of the line was counted.
    Stops { width: usize, mark: usize },
    /// A run became one blank, and the one that a line began with …
    Joined(Indent),
    /// No one rule explains it.
    Unknown,
}

/// What a page that joins blanks makes of an indentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Indent {
    /// It joins the blank that marks a context line; changed lines keep one.
    WithMark,
    /// One blank is left of it.
    One,
    /// Nothing is left of it.
    Gone,
}

/// In the order in which they are preferred where they explain the same.
pub(super) const RULES: [Damage; 12] = [
    Damage::None,
    Damage::Stops { width: 8, mark: 0 },
    Damage::Stops { width: 8, mark: 1 },
    Damage::Each(8),
    Damage::Stops { width: 4, mark: 0 },
    Damage::Stops { width: 4, mark: 1 },
    Damage::Each(4),
    Damage::Each(2),
    Damage::Each(1),
    Damage::Joined(Indent::WithMark),
    Damage::Joined(Indent::One),
    Damage::Joined(Indent::Gone),
];

impl Damage {
    /// What it makes of a line, which has no line end.
    pub(super) fn made_of(self, line: &[u8], kind: LineKind) -> Vec<u8> {
        match self {
            Damage::None | Damage::Unknown => line.to_vec(),
            Damage::Each(blanks) => expanded(line, |_| blanks),
            Damage::Stops { width, mark } => {
                expanded(line, |column| width - (column + mark) % width)
            }
            Damage::Joined(indent) => joined(line, indent, kind),
        }
    }

    /// Whether the length of an indentation outlives it.
    pub(super) fn keeps_lengths(self) -> bool {
        matches!(self, Damage::Each(_) | Damage::Stops { .. })
    }

    /// The tabs that a run of blanks may stand for, from one column to another,
    /// and the blanks left after them.
    pub(super) fn undone(self, from: usize, to: usize) -> (usize, usize) {
        match self {
            Damage::Each(blanks) => ((to - from) / blanks, (to - from) % blanks),
            Damage::Stops { width, mark } => {
                let tabs = (to + mark) / width - (from + mark) / width;
                let left = if tabs == 0 {
                    to - from
                } else {
                    (to + mark) % width
                };
                (tabs, left)
            }
            _ => (0, to - from),
        }
    }

    /// Whether an added line that it left like this may have had other blanks.
    pub(super) fn may_have_changed(self, line: &[u8]) -> bool {
        match self {
            Damage::None => false,
            Damage::Each(_) | Damage::Stops { .. } => {
                let is_tab = |run: Gap| self.undone(run.start, run.end).0 > 0;
                runs_of_blanks(line).into_iter().any(is_tab)
            }
            Damage::Joined(Indent::WithMark | Indent::One) => line.iter().any(is_blank),
            // The blanks at its start may be gone without a trace.
            Damage::Joined(Indent::Gone) | Damage::Unknown => !line.is_empty(),
        }
    }

    /// Whether it leaves nothing of an added line's indentation.
    pub(super) fn hides_indentation(self) -> bool {
        matches!(self, Damage::Joined(Indent::Gone) | Damage::Unknown)
    }
}

fn expanded(line: &[u8], blanks_at: impl Fn(usize) -> usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut column = 0;
    for &byte in line {
        // A continuation byte of UTF-8 takes no column.
        let width = match byte {
            b'\t' => blanks_at(column),
            0x80..=0xbf => 0,
            _ => 1,
        };
        match byte {
            b'\t' => out.extend(std::iter::repeat_n(b' ', width)),
            _ => out.push(byte),
        }
        column += width;
    }
    out
}

fn joined(line: &[u8], indent: Indent, kind: LineKind) -> Vec<u8> {
    let text = line.trim_ascii_start();
    let mut out = Vec::with_capacity(line.len());
    let keeps_one = match indent {
        Indent::WithMark => kind != LineKind::Context,
        Indent::One => true,
        Indent::Gone => false,
    };
    if text.len() < line.len() && keeps_one {
        out.push(b' ');
    }
    let mut after_blank = false;
    for &byte in text {
        let blank = is_blank(&byte);
        if !blank {
            out.push(byte);
        } else if !after_blank {
            out.push(b' ');
        }
        after_blank = blank;
    }
    out
}

/// A run of blanks in a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    /// Its first byte, and the one after its last.
    pub start: usize,
    pub end: usize,
}

/// The runs of blanks inside a line, without its indentation and its end.
pub(super) fn gaps(line: &[u8]) -> Vec<Gap> {
    let text = split_end(line).0.trim_ascii_end();
    let mut gaps = runs_of_blanks(text);
    gaps.retain(|gap| gap.start > 0);
    gaps
}

/// All runs of blanks of a line without its line end.
fn runs_of_blanks(line: &[u8]) -> Vec<Gap> {
    let mut runs: Vec<Gap> = Vec::new();
    for (index, _) in line.iter().enumerate().filter(|(_, byte)| is_blank(byte)) {
        match runs.last_mut() {
            Some(last) if last.end == index => last.end += 1,
            _ => runs.push(Gap {
                start: index,
                end: index + 1,
            }),
        }
    }
    runs
}

/// The blanks and tabs that a line starts with.
pub(super) fn indentation(line: &[u8]) -> &[u8] {
    let length = line.iter().take_while(|byte| is_blank(byte)).count();
    &line[..length]
}
