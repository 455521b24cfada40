//! Places that look alike, told apart by the function that the hunk names behind its second `@@`.

use super::form::Form;
use super::functions::{names_function, words};
use super::search::Searched;

/// Lines looked at above a hunk for the start of its function.
const LONGEST_FUNCTION: usize = 10_000;

/// What comparing the name of a function costs, in lines looked at.
const COST_OF_A_NAME: usize = 64;

impl Searched<'_> {
    /// Another place where the same lines stand, in the function that the hunk names, while what
    /// stands at `at` is in a function of another name. Lines are counted from 0.
    ///
    /// `diff -p` and git name the last line above the hunk that begins with a letter, `_` or `$`,
    /// and may cut it.
    ///
    /// `None` when searches in this file have cost too much.
    pub(super) fn twin(
        &mut self,
        heading: &str,
        form: Form,
        lines: &[&[u8]],
        at: usize,
        first: usize,
    ) -> Option<Option<usize>> {
        let heading = words(heading.as_bytes());
        if heading.is_empty() || self.is_named(&heading, self.function(at)) {
            return Some(None);
        }
        let all = self.search(form, lines)?.into_iter();
        let starts = all.filter_map(|index| index.checked_sub(first - at));
        // A function may have the lines very often: its name is compared once.
        let mut other_name = None;
        for other in starts.filter(|&other| other != at) {
            let function = self.function(other);
            if function == other_name {
                continue;
            }
            self.budget = self.budget.checked_sub(COST_OF_A_NAME)?;
            if self.is_named(&heading, function) {
                return Some(Some(other));
            }
            other_name = function;
        }
        Some(None)
    }

    /// Whether the lines from `at` to `end` are in functions of other names than the hunk names,
    /// while the file has the one that it names.
    ///
    /// `None` when searches in this file have cost too much.
    pub(super) fn is_astray(&mut self, heading: &str, at: usize, end: usize) -> Option<bool> {
        let heading = words(heading.as_bytes());
        if heading.is_empty() || self.is_named(&heading, self.function(at)) {
            return Some(false);
        }
        self.budget = self.budget.checked_sub(self.lines.len())?;
        let is_it = |line: &&[u8]| names_function(line) && words(line).starts_with(&heading);
        let here = self.lines.iter().take(end).skip(at).any(is_it);
        Some(!here && self.lines.iter().any(is_it))
    }

    /// Whether lines that have no tab stand at `first`, counted from 0, with tabs for their blanks:
    /// then the patch may have lost them on its way, and this is its place.
    pub(super) fn may_be_folded(&self, lines: &[&[u8]], first: i64) -> bool {
        let has_tab = |line: &&[u8]| line.contains(&b'\t');
        let there = usize::try_from(first).ok();
        let there = there.and_then(|first| self.lines.get(first..first + lines.len()));
        !lines.iter().any(has_tab)
            && there.is_some_and(|there| there.iter().any(has_tab))
            && self.stands_at(Form::Blanks, lines, first)
    }

    /// The line that names the function which a line is in.
    fn function(&self, at: usize) -> Option<usize> {
        let function = self.functions().get(at).copied().flatten()? as usize;
        (at - function <= LONGEST_FUNCTION).then_some(function)
    }

    fn is_named(&self, heading: &str, function: Option<usize>) -> bool {
        let line = function.and_then(|function| self.lines.get(function));
        line.is_some_and(|line| words(line).starts_with(heading))
    }
}
