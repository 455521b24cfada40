//! In which order commits are printed: `git log` begins with the newest.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::Commit;

/// Whether the first commit is the newest. The blobs before and after tell where
/// two commits change one file; then dates, and else it is as `git log` does.
pub(super) fn is_newest_first(commits: &[Commit]) -> bool {
    by_blobs(commits).or_else(|| by_dates(commits)) != Some(Ordering::Less)
}

/// Blob ids before and after a change.
type Blobs<'a> = (&'a str, &'a str);

/// `Less` where a file's content in one commit is what a later one starts from.
fn by_blobs(commits: &[Commit]) -> Option<Ordering> {
    let mut above: HashMap<&str, Blobs> = HashMap::new();
    for file in commits.iter().flat_map(|commit| &commit.patch.files) {
        let names = [&file.new, &file.old];
        let path = names.into_iter().flatten().next().map(|name| bare(name));
        let (Some(path), Some(old), Some(new)) = (path, &file.old_blob, &file.new_blob) else {
            continue;
        };
        let Some(before) = above.insert(path, (old, new)) else {
            continue;
        };
        // A change and its revert fit both ways.
        match (same(before.1, old), same(before.0, new)) {
            (true, false) => return Some(Ordering::Less),
            (false, true) => return Some(Ordering::Greater),
            _ => {}
        }
    }
    None
}

/// A name without `a/` or `b/`.
fn bare(name: &str) -> &str {
    let rest = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    rest.unwrap_or(name)
}

/// Whether two abbreviations can be of one blob.
fn same(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn by_dates(commits: &[Commit]) -> Option<Ordering> {
    let made = |commit: Option<&Commit>| commit?.made.map(|date| date.seconds);
    let (first, last) = (made(commits.first())?, made(commits.last())?);
    Some(first.cmp(&last)).filter(|order| order.is_ne())
}
