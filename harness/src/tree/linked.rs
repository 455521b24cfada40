//! A bare repository beside the user's own: it borrows the objects, knows the same references, and
//! takes what ktrial writes, so that nothing of that lands in the user's.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use git2::{Oid, Repository};

use super::{open_bare, resolve};
use crate::fault::{Fault, OrHost, Result};

/// The repository in `git_dir`, made if there is none, and the commit that `revision` is in the
/// user's checkout.
pub(super) fn linked(git_dir: &Path, source: &Path, revision: &str) -> Result<(Repository, Oid)> {
    let theirs = Repository::open(source).or_host(|| format!("open {}", source.display()))?;
    let base = resolve(&theirs, revision)?;
    if !git_dir.join("HEAD").exists() {
        Repository::init_bare(git_dir).or_host(|| format!("make {}", git_dir.display()))?;
    }
    let objects = theirs.commondir().join("objects");
    let path = objects.to_str().filter(|path| !path.contains('\n'));
    let path = path.ok_or_else(|| {
        Fault::user(format!(
            "git can't borrow objects from {}",
            objects.display()
        ))
        .next("give the checkout a path in UTF-8 without line ends")
    })?;
    put(
        &git_dir.join("objects/info"),
        "alternates",
        &format!("{path}\n"),
    )?;
    // Commits are also looked up by subject, revision or review, on any branch and in notes.
    put(git_dir, "packed-refs", &references(&theirs)?)?;
    // Where a shallow clone's history ends; without it the first walk would miss a commit.
    let shallow = fs::read_to_string(theirs.commondir().join("shallow")).unwrap_or_default();
    if shallow.is_empty() {
        let _ = fs::remove_file(git_dir.join("shallow"));
    } else {
        put(git_dir, "shallow", &shallow)?;
    }
    Ok((open_bare(git_dir)?, base))
}

/// All references, in the form of git's `packed-refs`.
fn references(theirs: &Repository) -> Result<String> {
    let mut lines = String::new();
    let all = theirs
        .references()
        .or_host(|| "list the references".into())?;
    for reference in all.flatten() {
        if let (Ok(name), Some(target)) = (reference.name(), reference.target()) {
            let _ = writeln!(lines, "{target} {name}");
        }
    }
    Ok(lines)
}

/// Writes a file in one step, so that another ktrial never reads half of it.
fn put(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let doing = || format!("write {}", path.display());
    fs::create_dir_all(folder).or_host(doing)?;
    let file = tempfile::NamedTempFile::new_in(folder).or_host(doing)?;
    fs::write(file.path(), text).or_host(doing)?;
    file.persist(&path).map(drop).or_host(doing)
}
