//! What has been set and must be put back: a file of lines, each written and on the disk before the
//! change that it tells of is made. It lies in `/run`, which a reboot empties, as it empties the
//! settings. Whoever holds the lock on it is at work.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};

use serde::{Deserialize, Serialize};

use super::super::files::Files;
use super::plan::Change;
use crate::fault::{Fault, OrHost, Result};

const FOLDER: &str = "run/ktrial";
const PATH: &str = "run/ktrial/tuned.json";
const BOOT: &str = "proc/sys/kernel/random/boot_id";
/// Of the longest journal that makes sense: ten states of each of 65,536 CPUs.
const MOST_BYTES: u64 = 256 << 20;

/// An open journal, locked.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// The boot that the settings belong to.
    boot: String,
    /// Who set them.
    process: u32,
}

impl Journal {
    /// Opens it, and makes it if there is none.
    pub fn open(files: &Files) -> Result<Journal> {
        let folder = files.path(FOLDER);
        fs::create_dir_all(&folder).or_host(|| format!("make {}", folder.display()))?;
        let path = files.path(PATH);
        let file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .or_host(|| format!("open {}", path.display()))?;
        let mut journal = Journal { file };
        match journal.file.try_lock() {
            Ok(()) => Ok(journal),
            Err(TryLockError::WouldBlock) => {
                let head = journal.head();
                let owner = head.map_or_else(
                    || "another ktrial".into(),
                    |head| format!("another ktrial, process {},", head.process),
                );
                Err(
                    Fault::host(format!("{owner} has tuned this machine, and still runs"))
                        .next("wait until it has ended"),
                )
            }
            Err(TryLockError::Error(error)) => {
                Err(error).or_host(|| format!("lock {}", path.display()))
            }
        }
    }

    /// Whether nobody has anything set.
    pub fn is_empty(files: &Files) -> bool {
        fs::metadata(files.path(PATH)).map_or(true, |facts| facts.len() == 0)
    }

    /// Opens the one of a ktrial that has ended without putting everything back, if there is one.
    pub fn leftover(files: &Files) -> Result<Option<Journal>> {
        if Journal::is_empty(files) {
            return Ok(None);
        }
        let path = files.path(PATH);
        // Anybody may ask whether its owner still runs, and root may do something about it.
        let readable = File::open(&path).or_host(|| format!("open {}", path.display()))?;
        match readable.try_lock() {
            Ok(()) => drop(readable),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => {
                return Err(error).or_host(|| format!("lock {}", path.display()));
            }
        }
        let file = File::options().read(true).append(true).open(&path);
        let file = file
            .or_host(|| "put back what an earlier run set on this machine".into())
            .map_err(|fault| fault.next("run any ktrial command as root"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Journal { file })),
            // Another one was faster.
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).or_host(|| format!("lock {}", path.display()))
            }
        }
    }

    /// Says whose the following changes are. The journal must be empty.
    pub fn begin(&mut self, files: &Files) -> Result<()> {
        let head = Head {
            boot: files.value(BOOT).unwrap_or_default(),
            process: std::process::id(),
        };
        self.write(&head)
    }

    /// Takes a change down, so that it may be made.
    pub fn add(&mut self, change: &Change) -> Result<()> {
        self.write(change)
    }

    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        let line =
            serde_json::to_string(line).or_host(|| "write the journal of settings".into())?;
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        let written = written.and_then(|()| self.file.sync_data());
        written.or_host(|| format!("write /{PATH}: nothing more is set"))
    }

    /// The changes that may have been made since this machine started, in order.
    pub fn changes(&mut self, files: &Files) -> Result<Vec<Change>> {
        let text = self.text().or_host(|| format!("read /{PATH}"))?;
        // A last line without an end was being written: its change was not made.
        let Some((whole, _)) = text.rsplit_once('\n') else {
            return Ok(Vec::new());
        };
        let mut lines = whole.lines();
        let head = lines.next().unwrap_or_default();
        let head: Head = serde_json::from_str(head).or_host(|| format!("read /{PATH}, line 1"))?;
        if head.boot != files.value(BOOT).unwrap_or_default() {
            return Ok(Vec::new());
        }
        let changes = lines.enumerate().map(|(at, line)| {
            serde_json::from_str(line).or_host(|| format!("read /{PATH}, line {}", at + 2))
        });
        changes.collect()
    }

    fn head(&mut self) -> Option<Head> {
        serde_json::from_str(self.text().ok()?.lines().next()?).ok()
    }

    fn text(&mut self) -> std::io::Result<String> {
        let mut text = String::new();
        self.file.rewind()?;
        (&self.file).take(MOST_BYTES).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Forgets everything: all is put back.
    pub fn empty(&mut self) -> Result<()> {
        let emptied = self.file.set_len(0).and_then(|()| self.file.sync_data());
        emptied.or_host(|| format!("empty /{PATH}"))
    }
}
