//! What a subject says before the title: `Re: [PATCH net-next v3 03/12]`.

/// What stands in brackets before a title.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tag {
    /// It answers or passes on another mail: `Re:`, `AW:`, `Fwd:`.
    pub reply: bool,
    /// It says that the mail is a patch: `PATCH`, a number or a version.
    pub patch: bool,
    /// `RFC` or `RFT`: not meant to go in yet.
    pub rfc: bool,
    /// `RESEND`: the same once more.
    pub resend: bool,
    pub version: Version,
    /// Its number and how many there are; 0 is the cover letter.
    pub number: Option<(u32, u32)>,
}

/// `v2`, or `v4.1` as some count: the number and what follows the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u32, u32);

impl Default for Version {
    fn default() -> Version {
        Version(1, 0)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match *self {
            Version(major, 0) => write!(f, "v{major}"),
            Version(major, minor) => write!(f, "v{major}.{minor}"),
        }
    }
}

/// Marks of a reply in the languages of mailers. `Fw:` is one only before a tag,
/// because it is also the name of a subsystem.
const REPLIES: [&str; 6] = ["re:", "aw:", "fwd:", "sv:", "wg:", "antw:"];

/// The title: what is left without the tags, on one line.
pub(super) fn without(subject: &str) -> String {
    read(subject).1
}

/// The tag of a subject, and its title.
pub(super) fn read(subject: &str) -> (Tag, String) {
    let mut tag = Tag::default();
    let mut rest = subject.trim();
    loop {
        if let Some(after) = reply(rest) {
            tag.reply = true;
            rest = after.trim_start();
        } else if let Some((words, after)) = rest.strip_prefix('[').and_then(|t| t.split_once(']'))
        {
            for word in words.split(|c: char| c.is_whitespace() || ",;:".contains(c)) {
                tag.add(&word.to_ascii_uppercase());
            }
            rest = after.trim_start();
        } else {
            break;
        }
    }
    let title = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    (tag, title)
}

fn reply(subject: &str) -> Option<&str> {
    let after = |mark: &str| {
        let start = subject.get(..mark.len())?;
        let rest = &subject[mark.len()..];
        start.eq_ignore_ascii_case(mark).then_some(rest)
    };
    let passed_on = || after("fw:").filter(|rest| rest.trim_start().starts_with('['));
    REPLIES
        .iter()
        .find_map(|mark| after(mark))
        .or_else(passed_on)
}

impl Tag {
    /// Reads one word, in capitals: `PATCH`, `V2`, `3/7`, `PATCHV2`, `RFC/PATCH`.
    fn add(&mut self, word: &str) {
        let mut rest = word;
        while !rest.is_empty() {
            if let Some(after) = keyword(rest, "PATCH") {
                self.patch = true;
                rest = after;
            } else if let Some(after) = keyword(rest, "RFC").or_else(|| keyword(rest, "RFT")) {
                self.rfc = true;
                rest = after;
            } else if let Some(after) = keyword(rest, "RESEND").or_else(|| keyword(rest, "REPOST"))
            {
                self.resend = true;
                rest = after;
            } else if let Some((version, after)) = version(rest) {
                self.version = version;
                self.patch = true;
                rest = after;
            } else if let Some((number, after)) = number(rest) {
                self.number = Some(number);
                self.patch = true;
                rest = after;
            } else if let Some(after) = rest.strip_prefix(['-', '_', '/']) {
                rest = after;
            } else {
                break;
            }
        }
    }
}

/// What follows a keyword, where the word does not simply begin like it.
fn keyword<'a>(word: &'a str, keyword: &str) -> Option<&'a str> {
    let rest = word.strip_prefix(keyword)?;
    let ends = !rest.starts_with(|c: char| c.is_ascii_alphabetic());
    (ends || version(rest).is_some()).then_some(rest)
}

/// `V2` or `V4.1`; not `V4L2` and not `V6.1.Y`.
fn version(word: &str) -> Option<(Version, &str)> {
    let (major, rest) = digits(word.strip_prefix('V')?)?;
    let (minor, rest) = match rest.strip_prefix('.') {
        Some(after) => digits(after)?,
        None => (0, rest),
    };
    let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
    ends.then_some((Version(major, minor), rest))
}

/// `3/7` or `03/12`.
fn number(word: &str) -> Option<((u32, u32), &str)> {
    let (number, rest) = digits(word)?;
    let (total, rest) = digits(rest.strip_prefix('/')?)?;
    (total > 0).then_some(((number, total), rest))
}

fn digits(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::{Tag, Version, read};

    /// Reply, patch, RFC, resend, version, number, title.
    type Row<'a> = (&'a str, [bool; 4], (u32, u32), Option<(u32, u32)>, &'a str);

    /// The shapes of subjects on the kernel's and the BSDs' lists.
    const SUBJECTS: &[Row] = &[
        ("mm: x", [false; 4], (1, 0), None, "mm: x"),
        (
            "[PATCH] mm: x",
            [false, true, false, false],
            (1, 0),
            None,
            "mm: x",
        ),
        (
            "[PATCH v2 3/7] mm: x",
            [false, true, false, false],
            (2, 0),
            Some((3, 7)),
            "mm: x",
        ),
        (
            "[RFC PATCH net-next v3 03/12] x",
            [false, true, true, false],
            (3, 0),
            Some((3, 12)),
            "x",
        ),
        (
            "[PATCH 3/7 v2] x",
            [false, true, false, false],
            (2, 0),
            Some((3, 7)),
            "x",
        ),
        (
            "[PATCH v4.1 2/3] x",
            [false, true, false, false],
            (4, 1),
            Some((2, 3)),
            "x",
        ),
        (
            "[PATCH RESEND v2 1/2] x",
            [false, true, false, true],
            (2, 0),
            Some((1, 2)),
            "x",
        ),
        (
            "[RESEND][PATCH] x",
            [false, true, false, true],
            (1, 0),
            None,
            "x",
        ),
        (
            "[PATCHv2 1/2] x",
            [false, true, false, false],
            (2, 0),
            Some((1, 2)),
            "x",
        ),
        (
            "[PATCH-V3 1/2] x",
            [false, true, false, false],
            (3, 0),
            Some((1, 2)),
            "x",
        ),
        (
            "[RFC/PATCH 1/2] x",
            [false, true, true, false],
            (1, 0),
            Some((1, 2)),
            "x",
        ),
        (
            "[RFCv3 PATCH] x",
            [false, true, true, false],
            (3, 0),
            None,
            "x",
        ),
        // Patchwork.
        (
            "[net-next,v3,03/12] x",
            [false, true, false, false],
            (3, 0),
            Some((3, 12)),
            "x",
        ),
        (
            "[PATCH 0/2] the series",
            [false, true, false, false],
            (1, 0),
            Some((0, 2)),
            "the series",
        ),
        (
            "[PATCH v2 00/12] x",
            [false, true, false, false],
            (2, 0),
            Some((0, 12)),
            "x",
        ),
        // Stable trees and names are no versions.
        (
            "[PATCH 5.10 03/45] x",
            [false, true, false, false],
            (1, 0),
            Some((3, 45)),
            "x",
        ),
        (
            "[PATCH v6.1.y] x",
            [false, true, false, false],
            (1, 0),
            None,
            "x",
        ),
        ("[v4l2] x", [false; 4], (1, 0), None, "x"),
        ("[RFCOMM] x", [false; 4], (1, 0), None, "x"),
        (
            "[PATCH] [media] x",
            [false, true, false, false],
            (1, 0),
            None,
            "x",
        ),
        (
            "Re: [PATCH v2 3/7] x",
            [true, true, false, false],
            (2, 0),
            Some((3, 7)),
            "x",
        ),
        (
            "AW: Re: [PATCH] x",
            [true, true, false, false],
            (1, 0),
            None,
            "x",
        ),
        (
            "Fwd: [PATCH] x",
            [true, true, false, false],
            (1, 0),
            None,
            "x",
        ),
        (
            "Fw: [PATCH] x",
            [true, true, false, false],
            (1, 0),
            None,
            "x",
        ),
        ("fw: load it", [false; 4], (1, 0), None, "fw: load it"),
        (
            "RE: hello",
            [true, false, false, false],
            (1, 0),
            None,
            "hello",
        ),
        (
            "[PATCH 1/0] x",
            [false, true, false, false],
            (1, 0),
            None,
            "x",
        ),
        (
            "[PATCH 99999999999/3] x",
            [false, true, false, false],
            (1, 0),
            None,
            "x",
        ),
        ("[unclosed x", [false; 4], (1, 0), None, "[unclosed x"),
        ("[]", [false; 4], (1, 0), None, ""),
    ];

    #[test]
    fn subjects() {
        for &(subject, [reply, patch, rfc, resend], (major, minor), number, title) in SUBJECTS {
            let wanted = Tag {
                reply,
                patch,
                rfc,
                resend,
                version: Version(major, minor),
                number,
            };
            assert_eq!(read(subject), (wanted, title.to_owned()), "{subject}");
        }
    }
}
