//! The files in which a system says what it is and how it is set: `/sys` and `/proc` of this machine,
//! or a copy of them.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::fault::{OrHost, Result};

/// More than any of these files has; `/proc/interrupts` of a large machine comes nearest.
const MOST_BYTES: u64 = 4 << 20;

/// The files of one system. Paths are given without the leading slash: `proc/stat`.
#[derive(Debug, Clone)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// Those of this machine.
    pub fn here() -> Files {
        Files::at(Path::new("/"))
    }

    /// Those of another one, or of an imaginary one, below a folder.
    pub fn at(root: &Path) -> Files {
        Files {
            root: root.to_owned(),
        }
    }

    /// The whole file, at most 4 MiB of it; none if it is not there or can't be read.
    pub fn text(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        // What is meant to be a file and is a pipe is not waited for.
        let mut options = File::options();
        options.read(true).custom_flags(nix::libc::O_NONBLOCK);
        let file = options.open(self.root.join(path)).ok()?;
        file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A file of one value, without the blanks around it; none if it is empty too.
    pub fn value(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let value = text.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// A file of one whole number.
    pub fn number(&self, path: &str) -> Option<i64> {
        self.value(path)?.parse().ok()
    }

    /// The names in a folder, sorted, numbers by their size (`cpu2` before `cpu10`); empty if it is
    /// not there.
    pub fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(path)) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort_by_key(|name| {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let number = name[stem.len()..].parse::<u64>().unwrap_or(0);
            (stem.to_owned(), number, name.clone())
        });
        names
    }

    /// Whether there is such a file or folder.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// Sets a file of one value.
    ///
    /// # Errors
    /// A host fault if it is not there or does not take the value.
    pub fn set(&self, path: &str, value: &str) -> Result<()> {
        let path = self.root.join(path);
        let written = File::options().write(true).truncate(true).open(&path);
        // In one write, which is what a file of the kernel takes for one value.
        let written = written.and_then(|mut file| file.write_all(value.as_bytes()));
        written.or_host(|| format!("set {} to {value}", path.display()))
    }

    /// Where a file really is.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn files_are_read_as_the_kernel_writes_them() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::at(folder.path());
        for name in ["cpu10", "cpu2", "cpufreq", "cpu0"] {
            fs::create_dir_all(folder.path().join("sys/cpu").join(name)).unwrap();
        }
        fs::write(folder.path().join("sys/cpu/cpu0/online"), "1\n").unwrap();
        fs::write(folder.path().join("sys/cpu/cpu0/empty"), "\n").unwrap();
        assert_eq!(files.names("sys/cpu"), ["cpu0", "cpu2", "cpu10", "cpufreq"]);
        assert_eq!(files.number("sys/cpu/cpu0/online"), Some(1));
        assert_eq!(files.value("sys/cpu/cpu0/empty"), None);
        assert_eq!(files.value("sys/cpu/cpu0/none"), None);
        assert!(files.names("sys/none").is_empty());
        files.set("sys/cpu/cpu0/online", "0").unwrap();
        assert_eq!(files.value("sys/cpu/cpu0/online").unwrap(), "0");
        let fault = files.set("sys/cpu/cpu9/online", "0").unwrap_err();
        assert_eq!(fault.at, crate::fault::At::Host);
        assert!(!files.has("sys/cpu/cpu9"));
    }
}
