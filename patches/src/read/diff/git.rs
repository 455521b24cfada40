//! Git's extended headers: files that are made, removed, renamed, copied, or
//! change their mode.

use super::names::Names;
use super::{Input, Located, binary, field, hunk, refuse_what_is_not_read};
use crate::model::is_empty_blob;
use crate::read::{ReadErrorKind, path};
use crate::text::shown;
use crate::{Change, FilePatch};

/// What the lines between `diff --git` and the hunks say.
#[derive(Default)]
struct Extended {
    change: Option<Change>,
    old_mode: Option<i32>,
    new_mode: Option<i32>,
    from: Option<String>,
    to: Option<String>,
    old_blob: Option<String>,
    new_blob: Option<String>,
    /// The line of the ids, where they say that the content changes.
    changes_content: Option<usize>,
}

/// One file of a git diff; `None` where it changes nothing, as git once printed for files that
/// were only touched.
pub(super) fn file(input: &mut Input) -> Located<Option<FilePatch>> {
    let line = input.peek(0).unwrap_or_default();
    let mut carriage_returns = line.ends_with(b"\r\n");
    let pair = path::parse_pair(field(line, b"diff --git ").unwrap_or_default())
        .map_err(|kind| input.error(kind))?;
    input.next();
    let extended = extended(input)?;
    let mut names = pair.clone();
    let mut hunks = Vec::new();
    let mut binary = None;
    if input.at_file_header() {
        let lines = Names::read(input, [b"--- ", b"+++ "], None)?;
        carriage_returns = lines.carriage_returns;
        names = match (lines.old, lines.new) {
            (Some(old), Some(new)) => Some((old, new)),
            (None, Some(new)) => Some((new.clone(), new)),
            (Some(old), None) => Some((old.clone(), old)),
            (None, None) => names,
        };
        // libgit2 names an empty file that is made or removed in these lines too.
        if extended.change.is_none() && !input.starts_with(0, b"@@ -") {
            return Err(input.expected("a hunk, `@@ -line,count +line,count @@`"));
        }
        hunks = hunk::all(input, carriage_returns)?;
    } else if input.starts_with(0, b"GIT binary patch") {
        binary = Some(binary::change(input)?);
    } else if let Some(line) = input.peek(0) {
        refuse_what_is_not_read(input, line)?;
    }
    let change = extended.change.unwrap_or(Change::Modify);
    let without_content = hunks.is_empty() && binary.is_none();
    if without_content {
        let name = names.as_ref().map(|(_, new)| new.as_str());
        extended.refuse_lost_content(change, name)?;
    }
    if change == Change::Modify && extended.new_mode.is_none() && without_content {
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
        old_mode: extended.old_mode,
        new_mode: extended.new_mode,
        strip,
        old_blob: extended.old_blob,
        new_blob: extended.new_blob,
        carriage_returns,
        hunks,
        binary,
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
            found.new_mode = Some(mode(input, field)?);
        } else if let Some(field) = value("deleted file mode ") {
            found.change = Some(Change::Delete);
            found.old_mode = Some(mode(input, field)?);
        } else if let Some(field) = value("old mode ") {
            found.old_mode = Some(mode(input, field)?);
        } else if let Some(field) = value("new mode ") {
            found.new_mode = Some(mode(input, field)?);
        } else if let Some(field) = value("index ") {
            found.index(input, field)?;
        } else if value("similarity index ").is_none() && value("dissimilarity index ").is_none() {
            break;
        }
        input.next();
    }
    if found.from.is_some() != found.to.is_some() {
        return Err(input.expected("both `rename from` and `rename to`"));
    }
    Ok(found)
}

impl Extended {
    /// `index <old>..<new> <mode>`; the mode is there where it stays as it is.
    fn index(&mut self, input: &Input, field: &[u8]) -> Located<()> {
        let mut words = field.splitn(2, |&b| b == b' ');
        let ids = words.next().unwrap_or_default();
        if let Some(field) = words.next() {
            self.old_mode = Some(mode(input, field.trim_ascii_end())?);
        }
        if let Some(dots) = ids.windows(2).position(|two| two == b"..") {
            let (old, new) = (&ids[..dots], &ids[dots + 2..]);
            self.old_blob = blob(old);
            self.new_blob = blob(new);
            self.changes_content = (old != new).then_some(input.line);
        }
        Ok(())
    }

    /// A file whose ids differ has a hunk or a binary change, unless it is made empty. `git am`
    /// refuses one that has neither, unless its mode or its name changes; then it makes that
    /// change alone. What is removed without its lines is refused where the file has lines.
    fn refuse_lost_content(&self, change: Change, name: Option<&str>) -> Located<()> {
        let made_empty = change == Change::Create
            && self.old_blob.is_none()
            && self.new_blob.as_deref().is_none_or(is_empty_blob);
        match self.changes_content {
            Some(line) if !made_empty && change != Change::Delete => {
                let name = self.to.as_deref().or(name).unwrap_or_default();
                Err((line, ReadErrorKind::ContentMissing(shown(name.as_bytes()))))
            }
            _ => Ok(()),
        }
    }
}

/// The id of a blob, which only zeros are not.
fn blob(id: &[u8]) -> Option<String> {
    let is_id = id.len() >= 7 && id.iter().all(u8::is_ascii_hexdigit);
    let is_file = id.iter().any(|&b| b != b'0');
    (is_id && is_file).then(|| String::from_utf8_lossy(id).into_owned())
}

/// The modes a kernel tree has: a file, an executable file, a symbolic link.
fn mode(input: &Input, field: &[u8]) -> Located<i32> {
    let text = String::from_utf8_lossy(field);
    match i32::from_str_radix(text.trim_end(), 8) {
        Ok(0o100644 | 0o100664) => Ok(0o100644),
        Ok(mode @ (0o100755 | 0o120000)) => Ok(mode),
        Ok(0o160000) => Err(input.error(ReadErrorKind::Unsupported {
            what: "a change of a submodule",
            instead: "leave it out of the series",
        })),
        _ => Err(input.expected("one of the modes 100644, 100755 and 120000")),
    }
}
