//! Files of a series, no more of them than can be read.

use std::cell::Cell;
use std::io::Read;
use std::path::Path;

use super::{MOST_FILES, SeriesError};
use crate::MAX_PATCH_BYTES;
use crate::read::{ReadError, ReadErrorKind};

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
        line: 0,
        kind: ReadErrorKind::TooLarge(bytes),
    })
}
