//! Series: patches with where they come from, what they apply to and what to
//! expect of them. Those in `series/` are embedded in the program; a folder
//! of the same form, or a single patch file, is a series as well.

mod manifest;
mod model;

use std::io::Read;
use std::path::{Path, PathBuf};

use git2::{Oid, Repository};
use include_dir::{Dir, include_dir};

use crate::history::{self, Reference, ResolveError};
use crate::read::{LeftOut, ReadError, Reading, read};
use crate::{MAX_PATCH_BYTES, Patch};

pub use model::{Claim, Expectation, Kernel, System, Value, Variant, Verdict, Workload};

static EMBEDDED: Dir = include_dir!("$CARGO_MANIFEST_DIR/series");

/// The file that describes a series.
pub const MANIFEST: &str = "series.toml";

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
    Patch(Patch),
    /// Commits that the tree must have.
    Commits(Reference),
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
    let best = ranked.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness > 0.8)
        .map(|(_, known)| known.to_owned())
}

impl Series {
    /// The patches that it brings along: all of them, unless it names commits.
    pub fn own_patches(&self) -> impl Iterator<Item = &Patch> {
        self.steps.iter().filter_map(|step| match step {
            Step::Patch(patch) => Some(patch),
            Step::Commits(_) => None,
        })
    }

    /// The commits that the tree must have for it.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.steps.iter().filter_map(|step| match step {
            Step::Patch(_) => None,
            Step::Commits(reference) => Some(reference),
        })
    }

    /// All its patches in the order in which they apply: commits looked up in the
    /// history of `tip`, and everything turned round where it is reversed.
    ///
    /// # Errors
    /// [`SeriesError::Resolve`] where the tree lacks a commit.
    pub fn patches(&self, repo: &Repository, tip: Oid) -> Result<Vec<Patch>, SeriesError> {
        let mut patches = Vec::new();
        for step in &self.steps {
            match step {
                Step::Patch(patch) => patches.push(patch.clone()),
                Step::Commits(reference) => {
                    patches.extend(history::resolve(repo, tip, reference)?);
                }
            }
        }
        Ok(patches)
    }

    /// A user's folder with a `series.toml` and its patches.
    ///
    /// # Errors
    /// A file that can't be read, or what is wrong in one, with its line.
    pub fn open(folder: &Path) -> Result<Series, SeriesError> {
        let name = stem(folder.canonicalize().as_deref().unwrap_or(folder));
        let shown = folder.display().to_string();
        manifest::load(&name, &shown, |file| read_bounded(&folder.join(file)))
    }

    /// A patch file, mbox or plain diff as a series: no expectations, and
    /// whatever workloads the user names.
    ///
    /// # Errors
    /// A file that can't be read, or is no patch.
    pub fn from_patch_file(path: &Path) -> Result<Series, SeriesError> {
        let bytes = read_bounded(path)?;
        let file = path.file_name().unwrap_or(path.as_os_str());
        let Reading {
            patches, left_out, ..
        } = read(&file.to_string_lossy(), &bytes)?;
        let name = stem(path);
        let subject = patches.first().map(|patch| patch.header.subject.clone());
        Ok(Series {
            title: subject.unwrap_or_else(|| name.clone()),
            name,
            description: String::new(),
            system: None,
            applies_to: None,
            source: None,
            licence: None,
            steps: patches.into_iter().map(Step::Patch).collect(),
            reverse: false,
            needs: None,
            claims: Vec::new(),
            left_out,
            workloads: Vec::new(),
            variants: Vec::new(),
            expectations: Vec::new(),
        })
    }
}

fn stem(path: &Path) -> String {
    let name = if path.is_dir() {
        path.file_name()
    } else {
        path.file_stem()
    };
    name.unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// A file's bytes; one more than the limit at most, so that the reader can
/// refuse it without taking it all in.
fn read_bounded(path: &Path) -> Result<Vec<u8>, SeriesError> {
    let mut bytes = Vec::new();
    // A pipe or a device would be waited for, or never end.
    let regular = std::fs::metadata(path).and_then(|meta| match meta.is_file() {
        true => Ok(()),
        false => Err(std::io::Error::other("it is no regular file")),
    });
    regular
        .and_then(|()| std::fs::File::open(path))
        .and_then(|file| {
            file.take(MAX_PATCH_BYTES as u64 + 1)
                .read_to_end(&mut bytes)
        })
        .map_err(|source| SeriesError::Io {
            path: path.to_owned(),
            source,
        })?;
    Ok(bytes)
}
