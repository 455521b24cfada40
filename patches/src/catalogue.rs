//! Series: patches with where they come from, what they apply to, what their
//! author claims and what to expect of them. Those in `series/` are embedded in
//! the program; a folder of the same form, a quilt folder, a folder of patches
//! or a single patch file is a series as well.

pub mod import;

mod bounded;
mod fit;
mod folder;
mod manifest;
mod model;
mod open;
mod quilt;
mod steps;

use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use crate::history::{Reference, ResolveError};
use crate::read::{LeftOut, ReadError};
use crate::{Irreversible, Patch};

pub use fit::Fit;
pub use model::{
    Claim, ClaimClock, ClaimKind, ClaimTest, Expectation, Kernel, System, Value, Variant, Verdict,
    Workload,
};

static EMBEDDED: Dir = include_dir!("$CARGO_MANIFEST_DIR/series");

/// The file that describes a series.
pub const MANIFEST: &str = "series.toml";

/// The most files that one series is read from; the longest stable queues have a tenth of it.
const MOST_FILES: usize = 10_000;

/// Patches for one tree, in order, and what to try them with.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name of its folder or patch file.
    pub name: String,
    /// One line.
    pub title: String,
    /// Some lines; may be empty.
    pub description: String,
    /// The system of its tree; `None` for a bare patch file, which does not say.
    pub system: Option<System>,
    /// The version of the tree it was made for, such as `6.1`.
    pub applies_to: Option<String>,
    /// Where the patches come from.
    pub source: Option<String>,
    /// The SPDX licence of the patches, which is that of their tree.
    pub licence: Option<String>,
    /// What to apply, in order; nothing for an A/A control.
    pub steps: Vec<Step>,
    /// Undo the steps, last one first, instead of doing them.
    pub reverse: bool,
    /// It has no steps, and its kernel is to be booted against itself all the same.
    pub aa: bool,
    /// What it needs of a tree beside its version, in words: `a history to December 2016`.
    pub needs: Option<String>,
    /// What its author says of it.
    pub claims: Vec<Claim>,
    /// Mails that were in its files and are no part of it.
    pub left_out: Vec<LeftOut>,
    /// What to run where the user names nothing else.
    pub workloads: Vec<Workload>,
    /// Variants beside `base` and `patched`, which every series has.
    pub variants: Vec<Variant>,
    /// The verdicts that show that a trial works.
    pub expectations: Vec<Expectation>,
}

/// A part of a series.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A patch that the series brings along.
    Patch(Box<Patch>),
    /// Commits that the tree must have: the first of these names that its history knows.
    /// One name at least; several are names of the same, such as a Subversion revision,
    /// which only clones with FreeBSD's notes know, and the review behind it.
    Commits(Vec<Reference>),
}

impl From<Patch> for Step {
    fn from(patch: Patch) -> Step {
        Step::Patch(Box::new(patch))
    }
}

/// Why there is no such series.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// Its description is wrong. The series is at fault.
    #[error("{file}:{line}: {message}")]
    Manifest {
        /// The description's path.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what was expected.
        message: String,
    },
    /// One of its patches can't be read. The series is at fault.
    #[error(transparent)]
    Patch(#[from] ReadError),
    /// The tree does not have the commits that it is made of.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// It is reversed, and one of its patches can't be.
    #[error(transparent)]
    Irreversible(#[from] Irreversible),
    /// The catalogue has no such series.
    #[error(
        "no series is called `{name}`{}; `ktrial series list` shows all",
        did_you_mean(nearest)
    )]
    Unknown {
        /// The name asked for.
        name: String,
        /// The one most like it, if one is.
        nearest: Option<String>,
    },
    /// A folder with nothing in it that could be a series.
    #[error(
        "{} holds no series: expected a `{MANIFEST}`, a quilt `series` file, or patches \
         (*.patch, *.diff, *.eml, *.mbox, or *.txt with a diff in it)",
        path.display()
    )]
    NoSeries {
        /// The folder.
        path: PathBuf,
    },
    /// More than 10,000 files; a list can name one file again and again.
    #[error("{} lists more than {MOST_FILES} files; split the series", path.display())]
    TooMany {
        /// The folder.
        path: PathBuf,
    },
    /// A file can't be read.
    #[error("{} can't be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    let hint = |name: &String| format!("; did you mean `{name}`?");
    nearest.as_ref().map(hint).unwrap_or_default()
}

/// The names of all series of the catalogue, sorted.
pub fn names() -> Vec<&'static str> {
    let folders = EMBEDDED.dirs().map(|dir| dir.path());
    let mut names: Vec<_> = folders.filter_map(Path::to_str).collect();
    names.sort_unstable();
    names
}

/// All series of the catalogue, by name.
///
/// # Errors
/// A series with a fault; the tests see to it that there is none.
pub fn list() -> Result<Vec<Series>, SeriesError> {
    names().into_iter().map(find).collect()
}

/// The series of that name in the catalogue.
///
/// # Errors
/// [`SeriesError::Unknown`] with the name most like it.
pub fn find(name: &str) -> Result<Series, SeriesError> {
    let folder = EMBEDDED.get_dir(name).filter(|_| names().contains(&name));
    let Some(folder) = folder else {
        return Err(SeriesError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name),
        });
    };
    manifest::load(name, name, |file| {
        let path = folder.path().join(file);
        match EMBEDDED.get_file(&path) {
            Some(file) => Ok(file.contents().to_vec()),
            None => Err(SeriesError::Io {
                path,
                source: std::io::ErrorKind::NotFound.into(),
            }),
        }
    })
}

/// A name that a person may have meant: alike, or one holding the other.
fn nearest(name: &str) -> Option<String> {
    let wanted = name.to_lowercase();
    let likeness = |known: &str| match known.contains(&wanted) && wanted.len() > 2 {
        true => 1.0,
        false => strsim::jaro_winkler(known, &wanted),
    };
    let ranked = names().into_iter().map(|known| (likeness(known), known));
    // Of names that are as near, the one with the least beside it.
    let shortest = |a: &str, b: &str| b.len().cmp(&a.len());
    let best = ranked.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| shortest(a.1, b.1)));
    best.filter(|(likeness, _)| *likeness > 0.8)
        .map(|(_, known)| known.to_owned())
}
