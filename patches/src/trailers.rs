//! The lines around a description that name other commits and reviews.

use crate::Trailers;

impl Trailers {
    /// What a description says, and with it `base-commit:` anywhere in the text of
    /// its mail: git writes that below the last diff.
    pub(crate) fn of_mail(description: &str, text: &[u8]) -> Trailers {
        let mut found = Trailers::of(description);
        let mut lines = text.split(|&b| b == b'\n');
        let value = lines.find_map(|line| line.strip_prefix(b"base-commit:"));
        let value = value.and_then(|value| std::str::from_utf8(value).ok());
        let hash = value.map(str::trim).filter(|word| is_hash(word));
        found.base_commit = hash.map(str::to_owned).or(found.base_commit);
        found
    }

    /// What a description says in lines `Key: value`.
    pub(crate) fn of(description: &str) -> Trailers {
        let mut found = Trailers::default();
        for line in description.lines() {
            if let Some(revision) = svn_revision(line) {
                found.svn_revision = Some(revision);
            }
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "fixes" if names_commit(value) => found.fixes.push(value.to_owned()),
                "base-commit" if is_hash(value) => found.base_commit = Some(value.to_owned()),
                "differential revision"
                | "differential-revision"
                | "differential review"
                | "differential"
                | "phabricator" => found.reviews.extend(reviews(value)),
                _ => {}
            }
        }
        found
    }
}

fn is_hash(word: &str) -> bool {
    (7..=64).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_number(word: &str) -> bool {
    (1..=10).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
}

/// A hash, or as FreeBSD writes `r357614`, `rS357614` and `rG0123456789ab`. Bug
/// numbers and addresses, which DragonFly writes behind `Fixes:`, are no commits.
fn names_commit(value: &str) -> bool {
    let first = value.split(|c: char| !c.is_ascii_alphanumeric()).next();
    let first = first.unwrap_or_default();
    is_hash(first)
        || first.strip_prefix("rG").is_some_and(is_hash)
        || first.strip_prefix("rS").is_some_and(is_number)
        || first.strip_prefix('r').is_some_and(is_number)
}

/// Of `git-svn-id: https://svn.example.org/base/head@313756 ccf9f872-…`, or, as
/// FreeBSD's notes have it, of `svn path=/head/; revision=313756`.
fn svn_revision(line: &str) -> Option<u32> {
    let line = line.trim();
    if let Some(id) = line.strip_prefix("git-svn-id:") {
        let address = id.split_whitespace().next()?;
        return address.rsplit_once('@')?.1.parse().ok();
    }
    let (_, revision) = line.strip_prefix("svn path=")?.split_once("; revision=")?;
    revision.trim().parse().ok()
}

/// Of `https://reviews.freebsd.org/D9586`, `D9586.` or several of these.
fn reviews(value: &str) -> impl Iterator<Item = String> {
    let words = value.split(|c: char| c.is_whitespace() || matches!(c, ',' | '<' | '>'));
    words.filter_map(review)
}

/// The name of a review in an address or a word, such as `D9586`.
pub(crate) fn review(word: &str) -> Option<String> {
    let word = word.trim_end_matches(['.', '/', ';', ')']);
    let number = word.rsplit('/').next()?.strip_prefix(['D', 'd'])?;
    is_number(number).then(|| format!("D{number}"))
}
