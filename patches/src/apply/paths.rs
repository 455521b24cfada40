//! Which file of the tree a name in a patch means, and whether it may be touched.

mod level;
mod safe;

use super::error::ApplyError;
use super::overlay::Overlay;
use crate::{Change, FilePatch, Patch};

pub(super) use level::{Strip, strip};

/// The names of a file patch in the tree. Where the file is made or removed,
/// both are the same; but for the removal of a copy, which names its original.
pub(super) struct Names {
    pub old: String,
    pub new: String,
    /// What was taken off the front, where a person would not expect it.
    pub stripped: String,
}

/// Refuses every name that is wrong whatever is stripped off it.
pub(super) fn check_all(patches: &[Patch]) -> Result<(), ApplyError> {
    for patch in patches {
        for file in &patch.files {
            for path in file.old.iter().chain(&file.new) {
                let why = match file.strip {
                    Some(level) => safe::unsafe_because(path)
                        .or_else(|| safe::unsafe_because(stripped(path, level))),
                    None => safe::never(path),
                };
                refuse(patch, path, why)?;
            }
        }
    }
    Ok(())
}

/// Refuses a symbolic link that leads out of the tree.
pub(super) fn check_link(patch: &Patch, path: &str, target: &[u8]) -> Result<(), ApplyError> {
    refuse(patch, path, safe::link_unsafe_because(path, target))
}

fn refuse(patch: &Patch, path: &str, why: Option<&'static str>) -> Result<(), ApplyError> {
    match why {
        None => Ok(()),
        Some(why) => Err(ApplyError::UnsafePath {
            patch: patch.name.clone(),
            path: path.to_owned(),
            why,
        }),
    }
}

/// The names at the strip level of the series, or at the file's own.
pub(super) fn names(
    overlay: &Overlay,
    patch: &Patch,
    file: &FilePatch,
    strip: Strip,
) -> Result<Names, ApplyError> {
    let strip = match file.strip {
        Some(level) => Strip::both(level),
        None => level::of_file(overlay, file, strip)?,
    };
    let old = file.old.as_deref().map(|path| stripped(path, strip.old));
    let new = file.new.as_deref().map(|path| stripped(path, strip.new));
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (Some(one), None) | (None, Some(one)) => (one, one),
        (None, None) => ("", ""),
    };
    let one_of_two = file.change == Change::Modify && old != new;
    let (old, new) = match one_of_two {
        // `diff -u x.c.orig x.c`: the file is the one that is there.
        true if overlay.is_file(new)? => (new, new),
        true if overlay.is_file(old)? || safe::unsafe_because(new).is_some() => (old, old),
        true if safe::unsafe_because(old).is_some() => (new, new),
        true => (old, old),
        false => (old, new),
    };
    for path in [old, new] {
        refuse(patch, path, safe::unsafe_because(path))?;
    }
    let usual = |taken: &&str| matches!(*taken, "" | "a/" | "b/") || file.strip == Some(1);
    let names = [&file.new, &file.old].into_iter().flatten();
    let taken = names.filter_map(|name| name.strip_suffix(new).or(name.strip_suffix(old)));
    let stripped = taken
        .take(1)
        .find(|taken| !usual(taken))
        .unwrap_or_default();
    Ok(Names {
        old: old.to_owned(),
        new: new.to_owned(),
        stripped: stripped.to_owned(),
    })
}

/// The path without its first `level` components; its last one where it has no more.
fn stripped(path: &str, level: usize) -> &str {
    let mut rest = path;
    for _ in 0..level {
        rest = rest.split_once('/').map_or(rest, |(_, after)| after);
    }
    rest
}

/// The path without its first `level` components, if something is left.
fn left(path: &str, level: usize) -> Option<&str> {
    let mut rest = path;
    for _ in 0..level {
        rest = rest.split_once('/')?.1;
    }
    Some(rest).filter(|rest| !rest.is_empty())
}
