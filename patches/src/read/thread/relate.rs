//! Which sets of a thread are versions of one series.

use std::collections::HashMap;

use super::error::ThreadError;
use super::set::Set;
use super::{Entry, LeftOut, Reason};
use crate::read::Placed;

/// The newest version of each series; all mails of the others are left out.
///
/// Two sets are versions of one series if a cover letter or a patch has the
/// same title in both, or if a mail of the newer one answers one of the older.
pub(super) fn newest(sets: Vec<Set>, left_out: &mut Vec<LeftOut>) -> Placed<Vec<Set>> {
    let mut groups = Groups::new(sets.len());
    by_title(&sets, &mut groups);
    let follow_ups = by_answers(&sets, &mut groups);
    let mut versions: Vec<Vec<Set>> = Vec::new();
    versions.resize_with(sets.len(), Vec::new);
    for (index, set) in sets.into_iter().enumerate() {
        let follows = follow_ups[index].filter(|&other| groups.root(other) != groups.root(index));
        if follows.is_some() {
            left_out.extend(set.mails().map(|it| it.left_out(Reason::FollowUp)));
        } else {
            versions[groups.root(index)].push(set);
        }
    }
    let versions = versions.into_iter().filter(|group| !group.is_empty());
    versions.map(|group| newest_of(group, left_out)).collect()
}

fn newest_of(mut group: Vec<Set>, left_out: &mut Vec<LeftOut>) -> Placed<Set> {
    // Of one version, the last in the file comes first.
    group.sort_by_key(|set| std::cmp::Reverse((set.version, set.first().map(Entry::order))));
    let newest = group.remove(0);
    let (version, place) = (newest.version, newest.place());
    if let Some(other) = group.iter().find(|set| set.version == version) {
        let other = other.place();
        return Err((place, ThreadError::SameVersion { version, other }.into()));
    }
    if newest.is_rfc()
        && let Some(other) = group.iter().find(|set| !set.is_rfc())
    {
        let other = other.place();
        return Err((place, ThreadError::Rfc { version, other }.into()));
    }
    if !newest.is_complete()
        && let Some(complete) = group.iter().find(|set| set.is_complete())
    {
        let kind = ThreadError::Partial {
            version,
            found: newest.found(),
            total: newest.total,
            complete: complete.version,
        };
        return Err((place, kind.into()));
    }
    let older = group.iter().flat_map(Set::mails);
    left_out.extend(older.map(|it| it.left_out(Reason::OlderVersion)));
    Ok(newest)
}

fn by_title(sets: &[Set], groups: &mut Groups) {
    let mut first = HashMap::new();
    for (index, set) in sets.iter().enumerate() {
        for mail in set.mails().filter(|it| !it.title.is_empty()) {
            let other = *first.entry(mail.title.as_str()).or_insert(index);
            groups.join(index, other);
        }
    }
}

/// Joins newer versions to those that they answer. Returns for each set one
/// that it answers without being a newer version of it.
fn by_answers(sets: &[Set], groups: &mut Groups) -> Vec<Option<usize>> {
    let with_place = |(index, set): (usize, &Set)| {
        let ids = set.mails().filter_map(|it| it.mail.id.clone());
        ids.map(move |id| (id, index)).collect::<Vec<_>>()
    };
    let places: HashMap<String, usize> = sets.iter().enumerate().flat_map(with_place).collect();
    let mut follow_ups = vec![None; sets.len()];
    for (index, set) in sets.iter().enumerate() {
        let answered = set.mails().flat_map(|it| &it.mail.references);
        for &other in answered.filter_map(|id| places.get(id)) {
            let before = &sets[other];
            if set.version > before.version {
                groups.join(index, other);
            } else if other != index && !before.single {
                follow_ups[index] = Some(other);
            }
        }
    }
    follow_ups
}

/// Disjoint sets of numbers.
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn new(count: usize) -> Groups {
        Groups {
            parents: (0..count).collect(),
        }
    }

    fn root(&mut self, mut index: usize) -> usize {
        while self.parents[index] != index {
            self.parents[index] = self.parents[self.parents[index]];
            index = self.parents[index];
        }
        index
    }

    /// The lower number becomes the root.
    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parents[one.max(other)] = one.min(other);
    }
}
