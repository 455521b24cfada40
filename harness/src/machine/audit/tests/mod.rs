#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

//! Each check on made-up systems, in good and bad states. The forms of the files are those that the
//! kernel's documents give (the checks name them).

mod frequency;
mod kernel;
mod load;
mod memory;
mod processors;
mod whole;

use std::fs;

use super::{Finding, State, audit};
use crate::machine::files::Files;

/// The finding of one check on a system that has these files.
fn found(check: &str, files: &[(&str, &str)]) -> Finding {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let audit = audit(&Files::at(folder.path()));
    let mut all = audit.findings.into_iter();
    all.find(|finding| finding.name == check)
        .unwrap_or_else(|| panic!("there is no check {check}"))
}

/// The files of a system, and what a check is to find in it.
type System<'a> = (&'a [(&'a str, &'a str)], State, &'a str);

/// Asserts state and words of a check for each system.
fn assert_found(check: &str, systems: &[System]) {
    for (files, state, words) in systems {
        let finding = found(check, files);
        assert_eq!(
            (finding.state, finding.found.as_str()),
            (*state, *words),
            "{files:?}"
        );
        assert!(
            finding.mend.is_none() || *state == State::Noisy,
            "{files:?}"
        );
    }
    assert_eq!(found(check, &[]).state, State::Absent, "{check}");
}

/// What root types in such a system.
fn mend(check: &str, files: &[(&str, &str)]) -> String {
    found(check, files).mend.unwrap()
}
