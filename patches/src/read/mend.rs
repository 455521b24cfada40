//! Mending what can be mended without a tree: quotation, wrapped lines, counts
//! that don't match, blanks that are gone.
//!
//! Reading is strict first, and what reads strictly is never touched, unless a
//! hunk's counts take in a line that can't be the hunk's own (a mail's
//! signature, the heading of the next file) or leave one out.

mod blanks;
mod context;
mod counts;
mod ends;
mod headings;
mod hunks;
mod names;
mod pass;
mod quotation;
mod rest;
mod row;
mod tally;
mod wrapped;

use std::borrow::Cow;

use self::hunks::{Cursor, Exact, exact};
use self::row::{Mark, Row};
use super::{Located, ReadErrorKind, diff};
use crate::{FilePatch, Mend, MendKind};

/// A text that was read.
pub(super) struct Mended<'a> {
    /// What it does to files; empty where it has no diff.
    pub files: Vec<FilePatch>,
    /// What had to be put right, by line.
    pub mends: Vec<Mend>,
    /// The text with everything put right, in which the description ends
    /// where it should.
    pub text: Cow<'a, [u8]>,
}

impl Mended<'_> {
    /// Whether it was quoted: then who wrote the mail did not write the patch.
    pub(super) fn was_quoted(&self) -> bool {
        self.mends
            .iter()
            .any(|mend| mend.kind == MendKind::Quotation)
    }
}

/// All file patches in a text whose first line has the number `first_line`.
pub(super) fn parse(bytes: &[u8], first_line: usize) -> Located<Mended<'_>> {
    let strict = diff::parse(bytes, first_line);
    if !can_be_mended(&strict, bytes) {
        return strict.map(|files| as_it_is(files, bytes));
    }
    let rows = row::rows(bytes, first_line);
    let found = survey(&rows);
    let strict = match strict {
        Ok(files) if !files.is_empty() && found.doubt.is_none() && !found.may_hold_a_rest => {
            return Ok(Mended {
                mends: names::as_in(&files, found.empty_context),
                ..as_it_is(files, bytes)
            });
        }
        strict => strict,
    };
    let has_diff = !matches!(&strict, Ok(files) if files.is_empty());
    match mend(rows, has_diff)? {
        Some(mended) => Ok(mended),
        None => strict.map(|files| as_it_is(files, bytes)),
    }
}

fn as_it_is(files: Vec<FilePatch>, bytes: &[u8]) -> Mended<'_> {
    Mended {
        files,
        mends: Vec::new(),
        text: Cow::Borrowed(bytes),
    }
}

/// What is known and not read, and what is too large, stays so.
fn can_be_mended(strict: &Located<Vec<FilePatch>>, bytes: &[u8]) -> bool {
    let known = matches!(
        strict,
        Err((
            _,
            ReadErrorKind::Unsupported { .. } | ReadErrorKind::TooLarge(_) | ReadErrorKind::Mail(_)
        ))
    );
    let lines = bytes.iter().filter(|&&b| b == b'\n').count();
    !known && lines < diff::MAX_LINES
}

/// Mends a text that can't be read as it is; `None` where nothing was found to
/// mend. `has_diff`: it has something of a diff that is not quoted.
fn mend(mut rows: Vec<Row>, has_diff: bool) -> Located<Option<Mended<'static>>> {
    let mut mends = blanks(&mut rows);
    let quotation = if has_diff {
        None
    } else {
        quotation::find(&rows)?
    };
    if let Some(quotation) = &quotation {
        let line = rows[quotation.lines.start].number;
        quotation::take_off(&mut rows, quotation);
        mends.push(of_patch(MendKind::Quotation, line, quotation.lines.len()));
    }
    let decoded = headings::decode(&mut rows);
    if let Some(&line) = decoded.first() {
        mends.push(of_patch(MendKind::Entities, line, decoded.len()));
    }
    let joined = headings::join(&mut rows);
    let joined = joined.into_iter();
    mends.extend(joined.map(|(line, lines)| of_patch(MendKind::Wrapped, line, lines)));
    // A quoted hunk whose counts don't match has most likely been cut by who answers.
    mends.extend(pass::run(&mut rows, quotation.is_none())?);
    if mends.is_empty() {
        return Ok(None);
    }
    read_again(&rows, mends)
}

fn read_again(rows: &[Row], mut mends: Vec<Mend>) -> Located<Option<Mended<'static>>> {
    let text = row::text(rows);
    let number = |line: usize| {
        let row = rows.get(line - 1).or(rows.last());
        row.map_or(1, |row| row.number)
    };
    let files = diff::parse(&text, 1).map_err(|(line, kind)| (number(line), kind))?;
    if files.is_empty() {
        return Ok(None);
    }
    let survey = survey(rows);
    if let Some(line) = survey.doubt {
        return Err((line, doubtful_counts()));
    }
    mends.extend(survey.empty_context);
    mends.sort_by_key(|mend| mend.line);
    let mends = names::as_in(&files, mends);
    let text = Cow::Owned(text);
    Ok(Some(Mended { files, mends, text }))
}

fn blanks(rows: &mut [Row]) -> Vec<Mend> {
    let (added, other): (Vec<_>, Vec<_>) = blanks::put_right(rows)
        .into_iter()
        .partition(|(_, added)| added.is_some());
    let first = other.first().map(|&(line, _)| line);
    let whole = first.map(|line| of_patch(MendKind::Whitespace, line, other.len()));
    let single = added.into_iter().map(|(line, added)| Mend {
        added,
        ..of_patch(MendKind::Whitespace, line, 1)
    });
    whole.into_iter().chain(single).collect()
}

/// A mend that is about the whole patch.
pub(super) fn of_patch(kind: MendKind, line: usize, lines: usize) -> Mend {
    Mend {
        kind,
        path: None,
        line,
        lines,
        added: None,
    }
}

fn doubtful_counts() -> ReadErrorKind {
    ReadErrorKind::Doubtful(
        "the counts of its hunk take in a line that can't be the hunk's own, or leave one out; \
         put the counts right, or part the hunk from what is below it with an empty line"
            .to_owned(),
    )
}

/// What a text shows whose hunks are read by their counts.
struct Survey {
    /// The line of a heading that may have been read wrongly.
    doubt: Option<usize>,
    /// The rest of a wrapped line may count as a line of a hunk.
    may_hold_a_rest: bool,
    /// For each file whose empty context lines have lost their blank, that.
    empty_context: Vec<Mend>,
}

fn survey(rows: &[Row]) -> Survey {
    let mut found = Survey {
        doubt: headings::broken(rows),
        may_hold_a_rest: false,
        empty_context: Vec::new(),
    };
    let mut cursor = Cursor::default();
    while let Some(counts) = cursor.next(rows) {
        let start = cursor.at;
        let exact = exact(rows, start, counts);
        found.may_hold_a_rest |= matches!(exact, Exact::Full(_));
        match exact {
            Exact::Whole(end) | Exact::Full(end) => {
                cursor.at = end;
                note_empty(&rows[start..end], &cursor.path, &mut found.empty_context);
            }
            Exact::Doubt => found.doubt = found.doubt.or(Some(rows[start - 1].number)),
            Exact::Broken => {}
        }
    }
    found
}

fn note_empty(hunk: &[Row], path: &Option<String>, mends: &mut Vec<Mend>) {
    let mut empty = hunk.iter().filter(|row| row.mark() == Mark::Empty);
    let Some(first) = empty.next() else { return };
    let lines = 1 + empty.count();
    match mends.last_mut() {
        Some(mend) if mend.path == *path => mend.lines += lines,
        _ => mends.push(Mend {
            kind: MendKind::EmptyContext,
            path: path.clone(),
            line: first.number,
            lines,
            added: None,
        }),
    }
}
