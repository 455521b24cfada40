//! File names as `git format-patch` makes them.

use std::path::Path;

use super::manifest::{FileEntry, StepEntry};
use crate::catalogue::MANIFEST;

/// Bytes of a name at most, its number and `.patch` included, as git has it.
const LONGEST: usize = 63;

/// Whether a patch may keep the name that it has: a plain one that no other file of the
/// folder has, nor is yet to get.
pub(super) fn is_free(name: &str, taken: &[StepEntry]) -> bool {
    let has = |entry: &StepEntry| match entry {
        StepEntry::Plain(file) | StepEntry::File(FileEntry { file, .. }) => file == name,
        _ => false,
    };
    let plain = Path::new(name).file_name() == Some(name.as_ref());
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let numbered = name.bytes().take(4).all(|b| b.is_ascii_digit());
    let special = name == MANIFEST || name.starts_with('.') || numbered;
    plain && !special && name.bytes().all(fits) && !taken.iter().any(has)
}

/// `0001-subject-words.patch`
pub(super) fn of_patch(number: usize, subject: &str) -> String {
    let number = format!("{number:04}");
    let room = LONGEST - "-.patch".len() - number.len();
    match words(subject, room).as_str() {
        "" => format!("{number}.patch"),
        words => format!("{number}-{words}.patch"),
    }
}

/// The subject with one `-` for each run of what a file name should not have, and one
/// dot for several.
fn words(subject: &str, room: usize) -> String {
    let mut out = String::new();
    let mut gap = false;
    let mut last = ' ';
    for c in subject.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') {
            if gap && !out.is_empty() {
                out.push('-');
            }
            if (c, last) != ('.', '.') {
                out.push(c);
            }
            gap = false;
        } else {
            gap = true;
        }
        last = c;
    }
    out.truncate(out.trim_end_matches(['.', '-']).len());
    // All of it is ASCII.
    out.truncate(room);
    out
}
