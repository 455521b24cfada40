//! Commits found by what people call them.

use git2::{ErrorCode, ObjectType, Oid, Repository};

use super::bundle;
use super::range::after;
use super::search;
use super::{Reference, ResolveError, from_commit};
use crate::Patch;
use crate::text::shown;

/// The most commits that one reference may name.
const MAX_COMMITS: usize = 10_000;

/// The shortest hash that is taken for one, as in git.
const MIN_HASH: usize = 4;

/// The patches that a reference names, in the order in which they apply.
/// Looks in the history of `tip` first, then in that of all branches and tags.
///
/// # Errors
/// [`ResolveError`], with what to do.
pub fn resolve(
    repo: &Repository,
    tip: Oid,
    reference: &Reference,
) -> Result<Vec<Patch>, ResolveError> {
    let commits = match reference {
        Reference::Commit(name) => vec![one(repo, tip, name)?],
        Reference::Range(range) => between(repo, tip, range)?,
        Reference::Subject(subject) => vec![search::subject(repo, tip, subject)?],
        Reference::Svn(revision) => vec![search::svn(repo, tip, *revision)?],
        Reference::Review(review) => search::review(repo, tip, review)?,
        Reference::Bundle { name, bytes } => bundle::unpack(repo, name, bytes)?,
    };
    if commits.len() > MAX_COMMITS {
        return Err(ResolveError::TooMany {
            commits: commits.len(),
        });
    }
    let patches = commits.into_iter();
    patches.map(|commit| from_commit(repo, commit)).collect()
}

/// The commit of a hash, tag or branch. Nothing else that git would understand
/// is taken: `HEAD~3` or `:/text` name another commit tomorrow.
fn one(repo: &Repository, tip: Oid, name: &str) -> Result<Oid, ResolveError> {
    let what = || format!("commit `{}`", shown(name.as_bytes()));
    if name == "HEAD" {
        return Ok(tip);
    }
    let mut found = by_hash(repo, tip, name)?;
    found.extend(by_ref(repo, name)?);
    found.sort();
    found.dedup();
    match found[..] {
        [one] => Ok(one),
        [] if !is_plain(name) => Err(ResolveError::NotFound {
            what: what(),
            next: "give a hash, a tag or a branch as it is, without `~`, `^`, `@` or `:`"
                .to_owned(),
        }),
        [] => Err(ResolveError::missing(repo, tip, what())),
        _ => Err(ResolveError::Ambiguous {
            what: what(),
            commits: found,
        }),
    }
}

fn is_plain(name: &str) -> bool {
    // `@` is a valid name, and git's short one for HEAD.
    name != "@" && git2::Reference::is_valid_name(&format!("refs/heads/{name}"))
}

fn by_hash(repo: &Repository, tip: Oid, name: &str) -> Result<Vec<Oid>, git2::Error> {
    let is_hash = (MIN_HASH..=40).contains(&name.len());
    if !is_hash || !name.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(Vec::new());
    }
    let object = match repo.find_object_by_prefix(name, None) {
        Ok(object) => object,
        Err(error) if error.code() == ErrorCode::NotFound => return Ok(Vec::new()),
        // Files and folders have such hashes, too.
        Err(error) if error.code() == ErrorCode::Ambiguous => {
            return search::starting_with(repo, tip, &name.to_ascii_lowercase());
        }
        Err(error) => return Err(error),
    };
    let commit = object.peel(ObjectType::Commit).ok();
    Ok(commit.iter().map(|commit| commit.id()).collect())
}

fn by_ref(repo: &Repository, name: &str) -> Result<Vec<Oid>, git2::Error> {
    let mut found = Vec::new();
    if !is_plain(name) {
        return Ok(found);
    }
    for folder in ["", "refs/tags/", "refs/heads/", "refs/remotes/"] {
        let full = format!("{folder}{name}");
        if !full.starts_with("refs/") {
            continue;
        }
        match repo.find_reference(&full) {
            Ok(reference) => found.extend(reference.peel_to_commit().map(|commit| commit.id())),
            Err(error) if error.code() == ErrorCode::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The commits of `from..to`.
fn between(repo: &Repository, tip: Oid, range: &str) -> Result<Vec<Oid>, ResolveError> {
    let what = || format!("range `{}`", shown(range.as_bytes()));
    let refused = |next: &str| ResolveError::NotFound {
        what: what(),
        next: next.to_owned(),
    };
    let ends = range.split_once("..");
    let Some((from, to)) = ends.filter(|(from, to)| !from.is_empty() && !to.starts_with('.'))
    else {
        return Err(refused(
            "give the commit before the first one and the last one, as in `v6.1..v6.2`",
        ));
    };
    let from = one(repo, tip, from)?;
    let to = if to.is_empty() {
        tip
    } else {
        one(repo, tip, to)?
    };
    let commits = after(repo, &[from], to)?;
    if commits.is_empty() {
        return Err(refused(
            "the second commit brings none that the first does not have; are they the wrong way \
             round?",
        ));
    }
    Ok(commits)
}
