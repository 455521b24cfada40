//! A thread becomes a series: the newest version, by number, without what
//! people answered.

mod error;
mod relate;
mod set;

use std::collections::HashMap;
use std::fmt;

pub use error::ThreadError;

use super::mail::{Changes, Mail, are_same, change_one_file};
use super::tag::{self, Tag};
use super::{LeftOut, Place, Placed, ReadErrorKind};
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
    /// It is taken, and the rest of its series is not there.
    Alone {
        /// Its number.
        number: u32,
        /// How many patches its series has.
        total: u32,
    },
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
            Reason::Alone { number, total } => {
                return write!(
                    f,
                    "the rest of its series: part {number} of {total} alone is read"
                );
            }
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
        let Place { name, line } = self.mail.at.clone();
        LeftOut {
            subject: self.mail.subject.clone(),
            name,
            line,
            why,
        }
    }

    /// Where it stands among all mails that were read.
    fn order(&self) -> (usize, usize) {
        (self.mail.file, self.mail.at.line)
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
pub(super) fn sort(mails: Vec<Mail>) -> Placed<Series> {
    let mut series = Series::default();
    let mut entries = unique(mails, &mut series.left_out);
    let alone = series.left_out.is_empty();
    if entries.len() == 1 && (alone || entries.iter().all(|it| it.tag.number.is_none())) {
        // Whatever it is called, it is what was asked for.
        series.note_alone(&entries);
        series.take(entries)?;
        return Ok(series);
    }
    let tagged = entries.iter().any(|it| it.tag.patch && !it.tag.reply);
    let is_reply = |it: &mut Entry| {
        it.tag.reply || (tagged && !it.tag.patch && !it.mail.references.is_empty())
    };
    let replies: Vec<Entry> = entries.extract_if(.., is_reply).collect();
    let entries = without_attached_again(entries, &mut series.left_out)?;
    let (sets, plain) = sorted(entries, &mut series.left_out)?;
    if sets.all.is_empty() && plain.is_empty() {
        series.take_reply(replies)?;
    } else {
        let replies = replies.iter().map(|it| it.left_out(Reason::Reply));
        series.left_out.extend(replies);
        series.take_sets(sets, plain)?;
    }
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

/// The mails without those that say in a patch of their own what the mail does to which they are
/// attached, or without that mail where it does not say that it is a patch.
fn without_attached_again(entries: Vec<Entry>, left_out: &mut Vec<LeftOut>) -> Placed<Vec<Entry>> {
    let carriers = entries.iter().enumerate();
    let carriers = carriers.filter(|(_, it)| it.mail.carries && it.has_diff());
    let carriers: HashMap<(usize, usize), usize> =
        carriers.map(|(index, it)| (it.order(), index)).collect();
    let mut again = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let line = entry.mail.inside.filter(|_| entry.has_diff());
        let carrier = line.and_then(|line| carriers.get(&(entry.mail.file, line)));
        let Some(&carrier) = carrier else { continue };
        let (own, other) = (entry.mail.files()?, entries[carrier].mail.files()?);
        if are_same(own, other) {
            match entries[carrier].tag.patch {
                true => again.insert(index, Reason::Duplicate),
                false => again.insert(carrier, Reason::Carrier),
            };
        } else if change_one_file(own, other) {
            let other = entries[carrier].mail.at.clone();
            let kind = ThreadError::Attached { other };
            return Err((entry.mail.at.clone(), kind.into()));
        }
    }
    let mut kept = Vec::with_capacity(entries.len());
    for (index, entry) in entries.into_iter().enumerate() {
        match again.get(&index) {
            Some(&why) => left_out.push(entry.left_out(why)),
            None => kept.push(entry),
        }
    }
    Ok(kept)
}

/// The sets of what is tagged, and what has a diff and no tag.
fn sorted(entries: Vec<Entry>, left_out: &mut Vec<LeftOut>) -> Placed<(Sets, Vec<Entry>)> {
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
    fn take(&mut self, entries: Vec<Entry>) -> Placed<()> {
        for Entry { mut mail, .. } in entries {
            let changes = std::mem::replace(&mut mail.changes, Ok(Changes::default()));
            let changes = changes.map_err(|error| mail.error(error))?;
            if changes.files.is_empty() {
                return Err((mail.at, ReadErrorKind::NoDiff));
            }
            self.patches.push(Taken { mail, changes });
        }
        Ok(())
    }

    /// Notes that the only patch is a part of a series.
    fn note_alone(&mut self, entries: &[Entry]) {
        if let [only] = entries
            && let Some((number @ 1.., total @ 2..)) = only.tag.number
        {
            let why = Reason::Alone { number, total };
            self.left_out.push(only.left_out(why));
        }
    }

    /// Of a file of replies, the only one that has a diff.
    fn take_reply(&mut self, replies: Vec<Entry>) -> Placed<()> {
        let first = replies.first().map(|it| it.mail.at.clone());
        let (mut patches, others): (Vec<_>, Vec<_>) =
            replies.into_iter().partition(Entry::has_diff);
        if patches.is_empty() {
            for other in &others {
                other.mail.files()?;
            }
            let first = first.unwrap_or_default();
            return Err((first, ReadErrorKind::NoDiff));
        }
        let others = others.iter().map(|it| it.left_out(Reason::Reply));
        self.left_out.extend(others);
        if patches.len() > 1 && patches.iter().all(|it| it.tag.number.is_some()) {
            let (sets, plain) = sorted(patches, &mut self.left_out)?;
            return self.take_sets(sets, plain);
        }
        if let [first, second, ..] = &patches[..] {
            let other = first.mail.at.clone();
            let kind = ThreadError::SeveralReplies { other };
            return Err((second.mail.at.clone(), kind.into()));
        }
        self.take(std::mem::take(&mut patches))
    }

    /// The newest version of each series, in the order of the file.
    fn take_sets(&mut self, sets: Sets, plain: Vec<Entry>) -> Placed<()> {
        // One patch of a series by itself is what was asked for; one that is there twice was
        // sent again, or stands where another should.
        let again = |it: &LeftOut| matches!(it.why, Reason::Duplicate | Reason::Resent);
        let one_patch = plain.is_empty()
            && sets.all.len() == 1
            && sets
                .all
                .iter()
                .all(|it| it.mails().count() == 1 && it.cover.is_none())
            && !self.left_out.iter().any(again);
        let newest = relate::newest(sets.all, &mut self.left_out)?;
        let mut units = Vec::new();
        for set in newest {
            if !one_patch && let Some(number) = set.missing() {
                return Err(missing(&set, number));
            }
            let order = set.first().map_or((0, 0), Entry::order);
            let (cover, patches) = set.opened();
            if one_patch {
                self.note_alone(&patches);
            }
            units.push((order, cover, patches));
        }
        units.extend(plain.into_iter().map(|it| (it.order(), None, vec![it])));
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

fn missing(set: &Set, number: u32) -> (Place, ReadErrorKind) {
    let kind = ThreadError::Missing {
        version: set.version,
        number,
        total: set.total,
        found: set.found(),
    };
    (set.place(), kind.into())
}
