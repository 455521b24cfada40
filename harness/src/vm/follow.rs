//! Follows a file that QEMU writes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::fault::{OrHost, Result};

/// Reads what is new in a growing file.
pub(super) struct Follower {
    file: File,
    path: PathBuf,
    /// Bytes read so far.
    pub read: u64,
}

/// Read at most this much at once; the rest comes with the next look.
const CHUNK: u64 = 1 << 20;

impl Follower {
    pub(super) fn open(path: &Path) -> Result<Follower> {
        let file = File::open(path).or_host(|| format!("read {}", path.display()))?;
        Ok(Follower {
            file,
            path: path.to_path_buf(),
            read: 0,
        })
    }

    /// The bytes that came since the last look.
    pub(super) fn new_bytes(&mut self) -> Result<Vec<u8>> {
        let reading = || format!("read {}", self.path.display());
        self.file
            .seek(SeekFrom::Start(self.read))
            .or_host(reading)?;
        let mut bytes = Vec::new();
        (&self.file)
            .take(CHUNK)
            .read_to_end(&mut bytes)
            .or_host(reading)?;
        self.read += bytes.len() as u64;
        Ok(bytes)
    }

    /// Everything that is left, once the writer is gone.
    pub(super) fn rest(&mut self, limit: u64) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        while self.read < limit {
            let more = self.new_bytes()?;
            if more.is_empty() {
                break;
            }
            all.extend(more);
        }
        Ok(all)
    }
}
