//! Text from a patch or a tree, made fit to be shown on a terminal.

/// Longest line shown, in characters; a longer one ends in `…`.
const WIDTH: usize = 160;

/// One line as it may be printed: without its line end, control characters
/// escaped (a patch must not drive the reader's terminal), bytes that are no
/// UTF-8 replaced, cut at [`WIDTH`]. Tabs stay, because kernel lines have them.
pub(crate) fn shown(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let head = &line[..line.len().min(4 * WIDTH)];
    let text = String::from_utf8_lossy(head);
    let mut out = String::with_capacity(text.len());
    for (count, c) in text.chars().enumerate() {
        if count == WIDTH {
            out.push('…');
            return out;
        }
        match c {
            '\t' => out.push(c),
            c if c.is_control() || reorders(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Marks that make text show in another order than it is in.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The bytes of every line, each with its `\n` where it has one.
pub(crate) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&b| b == b'\n').collect()
}
