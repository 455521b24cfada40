//! Why a patch does not apply, told so that it can be mended.

use std::collections::HashSet;

use super::conflict::HunkFailure;
use crate::text::shown;

/// Why a series could not be applied.
///
/// Every variant but [`Repository`](ApplyError::Repository) and
/// [`Unverified`](ApplyError::Unverified) is the patch's fault: see [`is_patch_fault`](ApplyError::is_patch_fault).
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The file that the patch changes is not in the tree.
    #[error(
        "{patch}: the tree has no {}{}{}",
        show(path),
        called(path, named),
        having(alike)
    )]
    NoSuchFile {
        /// The patch.
        patch: String,
        /// The path looked for.
        path: String,
        /// The name as it stands in the patch.
        named: String,
        /// Files of the same last name that the patch would fit; nothing says that one is meant.
        alike: Vec<String>,
    },
    /// The file that the patch makes is already there, and is another.
    #[error(
        "{patch}: {} is to be made, but the tree has a file of that name",
        show(path)
    )]
    FileExists {
        /// The patch.
        patch: String,
        /// The path.
        path: String,
    },
    /// The file has lines that the patch, which removes it, does not know of.
    #[error(
        "{patch}: {} is to be removed, but {lines} of its lines are not in the patch",
        show(path)
    )]
    NotEmptied {
        /// The patch.
        patch: String,
        /// The path.
        path: String,
        /// Lines that would be left.
        lines: usize,
    },
    /// A hunk's lines do not stand in the file.
    #[error(transparent)]
    HunkFailed(Box<HunkFailure>),
    /// A hunk fits several places equally well.
    #[error(
        "{patch}: hunk {hunk} for {}, line {line}, fits {} places equally well{}: lines {}; \
         make the patch again with more context (`git format-patch -U10`)",
        show(path), lines.len(), with_fuzz(*fuzz), some(lines)
    )]
    Ambiguous {
        /// The patch.
        patch: String,
        /// The path.
        path: String,
        /// The hunk, from 1.
        hunk: usize,
        /// The line at which the patch says it stands.
        line: usize,
        /// The lines at which it fits, from 1.
        lines: Vec<usize>,
        /// Context lines left out at each end to make it fit.
        fuzz: u32,
    },
    /// A hunk's place can't be checked.
    #[error("{patch}: hunk {hunk} for {}, line {line}: {why}", show(path))]
    Unplaceable {
        /// The patch.
        patch: String,
        /// The path.
        path: String,
        /// The hunk, from 1.
        hunk: usize,
        /// The line at which the patch says it stands.
        line: usize,
        /// What is wrong.
        why: &'static str,
    },
    /// The tree already has what the patch does.
    #[error(
        "{patch}: already applied: {} already is as the patch makes it (with `reverse = true` it \
         is taken out)",
        show(path)
    )]
    AlreadyApplied {
        /// The patch.
        patch: String,
        /// The first file of the patch; the others are as the patch makes them, too.
        path: String,
    },
    /// The tree has some of what the patch does, and not all.
    #[error(
        "{patch}: applied in part: {}; take what is done out of the patch",
        parts(done, open)
    )]
    PartlyApplied {
        /// The patch.
        patch: String,
        /// The files that are as the patch makes them.
        done: Vec<String>,
        /// The files that it would change.
        open: Vec<String>,
    },
    /// The file is not there, and the patch fits several others of its name.
    #[error(
        "{patch}: the tree has no {}, and the patch fits {} files equally well: {}; name one of \
         them in the patch",
        show(path), candidates.len(), list(candidates)
    )]
    SeveralFiles {
        /// The patch.
        patch: String,
        /// The path that the patch means.
        path: String,
        /// The files that it fits.
        candidates: Vec<String>,
    },
    /// The tree is not what the hunks should have made of it. ktrial's own fault.
    #[error(
        "{patch}: {} {what}: this is a fault of ktrial, please report it",
        show(path)
    )]
    Unverified {
        /// The patch.
        patch: String,
        /// The path.
        path: String,
        /// What it did.
        what: &'static str,
    },
    /// The patch changes nothing.
    #[error("{patch}: changes nothing in the tree")]
    NoChange {
        /// The patch.
        patch: String,
    },
    /// A path that a patch may not touch.
    #[error("{patch}: refuses to touch `{}`: {why}", show(path))]
    UnsafePath {
        /// The patch.
        patch: String,
        /// The path, as the patch or the tree has it.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The tree has a file of the name at more than one strip level.
    #[error(
        "{patch}: can't tell which file is meant: the tree has both {} (-p{}) and {} (-p{})",
        show(&paths[0]), levels[0], show(&paths[1]), levels[1]
    )]
    AmbiguousPath {
        /// The patch.
        patch: String,
        /// The two paths in the tree.
        paths: [String; 2],
        /// The leading components that are stripped to get them.
        levels: [usize; 2],
    },
    /// A binary change does not go with the tree's file, or is damaged.
    #[error("{patch}: the binary change of {} can't be made: {why}", show(path))]
    Binary {
        /// The patch.
        patch: String,
        /// The path.
        path: String,
        /// What is wrong.
        why: &'static str,
    },
    /// It changes or copies a large file so many times that reading it again would take too long.
    #[error(
        "{patch}: changes or copies {} too many times: more than 512 MiB would be read again; \
         make one diff of each file, or a patch of each change",
        show(path)
    )]
    TooOften {
        /// The patch.
        patch: String,
        /// The path.
        path: String,
    },
    /// The repository can't be read or written. Not the patch's fault.
    #[error("the tree's git repository can't be used: {}", .0.message())]
    Repository(#[from] git2::Error),
}

impl ApplyError {
    /// Whether the patch is to blame, and not the host.
    pub fn is_patch_fault(&self) -> bool {
        !matches!(
            self,
            ApplyError::Repository(_) | ApplyError::Unverified { .. }
        )
    }

    /// What it is about, where that is one place of one patch.
    pub(crate) fn place(&self) -> Option<Place<'_>> {
        let (patch, path, hunk) = match self {
            ApplyError::HunkFailed(failure) => (&failure.patch, &failure.path, Some(failure.hunk)),
            ApplyError::Ambiguous {
                patch, path, hunk, ..
            }
            | ApplyError::Unplaceable {
                patch, path, hunk, ..
            } => (patch, path, Some(*hunk)),
            ApplyError::NoSuchFile { patch, path, .. }
            | ApplyError::FileExists { patch, path }
            | ApplyError::NotEmptied { patch, path, .. }
            | ApplyError::SeveralFiles { patch, path, .. }
            | ApplyError::Binary { patch, path, .. } => (patch, path, None),
            _ => return None,
        };
        Some(Place { patch, path, hunk })
    }
}

/// A place in a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// The patch.
    pub patch: &'a str,
    /// The path.
    pub path: &'a str,
    /// The hunk, from 1, where it is about one.
    pub hunk: Option<usize>,
}

fn show(path: &str) -> String {
    shown(path.as_bytes())
}

fn list(paths: &[String]) -> String {
    let first: Vec<String> = paths.iter().take(5).map(|path| show(path)).collect();
    match paths.len() {
        0..=5 => first.join(", "),
        many => format!("{} and {} more", first.join(", "), many - 5),
    }
}

/// `already done in x, not yet in y, in part in z`; each file once.
fn parts(done: &[String], open: &[String]) -> String {
    let (in_done, in_open): (HashSet<_>, HashSet<_>) =
        (done.iter().collect(), open.iter().collect());
    let among = |paths: &[String], other: &HashSet<&String>, both: bool| -> Vec<String> {
        let paths = paths.iter().filter(|path| other.contains(path) == both);
        paths.cloned().collect()
    };
    let clauses = [
        ("already done in", among(done, &in_open, false)),
        ("not yet in", among(open, &in_done, false)),
        ("in part in", among(done, &in_open, true)),
    ];
    let clauses = clauses.iter().filter(|(_, paths)| !paths.is_empty());
    let told = clauses.map(|(what, paths)| format!("{what} {}", list(paths)));
    told.collect::<Vec<_>>().join(", ")
}

fn with_fuzz(fuzz: u32) -> String {
    match fuzz {
        0 => String::new(),
        fuzz => format!(" with fuzz {fuzz}"),
    }
}

fn some(lines: &[usize]) -> String {
    let first: Vec<String> = lines.iter().take(5).map(usize::to_string).collect();
    let more = if lines.len() > 5 { ", …" } else { "" };
    first.join(", ") + more
}

fn called(path: &str, named: &str) -> String {
    match path == named {
        true => String::new(),
        false => format!(" (the patch calls it {})", show(named)),
    }
}

fn having(alike: &[String]) -> String {
    match alike {
        [] => String::new(),
        paths => {
            let paths: Vec<String> = paths.iter().take(5).map(|path| show(path)).collect();
            format!("; it has {}", paths.join(", "))
        }
    }
}
