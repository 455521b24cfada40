//! All that is wrong with a patch that does not apply: the applier stops at the
//! first hunk without a place, and who mends the patch wants to see them all.

use git2::{Oid, Repository};

use super::binary::Made;
use super::error::Place;
use super::file::{self, Job, Target};
use super::journey::Journey;
use super::ladder::{Origin, Stop};
use super::overlay::{Found, Overlay};
use super::place::{self, Depth, Refusal};
use super::search::Searched;
use super::{ApplyError, apply, paths};
use crate::{FilePatch, Hunk, Patch};

/// Failures that are looked for in one patch.
const MOST: usize = 1000;

/// What is wrong with a patch beside its first error.
#[derive(Debug, Default)]
pub struct Failures {
    /// The first of them, in the order of the patch.
    pub shown: Vec<ApplyError>,
    /// The files that have more, with how many; a thousand together at most.
    pub more: Vec<(String, usize)>,
}

impl Failures {
    fn len(&self) -> usize {
        let more = self.more.iter().map(|(_, count)| count);
        self.shown.len() + more.sum::<usize>()
    }

    fn add(&mut self, path: &str, shown: usize, told: impl FnOnce() -> ApplyError) {
        if self.shown.len() < shown {
            return self.shown.push(told());
        }
        match self.more.last_mut() {
            Some((last, count)) if last == path => *count += 1,
            _ => self.more.push((path.to_owned(), 1)),
        }
    }
}

/// What else is wrong with the patch that `error` is about, which [`apply`] gave for
/// these patches on `base`: every other hunk that has no place, and every other file
/// that is not there. The first `shown` of them are told in full.
///
/// # Errors
/// If the repository can't be read or written.
pub fn failures(
    repo: &Repository,
    base: Oid,
    patches: &[Patch],
    error: &ApplyError,
    shown: usize,
) -> Result<Failures, git2::Error> {
    match all(repo, base, patches, error, shown) {
        Ok(failures) => Ok(failures),
        Err(ApplyError::Repository(error)) => Err(error),
        // What is wrong with the series as a whole has no other places.
        Err(_) => Ok(Failures::default()),
    }
}

fn all(
    repo: &Repository,
    base: Oid,
    patches: &[Patch],
    error: &ApplyError,
    shown: usize,
) -> Result<Failures, ApplyError> {
    let mut failures = Failures::default();
    let Some(first) = error.place() else {
        return Ok(failures);
    };
    let Some(index) = patches.iter().position(|one| one.name == first.patch) else {
        return Ok(failures);
    };
    let tree = repo.find_commit(base)?.tree()?;
    let strip = paths::strip(&Overlay::new(repo, tree), patches)?;
    let below = apply(repo, base, &patches[..index])?.tree;
    let mut overlay = Overlay::new(repo, repo.find_tree(below)?);
    let target = Target {
        repo,
        base,
        strip,
        made: &Made::default(),
        journey: Journey::default(),
    };
    let patch = &patches[index];
    for file in &patch.files {
        let failed = match file::apply(&mut overlay, &target, patch, file) {
            // What stands in the way of one file may go with another.
            Ok(_) => continue,
            Err(ApplyError::Repository(error)) => return Err(error.into()),
            Err(failed) => failed,
        };
        let Some(place) = failed.place() else {
            continue;
        };
        let left = MOST.saturating_sub(failures.len());
        match Failed::of(&mut overlay, &target, patch, file, &place)? {
            Some(of_hunks) => {
                for (index, refusal) in of_hunks.all(left) {
                    if (place.path, Some(index + 1)) != (first.path, first.hunk) {
                        failures.add(place.path, shown, || of_hunks.told(index, refusal));
                    }
                }
            }
            None if left > 0 && (place.path, place.hunk) != (first.path, first.hunk) => {
                let path = place.path.to_owned();
                failures.add(&path, shown, || failed);
            }
            None => {}
        }
    }
    Ok(failures)
}

/// A file of which a hunk has no place.
struct Failed<'a> {
    job: Job<'a>,
    path: &'a str,
    content: Vec<u8>,
    hunks: Vec<Hunk>,
    /// It is the very file that the patch was made from.
    exact: bool,
    depth: Depth,
}

impl<'a> Failed<'a> {
    /// `None` where it is not the hunks that fail.
    fn of(
        overlay: &mut Overlay,
        target: &'a Target<'a>,
        patch: &'a Patch,
        file: &'a FilePatch,
        place: &Place<'a>,
    ) -> Result<Option<Failed<'a>>, ApplyError> {
        if place.hunk.is_none() {
            return Ok(None);
        }
        let names = paths::names(overlay, patch, file, target.strip)?;
        let (entry, depth) = match (overlay.find(&names.old)?, overlay.find(place.path)?) {
            (Found::File(entry), _) => (entry, Depth::LAST),
            // Found elsewhere, where nothing may be left out.
            (_, Found::File(entry)) => (entry, Depth::STRICT),
            _ => return Ok(None),
        };
        let job = Job {
            target,
            patch,
            file,
            change: file.change,
            old: names.old,
            new: names.new,
            stripped: names.stripped,
        };
        let content = job.content(overlay, &entry)?;
        Ok(Some(Failed {
            path: place.path,
            hunks: job.hunks_for(&content),
            exact: job.origin(&entry)? == Origin::Same,
            job,
            content,
            depth,
        }))
    }

    fn all(&self, most: usize) -> Vec<(usize, Refusal)> {
        let mut file = Searched::new(&self.content);
        place::failing(&mut file, &self.hunks, self.exact, self.depth, most)
    }

    fn told(&self, index: usize, refusal: Refusal) -> ApplyError {
        let stop = Stop::Hunk(index, refusal);
        self.job
            .stopped(stop, &self.content, &self.hunks, self.path)
    }
}
