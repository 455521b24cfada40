//! Hunks whose counts don't match their lines.

use std::ops::Range;

use super::ends::plain_end;
use super::hunks::{End, Region};
use super::row::{Mark, Row};
use super::tally::Counts;
use crate::read::diff;

/// Context lines that `diff -u` and git put at each end of a hunk.
const CONTEXT: usize = 3;

/// The lines of a hunk whose counts are wrong, where its end is beyond doubt.
/// Empty lines below them could be context; no more than the place is lost without them.
pub(super) fn lines(rows: &[Row], region: &Region, announced: Counts) -> Option<Range<usize>> {
    let body = region.body.clone();
    let changed = |row: &Row| matches!(row.mark(), Mark::Added | Mark::Removed);
    let missing = |row: &Row| row.mark() == Mark::Missing;
    if rows[body.clone()].iter().any(missing) || !rows[body.clone()].iter().any(changed) {
        return None;
    }
    if may_lack_context(&rows[body.clone()], announced) {
        return None;
    }
    let found = Counts::of(&rows[body.clone()]);
    let ends = match region.end {
        End::Heading | End::Signature => true,
        End::Text => nothing_is_lost(&rows[body.clone()], found, announced),
        End::Prose => {
            let below = body.end + region.blanks;
            region.blanks > 0
                && no_changes_below(&rows[below..])
                && nothing_is_lost(&rows[body.clone()], found, announced)
        }
    };
    // A count of 0 changes what the line number beside it means.
    let same_kind =
        (found.old == 0) == (announced.old == 0) && (found.new == 0) == (announced.new == 0);
    (ends && same_kind).then_some(body)
}

/// No context line has its blank: it may be that each has lost it, and then a
/// changed line could be context as well.
fn may_lack_context(body: &[Row], announced: Counts) -> bool {
    let has_context = body.iter().any(|row| row.mark() == Mark::Context);
    !has_context && announced.old > 0 && announced.new > 0
}

/// Where nothing marks the end of a hunk, its end may have been cut off. No
/// change has where one side is complete and context follows the last change, nor
/// where both lack as many lines as can be context below it.
fn nothing_is_lost(body: &[Row], found: Counts, announced: Counts) -> bool {
    let context = |row: &&Row| matches!(row.mark(), Mark::Context | Mark::Empty);
    let leading = body.iter().take_while(context).count();
    let trailing = body.iter().rev().take_while(context).count();
    let (old, new) = (found.old >= announced.old, found.new >= announced.new);
    if old && new {
        return true;
    }
    if old || new {
        return trailing >= leading.max(1);
    }
    let (old, new) = (announced.old - found.old, announced.new - found.new);
    old == new && old <= CONTEXT && trailing + old <= leading.max(CONTEXT)
}

/// Up to the next diff, no line looks as if it were a hunk's.
fn no_changes_below(rows: &[Row]) -> bool {
    let end = (0..rows.len()).find(|&at| plain_end(rows, at));
    let changed = |row: &Row| matches!(row.mark(), Mark::Added | Mark::Removed);
    !rows[..end.unwrap_or(rows.len())].iter().any(changed)
}

/// The heading of a hunk with other counts.
pub(super) fn heading(row: &Row, counts: Counts) -> Option<Vec<u8>> {
    let hunk = diff::hunk_header(&row.text)?;
    let start = 3 + row.text.get(3..)?.windows(3).position(|w| w == b" @@")?;
    let mut heading = format!(
        "@@ -{},{} +{},{}",
        hunk.old_start, counts.old, hunk.new_start, counts.new
    )
    .into_bytes();
    heading.extend_from_slice(&row.text[start..]);
    Some(heading)
}
