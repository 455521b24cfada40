//! Outcomes made by hand, for tests.

use git2::Oid;
use ktrial_patches::apply::{Applied, AppliedFile, AppliedHunk, AppliedPatch, Rung};
use ktrial_patches::read::read;
use ktrial_patches::{Change, Mend, MendKind, Rewrite};

use super::Outcome;

pub(super) fn outcome(files: Vec<AppliedFile>, read_mends: Vec<Mend>) -> Outcome {
    let text = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n";
    let mut patches = read("one.patch", text).unwrap().patches;
    patches[0].mends = read_mends;
    Outcome {
        patches,
        applied: Applied {
            tree: Oid::ZERO_SHA1,
            commit: Oid::ZERO_SHA1,
            patches: vec![AppliedPatch {
                name: "one.patch".into(),
                commit: Oid::ZERO_SHA1,
                files,
                already: Vec::new(),
            }],
        },
        reverse: false,
        taken: Vec::new(),
    }
}

pub(super) fn hunk(line: usize, rung: Rung, offset: i64, fuzz: u32) -> AppliedHunk {
    AppliedHunk {
        line,
        offset,
        fuzz,
        rung,
    }
}

pub(super) fn changed(hunks: Vec<AppliedHunk>) -> AppliedFile {
    AppliedFile {
        path: "sys/kern/kern_exec.c".into(),
        named: None,
        stripped: String::new(),
        change: Change::Modify,
        hunks,
        mends: Vec::new(),
    }
}

pub(super) fn mend(kind: MendKind, added: Option<Rewrite>) -> Mend {
    Mend {
        kind,
        path: Some("sys/kern/kern_exec.c".into()),
        line: 12,
        lines: 1,
        added,
    }
}
