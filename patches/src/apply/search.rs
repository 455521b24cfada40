//! Searching a file for lines.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use super::form::{Form, is_page_of};
use super::functions;
use crate::text::lines;

/// Lines looked at in searches over one file before giving up; a patch that
/// people make needs a small part of it.
const SEARCH_BUDGET: usize = 1 << 31;

/// A file to search in. Lines that are the same in a form get equal numbers
/// when the first search in that form needs them, so that comparing lines is
/// comparing integers.
pub(super) struct Searched<'a> {
    pub lines: Vec<&'a [u8]>,
    numbers: [Option<Numbers<'a>>; Form::ALL.len()],
    functions: OnceCell<Vec<Option<u32>>>,
    pub(super) budget: usize,
}

/// The lines of a file as numbers.
struct Numbers<'a> {
    of: HashMap<Cow<'a, [u8]>, u32>,
    lines: Vec<u32>,
    /// The indices of all lines, those of one number together.
    places: Vec<u32>,
    /// For each number, where its lines begin in `places`; then their end.
    starts: Vec<u32>,
}

impl<'a> Searched<'a> {
    pub(super) fn new(content: &'a [u8]) -> Self {
        Searched {
            lines: lines(content),
            numbers: [None, None, None],
            functions: OnceCell::new(),
            budget: SEARCH_BUDGET,
        }
    }

    /// As [`functions::functions`] of its lines, found when the first hunk names one.
    pub(super) fn functions(&self) -> &[Option<u32>] {
        self.functions
            .get_or_init(|| functions::functions(&self.lines))
    }

    /// Whether the pattern stands at this index.
    pub(super) fn stands_at(&self, form: Form, pattern: &[&[u8]], at: i64) -> bool {
        let Ok(at) = usize::try_from(at) else {
            return false;
        };
        let Some(there) = self.lines.get(at..at + pattern.len()) else {
            return false;
        };
        match form {
            Form::Bytes => there == pattern,
            Form::Blanks => same(there, pattern, |tree, patch| form.same(tree, patch)),
            Form::Markup => same(there, pattern, |tree, patch| is_page_of(patch, tree)),
        }
    }

    /// Every index at which the pattern stands: looked for where its rarest line
    /// does, or where all lines are alike, by reading the file. `None` when
    /// searches in this file have cost too much.
    pub(super) fn search(&mut self, form: Form, lines: &[&[u8]]) -> Option<Vec<usize>> {
        self.budget = self.budget.checked_sub(lines.len())?;
        let slot = &mut self.numbers[form as usize];
        let numbers = slot.get_or_insert_with(|| Numbers::new(form, &self.lines));
        let pattern: Option<Vec<u32>> = lines
            .iter()
            .map(|line| numbers.of.get(&form.key(line)).copied())
            .collect();
        // A line that is nowhere in the file settles it.
        let Some(pattern) = pattern else {
            return Some(Vec::new());
        };
        let rarest =
            (0..pattern.len()).min_by_key(|&index| numbers.places(pattern[index]).len())?;
        let places = numbers.places(pattern[rarest]);
        let by_rarest = places.len().saturating_mul(pattern.len());
        let all = self.lines.len();
        self.budget = self.budget.checked_sub(by_rarest.min(all))?;
        let mut found = match by_rarest < all {
            true => numbers.around(places, rarest, &pattern),
            false => numbers.everywhere(&pattern),
        };
        if form == Form::Markup {
            self.budget = self
                .budget
                .checked_sub(found.len().checked_mul(pattern.len())?)?;
            found.retain(|&at| self.stands_at(form, lines, at as i64));
        }
        Some(found)
    }
}

fn same(there: &[&[u8]], pattern: &[&[u8]], equal: impl Fn(&[u8], &[u8]) -> bool) -> bool {
    there
        .iter()
        .zip(pattern)
        .all(|(one, other)| equal(one, other))
}

impl<'a> Numbers<'a> {
    fn new(form: Form, lines: &[&'a [u8]]) -> Self {
        let mut of = HashMap::new();
        let number = |line: &&'a [u8]| {
            let next = of.len() as u32;
            *of.entry(form.key(line)).or_insert(next)
        };
        let lines: Vec<u32> = lines.iter().map(number).collect();
        let mut starts = vec![0; of.len() + 1];
        for &number in &lines {
            starts[number as usize + 1] += 1;
        }
        for number in 0..of.len() {
            starts[number + 1] += starts[number];
        }
        let mut places: Vec<u32> = (0..lines.len() as u32).collect();
        places.sort_by_key(|&index| lines[index as usize]);
        Numbers {
            of,
            lines,
            places,
            starts,
        }
    }

    /// The indices of the lines of this number, in order.
    fn places(&self, number: u32) -> &[u32] {
        let number = number as usize;
        &self.places[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// Where the pattern stands with its line of index `line` at one of these.
    fn around(&self, places: &[u32], line: usize, pattern: &[u32]) -> Vec<usize> {
        let starts = places
            .iter()
            .filter_map(|&place| (place as usize).checked_sub(line));
        let stands = |at: &usize| self.lines[*at..].starts_with(pattern);
        starts.filter(stands).collect()
    }

    /// Where the pattern stands in the whole file (Knuth, Morris and Pratt: the
    /// time is linear even where all lines are alike).
    fn everywhere(&self, pattern: &[u32]) -> Vec<usize> {
        let borders = borders(pattern);
        let mut found = Vec::new();
        let mut matched = 0;
        for (index, number) in self.lines.iter().enumerate() {
            while matched > 0 && (matched == pattern.len() || pattern[matched] != *number) {
                matched = borders[matched - 1];
            }
            matched += usize::from(pattern[matched] == *number);
            if matched == pattern.len() {
                found.push(index + 1 - matched);
            }
        }
        found
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
