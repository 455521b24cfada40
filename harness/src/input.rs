//! Texts that the user names by their path.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::fault::{Fault, Result};
use crate::process;

/// More than any such text has: 32 MiB.
const MOST_BYTES: u64 = 32 << 20;

/// The text at `path`, which may be a pipe; a signal while it is waited for ends ktrial at once.
///
/// # Errors
/// A user fault if it can't be read, is larger than 32 MiB, or is no UTF-8.
pub fn text(path: &Path) -> Result<String> {
    let fault = |why: String| Fault::user(format!("cannot read {}: {why}", path.display()));
    let mut bytes = Vec::new();
    process::ending_at_once(|| {
        File::open(path)?
            .take(MOST_BYTES + 1)
            .read_to_end(&mut bytes)
    })
    .map_err(|e| fault(e.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(fault(format!("it has more than {} MiB", MOST_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| fault("it is no text (UTF-8)".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_or_never_ends_is_the_users_fault() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        std::fs::write(&file, "lines\n").unwrap();
        assert_eq!(text(&file).unwrap(), "lines\n");
        std::fs::write(&file, b"\xff\xfe").unwrap();
        for (path, says) in [
            (file.as_path(), "no text"),
            (folder.path(), "directory"),
            (Path::new("/dev/zero"), "more than 32 MiB"),
            (Path::new("/nonexistent"), "No such file"),
        ] {
            let fault = text(path).unwrap_err();
            assert_eq!(fault.at, crate::fault::At::User);
            assert!(fault.what.contains(says), "{}", fault.what);
        }
    }
}
