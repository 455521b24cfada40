//! Context diffs, the form before unified ones: each hunk shows its lines
//! before and its lines after, and leaves out a side without changes.

use super::{Input, Located, field};
use crate::read::ReadErrorKind;
use crate::text::shown;
use crate::{Hunk, Line, LineKind};

/// What starts a hunk.
pub(super) const STARS: &[u8] = b"***************";

/// All hunks that follow.
pub(super) fn all(input: &mut Input, carriage_returns: bool) -> Located<Vec<Hunk>> {
    let mut hunks = Vec::new();
    while input.starts_with(0, STARS) {
        hunks.push(hunk(input, carriage_returns)?);
    }
    Ok(hunks)
}

/// One side of a hunk.
struct Side {
    start: usize,
    count: usize,
    /// `None` where it is left out.
    lines: Option<Vec<Line>>,
}

fn hunk(input: &mut Input, carriage_returns: bool) -> Located<Hunk> {
    let stars = input.peek(0).unwrap_or_default();
    let heading = field(stars, STARS).unwrap_or_default();
    let heading = String::from_utf8_lossy(heading).trim().to_owned();
    input.next();
    let old = side(input, LineKind::Removed, carriage_returns)?;
    let new = side(input, LineKind::Added, carriage_returns)?;
    refuse_further_lines(input)?;
    let (old_start, new_start) = (old.start, new.start);
    let lines = joined(input, old, new)?;
    let without = |kind| lines.iter().filter(|line| line.kind != kind).count();
    Ok(Hunk {
        old_start,
        old_count: without(LineKind::Added),
        new_start,
        new_count: without(LineKind::Removed),
        heading,
        lines,
    })
}

fn side(input: &mut Input, changed: LineKind, carriage_returns: bool) -> Located<Side> {
    let (head, tail, what): (&[u8], &[u8], _) = match changed {
        LineKind::Removed => (b"*** ", b"****", "a line `*** first,last ****`"),
        _ => (b"--- ", b"----", "a line `--- first,last ----`"),
    };
    let line = input.peek(0).unwrap_or_default();
    let Some((start, count)) = range(line, head, tail) else {
        return Err(input.expected(what));
    };
    input.next();
    let mut lines = Vec::new();
    while lines.len() < count {
        if input.peek(0).is_some_and(super::hunk::is_end_marker) {
            end_without_newline(input, &mut lines)?;
            continue;
        }
        let line = input.peek(0).unwrap_or_default();
        match parse_line(line, changed, carriage_returns) {
            Some(line) => lines.push(line),
            None if lines.is_empty() => break,
            None => return Err(too_short(input, changed, count, lines.len())),
        }
        input.next();
        input.check_length()?;
    }
    if input.peek(0).is_some_and(super::hunk::is_end_marker) {
        end_without_newline(input, &mut lines)?;
    }
    let lines = Some(lines).filter(|lines| !lines.is_empty());
    Ok(Side {
        start,
        count,
        lines,
    })
}

/// `*** 12,18 ****`; one number is one line, or none where the side is left out.
fn range(line: &[u8], head: &[u8], tail: &[u8]) -> Option<(usize, usize)> {
    let text = field(line, head)?.trim_ascii_end().strip_suffix(tail)?;
    let text = std::str::from_utf8(text).ok()?.trim();
    let (first, last) = text.split_once(',').unwrap_or((text, text));
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = text
            .parse()
            .ok()
            .filter(|&n: &usize| n <= super::hunk::MAX_COUNT);
        number.filter(|_| digits)
    };
    let (first, last) = (number(first)?, number(last)?);
    match (first, last) {
        (0, 0) => Some((0, 0)),
        (0, _) => None,
        _ => Some((first, (last + 1).checked_sub(first)?)),
    }
}

/// A mark and a blank, then the line. `!` is a changed line of this side.
fn parse_line(raw: &[u8], changed: LineKind, carriage_returns: bool) -> Option<Line> {
    let mut text = raw.strip_suffix(b"\n")?;
    if carriage_returns {
        text = text.strip_suffix(b"\r").unwrap_or(text);
    }
    let own = match changed {
        LineKind::Removed => b'-',
        _ => b'+',
    };
    let (kind, text) = match text {
        // Some mailers drop the blanks at the end of a line.
        [] | [b' '] => (LineKind::Context, &text[text.len()..]),
        [b' ', b' ', text @ ..] => (LineKind::Context, text),
        [mark, text @ ..] if *mark == b'!' || *mark == own => match text {
            [] => (changed, text),
            [b' ', text @ ..] => (changed, text),
            _ => return None,
        },
        _ => return None,
    };
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend_from_slice(text);
    bytes.push(b'\n');
    Some(Line { kind, bytes })
}

fn end_without_newline(input: &mut Input, lines: &mut [Line]) -> Located<()> {
    match lines.last_mut() {
        Some(line) if line.bytes.ends_with(b"\n") => line.bytes.pop(),
        _ => return Err(input.expected("a line of the file before `\\ No newline`")),
    };
    input.next();
    Ok(())
}

fn too_short(input: &Input, side: LineKind, count: usize, found: usize) -> (usize, ReadErrorKind) {
    let missing = count - found;
    let (old, old_left, new, new_left) = match side {
        LineKind::Removed => (count, missing, 0, 0),
        _ => (0, 0, count, missing),
    };
    input.error(ReadErrorKind::HunkTooShort {
        old,
        new,
        old_left,
        new_left,
    })
}

/// Changed lines behind a full side mean that its counts are wrong.
fn refuse_further_lines(input: &Input) -> Located<()> {
    match input.peek(0) {
        Some(line) if line.starts_with(b"! ") || line.starts_with(b"+ ") => {
            Err(input.error(ReadErrorKind::HunkTooLong(shown(line))))
        }
        _ => Ok(()),
    }
}

/// Both sides in one, as a unified diff has them: at each change what goes,
/// then what comes.
fn joined(input: &Input, old: Side, new: Side) -> Located<Vec<Line>> {
    const AGREE: &str = "the same context lines in both parts of the hunk";
    let context = |side: &Option<Vec<Line>>| -> Vec<Line> {
        let lines = side.iter().flatten();
        let context = lines.filter(|line| line.kind == LineKind::Context);
        context.cloned().collect()
    };
    let before = old.lines.clone().unwrap_or_else(|| context(&new.lines));
    let after = new.lines.clone().unwrap_or_else(|| context(&old.lines));
    for (side, lines) in [(&old, &before), (&new, &after)] {
        // `*** 5 ****` without lines is the place behind line 5.
        let none_at = lines.is_empty() && side.count == 1;
        if side.lines.is_none() && lines.len() != side.count && !none_at {
            return Err(input.expected(AGREE));
        }
    }
    let mut lines = Vec::with_capacity(before.len() + after.len());
    let (mut before, mut after) = (before.into_iter().peekable(), after.into_iter().peekable());
    loop {
        let changed = |line: &Line| line.kind != LineKind::Context;
        while let Some(line) = before.next_if(changed) {
            lines.push(line);
        }
        while let Some(line) = after.next_if(changed) {
            lines.push(line);
        }
        match (before.next(), after.next()) {
            (None, None) => return Ok(lines),
            (Some(old), Some(new)) if old == new => lines.push(old),
            _ => return Err(input.expected(AGREE)),
        }
    }
}
