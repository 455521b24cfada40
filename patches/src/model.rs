//! What a patch is, once it is read.

mod reverse;

use crate::Mend;

pub use reverse::Irreversible;

/// One patch: what a mail or a diff file says should change, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The name of the file it came from; patches of one mbox get `#2`, `#3` … added.
    pub name: String,
    /// Author, date and description.
    pub header: Header,
    /// What the mail says of other commits and reviews.
    pub trailers: Trailers,
    /// What reading had to put right; empty for a patch that is as git made it.
    pub mends: Vec<Mend>,
    /// The files it touches, in the order of the patch.
    pub files: Vec<FilePatch>,
    /// The bytes it was read from, for the record.
    pub source: Vec<u8>,
}

/// What stands above the diff.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    /// The subject without `[PATCH 1/3]` and `Re:`; may be empty for a plain diff.
    pub subject: String,
    /// Who wrote the patch, where it says.
    pub author: Option<Person>,
    /// When it was written, where it says.
    pub date: Option<Date>,
    /// The description under the subject, without blank lines at its ends.
    pub message: String,
}

impl Header {
    pub(crate) fn has_nul(&self) -> bool {
        let author = self.author.iter().flat_map(|who| [&who.name, &who.email]);
        let mut texts = author.chain([&self.subject, &self.message]);
        texts.any(|text| text.contains('\0'))
    }

    /// The subject in one line: that of a commit may have several.
    pub fn title(&self) -> String {
        self.subject
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Whether it has neither subject nor message.
    pub(crate) fn is_empty(&self) -> bool {
        self.subject.is_empty() && self.message.is_empty()
    }

    /// Subject and message as a commit message, ending in a newline.
    pub fn commit_message(&self) -> String {
        match (self.subject.as_str(), self.message.as_str()) {
            (subject, "") => format!("{subject}\n"),
            ("", message) => format!("{message}\n"),
            (subject, message) => format!("{subject}\n\n{message}\n"),
        }
    }
}

/// What a patch says of other commits, in the lines that git and the projects
/// put around a description.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trailers {
    /// The commit it was made on (`base-commit:`), in hexadecimal.
    pub base_commit: Option<String>,
    /// The commits it mends (`Fixes:`), as they stand there.
    pub fixes: Vec<String>,
    /// Reviews, such as `D9586` (`Differential Revision:`).
    pub reviews: Vec<String>,
    /// The Subversion revision it was committed as (`git-svn-id:`).
    pub svn_revision: Option<u32>,
}

/// A name and an address, as in a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The full name; the address where the mail has no name.
    pub name: String,
    /// The mail address.
    pub email: String,
}

/// A moment, and the zone it was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub seconds: i64,
    /// The writer's zone, in minutes east of UTC.
    pub offset_minutes: i32,
}

/// What a patch does to one file.
///
/// Paths stand as the patch names them, `a/` and `b/` included: how much of
/// them to strip is decided against a tree, for a whole series at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The name before the patch; `None` where the file is created.
    pub old: Option<String>,
    /// The name after the patch; `None` where the file is deleted. A copy that
    /// is taken back is deleted, and this is the file it was a copy of.
    pub new: Option<String>,
    /// What happens to the file as a whole.
    pub change: Change,
    /// The mode of the file before, where the patch gives one
    /// (`0o100644`, `0o100755` or `0o120000`).
    pub old_mode: Option<i32>,
    /// The mode that it should have afterwards, likewise.
    pub new_mode: Option<i32>,
    /// How many leading path components the patch itself says to strip: git's
    /// headers tell, plain diffs do not.
    pub strip: Option<usize>,
    /// The (abbreviated, hexadecimal) blob id before the patch, from git's `index` line.
    pub old_blob: Option<String>,
    /// The same of the blob after the patch.
    pub new_blob: Option<String>,
    /// The header lines of this diff ended in CR LF, so a CR was taken off
    /// each of its lines, as mail transport may have put it there.
    pub carriage_returns: bool,
    /// The hunks, in the order of the patch; none where `binary` is there.
    pub hunks: Vec<Hunk>,
    /// What becomes of a binary file, as git writes it.
    pub binary: Option<BinaryChange>,
}

impl FilePatch {
    /// Whether it does nothing but insert at line 0, as plain diffs make a file.
    pub(crate) fn inserts_at_start(&self) -> bool {
        matches!(&self.hunks[..], [hunk] if hunk.old_start == 0 && hunk.old_count == 0)
    }
}

/// The blob of a file without content.
const EMPTY_BLOB: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/// Whether an (abbreviated) id is that of a file without content.
pub(crate) fn is_empty_blob(id: &str) -> bool {
    EMPTY_BLOB.starts_with(&id.to_ascii_lowercase())
}

/// The two sections below `GIT binary patch`, as they stand there: a line
/// `literal <bytes>` or `delta <bytes>`, then lines in base 85.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryChange {
    /// Makes the new file of the old one.
    pub forward: Vec<u8>,
    /// Makes the old file of the new one, where the patch has it.
    pub reverse: Option<Vec<u8>>,
}

/// What happens to a file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is there before and after.
    Modify,
    /// It is made.
    Create,
    /// It goes away.
    Delete,
    /// It moves from `old` to `new`.
    Rename,
    /// `new` is made from `old`, which stays.
    Copy,
}

/// A run of lines that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line before the patch, from 1; with `old_count` 0, the line after which it inserts.
    pub old_start: usize,
    /// Lines it covers before the patch.
    pub old_count: usize,
    /// First line after the patch, from 1.
    pub new_start: usize,
    /// Lines it covers after the patch.
    pub new_count: usize,
    /// What follows the second `@@`, most often the name of a function.
    pub heading: String,
    /// The lines; `old_count` of them are context or removed, `new_count` context or added.
    pub lines: Vec<Line>,
}

impl Hunk {
    /// The lines that must stand in the file before the patch.
    pub fn before(&self) -> impl Iterator<Item = &[u8]> {
        self.side(LineKind::Added)
    }

    /// The lines that stand there afterwards.
    pub fn after(&self) -> impl Iterator<Item = &[u8]> {
        self.side(LineKind::Removed)
    }

    fn side(&self, without: LineKind) -> impl Iterator<Item = &[u8]> {
        let kept = self.lines.iter().filter(move |line| line.kind != without);
        kept.map(|line| line.bytes.as_slice())
    }

    /// The hunk that undoes this one.
    pub fn reversed(&self) -> Hunk {
        let flip = |line: &Line| Line {
            kind: match line.kind {
                LineKind::Context => LineKind::Context,
                LineKind::Removed => LineKind::Added,
                LineKind::Added => LineKind::Removed,
            },
            bytes: line.bytes.clone(),
        };
        Hunk {
            old_start: self.new_start,
            old_count: self.new_count,
            new_start: self.old_start,
            new_count: self.old_count,
            heading: self.heading.clone(),
            lines: self.lines.iter().map(flip).collect(),
        }
    }
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Whether it stays, goes or comes.
    pub kind: LineKind,
    /// The line with its `\n`; without one where the patch says
    /// `\ No newline at end of file`.
    pub bytes: Vec<u8>,
}

/// Whether a line of a hunk stays, goes or comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It stays, and shows the place.
    Context,
    /// It goes.
    Removed,
    /// It comes.
    Added,
}
