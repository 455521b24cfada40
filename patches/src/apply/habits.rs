//! What a file does with blanks and tabs, near a line: the measure for added
//! lines whose own are lost.

use std::collections::HashMap;

use super::damage::{Damage, Gap, gaps, indentation};
use super::form::split_end;
use crate::LineKind;

/// Longer gaps than this, in bytes, are not taken over.
const LONGEST_GAP: usize = 16;

/// A file, indexed by what the damage would have made of its lines.
pub(super) struct Habits<'a> {
    damage: Damage,
    lines: &'a [&'a [u8]],
    /// Damaged line, to its index where there is one such line only.
    whole: HashMap<Vec<u8>, Option<usize>>,
    /// Length of the damaged indentation and whether a `*` follows, to the lines.
    indents: HashMap<(usize, bool), Vec<usize>>,
    /// First word, to the lines that have a gap after it, and to the length of
    /// the damaged gap in each.
    words: HashMap<&'a [u8], (Vec<usize>, Vec<usize>)>,
    /// Lines with a gap that may stand for a tab, and whether it is one.
    aligned: Vec<(usize, bool)>,
}

impl<'a> Habits<'a> {
    pub(super) fn new(damage: Damage, lines: &'a [&'a [u8]]) -> Self {
        let mut habits = Habits {
            damage,
            lines,
            whole: HashMap::new(),
            indents: HashMap::new(),
            words: HashMap::new(),
            aligned: Vec::new(),
        };
        for (index, line) in lines.iter().enumerate() {
            habits.learn(index, split_end(line).0);
        }
        habits
    }

    fn learn(&mut self, index: usize, text: &'a [u8]) {
        let made = self.damage.made_of(text, LineKind::Added);
        let made = made.trim_ascii_end();
        if made.is_empty() {
            return;
        }
        let differs = |other: &usize| split_end(self.lines[*other]).0 != text;
        let whole = self.whole.entry(made.to_vec()).or_insert(Some(index));
        if whole.as_ref().is_some_and(differs) {
            *whole = None;
        }
        let lead = indentation(made).len();
        let key = (lead, made.get(lead) == Some(&b'*'));
        self.indents.entry(key).or_default().push(index);
        let (real, damaged) = (gaps(text), gaps(made));
        if let (Some((word, _)), Some(gap)) = (first_gap(text), damaged.first()) {
            let (lines, lengths) = self.words.entry(word).or_default();
            lines.push(index);
            lengths.push(gap.end - gap.start);
        }
        let mut pairs = real.iter().zip(&damaged);
        if let Some((real, _)) = pairs.find(|(_, damaged)| self.may_be_tab(damaged)) {
            let is_tab = text[real.start..real.end].contains(&b'\t');
            self.aligned.push((index, is_tab));
        }
    }

    /// A run of two blanks or more that a tab could have become.
    fn may_be_tab(&self, gap: &Gap) -> bool {
        let (tabs, left) = self.damage.undone(gap.start, gap.end);
        gap.end - gap.start > 1 && tabs > 0 && left == 0
    }

    /// The only line of the file that would look like this one.
    pub(super) fn line_like(&self, text: &[u8]) -> Option<&'a [u8]> {
        let index = self.whole.get(text.trim_ascii_end()).copied().flatten()?;
        Some(split_end(self.lines[index]).0)
    }

    /// The line with the tabs that the file would have there, near the line
    /// index `at`; for damage that keeps lengths. And whether no blanks are left
    /// in it that may have been tabs.
    pub(super) fn with_tabs(&self, text: &[u8], at: usize) -> (bool, Vec<u8>) {
        let mut certain = true;
        let lead = indentation(text);
        let mut out = match lead.contains(&b'\t') {
            true => lead.to_vec(),
            false => self.indent_of(text, at),
        };
        let mut from = lead.len();
        for (index, gap) in gaps(text).iter().enumerate() {
            out.extend_from_slice(&text[from..gap.start]);
            from = gap.end;
            let blanks = &text[gap.start..gap.end];
            let like = match index {
                0 => self.first_gap_like(text, blanks.len(), at),
                _ => None,
            };
            match like {
                Some(real) => out.extend_from_slice(real),
                None if self.may_be_tab(gap) && self.aligns_with_tabs(at) => {
                    let (tabs, _) = self.damage.undone(gap.start, gap.end);
                    out.extend(std::iter::repeat_n(b'\t', tabs));
                }
                None => {
                    certain &= !self.may_be_tab(gap);
                    out.extend_from_slice(blanks);
                }
            }
        }
        out.extend_from_slice(&text[from..]);
        (certain, out)
    }

    /// The indentation of the nearest line that would be indented alike; else
    /// as many tabs as it can stand for.
    fn indent_of(&self, text: &[u8], at: usize) -> Vec<u8> {
        let length = indentation(text).len();
        let star = text.get(length) == Some(&b'*');
        if length == 0 {
            return Vec::new();
        }
        let alike = self.indents.get(&(length, star));
        if let Some(lines) = alike
            && let Some(near) = nearest(lines, at)
        {
            return indentation(self.lines[lines[near]]).to_vec();
        }
        // The blank before the `*` of a comment is one.
        let own = usize::from(star);
        let (tabs, blanks) = self.damage.undone(0, length - own);
        let mut indent = vec![b'\t'; tabs];
        indent.extend(std::iter::repeat_n(b' ', blanks + own));
        indent
    }

    /// The line with the gap after its first word that the file would have.
    pub(super) fn with_first_gap(&self, text: &[u8], at: usize) -> Vec<u8> {
        let mut out = text.to_vec();
        if let Some((_, gap)) = first_gap(text)
            && let Some(real) = self.first_gap_like(text, gap.end - gap.start, at)
        {
            out.splice(gap.start..gap.end, real.iter().copied());
        }
        out
    }

    /// What stands after the same first word in the nearest line that would
    /// have a gap of this length there.
    fn first_gap_like(&self, text: &[u8], length: usize, at: usize) -> Option<&'a [u8]> {
        let (word, _) = first_gap(text)?;
        let (lines, lengths) = self.words.get(word)?;
        let near = nearest(lines, at)?;
        let line = split_end(self.lines[lines[near]]).0;
        let (_, real) = first_gap(line)?;
        let fits = lengths[near] == length && real.end - real.start <= LONGEST_GAP;
        fits.then_some(&line[real.start..real.end])
    }

    fn aligns_with_tabs(&self, at: usize) -> bool {
        let after = self.aligned.partition_point(|&(index, _)| index < at);
        let sides = [
            self.aligned.get(after),
            self.aligned.get(after.wrapping_sub(1)),
        ];
        let near = sides
            .into_iter()
            .flatten()
            .min_by_key(|&&(index, _)| index.abs_diff(at));
        near.is_some_and(|&(_, is_tab)| is_tab)
    }
}

/// The first word of a line and the gap after it.
fn first_gap(text: &[u8]) -> Option<(&[u8], Gap)> {
    let lead = indentation(text).len();
    let length = text[lead..]
        .iter()
        .position(|b| matches!(b, b' ' | b'\t'))?;
    let start = lead + length;
    let end = start + indentation(&text[start..]).len();
    // Blanks at the end are no gap.
    (end < text.trim_ascii_end().len()).then_some((&text[lead..start], Gap { start, end }))
}

/// Of indexes in order, which is nearest to `at`.
fn nearest(sorted: &[usize], at: usize) -> Option<usize> {
    let after = sorted.partition_point(|&index| index < at);
    let sides = [Some(after), after.checked_sub(1)];
    let sides = sides
        .into_iter()
        .flatten()
        .filter(|&one| one < sorted.len());
    sides.min_by_key(|&one| sorted[one].abs_diff(at))
}
