//! What is shown of a hunk that has no place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Lab, file, numbers};
use ktrial_patches::apply::{ApplyError, Failures, apply, failures};
use ktrial_patches::read::read;

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

/// Lines 1 to 200, and a patch with a hunk at each of these lines, which expects `was` there.
fn hunks(path: &str, lines: &[usize], was: impl Fn(usize) -> String) -> String {
    let hunk = |&n: &usize| {
        let (before, after) = (n - 1, n + 1);
        format!(
            "@@ -{before},3 +{before},3 @@\n {before}\n-{}\n+x\n {after}\n",
            was(n)
        )
    };
    let hunks: String = lines.iter().map(hunk).collect();
    format!("--- a/{path}\n+++ b/{path}\n{hunks}")
}

/// GNU `patch` on the same files: hunks 2 and 4 of `f` and hunk 1 of `g` fail, and it can't
/// find `missing`.
#[test]
fn every_hunk_that_fails_is_found_and_those_beyond_the_limit_are_counted() {
    let lab = Lab::new();
    let numbers = numbers(200);
    let base = lab.commit(&[file("f", &numbers), file("g", &numbers)]);
    let wrong = |n: usize| match n {
        40 | 80 => format!("not {n}"),
        n => n.to_string(),
    };
    let text = [
        hunks("f", &[20, 40, 60, 80, 100], wrong),
        hunks("missing", &[20], wrong),
        hunks("g", &[40, 60], wrong),
    ]
    .concat();
    let patches = read("test.patch", text.as_bytes()).unwrap().patches;
    let error = apply(&lab.repo, base, &patches).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("test.patch: hunk 2 of 5 does")
    );
    let all = failures(&lab.repo, base, &patches, &error, 10).unwrap();
    let first_lines = |all: &Failures| -> Vec<String> {
        let text = all.shown.iter().map(ApplyError::to_string);
        text.map(|text| text.lines().next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        first_lines(&all),
        [
            "test.patch: hunk 4 of 5 does not apply to f at line 79",
            "test.patch: the tree has no missing (the patch calls it a/missing)",
            "test.patch: hunk 1 of 2 does not apply to g at line 39",
        ]
    );
    assert!(all.more.is_empty());
    let few = failures(&lab.repo, base, &patches, &error, 1).unwrap();
    assert_eq!(first_lines(&few).len(), 1);
    assert_eq!(few.more, [("missing".to_owned(), 1), ("g".to_owned(), 1)]);
}

/// The patches before the one that fails are in the tree when its hunks are looked at.
#[test]
fn the_other_hunks_of_a_later_patch_are_those_that_fail_on_top_of_the_earlier_ones() {
    let lab = Lab::new();
    let base = lab.commit(&[file("f", &numbers(200))]);
    let first = hunks("f", &[20, 60], |n| n.to_string());
    // The first two are there as the first patch leaves them.
    let second = hunks("f", &[20, 40, 60, 80], |n| match n {
        20 | 60 => "x".to_owned(),
        n => format!("not {n}"),
    });
    let mut patches = read("1.patch", first.as_bytes()).unwrap().patches;
    let second = second.replace("+x", "+y");
    patches.extend(read("2.patch", second.as_bytes()).unwrap().patches);
    let error = apply(&lab.repo, base, &patches).unwrap_err();
    assert!(error.to_string().starts_with("2.patch: hunk 2 of 4"));
    let all = failures(&lab.repo, base, &patches, &error, 10).unwrap();
    assert_eq!(all.shown.len(), 1);
    let text = all.shown[0].to_string();
    assert!(
        text.starts_with("2.patch: hunk 4 of 4 does not apply to f at line 79"),
        "{text}"
    );
}

/// A hostile patch is looked at up to a thousand failures.
#[test]
fn failures_are_counted_up_to_a_thousand() {
    let lab = Lab::new();
    let base = lab.commit(&[file("f", &numbers(10_000))]);
    let lines: Vec<usize> = (1..=1_500).map(|n| 5 * n).collect();
    let text = hunks("f", &lines, |n| format!("not {n}"));
    let patches = read("test.patch", text.as_bytes()).unwrap().patches;
    let error = apply(&lab.repo, base, &patches).unwrap_err();
    let all = failures(&lab.repo, base, &patches, &error, 4).unwrap();
    assert_eq!(
        (all.shown.len(), &all.more[..]),
        (4, &[("f".to_owned(), 995)][..])
    );
}

/// A patch may have several parts for one file, as where two diffs are put together.
#[test]
fn a_file_is_named_once_however_often_the_patch_has_it() {
    let lab = Lab::new();
    let done = numbers(100)
        .replace("\n20\n", "\nx\n")
        .replace("\n60\n", "\nx\n");
    let part = |path: &str, line: usize| hunks(path, &[line], |n| n.to_string());
    let refused = |parts: &[String]| {
        let plain = numbers(100);
        let files = [file("f", &done), file("g", &plain)];
        lab.try_patch(&files, &parts.concat())
            .unwrap_err()
            .to_string()
    };
    let twice = [part("f", 20), part("f", 60)];
    assert_eq!(
        refused(&twice),
        "test.patch: already applied: f already is as the patch makes it (with `reverse = true` \
         it is taken out)"
    );
    let with_g = [&twice[..], &[part("g", 20), part("g", 60)]].concat();
    assert_eq!(
        refused(&with_g),
        "test.patch: applied in part: already done in f, not yet in g; take what is done out of \
         the patch"
    );
    let with_f = [&with_g[..], &[part("f", 80)]].concat();
    assert_eq!(
        refused(&with_f),
        "test.patch: applied in part: not yet in g, in part in f; take what is done out of the \
         patch"
    );
}
