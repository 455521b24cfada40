//! When two lines are the same: byte for byte, but for blanks, but for HTML.

use std::borrow::Cow;

/// A way to compare lines, each looser than the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// Byte for byte.
    Bytes,
    /// A run of blanks and tabs is one blank, those at the ends are none, and
    /// CR LF is a line end as well.
    Blanks,
    /// As `Blanks`, with `&lt;` decoded and `<…>` taken out.
    Markup,
}

impl Form {
    /// All of them, the strictest first.
    pub(super) const ALL: [Form; 3] = [Form::Bytes, Form::Blanks, Form::Markup];

    /// What is equal for lines that are the same.
    pub(super) fn key(self, line: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Form::Bytes => Cow::Borrowed(line),
            Form::Blanks => Cow::Owned(squeezed(line)),
            Form::Markup => Cow::Owned(squeezed(&without_tags(&decoded(line)))),
        }
    }

    pub(super) fn same(self, one: &[u8], other: &[u8]) -> bool {
        one == other || (self > Form::Bytes && self.key(one) == self.key(other))
    }
}

/// Whether a page could have made `patch` of `tree`: the keys of [`Form::Markup`]
/// are also the same for lines that name two different things in `<…>`.
pub(super) fn is_page_of(patch: &[u8], tree: &[u8]) -> bool {
    if Form::Blanks.same(patch, tree) {
        return true;
    }
    let patch = squeezed(&decoded(patch));
    patch == squeezed(tree) || patch == squeezed(&without_tags(tree))
}

pub(super) fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The line without its line end, and the line end.
pub(super) fn split_end(line: &[u8]) -> (&[u8], &[u8]) {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let text = match text.len() < line.len() {
        true => text.strip_suffix(b"\r").unwrap_or(text),
        false => text,
    };
    line.split_at(text.len())
}

fn squeezed(line: &[u8]) -> Vec<u8> {
    let (text, end) = split_end(line);
    let mut key = Vec::with_capacity(line.len());
    for word in text.split(is_blank).filter(|word| !word.is_empty()) {
        if !key.is_empty() {
            key.push(b' ');
        }
        key.extend_from_slice(word);
    }
    if !end.is_empty() {
        key.push(b'\n');
    }
    key
}

/// The line without what a browser takes for tags: from `<` and a letter, `/`
/// or `!` to the next `>`.
fn without_tags(line: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.iter().position(|&b| b == b'<') {
        let (before, tag) = rest.split_at(start);
        kept.extend_from_slice(before);
        let opens = tag
            .get(1)
            .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!'));
        if !opens {
            kept.push(b'<');
            rest = &tag[1..];
            continue;
        }
        let Some(end) = tag.iter().position(|&b| b == b'>') else {
            // No tag on this line ends any more.
            rest = tag;
            break;
        };
        rest = &tag[end + 1..];
    }
    kept.extend_from_slice(rest);
    kept
}

/// The longest name or number of an entity, with `&` and `;`.
const LONGEST_ENTITY: usize = 10;

/// The line with HTML's entities for single characters decoded, those that
/// web archives write.
pub(super) fn decoded(line: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.iter().position(|&b| b == b'&') {
        let (before, entity) = rest.split_at(start);
        text.extend_from_slice(before);
        let head = &entity[..entity.len().min(LONGEST_ENTITY)];
        let end = head.iter().position(|&b| b == b';');
        match end.and_then(|end| Some((character(&entity[1..end])?, end))) {
            Some((character, end)) => {
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &entity[end + 1..];
            }
            None => {
                text.push(b'&');
                rest = &entity[1..];
            }
        }
    }
    text.extend_from_slice(rest);
    text
}

/// What stands between `&` and `;`.
fn character(name: &[u8]) -> Option<char> {
    let number = match name {
        b"lt" => return Some('<'),
        b"gt" => return Some('>'),
        b"amp" => return Some('&'),
        b"quot" => return Some('"'),
        b"apos" => return Some('\''),
        b"nbsp" => return Some(' '),
        [b'#', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'#', digits @ ..] => (digits, 10),
        _ => return None,
    };
    let digits = std::str::from_utf8(number.0).ok()?;
    let code = u32::from_str_radix(digits, number.1).ok()?;
    match code {
        0xa0 => Some(' '),
        _ => char::from_u32(code).filter(|c| *c == '\t' || !c.is_control()),
    }
}
