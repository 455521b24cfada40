//! What is shown of a patch that does not apply: each hunk without a place, and the commits
//! that changed it.

use git2::{Oid, Repository};
use ktrial_patches::Patch;
use ktrial_patches::apply::{ApplyError, Failures, failures};
use ktrial_patches::history::{Named, Since, changed_since};

use crate::timestamp::day;

/// Commits looked at to find those that changed a place.
const SINCE_LIMIT: usize = 20_000;

/// Hunks shown beside the first.
const SHOWN: usize = 4;

const THIS_CHANGE: &str =
    "by its subject the first is this very change: the tree has had it, and has moved on";

/// Files named that have more of them.
const FILES: usize = 10;

/// The evidence of an error, but for its first line.
pub(super) fn of(
    repository: &Repository,
    base: Oid,
    patches: &[Patch],
    error: &ApplyError,
) -> Vec<String> {
    let text = error.to_string();
    let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    // What is at fault has been found; that the history could not be read is no news.
    let since = |error: &ApplyError| {
        let found = changed_since(repository, base, patches, error, SINCE_LIMIT);
        let lines = |since: Since| since_lines(&since, error, patches);
        found.ok().flatten().map_or_else(Vec::new, lines)
    };
    lines.extend(since(error));
    let others = failures(repository, base, patches, error, SHOWN).unwrap_or_default();
    for other in &others.shown {
        lines.push("\n".to_owned());
        lines.extend(without_patch(other, patches));
        // Said once, it is said of all hunks.
        let known = lines.iter().any(|line| line == THIS_CHANGE);
        let of_other = since(other).into_iter();
        lines.extend(of_other.filter(|line| !known || line != THIS_CHANGE));
    }
    lines.extend(more(&others));
    lines
}

/// An error without the name of the patch, which stands above it.
fn without_patch(error: &ApplyError, patches: &[Patch]) -> Vec<String> {
    let text = error.to_string();
    let names = patches.iter().map(|patch| format!("{}: ", patch.name));
    let own = names
        .into_iter()
        .find(|name| text.starts_with(name.as_str()));
    let text = own
        .and_then(|name| text.strip_prefix(&name))
        .unwrap_or(&text);
    text.lines().map(str::to_owned).collect()
}

/// `7 more hunks or files do not apply, in sys/kern/x.c (3), sys/kern/y.c (4)`.
fn more(others: &Failures) -> Option<String> {
    let total: usize = others.more.iter().map(|(_, count)| count).sum();
    if total == 0 {
        return None;
    }
    let named = others.more.iter().take(FILES);
    let mut files: Vec<String> = named.map(|(path, n)| format!("{path} ({n})")).collect();
    if others.more.len() > FILES {
        files.push(format!("{} more files", others.more.len() - FILES));
    }
    let hunks = if total == 1 { "hunk does" } else { "hunks do" };
    Some(format!(
        "\n{total} more {hunks} not apply, in {}",
        files.join(", ")
    ))
}

fn since_lines(since: &Since, error: &ApplyError, patches: &[Patch]) -> Vec<String> {
    let what = match error {
        ApplyError::AlreadyApplied { .. } => "in the tree since",
        _ => "changed since by",
    };
    let mut line = format!("{what} commit {}", named(&since.first));
    if let Some(path) = &since.moved_to {
        line += &format!("; it moved the file to {path}");
        return vec![line];
    }
    let mut lines = vec![line];
    lines.extend(again(since));
    let is_this = |patch: &Patch| patch.header.subject == since.first.subject;
    if matches!(error, ApplyError::HunkFailed(_)) && patches.iter().any(is_this) {
        lines.push(THIS_CHANGE.to_owned());
    }
    lines
}

/// Those that changed the place again.
fn again(since: &Since) -> Vec<String> {
    let mut lines = Vec::new();
    match since.between {
        0 => {}
        1 => lines.push("  and again by 1 commit after it".to_owned()),
        more => lines.push(format!("  and again by {more} commits after it")),
    }
    let later = since.later.iter();
    lines.extend(later.map(|commit| format!("  and again by commit {}", named(commit))));
    lines
}

/// `8cdef6cbcc73 (A. Developer, 2016-12-05): kern: count again`.
fn named(commit: &Named) -> String {
    format!(
        "{:.12} ({}, {}): {}",
        commit.id.to_string(),
        commit.author,
        day(commit.date),
        commit.subject
    )
}

#[cfg(test)]
mod tests {
    use ktrial_patches::Date;

    use super::*;

    fn commit(hash: &str, subject: &str) -> Named {
        Named {
            id: Oid::from_str(hash).unwrap(),
            author: "A. Developer".into(),
            // `date -u -d @1000000000` is 2001-09-09 01:46:40.
            date: Date {
                seconds: 1_000_000_000,
                offset_minutes: -120,
            },
            subject: subject.into(),
        }
    }

    fn since() -> Since {
        Since {
            first: commit(
                "8cdef6cbcc73aaaabbbbccccddddeeeeffff0000",
                "kern: count again",
            ),
            later: Vec::new(),
            between: 0,
            moved_to: None,
        }
    }

    #[test]
    fn the_commit_that_changed_a_place_is_named_with_twelve_digits() {
        let mut since = since();
        let already = ApplyError::AlreadyApplied {
            patch: "x".into(),
            path: "f".into(),
        };
        assert_eq!(
            since_lines(&since, &already, &[]),
            ["in the tree since commit 8cdef6cbcc73 (A. Developer, 2001-09-08): kern: count again"]
        );
        since.moved_to = Some("sys/kern/g".into());
        let gone = ApplyError::NoSuchFile {
            patch: "x".into(),
            path: "f".into(),
            named: "a/f".into(),
            alike: Vec::new(),
        };
        assert_eq!(
            since_lines(&since, &gone, &[]),
            [
                "changed since by commit 8cdef6cbcc73 (A. Developer, 2001-09-08): kern: count again; \
              it moved the file to sys/kern/g"
            ]
        );
    }

    #[test]
    fn what_changed_a_place_again_is_named_up_to_three_newest_last() {
        let mut since = since();
        since.between = 4;
        since.later = vec![
            commit("1111111111111111111111111111111111111111", "older"),
            commit("2222222222222222222222222222222222222222", "newer"),
        ];
        let error = ApplyError::NoChange { patch: "x".into() };
        assert_eq!(
            since_lines(&since, &error, &[]),
            [
                "changed since by commit 8cdef6cbcc73 (A. Developer, 2001-09-08): kern: count again",
                "  and again by 4 commits after it",
                "  and again by commit 111111111111 (A. Developer, 2001-09-08): older",
                "  and again by commit 222222222222 (A. Developer, 2001-09-08): newer",
            ]
        );
    }

    #[test]
    fn what_is_not_shown_is_counted_by_file() {
        let mut others = Failures::default();
        assert_eq!(more(&others), None);
        others.more = vec![("f".into(), 3), ("g".into(), 1)];
        assert_eq!(
            more(&others).unwrap(),
            "\n4 more hunks do not apply, in f (3), g (1)"
        );
    }
}
