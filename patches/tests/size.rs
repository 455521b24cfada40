//! Cost: what is large in one way only takes time and memory in proportion. Each of these takes
//! a second or two; with a step that goes over the whole again for each part, minutes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fmt::Write;

use common::{File, Lab, file, numbers};
use ktrial_patches::apply::ApplyError;
use ktrial_patches::read::read;

/// Files with the path `d/<number>`.
fn paths(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("d/{number}")).collect()
}

fn folder(paths: &[String]) -> Vec<File<'_>> {
    paths.iter().map(|path| file(path, "a\n")).collect()
}

/// Objects in the repository.
fn objects(lab: &Lab) -> usize {
    let mut count = 0;
    lab.repo
        .odb()
        .unwrap()
        .foreach(|_| {
            count += 1;
            true
        })
        .unwrap();
    count
}

#[test]
fn many_files_of_one_folder_are_changed() {
    let lab = Lab::new();
    let paths = paths(3_000);
    let mut patch = String::new();
    for path in &paths {
        write!(patch, "--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n").unwrap();
    }
    let applied = lab.try_patch(&folder(&paths), &patch).unwrap();
    assert_eq!(applied.patches[0].files.len(), paths.len());
    assert_eq!(lab.content(applied.tree, "d/2999"), b"b\n");
}

#[test]
fn many_files_of_one_folder_are_removed() {
    let lab = Lab::new();
    let paths = paths(3_000);
    let mut files = folder(&paths);
    files.push(file("left", "a\n"));
    let mut patch = String::new();
    for path in &paths {
        write!(patch, "--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n").unwrap();
    }
    let applied = lab.try_patch(&files, &patch).unwrap();
    assert_eq!(applied.tree, lab.tree(&[file("left", "a\n")]));
}

#[test]
fn many_files_are_made_in_one_folder() {
    let lab = Lab::new();
    let mut patch = String::new();
    for path in paths(3_000) {
        write!(patch, "--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+a\n").unwrap();
    }
    let applied = lab.try_patch(&[file("d/x", "a\n")], &patch).unwrap();
    let mut made = paths(3_000);
    made.push("d/x".to_owned());
    assert_eq!(applied.tree, lab.tree(&folder(&made)));
}

/// Only what is left in the end is written: one file, one folder, one commit.
#[test]
fn a_file_with_many_diffs_in_one_patch_is_written_once() {
    let lab = Lab::new();
    let count = 2_000;
    let before = numbers(count);
    let base = lab.commit(&[file("f", &before)]);
    let mut patch = String::new();
    for line in 1..=count {
        write!(
            patch,
            "--- a/f\n+++ b/f\n@@ -{line} +{line} @@\n-{line}\n+x{line}\n"
        )
        .unwrap();
    }
    let patches = read("test.patch", patch.as_bytes()).unwrap().patches;
    let there = objects(&lab);
    let applied = ktrial_patches::apply::apply(&lab.repo, base, &patches).unwrap();
    let after: String = (1..=count).map(|n| format!("x{n}\n")).collect();
    assert_eq!(lab.content(applied.tree, "f"), after.as_bytes());
    assert_eq!(objects(&lab), there + 3);
}

/// 600 times 1 MiB: the tree keeps what it had.
#[test]
#[ignore = "takes a quarter of a minute"]
fn a_large_file_with_too_many_diffs_in_one_patch_is_refused() {
    let lab = Lab::new();
    let long = "x".repeat(1 << 20);
    let content = format!("{long}\n0\n");
    let base = lab.commit(&[file("f", &content)]);
    let mut patch = String::new();
    for step in 0..600 {
        let next = step + 1;
        write!(patch, "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-{step}\n+{next}\n").unwrap();
    }
    let patches = read("test.patch", patch.as_bytes()).unwrap().patches;
    let error = ktrial_patches::apply::apply(&lab.repo, base, &patches).unwrap_err();
    assert!(
        matches!(&error, ApplyError::TooOften { path, .. } if path == "f"),
        "{error}"
    );
    assert!(error.is_patch_fault());
}

/// A hunk names a function, and its lines stand in each of many long ones of another name.
#[test]
fn lines_that_stand_in_many_places_are_looked_at_once_for_each_hunk() {
    let lab = Lab::new();
    let content = format!("int a(void)\n{}", "x\n".repeat(100_000).replace('x', "\tx"));
    let mut patch = "--- a/f\n+++ b/f\n".to_owned();
    for hunk in 1..=20 {
        let line = 10 * hunk;
        write!(
            patch,
            "@@ -{line},3 +{line},3 @@ int b(void)\n \tx\n-\tx\n+\ty\n \tx\n"
        )
        .unwrap();
    }
    let applied = lab.try_patch(&[file("f", &content)], &patch).unwrap();
    let hunks = &applied.patches[0].files[0].hunks;
    assert!(hunks.iter().all(|hunk| hunk.offset == 0));
    let text = String::from_utf8(lab.content(applied.tree, "f")).unwrap();
    let changed = text.lines().enumerate().filter(|(_, line)| *line == "\ty");
    let changed: Vec<usize> = changed.map(|(index, _)| index + 1).collect();
    assert_eq!(
        changed,
        (1..=20).map(|hunk| 10 * hunk + 1).collect::<Vec<_>>()
    );
}

/// No hunk stands where the patch says, and each is moved on from the one above it.
#[test]
fn many_hunks_stand_on_other_lines() {
    let lab = Lab::new();
    let count = 60_000;
    let mut content = String::new();
    let mut after = String::new();
    let mut patch = "--- a/f\n+++ b/f\n".to_owned();
    for hunk in 0..count {
        let line = 3 * hunk + 1;
        write!(content, "z\n{hunk} a\n{hunk} b\n{hunk} c\n").unwrap();
        write!(after, "z\n{hunk} a\n{hunk} x\n{hunk} c\n").unwrap();
        write!(
            patch,
            "@@ -{line},3 +{line},3 @@\n {hunk} a\n-{hunk} b\n+{hunk} x\n {hunk} c\n"
        )
        .unwrap();
    }
    let applied = lab.try_patch(&[file("f", &content)], &patch).unwrap();
    assert_eq!(lab.content(applied.tree, "f"), after.as_bytes());
    let hunks = &applied.patches[0].files[0].hunks;
    assert_eq!(hunks[count - 1].offset, count as i64);
}

/// Tabs that became blanks: no line of a hunk is in the file byte for byte.
#[test]
fn many_hunks_have_lost_their_tabs() {
    let lab = Lab::new();
    let count = 60_000;
    let mut content = String::new();
    let mut patch = "--- a/f\n+++ b/f\n".to_owned();
    for hunk in 0..count {
        let line = 3 * hunk + 1;
        write!(content, "\ta{hunk}\n\tb{hunk}\n\tc{hunk}\n").unwrap();
        write!(
            patch,
            "@@ -{line},3 +{line},2 @@\n  a{hunk}\n-  b{hunk}\n  c{hunk}\n"
        )
        .unwrap();
    }
    let applied = lab.try_patch(&[file("f", &content)], &patch).unwrap();
    let hunks = &applied.patches[0].files[0].hunks;
    assert!(hunks.iter().all(|hunk| hunk.offset == 0));
    let lines = lab.content(applied.tree, "f");
    assert_eq!(lines.iter().filter(|&&b| b == b'\n').count(), 2 * count);
}
