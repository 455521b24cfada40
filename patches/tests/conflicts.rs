//! What is shown of a hunk that has no place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Lab, file, numbers};

#[test]
fn a_failed_hunk_shows_both_sides() {
    let base = "int a;\n\nint find(int fd)\n{\n\tint max = 64;\n\tint bit = fd / 64;\n\n\treturn bit;\n}\n";
    let patch = "--- a/fs/file.c\n+++ b/fs/file.c\n@@ -12,5 +12,5 @@ int find(int fd)\n {\n\
        \x20\tint max = 64;\n-\tint word = fd / 64;\n+\tint word = fd >> 6;\n \n \treturn bit;\n";
    let error = Lab::new()
        .try_patch(&[file("fs/file.c", base)], patch)
        .unwrap_err();
    assert!(error.is_patch_fault());
    let expected = "\
test.patch: hunk 1 of 1 does not apply to fs/file.c at line 12 (int find(int fd))
  the patch expects:
      12   {
      13   \tint max = 64;
      14 ! \tint word = fd / 64;
      15
      16   \treturn bit;
  the tree has, at line 4 (4 of 5 lines the same):
       4   {
       5   \tint max = 64;
       6 ! \tint bit = fd / 64;
       7
       8   \treturn bit;";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_failed_hunk_past_the_end_says_where_the_file_ends() {
    let patch = "--- a/f\n+++ b/f\n@@ -50,3 +50,3 @@\n a\n-b\n+B\n c\n";
    let error = Lab::new()
        .try_patch(&[file("f", "1\n2\n")], patch)
        .unwrap_err();
    let text = error.to_string();
    assert!(text.ends_with("the tree's file ends at line 2"), "{text}");
}

#[test]
fn what_a_patch_shows_cannot_drive_a_terminal() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ \x1b[2J\n-\x1b]0;owned\x07\n+x\n \u{202e}b\n";
    let error = Lab::new()
        .try_patch(&[file("f", "1\n2\n")], patch)
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("\\u{1b}]0;owned\\u{7}"), "{text}");
    assert!(!text.contains(['\x1b', '\x07', '\u{202e}']), "{text}");
}

/// A line more or less in the tree does not make all lines after it differ.
#[test]
fn lines_put_in_or_taken_out_are_shown_as_such() {
    let base = "a1\nb2\nc3\nnew\nd4\ne5\nf6\n";
    let patch = "--- a/f\n+++ b/f\n@@ -10,7 +10,7 @@\n a1\n b2\n c3\n-d4\n+dd\n e5\n gone\n f6\n";
    let error = Lab::new().try_patch(&[file("f", base)], patch).unwrap_err();
    let expected = "\
test.patch: hunk 1 of 1 does not apply to f at line 10
  the patch expects:
      10   a1
      11   b2
      12   c3
      13   d4
      14   e5
      15 ! gone
      16   f6
  the tree has, at line 1 (6 of 7 lines the same):
       1   a1
       2   b2
       3   c3
       4 ! new
       5   d4
       6   e5
       7   f6";
    assert_eq!(error.to_string(), expected);
}

/// Blanks do not hide the place.
#[test]
fn the_nearest_place_is_found_with_other_blanks() {
    let base = format!("{}\tone();\n\ttwo();\n\tthree();\n", numbers(50));
    let patch = "--- a/f\n+++ b/f\n@@ -3,4 +3,4 @@\n         one();\n-        twice();\n+        two();\n         three();\n         four();\n";
    let error = Lab::new()
        .try_patch(&[file("f", &base)], patch)
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("at line 51 (2 of 4 lines the same)"),
        "{text}"
    );
    assert!(text.contains("\n      52 ! \ttwo();"), "{text}");
}

/// Twenty-four lines of each side, from just before the first that differs.
#[test]
fn a_long_hunk_is_shown_in_part() {
    let base = numbers(200).replace("\n150\n", "\nother\n");
    let context =
        |from: usize, to: usize| -> String { (from..=to).map(|n| format!(" {n}\n")).collect() };
    let patch = format!(
        "--- a/f\n+++ b/f\n@@ -100,81 +100,81 @@\n{}-150\n+x\n{}",
        context(100, 149),
        context(151, 180)
    );
    let error = Lab::new()
        .try_patch(&[file("f", &base)], &patch)
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("\n        … 47 lines that are the same\n     147   147\n"),
        "{text}"
    );
    assert!(text.contains("\n     150 ! other\n"), "{text}");
    assert_eq!(text.lines().count(), 1 + 2 * (1 + 1 + 24 + 1), "{text}");
}
