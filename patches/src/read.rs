//! Reading: a mail, an mbox of several, or a plain diff becomes patches.

mod diff;
mod mail;
mod mend;
mod path;

use crate::{Header, MAX_PATCH_BYTES, Patch, Trailers};

/// Why bytes could not be read as a patch. Always the patch's fault.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{name}:{line}: {kind}")]
pub struct ReadError {
    /// The name that was given to [`read`].
    pub name: String,
    /// The line, from 1; within the decoded text where a mail is in base64 or quoted-printable.
    pub line: usize,
    /// What is wrong there.
    pub kind: ReadErrorKind,
}

/// What is wrong with a patch.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum ReadErrorKind {
    /// More than [`MAX_PATCH_BYTES`].
    #[error("the patch has {0} bytes, more than the {MAX_PATCH_BYTES} that are read; split it")]
    TooLarge(usize),
    /// Not a mail, or a mail that can't be decoded.
    #[error("this mail can't be decoded: {0}")]
    Mail(&'static str),
    /// Nothing in it changes a file.
    #[error("no diff found: expected a mail from `git format-patch` or a unified diff")]
    NoDiff,
    /// A kind of diff that is known and not read.
    #[error("{what} can't be read; {instead}")]
    Unsupported {
        /// What it is.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A line that a diff can't have there.
    #[error("expected {expected}, found `{found}`")]
    Expected {
        /// What a diff has there.
        expected: &'static str,
        /// The line.
        found: String,
    },
    /// The file or the mail ends inside a hunk.
    #[error(
        "the hunk announces {old} lines before and {new} after, but the patch ends or breaks off \
         when {old_left} and {new_left} of them are missing"
    )]
    HunkTooShort {
        /// Lines announced before the patch.
        old: usize,
        /// Lines announced after the patch.
        new: usize,
        /// Lines that are missing of those before.
        old_left: usize,
        /// Lines that are missing of those after.
        new_left: usize,
    },
    /// Changed lines go on where the hunk should end.
    #[error("the hunk announces fewer lines than it has: it goes on with `{0}`")]
    HunkTooLong(String),
    /// A file name that is empty, badly quoted or not UTF-8.
    #[error("bad file name: {0}")]
    BadPath(&'static str),
    /// A quoted patch with text of a reply between its lines.
    #[error(
        "the quoted patch has text of a reply here; take the patch from the mail that it answers"
    )]
    ReplyText,
    /// A damaged line that can be read in more than one way.
    #[error("can't tell what this line is: {0}")]
    Doubtful(String),
}

/// What came of reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The patches, in the order in which they apply; one at least.
    pub patches: Vec<Patch>,
    /// The cover letter's subject and text, where there is one.
    pub cover: Option<Header>,
    /// What is in the file and is no part of the series.
    pub left_out: Vec<LeftOut>,
}

/// A mail of a thread that is no part of the series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its subject.
    pub subject: String,
    /// The line at which it starts, from 1.
    pub line: usize,
    /// Why it is left out.
    pub why: &'static str,
}

/// Reads one `git format-patch` mail, an mbox of several (in file order, cover
/// letters left out), or a plain unified diff. `name` is used in messages and
/// names the patches.
///
/// Nothing is looked up in a tree here, and nothing is mended: what the patch
/// says is what comes out.
///
/// # Errors
/// [`ReadError`] with the line, for anything that is no such patch.
pub fn read(name: &str, bytes: &[u8]) -> Result<Reading, ReadError> {
    let error = |line, kind| ReadError {
        name: name.to_owned(),
        line,
        kind,
    };
    if bytes.len() > MAX_PATCH_BYTES {
        return Err(error(1, ReadErrorKind::TooLarge(bytes.len())));
    }
    let mut patches = Vec::new();
    if mail::is_mail(bytes) {
        for (first_line, one) in mail::split(bytes) {
            let mail = mail::parse(one).map_err(|kind| error(first_line, kind))?;
            let first_line = mail.first_line_after(first_line);
            let mended = mend::parse(&mail.body, first_line).map_err(|(l, k)| error(l, k))?;
            let files = mended.files;
            if files.is_empty() && mail.is_cover_letter {
                continue;
            }
            if files.is_empty() {
                return Err(error(first_line, ReadErrorKind::NoDiff));
            }
            // No commit can hold one.
            if mail.header.has_nul() {
                return Err(error(
                    first_line,
                    ReadErrorKind::Mail("a NUL byte in its text"),
                ));
            }
            patches.push(Patch {
                name: numbered(name, patches.len()),
                header: mail.header,
                trailers: Trailers::default(),
                mends: mended.mends,
                files,
                source: one.to_vec(),
            });
        }
    } else {
        let mended = mend::parse(bytes, 1).map_err(|(line, kind)| error(line, kind))?;
        let files = mended.files;
        let header = plain_header(name, &mended.text);
        if !files.is_empty() {
            patches.push(Patch {
                name: name.to_owned(),
                header,
                trailers: Trailers::default(),
                mends: mended.mends,
                files,
                source: bytes.to_vec(),
            });
        }
    }
    if patches.is_empty() {
        return Err(error(1, ReadErrorKind::NoDiff));
    }
    Ok(Reading {
        patches,
        cover: None,
        left_out: Vec::new(),
    })
}

fn numbered(name: &str, index: usize) -> String {
    match index {
        0 => name.to_owned(),
        n => format!("{name}#{}", n + 1),
    }
}

/// A plain diff has no header: its first words, or its file name, are the subject.
fn plain_header(name: &str, bytes: &[u8]) -> Header {
    let text = String::from_utf8_lossy(&bytes[..diff::description_end(bytes)]).into_owned();
    let (subject, message) = match text.trim().split_once('\n') {
        Some((subject, message)) => (subject.trim(), message.trim()),
        None => (text.trim(), ""),
    };
    Header {
        subject: if subject.is_empty() { name } else { subject }.to_owned(),
        message: message.to_owned(),
        ..Header::default()
    }
}
