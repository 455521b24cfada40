//! Where a hunk that failed would fit best, for the person who has to mend it.

use std::collections::HashMap;

use super::error::{HunkFailure, ShownLine};
use crate::Hunk;
use crate::text::{lines, shown};

/// A line that stands more often than this (a blank one, a brace) says little
/// about the place, and would cost too much.
const TOO_COMMON: usize = 64;

/// What the hunk expects beside what stands at the nearest place, the one with
/// most lines in common. The caller fills in the names.
pub(super) fn show(content: &[u8], hunk: &Hunk, expected: i64) -> HunkFailure {
    let file = lines(content);
    let pattern: Vec<&[u8]> = hunk.before().collect();
    let at = nearest(&file, &pattern, expected);
    let there = |index: usize| {
        let index = usize::try_from(at + index as i64).ok()?;
        file.get(index).copied()
    };
    let same = |index: usize| there(index) == Some(pattern[index]);
    let expected = (0..pattern.len()).map(|index| ShownLine {
        number: hunk.old_start + index,
        text: shown(pattern[index]),
        same: same(index),
    });
    let found = (0..pattern.len()).filter_map(|index| {
        Some(ShownLine {
            number: usize::try_from(at + 1 + index as i64).unwrap_or_default(),
            text: shown(there(index)?),
            same: same(index),
        })
    });
    HunkFailure {
        patch: String::new(),
        path: String::new(),
        hunk: 0,
        hunks: 0,
        line: hunk.old_start,
        heading: shown(hunk.heading.as_bytes()),
        expected: expected.collect(),
        found: found.collect(),
        file_lines: file.len(),
    }
}

/// Every line of the pattern votes for the starts that its equals in the file
/// would give; most votes win, then the smallest distance. An index before the
/// file is possible: its start may be what has changed.
fn nearest(file: &[&[u8]], pattern: &[&[u8]], expected: i64) -> i64 {
    let wanted: std::collections::HashSet<&[u8]> = pattern.iter().copied().collect();
    let mut places: HashMap<&[u8], Vec<i64>> = HashMap::new();
    for (index, line) in file.iter().enumerate() {
        if wanted.contains(line) {
            places.entry(line).or_default().push(index as i64);
        }
    }
    places.retain(|_, places| places.len() <= TOO_COMMON);
    let mut votes: HashMap<i64, usize> = HashMap::new();
    for (index, line) in pattern.iter().enumerate() {
        for place in places.get(line).into_iter().flatten() {
            *votes.entry(place - index as i64).or_default() += 1;
        }
    }
    let best = votes
        .into_iter()
        .max_by_key(|&(at, votes)| (votes, -(at - expected).abs(), at));
    let clamped = expected.clamp(0, file.len() as i64);
    best.map_or(clamped, |(at, _)| at)
}
