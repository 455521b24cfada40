//! The compiler and linker that a kernel is built with; part of its hash.

use std::process::Command;
use std::time::Duration;

use crate::fault::{Fault, Result};
use crate::home::Home;
use crate::process;

/// Compiler and linker, as the first lines of `--version` name them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    compiler: String,
    linker: String,
}

/// What a Linux build calls, with the Debian package of each.
pub const TOOLS: &[(&str, &str)] = &[
    ("make", "make"),
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("perl", "perl"),
    ("git", "git"),
    ("xz", "xz-utils"),
    ("musl-gcc", "musl-tools"),
];

impl Toolchain {
    /// Asks the programs that `make` will call.
    ///
    /// # Errors
    /// A host fault that names the package if one is missing.
    pub fn find(home: &Home) -> Result<Toolchain> {
        Ok(Toolchain {
            compiler: first_line(home, "gcc")?,
            linker: first_line(home, "ld")?,
        })
    }

    /// One line for the record.
    pub fn describe(&self) -> String {
        format!("{}; {}", self.compiler, self.linker)
    }
}

fn first_line(home: &Home, program: &str) -> Result<String> {
    let mut command = Command::new(program);
    command.arg("--version").env("LC_ALL", "C");
    let output = process::run(command, home.cache_root(), Duration::from_secs(20))?;
    output
        .text
        .lines()
        .next()
        .filter(|_| output.success)
        .map(str::to_owned)
        .ok_or_else(|| Fault::host(format!("{program} --version failed")).showing(output.text))
}
