//! Text from patches and guests, made fit to be looked at.

use std::borrow::Cow;

/// Shows what is invisible and may deceive: control characters as `cat -v` does (`^[` is an
/// escape), marks that turn the direction of text by their number. Newlines and tabs stay.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            _ if !is_deceptive(c) => shown.push(c),
            '\0'..='\u{1f}' | '\u{7f}' => {
                shown.extend(['^', char::from(c as u8 ^ 0x40)]);
            }
            _ => shown.push_str(&format!("\u{27e8}U+{:04X}\u{27e9}", c as u32)),
        }
    }
    Cow::Owned(shown)
}

fn is_deceptive(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // U+FFFE and U+FFFF are no characters, and no XML may hold them.
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => c.is_control(),
    }
}

/// A console as text: invalid UTF-8 becomes U+FFFD, line ends become newlines, and nothing in it
/// can steer the terminal that shows it.
pub(super) fn console(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    visible(&text).into_owned()
}

/// The last `lines` lines of a console, without the colours and cursor movements that a terminal
/// would have swallowed, each line cut to `columns` characters.
pub(super) fn excerpt(bytes: &[u8], lines: usize, columns: usize) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let all: Vec<&str> = text.lines().collect();
    let tail = &all[all.len().saturating_sub(lines)..];
    let kept = tail
        .iter()
        .map(|line| cut(&without_sequences(line), columns));
    kept.collect::<Vec<_>>().join("\n")
}

/// The first `columns` characters, with a mark where there were more.
pub(super) fn cut(text: &str, columns: usize) -> String {
    match text.char_indices().nth(columns) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_owned(),
    }
}

/// Takes out well-formed CSI sequences (ECMA-48: ESC [, parameters, intermediates, one final).
/// Anything else that begins with ESC stays, and will be shown.
fn without_sequences(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find("\u{1b}[") {
        kept.push_str(&rest[..start]);
        let after = &rest[start + 2..];
        let end = after
            .find(|c: char| !matches!(c, ' '..='?'))
            .unwrap_or(after.len());
        match after[end..].chars().next() {
            Some('@'..='~') => rest = &after[end + 1..],
            _ => {
                kept.push_str("\u{1b}[");
                rest = after;
            }
        }
    }
    kept.push_str(rest);
    kept
}

/// JSON, indented if it is JSON, else as it is.
pub(super) fn pretty_json(text: &str) -> String {
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_console_keeps_everything_and_steers_nothing() {
        let bytes = b"[ 0.0] a\r\nb\x1b[2Jc\0\xff</pre>\rd\x9b\n";
        assert_eq!(
            console(bytes),
            "[ 0.0] a\nb^[[2Jc^@\u{fffd}</pre>^Md\u{fffd}\n"
        );
        assert_eq!(console("\u{9b}2J\u{7f}".as_bytes()), "⟨U+009B⟩2J^?");
    }

    #[test]
    fn an_excerpt_is_the_end_without_colours() {
        let text = b"1\r\n2\r\n\x1b[1;31m3\x1b[0m\r\n\x1b[?25h4\x1b]0;title\x07\r\n";
        assert_eq!(excerpt(text, 2, 80), "3\n4\u{1b}]0;title\u{7}");
        assert_eq!(excerpt(b"abcdef", 2, 3), "abc\u{2026}");
        assert_eq!(excerpt(b"", 2, 3), "");
        // An unfinished sequence is not swallowed.
        assert_eq!(excerpt(b"a\x1b[31", 1, 80), "a\u{1b}[31");
    }

    proptest! {
        #[test]
        fn any_bytes_become_text_that_xml_may_hold(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let shown = console(&bytes);
            prop_assert!(!shown.chars().any(is_deceptive));
            prop_assert!(excerpt(&bytes, 3, 10).lines().all(|line| line.chars().count() <= 11));
        }
    }
}
