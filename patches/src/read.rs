//! Reading: a mail, a thread, a saved page or a plain diff becomes patches.

mod charset;
mod date;
mod description;
mod diff;
mod error;
mod lines;
mod mail;
mod mend;
mod page;
mod path;
mod show;
mod tag;
mod thread;

pub use error::{Place, ReadError, ReadErrorKind};
pub(crate) use mail::{is_mail, with_mbox_line};
pub use tag::Version;
pub use thread::{Reason, ThreadError};

use std::borrow::Cow;
use std::collections::HashMap;

use crate::{Header, MAX_PATCH_BYTES, Mend, MendKind, Patch, Trailers};
use page::Page;
use thread::{Series, Taken};

/// A kind of trouble, and the line it is on.
type Located<T> = Result<T, (usize, ReadErrorKind)>;

/// A kind of trouble, and the file and the line it is on.
type Placed<T> = Result<T, (Place, ReadErrorKind)>;

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

/// A mail of a thread that is no part of the series, or that lacks the rest of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its subject.
    pub subject: String,
    /// The file it is in.
    pub name: String,
    /// The line at which it starts, from 1.
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
    read_all(&[File { name, bytes }])
}

/// A file to read.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Its name, for messages and for the patches in it.
    pub name: &'a str,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// Reads several files as [`read`] does one: mails as one thread, in whatever order they are
/// given; where one of the files is no mail, each by itself, in their order.
///
/// # Errors
/// [`ReadError`] with the file and the line; for more than [`MAX_PATCH_BYTES`] in all too.
pub fn read_all(files: &[File]) -> Result<Reading, ReadError> {
    let mut total = 0;
    for file in files {
        total += file.bytes.len();
        if total > MAX_PATCH_BYTES {
            return Err(file.error((1, ReadErrorKind::TooLarge(total))));
        }
    }
    let texts: Vec<Text> = files.iter().map(Text::of).collect::<Result<_, _>>()?;
    if texts.iter().all(Text::is_mail) {
        return thread(&texts);
    }
    let mut all = Reading {
        patches: Vec::new(),
        cover: None,
        left_out: Vec::new(),
    };
    for text in &texts {
        let one = text.read()?;
        all.patches.extend(one.patches);
        all.left_out.extend(one.left_out);
        all.cover = all.cover.or(one.cover);
    }
    Ok(all)
}

impl File<'_> {
    fn error(&self, (line, kind): (usize, ReadErrorKind)) -> ReadError {
        ReadError {
            name: self.name.to_owned(),
            line,
            kind,
        }
    }
}

/// The text of a file: in UTF-8 or what its mails say, and taken out of the page that shows it.
struct Text<'a> {
    file: File<'a>,
    text: Cow<'a, [u8]>,
    mark: Option<MendKind>,
    page: Option<Page>,
}

impl<'a> Text<'a> {
    fn of(file: &File<'a>) -> Result<Text<'a>, ReadError> {
        let at_start = |kind| file.error((1, kind));
        refuse_what_holds_no_text(file.bytes).map_err(at_start)?;
        let (text, mark) = charset::without_mark(file.bytes).map_err(at_start)?;
        let page = page::text(&text).map_err(|error| file.error(error))?;
        Ok(Text {
            file: *file,
            text,
            mark,
            page,
        })
    }

    fn bytes(&self) -> &[u8] {
        self.page.as_ref().map_or(&self.text, |page| &page.text)
    }

    /// The line of the file from which a line of the text comes.
    fn line(&self, line: usize) -> usize {
        self.page.as_ref().map_or(line, |page| page.line(line))
    }

    fn error(&self, (line, kind): (usize, ReadErrorKind)) -> ReadError {
        self.file.error((self.line(line), kind))
    }

    fn is_mail(&self) -> bool {
        !show::is_show(self.bytes()) && mail::is_mail(self.bytes())
    }

    fn read(&self) -> Result<Reading, ReadError> {
        if self.is_mail() {
            return thread(std::slice::from_ref(self));
        }
        let (name, bytes) = (self.file.name, self.bytes());
        let reading = match show::is_show(bytes) {
            true => show::read(name, bytes),
            false => plain(name, bytes),
        };
        let mut reading = reading.map_err(|error| self.error(error))?;
        for left_out in &mut reading.left_out {
            left_out.line = self.line(left_out.line);
        }
        let alone = reading.patches.len() == 1;
        for patch in &mut reading.patches {
            for mend in &mut patch.mends {
                mend.line = self.line(mend.line);
            }
            self.finish(patch, alone);
        }
        Ok(reading)
    }

    /// A patch with what was done to the whole file. `alone`: it is all that the file holds.
    fn finish(&self, patch: &mut Patch, alone: bool) {
        let mark = self.mark.map(|kind| mend::of_patch(kind, 1, 1));
        let page = self.page.as_ref().map(Page::mend);
        let whole: Vec<Mend> = mark.into_iter().chain(page).collect();
        if alone && !whole.is_empty() {
            patch.source = self.file.bytes.to_vec();
        }
        patch.mends.splice(0..0, whole);
    }
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

/// Reads files of mails as one thread.
fn thread(texts: &[Text]) -> Result<Reading, ReadError> {
    let mut mails = mail::Mails::default();
    for (number, text) in texts.iter().enumerate() {
        let first = mails.read.len();
        let read = mails.read_file(number, text.file.name, text.bytes());
        read.map_err(|error| text.error(error))?;
        if text.page.is_some() {
            let found = mails.read[first..].iter_mut();
            found.for_each(|mail| mail.place(|line| text.line(line)));
        }
    }
    let sorted = thread::sort(mails.read).map_err(|(at, kind)| {
        let Place { name, line } = at;
        ReadError { name, line, kind }
    })?;
    Ok(named(texts, sorted))
}

/// The patches of a thread, called by the names of their files.
fn named(texts: &[Text], sorted: Series) -> Reading {
    let mut counts = vec![0; texts.len()];
    for taken in &sorted.patches {
        counts[taken.mail.file] += 1;
    }
    let mut before = vec![0; texts.len()];
    let patch = |taken: Taken| {
        let file = taken.mail.file;
        let text = &texts[file];
        let mut patch = Patch {
            name: numbered(text.file.name, before[file]),
            header: taken.mail.header,
            trailers: taken.mail.trailers,
            mends: taken.changes.mends,
            files: taken.changes.files,
            source: taken.mail.source,
        };
        before[file] += 1;
        text.finish(&mut patch, counts[file] == 1);
        patch
    };
    let patches = sorted.patches.into_iter().map(patch).collect();
    let numbers = texts.iter().map(|text| text.file.name).zip(0..);
    let numbers: HashMap<&str, usize> = numbers.collect();
    let order = |it: &LeftOut| (numbers.get(it.name.as_str()).copied(), it.line);
    let mut left_out = sorted.left_out;
    left_out.sort_by_key(order);
    Reading {
        patches,
        cover: sorted.cover,
        left_out,
    }
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
