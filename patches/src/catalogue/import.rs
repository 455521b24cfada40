//! A series written down as a folder of its own: `series.toml`, and one file a
//! patch with the bytes that it was read from.

mod compare;
mod manifest;
mod names;

use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{MANIFEST, Series, SeriesError, Step, steps};
use crate::Patch;
use crate::history::Reference;
use crate::read::{read, with_mbox_line};
use compare::{check, is_same};
use manifest::{FileEntry, StepEntry};

/// Why a series could not be written down.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Something is there already.
    #[error("{} is there already; name a folder that is not", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// A patch that is another when it is read by itself. The folder is not written.
    #[error(
        "{patch} can't be kept as a file of its own: read by itself it says something else; \
         make it again with `git format-patch`"
    )]
    Differs {
        /// The patch.
        patch: String,
    },
    /// Something else of the series comes out otherwise when it is read again. The folder is not
    /// written.
    #[error(
        "the series can't be kept as a folder: read again from there, {what} would be another; \
         this is a fault of ktrial, please report it with the file"
    )]
    Changes {
        /// What: `its title`.
        what: &'static str,
    },
    /// What was written can't be read again. The folder is not written.
    #[error("the series can't be kept as a folder: {0}")]
    Unreadable(#[from] SeriesError),
    /// The description can't be written as TOML.
    #[error("the series can't be described in {MANIFEST}: {0}")]
    Manifest(#[from] toml::ser::Error),
    /// The folder can't be written. This machine is at fault.
    #[error("{} can't be written: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// Makes `folder`, which may not be there yet, of a series, and returns the series as
/// it is read from there. The bytes of the patches are kept; a mail gets the `From `
/// line of an mbox where it has none, so that `git am` takes it too. Mails that were
/// left out of the series are not written.
///
/// Everything is written to a folder beside it, read again and compared, and only then
/// given its name: a kill leaves no half of a series.
///
/// # Errors
/// [`ImportError`]; `folder` is then not there.
pub fn write(series: &Series, folder: &Path) -> Result<Series, ImportError> {
    if folder.symlink_metadata().is_ok() {
        let path = folder.to_owned();
        return Err(ImportError::Exists { path });
    }
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| ImportError::Io { path, source }
    };
    let parent = match folder.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let beside = tempfile::Builder::new()
        .prefix(".ktrial-import-")
        // The umask of the user takes from it, as for any folder.
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .map_err(io(parent))?;
    let put = |name: &str, bytes: &[u8]| {
        let path = beside.path().join(name);
        std::fs::write(&path, bytes).map_err(io(&path))
    };
    let mut entries = Vec::new();
    for (index, step) in series.steps.iter().enumerate() {
        entries.push(match step {
            Step::Patch(patch) => {
                let name = file_name(series, index, patch, &entries);
                let bytes = with_mbox_line(&patch.source);
                put(&name, &bytes)?;
                entry(name, &bytes, patch)?
            }
            Step::Commits(references) => match &references[..] {
                [Reference::Bundle { bytes, .. }] => {
                    let name = format!("{:04}.bundle", index + 1);
                    put(&name, bytes)?;
                    StepEntry::bundle(name)
                }
                references => references.into(),
            },
        });
    }
    put(MANIFEST, manifest::text(series, entries)?.as_bytes())?;
    let again = Series::open(beside.path())?;
    check(series, &again)?;
    // A folder with something in it is never replaced.
    std::fs::rename(beside.path(), folder).map_err(|source| match source.kind() {
        // Made meanwhile, by another import.
        ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            let path = folder.to_owned();
            ImportError::Exists { path }
        }
        _ => io(folder)(source),
    })?;
    let _ = beside.keep();
    Ok(Series::open(folder)?)
}

/// The name of the file for a patch: its own where it is nothing but the diff in a file, else
/// one of its subject. One that was given to standard input tells less than the series' title.
fn file_name(series: &Series, index: usize, patch: &Patch, entries: &[StepEntry]) -> String {
    let is_file = Path::new(&patch.name).extension().is_some();
    match is_nameless(patch) {
        true if is_file && names::is_free(&patch.name, entries) => patch.name.clone(),
        true if !is_file => names::of_patch(index + 1, &series.title),
        _ => names::of_patch(index + 1, &patch.header.subject),
    }
}

/// How a file must be named so that the patch is read from it as it is here: by its
/// name, or with the options that a quilt folder gave to it.
fn entry(name: String, bytes: &[u8], patch: &Patch) -> Result<StepEntry, ImportError> {
    let differs = || ImportError::Differs {
        patch: patch.name.clone(),
    };
    let alone = read(&name, bytes).map_err(|_| differs())?.patches;
    let [alone] = &alone[..] else {
        return Err(differs());
    };
    if is_same(alone, patch) {
        return Ok(StepEntry::Plain(name));
    }
    // Of the names of a moved file, one less may be stripped than was stated.
    let stated = patch.files.iter().filter_map(|file| file.strip).max();
    let one_more = stated.map(|level| level + 1);
    for reverse in [false, true] {
        for strip in [None, stated, one_more] {
            let mut tried = alone.clone();
            steps::strip([&mut tried], strip);
            if reverse {
                tried = tried.reversed().map_err(|_| differs())?;
            }
            if is_same(&tried, patch) {
                return Ok(StepEntry::File(FileEntry {
                    file: name,
                    strip,
                    reverse,
                }));
            }
        }
    }
    Err(differs())
}

/// A diff with nothing above it, which is called by the name of its file.
fn is_nameless(patch: &Patch) -> bool {
    let undone = format!("Revert \"{}\"", patch.name);
    let subject = &patch.header.subject;
    patch.header.message.is_empty() && (*subject == patch.name || *subject == undone)
}
