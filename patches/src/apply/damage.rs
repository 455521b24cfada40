//! How the blanks of a patch were lost on its way, told from the lines that it
//! shares with the tree's file.

use super::form::{Form, is_blank, split_end};
use crate::LineKind;

/// A line of the patch beside the line of the tree that it stands for, both
/// without their line ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub kind: LineKind,
    pub patch: &'a [u8],
    pub tree: &'a [u8],
}

/// What happened to a patch on its way, as one of its files shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Journey {
    /// To blanks.
    pub blanks: Damage,
    /// `&lt;` stands for `<`.
    pub entities: bool,
}

impl Journey {
    /// What two files of the same patch show.
    pub(super) fn and(self, other: Journey) -> Journey {
        Journey {
            blanks: match self.blanks {
                Damage::None => other.blanks,
                blanks => blanks,
            },
            entities: self.entities || other.entities,
        }
    }
}

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
const RULES: [Damage; 12] = [
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
    /// The rule that explains most of the lines that can tell; `None` where no
    /// line can.
    pub(super) fn of(pairs: &[Pair]) -> Option<Damage> {
        let tells = |pair: &&Pair| {
            let text = pair.tree.trim_ascii_end();
            let has_tab = text.contains(&b'\t') || pair.patch.contains(&b'\t');
            let has_run = text.windows(2).any(|two| two == b"  ") || text.starts_with(b" ");
            (has_tab || has_run) && Form::Blanks.same(pair.patch, pair.tree)
        };
        let telling: Vec<&Pair> = pairs.iter().filter(tells).collect();
        let explained = |rule: &Damage| {
            let explains = |pair: &&&Pair| {
                let made = rule.made_of(pair.tree, pair.kind);
                made.trim_ascii_end() == pair.patch.trim_ascii_end()
            };
            telling.iter().filter(explains).count()
        };
        if telling.is_empty() {
            return None;
        }
        let mut best = (Damage::None, explained(&Damage::None));
        for rule in RULES {
            let count = explained(&rule);
            if count > best.1 {
                best = (rule, count);
            }
        }
        match best {
            (rule, count) if 2 * count >= telling.len() => Some(rule),
            _ => Some(Damage::Unknown),
        }
    }

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

/// A line as the runs of blanks in it and what stands between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    /// Its first byte, and the one after its last.
    pub start: usize,
    pub end: usize,
}

/// The runs of blanks inside a line, without its indentation and its end.
pub(super) fn gaps(line: &[u8]) -> Vec<Gap> {
    let text = split_end(line).0.trim_ascii_end();
    let mut gaps: Vec<Gap> = Vec::new();
    let mut start = None;
    for (index, byte) in text.iter().enumerate().skip(indentation(text).len()) {
        match (is_blank(byte), start) {
            (true, None) => start = Some(index),
            (false, Some(from)) => {
                gaps.push(Gap {
                    start: from,
                    end: index,
                });
                start = None;
            }
            _ => {}
        }
    }
    gaps
}

/// The blanks and tabs that a line starts with.
pub(super) fn indentation(line: &[u8]) -> &[u8] {
    let length = line.iter().take_while(|byte| is_blank(byte)).count();
    &line[..length]
}
