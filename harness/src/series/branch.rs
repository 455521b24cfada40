//! A series put on a branch of a tree.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{Branch, Oid, Repository};
use ktrial_patches::catalogue::Series;

use super::{Outcome, apply_in, apply_to, refusal};
use crate::fault::{Fault, OrHost, Result};
use crate::process;
use crate::tree::{IMPORT_BRANCH, Tree};

/// What file systems take of a name's part and of a path, less what git puts around it, in bytes.
const LONGEST_PART: usize = 240;
const LONGEST_NAME: usize = 1_000;

const MUST_BE_YOURS: &str = "the repository must be yours to write";

/// A branch that has a series.
#[derive(Debug)]
pub struct Branched {
    /// How the series was applied.
    pub outcome: Outcome,
    /// The branch's name, such as `ktrial/x`.
    pub branch: String,
    /// The git folder or checkout that has it.
    pub repository: PathBuf,
}

/// Applies a series to the base of a tree and lets `branch`, or else `ktrial/<series>`, point at
/// the last commit. In a checkout of the user's own, only objects and this branch with its log are
/// written, and those only if all of the series applies. The branch of an imported tree is in
/// ktrial's repository of it.
///
/// # Errors
/// A user fault for a name that is taken and not to be moved (`force`), checked out, or no name; a
/// patch fault as of [`apply_to`]; a host fault if the repository can't be written.
pub fn put_on_branch(
    tree: &Tree,
    series: &Series,
    branch: Option<&str>,
    force: bool,
) -> Result<Branched> {
    let branch = match branch {
        Some(branch) => branch.to_owned(),
        None => default_name(&series.name),
    };
    let place = match tree.is_git {
        true => tree.source.clone(),
        false => tree.repository.path().to_owned(),
    };
    let repository = Repository::open(&place).or_host(|| format!("open {}", place.display()))?;
    check_name(tree, &repository, &branch, force)?;
    // Beside it first: what does not apply as a whole must leave no objects behind.
    let beside = apply_to(tree, series)?;
    let outcome = match tree.is_git {
        true => again(&repository, tree, series, &beside)?,
        false => beside,
    };
    process::check_interrupt()?;
    point(&repository, &branch, outcome.applied.commit, series, force)?;
    Ok(Branched {
        outcome,
        branch,
        repository: place,
    })
}

/// The same in the user's own repository: it can only fail because that can't be written.
fn again(
    repository: &Repository,
    tree: &Tree,
    series: &Series,
    beside: &Outcome,
) -> Result<Outcome> {
    let outcome = apply_in(repository, tree, series).map_err(|fault| {
        let next = refusal::to_write(&fault.what).unwrap_or(MUST_BE_YOURS);
        fault.next(next)
    })?;
    if outcome.applied.commit != beside.applied.commit {
        return Err(Fault::host(format!(
            "{} gave two commits, {} and {}, of one series",
            tree.source.display(),
            beside.applied.commit,
            outcome.applied.commit
        ))
        .next("was something else writing to the repository? then try again"));
    }
    Ok(outcome)
}

/// `ktrial/` and the name of the series, as far as git takes it.
fn default_name(series: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    let name: String = series
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .collect();
    let name = name.replace("..", "-");
    let name = name.trim_matches(['.', '-']).trim_end_matches(".lock");
    format!("ktrial/{}", if name.is_empty() { "series" } else { name })
}

fn full_name(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

fn check_name(tree: &Tree, repository: &Repository, branch: &str, force: bool) -> Result<()> {
    // `@` is HEAD wherever git reads it, and a name is a file with a `.lock` beside it.
    let fits = branch != "@" && branch.split('/').all(|part| part.len() <= LONGEST_PART);
    let fits = fits && branch.len() <= LONGEST_NAME;
    if !fits || !Branch::name_is_valid(branch).unwrap_or(false) {
        return Err(Fault::user(format!("`{branch}` is no name for a branch"))
            .next("`man git-check-ref-format` has the rules"));
    }
    if let Some(place) = in_use(repository, branch)? {
        return Err(
            Fault::user(format!("{branch} is checked out in {}", place.display()))
                .next("give another --branch: one in use is never moved"),
        );
    }
    let full = full_name(branch);
    if !tree.is_git && full == IMPORT_BRANCH {
        return Err(Fault::user(format!("{branch} is the imported tree itself"))
            .next("give another --branch"));
    }
    match repository.find_reference(&full) {
        Err(_) if let Some(other) = in_the_way(repository, branch) => Err(Fault::user(format!(
            "there is a branch {other}, beside which git can have no {branch}"
        ))
        .next("give another --branch")),
        Ok(_) if !force => Err(Fault::user(format!("there is a branch {branch} already"))
            .next("give another --branch, or --force to move this one")),
        _ => Ok(()),
    }
}

/// A branch that is called like a folder of this one's name, or the other way round.
fn in_the_way(repository: &Repository, branch: &str) -> Option<String> {
    let above = branch.match_indices('/').map(|(end, _)| &branch[..end]);
    let is_there = |name: &&str| repository.find_reference(&full_name(name)).is_ok();
    if let Some(name) = above.into_iter().find(is_there) {
        return Some(name.to_owned());
    }
    let below = format!("{}/*", full_name(branch));
    let mut found = repository.references_glob(&below).ok()?;
    let name = found.names().next()?.ok()?.to_owned();
    name.strip_prefix("refs/heads/").map(str::to_owned)
}

/// The worktree that has the branch checked out, or would after a rebase in it.
fn in_use(repository: &Repository, branch: &str) -> Result<Option<PathBuf>> {
    let common = repository.commondir();
    let mut folders = vec![common.to_path_buf()];
    let worktrees = common.join("worktrees");
    if let Ok(entries) = fs::read_dir(&worktrees) {
        for entry in entries {
            folders.push(
                entry
                    .or_host(|| format!("read {}", worktrees.display()))?
                    .path(),
            );
        }
    }
    let full = full_name(branch);
    let names = |folder: &Path, file: &str, prefix: &str| {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        text.trim().strip_prefix(prefix).map(str::trim) == Some(&full)
    };
    let uses = |folder: &PathBuf| {
        names(folder, "HEAD", "ref:")
            || names(folder, "rebase-merge/head-name", "")
            || names(folder, "rebase-apply/head-name", "")
    };
    Ok(folders
        .into_iter()
        .find(uses)
        .map(|folder| worktree_of(&folder)))
}

/// The worktree whose git folder this is, as people know it.
fn worktree_of(git: &Path) -> PathBuf {
    let linked = fs::read_to_string(git.join("gitdir")).ok();
    let dot_git = linked.map_or_else(|| git.to_owned(), |text| PathBuf::from(text.trim()));
    match dot_git.parent() {
        Some(parent) if dot_git.ends_with(".git") => parent.to_owned(),
        _ => dot_git,
    }
}

fn point(
    repository: &Repository,
    branch: &str,
    commit: Oid,
    series: &Series,
    force: bool,
) -> Result<()> {
    let log = format!(
        "ktrial apply: {}",
        series.name.replace(['\n', '\r', '\0'], " ")
    );
    let made = repository.reference(&full_name(branch), commit, force, &log);
    let lock = repository
        .commondir()
        .join(format!("{}.lock", full_name(branch)));
    made.map(drop).map_err(|error| match error.code() {
        _ if lock.exists() => Fault::host(format!(
            "cannot make the branch {branch}: {} is there",
            lock.display()
        ))
        .next("wait for the git that has it to end, or remove it if none is at work"),
        git2::ErrorCode::Exists | git2::ErrorCode::InvalidSpec | git2::ErrorCode::Directory => {
            Fault::user(format!(
                "git refuses the branch {branch}: {}",
                error.message()
            ))
            .next("give another --branch")
        }
        _ => Fault::host(format!(
            "cannot make the branch {branch}: {}",
            error.message()
        ))
        .next(refusal::to_write(error.message()).unwrap_or(MUST_BE_YOURS)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_branch_is_one_that_git_takes() {
        for (series, branch) in [
            ("linux-fd-linear-scan", "ktrial/linux-fd-linear-scan"),
            ("my patch: v2", "ktrial/my-patch--v2"),
            ("0001-x.lock", "ktrial/0001-x"),
            ("a..b~^", "ktrial/a-b"),
            ("...", "ktrial/series"),
        ] {
            assert_eq!(default_name(series), branch);
            assert!(Branch::name_is_valid(branch).unwrap());
        }
    }
}
