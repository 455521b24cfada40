//! Hunks.

use super::{Input, Located, field};
use crate::read::ReadErrorKind;
use crate::text::shown;
use crate::{Hunk, Line, LineKind};

/// The largest line number and count taken, far above any source file.
pub(super) const MAX_COUNT: usize = u32::MAX as usize;

/// The least bytes of a line that says that no newline follows.
const SHORTEST_END_MARKER: usize = 12;

/// All hunks that follow.
pub(super) fn all(input: &mut Input, carriage_returns: bool) -> Located<Vec<Hunk>> {
    let mut hunks = Vec::new();
    while input.starts_with(0, b"@@ -") {
        hunks.push(hunk(input, carriage_returns)?);
    }
    refuse_further_lines(input)?;
    Ok(hunks)
}

fn hunk(input: &mut Input, carriage_returns: bool) -> Located<Hunk> {
    let line = input.peek(0).unwrap_or_default();
    let Some(mut hunk) = header(line) else {
        return Err(input.expected("a hunk, `@@ -line,count +line,count @@`"));
    };
    input.next();
    let (mut old_left, mut new_left) = (hunk.old_count, hunk.new_count);
    while old_left > 0 || new_left > 0 {
        let too_short = ReadErrorKind::HunkTooShort {
            old: hunk.old_count,
            new: hunk.new_count,
            old_left,
            new_left,
        };
        let Some(raw) = input.peek(0) else {
            return Err(input.error(too_short));
        };
        if is_end_marker(raw) {
            end_without_newline(input, &mut hunk)?;
            continue;
        }
        let Some(parsed) = parse_line(raw, carriage_returns) else {
            return Err(input.error(too_short));
        };
        let (old, new) = match parsed.kind {
            LineKind::Context => (1, 1),
            LineKind::Removed => (1, 0),
            LineKind::Added => (0, 1),
        };
        if old > old_left || new > new_left {
            return Err(input.error(too_short));
        }
        old_left -= old;
        new_left -= new;
        hunk.lines.push(parsed);
        input.next();
        input.check_length()?;
    }
    if input.peek(0).is_some_and(is_end_marker) {
        end_without_newline(input, &mut hunk)?;
    }
    Ok(hunk)
}

/// `@@ -12,7 +12,8 @@ heading`; a count that is left out is 1.
pub(in crate::read) fn header(line: &[u8]) -> Option<Hunk> {
    let text = String::from_utf8_lossy(field(line, b"@@ -")?).into_owned();
    let (old, rest) = text.split_once(" +")?;
    let (new, heading) = rest.split_once(" @@")?;
    let (old_start, old_count) = range(old)?;
    let (new_start, new_count) = range(new)?;
    Some(Hunk {
        old_start,
        old_count,
        new_start,
        new_count,
        heading: heading.trim().to_owned(),
        lines: Vec::new(),
    })
}

fn range(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    let number = |text: &str| {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse().ok().filter(|&n: &usize| n <= MAX_COUNT);
        number.filter(|_| digits)
    };
    let (start, count) = (number(start)?, number(count)?);
    // Line 0 exists only as "before the first line".
    (start > 0 || count == 0).then_some((start, count))
}

fn parse_line(raw: &[u8], carriage_returns: bool) -> Option<Line> {
    let mut text = raw.strip_suffix(b"\n").unwrap_or(raw);
    if carriage_returns {
        text = text.strip_suffix(b"\r").unwrap_or(text);
    }
    let (kind, text) = match text.split_first() {
        // Some mailers drop the blank of an empty context line.
        None => (LineKind::Context, text),
        Some((b' ', text)) => (LineKind::Context, text),
        Some((b'-', text)) => (LineKind::Removed, text),
        Some((b'+', text)) => (LineKind::Added, text),
        Some(_) => return None,
    };
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend_from_slice(text);
    bytes.push(b'\n');
    Some(Line { kind, bytes })
}

/// Whether it is `\ No newline at end of file`, in any language. Git's measure
/// is the same; a lone `\` below a hunk is the end of a macro's line that was
/// wrapped.
pub(super) fn is_end_marker(raw: &[u8]) -> bool {
    raw.starts_with(b"\\ ") && raw.len() >= SHORTEST_END_MARKER
}

/// `\ No newline at end of file` speaks of the line before it.
fn end_without_newline(input: &mut Input, hunk: &mut Hunk) -> Located<()> {
    match hunk.lines.last_mut() {
        Some(line) if line.bytes.ends_with(b"\n") => line.bytes.pop(),
        _ => return Err(input.expected("a line of the file before `\\ No newline`")),
    };
    input.next();
    Ok(())
}

/// Changed lines right after a full hunk mean that its counts are wrong:
/// leaving them out would apply half a patch.
fn refuse_further_lines(input: &Input) -> Located<()> {
    let lines = input.rest.split_inclusive(|&b| b == b'\n');
    for (ahead, line) in lines.enumerate() {
        let signature = line.trim_ascii_end() == b"--";
        let header = line.starts_with(b"--- ") && input.starts_with(ahead + 1, b"+++ ");
        if signature || header {
            return Ok(());
        }
        match line.first() {
            Some(b'+' | b'-') => {
                let kind = ReadErrorKind::HunkTooLong(shown(line));
                return Err((input.line + ahead, kind));
            }
            Some(b' ') => {}
            _ => return Ok(()),
        }
    }
    Ok(())
}
