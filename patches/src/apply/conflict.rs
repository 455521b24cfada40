//! A hunk that has no place, beside the nearest one in the tree.

use std::fmt;

use crate::text::shown;

/// Lines of each part shown at most.
const SHOWN: usize = 24;

/// A hunk without a place, and the nearest place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct HunkFailure {
    /// The patch.
    pub patch: String,
    /// The path.
    pub path: String,
    /// The hunk, from 1.
    pub hunk: usize,
    /// Hunks that the patch has for this file.
    pub hunks: usize,
    /// The line at which the patch says it stands, from 1.
    pub line: usize,
    /// What the hunk has after `@@`, most often a function.
    pub heading: String,
    /// The lines that the patch expects.
    pub expected: Vec<ShownLine>,
    /// What stands at the nearest place; empty where the file ends before it.
    pub found: Vec<ShownLine>,
    /// Lines of the file.
    pub file_lines: usize,
}

/// A line of the display, fit for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownLine {
    /// Its number in the patch's or in the tree's file, from 1.
    pub number: usize,
    /// The line.
    pub text: String,
    /// The other part has the same line, but perhaps for blanks.
    pub same: bool,
}

impl fmt::Display for HunkFailure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (patch, path) = (&self.patch, shown(self.path.as_bytes()));
        let (hunk, hunks, line) = (self.hunk, self.hunks, self.line);
        write!(
            f,
            "{patch}: hunk {hunk} of {hunks} does not apply to {path} at line {line}"
        )?;
        if !self.heading.is_empty() {
            write!(f, " ({})", self.heading)?;
        }
        write!(f, "\n  the patch expects:")?;
        part(f, &self.expected)?;
        let same = self.expected.iter().filter(|line| line.same).count();
        match (self.found.first(), same) {
            (None, _) => write!(f, "\n  the tree's file ends at line {}", self.file_lines),
            (Some(_), 0) => {
                write!(
                    f,
                    "\n  the tree has none of these lines together; at that place stands:"
                )?;
                part(f, &self.found)
            }
            (Some(first), same) => {
                let (line, of) = (first.number, self.expected.len());
                write!(
                    f,
                    "\n  the tree has, at line {line} ({same} of {of} lines the same):"
                )?;
                part(f, &self.found)
            }
        }
    }
}

/// Lines with numbers, those that differ marked with `!`.
fn part(f: &mut fmt::Formatter, lines: &[ShownLine]) -> fmt::Result {
    // A long hunk is shown from just before its first difference.
    let differs = lines.iter().position(|line| !line.same).unwrap_or(0);
    let from = differs
        .saturating_sub(3)
        .min(lines.len().saturating_sub(SHOWN));
    if from > 0 {
        write!(f, "\n        … {from} lines that are the same")?;
    }
    for line in lines.iter().skip(from).take(SHOWN) {
        let mark = if line.same { ' ' } else { '!' };
        let text = format!("{:>8} {mark} {}", line.number, line.text);
        write!(f, "\n{}", text.trim_end())?;
    }
    match lines.len().saturating_sub(from + SHOWN) {
        0 => Ok(()),
        more => write!(f, "\n        … and {more} more"),
    }
}
