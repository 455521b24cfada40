//! Git's extended headers: files that are made, removed, renamed, copied, or
//! change their mode.

use super::{Input, Located, Names, field, hunk, refuse_what_is_not_read};
use crate::read::{ReadErrorKind, path};
use crate::{Change, FilePatch};

/// What the lines between `diff --git` and the hunks say.
#[derive(Default)]
struct Extended {
    change: Option<Change>,
    mode: Option<i32>,
    from: Option<String>,
    to: Option<String>,
    old_blob: Option<String>,
}

/// One file of a git diff; `None` where it changes nothing, as `git diff -w` prints.
pub(super) fn file(input: &mut Input) -> Located<Option<FilePatch>> {
    let line = input.peek(0).unwrap_or_default();
    let mut carriage_returns = line.ends_with(b"\r\n");
    let pair = path::parse_pair(field(line, b"diff --git ").unwrap_or_default())
        .map_err(|kind| input.error(kind))?;
    input.next();
    let extended = extended(input)?;
    let mut names = pair.clone();
    let mut hunks = Vec::new();
    if input.at_file_header() {
        let lines = Names::read(input)?;
        carriage_returns = lines.carriage_returns;
        names = match (lines.old, lines.new) {
            (Some(old), Some(new)) => Some((old, new)),
            (None, Some(new)) => Some((new.clone(), new)),
            (Some(old), None) => Some((old.clone(), old)),
            (None, None) => names,
        };
        hunks = hunk::all(input, carriage_returns)?;
    } else if let Some(line) = input.peek(0) {
        refuse_what_is_not_read(input, line)?;
    }
    let change = extended.change.unwrap_or(Change::Modify);
    if change == Change::Modify && extended.mode.is_none() && hunks.is_empty() {
        return Ok(None);
    }
    let (old, new, strip) = match (extended.from, extended.to) {
        // These two lines never carry the a/ and b/.
        (Some(from), Some(to)) => (from, to, Some(0)),
        _ => {
            let (old, new) = names.ok_or_else(|| {
                input.error(ReadErrorKind::BadPath(
                    "the `diff --git` line names no file",
                ))
            })?;
            let strip = pair.as_ref().and_then(|(old, new)| prefix(old, new));
            (old, new, strip)
        }
    };
    Ok(Some(FilePatch {
        old: Some(old).filter(|_| change != Change::Create),
        new: Some(new).filter(|_| change != Change::Delete),
        change,
        old_mode: None,
        new_mode: extended.mode,
        strip,
        old_blob: extended.old_blob,
        new_blob: None,
        carriage_returns,
        hunks,
        binary: None,
    }))
}

/// `a/x` and `b/x` differ in their first component only: it is to be stripped.
fn prefix(old: &str, new: &str) -> Option<usize> {
    let (a, old_rest) = old.split_once('/')?;
    let (b, new_rest) = new.split_once('/')?;
    (a != b && old_rest == new_rest).then_some(1)
}

fn extended(input: &mut Input) -> Located<Extended> {
    let mut found = Extended::default();
    while let Some(line) = input.peek(0) {
        let value = |word: &str| field(line, word.as_bytes());
        let name = |field: &[u8]| path::parse(field).map_err(|kind| input.error(kind));
        if let Some(field) = value("rename from ") {
            found.change = Some(Change::Rename);
            found.from = Some(name(field)?);
        } else if let Some(field) = value("copy from ") {
            found.change = Some(Change::Copy);
            found.from = Some(name(field)?);
        } else if let Some(field) = value("rename to ").or(value("copy to ")) {
            found.to = Some(name(field)?);
        } else if let Some(field) = value("new file mode ") {
            found.change = Some(Change::Create);
            found.mode = Some(mode(input, field)?);
        } else if let Some(field) = value("deleted file mode ") {
            found.change = Some(Change::Delete);
            mode(input, field)?;
        } else if let Some(field) = value("new mode ") {
            found.mode = Some(mode(input, field)?);
        } else if let Some(field) = value("index ") {
            let end = field.windows(2).position(|two| two == b"..");
            let id = &field[..end.unwrap_or(0)];
            let id = String::from_utf8_lossy(id).into_owned();
            let is_id = id.len() >= 7 && id.bytes().all(|b| b.is_ascii_hexdigit());
            found.old_blob = Some(id).filter(|_| is_id);
        } else if value("old mode ").is_none()
            && value("similarity index ").is_none()
            && value("dissimilarity index ").is_none()
        {
            break;
        }
        input.next();
    }
    if found.from.is_some() != found.to.is_some() {
        return Err(input.expected("both `rename from` and `rename to`"));
    }
    Ok(found)
}

/// The modes a kernel tree has: a file, an executable file, a symbolic link.
fn mode(input: &Input, field: &[u8]) -> Located<i32> {
    let text = String::from_utf8_lossy(field);
    match i32::from_str_radix(&text, 8) {
        Ok(0o100644 | 0o100664) => Ok(0o100644),
        Ok(mode @ (0o100755 | 0o120000)) => Ok(mode),
        Ok(0o160000) => Err(input.error(ReadErrorKind::Unsupported {
            what: "a change of a submodule",
            instead: "leave it out of the series",
        })),
        _ => Err(input.expected("one of the modes 100644, 100755 and 120000")),
    }
}
