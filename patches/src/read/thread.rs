//! A thread becomes a series: the newest version, by number, without what
//! people answered.

mod error;
mod relate;
mod set;

use std::collections::HashMap;
use std::fmt;

pub use error::ThreadError;

use super::mail::{Changes, Mail};
use super::tag::{self, Tag};
use super::{LeftOut, Located, ReadErrorKind};
use crate::Header;
use set::{Set, Sets};

/// Why a mail is no part of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It answers another mail.
    Reply,
    /// A newer version is taken.
    OlderVersion,
    /// The same is there once more.
    Duplicate,
    /// It was sent again, and the newer one is taken.
    Resent,
    /// A patch or a series that was sent in answer to the one that is taken.
    FollowUp,
    /// It has no diff and does not say that it should.
    NoDiff,
    /// The patches attached to it are taken.
    Carrier,
    /// The cover letter of a further series.
    Cover,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Reason::Reply => "a reply",
            Reason::OlderVersion => "an older version",
            Reason::Duplicate => "the same patch again",
            Reason::Resent => "sent again since",
            Reason::FollowUp => "sent in answer to the series, and not numbered with it",
            Reason::NoDiff => "without a diff",
            Reason::Carrier => "only carries the patches attached to it",
            Reason::Cover => "the cover letter of a further series",
        })
    }
}

/// A mail, and what its subject says.
struct Entry {
    mail: Mail,
    tag: Tag,
    title: String,
}

impl Entry {
    fn left_out(&self, why: Reason) -> LeftOut {
        LeftOut {
            subject: self.mail.subject.clone(),
            line: self.mail.line,
            why,
        }
    }

    fn has_diff(&self) -> bool {
        matches!(self.mail.files(), Ok(files) if !files.is_empty())
    }
}

/// A patch of the series, taken apart.
pub(super) struct Taken {
    pub mail: Mail,
    pub changes: Changes,
}

/// What came of a thread.
#[derive(Default)]
pub(super) struct Series {
    pub patches: Vec<Taken>,
    pub cover: Option<Header>,
    pub left_out: Vec<LeftOut>,
}

/// Sorts the mails of a file into a series, or says why they make none.
pub(super) fn sort(mails: Vec<Mail>) -> Located<Series> {
    let mut series = Series::default();
    let mut entries = unique(mails, &mut series.left_out);
    if entries.len() == 1 {
        // Whatever it is called, it is what was asked for.
        series.take(entries)?;
        return Ok(series);
    }
    let tagged = entries.iter().any(|it| it.tag.patch && !it.tag.reply);
    let is_reply = |it: &mut Entry| {
        it.tag.reply || (tagged && !it.tag.patch && !it.mail.references.is_empty())
    };
    let replies: Vec<Entry> = entries.extract_if(.., is_reply).collect();
    let (sets, plain) = sorted(entries, &mut series.left_out)?;
    if sets.all.is_empty() && plain.is_empty() {
        series.take_reply(replies)?;
    } else {
        let replies = replies.iter().map(|it| it.left_out(Reason::Reply));
        series.left_out.extend(replies);
        series.take_sets(sets, plain)?;
    }
    series.left_out.sort_by_key(|it| it.line);
    Ok(series)
}

/// The mails without those that came twice, as by two lists. Of two that have
/// one Message-Id and change different things, neither is left out.
fn unique(mails: Vec<Mail>, left_out: &mut Vec<LeftOut>) -> Vec<Entry> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut entries: Vec<Entry> = Vec::new();
    for mail in mails {
        let (tag, title) = tag::read(&mail.subject);
        let id = mail.id.clone();
        let first = id.map(|id| *seen.entry(id).or_insert(entries.len()));
        let first = first.and_then(|at| entries.get(at));
        let is_same = first.is_some_and(|first| first.mail.files() == mail.files());
        let entry = Entry { mail, tag, title };
        if is_same {
            left_out.push(entry.left_out(Reason::Duplicate));
        } else {
            entries.push(entry);
        }
    }
    entries
}

/// The sets of what is tagged, and what has a diff and no tag.
fn sorted(entries: Vec<Entry>, left_out: &mut Vec<LeftOut>) -> Located<(Sets, Vec<Entry>)> {
    let mut sets = Sets::default();
    let mut plain = Vec::new();
    for entry in entries {
        if entry.mail.carries && entry.mail.files()?.is_empty() {
            left_out.push(entry.left_out(Reason::Carrier));
        } else if entry.tag.patch {
            left_out.extend(sets.add(entry)?);
        } else if entry.mail.files()?.is_empty() {
            left_out.push(entry.left_out(Reason::NoDiff));
        } else {
            plain.push(entry);
        }
    }
    Ok((sets, plain))
}

impl Series {
    fn take(&mut self, entries: Vec<Entry>) -> Located<()> {
        for Entry { mut mail, .. } in entries {
            let changes = std::mem::replace(&mut mail.changes, Ok(Changes::default()))?;
            if changes.files.is_empty() {
                return Err((mail.line, ReadErrorKind::NoDiff));
            }
            self.patches.push(Taken { mail, changes });
        }
        Ok(())
    }

    /// Of a file of replies, the only one that has a diff.
    fn take_reply(&mut self, replies: Vec<Entry>) -> Located<()> {
        let first_line = replies.first().map_or(1, |it| it.mail.line);
        let (mut patches, others): (Vec<_>, Vec<_>) =
            replies.into_iter().partition(Entry::has_diff);
        if patches.is_empty() {
            for other in &others {
                other.mail.files()?;
            }
            return Err((first_line, ReadErrorKind::NoDiff));
        }
        let others = others.iter().map(|it| it.left_out(Reason::Reply));
        self.left_out.extend(others);
        if patches.len() > 1 && patches.iter().all(|it| it.tag.number.is_some()) {
            let (sets, plain) = sorted(patches, &mut self.left_out)?;
            return self.take_sets(sets, plain);
        }
        if let [first, second, ..] = &patches[..] {
            let other = first.mail.line;
            let kind = ThreadError::SeveralReplies { other };
            return Err((second.mail.line, kind.into()));
        }
        self.take(std::mem::take(&mut patches))
    }

    /// The newest version of each series, in the order of the file.
    fn take_sets(&mut self, sets: Sets, plain: Vec<Entry>) -> Located<()> {
        // One patch of a series by itself is what was asked for.
        let one_patch = plain.is_empty()
            && sets.all.len() == 1
            && sets
                .all
                .iter()
                .all(|it| it.mails().count() == 1 && it.cover.is_none());
        let newest = relate::newest(sets.all, &mut self.left_out)?;
        let mut units = Vec::new();
        for set in newest {
            if !one_patch && let Some(number) = set.missing() {
                return Err(missing(&set, number));
            }
            let line = set.line();
            let (cover, patches) = set.opened();
            units.push((line, cover, patches));
        }
        units.extend(plain.into_iter().map(|it| (it.mail.line, None, vec![it])));
        units.sort_by_key(|unit| unit.0);
        for (_, cover, patches) in units {
            match (cover, &self.cover) {
                (Some((header, _)), None) if header.is_empty() => {}
                (Some((header, _)), None) => self.cover = Some(header),
                (Some((_, further)), Some(_)) => self.left_out.push(further),
                (None, _) => {}
            }
            self.take(patches)?;
        }
        Ok(())
    }
}

fn missing(set: &Set, number: u32) -> (usize, ReadErrorKind) {
    let kind = ThreadError::Missing {
        version: set.version,
        number,
        total: set.total,
        found: set.found(),
    };
    (set.line(), kind.into())
}
