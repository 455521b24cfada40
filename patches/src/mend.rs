//! What was put right in a patch, to read it or to find its place.

use std::fmt;

use crate::text::shown;

/// Something that was put right. A patch that people made with their tools and
/// sent undamaged has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mend {
    /// What was wrong.
    pub kind: MendKind,
    /// The file that it is about; `None` where it is about the whole patch.
    pub path: Option<String>,
    /// The first line it is about, from 1: in the patch for what reading
    /// mends, in the patched file for what applying mends.
    pub line: usize,
    /// Lines it is about, 1 at least.
    pub lines: usize,
    /// The added line that it changed, or could not restore.
    pub added: Option<Rewrite>,
}

/// An added line that does not stand in the tree as it stands in the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The line in the patch.
    pub was: Vec<u8>,
    /// The line in the tree.
    pub now: Vec<u8>,
}

/// What was wrong with a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MendKind {
    /// It was in UTF-16 or began with a byte order mark.
    ByteOrderMark,
    /// It was taken out of a web page.
    Page,
    /// Its date named no zone that is known.
    Zone,
    /// It was in the text of its mail, and attached to it as well.
    Twice,
    /// It was quoted with `> `.
    Quotation,
    /// A mailer had wrapped a line.
    Wrapped,
    /// The blank before an empty context line was gone.
    EmptyContext,
    /// The blank before every context line of a hunk was gone.
    ContextBlank,
    /// A hunk's counts did not match its lines.
    Counts,
    /// Its line ends were not those of the tree's file.
    LineEnds,
    /// Its blanks and tabs were not those of the tree's file.
    Whitespace,
    /// `&lt;` and the like stood for characters.
    Entities,
    /// `<…>` had been taken for HTML and was gone.
    Markup,
}

impl Mend {
    /// Whether a line that the patch adds is not in the tree as the patch has it.
    pub fn changes_added(&self) -> bool {
        self.added.is_some()
    }
}

impl MendKind {
    /// All kinds, in the order in which a patch is mended.
    pub const ALL: [MendKind; 13] = [
        MendKind::ByteOrderMark,
        MendKind::Page,
        MendKind::Zone,
        MendKind::Twice,
        MendKind::Quotation,
        MendKind::Wrapped,
        MendKind::EmptyContext,
        MendKind::ContextBlank,
        MendKind::Counts,
        MendKind::LineEnds,
        MendKind::Whitespace,
        MendKind::Entities,
        MendKind::Markup,
    ];

    /// The kind that records call `name`.
    pub fn named(name: &str) -> Option<MendKind> {
        MendKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// One word for records: `quotation`, `whitespace`.
    pub fn name(self) -> &'static str {
        match self {
            MendKind::ByteOrderMark => "byte-order-mark",
            MendKind::Page => "page",
            MendKind::Zone => "zone",
            MendKind::Twice => "twice",
            MendKind::Quotation => "quotation",
            MendKind::Wrapped => "wrapped",
            MendKind::EmptyContext => "empty-context",
            MendKind::ContextBlank => "context-blank",
            MendKind::Counts => "counts",
            MendKind::LineEnds => "line-ends",
            MendKind::Whitespace => "whitespace",
            MendKind::Entities => "entities",
            MendKind::Markup => "markup",
        }
    }

    /// What was done, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            MendKind::ByteOrderMark => "decoded from UTF-16, or a byte order mark left out",
            MendKind::Page => "taken out of a web page",
            MendKind::Zone => "its date names no zone that is known, and is taken for UTC",
            MendKind::Twice => {
                "the mail has the same patch in its text and attached; it is taken once"
            }
            MendKind::Quotation => "`> ` taken off",
            MendKind::Wrapped => "a wrapped line joined",
            MendKind::EmptyContext => "empty context lines had lost their blank",
            MendKind::ContextBlank => "context lines had lost the blank before them",
            MendKind::Counts => "the hunk's counts were wrong and are counted again",
            MendKind::LineEnds => "line ends made those of the file",
            MendKind::Whitespace => "blanks and tabs differ from the file's",
            MendKind::Entities => "`&lt;` and the like decoded",
            MendKind::Markup => "`<…>` is gone",
        }
    }
}

impl fmt::Display for Mend {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}:", shown(path.as_bytes()))?;
        }
        write!(f, "{}: {}", self.line, self.kind.sentence())?;
        if self.lines > 1 {
            write!(f, " ({} lines)", self.lines)?;
        }
        if let Some(Rewrite { was, now }) = &self.added {
            write!(
                f,
                "; added line `{}` stands as `{}`",
                shown(was),
                shown(now)
            )?;
        }
        Ok(())
    }
}
