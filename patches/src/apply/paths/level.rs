//! How many leading components to strip from the names of plain diffs: people
//! make them from `a/` and `b/`, from within the tree, from `../clean`, or with
//! absolute paths.

use std::collections::HashMap;

use super::{left, safe, stripped};
use crate::apply::error::ApplyError;
use crate::apply::overlay::{Found, Overlay};
use crate::{FilePatch, Patch};

/// Levels tried; no one's tree lies deeper.
const MAX_LEVELS: usize = 32;

/// Components to strip from the old and from the new name of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::apply) struct Strip {
    pub old: usize,
    pub new: usize,
}

impl Strip {
    pub(super) fn both(level: usize) -> Strip {
        Strip {
            old: level,
            new: level,
        }
    }
}

/// What the tree says of one level.
#[derive(Default)]
struct Tally {
    level: usize,
    /// Files that should be there.
    wanted: usize,
    /// Those that are, by either name, by the old one, and by the new one.
    there: usize,
    by_old: usize,
    by_new: usize,
    /// Those that have two names.
    both: usize,
    /// One is there whose name at a lower level leads less far into the tree.
    firm: bool,
    /// One is there in a folder.
    in_folder: bool,
}

impl Tally {
    fn is_complete(&self) -> bool {
        self.wanted > 0 && self.there == self.wanted
    }
}

/// The level for a whole series: the one at which its files are there. Names
/// that git's headers settle don't count.
pub(in crate::apply) fn strip(overlay: &Overlay, patches: &[Patch]) -> Result<Strip, ApplyError> {
    let open: Vec<(&Patch, &FilePatch)> = patches
        .iter()
        .flat_map(|patch| patch.files.iter().map(move |file| (patch, file)))
        .filter(|(_, file)| file.strip.is_none())
        .collect();
    let example = open.iter().find(|(_, f)| f.old.is_some()).or(open.first());
    let Some(&(patch, example)) = example else {
        return Ok(Strip::both(1));
    };
    let deepest = open.iter().map(|(_, file)| levels(file)).max().unwrap_or(1);
    let mut tallies = Vec::new();
    for level in 0..deepest {
        tallies.push(tally(overlay, &open, level)?);
    }
    if tallies.iter().all(|tally| tally.wanted == 0) {
        return of_new_files(overlay, &open, deepest);
    }
    let rivals = rivals(&tallies);
    let Some((&chosen, others)) = rivals.split_first() else {
        return Ok(Strip::both(most(&tallies, example)));
    };
    let files = || open.iter().map(|(_, file)| *file);
    let is_other = |other: &&&Tally| !same_files(files(), chosen.level, other.level);
    if let Some(other) = others.iter().find(is_other) {
        return match files().all(is_prefixed) {
            true => Ok(Strip::both(1)),
            false => Err(ambiguous(patch, example, chosen.level, other.level)),
        };
    }
    if !rivals.iter().any(|t| t.firm) {
        // The file is missing, and another has the same last component.
        return Ok(Strip::both(usize::from(is_prefixed(example))));
    }
    let two_names = |file: &&FilePatch| file.old.is_some() && file.new.is_some();
    let both: Vec<&FilePatch> = files().filter(two_names).collect();
    Ok(Strip {
        old: side(&tallies, &both, chosen, |t| t.by_old),
        new: side(&tallies, &both, chosen, |t| t.by_new),
    })
}

/// The levels that have all files, as far as they are to be weighed against
/// each other: nothing or one component is what people strip most often, and a
/// bare name is at the top of many trees.
fn rivals(tallies: &[Tally]) -> Vec<&Tally> {
    let complete: Vec<&Tally> = tallies.iter().filter(|t| t.is_complete()).collect();
    let usual = complete.iter().any(|t| t.level < 2);
    let in_folder = complete.iter().any(|t| t.in_folder);
    let is_rival = |t: &&Tally| match usual {
        true => t.level < 2,
        false => t.in_folder == in_folder,
    };
    complete.into_iter().filter(is_rival).collect()
}

/// The level of the old or the new names, where they differ in depth:
/// `--- ../clean/sys/x.c`, `+++ sys/x.c`.
fn side(
    tallies: &[Tally],
    both: &[&FilePatch],
    chosen: &Tally,
    found: fn(&Tally) -> usize,
) -> usize {
    let has_all = |t: &Tally| t.both > 0 && found(t) >= t.both && t.firm;
    if has_all(chosen) {
        return chosen.level;
    }
    let same = |t: &&Tally| same_files(both.iter().copied(), chosen.level, t.level);
    let other = tallies.iter().filter(|t| has_all(t)).find(same);
    other.unwrap_or(chosen).level
}

/// The level of one file: that of the series, or where the file is not there,
/// the first at which its name leads into the tree, if it is there.
pub(super) fn of_file(
    overlay: &Overlay,
    file: &FilePatch,
    strip: Strip,
) -> Result<Strip, git2::Error> {
    let most = levels(file) - 1;
    let strip = Strip {
        old: strip.old.min(most),
        new: strip.new.min(most),
    };
    for (name, level) in [(&file.old, strip.old), (&file.new, strip.new)] {
        let Some(name) = name else { continue };
        if overlay.is_file(stripped(name, level))? {
            return Ok(strip);
        }
    }
    // Where a file is made, the series decides.
    if file.old.is_none() || file.inserts_at_start() || is_prefixed(file) {
        return Ok(strip);
    }
    for name in file.new.iter().chain(&file.old) {
        for level in 0..MAX_LEVELS {
            let Some(path) = left(name, level) else { break };
            if is_there(overlay, path)? {
                return Ok(Strip::both(level));
            }
            if enters(overlay, path) {
                break;
            }
        }
    }
    Ok(strip)
}

/// Where no level has all files: the one that has most of them.
fn most(tallies: &[Tally], example: &FilePatch) -> usize {
    let usual = usize::from(is_prefixed(example));
    let most = tallies.iter().map(|t| t.there).max().unwrap_or(0);
    let mut best = tallies
        .iter()
        .filter(|t| t.there == most && most > 0 && t.firm);
    match (best.next(), best.next()) {
        (Some(one), None) => one.level,
        _ => usual,
    }
}

fn tally(
    overlay: &Overlay,
    open: &[(&Patch, &FilePatch)],
    level: usize,
) -> Result<Tally, git2::Error> {
    let mut tally = Tally {
        level,
        ..Tally::default()
    };
    // What earlier patches of the series made or removed.
    let mut made = HashMap::new();
    for (_, file) in open {
        tally.add(overlay, file, &mut made)?;
    }
    Ok(tally)
}

impl Tally {
    fn add<'a>(
        &mut self,
        overlay: &Overlay,
        file: &'a FilePatch,
        made: &mut HashMap<&'a str, bool>,
    ) -> Result<(), git2::Error> {
        let level = self.level.min(levels(file) - 1);
        let old = file.old.as_deref().map(|name| stripped(name, level));
        let new = file.new.as_deref().map(|name| stripped(name, level));
        let is_there = |path: Option<&str>| match path {
            None => Ok(false),
            Some(path) => match made.get(path) {
                Some(&made) => Ok(made),
                None => is_there(overlay, path),
            },
        };
        let (by_old, by_new) = (is_there(old)?, is_there(new)?);
        let found = by_old || by_new;
        let is_made = old.is_none() || (file.inserts_at_start() && !found);
        match (old, new) {
            (Some(old), None) => made.insert(old, false),
            (_, Some(new)) if is_made => made.insert(new, true),
            _ => None,
        };
        if is_made {
            return Ok(());
        }
        self.wanted += 1;
        self.there += usize::from(found);
        self.both += usize::from(new.is_some());
        self.by_old += usize::from(by_old);
        self.by_new += usize::from(by_new);
        let (path, name) = match by_new {
            true => (new, &file.new),
            false => (old, &file.old),
        };
        self.in_folder |= found && path.is_some_and(|path| path.contains('/'));
        if found && !self.firm {
            self.firm =
                (is_prefixed(file) && self.level < 2) || is_firm(overlay, name.as_deref(), level)?;
        }
        Ok(())
    }
}

/// At no lower level does the name lead as far into the tree: a file that is
/// missing must not be taken for another with the same last components.
fn is_firm(overlay: &Overlay, name: Option<&str>, level: usize) -> Result<bool, git2::Error> {
    let name = name.unwrap_or_default();
    let components = left(name, level).map_or(0, |path| path.split('/').count());
    for lower in 0..level {
        let Some(path) = left(name, lower) else { break };
        if enters(overlay, path) && reach(overlay, path, components)? >= components {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How many leading components of the path the tree has, up to `enough`.
fn reach(overlay: &Overlay, path: &str, enough: usize) -> Result<usize, git2::Error> {
    let ends = path
        .match_indices('/')
        .map(|(at, _)| at)
        .chain([path.len()]);
    for (count, end) in ends.enumerate().take(enough) {
        if matches!(overlay.find(&path[..end])?, Found::Absent) {
            return Ok(count);
        }
    }
    Ok(enough)
}

fn is_there(overlay: &Overlay, path: &str) -> Result<bool, git2::Error> {
    Ok(overlay.is_file(path)? && safe::unsafe_because(path).is_none())
}

/// Whether the path leads into something at the top of the tree.
fn enters(overlay: &Overlay, path: &str) -> bool {
    let top = path.split('/').next().unwrap_or_default();
    !top.is_empty() && overlay.has_top(top)
}

/// How many levels there are to try for a file. After `a/` and `b/` there is
/// nothing more to strip.
fn levels(file: &FilePatch) -> usize {
    let most = if is_prefixed(file) { 2 } else { MAX_LEVELS };
    let names = file.old.iter().chain(&file.new);
    let depths = names.map(|name| name.split('/').take(most).count());
    depths.max().unwrap_or(1)
}

fn is_prefixed(file: &FilePatch) -> bool {
    let starts = |path: &Option<String>, with| path.as_ref().is_none_or(|p| p.starts_with(with));
    starts(&file.old, "a/") && starts(&file.new, "b/")
}

/// Whether both levels give the same files: by the old name at the one and by
/// the new name at the other.
fn same_files<'a>(
    mut files: impl Iterator<Item = &'a FilePatch>,
    one: usize,
    other: usize,
) -> bool {
    files.all(|file| {
        let names = || file.old.iter().chain(&file.new);
        let others = || names().filter_map(|name| left(name, other));
        let mut paths = names().filter_map(|name| left(name, one));
        paths.any(|path| others().any(|other| other == path))
    })
}

fn ambiguous(patch: &Patch, file: &FilePatch, one: usize, other: usize) -> ApplyError {
    let path = file.old.as_ref().or(file.new.as_ref());
    let path = path.map_or("", String::as_str);
    ApplyError::AmbiguousPath {
        patch: patch.name.clone(),
        paths: [one, other].map(|level| stripped(path, level).to_owned()),
        levels: [one, other],
    }
}

/// A series that only makes files: the folders they go to decide.
fn of_new_files(
    overlay: &Overlay,
    open: &[(&Patch, &FilePatch)],
    deepest: usize,
) -> Result<Strip, ApplyError> {
    // For each level, the files whose folder the tree has a part of, and how much.
    let mut scores = Vec::new();
    for level in 0..deepest {
        let mut score = (0, 0);
        for (_, file) in open {
            let reached = folder_reach(overlay, file, level)?;
            score = (score.0 + usize::from(reached > 0), score.1 + reached);
        }
        scores.push(score);
    }
    let best = scores.iter().max().copied().unwrap_or_default();
    let mut levels = (0..deepest).filter(|&level| scores[level] == best);
    match (open.first(), best, levels.next(), levels.next()) {
        (Some((_, file)), (0, _), ..) => Ok(Strip::both(usize::from(is_prefixed(file)))),
        (Some((patch, file)), _, Some(one), Some(other)) => Err(ambiguous(patch, file, one, other)),
        (_, _, Some(level), None) => Ok(Strip::both(level)),
        _ => Ok(Strip::both(0)),
    }
}

/// How much of the folder that a new file goes to is there.
fn folder_reach(overlay: &Overlay, file: &FilePatch, level: usize) -> Result<usize, git2::Error> {
    let Some(name) = file.new.as_deref().filter(|_| level < levels(file)) else {
        return Ok(0);
    };
    // A folder further inside a relative name is no sign: it may well be new.
    if level > 1 && !name.starts_with(['/', '.']) {
        return Ok(0);
    }
    let folder = left(name, level).and_then(|path| path.rsplit_once('/'));
    match folder {
        Some((folder, _)) if enters(overlay, folder) => {
            reach(overlay, folder, folder.split('/').count())
        }
        _ => Ok(0),
    }
}
