//! Texts that are read, and what came of them.

use ktrial_patches::read::{ReadError, read};
use ktrial_patches::{Hunk, Mend, MendKind, Patch};

pub const HEAD: &str = "--- a/f\n+++ b/f\n";
pub const DIFF: &str =
    "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@ heading\n 1\n-2\n+two\n 3\n";

pub const LONG: &str =
    "\tif (some_condition_that_is_long(argument) && other(first, second) - third)";

pub fn one(text: &str) -> Patch {
    let mut patches = read("p", text.as_bytes()).unwrap().patches;
    assert_eq!(patches.len(), 1);
    patches.remove(0)
}

pub fn refused(text: &str) -> ReadError {
    read("p", text.as_bytes()).unwrap_err()
}

pub fn hunks(patch: &Patch) -> Vec<&Hunk> {
    patch.files.iter().flat_map(|file| &file.hunks).collect()
}

/// Kind, line and lines of each mend.
pub fn mends(patch: &Patch) -> Vec<(MendKind, usize, usize)> {
    let mends = patch.mends.iter();
    // Records name the kinds.
    let known = |m: &Mend| MendKind::named(m.kind.name()) == Some(m.kind);
    assert!(mends.clone().all(known));
    mends.map(|m| (m.kind, m.line, m.lines)).collect()
}

/// The damaged text reads as the whole one, with these mends.
pub fn mended(damaged: &str, whole: &str, wanted: &[(MendKind, usize, usize)]) -> Patch {
    let (damaged, whole) = (one(damaged), one(whole));
    assert_eq!(whole.mends, []);
    assert_eq!(damaged.files, whole.files);
    assert_eq!(mends(&damaged), wanted);
    damaged
}
