//! Which file of the tree a name in a patch means, and whether it may be touched.

use std::collections::HashMap;

use super::error::ApplyError;
use super::overlay::Overlay;
use crate::{Change, FilePatch, Patch};

/// The names of a file patch in the tree. Where the file is made or removed,
/// both are the same.
pub(super) struct Names {
    pub old: String,
    pub new: String,
}

/// Refuses every name that could lead out of the tree or into git's own files.
pub(super) fn check_all(patches: &[Patch]) -> Result<(), ApplyError> {
    for patch in patches {
        for file in &patch.files {
            for path in file.old.iter().chain(&file.new) {
                if let Some(why) = unsafe_because(path) {
                    return Err(ApplyError::UnsafePath {
                        patch: patch.name.clone(),
                        path: path.clone(),
                        why,
                    });
                }
            }
        }
    }
    Ok(())
}

fn unsafe_because(path: &str) -> Option<&'static str> {
    if path.starts_with('/') {
        return Some("it is absolute");
    }
    if path.chars().any(char::is_control) {
        return Some("it has a control character in it");
    }
    path.split('/').find_map(|component| match component {
        "" => Some("it has an empty component"),
        "." | ".." => Some("it has a `.` or `..` in it"),
        name if is_git_folder(name) => Some("it leads into git's own folder"),
        _ => None,
    })
}

/// `.git`, and the spellings that some file system takes for it.
fn is_git_folder(name: &str) -> bool {
    let ignorable = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let plain: String = name.chars().filter(ignorable).collect();
    let plain = plain.split(':').next().unwrap_or_default();
    let plain = plain.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    plain == ".git" || plain == "git~1"
}

/// A symbolic link may point about inside the tree, not out of it.
pub(super) fn check_link(patch: &Patch, path: &str, target: &[u8]) -> Result<(), ApplyError> {
    let mut depth = path.matches('/').count() as i64;
    let target = String::from_utf8_lossy(target);
    let leaves = target.split('/').any(|component| {
        match component {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        depth < 0
    });
    if leaves || target.starts_with('/') {
        return Err(ApplyError::UnsafePath {
            patch: patch.name.clone(),
            path: path.to_owned(),
            why: "it becomes a symbolic link that points out of the tree",
        });
    }
    Ok(())
}

/// The names at the strip level of the series, or at the file's own.
pub(super) fn names(
    overlay: &Overlay,
    file: &FilePatch,
    strip: usize,
) -> Result<Names, git2::Error> {
    let level = file.strip.unwrap_or(strip);
    let old = file.old.as_deref().map(|path| stripped(path, level));
    let new = file.new.as_deref().map(|path| stripped(path, level));
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (Some(one), None) | (None, Some(one)) => (one, one),
        (None, None) => ("", ""),
    };
    let one_of_two = file.change == Change::Modify && old != new;
    let (old, new) = match one_of_two {
        // `diff -u x.c.orig x.c`: the file is the one that is there.
        true if overlay.is_file(new)? => (new, new),
        true => (old, old),
        false => (old, new),
    };
    Ok(Names {
        old: old.to_owned(),
        new: new.to_owned(),
    })
}

/// The path without its first `level` components; whole where it has no more.
fn stripped(path: &str, level: usize) -> &str {
    let mut rest = path;
    for _ in 0..level {
        rest = rest.split_once('/').map_or(rest, |(_, after)| after);
    }
    rest
}

/// How many components to strip (0 or 1) from the names that git's headers do
/// not settle: the level at which the files are there, for the whole series.
pub(super) fn strip(overlay: &Overlay, patches: &[Patch]) -> Result<usize, ApplyError> {
    let open = || {
        let files = patches
            .iter()
            .flat_map(|p| p.files.iter().map(move |f| (p, f)));
        files.filter(|(_, file)| file.strip.is_none())
    };
    let Some((patch, example)) = open().find(|(_, f)| f.old.is_some()).or(open().next()) else {
        return Ok(1);
    };
    let mut there = [0, 0];
    let mut wanted = 0;
    for (level, there) in there.iter_mut().enumerate() {
        (wanted, *there) = count(overlay, open().map(|(_, file)| file), level)?;
    }
    let complete = there.map(|there| there == wanted);
    match (wanted, complete, there) {
        (0, ..) => strip_of_new(overlay, patch, example),
        (_, [true, false], _) => Ok(0),
        (_, [false, true], _) => Ok(1),
        (_, [false, false], [zero, one]) if zero != one => Ok(usize::from(one > zero)),
        (_, _, [0, _]) => Ok(usize::from(is_prefixed(example))),
        _ => Err(ambiguous(patch, example)),
    }
}

fn ambiguous(patch: &Patch, file: &FilePatch) -> ApplyError {
    let path = file.old.as_ref().or(file.new.as_ref());
    let path = path.map_or("", String::as_str);
    ApplyError::AmbiguousPath {
        patch: patch.name.clone(),
        whole: path.to_owned(),
        stripped: stripped(path, 1).to_owned(),
    }
}

fn is_prefixed(file: &FilePatch) -> bool {
    let starts = |path: &Option<String>, with| path.as_ref().is_some_and(|p| p.starts_with(with));
    starts(&file.old, "a/") || starts(&file.new, "b/")
}

/// How many files of the series should be there, and how many are, at a level.
fn count<'a>(
    overlay: &Overlay,
    files: impl Iterator<Item = &'a FilePatch>,
    level: usize,
) -> Result<(usize, usize), git2::Error> {
    let (mut wanted, mut there) = (0, 0);
    // What earlier patches of the series made or removed.
    let mut made: HashMap<&str, bool> = HashMap::new();
    for file in files {
        let old = file.old.as_deref().map(|path| stripped(path, level));
        let new = file.new.as_deref().map(|path| stripped(path, level));
        if let Some(old) = old {
            wanted += 1;
            let mut found = false;
            for path in [Some(old), new].into_iter().flatten() {
                found |= match made.get(path) {
                    Some(&made) => made,
                    None => overlay.is_file(path)?,
                };
            }
            let fresh = super::file::inserts_at_start(&file.hunks) && !found;
            wanted -= usize::from(fresh);
            there += usize::from(found);
        }
        match (old, new) {
            (Some(old), None) => made.insert(old, false),
            (_, Some(new)) => made.insert(new, true),
            (None, None) => None,
        };
    }
    Ok((wanted, there))
}

/// A series that only makes files: the folder they go to decides.
fn strip_of_new(overlay: &Overlay, patch: &Patch, file: &FilePatch) -> Result<usize, ApplyError> {
    let path = file.new.as_deref().unwrap_or_default();
    let goes_somewhere = |level| {
        let top = stripped(path, level).split_once('/');
        top.is_some_and(|(top, _)| overlay.has_top(top))
    };
    match (goes_somewhere(0), goes_somewhere(1)) {
        (true, false) => Ok(0),
        (false, true) => Ok(1),
        (true, true) => Err(ambiguous(patch, file)),
        (false, false) => Ok(usize::from(is_prefixed(file))),
    }
}
