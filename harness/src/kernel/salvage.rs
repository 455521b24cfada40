//! What a killed build left: half-written objects that `make` would take for whole ones.
//!
//! Kbuild writes `.NAME.cmd` after NAME is done. So an object that is newer than its `.cmd`, or
//! has none, may be half written; everything else is whole and is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::fault::{OrHost, Result};

/// Stands in the object folder while `make` runs.
const MARK: &str = ".ktrial-building";

/// Marks the folder as being built in; first mends what an earlier, killed build left.
/// Returns how many files had to go.
pub(super) fn begin(objects: &Path) -> Result<usize> {
    let mark = objects.join(MARK);
    let removed = if mark.exists() { mend(objects)? } else { 0 };
    fs::write(&mark, b"").or_host(|| format!("write {}", mark.display()))?;
    Ok(removed)
}

/// `make` has ended by itself, well or not: it removes half-made targets itself.
pub(super) fn end(objects: &Path) -> Result<()> {
    let mark = objects.join(MARK);
    fs::remove_file(&mark).or_host(|| format!("remove {}", mark.display()))
}

fn mend(folder: &Path) -> Result<usize> {
    let mut removed = 0;
    let reading = || format!("read {}", folder.display());
    for entry in fs::read_dir(folder).or_host(reading)? {
        let path = entry.or_host(reading)?.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            removed += mend(&path)?;
        } else if is_suspect(&path) {
            fs::remove_file(&path).or_host(|| format!("remove {}", path.display()))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Objects, archives and linked images whose command file does not vouch for them.
fn is_suspect(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
        return false;
    };
    let made = name.ends_with(".o") || name.ends_with(".a") || name.starts_with("vmlinux");
    made && !name.starts_with('.') && !vouched(path, name)
}

fn vouched(path: &Path, name: &str) -> bool {
    let command: PathBuf = path.with_file_name(format!(".{name}.cmd"));
    match (modified(path), modified(&command)) {
        (Some(object), Some(command)) => object <= command,
        _ => false,
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn write(folder: &Path, name: &str, age_s: u64) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age_s))
            .unwrap();
    }

    #[test]
    fn only_objects_that_their_command_file_vouches_for_survive_a_kill() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        write(dir, "fs/whole.o", 10);
        write(dir, "fs/.whole.o.cmd", 9);
        // Killed while it was being rebuilt: newer than the command file of the earlier build.
        write(dir, "fs/half.o", 1);
        write(dir, "fs/.half.o.cmd", 9);
        write(dir, "fs/never-finished.o", 1);
        write(dir, "include/generated/autoconf.h", 1);
        assert_eq!(begin(dir).unwrap(), 0, "no mark, nothing to mend");
        assert_eq!(begin(dir).unwrap(), 2);
        assert!(dir.join("fs/whole.o").exists());
        assert!(!dir.join("fs/half.o").exists());
        assert!(!dir.join("fs/never-finished.o").exists());
        assert!(dir.join("include/generated/autoconf.h").exists());
        end(dir).unwrap();
        assert_eq!(begin(dir).unwrap(), 0);
    }
}
