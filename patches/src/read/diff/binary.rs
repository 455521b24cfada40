//! Git's binary patches: one section that makes the new file, and most often
//! one that makes the old file again.

use super::{Input, Located};
use crate::BinaryChange;
use crate::read::ReadErrorKind;

/// What stands below `GIT binary patch`, which is the next line.
pub(super) fn change(input: &mut Input) -> Located<BinaryChange> {
    input.next();
    let Some(forward) = section(input)? else {
        return Err(input.expected("`literal <bytes>` or `delta <bytes>`"));
    };
    let reverse = section(input)?;
    Ok(BinaryChange { forward, reverse })
}

/// A section with its line ends made `\n`, and the empty line behind it;
/// `None` where another line stands.
fn section(input: &mut Input) -> Located<Option<Vec<u8>>> {
    let head = input.peek(0).unwrap_or_default().trim_ascii_end();
    if !head.starts_with(b"literal ") && !head.starts_with(b"delta ") {
        return Ok(None);
    }
    let mut section = [head, b"\n"].concat();
    input.next();
    while let Some(raw) = input.peek(0) {
        let line = raw.trim_ascii_end();
        if line.is_empty() {
            input.next();
            break;
        }
        if !is_data(line) {
            return Err(input.expected("a line of a git binary patch, or an empty one at its end"));
        }
        section.extend_from_slice(line);
        section.push(b'\n');
        input.next();
        input.check_length()?;
    }
    if section.len() == head.len() + 1 {
        return Err(input.error(ReadErrorKind::Unsupported {
            what: "a binary change without its lines",
            instead: "make it with `git diff --binary`",
        }));
    }
    Ok(Some(section))
}

/// A letter for the bytes in the line, then five characters for each four of them.
fn is_data(line: &[u8]) -> bool {
    let bytes = match line.first() {
        Some(&c @ b'A'..=b'Z') => usize::from(c - b'A') + 1,
        Some(&c @ b'a'..=b'z') => usize::from(c - b'a') + 27,
        _ => return false,
    };
    line.len() == 1 + bytes.div_ceil(4) * 5 && line.iter().all(u8::is_ascii_graphic)
}
