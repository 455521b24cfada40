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
    /// To the lines that are indented so.
    indents: HashMap<Indented, Vec<usize>>,
    /// Lines that are deep enough for a tab: with one, and without.
    with_tab: usize,
    without_tab: usize,
    /// First word, to the lines that have a gap after it, and to the length of
    /// the damaged gap in each.
    words: HashMap<&'a [u8], (Vec<usize>, Vec<usize>)>,
    /// Lines with a gap that may stand for a tab, and whether it is one.
    aligned: Vec<(usize, bool)>,
}

/// How a line is indented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Indented {
    /// Bytes of the damaged indentation.
    length: usize,
    /// A `*` follows, as in a comment.
    star: bool,
    /// The real indentation has a tab.
    tabs: bool,
}

impl<'a> Habits<'a> {
    pub(super) fn new(damage: Damage, lines: &'a [&'a [u8]]) -> Self {
        let mut habits = Habits {
            damage,
            lines,
            whole: HashMap::new(),
            indents: HashMap::new(),
            with_tab: 0,
            without_tab: 0,
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
        let key = Indented {
            length: lead,
            star: made.get(lead) == Some(&b'*'),
            tabs: indentation(text).contains(&b'\t'),
        };
        self.indents.entry(key).or_default().push(index);
        let deep = self.damage.undone(0, lead).0 > 0;
        self.with_tab += usize::from(deep && key.tabs);
        self.without_tab += usize::from(deep && !key.tabs);
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
    /// index `at`; for damage that keeps lengths.
    pub(super) fn with_tabs(&self, text: &[u8], at: usize) -> Vec<u8> {
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
                None => out.extend_from_slice(blanks),
            }
        }
        let end = text.trim_ascii_end().len().max(from);
        out.extend_from_slice(&text[from..end]);
        match self.damage.undone(end, text.len()) {
            (tabs, 0) if self.indents_by_tabs() && !text[end..].contains(&b'\t') => {
                out.extend(std::iter::repeat_n(b'\t', tabs));
            }
            _ => out.extend_from_slice(&text[end..]),
        }
        out
    }

    /// The line as this one of the file is, which would look the same; but with
    /// tabs at its start where the file is indented by them.
    pub(super) fn like(&self, line: &[u8], text: &[u8], at: usize) -> Vec<u8> {
        let (own, rest) = line.split_at(indentation(line).len());
        let deep = self.damage.undone(0, indentation(text).len()).0 > 0;
        match deep && !own.contains(&b'\t') && self.indents_by_tabs() {
            true => [&self.indent_of(text, at), rest].concat(),
            false => line.to_vec(),
        }
    }

    /// As many tabs as the blanks from one column to another can stand for,
    /// where the file is indented by tabs.
    fn tabs_of(&self, from: usize, to: usize) -> Vec<u8> {
        let (tabs, blanks) = match self.indents_by_tabs() {
            true => self.damage.undone(from, to),
            false => (0, to - from),
        };
        let mut out = vec![b'\t'; tabs];
        out.extend(std::iter::repeat_n(b' ', blanks));
        out
    }

    /// Whether it does so in most lines that are deep enough.
    fn indents_by_tabs(&self) -> bool {
        self.with_tab >= self.without_tab
    }

    /// The indentation of the nearest line that would be indented alike, of
    /// those with tabs where the file is indented by tabs; else as many tabs as
    /// it can stand for.
    fn indent_of(&self, text: &[u8], at: usize) -> Vec<u8> {
        let length = indentation(text).len();
        let star = text.get(length) == Some(&b'*');
        if length == 0 {
            return Vec::new();
        }
        let alike = |tabs| {
            let lines = self.indents.get(&Indented { length, star, tabs })?;
            nearest(lines, at).map(|near| lines[near])
        };
        let without = alike(false).filter(|_| !self.indents_by_tabs());
        let both = [alike(true), without].into_iter().flatten();
        if let Some(near) = both.min_by_key(|line| line.abs_diff(at)) {
            return indentation(self.lines[near]).to_vec();
        }
        // The blank before the `*` of a comment is one.
        let own = usize::from(star);
        let mut indent = self.tabs_of(0, length - own);
        indent.extend(std::iter::repeat_n(b' ', own));
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
