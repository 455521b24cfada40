//! Lines counted as a hunk counts them.

use super::row::{Mark, Row};
use crate::read::diff;

/// How many lines a hunk has before and after the patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub old: usize,
    pub new: usize,
}

impl Counts {
    /// What `@@ -1,old +1,new @@` announces.
    pub(super) fn announced(row: &Row) -> Option<Counts> {
        let hunk = diff::hunk_header(&row.text)?;
        Some(Counts {
            old: hunk.old_count,
            new: hunk.new_count,
        })
    }

    /// What the marks of lines add up to.
    pub(super) fn of<'a>(marks: impl IntoIterator<Item = &'a Row<'a>>) -> Counts {
        let mut counts = Counts::default();
        for row in marks {
            let one = Counts::one(row.mark());
            counts.old += one.old;
            counts.new += one.new;
        }
        counts
    }

    pub(super) fn one(mark: Mark) -> Counts {
        let (old, new) = match mark {
            Mark::Context | Mark::Empty => (1, 1),
            Mark::Removed => (1, 0),
            Mark::Added => (0, 1),
            Mark::NoNewline | Mark::Missing => (0, 0),
        };
        Counts { old, new }
    }

    pub(super) fn less(self, other: Counts) -> Option<Counts> {
        Some(Counts {
            old: self.old.checked_sub(other.old)?,
            new: self.new.checked_sub(other.new)?,
        })
    }

    pub(super) fn is_zero(self) -> bool {
        self == Counts::default()
    }
}
