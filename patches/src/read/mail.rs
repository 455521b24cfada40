//! The mail around a patch. mail-parser reads headers and decodes; what git
//! adds to a mail (the subject's prefix, a second `From:` in the body) is
//! undone here.

mod body;
mod flowed;
mod header;
mod mbox;
mod parts;
mod twice;

pub(crate) use mbox::with_mbox_line;
pub(super) use twice::{are_same, change_one_file};

use super::mend::{self, Mended};
use super::{Located, Place, Placed, ReadErrorKind, charset, description, diff, tag};
use crate::{FilePatch, Header, Mend, MendKind, Trailers};
use body::Body;
use header::Fields;
use mbox::Raw;
use parts::{Content, Kind};
use twice::Seen;

/// Mails within mails.
const MAX_NESTING: usize = 4;

/// A mail taken apart.
pub(super) struct Mail {
    /// The number of its file, from 0.
    pub file: usize,
    /// Where it starts.
    pub at: Place,
    pub header: Header,
    /// The subject with all that stands before it.
    pub subject: String,
    /// Its Message-Id.
    pub id: Option<String>,
    /// The mails it answers.
    pub references: Vec<String>,
    pub trailers: Trailers,
    /// The bytes it was read from.
    pub source: Vec<u8>,
    /// It has patches attached that are mails of their own, and follow it.
    pub carries: bool,
    /// The line of the mail to which it is attached.
    pub inside: Option<usize>,
    /// What its diff does.
    pub changes: Located<Changes>,
}

/// What a mail does to files, and what had to be put right, with lines counted
/// in the file.
#[derive(Default)]
pub(super) struct Changes {
    pub files: Vec<FilePatch>,
    pub mends: Vec<Mend>,
}

/// What a mail says.
#[derive(Default)]
struct Text {
    body: Body,
    /// The same, if what says to be flowed is only stuffed, or not even that.
    unflowed: Vec<Body>,
    charset: Option<String>,
    mends: Vec<Mend>,
    /// Attached patches and forwarded mails, each read from these bytes.
    inner: Vec<Body>,
}

impl Mail {
    /// The files it changes; none where it has no diff.
    pub(super) fn files(&self) -> Placed<&[FilePatch]> {
        match &self.changes {
            Ok(changes) => Ok(&changes.files),
            Err(error) => Err(self.error(error.clone())),
        }
    }

    /// Trouble with a line of its file.
    pub(super) fn error(&self, (line, kind): (usize, ReadErrorKind)) -> (Place, ReadErrorKind) {
        let name = self.at.name.clone();
        (Place { name, line }, kind)
    }

    /// Makes lines of a text lines of the file that it was taken from.
    pub(super) fn place(&mut self, placed: impl Fn(usize) -> usize) {
        self.at.line = placed(self.at.line);
        self.inside = self.inside.map(&placed);
        match &mut self.changes {
            Ok(changes) => {
                let mends = changes.mends.iter_mut();
                mends.for_each(|mend| mend.line = placed(mend.line));
            }
            Err((line, _)) => *line = placed(*line),
        }
    }
}

/// Whether this is a mail and not a bare diff: an mbox line, or header fields
/// with at least one that only mails have.
pub(crate) fn is_mail(bytes: &[u8]) -> bool {
    let mut fields = bytes
        .split(|&b| b == b'\n')
        .skip_while(|line| line.trim_ascii().is_empty());
    let Some(first) = fields.next() else {
        return false;
    };
    if mbox::is_mbox_line(first) {
        return true;
    }
    std::iter::once(first)
        .chain(fields)
        .take_while(|line| is_field(line))
        .any(|line| {
            let start = line[..line.len().min(8)].to_ascii_lowercase();
            [&b"from:"[..], b"subject:", b"date:"]
                .iter()
                .any(|field| start.starts_with(field))
        })
}

/// `Name: value`, or the folded continuation of one.
fn is_field(line: &[u8]) -> bool {
    if line.starts_with(b" ") || line.starts_with(b"\t") {
        return true;
    }
    match line.iter().position(|&b| b == b':') {
        Some(colon) if colon > 0 => line[..colon]
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || *b == b'-'),
        _ => false,
    }
}

/// The mails that were read, those within mails after the mail that they are in.
#[derive(Default)]
pub(super) struct Mails {
    pub read: Vec<Mail>,
    /// Lines of all their texts together.
    lines: usize,
}

impl Mails {
    /// Reads all mails of the file of this number and name.
    pub(super) fn read_file(&mut self, file: usize, name: &str, bytes: &[u8]) -> Located<()> {
        let first = self.read.len();
        for raw in mbox::split(bytes) {
            self.read(&raw, None, 0)?;
        }
        for mail in &mut self.read[first..] {
            mail.file = file;
            mail.at.name = name.to_owned();
        }
        Ok(())
    }

    fn read(&mut self, raw: &Raw, inside: Option<usize>, nesting: usize) -> Located<()> {
        let at_start = |kind| (raw.line, kind);
        let bytes = raw.unescaped();
        let (head, head_lines) = parts::header(&bytes).map_err(at_start)?;
        let content = Content::read(head);
        let fields = header::fields(head, content.charset.as_deref())
            .ok_or_else(|| at_start(ReadErrorKind::Mail("it has no header")))?;
        let below = raw.line + head_lines;
        let mut text = text(content, &bytes[head.len()..], below).map_err(|kind| (below, kind));
        let (inner, lines) = text.as_mut().map_or_else(
            |_| (Vec::new(), 0),
            |text| (std::mem::take(&mut text.inner), text.body.ended),
        );
        self.lines += lines;
        if self.lines > diff::MAX_LINES {
            return Err(at_start(diff::too_many_lines()));
        }
        let carries = !inner.is_empty();
        let source = bytes.to_vec();
        self.read.push(Mail {
            carries,
            inside,
            source,
            ..mail(raw.line, fields, text)
        });
        if nesting == MAX_NESTING && carries {
            return Err(at_start(ReadErrorKind::Mail("too many mails in mails")));
        }
        for body in inner {
            for one in mbox::split(&body.bytes) {
                let line = body.lines.line(one.line);
                self.read(&Raw { line, ..one }, Some(raw.line), nesting + 1)?;
            }
        }
        Ok(())
    }
}

/// A mail that starts at this line.
fn mail(line: usize, fields: Fields, text: Located<Text>) -> Mail {
    let (text, trouble) = match text {
        Ok(text) => (text, None),
        Err(trouble) => (Text::default(), Some(trouble)),
    };
    let body = text.as_sent();
    let read = match trouble {
        Some(trouble) => Err(trouble),
        None => parse(body),
    };
    // What stands above a diff flows, even where the diff does not.
    let shown = match &read {
        Ok(read) if std::ptr::eq(body, &text.body) => &read.text[..],
        _ => &text.body.bytes,
    };
    let above = &shown[..diff::description_end(shown)];
    let above = charset::to_utf8(above, text.charset.as_deref());
    let above = above.replace("\r\n", "\n");
    let (own, message) = header::in_body(&above);
    let message = description::without_signature(message);
    let trailers = Trailers::of_mail(&message, shown);
    let subject = fields.subject.unwrap_or_default();
    let is_quoted = read.as_ref().is_ok_and(Mended::was_quoted);
    let is_decoded = match own.author {
        Some(_) => own.decoded,
        None => fields.decoded && !is_quoted,
    };
    let sender = (fields.author, fields.date);
    // Who answers with a patch quoted has not written it.
    let (author, date) = if is_quoted { (None, None) } else { sender };
    let decoded = is_decoded.then(|| mend::of_patch(MendKind::Entities, line, 1));
    let (date, trouble) = match own.date.or(date).transpose() {
        Ok(moment) => (moment, None),
        Err(text) => (None, Some((line, ReadErrorKind::Date(text)))),
    };
    let no_zone = date.is_some_and(|moment| !moment.has_zone);
    let zone = no_zone.then(|| mend::of_patch(MendKind::Zone, line, 1));
    let of_header: Vec<Mend> = decoded.into_iter().chain(zone).collect();
    let header = Header {
        subject: description::title(tag::without(own.subject.as_deref().unwrap_or(&subject))),
        author: own.author.or(author),
        date: date.map(|moment| moment.date),
        message,
    };
    let changes = match read {
        // No commit can hold one.
        Ok(_) if header.has_nul() => Err((line, ReadErrorKind::Mail("a NUL byte in its text"))),
        read => read.map(|read| Changes {
            files: read.files,
            mends: [read.mends, text.mends.clone(), of_header].concat(),
        }),
    };
    // A letter's own date is of no use.
    let changes = match (changes, trouble) {
        (Ok(changes), Some(trouble)) if !changes.files.is_empty() => Err(trouble),
        (changes, _) => changes,
    };
    Mail {
        file: 0,
        at: Place {
            name: String::new(),
            line,
        },
        header,
        subject,
        id: fields.id,
        references: fields.references,
        trailers,
        source: Vec::new(),
        carries: false,
        inside: None,
        changes,
    }
}

/// A text with its diff read and mended, and lines counted in the file.
fn parse(body: &Body) -> Located<Mended<'_>> {
    let placed = |line| body.lines.line(line);
    let mut read = mend::parse(&body.bytes, 1).map_err(|(line, kind)| (placed(line), kind))?;
    for mend in &mut read.mends {
        mend.line = placed(mend.line);
    }
    Ok(read)
}

/// The text of a mail, attached diffs included, in order.
fn text(content: Content, body: &[u8], line: usize) -> Result<Text, ReadErrorKind> {
    let mut text = Text::default();
    let mut html_only = true;
    let mut has_diff = false;
    let mut seen = Seen::default();
    for part in parts::split(content, body, line)? {
        let kind = part.content.kind;
        html_only &= kind == Kind::Html;
        if kind == Kind::Html {
            continue;
        }
        let decoded = match Body::decode(part.raw, part.content.encoding, part.line) {
            // A file that is no patch may be in any encoding.
            Err(_) if kind == Kind::Attachment && !has_diff_in(part.raw) => continue,
            decoded => decoded?,
        };
        let (decoded, mark) = without_mark(decoded)?;
        let is_mail = kind == Kind::Message
            || (kind == Kind::Attachment && is_mail(&decoded.bytes) && has_diff_in(&decoded.bytes));
        if is_mail {
            text.inner.push(decoded);
            continue;
        }
        if kind == Kind::Attachment {
            if !has_diff_in(&decoded.bytes) {
                continue;
            }
            if !has_diff {
                text.bodies().for_each(Body::drop_signature);
            }
        }
        if has_diff_in(&decoded.bytes) {
            has_diff = true;
            if seen.has(&decoded, part.content.flowed, kind == Kind::Attachment)? {
                text.mends.push(mend::of_patch(
                    MendKind::Twice,
                    part.line,
                    decoded.ended.max(1),
                ));
                continue;
            }
        }
        text.mends
            .extend(mark.map(|kind| mend::of_patch(kind, part.line, 1)));
        if text.charset.is_none() {
            text.charset = part.content.charset.clone();
        }
        text.add(&decoded, part.content.flowed);
    }
    if html_only {
        return Err(ReadErrorKind::Mail(
            "its text is only there as HTML; save it as plain text",
        ));
    }
    Ok(text)
}

impl Text {
    fn add(&mut self, part: &Body, flowed: Option<bool>) {
        if let Some(del_sp) = flowed {
            if self.unflowed.is_empty() {
                self.unflowed = vec![self.body.clone(); 2];
            }
            let flow = flowed::Flow { del_sp };
            let ways = [&flowed::unstuff(part), part];
            for (body, part) in self.unflowed.iter_mut().zip(ways) {
                body.append(part);
            }
            self.body.append(&flowed::join(part, flow));
        } else {
            self.bodies().for_each(|body| body.append(part));
        }
    }

    fn bodies(&mut self) -> impl Iterator<Item = &mut Body> {
        self.unflowed.iter_mut().chain([&mut self.body])
    }

    /// The text as it was before it was sent: hunks that are whole show which
    /// reading is right.
    fn as_sent(&self) -> &Body {
        let is_whole = |body: &&Body| diff::parse(&body.bytes, 1).is_ok();
        if self.unflowed.is_empty() || is_whole(&&self.body) {
            return &self.body;
        }
        let unflowed = self.unflowed.iter().find(is_whole);
        unflowed.unwrap_or(&self.body)
    }
}

/// A part without a byte order mark.
fn without_mark(body: Body) -> Result<(Body, Option<MendKind>), ReadErrorKind> {
    let (bytes, mark) = charset::without_mark(&body.bytes)?;
    if mark.is_none() {
        return Ok((body, None));
    }
    let bytes = bytes.into_owned();
    let ended = bytes.iter().filter(|&&b| b == b'\n').count();
    let lines = body.lines;
    Ok((
        Body {
            bytes,
            lines,
            ended,
        },
        mark,
    ))
}

/// Whether a text has lines that only diffs have.
fn has_diff_in(bytes: &[u8]) -> bool {
    bytes.split(|&b| b == b'\n').any(|line| {
        [&b"diff -"[..], b"--- ", b"*** ", b"Index: ", b"@@ -"]
            .iter()
            .any(|start| line.starts_with(start))
    })
}
