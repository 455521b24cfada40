//! Places that look alike, told apart by the function that the hunk names behind its second `@@`.

use super::form::Form;
use super::search::Searched;

/// Lines looked at above a hunk for the start of its function.
const LONGEST_FUNCTION: usize = 10_000;

impl Searched<'_> {
    /// Another place where the same lines stand, in the function that the hunk names, while what
    /// stands at `at` is in a function of another name. Lines are counted from 0.
    ///
    /// `diff -p` and git name the last line above the hunk that begins with a letter, `_` or `$`,
    /// and may cut it.
    pub(super) fn twin(
        &mut self,
        heading: &str,
        form: Form,
        lines: &[&[u8]],
        at: usize,
        first: usize,
    ) -> Option<usize> {
        let heading = words(heading.as_bytes());
        if heading.is_empty() || self.is_in(&heading, at) {
            return None;
        }
        let all = self.search(form, lines)?.into_iter();
        let starts = all.filter_map(|index| index.checked_sub(first - at));
        let mut others = starts.filter(|&other| other != at);
        others.find(|&other| self.is_in(&heading, other))
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

    fn is_in(&self, heading: &str, at: usize) -> bool {
        let above = self.lines.get(..at).unwrap_or_default();
        let begins = |line: &&&[u8]| {
            let first = line.first();
            first.is_some_and(|&b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$'))
        };
        let function = above.iter().rev().take(LONGEST_FUNCTION).find(begins);
        function.is_some_and(|line| words(line).starts_with(heading))
    }
}

fn words(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
