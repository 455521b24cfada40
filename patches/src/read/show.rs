//! What `git show` and `git log -p` print: a header, the message indented by
//! four blanks, then the diff.

mod order;

use super::{LeftOut, Located, ReadErrorKind, Reading, Reason, charset, date, mend, numbered};
use crate::{Date, Header, Patch, Person, Trailers};

/// What stands before each line of a message.
const INDENT: &[u8] = b"    ";

/// Lines between `commit` and the author at most: a signature may stand there.
const MAX_ABOVE_AUTHOR: usize = 64;

/// Whether a text begins as `git show` does, with a commit or with a tag of one.
pub(super) fn is_show(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    let is_tag = text.starts_with(b"tag ") && second_line(text).starts_with(b"Tagger:");
    begins_commit(text) || (is_tag && starts(text).next().is_some())
}

/// The patches of all commits, in the order in which they apply.
pub(super) fn read(name: &str, bytes: &[u8]) -> Located<Reading> {
    let mut shown = Vec::new();
    let mut left_out = Vec::new();
    let mut found = starts(bytes).peekable();
    let first_line = found.peek().map_or(1, |start| start.1);
    while let Some((at, line)) = found.next() {
        let end = found.peek().map_or(bytes.len(), |next| next.0);
        let commit = commit(&bytes[at..end], line)?;
        if commit.patch.files.is_empty() {
            left_out.push(LeftOut {
                subject: commit.patch.header.subject,
                name: name.to_owned(),
                line,
                why: Reason::NoDiff,
            });
        } else {
            shown.push(commit);
        }
    }
    if shown.is_empty() {
        return Err((first_line, ReadErrorKind::NoDiff));
    }
    if order::is_newest_first(&shown) {
        shown.reverse();
    }
    let named = |(index, commit): (usize, Commit)| Patch {
        name: numbered(name, index),
        ..commit.patch
    };
    Ok(Reading {
        patches: shown.into_iter().enumerate().map(named).collect(),
        cover: None,
        left_out,
    })
}

/// A commit, not yet named.
struct Commit {
    patch: Patch,
    /// When it was committed; when it was written, where only that is said.
    made: Option<Date>,
}

/// Where commits begin: the byte, and the line from 1.
fn starts(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    let lines = bytes.split_inclusive(|&b| b == b'\n').enumerate();
    lines.filter_map(move |(index, line)| {
        let start = at;
        at += line.len();
        begins_commit(&bytes[start..]).then_some((start, index + 1))
    })
}

/// `commit 1da177e4c3f4 (tag: v2.6.12)`, and an author below it. No line of a
/// diff begins so, and a message is indented.
fn begins_commit(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"commit ") else {
        return false;
    };
    let digits = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let ends = rest.get(digits).is_none_or(u8::is_ascii_whitespace);
    let mut header = text.split(|&b| b == b'\n').skip(1).take(MAX_ABOVE_AUTHOR);
    (7..=64).contains(&digits)
        && ends
        && header
            .by_ref()
            .take_while(|line| !line.trim_ascii().is_empty())
            .any(|line| line.starts_with(b"Author:") || line.starts_with(b"author "))
}

fn second_line(text: &[u8]) -> &[u8] {
    text.split(|&b| b == b'\n').nth(1).unwrap_or_default()
}

/// One commit, from its first line to the next one's.
fn commit(bytes: &[u8], line: usize) -> Located<Commit> {
    let mut head = Head::default();
    let mut message = Vec::new();
    let (mut at, mut lines) = (0, 0);
    let (mut in_header, mut in_notes) = (true, false);
    let mut notes = Vec::new();
    for raw in bytes.split_inclusive(|&b| b == b'\n') {
        let text = raw.trim_ascii_end();
        let indented = raw.strip_prefix(INDENT);
        if text.is_empty() {
            in_header = false;
        } else if in_header {
            head.note(text);
        } else if indented.is_none() && is_heading_of_notes(text) {
            in_notes = true;
        } else if indented.is_none() {
            break;
        }
        let part = if in_notes { &mut notes } else { &mut message };
        if !in_header {
            // A blank line of the message may have lost its indentation.
            part.extend_from_slice(indented.unwrap_or(b"\n"));
        }
        (at, lines) = (at + raw.len(), lines + 1);
    }
    let mend::Mended { files, mends, .. } = mend::parse(&bytes[at..], line + lines)?;
    let header = head.header(&message);
    if header.has_nul() {
        let kind = ReadErrorKind::Charset("a NUL byte in a commit's message");
        return Err((line, kind));
    }
    let notes = charset::to_utf8(&notes, None);
    let trailers = Trailers::of_mail(&format!("{}\n{notes}", header.message), &bytes[at..]);
    Ok(Commit {
        made: head.committed.or(header.date),
        patch: Patch {
            name: String::new(),
            header,
            trailers,
            mends,
            files,
            source: bytes.to_vec(),
        },
    })
}

/// `Notes:` or `Notes (review):`, which are no part of the message.
fn is_heading_of_notes(line: &[u8]) -> bool {
    line == b"Notes:" || (line.starts_with(b"Notes (") && line.ends_with(b"):"))
}

/// What stands above a message.
#[derive(Default)]
struct Head {
    author: Option<Person>,
    written: Option<Date>,
    committed: Option<Date>,
}

impl Head {
    /// A line of git's formats medium, full, fuller or raw.
    fn note(&mut self, line: &[u8]) {
        let line = charset::to_utf8(line, None);
        let field = |word| line.strip_prefix(word).map(str::trim);
        if let Some(author) = field("Author:") {
            self.author = person(author);
        } else if let Some(date) = field("AuthorDate:").or_else(|| field("Date:")) {
            self.written = date_in(date);
        } else if let Some(date) = field("CommitDate:") {
            self.committed = date_in(date);
        } else if let Some((who, when)) = field("author ").and_then(with_date) {
            (self.author, self.written) = (person(who), date_in(when));
        } else if let Some((_, when)) = field("committer ").and_then(with_date) {
            self.committed = date_in(when);
        }
    }

    fn header(&self, message: &[u8]) -> Header {
        let message = charset::to_utf8(message, None).replace("\r\n", "\n");
        let message = message.trim_matches('\n').trim_end();
        // As git has it: the subject is the first paragraph, on one line.
        let (title, rest) = message.split_once("\n\n").unwrap_or((message, ""));
        Header {
            subject: title.split_whitespace().collect::<Vec<_>>().join(" "),
            author: self.author.clone(),
            date: self.written,
            message: rest.trim_matches('\n').to_owned(),
        }
    }
}

/// Of `Jane Doe <jane@example.org> 1446122119 -0700`.
fn with_date(field: &str) -> Option<(&str, &str)> {
    let end = field.rfind('>')? + 1;
    Some((&field[..end], field[end..].trim()))
}

fn person(field: &str) -> Option<Person> {
    let (name, email) = field.strip_suffix('>')?.rsplit_once('<')?;
    let (name, email) = (name.trim(), email.trim());
    let name = if name.is_empty() { email } else { name };
    Some(Person {
        name: name.to_owned(),
        email: email.to_owned(),
    })
}

/// A date with its zone in git's formats default, iso, iso-strict, rfc and raw.
/// Others say no zone, or no moment.
fn date_in(field: &str) -> Option<Date> {
    let read = date::parse(field).filter(|moment| moment.has_zone);
    read.map(|moment| moment.date)
}
