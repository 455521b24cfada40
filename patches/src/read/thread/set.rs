//! The mails of a thread that have one version and one total.

use std::collections::{BTreeMap, HashMap};

use super::error::{ThreadError, ranges};
use super::{Entry, LeftOut, Place, Reason};
use crate::Header;
use crate::read::Placed;
use crate::read::ReadErrorKind;
use crate::read::tag::Version;

/// What the mails of a set have in common: `(v2, 7)`, or a title where they
/// are not numbered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Numbered(Version, u32),
    Single(Version, String),
}

/// One version of one series.
pub(super) struct Set {
    pub version: Version,
    pub total: u32,
    /// Not numbered, and so one patch.
    pub single: bool,
    pub cover: Option<Entry>,
    pub patches: BTreeMap<u32, Entry>,
}

impl Set {
    /// All its mails, the cover letter first.
    pub(super) fn mails(&self) -> impl Iterator<Item = &Entry> {
        self.cover.iter().chain(self.patches.values())
    }

    /// The first of its mails.
    pub(super) fn first(&self) -> Option<&Entry> {
        self.mails().min_by_key(|it| it.order())
    }

    /// Where that starts.
    pub(super) fn place(&self) -> Place {
        let first = self.first().map(|it| it.mail.at.clone());
        first.unwrap_or_default()
    }

    pub(super) fn is_rfc(&self) -> bool {
        self.mails().any(|it| it.tag.rfc)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.patches.len() == self.total as usize
    }

    pub(super) fn found(&self) -> String {
        ranges(self.patches.keys().copied())
    }

    /// The first number that it does not have.
    pub(super) fn missing(&self) -> Option<u32> {
        let numbers = self.patches.keys().zip(1..);
        let gap = numbers
            .into_iter()
            .find(|(number, wanted)| *number != wanted);
        let after_last = || u32::try_from(self.patches.len()).ok()?.checked_add(1);
        let missing = gap.map(|(_, wanted)| wanted).or_else(after_last)?;
        (missing <= self.total).then_some(missing)
    }

    /// Its cover letter, and what that says for all patches said in each.
    pub(super) fn opened(mut self) -> (Option<(Header, LeftOut)>, Vec<Entry>) {
        let base = self
            .cover
            .as_ref()
            .and_then(|it| it.mail.trailers.base_commit.clone());
        for patch in self.patches.values_mut() {
            let own = &mut patch.mail.trailers.base_commit;
            *own = own.take().or_else(|| base.clone());
        }
        let cover = self.cover.map(|it| {
            let left_out = it.left_out(Reason::Cover);
            (it.mail.header, left_out)
        });
        (cover, self.patches.into_values().collect())
    }
}

/// The sets of a thread, in the order in which they begin.
#[derive(Default)]
pub(super) struct Sets {
    pub all: Vec<Set>,
    places: HashMap<Key, usize>,
}

impl Sets {
    /// Puts a mail where it belongs. What it makes superfluous comes back.
    pub(super) fn add(&mut self, entry: Entry) -> Placed<Option<LeftOut>> {
        let version = entry.tag.version;
        let (key, number, total) = match entry.tag.number {
            Some((number, total)) => (Key::Numbered(version, total), number, total),
            None => (Key::Single(version, entry.title.clone()), 1, 1),
        };
        if number > total {
            let kind = ThreadError::Beyond { number, total };
            return Err((entry.mail.at, kind.into()));
        }
        let single = entry.tag.number.is_none();
        let place = *self.places.entry(key).or_insert(self.all.len());
        if place == self.all.len() {
            self.all.push(Set {
                version,
                total,
                single,
                cover: None,
                patches: BTreeMap::new(),
            });
        }
        let set = &mut self.all[place];
        let before = match number {
            0 => set.cover.take(),
            _ => set.patches.remove(&number),
        };
        let (kept, left_out) = match before {
            None => (entry, None),
            Some(before) => one_of(before, entry, (version, number, total))?,
        };
        if number == 0 {
            set.cover = Some(kept);
        } else {
            set.patches.insert(number, kept);
        }
        Ok(left_out)
    }
}

/// Which of two mails with one number is taken.
fn one_of(
    before: Entry,
    entry: Entry,
    (version, number, total): (Version, u32, u32),
) -> Placed<(Entry, Option<LeftOut>)> {
    let same = match number {
        0 => before.mail.header.message == entry.mail.header.message,
        _ => before.mail.files()? == entry.mail.files()?,
    };
    if same {
        let left_out = entry.left_out(Reason::Duplicate);
        return Ok((before, Some(left_out)));
    }
    if !before.tag.resend && !entry.tag.resend {
        let other = before.mail.at;
        let kind = ThreadError::Twice {
            version,
            number,
            total,
            other,
        };
        return Err((entry.mail.at, ReadErrorKind::from(kind)));
    }
    let sent = |it: &Entry| (it.mail.header.date.map(|date| date.seconds), it.tag.resend);
    let (old, new) = match sent(&before) > sent(&entry) {
        true => (entry, before),
        false => (before, entry),
    };
    let left_out = old.left_out(Reason::Resent);
    Ok((new, Some(left_out)))
}
