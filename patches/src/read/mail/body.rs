//! A mail's text as bytes: transfer encoding undone, character set left alone.

use mail_parser::decoders::{base64::base64_decode, quoted_printable::quoted_printable_decode};

use super::parts::Encoding;
use crate::read::ReadErrorKind;
use crate::read::lines::LineMap;

/// Text, and where in the file its lines come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::read) struct Body {
    pub bytes: Vec<u8>,
    pub lines: LineMap,
    /// Lines that have ended, so that text can be added.
    pub(super) ended: usize,
}

impl Body {
    /// A part without its transfer encoding. `line` is where it starts in the
    /// file; what base64 held has no lines there, and counts from 1.
    pub(super) fn decode(
        raw: &[u8],
        encoding: Encoding,
        line: usize,
    ) -> Result<Body, ReadErrorKind> {
        let mut body = Body::default();
        match encoding {
            Encoding::Plain => {
                body.bytes = raw.to_vec();
                body.lines = LineMap::starting_at(line);
            }
            Encoding::QuotedPrintable => {
                body = quoted_printable(raw, line)
                    .ok_or(ReadErrorKind::Mail("its quoted-printable text is damaged"))?;
            }
            Encoding::Base64 => {
                body.bytes = base64_decode(without_footer(raw))
                    .ok_or(ReadErrorKind::Mail("its base64 text is damaged"))?;
                body.lines = LineMap::starting_at(1);
            }
            Encoding::Unknown => {
                return Err(ReadErrorKind::Mail("its transfer encoding is not known"));
            }
        }
        body.ended = body.bytes.iter().filter(|&&b| b == b'\n').count();
        Ok(body)
    }

    /// Adds a part below this one, on a line of its own.
    pub(super) fn append(&mut self, part: &Body) {
        if !self.bytes.is_empty() && !self.bytes.ends_with(b"\n") {
            self.bytes.push(b'\n');
            self.ended += 1;
        }
        self.lines.append(&part.lines, self.ended);
        self.bytes.extend_from_slice(&part.bytes);
        self.ended += part.ended;
    }

    /// Takes off the signature below a letter to which a patch is attached.
    pub(super) fn drop_signature(&mut self) {
        let mut at = 0;
        for line in self.bytes.split_inclusive(|&b| b == b'\n') {
            if matches!(line, b"-- \n" | b"-- \r\n") {
                self.bytes.truncate(at);
                self.ended = self.bytes.iter().filter(|&&b| b == b'\n').count();
                return;
            }
            at += line.len();
        }
    }
}

/// Decoded line by line, because mail-parser makes all line ends those of the
/// first CR LF, and a patch may have both. A line that ends in `=` goes on in the next.
fn quoted_printable(raw: &[u8], first: usize) -> Option<Body> {
    let mut body = Body {
        lines: LineMap::starting_at(first),
        ..Body::default()
    };
    let mut text = 1;
    for (index, line) in raw.split_inclusive(|&b| b == b'\n').enumerate() {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        let end = &line[content.len()..];
        // RFC 2045, section 6.7 (3): blanks at the end of a line were added on the way.
        let content = content.trim_ascii_end();
        if let Some(broken) = content.strip_suffix(b"=") {
            body.bytes.extend(quoted_printable_decode(broken)?);
        } else {
            body.bytes.extend(quoted_printable_decode(content)?);
            body.bytes.extend_from_slice(end);
            text += 1;
            body.lines.start(text, first + index + 1);
        }
    }
    Some(body)
}

/// Some list servers put their footer below a mail without a look at its encoding.
fn without_footer(raw: &[u8]) -> &[u8] {
    let mut at = 0;
    for line in raw.split_inclusive(|&b| b == b'\n') {
        let text = line.trim_ascii_end();
        if text == b"--" || text.starts_with(b"____") {
            return &raw[..at];
        }
        at += line.len();
    }
    raw
}
