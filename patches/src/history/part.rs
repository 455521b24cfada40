//! The part of a series that is about one file.

use crate::{Change, FilePatch, Hunk, Patch};

/// What a series does to one file, up to the hunk that fails.
pub(super) struct Part {
    /// The file's path in the tree before the series.
    pub path: String,
    /// The patches, with nothing in them but this file, under this path.
    pub patches: Vec<Patch>,
}

/// The hunks of interest in the last patch of a part, counted from 1.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hunks {
    All,
    UpTo(usize),
    /// The others may fail for reasons of their own.
    Only(usize),
}

impl Hunks {
    fn keep(self, hunks: &mut Vec<Hunk>) {
        match self {
            Hunks::All => {}
            Hunks::UpTo(last) => hunks.truncate(last),
            Hunks::Only(one) => {
                hunks.truncate(one);
                hunks.drain(..hunks.len().saturating_sub(1));
            }
        }
    }
}

/// The part of the patches up to `patch` that is about the file at `path`, which
/// is where the applier looked for it.
/// `None` where the series itself makes the file, or the patch does not name it.
pub(super) fn part(patches: &[Patch], patch: &str, path: &str, hunks: Hunks) -> Option<Part> {
    let last = patches.iter().position(|one| one.name == patch)?;
    let mut wanted = path.to_owned();
    let mut files: Vec<(&Patch, FilePatch)> = Vec::new();
    for patch in patches[..=last].iter().rev() {
        let is_first = files.is_empty();
        let named: Vec<&FilePatch> = match is_first {
            true => meant(patch, &wanted),
            false => patch.files.iter().filter(|f| names(f, &wanted)).collect(),
        };
        for file in named.into_iter().rev() {
            let mut one = file.clone();
            if files.is_empty() {
                hunks.keep(&mut one.hunks);
            }
            if !files.is_empty() && file.change == Change::Create {
                return None;
            }
            if let (Change::Rename | Change::Copy, Some(old)) = (file.change, &file.old) {
                wanted = stripped(old, file).to_owned();
            }
            files.push((patch, one));
        }
        if is_first && files.is_empty() {
            return None;
        }
    }
    let patches = files.into_iter().rev();
    let patches = patches.map(|(patch, file)| alone(patch, file, &wanted));
    Some(Part {
        patches: patches.collect(),
        path: wanted,
    })
}

/// The file patches that mean a path; where the applier found the file elsewhere,
/// those of a file that is called the same.
fn meant<'a>(patch: &'a Patch, path: &str) -> Vec<&'a FilePatch> {
    let files = || patch.files.iter();
    let exact: Vec<&FilePatch> = files().filter(|file| names(file, path)).collect();
    if !exact.is_empty() || patch.files.len() == 1 {
        return files()
            .filter(|file| exact.is_empty() || names(file, path))
            .collect();
    }
    let last = |path: &str| path.rsplit('/').next().map(str::to_owned);
    let is_called_so = |file: &&FilePatch| {
        let mut both = file.old.iter().chain(&file.new);
        both.any(|name| last(name) == last(path))
    };
    files().filter(is_called_so).take(1).collect()
}

/// Whether a file patch names a path: once stripped where git's headers say of
/// what, and else with anything before it.
fn names(file: &FilePatch, path: &str) -> bool {
    let is_it = |name: &String| match file.strip {
        Some(_) => stripped(name, file) == path,
        None => {
            let before = name.strip_suffix(path);
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        }
    };
    file.old.iter().chain(&file.new).any(is_it)
}

/// A name without the components that git's headers say to strip.
fn stripped<'a>(name: &'a str, file: &FilePatch) -> &'a str {
    let level = file.strip.unwrap_or(0);
    (0..level).fold(name, |rest, _| {
        rest.split_once('/').map_or(rest, |(_, after)| after)
    })
}

/// A patch of one file, under this path.
fn alone(patch: &Patch, file: FilePatch, path: &str) -> Patch {
    let change = match file.change {
        Change::Create => Change::Create,
        Change::Delete => Change::Delete,
        Change::Modify | Change::Rename | Change::Copy => Change::Modify,
    };
    let path = Some(path.to_owned());
    Patch {
        name: patch.name.clone(),
        header: patch.header.clone(),
        trailers: patch.trailers.clone(),
        mends: Vec::new(),
        files: vec![FilePatch {
            old: path.clone().filter(|_| change != Change::Create),
            new: path.filter(|_| change != Change::Delete),
            change,
            strip: Some(0),
            ..file
        }],
        source: Vec::new(),
    }
}
