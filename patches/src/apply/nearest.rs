//! Where a hunk that failed would fit best, for the person who has to mend it.

use std::collections::{HashMap, HashSet};

use super::conflict::{HunkFailure, ShownLine};
use super::form::Form;
use crate::Hunk;
use crate::text::{lines, shown};

/// A line that stands more often than this (a blank one, a brace) says little
/// about the place, and would cost too much.
const TOO_COMMON: usize = 64;

/// Hunks of more lines are laid beside the file line by line, others with the
/// lines that the tree has more or less.
const MOST_ALIGNED: usize = 300;

/// Lines that the tree may have more between those of the hunk.
const SLACK: usize = 12;

/// What the hunk expects beside what stands at the nearest place, the one with
/// most lines in common. The caller fills in the names.
pub(super) fn show(content: &[u8], hunk: &Hunk, expected: i64) -> HunkFailure {
    let file = lines(content);
    let keys = |lines: &[&'_ [u8]]| -> Vec<Vec<u8>> {
        lines
            .iter()
            .map(|line| Form::Blanks.key(line).into_owned())
            .collect()
    };
    let pattern: Vec<&[u8]> = hunk.before().collect();
    let (pattern_keys, file_keys) = (keys(&pattern), keys(&file));
    let at = nearest(&file_keys, &pattern_keys, expected);
    let first = usize::try_from(at).unwrap_or(0).min(file.len());
    let last = usize::try_from(at + pattern.len() as i64).unwrap_or(0);
    let pairs = match pattern.len() <= MOST_ALIGNED {
        true => {
            let last = (last + SLACK).min(file.len());
            common(&pattern_keys, &file_keys[first..last.max(first)], first)
        }
        false => side_by_side(&pattern_keys, &file_keys, at),
    };
    // As much of the file as the hunk covers, before and after what they share.
    let (start, end) = match (pairs.first(), pairs.last()) {
        (Some(head), Some(tail)) => (
            head.1.saturating_sub(head.0),
            tail.1 + pattern.len() - tail.0,
        ),
        _ => (first, last),
    };
    let end = end.min(file.len());
    let in_pattern: HashSet<usize> = pairs.iter().map(|pair| pair.0).collect();
    let in_file: HashSet<usize> = pairs.iter().map(|pair| pair.1).collect();
    let expected = pattern.iter().enumerate().map(|(index, line)| ShownLine {
        number: hunk.old_start + index,
        text: shown(line),
        same: in_pattern.contains(&index),
    });
    let found = (start..end.max(start)).map(|index| ShownLine {
        number: index + 1,
        text: shown(file[index]),
        same: in_file.contains(&index),
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

/// The lines that stand where a hunk would fit best; none where no line of it stands there.
pub(crate) fn shown_at(content: &[u8], hunk: &Hunk) -> Vec<String> {
    let expected = hunk.old_start.saturating_sub(1) as i64;
    let found = show(content, hunk, expected).found;
    match found.iter().any(|line| line.same) {
        true => found.into_iter().map(|line| line.text).collect(),
        false => Vec::new(),
    }
}

/// Every line of the pattern votes for the starts that its equals in the file
/// would give; most votes win, then the smallest distance. An index before the
/// file is possible: its start may be what has changed.
fn nearest(file: &[Vec<u8>], pattern: &[Vec<u8>], expected: i64) -> i64 {
    let wanted: HashSet<&[u8]> = pattern.iter().map(Vec::as_slice).collect();
    let mut places: HashMap<&[u8], Vec<i64>> = HashMap::new();
    for (index, line) in file.iter().enumerate() {
        if wanted.contains(line.as_slice()) {
            places.entry(line).or_default().push(index as i64);
        }
    }
    places.retain(|_, places| places.len() <= TOO_COMMON);
    let mut votes: HashMap<i64, usize> = HashMap::new();
    for (index, line) in pattern.iter().enumerate() {
        for place in places.get(line.as_slice()).into_iter().flatten() {
            *votes.entry(place - index as i64).or_default() += 1;
        }
    }
    let best = votes
        .into_iter()
        .max_by_key(|&(at, votes)| (votes, -(at - expected).abs(), at));
    let clamped = expected.clamp(0, file.len() as i64);
    best.map_or(clamped, |(at, _)| at)
}

/// The longest run of lines in this order that both have, as pairs of indexes;
/// `first` is the index in the file of the first of `file`.
fn common(pattern: &[Vec<u8>], file: &[Vec<u8>], first: usize) -> Vec<(usize, usize)> {
    let width = file.len() + 1;
    // The length of the best from here to both ends.
    let mut best = vec![0u16; (pattern.len() + 1) * width];
    for (row, one) in pattern.iter().enumerate().rev() {
        for (column, other) in file.iter().enumerate().rev() {
            let at = row * width + column;
            best[at] = match one == other {
                true => best[at + width + 1] + 1,
                false => best[at + 1].max(best[at + width]),
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < pattern.len() && column < file.len() {
        let at = row * width + column;
        if pattern[row] == file[column] {
            pairs.push((row, first + column));
            row += 1;
            column += 1;
        } else if best[at + width] >= best[at + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// The lines that are the same when the pattern is laid at `at`.
fn side_by_side(pattern: &[Vec<u8>], file: &[Vec<u8>], at: i64) -> Vec<(usize, usize)> {
    let pair = |(index, line): (usize, &Vec<u8>)| {
        let there = usize::try_from(at + index as i64).ok()?;
        (file.get(there)? == line).then_some((index, there))
    };
    pattern.iter().enumerate().filter_map(pair).collect()
}
