//! The two lines that name a file.

use super::{Input, Located, field};
use crate::read::path;

/// The `---` and `+++` lines, or `***` and `---`.
pub(super) struct Names {
    pub old: Option<String>,
    pub new: Option<String>,
    /// The line says that there is no file of that name, or may say so: a date of 1970.
    pub old_absent: bool,
    pub new_absent: bool,
    pub carriage_returns: bool,
}

impl Names {
    /// `fuller` is there for a plain diff, whose names are followed by dates.
    pub(super) fn read(
        input: &mut Input,
        words: [&[u8]; 2],
        fuller: Option<&Fuller>,
    ) -> Located<Names> {
        let carriage_returns = input.peek(0).is_some_and(|line| line.ends_with(b"\r\n"));
        let (old, old_absent) = name(input, words[0], fuller)?;
        let (new, new_absent) = name(input, words[1], fuller)?;
        Ok(Names {
            old,
            new,
            old_absent,
            new_absent,
            carriage_returns,
        })
    }
}

/// One name, `None` for /dev/null, and whether what follows says that it is absent.
fn name(
    input: &mut Input,
    word: &[u8],
    fuller: Option<&Fuller>,
) -> Located<(Option<String>, bool)> {
    let line = input.peek(0).unwrap_or_default();
    let rest = field(line, word).unwrap_or_default();
    let read = match fuller {
        Some(_) => path::parse_dated(rest),
        None => path::parse(rest).map(|name| (name, &b""[..])),
    };
    let (name, date) = read.map_err(|kind| input.error(kind))?;
    let absent = is_absent(date);
    input.next();
    let name = Some(name).filter(|name| name != "/dev/null");
    let name = match fuller {
        Some(fuller) => name.map(|name| fuller.of(name)),
        None => name,
    };
    Ok((name, absent))
}

/// The epoch in some zone, or Subversion's words.
fn is_absent(date: &[u8]) -> bool {
    let date = date.trim_ascii();
    let starts: [&[u8]; 9] = [
        b"1970-01-01 ",
        b"1969-12-31 ",
        b"1970/01/01 ",
        b"1969/12/31 ",
        b"Thu Jan  1 ",
        b"Thu Jan 1 ",
        b"Thu Jan 01 ",
        b"Wed Dec 31 ",
        b"1 Jan 1970 ",
    ];
    let year = || {
        let has = |year: &[u8; 4]| date.windows(4).any(|four| four == year);
        has(b"1970") || has(b"1969")
    };
    date.starts_with(b"(nonexistent)")
        || date.starts_with(b"(revision 0)")
        || (starts.iter().any(|start| date.starts_with(start)) && year())
}

/// The names that CVS and Subversion print above a diff: `cvs diff` puts the
/// file's last component alone on the `---` line in some versions.
#[derive(Default)]
pub(super) struct Fuller {
    index: Option<String>,
    rcs: Option<String>,
}

impl Fuller {
    /// Takes a line above a diff into account.
    pub(super) fn note(&mut self, line: &[u8]) {
        let name = |field: &[u8]| path::parse(field.trim_ascii()).ok();
        if let Some(field) = field(line, b"Index: ") {
            *self = Fuller {
                index: name(field),
                rcs: None,
            };
        } else if let Some(field) = field(line, b"RCS file: ") {
            let file = name(field).and_then(|name| name.strip_suffix(",v").map(str::to_owned));
            // Where CVS keeps the files that it has no longer.
            self.rcs = file.map(|file| file.replacen("/Attic/", "/", 1));
        }
    }

    /// The name that ends in the given one and says more.
    fn of(&self, name: String) -> String {
        let says_more = |fuller: &&String| {
            let folder = fuller.strip_suffix(name.as_str());
            folder.is_some_and(|folder| folder.ends_with('/'))
        };
        let fuller = self.index.iter().chain(&self.rcs).find(says_more);
        fuller.cloned().unwrap_or(name)
    }
}
