//! Who wrote a patch and when: from the mail's header, and from the one that
//! git puts at the top of the body where somebody else sends the mail.

use std::borrow::Cow;

use mail_parser::{Message, MessageParser};

use super::mbox;
use crate::Person;
use crate::read::charset;
use crate::read::date::{self, Moment};
use crate::text::shown;

/// The fields of a header that matter here.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    pub subject: Option<String>,
    pub author: Option<Person>,
    /// The author's address stood there as `&lt;a@b&gt;`.
    pub decoded: bool,
    /// When it was written; an error with what stands there if that is no date.
    pub date: Option<Result<Moment, String>>,
    pub id: Option<String>,
    /// The mails that this one answers.
    pub references: Vec<String>,
}

/// Reads a header; `charset` is for bytes that no field may have as they are.
pub(super) fn fields(header: &[u8], charset: Option<&str>) -> Option<Fields> {
    let header = match std::str::from_utf8(header) {
        Ok(_) => Cow::Borrowed(header),
        Err(_) => Cow::Owned(charset::to_utf8(header, charset).into_bytes()),
    };
    let message = MessageParser::default().parse_headers(&header[..])?;
    let ids = |value: &mail_parser::HeaderValue| -> Vec<String> {
        let one = value.as_text().map(str::to_owned);
        let list = value.as_text_list().unwrap_or_default();
        one.into_iter()
            .filter(|_| list.is_empty())
            .chain(list.iter().map(|id| id.to_string()))
            .collect()
    };
    let mut references = ids(message.in_reply_to());
    references.extend(ids(message.references()));
    references.sort_unstable();
    references.dedup();
    Some(Fields {
        subject: message.subject().map(str::to_owned),
        author: author(&message),
        decoded: message.header_raw("From").is_some_and(is_escaped),
        date: message.header_raw("Date").and_then(moment),
        id: message.message_id().map(str::to_owned),
        references,
    })
}

/// `From:`, `Subject:` and `Date:` at the top of the body are the author's
/// own, where somebody else sent the mail; they win over the mail's. Returns
/// the text below them too.
pub(super) fn in_body(text: &str) -> (Fields, &str) {
    let mut text = text.trim_start_matches('\n');
    // A whole format-patch mail, pasted.
    let (first, below) = text.split_once('\n').unwrap_or((text, ""));
    let first = first.strip_prefix('>').unwrap_or(first);
    if mbox::is_git_line(first.as_bytes()) {
        text = below;
    }
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let begins = ["From: ", "Subject: ", "Date: "]
            .iter()
            .any(|field| line.starts_with(field));
        let goes_on = length > 0 && line.starts_with([' ', '\t']) && !line.trim().is_empty();
        if !begins && !goes_on {
            break;
        }
        length += line.len();
    }
    let (top, rest) = text.split_at(length);
    let found = if top.is_empty() {
        Fields::default()
    } else {
        fields(top.as_bytes(), None).unwrap_or_default()
    };
    (found, rest)
}

/// What a `Date:` says; an empty one says nothing.
fn moment(field: &str) -> Option<Result<Moment, String>> {
    let field = field.trim();
    let read = || date::parse(field).ok_or_else(|| shown(field.as_bytes()));
    (!field.is_empty()).then(read)
}

fn author(message: &Message) -> Option<Person> {
    if let Some(field) = message.header_raw("From").filter(|field| is_escaped(field)) {
        let mut field = field.to_owned();
        for (entity, sign) in [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&amp;", "&"),
        ] {
            field = field.replace(entity, sign);
        }
        return alone(&field);
    }
    // mail-parser takes `(none)` in `<root@host.(none)>` for a comment; git, which
    // writes such addresses, takes what is in the brackets.
    if let Some((before, inside, after)) = message.header_raw("From").and_then(in_brackets)
        && inside.contains('(')
    {
        let plain = format!("{before}<a@a>{after}");
        return Some(person(&alone(&plain)?.name, inside));
    }
    let from = message.from()?.first()?;
    let email = from.address()?;
    Some(person(from.name().unwrap_or(email), email))
}

/// The author that a `From:` field names.
fn alone(field: &str) -> Option<Person> {
    let header = format!("From:{field}\n\n");
    author(&MessageParser::default().parse_headers(header.as_bytes())?)
}

/// Whether an archive that showed a header as HTML wrote `<` as `&lt;`.
fn is_escaped(field: &str) -> bool {
    !field.contains('<') && field.contains("&lt;") && field.contains("&gt;")
}

/// A name and an address as a commit can hold them: git takes `<`, `>` and line
/// ends out of both.
fn person(name: &str, email: &str) -> Person {
    let clean = |text: &str| text.replace(['<', '>', '\n'], "").trim().to_owned();
    let (name, email) = (clean(name), clean(email));
    Person {
        name: if name.is_empty() { email.clone() } else { name },
        email,
    }
}

/// What stands before, in and behind the first `<…>`.
fn in_brackets(field: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = field.split_once('<')?;
    let (inside, after) = rest.split_once('>')?;
    Some((before, inside, after))
}
