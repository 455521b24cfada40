//! Artifacts: what a boot wrote, kept compressed and within a bound.

use std::borrow::Cow;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::{BootId, Db, row};

/// An artifact is cut to this many bytes, its head and its tail kept.
pub const MAX_ARTIFACT_BYTES: usize = 4 << 20;

/// Something a boot wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewArtifact {
    /// "console", "frames", "qemu-log", "command"; each once in a boot.
    pub kind: String,
    /// The bytes. Of more than [`MAX_ARTIFACT_BYTES`], head and tail are kept with
    /// a line between them that says how much is missing.
    pub bytes: Vec<u8>,
}

/// What is known of an artifact without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactSize {
    /// "console", "frames", "qemu-log", "command".
    pub kind: String,
    /// Bytes that the boot wrote, before cutting.
    pub raw_bytes: u64,
    /// Whether some are missing from the middle.
    pub cut: bool,
    /// Bytes in the database.
    pub stored_bytes: u64,
}

impl Db {
    /// The artifact of this kind that a boot left, as it was, or with its middle
    /// cut out; see [`NewArtifact::bytes`].
    ///
    /// # Errors
    /// [`Error::Damaged`] when the stored bytes don't unpack.
    pub fn artifact(&self, boot: BootId, kind: &str) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT content FROM artifact WHERE boot = ?1 AND kind = ?2";
        let content = row::first(&self.connection, sql, (boot, kind), |row| {
            row.get::<_, Vec<u8>>(0)
        })?;
        content.map(|content| unpack(&content)).transpose()
    }

    /// The artifacts of a boot, by kind.
    pub fn artifacts(&self, boot: BootId) -> Result<Vec<ArtifactSize>> {
        let sql = "SELECT kind, raw_bytes, is_cut, length(content) AS stored_bytes
            FROM artifact WHERE boot = ?1 ORDER BY kind";
        row::all(&self.connection, sql, [boot], |row| {
            Ok(ArtifactSize {
                kind: row.get("kind")?,
                raw_bytes: row.get("raw_bytes")?,
                cut: row.get("is_cut")?,
                stored_bytes: row.get("stored_bytes")?,
            })
        })
    }
}

/// An artifact ready to be stored.
pub(crate) struct Packed<'a> {
    kind: &'a str,
    raw_bytes: usize,
    is_cut: bool,
    content: Vec<u8>,
}

/// Cuts and compresses.
pub(crate) fn pack_all(artifacts: &[NewArtifact]) -> Result<Vec<Packed<'_>>> {
    artifacts.iter().map(pack).collect()
}

fn pack(artifact: &NewArtifact) -> Result<Packed<'_>> {
    let kept = cut(&artifact.bytes, MAX_ARTIFACT_BYTES);
    let content = compress(&kept).map_err(|error| Error::Unstorable {
        table: "artifact",
        column: "content",
        reason: error.to_string(),
    })?;
    Ok(Packed {
        kind: &artifact.kind,
        raw_bytes: artifact.bytes.len(),
        is_cut: kept.len() != artifact.bytes.len(),
        content,
    })
}

pub(crate) fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Keeps head and tail: the end of a console is where the panic stands, its
/// beginning is where the machine introduced itself.
fn cut(bytes: &[u8], limit: usize) -> Cow<'_, [u8]> {
    if bytes.len() <= limit {
        return Cow::Borrowed(bytes);
    }
    // The mark is shorter than this, whatever the number in it.
    const MARK_BYTES: usize = 64;
    let half = limit.saturating_sub(MARK_BYTES) / 2;
    let (head, rest) = bytes.split_at(half);
    let (missing, tail) = rest.split_at(rest.len() - half);
    let mark = format!("\n[ktrial cut {} bytes here]\n", missing.len());
    Cow::Owned([head, mark.as_bytes(), tail].concat())
}

/// Decompresses. Gzip rather than zlib, whose reader in flate2 takes a stream that
/// ends early for a whole one. No more memory is used than an artifact of ours
/// needs, whatever the file says.
pub(crate) fn unpack(content: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let bound = MAX_ARTIFACT_BYTES as u64 + 1;
    GzDecoder::new(content)
        .take(bound)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::Damaged(format!("what is stored does not unpack: {error}")))?;
    if bytes.len() > MAX_ARTIFACT_BYTES {
        return Err(Error::Damaged(
            "an artifact unpacks beyond its bound".into(),
        ));
    }
    Ok(bytes)
}

/// Says what is wrong with stored content, if anything.
pub(crate) fn fault(content: &[u8], raw_bytes: u64, is_cut: bool) -> Option<String> {
    match unpack(content) {
        Err(error) => Some(error.to_string()),
        Ok(bytes) if !is_cut && bytes.len() as u64 != raw_bytes => Some(format!(
            "unpacks to {} bytes and should be {raw_bytes}",
            bytes.len()
        )),
        Ok(_) => None,
    }
}

/// Adds one artifact to a boot.
pub(crate) fn insert(db: &Connection, boot: BootId, artifact: &Packed) -> Result<()> {
    row::insert(
        db,
        "artifact",
        &[
            ("boot", &boot),
            ("kind", &artifact.kind),
            ("raw_bytes", &artifact.raw_bytes),
            ("is_cut", &artifact.is_cut),
            ("content", &artifact.content),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_kept_as_it_is() {
        assert_eq!(cut(b"0123456789", 10), Cow::Borrowed(b"0123456789"));
    }

    #[test]
    fn head_and_tail_are_kept_around_a_mark_that_counts() {
        // 100 - 64 = 36, half of it is 18 at each end; 1000 - 36 = 964 are missing.
        let bytes = [vec![b'h'; 500], vec![b't'; 500]].concat();
        let kept = String::from_utf8(cut(&bytes, 100).into_owned()).unwrap();
        let expected = format!(
            "{}\n[ktrial cut 964 bytes here]\n{}",
            "h".repeat(18),
            "t".repeat(18)
        );
        assert_eq!(kept, expected);
    }

    #[test]
    fn a_bomb_is_refused_before_it_fills_memory() {
        let bomb = compress(&vec![0; MAX_ARTIFACT_BYTES + 1]).unwrap();
        assert!(bomb.len() < 10_000);
        assert!(matches!(unpack(&bomb), Err(Error::Damaged(_))));
        let largest = compress(&vec![0; MAX_ARTIFACT_BYTES]).unwrap();
        assert_eq!(unpack(&largest).unwrap().len(), MAX_ARTIFACT_BYTES);
    }

    #[test]
    fn every_flipped_byte_is_found_or_does_no_harm() {
        let text = b"Kernel panic - not syncing: Fatal exception";
        let content = compress(text).unwrap();
        for index in 0..content.len() {
            for bit in 0..8 {
                let mut damaged = content.clone();
                damaged[index] ^= 1 << bit;
                // A gzip file also holds a time and a system, which don't matter.
                let read = unpack(&damaged);
                assert!(
                    read.is_err() || read.is_ok_and(|bytes| bytes == text),
                    "byte {index}"
                );
            }
        }
    }

    #[test]
    fn a_stream_that_ends_early_is_found() {
        let content = compress(b"Kernel panic - not syncing: Fatal exception").unwrap();
        for length in 0..content.len() {
            assert!(unpack(&content[..length]).is_err(), "{length} bytes");
        }
    }
}
