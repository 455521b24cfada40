//! Reading: a mail, a thread, a saved page or a plain diff becomes patches.

mod charset;
mod description;
mod diff;
mod lines;
mod mail;
mod mend;
mod page;
mod path;
mod show;
mod tag;
mod thread;

pub(crate) use mail::{is_mail, with_mbox_line, without_mbox_line};
pub use tag::Version;
pub use thread::{Reason, ThreadError};

use crate::{Header, MAX_PATCH_BYTES, Mend, Patch, Trailers};
use thread::{Series, Taken};

/// Why bytes could not be read as a patch. Always the patch's fault.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}: {kind}", place(name, *line))]
pub struct ReadError {
    /// The name that was given to [`read`].
    pub name: String,
    /// The line, from 1; within the decoded text where a mail is in base64 or quoted-printable.
    /// 0 where it is about a folder, which has no lines.
    pub line: usize,
    /// What is wrong there.
    pub kind: ReadErrorKind,
}

fn place(name: &str, line: usize) -> String {
    match line {
        0 => name.to_owned(),
        line => format!("{name}:{line}"),
    }
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
    /// In a character set that it is not in.
    #[error("this file can't be decoded: {0}")]
    Charset(&'static str),
    /// A thread of which no series can be made.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// The same where each mail is a file of a folder, with the names of the files.
    #[error("{0}")]
    Folder(String),
    /// Nothing in it changes a file.
    #[error(
        "no diff found: expected a mail or a thread of mails, a diff (unified, context or git's), \
         the output of `git show`, a saved web page or a git bundle"
    )]
    NoDiff,
    /// There is nothing in it.
    #[error("it is empty: expected a patch")]
    Empty,
    /// Compressed by the program that is named.
    #[error("it is compressed with {0}; unpack it first")]
    Compressed(&'static str),
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
         when {old_left} and {new_left} of them are missing; it is probably cut off: take it again \
         from where it came"
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
    /// A quoted patch with text of a reply between its lines.
    #[error(
        "the quoted patch has text of a reply here; take the patch from the mail that it answers"
    )]
    ReplyText,
    /// A damaged line that can be read in more than one way.
    #[error("can't tell what this line is: {0}")]
    Doubtful(String),
    /// A file name that is empty, badly quoted or not UTF-8.
    #[error("bad file name: {0}")]
    BadPath(&'static str),
}

/// A kind of trouble, and the line it is on.
type Located<T> = Result<T, (usize, ReadErrorKind)>;

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
    /// The line at which it starts, from 1; 0 where it is a file of a folder.
    pub line: usize,
    /// Why it is left out.
    pub why: Reason,
}

/// Reads one `git format-patch` mail, a thread, what `git show` or `git log -p`
/// prints, a plain unified diff, or a web page that shows one of them. `name` is used in messages and names the patches.
///
/// Of a thread the newest version is taken, by number; mails without a number
/// keep the order of the file. A mail that is alone in its file is a patch,
/// whatever its subject says. Several numbered series in one file come in the
/// order of the file, if each is whole and none is an older version of another.
///
/// Commits of `git log -p`, which prints the newest first, come oldest first; what
/// is in that order already (`--reverse`) is known by blob ids, or else by dates.
/// Commits without a diff, such as merges, are left out.
///
/// Nothing is looked up in a tree here. What had to be put right is in each
/// patch's mends.
///
/// # Errors
/// [`ReadError`] with the line, for anything that is no such patch.
pub fn read(name: &str, bytes: &[u8]) -> Result<Reading, ReadError> {
    let error = |(line, kind)| ReadError {
        name: name.to_owned(),
        line,
        kind,
    };
    if bytes.len() > MAX_PATCH_BYTES {
        return Err(error((1, ReadErrorKind::TooLarge(bytes.len()))));
    }
    refuse_what_holds_no_text(bytes).map_err(|kind| error((1, kind)))?;
    let (text, mark) = charset::without_mark(bytes).map_err(|kind| error((1, kind)))?;
    let mark = mark.map(|kind| mend::of_patch(kind, 1, 1));
    let mut whole: Vec<Mend> = mark.into_iter().collect();
    let mut reading = match page::text(&text).map_err(error)? {
        Some(page) => {
            whole.push(page.mend());
            let mut reading = read_text(name, &page.text)
                .map_err(|(line, kind)| error((page.line(line), kind)))?;
            page.place(&mut reading);
            reading
        }
        None => read_text(name, &text).map_err(error)?,
    };
    if let [only] = &mut reading.patches[..]
        && !whole.is_empty()
    {
        only.source = bytes.to_vec();
    }
    for patch in &mut reading.patches {
        patch.mends.splice(0..0, whole.iter().cloned());
    }
    Ok(reading)
}

/// What compressed files begin with.
const COMPRESSED: [(&[u8], &str); 4] = [
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh9", "bzip2"),
];

fn refuse_what_holds_no_text(bytes: &[u8]) -> Result<(), ReadErrorKind> {
    if bytes.trim_ascii().is_empty() {
        return Err(ReadErrorKind::Empty);
    }
    let program = COMPRESSED
        .iter()
        .find(|(magic, _)| bytes.starts_with(magic));
    match program {
        Some((_, program)) => Err(ReadErrorKind::Compressed(program)),
        None => Ok(()),
    }
}

/// Reads what is neither in UTF-16 nor a page.
fn read_text(name: &str, text: &[u8]) -> Located<Reading> {
    if show::is_show(text) {
        return show::read(name, text);
    }
    if !mail::is_mail(text) {
        return plain(name, text);
    }
    let Series {
        patches,
        cover,
        left_out,
    } = thread::sort(mail::all(text)?)?;
    let patch = |(index, taken): (usize, Taken)| Patch {
        name: numbered(name, index),
        header: taken.mail.header,
        trailers: taken.mail.trailers,
        mends: taken.changes.mends,
        files: taken.changes.files,
        source: taken.mail.source,
    };
    Ok(Reading {
        patches: patches.into_iter().enumerate().map(patch).collect(),
        cover,
        left_out,
    })
}

/// Reads a diff that is in no mail.
fn plain(name: &str, text: &[u8]) -> Located<Reading> {
    let mend::Mended {
        files,
        mends,
        text: mended,
    } = mend::parse(text, 1)?;
    if files.is_empty() {
        return Err((1, ReadErrorKind::NoDiff));
    }
    let header = plain_header(name, &mended);
    if header.has_nul() {
        let kind = ReadErrorKind::Charset("a NUL byte above the diff");
        return Err((1, kind));
    }
    Ok(Reading {
        patches: vec![Patch {
            name: name.to_owned(),
            trailers: Trailers::of_mail(&header.message, text),
            header,
            mends,
            files,
            source: text.to_vec(),
        }],
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
    let text = charset::to_utf8(&bytes[..diff::description_end(bytes)], None);
    let text = description::without_signature(&text.replace("\r\n", "\n"));
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
