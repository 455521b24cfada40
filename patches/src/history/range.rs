//! The commits between two.

use git2::{Oid, Repository, Revwalk, Sort};

/// The commits in the history of `to` and not of `from`, oldest first, without merges.
pub(super) fn after(repo: &Repository, from: &[Oid], to: Oid) -> Result<Vec<Oid>, git2::Error> {
    let mut walk: Revwalk = repo.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME | Sort::REVERSE)?;
    walk.push(to)?;
    for &from in from {
        walk.hide(from)?;
    }
    let mut commits = Vec::new();
    for id in walk {
        let id = id?;
        if repo.find_commit(id)?.parent_count() < 2 {
            commits.push(id);
        }
    }
    Ok(commits)
}
