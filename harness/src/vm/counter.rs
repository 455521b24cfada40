//! The plugin that counts a guest's instructions (`counter/`), as QEMU loads it.

use std::path::{Path, PathBuf};

use super::qemu::escape;
use super::version::numbers;
use crate::fault::{Fault, OrHost, Result};

/// The plugin's file, which lies beside the command.
const FILE: &str = "libktrial_counter.so";
/// Says where it lies instead.
const VARIABLE: &str = "KTRIAL_COUNTER";
/// The first QEMU with version 3 of the plugin interface, by major and minor number.
const FIRST_QEMU: (u32, u32) = (9, 1);

/// Counts the instructions of one guest.
#[derive(Debug, Clone)]
pub struct Counter {
    /// The plugin.
    pub plugin: PathBuf,
    /// Where the kernel's functions begin: lines of `address name`.
    pub symbols: PathBuf,
    /// Count by instruction, and not by translated block.
    pub exact: bool,
}

impl Counter {
    /// What QEMU is told; it writes to `out`.
    pub(super) fn argument(&self, out: &Path) -> String {
        format!(
            "{},symbols={},out={},exact={}",
            escape(&self.plugin),
            escape(&self.symbols),
            escape(out),
            if self.exact { "on" } else { "off" }
        )
    }
}

/// Where the plugin lies: beside the command, or where `KTRIAL_COUNTER` says.
///
/// # Errors
/// A host fault if it is not there, or if the QEMU that calls itself `version` can't load it.
pub fn plugin(version: &str) -> Result<PathBuf> {
    if let Some(found) = numbers(version).filter(|found| *found < FIRST_QEMU) {
        return Err(Fault::host(format!(
            "QEMU {}.{} has not the plugin interface that counting needs",
            found.0, found.1
        ))
        .next("install QEMU 9.1 or newer (Debian 12: from bookworm-backports)"));
    }
    let path = match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => {
            let own = std::env::current_exe().or_host(|| "find this command's own file".into())?;
            // Tests lie one folder deeper than what they test.
            let folders = own.ancestors().skip(1).take(2);
            let mut paths = folders.map(|folder| folder.join(FILE));
            let beside = own.with_file_name(FILE);
            paths.find(|path| path.is_file()).unwrap_or(beside)
        }
    };
    if path.is_file() {
        return Ok(path);
    }
    Err(Fault::host(format!(
        "the plugin that counts is not at {}",
        path.display()
    ))
    .next(format!(
        "cargo build --release -p ktrial-counter makes it; or say in {VARIABLE} where it is"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_paths_are_doubled_as_qemu_wants_them() {
        let counter = Counter {
            plugin: "/a,b/counter.so".into(),
            symbols: "/kernels/symbols".into(),
            exact: false,
        };
        assert_eq!(
            counter.argument(Path::new("/run/counts")),
            "/a,,b/counter.so,symbols=/kernels/symbols,out=/run/counts,exact=off"
        );
    }

    #[test]
    fn a_qemu_without_the_interface_is_named() {
        let fault = plugin("QEMU emulator version 7.2.22 (Debian)").unwrap_err();
        assert!(fault.what.contains("QEMU 7.2"), "{}", fault.what);
    }
}
