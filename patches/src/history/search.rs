//! Commits found by what their messages say. All of a history is looked at, but
//! only its commits: no trees, no files.

use git2::{Commit, ErrorCode, Oid, Repository, Sort};

use super::ResolveError;
use super::commit;
use crate::Trailers;
use crate::text::shown;
use crate::trailers;

/// Where FreeBSD's repository keeps the Subversion revisions of its commits.
const NOTES: &str = "refs/notes/commits";

/// The commit with this subject.
pub(super) fn subject(repo: &Repository, tip: Oid, wanted: &str) -> Result<Oid, ResolveError> {
    let what = format!("commit with the subject `{}`", shown(wanted.as_bytes()));
    let wanted = wanted.trim();
    let fits = |commit: &Commit| commit::subject(&commit::message(commit)) == wanted;
    let found = find(repo, tip, &fits)?;
    one_patch(repo, tip, what, found)
}

/// The commit of a Subversion revision.
pub(super) fn svn(repo: &Repository, tip: Oid, revision: u32) -> Result<Oid, ResolveError> {
    let what = format!("commit of Subversion revision r{revision}");
    let fits = |commit: &Commit| {
        let message = commit::message(commit);
        message.contains("svn") && Trailers::of(&message).svn_revision == Some(revision)
    };
    let mut found = in_history(repo, tip, &fits)?;
    if found.is_empty() {
        found = noted(repo, tip, revision)?;
    }
    if found.is_empty() {
        found = elsewhere(repo, tip, &fits)?;
    }
    one_patch(repo, tip, what, found)
}

/// The commits of a review, oldest first.
pub(super) fn review(repo: &Repository, tip: Oid, name: &str) -> Result<Vec<Oid>, ResolveError> {
    let what = format!("commit of review `{}`", shown(name.as_bytes()));
    let Some(wanted) = trailers::review(name.trim()) else {
        return Err(ResolveError::NotFound {
            what,
            next: "a review is named as in `D9586`".to_owned(),
        });
    };
    let fits = |commit: &Commit| {
        let message = commit::message(commit);
        message.contains(&wanted[1..]) && Trailers::of(&message).reviews.contains(&wanted)
    };
    let found = find(repo, tip, &fits)?;
    // A review can be several commits, and each of them can be there more than
    // once: on another branch, or again after it was taken back.
    let mut of_subject: Vec<(String, Vec<Oid>)> = Vec::new();
    for id in found {
        let subject = commit::subject(&commit::message(&repo.find_commit(id)?));
        match of_subject.iter_mut().find(|(known, _)| *known == subject) {
            Some((_, commits)) => commits.push(id),
            None => of_subject.push((subject, vec![id])),
        }
    }
    if of_subject.is_empty() {
        return Err(ResolveError::missing(repo, tip, what));
    }
    let newest_first = of_subject.into_iter().rev();
    newest_first
        .map(|(_, commits)| one_patch(repo, tip, what.clone(), commits))
        .collect()
}

/// The commits whose hash starts so.
pub(super) fn starting_with(
    repo: &Repository,
    tip: Oid,
    start: &str,
) -> Result<Vec<Oid>, git2::Error> {
    let fits = |commit: &Commit| commit.id().to_string().starts_with(start);
    let mut found = in_history(repo, tip, &fits)?;
    found.extend(elsewhere(repo, tip, &fits)?);
    Ok(found)
}

/// The one commit that is meant: the only one, or the first of several that are
/// the same patch. Merges are no patches, so they are not meant where others are.
fn one_patch(
    repo: &Repository,
    tip: Oid,
    what: String,
    found: Vec<Oid>,
) -> Result<Oid, ResolveError> {
    let mut commits = Vec::new();
    for &id in &found {
        if repo.find_commit(id)?.parent_count() == 1 {
            commits.push(id);
        }
    }
    let commits = if commits.is_empty() { found } else { commits };
    let Some((&first, others)) = commits.split_first() else {
        return Err(ResolveError::missing(repo, tip, what));
    };
    for &other in others {
        if !is_same_patch(repo, first, other)? {
            return Err(ResolveError::Ambiguous { what, commits });
        }
    }
    Ok(first)
}

fn is_same_patch(repo: &Repository, one: Oid, other: Oid) -> Result<bool, git2::Error> {
    let mut ids = Vec::new();
    for id in [one, other] {
        let commit = repo.find_commit(id)?;
        if commit.parent_count() != 1 {
            return Ok(false);
        }
        ids.push(commit::diff(repo, &commit)?.patchid(None)?);
    }
    Ok(ids[0] == ids[1])
}

/// Branches and tags that are asked for a commit.
const MOST_REFS: usize = 100;

/// The branch or tag in whose history a commit is, where that of `tip` does not have it;
/// empty where none of the first hundred has it, or none at all.
///
/// # Errors
/// If the repository can't be read.
pub fn taken_from(repo: &Repository, tip: Oid, commit: Oid) -> Result<Option<String>, git2::Error> {
    let has = |tip: Oid| -> Result<bool, git2::Error> {
        Ok(tip == commit || repo.graph_descendant_of(tip, commit)?)
    };
    if has(tip)? {
        return Ok(None);
    }
    let mut asked = 0;
    for refs in ["refs/heads/*", "refs/remotes/*", "refs/tags/*"] {
        for reference in repo.references_glob(refs)? {
            let reference = reference?;
            asked += 1;
            // A tag may be of a file or a folder.
            let Ok(target) = reference.peel_to_commit() else {
                continue;
            };
            if asked <= MOST_REFS && has(target.id())? {
                let name = String::from_utf8_lossy(reference.shorthand_bytes());
                return Ok(Some(shown(name.as_bytes())));
            }
        }
    }
    Ok(Some(String::new()))
}

type Fits<'a> = &'a dyn Fn(&Commit) -> bool;

/// The commits that fit, newest first: those in the history of `tip`, or, where
/// it has none, those of all branches and tags.
fn find(repo: &Repository, tip: Oid, fits: Fits) -> Result<Vec<Oid>, git2::Error> {
    let found = in_history(repo, tip, fits)?;
    if !found.is_empty() {
        return Ok(found);
    }
    elsewhere(repo, tip, fits)
}

fn in_history(repo: &Repository, tip: Oid, fits: Fits) -> Result<Vec<Oid>, git2::Error> {
    // Unsorted, libgit2 walks as `git log` does: newest first, no commit before its child.
    let mut walk = repo.revwalk()?;
    walk.push(tip)?;
    fitting(repo, walk, fits)
}

fn elsewhere(repo: &Repository, tip: Oid, fits: Fits) -> Result<Vec<Oid>, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME)?;
    for refs in ["refs/heads/*", "refs/tags/*", "refs/remotes/*"] {
        walk.push_glob(refs)?;
    }
    walk.hide(tip)?;
    fitting(repo, walk, fits)
}

fn fitting(repo: &Repository, walk: git2::Revwalk, fits: Fits) -> Result<Vec<Oid>, git2::Error> {
    let mut found = Vec::new();
    for id in walk {
        let commit = repo.find_commit(id?)?;
        if fits(&commit) {
            found.push(commit.id());
        }
    }
    Ok(found)
}

/// The commits whose note says `svn path=/head/; revision=313756`; those in the
/// history of `tip` where it has some.
fn noted(repo: &Repository, tip: Oid, revision: u32) -> Result<Vec<Oid>, git2::Error> {
    let notes = match repo.notes(Some(NOTES)) {
        Ok(notes) => notes,
        Err(error) if error.code() == ErrorCode::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for note in notes {
        let (note, commit) = note?;
        let blob = repo.find_blob(note)?;
        let said = Trailers::of(&String::from_utf8_lossy(blob.content())).svn_revision;
        if said == Some(revision) && repo.find_commit(commit).is_ok() {
            found.push(commit);
        }
    }
    let mut ours = Vec::new();
    for &commit in &found {
        if commit == tip || repo.graph_descendant_of(tip, commit)? {
            ours.push(commit);
        }
    }
    Ok(if ours.is_empty() { found } else { ours })
}
