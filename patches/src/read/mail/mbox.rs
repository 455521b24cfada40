//! Where the mails of an mbox begin and end.

use std::borrow::Cow;

/// One mail as it stands in the file.
pub(super) struct Raw<'a> {
    /// The line of the file at which it starts, from 1, after the mbox line.
    pub line: usize,
    /// The bytes between two mbox lines.
    pub bytes: &'a [u8],
    /// Its lines that begin with `From ` were marked with `>`.
    pub escaped: bool,
}

impl<'a> Raw<'a> {
    /// A mail that stands by itself.
    pub(super) fn alone(bytes: &'a [u8], line: usize) -> Raw<'a> {
        let text = bytes.trim_ascii_start();
        let skipped = &bytes[..bytes.len() - text.len()];
        Raw {
            line: line + newlines(skipped),
            bytes: text,
            escaped: false,
        }
    }

    /// The mail with the `>` taken off that an mbox puts before `From ` (mboxo)
    /// and before `>From ` (mboxrd). Lines of a diff never begin so.
    pub(super) fn unescaped(&self) -> Cow<'a, [u8]> {
        let is_escape = |line: &[u8]| {
            let marks = line.iter().take_while(|&&b| b == b'>').count();
            marks > 0 && line[marks..].starts_with(b"From ")
        };
        let lines = || self.bytes.split_inclusive(|&b| b == b'\n');
        if !self.escaped || !lines().any(is_escape) {
            return Cow::Borrowed(self.bytes);
        }
        let mut text = Vec::with_capacity(self.bytes.len());
        for line in lines() {
            text.extend_from_slice(&line[usize::from(is_escape(line))..]);
        }
        Cow::Owned(text)
    }
}

/// `From <who> Mon Sep 17 00:00:00 2001`. The clock time tells it from a
/// sentence of the description that begins with "From".
pub(super) fn is_mbox_line(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else {
        return false;
    };
    let digit = |at: usize| rest.get(at).is_some_and(u8::is_ascii_digit);
    let clock =
        |at: usize| digit(at) && digit(at + 1) && rest.get(at + 2) == Some(&b':') && digit(at + 3);
    let Some(at) = (1..rest.len()).find(|&at| clock(at)) else {
        return false;
    };
    rest[at..]
        .split(|b| b.is_ascii_whitespace())
        .any(|word| word.len() == 4 && word.iter().all(u8::is_ascii_digit))
}

/// The line that `git format-patch` writes: a commit and always the same
/// moment. Git marks no `From ` in what follows.
pub(super) fn is_git_line(line: &[u8]) -> bool {
    let words = line.trim_ascii_end().strip_prefix(b"From ");
    let commit = words.and_then(|rest| rest.strip_suffix(b" Mon Sep 17 00:00:00 2001"));
    commit.is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit))
}

/// The mails of an mbox; a file that does not begin with an mbox line is one
/// mail, whatever its body holds.
pub(super) fn split(bytes: &[u8]) -> Vec<Raw<'_>> {
    let text = bytes.trim_ascii_start();
    if !is_mbox_line(text.split(|&b| b == b'\n').next().unwrap_or_default()) {
        return vec![Raw::alone(bytes, 1)];
    }
    let mut mails: Vec<Raw> = Vec::new();
    let mut at = 0;
    let mut start = 0;
    for (index, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
        let end = at + line.len();
        if is_mbox_line(line) {
            if let Some(before) = mails.last_mut() {
                before.bytes = &bytes[start..at];
            }
            start = end;
            mails.push(Raw {
                line: index + 2,
                bytes: &bytes[start..],
                escaped: !is_git_line(line),
            });
        }
        at = end;
    }
    mails
}

/// What `git format-patch` writes above a mail, without a commit's hash.
const LINE: &[u8] = b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n";

/// A mail as it stands in an mbox; anything else, and what has such a line, as it is.
pub(crate) fn with_mbox_line(bytes: &[u8]) -> Cow<'_, [u8]> {
    if without_mbox_line(bytes).len() < bytes.len() || !super::is_mail(bytes) {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned([LINE, bytes.trim_ascii_start()].concat())
}

/// A mail without the mbox line above it.
fn without_mbox_line(bytes: &[u8]) -> &[u8] {
    let text = bytes.trim_ascii_start();
    let end = text.iter().position(|&b| b == b'\n').unwrap_or(text.len());
    match is_mbox_line(&text[..end]) {
        true => text.get(end + 1..).unwrap_or_default(),
        false => bytes,
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b == b'\n').count()
}
