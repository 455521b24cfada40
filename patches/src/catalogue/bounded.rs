//! Files of a series, no more of them than can be read.

use std::io::Read;
use std::path::Path;

use super::SeriesError;
use crate::MAX_PATCH_BYTES;
use crate::read::{ReadError, ReadErrorKind};

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
