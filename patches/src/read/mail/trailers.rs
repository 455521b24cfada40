//! What a description says of other commits and reviews.

use crate::Trailers;

/// Reads `Fixes:`, `Differential Revision:` and `git-svn-id:` in the
/// description, and `base-commit:` anywhere in the text of the mail, as git
/// writes it below the last diff.
pub(in crate::read) fn read(description: &str, text: &[u8]) -> Trailers {
    let mut found = Trailers {
        base_commit: base_commit(text),
        ..Trailers::default()
    };
    for line in description.lines() {
        if let Some(revision) = svn_revision(line) {
            found.svn_revision = Some(revision);
        }
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        if name.eq_ignore_ascii_case("fixes") && names_commit(value) {
            found.fixes.push(value.to_owned());
        } else if name.eq_ignore_ascii_case("differential revision") {
            found.reviews.extend(review(value));
        }
    }
    found
}

fn base_commit(text: &[u8]) -> Option<String> {
    let mut lines = text.split(|&b| b == b'\n');
    let value = lines.find_map(|line| line.strip_prefix(b"base-commit:"))?;
    let value = std::str::from_utf8(value).ok()?.trim();
    is_hash(value).then(|| value.to_owned())
}

fn is_hash(word: &str) -> bool {
    (7..=64).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A hash, or as FreeBSD writes `r357614`, `rS357614` and `rG0123456789ab`. Bug
/// numbers and addresses, which DragonFly writes behind `Fixes:`, are no commits.
fn names_commit(value: &str) -> bool {
    let first = value.split(|c: char| !c.is_ascii_alphanumeric()).next();
    let first = first.unwrap_or_default();
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    is_hash(first)
        || first.strip_prefix("rG").is_some_and(is_hash)
        || first.strip_prefix("rS").is_some_and(digits)
        || first.strip_prefix('r').is_some_and(digits)
}

/// `D9586`, by itself or at the end of an address.
fn review(value: &str) -> Option<String> {
    let word = value.split_whitespace().next()?;
    let last = word.trim_end_matches('/').rsplit('/').next()?;
    let number = last.strip_prefix('D')?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| last.to_owned())
}

/// `git-svn-id: svn+ssh://svn.freebsd.org/base/head@313756 ccf9f872-…`, or as
/// FreeBSD's notes have it, `svn path=/head/; revision=313756`.
fn svn_revision(line: &str) -> Option<u32> {
    let line = line.trim();
    if let Some(id) = line.strip_prefix("git-svn-id:") {
        let (_, revision) = id.split_whitespace().next()?.rsplit_once('@')?;
        return revision.parse().ok();
    }
    let (_, revision) = line.strip_prefix("svn path=")?.split_once("; revision=")?;
    revision.trim().parse().ok()
}
