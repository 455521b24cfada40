//! A line of a damaged text, which keeps the number it has in the file.

use std::borrow::Cow;

/// A line. One that was joined to another has no text left.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    /// With its line end.
    pub text: Cow<'a, [u8]>,
    /// Its number in the file, from 1.
    pub number: usize,
}

/// What the first byte says that a line of a hunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Context,
    Removed,
    Added,
    /// Nothing at all: an empty context line whose blank is gone, or no line of the hunk.
    Empty,
    /// `\ No newline at end of file`
    NoNewline,
    /// No line of a hunk, as it stands.
    Missing,
}

impl Row<'_> {
    /// The line without its end.
    pub(super) fn content(&self) -> &[u8] {
        let line = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    pub(super) fn mark(&self) -> Mark {
        match self.content() {
            [] => Mark::Empty,
            [b' ', ..] => Mark::Context,
            [b'-', ..] => Mark::Removed,
            [b'+', ..] => Mark::Added,
            // In any language; a lone backslash is the end of a macro's line
            // that was wrapped. So is git's rule.
            line @ [b'\\', b' ', ..] if line.len() >= 12 => Mark::NoNewline,
            _ => Mark::Missing,
        }
    }

    pub(super) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.text.starts_with(prefix)
    }

    /// Puts the text of another line behind this one's, which loses its own line end.
    pub(super) fn join(&mut self, between: &[u8], tail: &[u8]) {
        let length = self.content().len();
        let text = self.text.to_mut();
        text.truncate(length);
        text.extend_from_slice(between);
        text.extend_from_slice(tail);
    }
}

/// The lines of a text whose first line has the number `first`.
pub(super) fn rows(bytes: &[u8], first: usize) -> Vec<Row<'_>> {
    let lines = bytes.split_inclusive(|&b| b == b'\n');
    let numbered = lines.zip(first..);
    numbered
        .map(|(line, number)| Row {
            text: Cow::Borrowed(line),
            number,
        })
        .collect()
}

/// The text that rows make.
pub(super) fn text(rows: &[Row]) -> Vec<u8> {
    let mut text = Vec::with_capacity(rows.iter().map(|row| row.text.len()).sum());
    for row in rows {
        text.extend_from_slice(&row.text);
    }
    text
}
