//! Searching a file for lines.

use std::collections::HashMap;

use crate::text::lines;

/// Lines looked at in searches over one file before giving up; a patch that
/// people make needs a small part of it.
const SEARCH_BUDGET: usize = 1 << 31;

/// A file to search in. Equal lines get equal numbers when the first search
/// needs them, so that comparing lines is comparing integers.
pub(super) struct Searched<'a> {
    pub lines: Vec<&'a [u8]>,
    numbers: HashMap<&'a [u8], u32>,
    numbered: Vec<u32>,
    budget: usize,
}

impl<'a> Searched<'a> {
    pub(super) fn new(content: &'a [u8]) -> Self {
        Searched {
            lines: lines(content),
            numbers: HashMap::new(),
            numbered: Vec::new(),
            budget: SEARCH_BUDGET,
        }
    }

    /// Whether the pattern stands at this index.
    pub(super) fn stands_at(&self, pattern: &[&[u8]], at: i64) -> bool {
        let Ok(at) = usize::try_from(at) else {
            return false;
        };
        let there = self.lines.get(at..at + pattern.len());
        there.is_some_and(|there| there == pattern)
    }

    /// Every index at which the pattern stands (Knuth, Morris and Pratt: the
    /// time is linear even where all lines are alike). `None` when searches
    /// in this file have cost too much.
    pub(super) fn search(&mut self, pattern: &[&[u8]]) -> Option<Vec<usize>> {
        self.number_lines();
        self.budget = self.budget.checked_sub(self.lines.len() + pattern.len())?;
        let pattern: Option<Vec<u32>> = pattern
            .iter()
            .map(|line| self.numbers.get(line).copied())
            .collect();
        // A line that is nowhere in the file settles it.
        let Some(pattern) = pattern else {
            return Some(Vec::new());
        };
        let borders = borders(&pattern);
        let mut found = Vec::new();
        let mut matched = 0;
        for (index, number) in self.numbered.iter().enumerate() {
            while matched > 0 && (matched == pattern.len() || pattern[matched] != *number) {
                matched = borders[matched - 1];
            }
            matched += usize::from(pattern[matched] == *number);
            if matched == pattern.len() {
                found.push(index + 1 - matched);
            }
        }
        Some(found)
    }

    fn number_lines(&mut self) {
        if self.numbered.len() == self.lines.len() {
            return;
        }
        for line in &self.lines {
            let next = self.numbers.len() as u32;
            self.numbered
                .push(*self.numbers.entry(line).or_insert(next));
        }
    }
}

/// For each prefix of the pattern, the length of its longest proper border.
fn borders(pattern: &[u32]) -> Vec<usize> {
    let mut borders = vec![0; pattern.len()];
    let mut length = 0;
    for index in 1..pattern.len() {
        while length > 0 && pattern[length] != pattern[index] {
            length = borders[length - 1];
        }
        length += usize::from(pattern[length] == pattern[index]);
        borders[index] = length;
    }
    borders
}
