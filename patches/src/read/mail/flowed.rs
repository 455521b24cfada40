//! `format=flowed` (RFC 3676): lines that a mailer broke are joined again.

use super::body::Body;

/// How a text part is flowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flow {
    /// The blank at the end of a broken line was put there with the break (`DelSp=yes`).
    pub del_sp: bool,
}

/// The text with its broken lines joined, its stuffing taken off and its
/// quotation marks as people write them: `> `, `>> `.
pub(super) fn join(body: &Body, flow: Flow) -> Body {
    reflow(body, |line| line.is_flowed(), flow)
}

/// The text with only its stuffing taken off: some mailers stuff and never
/// break, and then a blank at the end of a line is one of the text.
pub(super) fn unstuff(body: &Body) -> Body {
    reflow(body, |_| false, Flow { del_sp: false })
}

/// One line, taken apart.
struct Line<'a> {
    depth: usize,
    text: &'a [u8],
    end: &'a [u8],
}

impl<'a> Line<'a> {
    fn read(line: &'a [u8], line_end: &[u8]) -> Line<'a> {
        let text = line.strip_suffix(line_end).unwrap_or(line);
        let end = &line[text.len()..];
        let depth = text.iter().take_while(|&&b| b == b'>').count();
        let text = &text[depth..];
        Line {
            depth,
            text: text.strip_prefix(b" ").unwrap_or(text),
            end,
        }
    }

    /// Section 4.1: it ends in a blank; section 4.3: and is no signature mark.
    fn is_flowed(&self) -> bool {
        self.text.ends_with(b" ") && self.text != b"-- "
    }
}

/// What ends the lines of a text. Where some end in a newline alone, the carriage returns of others
/// are the file's that they show.
fn line_end(text: &[u8]) -> &'static [u8] {
    let mut lines = text.split_inclusive(|&b| b == b'\n');
    match lines.all(|line| line.ends_with(b"\r\n") || !line.ends_with(b"\n")) {
        true => b"\r\n",
        false => b"\n",
    }
}

fn reflow(body: &Body, is_flowed: impl Fn(&Line) -> bool, flow: Flow) -> Body {
    let line_end = line_end(&body.bytes);
    let mut out = Body::default();
    // The depth and line end of the paragraph that goes on.
    let mut open: Option<(usize, &[u8])> = None;
    for (index, raw) in body.bytes.split_inclusive(|&b| b == b'\n').enumerate() {
        let line = Line::read(raw, line_end);
        // Section 4.5: a paragraph does not go on at another depth of quotation.
        if let Some((depth, end)) = open
            && (depth != line.depth || line.text == b"-- ")
        {
            out.bytes.extend_from_slice(end);
            out.ended += 1;
            open = None;
        }
        if open.is_none() {
            out.lines.start(out.ended + 1, body.lines.line(index + 1));
            out.bytes.resize(out.bytes.len() + line.depth, b'>');
            if line.depth > 0 {
                out.bytes.push(b' ');
            }
        }
        let flowed = is_flowed(&line);
        let cut = usize::from(flowed && flow.del_sp);
        out.bytes
            .extend_from_slice(&line.text[..line.text.len() - cut]);
        if flowed {
            open = Some((line.depth, line.end));
        } else {
            out.bytes.extend_from_slice(line.end);
            out.ended += 1;
            open = None;
        }
    }
    if let Some((_, end)) = open {
        out.bytes.extend_from_slice(end);
    }
    out
}
