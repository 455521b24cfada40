//! The lines around a description that name other commits and reviews.

use crate::Trailers;

impl Trailers {
    /// What a commit message, or the text above a diff, says in lines `Key: value`.
    pub(crate) fn of(text: &str) -> Trailers {
        let mut found = Trailers::default();
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "base-commit" if is_hash(value) => found.base_commit = Some(value.to_owned()),
                "fixes" if !value.is_empty() => found.fixes.push(value.to_owned()),
                "git-svn-id" => found.svn_revision = svn_revision(value).or(found.svn_revision),
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

fn is_hash(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Of `https://svn.example.org/base/head@313756 ccf9f872-…`.
fn svn_revision(value: &str) -> Option<u32> {
    let address = value.split_whitespace().next()?;
    address.rsplit_once('@')?.1.parse().ok()
}

/// Of `https://reviews.freebsd.org/D9586`, `D9586.` or several of these.
fn reviews(value: &str) -> impl Iterator<Item = String> {
    let words = value.split(|c: char| c.is_whitespace() || matches!(c, ',' | '<' | '>'));
    words.filter_map(review)
}

/// The name of a review in an address or a word, such as `D9586`.
pub(crate) fn review(word: &str) -> Option<String> {
    let word = word.trim_end_matches(['.', '/', ';', ')']);
    let word = word.rsplit('/').next()?;
    let number = word.strip_prefix(['D', 'd'])?;
    let fits = (1..=10).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| format!("D{number}"))
}
