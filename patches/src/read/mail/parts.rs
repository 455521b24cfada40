//! The parts of a MIME mail (RFC 2046).
//!
//! mail-parser reads each part's header. Where parts begin and end is found
//! here: mail-parser looks for a boundary anywhere in a line, reads a text again
//! for each boundary that is missing, and nests without a bound.

use mail_parser::{MessageParser, MimeHeaders};

use super::ReadErrorKind;

/// Multiparts within each other. People have three, git reads five.
const MAX_DEPTH: usize = 16;
/// Parts of one mail.
const MAX_PARTS: usize = 10_000;
/// The longest header of a mail or a part that is read, in bytes.
const MAX_HEADER: usize = 256 << 10;

/// How a part's bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As they are.
    Plain,
    QuotedPrintable,
    Base64,
    /// Uuencode and the like.
    Unknown,
}

/// What a part is to a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What the mailer shows.
    Text,
    Html,
    /// A mail in the mail.
    Message,
    /// A file: its content tells whether it is a patch.
    Attachment,
}

/// What a part's header says.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub kind: Kind,
    pub encoding: Encoding,
    pub charset: Option<String>,
    /// `format=flowed`, and then whether `DelSp=yes`.
    pub flowed: Option<bool>,
    /// Of a multipart: what parts are divided by, and whether they say the same.
    boundary: Option<(Vec<u8>, bool)>,
}

/// One part that holds no others.
pub(super) struct Part<'a> {
    pub content: Content,
    pub raw: &'a [u8],
    /// The line of the file at which it starts.
    pub line: usize,
}

/// The header at the start of a mail or a part, and the lines it takes with
/// the blank one under it.
pub(super) fn header(bytes: &[u8]) -> Result<(&[u8], usize), ReadErrorKind> {
    let mut at = 0;
    let mut count = 0;
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        at += line.len();
        count += 1;
        if at > MAX_HEADER {
            return Err(ReadErrorKind::Mail("its header is longer than 256 KiB"));
        }
        if line.trim_ascii().is_empty() {
            break;
        }
    }
    Ok((&bytes[..at], count))
}

impl Content {
    pub(super) fn read(header: &[u8]) -> Content {
        let parsed = MessageParser::default().parse_headers(header);
        let part = parsed.as_ref().and_then(|message| message.parts.first());
        let content_type = part.and_then(|part| part.content_type());
        let disposition = part.and_then(|part| part.content_disposition());
        let kind = content_type.map_or("text", |t| t.ctype());
        let subtype = content_type.and_then(|t| t.subtype()).unwrap_or("plain");
        let attribute = |name| content_type.and_then(|t| t.attribute(name));
        let is_file = disposition.is_some_and(|d| d.is_attachment() || d.has_attribute("filename"))
            || attribute("name").is_some();
        let encoding = part.and_then(|part| part.content_transfer_encoding());
        Content {
            kind: match (kind, subtype) {
                ("message", "rfc822" | "global") => Kind::Message,
                ("text", "html") => Kind::Html,
                ("text", _) if !is_file => Kind::Text,
                _ => Kind::Attachment,
            },
            encoding: match encoding
                .map(str::trim)
                .map(str::to_ascii_lowercase)
                .as_deref()
            {
                None | Some("7bit" | "8bit" | "binary" | "") => Encoding::Plain,
                Some("quoted-printable") => Encoding::QuotedPrintable,
                Some("base64") => Encoding::Base64,
                Some(_) => Encoding::Unknown,
            },
            charset: attribute("charset").map(str::to_owned),
            flowed: attribute("format")
                .filter(|format| format.eq_ignore_ascii_case("flowed"))
                .map(|_| attribute("delsp").is_some_and(|d| d.eq_ignore_ascii_case("yes"))),
            boundary: attribute("boundary")
                .filter(|boundary| kind == "multipart" && !boundary.is_empty())
                .map(|boundary| (boundary.as_bytes().to_vec(), subtype == "alternative")),
        }
    }
}

/// The parts of a mail's body, in order; of parts that say the same, text
/// before HTML, and the first text only.
pub(super) fn split<'a>(
    content: Content,
    body: &'a [u8],
    line: usize,
) -> Result<Vec<Part<'a>>, ReadErrorKind> {
    if let Some((boundary, alternative)) = content.boundary {
        let mut walk = Walk {
            body,
            line,
            levels: vec![Level::new(boundary, alternative)],
            parts: Vec::new(),
        };
        walk.run()?;
        if !walk.parts.is_empty() {
            return Ok(walk.parts);
        }
        // Its boundary is nowhere: a mailer that lost it, or one that never was.
        return Ok(vec![Part {
            content: Content {
                kind: Kind::Text,
                boundary: None,
                ..content
            },
            raw: body,
            line,
        }]);
    }
    let kind = match content.kind {
        // All there is, so it is what to read, whatever it is called.
        Kind::Attachment => Kind::Text,
        kind => kind,
    };
    Ok(vec![Part {
        content: Content { kind, ..content },
        raw: body,
        line,
    }])
}

/// A multipart that has begun and not ended.
struct Level {
    /// `--` and the boundary.
    delimiter: Vec<u8>,
    alternative: bool,
    has_text: bool,
}

impl Level {
    fn new(boundary: Vec<u8>, alternative: bool) -> Level {
        Level {
            delimiter: [&b"--"[..], &boundary].concat(),
            alternative,
            has_text: false,
        }
    }
}

/// Where in the body the lines are.
enum State {
    /// Before a multipart's first part, or after its last.
    Between,
    /// In a part's header, which starts here.
    Header { from: usize },
    /// In a part, which starts here.
    Part {
        from: usize,
        line: usize,
        content: Content,
    },
}

struct Walk<'a> {
    body: &'a [u8],
    line: usize,
    levels: Vec<Level>,
    parts: Vec<Part<'a>>,
}

impl Walk<'_> {
    fn run(&mut self) -> Result<(), ReadErrorKind> {
        let mut state = State::Between;
        let mut at = 0;
        for (index, line) in self.body.split_inclusive(|&b| b == b'\n').enumerate() {
            let end = at + line.len();
            if let Some((level, last)) = self.boundary(line) {
                self.finish(state, at)?;
                self.levels.truncate(level + usize::from(!last));
                state = match last {
                    true => State::Between,
                    false => State::Header { from: end },
                };
            } else if let State::Header { from } = state {
                if end - from > MAX_HEADER {
                    return Err(ReadErrorKind::Mail("a header is longer than 256 KiB"));
                }
                if line.trim_ascii().is_empty() {
                    let content = Content::read(&self.body[from..end]);
                    state = self.begin(content, end, self.line + index + 1)?;
                }
            }
            at = end;
        }
        self.finish(state, at)
    }

    /// Which multipart a line divides or ends, and whether it ends it.
    fn boundary(&self, line: &[u8]) -> Option<(usize, bool)> {
        if !line.starts_with(b"--") {
            return None;
        }
        let line = line.trim_ascii_end();
        let found = |level: &Level| {
            let rest = line.strip_prefix(&level.delimiter[..])?;
            match rest {
                b"" => Some(false),
                b"--" => Some(true),
                _ => None,
            }
        };
        let levels = self.levels.iter().enumerate().rev();
        levels
            .filter_map(|(level, it)| Some((level, found(it)?)))
            .next()
    }

    fn begin(
        &mut self,
        content: Content,
        from: usize,
        line: usize,
    ) -> Result<State, ReadErrorKind> {
        let Some((boundary, alternative)) = content.boundary else {
            return Ok(State::Part {
                from,
                line,
                content,
            });
        };
        if self.levels.len() == MAX_DEPTH {
            return Err(ReadErrorKind::Mail("more than 16 parts within each other"));
        }
        self.levels.push(Level::new(boundary, alternative));
        Ok(State::Between)
    }

    fn finish(&mut self, state: State, end: usize) -> Result<(), ReadErrorKind> {
        let State::Part {
            from,
            line,
            content,
        } = state
        else {
            return Ok(());
        };
        if let Some(level) = self.levels.last_mut().filter(|level| level.alternative)
            && content.kind == Kind::Text
            && std::mem::replace(&mut level.has_text, true)
        {
            return Ok(());
        }
        if self.parts.len() == MAX_PARTS {
            return Err(ReadErrorKind::Mail("it has more than 10,000 parts"));
        }
        self.parts.push(Part {
            content,
            raw: &self.body[from..end],
            line,
        });
        Ok(())
    }
}
