//! Series of one's own: folders, files and bytes.

use std::cell::Cell;
use std::io::Read;
use std::path::Path;

use super::{MANIFEST, MOST_FILES, Series, SeriesError, Step, folder, manifest, quilt};
use crate::MAX_PATCH_BYTES;
use crate::history::Reference;
use crate::read::{ReadError, ReadErrorKind, Reading, read};

/// How git bundles begin, of either version.
const BUNDLE: [&[u8]; 2] = [b"# v2 git bundle\n", b"# v3 git bundle\n"];

impl Series {
    /// A user's folder: with a `series.toml`; else with a quilt `series` file, in it or
    /// in its `patches/`; else with patches, which are read as one thread of mails where
    /// all of them are mails, and otherwise one by one in the order of their names
    /// (`9-x` before `10-y`).
    ///
    /// # Errors
    /// A file that can't be read, or what is wrong in one, with its line.
    pub fn open(folder: &Path) -> Result<Series, SeriesError> {
        let name = stem(folder.canonicalize().as_deref().unwrap_or(folder));
        if folder.join(MANIFEST).symlink_metadata().is_ok() {
            let shown = folder.display().to_string();
            let files = Files::of(folder);
            return manifest::load(&name, &shown, |file| files.read(&folder.join(file)));
        }
        for place in [folder.to_owned(), folder.join("patches")] {
            if place.join(quilt::SERIES).is_file() {
                return Ok(Series::bare(&name, quilt::read_folder(&place)?));
            }
        }
        Ok(Series::bare(&name, folder::read_folder(folder)?))
    }

    /// A patch file, mbox, plain diff or git bundle as a series: no expectations, and
    /// whatever workloads the user names.
    ///
    /// # Errors
    /// A file that can't be read, or is no patch.
    pub fn from_patch_file(path: &Path) -> Result<Series, SeriesError> {
        let bytes = read_bounded(path)?;
        let file = path.file_name().unwrap_or(path.as_os_str());
        Series::from_bytes(&file.to_string_lossy(), &bytes)
    }

    /// The same of bytes, from standard input for example; `name` stands for the file's.
    ///
    /// # Errors
    /// [`SeriesError::Patch`] if they are no patch.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Series, SeriesError> {
        let stem = stem(Path::new(name));
        if !BUNDLE.iter().any(|start| bytes.starts_with(start)) {
            return Ok(Series::bare(&stem, read(name, bytes)?));
        }
        if bytes.len() > MAX_PATCH_BYTES {
            return Err(too_large(name, bytes.len()));
        }
        let bundle = Reference::Bundle {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        };
        let nothing = Reading {
            patches: Vec::new(),
            cover: None,
            left_out: Vec::new(),
        };
        Ok(Series {
            title: format!("The commits of {name}"),
            steps: vec![Step::Commits(vec![bundle])],
            ..Series::bare(&stem, nothing)
        })
    }

    /// Patches without a description of them: what their mails say has to do.
    fn bare(name: &str, reading: Reading) -> Series {
        let Reading {
            patches,
            cover,
            left_out,
        } = reading;
        let first = patches.first();
        let only = first.filter(|_| patches.len() == 1);
        let header = cover.as_ref().or(first.map(|patch| &patch.header));
        let about = cover.as_ref().or(only.map(|patch| &patch.header));
        let made_on = patches.iter().find_map(|p| p.trailers.base_commit.as_ref());
        let subject = header.map(|header| header.subject.as_str());
        Series {
            name: name.to_owned(),
            title: subject.filter(|s| !s.is_empty()).unwrap_or(name).to_owned(),
            description: about.map_or_else(String::new, |header| header.message.clone()),
            system: None,
            applies_to: None,
            source: None,
            licence: None,
            needs: made_on.map(|commit| format!("made on commit {commit}")),
            steps: patches.into_iter().map(Step::from).collect(),
            reverse: false,
            claims: Vec::new(),
            left_out,
            workloads: Vec::new(),
            variants: Vec::new(),
            expectations: Vec::new(),
        }
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

/// The files of a folder that lists them, which may name one file again and again.
pub(super) struct Files<'a> {
    folder: &'a Path,
    count: Cell<usize>,
    bytes: Cell<usize>,
}

impl Files<'_> {
    pub(super) fn of(folder: &Path) -> Files<'_> {
        Files {
            folder,
            count: Cell::new(0),
            bytes: Cell::new(0),
        }
    }

    /// The bytes of the next file; an error once there are too many of them in all.
    pub(super) fn read(&self, path: &Path) -> Result<Vec<u8>, SeriesError> {
        self.count.set(self.count.get() + 1);
        if self.count.get() > MOST_FILES {
            return Err(SeriesError::TooMany {
                path: self.folder.to_owned(),
            });
        }
        let bytes = read_bounded(path)?;
        self.bytes.set(self.bytes.get() + bytes.len());
        if self.bytes.get() > MAX_PATCH_BYTES {
            let folder = self.folder.display().to_string();
            return Err(too_large(&folder, self.bytes.get()));
        }
        Ok(bytes)
    }
}

/// A file's bytes; one more than the limit at most, so that the reader can
/// refuse it without taking it all in.
pub(super) fn read_bounded(path: &Path) -> Result<Vec<u8>, SeriesError> {
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

/// The refusal of more than [`MAX_PATCH_BYTES`].
pub(super) fn too_large(name: &str, bytes: usize) -> SeriesError {
    SeriesError::Patch(ReadError {
        name: name.to_owned(),
        line: 1,
        kind: ReadErrorKind::TooLarge(bytes),
    })
}
