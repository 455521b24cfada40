//! The mail around a patch. mail-parser decodes; what git adds to a mail
//! (the subject's prefix, a second `From:` in the body) is undone here.

use mail_parser::decoders::{base64::base64_decode, quoted_printable::quoted_printable_decode};
use mail_parser::{Encoding, Message, MessageParser, MessagePart, PartType};

use super::ReadErrorKind;
use super::diff;
use crate::text::lines;
use crate::{Date, Header, Person};

/// A mail taken apart.
pub(super) struct Mail {
    pub header: Header,
    /// The text as bytes: transfer encoding undone, character set left alone,
    /// because the tree's bytes may be in any.
    pub body: Vec<u8>,
    pub is_cover_letter: bool,
    /// Lines of the mail before the body; `None` where decoding moved lines.
    lines_before: Option<usize>,
}

impl Mail {
    /// The line at which the body starts, for messages.
    pub(super) fn first_line_after(&self, first_line: usize) -> usize {
        self.lines_before.map_or(1, |n| first_line + n)
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
    if is_mbox_line(first) {
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

/// `From <who> Mon Sep 17 00:00:00 2001`. The clock time tells it from a
/// sentence of the description that begins with "From".
fn is_mbox_line(line: &[u8]) -> bool {
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

/// The mails of an mbox, each with the line at which it starts; one mail
/// without an mbox line is an mbox of one.
pub(super) fn split(bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut starts = Vec::new();
    let mut at = 0;
    for (index, line) in lines(bytes).into_iter().enumerate() {
        if is_mbox_line(line) {
            starts.push((index + 2, at, at + line.len()));
        }
        at += line.len();
    }
    if starts.is_empty() {
        let text = bytes.trim_ascii_start();
        let skipped = &bytes[..bytes.len() - text.len()];
        return vec![(1 + newlines(skipped), text)];
    }
    let ends = starts.iter().skip(1).map(|&(_, from, _)| from);
    let ends: Vec<usize> = ends.chain([bytes.len()]).collect();
    let mails = starts.iter().zip(ends);
    mails
        .map(|(&(line, _, after), end)| (line, &bytes[after..end]))
        .collect()
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b == b'\n').count()
}

/// Takes one mail apart.
pub(super) fn parse(bytes: &[u8]) -> Result<Mail, ReadErrorKind> {
    let message = MessageParser::default()
        .parse(bytes)
        .ok_or(ReadErrorKind::Mail("it has no header"))?;
    let (body, lines_before) = body(&message, bytes)?;
    let description = description(&message, &body);
    let (in_body, description) = in_body_header(&description);
    let raw_subject = message.subject().unwrap_or_default();
    let subject = in_body.subject.as_deref().unwrap_or(raw_subject);
    Ok(Mail {
        header: Header {
            subject: clean_subject(subject),
            author: in_body.author.or_else(|| author(&message)),
            date: in_body.date.or_else(|| message.date().map(date)),
            message: description.trim().to_owned(),
        },
        body,
        is_cover_letter: is_cover_letter(raw_subject),
        lines_before,
    })
}

/// All text of the mail, attached patches included, in order.
fn body(message: &Message, bytes: &[u8]) -> Result<(Vec<u8>, Option<usize>), ReadErrorKind> {
    let mut body = Vec::new();
    let mut lines_before = None;
    for part in text_parts(message) {
        let raw = bytes
            .get(part.offset_body as usize..part.offset_end as usize)
            .unwrap_or_default();
        match part.encoding {
            Encoding::None => {
                if body.is_empty() {
                    lines_before = Some(newlines(&bytes[..part.offset_body as usize]));
                }
                body.extend_from_slice(raw);
            }
            Encoding::QuotedPrintable => body.extend(
                quoted_printable_decode(raw)
                    .ok_or(ReadErrorKind::Mail("its quoted-printable text is damaged"))?,
            ),
            Encoding::Base64 => body.extend(
                base64_decode(raw).ok_or(ReadErrorKind::Mail("its base64 text is damaged"))?,
            ),
        }
    }
    Ok((body, lines_before))
}

fn text_parts<'a>(message: &'a Message<'a>) -> impl Iterator<Item = &'a MessagePart<'a>> {
    message.parts.iter().filter(|part| match &part.body {
        PartType::Text(_) => true,
        PartType::Binary(_) | PartType::InlineBinary(_) => true,
        PartType::Html(_) | PartType::Message(_) | PartType::Multipart(_) => false,
    })
}

/// The text above the diff, in the mail's own character set.
fn description(message: &Message, body: &[u8]) -> String {
    let decoded = text_parts(message).find_map(|part| part.text_contents());
    match decoded {
        Some(text) => {
            let end = diff::description_end(text.as_bytes());
            text.get(..end).unwrap_or(text).replace("\r\n", "\n")
        }
        None => String::from_utf8_lossy(&body[..diff::description_end(body)]).into_owned(),
    }
}

#[derive(Default)]
struct InBody {
    author: Option<Person>,
    subject: Option<String>,
    date: Option<Date>,
}

/// `From:`, `Subject:` and `Date:` at the top of the body are the author's
/// own, where somebody else sent the mail; they win over the mail's.
fn in_body_header(text: &str) -> (InBody, String) {
    let mut found = InBody::default();
    let text = text.trim_start_matches('\n');
    let is_ours = |line: &str| {
        ["From: ", "Subject: ", "Date: "]
            .iter()
            .any(|field| line.starts_with(field))
    };
    let length: usize = text
        .split_inclusive('\n')
        .take_while(|line| is_ours(line))
        .map(str::len)
        .sum();
    if length == 0 {
        return (found, text.to_owned());
    }
    if let Some(message) = MessageParser::default().parse(&text.as_bytes()[..length]) {
        found.author = author(&message);
        found.subject = message.subject().map(str::to_owned);
        found.date = message.date().map(date);
    }
    (found, text[length..].to_owned())
}

fn author(message: &Message) -> Option<Person> {
    let from = message.from()?.first()?;
    let email = from.address()?.trim().to_owned();
    let name = from.name().unwrap_or(&email).trim().to_owned();
    Some(Person { name, email })
}

fn date(date: &mail_parser::DateTime) -> Date {
    let minutes = i32::from(date.tz_hour) * 60 + i32::from(date.tz_minute);
    Date {
        seconds: date.to_timestamp(),
        offset_minutes: if date.tz_before_gmt {
            -minutes
        } else {
            minutes
        },
    }
}

/// `[PATCH v2 0/3]` opens a series and carries no diff.
fn is_cover_letter(subject: &str) -> bool {
    let Some((tag, _)) = subject.split_once(']') else {
        return false;
    };
    tag.split(|c: char| !c.is_ascii_digit() && c != '/')
        .filter_map(|word| word.split_once('/'))
        .any(|(number, of)| number.parse() == Ok(0u32) && of.parse::<u32>().is_ok())
}

/// The subject as git takes it: without `Re:` and without the tags in brackets.
fn clean_subject(subject: &str) -> String {
    let mut rest = subject.trim();
    loop {
        let without_reply = rest
            .get(..3)
            .filter(|start| start.eq_ignore_ascii_case("re:"))
            .map(|_| &rest[3..]);
        let without_tag = rest
            .strip_prefix('[')
            .and_then(|tag| tag.split_once(']'))
            .map(|(_, after)| after);
        match without_reply.or(without_tag) {
            Some(shorter) => rest = shorter.trim_start(),
            None => break,
        }
    }
    rest.split_whitespace().collect::<Vec<_>>().join(" ")
}
