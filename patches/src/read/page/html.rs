//! What stands in the `<pre>` of a page, as a browser shows it.

use mail_parser::decoders::html::add_html_token;

use crate::read::lines::LineMap;

/// The longest name of an entity, with `&` and `;`.
const MAX_ENTITY: usize = 34;

/// Tags that have a place in preformatted text. Any other, such as `<stdio.h>`,
/// is text that an archive forgot to escape, and stays.
const TAGS: [&str; 30] = [
    "a",
    "abbr",
    "b",
    "big",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "font",
    "form",
    "hr",
    "i",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "li",
    "mark",
    "p",
    "q",
    "s",
    "small",
    "span",
    "strong",
    "tt",
    "u",
    "wbr",
];

/// The text of one `<pre>`.
#[derive(Default)]
pub(super) struct Block {
    pub text: Vec<u8>,
    pub lines: LineMap,
    ended: usize,
}

impl Block {
    fn push(&mut self, byte: u8, line: usize) {
        if self.text.last().is_none_or(|&b| b == b'\n') {
            self.lines.start(self.ended + 1, line);
        }
        self.ended += usize::from(byte == b'\n');
        self.text.push(byte);
    }

    /// Puts text above, which comes from no line of the page.
    pub(super) fn put_before(&mut self, text: &str) {
        let mut lines = LineMap::starting_at(self.lines.line(1));
        let count = text.bytes().filter(|&b| b == b'\n').count();
        lines.append(&self.lines, count);
        self.lines = lines;
        self.text.splice(0..0, text.bytes());
    }
}

/// What a page has as title and as preformatted text.
#[derive(Default)]
pub(super) struct Preformatted {
    pub title: String,
    pub blocks: Vec<Block>,
}

/// Reads a page once, from its start to its end.
pub(super) fn preformatted(bytes: &[u8]) -> Preformatted {
    let mut found = Preformatted::default();
    let mut title = Block::default();
    let (mut in_pre, mut in_title) = (false, false);
    let mut comments = Comments::default();
    let (mut at, mut line) = (0, 1);
    while let Some(&byte) = bytes.get(at) {
        let tag = match byte {
            b'<' => comments.at(bytes, at).or_else(|| Tag::at(&bytes[at..])),
            _ => None,
        };
        if let Some(tag) = tag {
            match (tag.name.as_str(), tag.closes) {
                ("pre", false) => {
                    in_pre = true;
                    found.blocks.push(Block::default());
                }
                ("pre", true) => in_pre = false,
                ("title", closes) => in_title = !closes,
                ("br", _) if in_pre => push(&mut found.blocks, b"\n", line),
                (name, _) if in_pre && !name.is_empty() && !TAGS.contains(&name) => {
                    push(&mut found.blocks, b"<", line);
                    at += 1;
                    continue;
                }
                _ => {}
            }
            line += newlines(&bytes[at..at + tag.length]);
            at += tag.length;
            continue;
        }
        let (text, length) = character(&bytes[at..]);
        if in_pre {
            // The line end right behind `<pre>` is not shown.
            let first = found.blocks.last().is_some_and(|it| it.text.is_empty());
            if !(first && matches!(text, Shown::Byte(b'\n' | b'\r'))) {
                push(&mut found.blocks, text.bytes(&mut [0; 4]), line);
            }
        } else if in_title {
            for &byte in text.bytes(&mut [0; 4]) {
                title.push(byte, line);
            }
        }
        line += usize::from(byte == b'\n');
        at += length;
    }
    let words = String::from_utf8_lossy(&title.text);
    found.title = words.split_whitespace().collect::<Vec<_>>().join(" ");
    found
}

fn push(blocks: &mut [Block], text: &[u8], line: usize) {
    if let Some(block) = blocks.last_mut() {
        for &byte in text {
            block.push(byte, line);
        }
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b == b'\n').count()
}

/// One tag or comment; a comment has no name.
struct Tag {
    name: String,
    closes: bool,
    length: usize,
}

impl Tag {
    /// The longest tag that is read.
    const MAX: usize = 2048;

    /// What is a tag and has no name: a comment, a document type.
    fn nameless(length: usize) -> Tag {
        Tag {
            name: String::new(),
            closes: false,
            length,
        }
    }

    /// The tag that starts here; `None` where `<` is text, as it is where
    /// another one comes before the `>`.
    fn at(bytes: &[u8]) -> Option<Tag> {
        let window = &bytes[..bytes.len().min(Tag::MAX)];
        let closes = window.get(1) == Some(&b'/');
        let from = 1 + usize::from(closes);
        let first = *window.get(from)?;
        let named = first.is_ascii_alphabetic();
        if !named && !matches!(first, b'!' | b'?') {
            return None;
        }
        let is_name = |b: &u8| !b.is_ascii_whitespace() && !matches!(b, b'<' | b'>' | b'/');
        let name = window[from..].iter().take_while(|b| is_name(b));
        let name: Vec<u8> = name.map(u8::to_ascii_lowercase).collect();
        let mut quote = None;
        for (at, &byte) in window.iter().enumerate().skip(from + name.len()) {
            match (byte, quote) {
                (b'>', None) if !named => return Some(Tag::nameless(at + 1)),
                (b'>', None) => {
                    return Some(Tag {
                        name: String::from_utf8_lossy(&name).into_owned(),
                        closes,
                        length: at + 1,
                    });
                }
                (b'<', None) => return None,
                (b'"' | b'\'', None) => quote = Some(byte),
                (_, Some(mark)) if byte == mark => quote = None,
                _ => {}
            }
        }
        None
    }
}

/// Where comments end. Each end is looked for once, so that a page of `<!--`
/// is read in one go.
#[derive(Default)]
struct Comments {
    /// The next `-->` that was found, or the end of the page.
    next: usize,
}

impl Comments {
    /// The comment that starts here.
    fn at(&mut self, bytes: &[u8], at: usize) -> Option<Tag> {
        const END: &[u8] = b"-->";
        if !bytes[at..].starts_with(b"<!--") {
            return None;
        }
        let from = at + 4;
        if self.next < from {
            let found = bytes[from..].windows(END.len()).position(|w| w == END);
            self.next = found.map_or(bytes.len(), |found| from + found);
        }
        let end = self.next + END.len();
        (end <= bytes.len()).then(|| Tag::nameless(end - at))
    }
}

/// What is shown for one byte or one entity.
#[derive(Clone, Copy)]
enum Shown {
    Byte(u8),
    Char(char),
}

impl Shown {
    fn bytes(self, room: &mut [u8; 4]) -> &[u8] {
        match self {
            Shown::Byte(byte) => {
                room[0] = byte;
                &room[..1]
            }
            Shown::Char(c) => c.encode_utf8(room).as_bytes(),
        }
    }
}

/// The next character and the bytes that it takes in the page.
fn character(bytes: &[u8]) -> (Shown, usize) {
    let byte = bytes.first().copied().unwrap_or(b' ');
    let as_it_is = (Shown::Byte(byte), 1);
    if byte != b'&' {
        return as_it_is;
    }
    let window = &bytes[..bytes.len().min(MAX_ENTITY)];
    let Some(end) = window.iter().position(|&b| b == b';') else {
        return as_it_is;
    };
    let token = &window[..=end];
    if !token[1..end]
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || *b == b'#')
    {
        return as_it_is;
    }
    let mut decoded = String::new();
    add_html_token(&mut decoded, token, false);
    let mut characters = decoded.chars();
    match (characters.next(), characters.next()) {
        // Pages write a blank so where they want to keep it.
        (Some('\u{a0}'), None) => (Shown::Byte(b' '), token.len()),
        (Some(c), None) => (Shown::Char(c), token.len()),
        _ => as_it_is,
    }
}
