//! Short names for things that are told apart by what went into them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Sixteen hex digits of the SHA-256 over parts that cannot run into each other.
pub fn hash16<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex::encode(&hash.finalize()[..8])
}

/// The SHA-256 of a file's bytes, in 64 hex digits.
///
/// # Errors
/// Of reading the file.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex::encode(hash.finalize())),
            read => hash.update(&piece[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hash16(["ab", "c"]), hash16(["a", "bc"]));
        assert_eq!(hash16(["ab", "c"]).len(), 16);
    }

    #[test]
    fn a_files_hash_is_that_of_sha256sum() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        // FIPS 180-2, B.1.
        assert_eq!(
            sha256_of_file(file.path()).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
