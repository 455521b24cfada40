//! What a failed build says: the first error, not the last line of `make`.

use std::path::Path;

use ktrial_patches::apply::Applied;

use crate::fault::{At, Fault};

/// Lines shown from the first error on.
const SHOWN: usize = 12;

/// The first error of a build log.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BuildError {
    /// Source file below the tree, if the error names one.
    pub file: Option<String>,
    /// The error's own line.
    pub line: String,
    /// The lines from there on, as the compiler printed them.
    pub excerpt: String,
}

/// Turns the log of a failed `make` into a fault of the kernel, or of the machine when what
/// failed is not the source.
pub(super) fn explain(variant: &str, log: &str, worktree: &Path, applied: &Applied) -> Fault {
    if let Some(fault) = of_machine(log) {
        return fault;
    }
    let Some(error) = first_error(log, worktree) else {
        return Fault::new(
            At::Kernel,
            format!("the kernel of {variant} does not build"),
        )
        .showing(tail(log, SHOWN))
        .next("build it by hand to see the whole log");
    };
    let patch = error.file.as_deref().and_then(|f| applied.patch_of(f));
    let whose = match (&error.file, patch) {
        (Some(file), Some(patch)) => format!(" in {file}, which {patch} touches"),
        (Some(file), None) => format!(" in {file}, which no patch touches"),
        _ => String::new(),
    };
    Fault::new(
        At::Kernel,
        format!("the kernel of {variant} does not build: first error{whose}"),
    )
    .showing(error.excerpt)
    .next(match patch {
        Some(patch) => format!("mend {patch}"),
        None => "check that the base builds with this compiler and config".into(),
    })
}

/// Failures that no source is to blame for.
fn of_machine(log: &str) -> Option<Fault> {
    let line = log.lines().find(|line| {
        line.contains("No space left on device")
            || line.contains("internal compiler error: Killed")
            || line.contains("fatal error: Killed signal")
            || (line.ends_with(": not found") && line.starts_with("/bin/sh"))
            || line.contains("fatal error: error writing to")
            // Headers of the build's own host programs.
            || line.contains("fatal error: gelf.h")
            || line.contains("fatal error: libelf.h")
            || line.contains("fatal error: openssl/")
    })?;
    let next = if line.contains("not found") || line.contains("No such file") {
        "`ktrial doctor` says which package to install"
    } else {
        "free disk or memory, then run the same command again: it goes on from there"
    };
    Some(
        Fault::host("the build failed for a reason outside the source")
            .showing(line)
            .next(next),
    )
}

/// The first line that a compiler, the linker or make calls an error.
pub(super) fn first_error(log: &str, worktree: &Path) -> Option<BuildError> {
    let root = format!("{}/", worktree.display());
    let lines: Vec<String> = log.lines().map(|l| l.replace(&root, "")).collect();
    let is_error = |line: &&String| {
        line.contains(": error: ")
            || line.contains(": fatal error: ")
            || line.contains("undefined reference to")
            || line.starts_with("ERROR: modpost:")
    };
    let is_make = |line: &&String| line.starts_with("make") && line.contains("*** ");
    let at = lines
        .iter()
        .position(|l| is_error(&l))
        .or_else(|| lines.iter().position(|l| is_make(&l)))?;
    let line = lines[at].clone();
    // gcc names the function on the line before.
    let from = at.saturating_sub(usize::from(
        at > 0 && lines[at - 1].contains(": In function"),
    ));
    let until = lines[at..]
        .iter()
        .position(|l| is_make(&l))
        .map_or(lines.len(), |n| at + n.max(1));
    let excerpt = lines[from..until.min(from + SHOWN)].join("\n");
    Some(BuildError {
        file: source_file(&line),
        line,
        excerpt,
    })
}

/// `fs/file.c` of `fs/file.c:512:9: error: ...`. The linker's `file.c:(.text+0x3)` has no folder,
/// so it names no file of the tree.
fn source_file(line: &str) -> Option<String> {
    let (file, rest) = line.split_once(':')?;
    let file = file.trim();
    if !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_source = [".c", ".h", ".S"].iter().any(|s| file.ends_with(s));
    is_source.then(|| file.trim_start_matches("./").to_owned())
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "  CC      fs/ioctl.o
/src/fs/file.c: In function 'find_next_fd':
/src/fs/file.c:486:9: error: 'nonsense' undeclared (first use in this function)
  486 |         nonsense = 1;
      |         ^~~~~~~~
make[2]: *** [/src/scripts/Makefile.build:250: fs/file.o] Error 1
make[2]: *** Waiting for unfinished jobs....
  CC      fs/readdir.o
/src/fs/other.c:1:1: error: a later one
make[1]: *** [/src/Makefile:2010: .] Error 2
";

    #[test]
    fn the_first_error_is_shown_with_its_file_and_context() {
        let error = first_error(LOG, Path::new("/src")).unwrap();
        assert_eq!(error.file.as_deref(), Some("fs/file.c"));
        assert!(error.line.contains("'nonsense' undeclared"));
        assert_eq!(
            error.excerpt.lines().collect::<Vec<_>>(),
            [
                "fs/file.c: In function 'find_next_fd':",
                "fs/file.c:486:9: error: 'nonsense' undeclared (first use in this function)",
                "  486 |         nonsense = 1;",
                "      |         ^~~~~~~~",
            ]
        );
    }

    #[test]
    fn a_link_error_counts_and_make_alone_is_the_last_resort() {
        let link = "  LD      vmlinux\nld: fs/file.o: in function `f':\nfile.c:(.text+0x3): undefined reference to `g'\nmake: *** [Makefile:1: vmlinux] Error 1\n";
        let error = first_error(link, Path::new("/src")).unwrap();
        assert!(error.line.contains("undefined reference to `g'"));
        assert_eq!(error.file, None);
        let make = "make[1]: *** No rule to make target 'fs/gone.o'.  Stop.\n";
        assert!(first_error(make, Path::new("/src")).is_some());
        assert!(first_error("  CC x.o\n", Path::new("/src")).is_none());
    }

    #[test]
    fn a_full_disk_is_the_machines_fault() {
        let log = "  CC fs/file.o\nfatal error: error writing to /tmp/x.s: No space left on device\ncompilation terminated.\n";
        assert_eq!(of_machine(log).unwrap().at, At::Host);
        assert!(of_machine(LOG).is_none());
    }
}
