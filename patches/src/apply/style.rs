//! How a line would be indented at a place in C code, as the BSD and Linux
//! styles and the lines around it have it: for added lines whose indentation is
//! lost for good. A guess, and always reported as such.

use super::damage::indentation;
use super::form::split_end;

/// Lines are not indented further than about this, in bytes.
const DEEPEST: usize = 64;

/// Lines above that are looked at.
const LOOKED_AT: usize = 40;

/// What the file indents by, one level.
pub(super) fn unit(lines: &[&[u8]]) -> Vec<u8> {
    let tabs = lines.iter().filter(|line| line.starts_with(b"\t")).count();
    let deep = |blanks: usize| {
        let is = |line: &&&[u8]| {
            indentation(line).len() == blanks
                && line.starts_with(b" ")
                && !line[blanks..].starts_with(b"*")
        };
        lines.iter().filter(is).count()
    };
    match (deep(2), deep(4)) {
        (two, four) if tabs >= two.max(four) => b"\t".to_vec(),
        (two, four) if two > four => b"  ".to_vec(),
        _ => b"    ".to_vec(),
    }
}

/// The indentation of `text` (without blanks at its start) under the lines
/// `above`, the nearest one last.
pub(super) fn indent(above: &[Vec<u8>], text: &[u8], unit: &[u8]) -> Vec<u8> {
    if text.is_empty() || text.starts_with(b"#") || is_label(text) {
        return Vec::new();
    }
    let above: Vec<Above> = above[above.len().saturating_sub(LOOKED_AT)..]
        .iter()
        .map(|line| Above::new(line))
        .filter(|line| !line.text.is_empty())
        .collect();
    let Some(last) = above.last() else {
        return Vec::new();
    };
    if let Some(indent) = in_comment(last, text) {
        return indent;
    }
    if last.continues_macro() {
        return match last.text.starts_with(b"#") {
            true => unit.to_vec(),
            false => last.indent.to_vec(),
        };
    }
    let code: Vec<&Above> = above.iter().filter(|line| line.is_code()).collect();
    let Some((last, earlier)) = code.split_last() else {
        return last.indent.to_vec();
    };
    let start = statement_start(&code);
    if last.is_open() {
        return continuation(last, start, earlier.len(), text, unit);
    }
    let opens = last.text.ends_with(b"{") || last.is_case() || is_label(last.text);
    let own = match is_label(last.text) {
        true => Vec::new(),
        false => code[start].indent.to_vec(),
    };
    let closes = text.starts_with(b"}");
    let steps_back = closes || (is_case(text) && !opens);
    match (opens, steps_back) {
        (true, false) if is_case(text) => own,
        (true, false) => deeper(&own, unit),
        (true, true) => own,
        (false, true) => shallower(&outer(&code, start), unit),
        (false, false) if last.heads_block() && !text.starts_with(b"{") => deeper(&own, unit),
        (false, false) if last.heads_block() => own,
        (false, false) => outer(&code, start),
    }
}

/// A line above, taken apart.
struct Above<'a> {
    indent: &'a [u8],
    text: &'a [u8],
}

impl<'a> Above<'a> {
    fn new(line: &'a [u8]) -> Self {
        let (text, _) = split_end(line);
        let indent = indentation(text);
        Above {
            indent: &indent[..indent.len().min(DEEPEST)],
            text: text[indent.len()..].trim_ascii_end(),
        }
    }

    fn is_code(&self) -> bool {
        let comment = self.text.starts_with(b"/*")
            || self.text.starts_with(b"*")
            || self.text.starts_with(b"//");
        !comment && !self.text.starts_with(b"#")
    }

    fn continues_macro(&self) -> bool {
        self.text.ends_with(b"\\")
    }

    fn is_case(&self) -> bool {
        is_case(self.text)
    }

    /// `if (…)`, `else` and the like, with the body still to come.
    fn heads_block(&self) -> bool {
        let word = first_word(self.text.strip_prefix(b"} ").unwrap_or(self.text));
        match word {
            b"else" | b"do" => !self.text.ends_with(b";") && !self.text.ends_with(b"{"),
            b"if" | b"for" | b"while" | b"switch" => self.text.ends_with(b")"),
            _ => self.text.ends_with(b")") && balance(self.text) < 0,
        }
    }

    /// The statement goes on in the next line.
    fn is_open(&self) -> bool {
        let ends: [&[u8]; 6] = [b";", b"{", b"}", b":", b"*/", b"else"];
        if ends.iter().any(|end| self.text.ends_with(end)) || self.heads_block() {
            return balance(self.text) > 0 && !self.text.ends_with(b"{");
        }
        // `static int` above the name of a function, and that name.
        !(self.indent.is_empty() && (balance(self.text) == 0 || self.text.ends_with(b")")))
    }
}

/// Brackets that are opened and not closed.
fn balance(text: &[u8]) -> i64 {
    let value = |byte: &u8| match byte {
        b'(' => 1,
        b')' => -1,
        _ => 0,
    };
    text.iter().map(value).sum()
}

fn first_word(text: &[u8]) -> &[u8] {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let length = text.iter().take_while(|b| is_name(b)).count();
    &text[..length]
}

fn is_case(text: &[u8]) -> bool {
    matches!(first_word(text), b"case" | b"default") && text.trim_ascii_end().ends_with(b":")
}

/// `out:` and the like.
fn is_label(text: &[u8]) -> bool {
    let word = first_word(text);
    let rest = &text[word.len()..];
    !word.is_empty() && word != b"default" && rest.trim_ascii_end() == b":"
}

/// Inside a comment, lines stand under its first `*`.
fn in_comment(last: &Above, text: &[u8]) -> Option<Vec<u8>> {
    let stars = text.starts_with(b"*");
    let open = !last.text.ends_with(b"*/");
    match (last.text.starts_with(b"/*"), last.text.starts_with(b"*")) {
        (true, _) if open && stars => Some([last.indent, b" "].concat()),
        (_, true) if open && stars => Some(last.indent.to_vec()),
        // After the comment, under its `/`.
        (true, _) if !open => Some(last.indent.to_vec()),
        (_, true) if !open => Some(
            last.indent
                .strip_suffix(b" ")
                .unwrap_or(last.indent)
                .to_vec(),
        ),
        _ => None,
    }
}

/// The index of the line at which the last statement starts.
fn statement_start(code: &[&Above]) -> usize {
    let mut start = code.len() - 1;
    while start > 0 && code[start - 1].is_open() {
        start -= 1;
    }
    start
}

/// A statement's further lines: four blanks more than its first, or as the
/// line above if that is one.
fn continuation(last: &Above, start: usize, index: usize, text: &[u8], unit: &[u8]) -> Vec<u8> {
    match (start == index, last.text) {
        (false, _) => last.indent.to_vec(),
        // A list in braces, a type above a name.
        (true, above) if above.ends_with(b",") && balance(above) == 0 => last.indent.to_vec(),
        (true, _) if text.starts_with(b"{") => last.indent.to_vec(),
        (true, _) if unit == b"\t" => deeper(last.indent, b"    "),
        (true, _) => deeper(last.indent, unit),
    }
}

/// The indentation after the last statement: that of the `if` it is the only
/// body of, if it is.
fn outer(code: &[&Above], start: usize) -> Vec<u8> {
    let mut start = start;
    while start > 0 && code[start - 1].heads_block() && !code[start].text.starts_with(b"{") {
        start = statement_start(&code[..start]);
    }
    code[start].indent.to_vec()
}

fn deeper(indent: &[u8], unit: &[u8]) -> Vec<u8> {
    match indent.len() < DEEPEST {
        true => [indent, unit].concat(),
        false => indent.to_vec(),
    }
}

fn shallower(indent: &[u8], unit: &[u8]) -> Vec<u8> {
    indent.strip_suffix(unit).unwrap_or(indent).to_vec()
}
