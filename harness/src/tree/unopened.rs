//! Why a folder that looks like a git repository can't be opened, told so that it can be mended.

use std::fs;
use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// The fault of a folder that libgit2 does not open; `None` where it is no repository at all.
pub(super) fn because(source: &Path, error: &git2::Error) -> Option<Fault> {
    let dot_git = source.join(".git");
    if dot_git.is_file() {
        match leads_to(&dot_git) {
            None => return Some(no_repository(&dot_git)),
            Some(place) if !place.exists() => return Some(gone(&dot_git, &place)),
            Some(_) => {}
        }
    }
    if error.code() == git2::ErrorCode::NotFound {
        return None;
    }
    let why = error.message();
    if why.contains("sha256") {
        let what = format!(
            "{} is a SHA-256 repository, and only SHA-1 is read",
            source.display()
        );
        return Some(Fault::user(what).next(
            "`git archive -o tree.tar HEAD` in it makes a tarball for --tree, without the history",
        ));
    }
    Some(Fault::user(format!(
        "cannot open {}: {why}",
        source.display()
    )))
}

/// The repository that a `.git` file names.
fn leads_to(dot_git: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(dot_git).ok()?;
    let path = text.strip_prefix("gitdir:")?.trim();
    Some(dot_git.parent()?.join(path)).filter(|_| !path.is_empty())
}

fn no_repository(dot_git: &Path) -> Fault {
    Fault::user(format!(
        "{} is a file that names no repository: it should say `gitdir: PATH`",
        dot_git.display()
    ))
    .next(MEND)
}

fn gone(dot_git: &Path, place: &Path) -> Fault {
    Fault::user(format!(
        "{} names the repository {}, which is not there",
        dot_git.display(),
        place.display()
    ))
    .next(MEND)
}

const MEND: &str = "`git worktree repair` in the main checkout mends it; or remove it, and the \
                    folder is taken as plain sources";
