//! Applying: where hunks land, what is refused, and in which words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{File, Lab, file, numbers};
use git2::{Oid, Time};
use ktrial_patches::apply::{AppliedHunk, ApplyError, Rung, apply};
use ktrial_patches::read::read;

/// Changes line 13, and adds a line after 23.
const TWO_HUNKS: &str = "--- a/f\n+++ b/f\n\
    @@ -10,7 +10,7 @@ ten\n 10\n 11\n 12\n-13\n+thirteen\n 14\n 15\n 16\n\
    @@ -21,6 +21,7 @@\n 21\n 22\n 23\n+extra\n 24\n 25\n 26\n";

fn hunk(line: usize, offset: i64, fuzz: u32) -> AppliedHunk {
    let rung = match (offset, fuzz) {
        (0, 0) => Rung::Exact,
        (_, 0) => Rung::Offset,
        _ => Rung::Fuzz,
    };
    AppliedHunk {
        line,
        offset,
        fuzz,
        rung,
    }
}

fn lines(n: std::ops::RangeInclusive<usize>) -> String {
    n.map(|n| format!("{n}\n")).collect()
}

/// What GNU patch 2.7.6 printed (`patch -p1 --verbose`) for [`TWO_HUNKS`] on
/// these files; `None` where it said FAILED.
#[test]
fn places_are_those_of_gnu_patch() {
    let all = numbers(30);
    let cases: Vec<(&str, String, [Option<AppliedHunk>; 2])> = vec![
        (
            "exact",
            all.clone(),
            [Some(hunk(10, 0, 0)), Some(hunk(21, 0, 0))],
        ),
        (
            "two more lines before",
            format!("x\ny\n{all}"),
            [Some(hunk(12, 2, 0)), Some(hunk(23, 2, 0))],
        ),
        (
            "three lines less",
            lines(4..=30),
            [Some(hunk(7, -3, 0)), Some(hunk(18, -3, 0))],
        ),
        (
            "two more lines between",
            lines(1..=17) + "p\nq\n" + &lines(18..=30),
            [Some(hunk(10, 0, 0)), Some(hunk(23, 2, 0))],
        ),
        (
            "fuzz 1",
            lines(1..=9) + "ten\n" + &lines(11..=30),
            [Some(hunk(10, 0, 1)), Some(hunk(21, 0, 0))],
        ),
        (
            "fuzz 2",
            lines(1..=9) + "ten\neleven\n" + &lines(12..=30),
            [Some(hunk(10, 0, 2)), Some(hunk(21, 0, 0))],
        ),
        (
            "fuzz 1 and an offset",
            "x\nx\nx\nx\n".to_owned() + &lines(1..=9) + "ten\n" + &lines(11..=30),
            [Some(hunk(14, 4, 1)), Some(hunk(25, 4, 0))],
        ),
        (
            "fuzz 3",
            lines(1..=9) + "ten\neleven\ntwelve\n" + &lines(13..=30),
            [None, Some(hunk(21, 0, 0))],
        ),
        (
            "fuzz 1 at the end",
            lines(1..=25) + "twenty-six\n" + &lines(27..=30),
            [Some(hunk(10, 0, 0)), Some(hunk(21, 0, 1))],
        ),
        (
            "the file ends after 24",
            lines(1..=24),
            [Some(hunk(10, 0, 0)), Some(hunk(21, 0, 2))],
        ),
        (
            "the file ends after 25",
            lines(1..=25),
            [Some(hunk(10, 0, 0)), Some(hunk(21, 0, 1))],
        ),
    ];
    for (case, content, expected) in cases {
        let lab = Lab::new();
        let result = lab.try_patch(&[file("f", &content)], TWO_HUNKS);
        match expected {
            [Some(first), Some(second)] => {
                let applied = result.unwrap_or_else(|error| panic!("{case}: {error}"));
                assert_eq!(applied.patches[0].files[0].hunks, [first, second], "{case}");
                let mut wanted = content.replace("\n13\n", "\nthirteen\n");
                wanted = wanted.replace("\n23\n", "\n23\nextra\n");
                assert_eq!(lab.content(applied.tree, "f"), wanted.as_bytes(), "{case}");
            }
            _ => match result.unwrap_err() {
                ApplyError::HunkFailed(failure) => assert_eq!(failure.hunk, 1, "{case}"),
                other => panic!("{case}: {other}"),
            },
        }
    }
}

/// Less context at one end says that the file ended there (also as GNU patch).
#[test]
fn a_hunk_at_the_end_of_its_file_stays_there() {
    let at_end = "--- a/f\n+++ b/f\n@@ -28,3 +28,4 @@\n 28\n 29\n 30\n+31\n";
    let at_start = "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n";
    let all = numbers(30);
    let place = |content: &str, patch| {
        let applied = Lab::new().try_patch(&[file("f", content)], patch).ok()?;
        Some(applied.patches[0].files[0].hunks[0])
    };
    assert_eq!(place(&all, at_end), Some(hunk(28, 0, 0)));
    assert_eq!(place(&format!("x\n{all}"), at_end), Some(hunk(29, 1, 0)));
    assert_eq!(place(&format!("{all}more\n"), at_end), None);
    assert_eq!(place(&all, at_start), Some(hunk(1, 0, 0)));
    assert_eq!(place(&format!("x\n{all}"), at_start), None);
}

/// The context after one hunk may be the context before the next (as GNU patch).
#[test]
fn hunks_may_share_context() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,5 +1,6 @@\n a\n a\n+A\n a\n a\n a\n\
        @@ -7,6 +8,7 @@\n a\n a\n a\n+A\n a\n a\n a\n";
    let lab = Lab::new();
    let applied = lab
        .try_patch(&[file("f", &"a\n".repeat(10))], patch)
        .unwrap();
    let hunks = &applied.patches[0].files[0].hunks;
    assert_eq!(hunks, &[hunk(1, 0, 0), hunk(6, -2, 0)]);
    let wanted = "a\na\nA\na\na\na\na\na\nA\na\na\na\n";
    assert_eq!(lab.content(applied.tree, "f"), wanted.as_bytes());
}

#[test]
fn equal_places_are_refused() {
    let block = "{\n\tone();\n}\n";
    let patch = "--- a/f\n+++ b/f\n@@ -6,3 +6,3 @@\n {\n-\tone();\n+\ttwo();\n }\n";
    // Blocks at 3 and 9, three lines to either side of where the patch points.
    let tie = format!("1\n2\n{block}6\n7\n8\n{block}12\n");
    match Lab::new().try_patch(&[file("f", &tie)], patch).unwrap_err() {
        ApplyError::Ambiguous { lines, fuzz, .. } => assert_eq!((lines, fuzz), (vec![3, 9], 0)),
        other => panic!("{other}"),
    }
    // Blocks at 4 and 9: the nearer one is taken, and it is told how far it was.
    let near = format!("1\n2\n3\n{block}7\n8\n{block}12\n");
    let applied = Lab::new().try_patch(&[file("f", &near)], patch).unwrap();
    assert_eq!(applied.patches[0].files[0].hunks, [hunk(4, -2, 0)]);
    // With fuzz, a second place is refused even where it is farther away.
    let fuzzy = "--- a/f\n+++ b/f\n@@ -6,5 +6,5 @@\n start\n {\n-\tone();\n+\ttwo();\n }\n end\n";
    let error = Lab::new()
        .try_patch(&[file("f", &near)], fuzzy)
        .unwrap_err();
    match error {
        ApplyError::Ambiguous { lines, fuzz, .. } => assert_eq!((lines, fuzz), (vec![3, 8], 1)),
        other => panic!("{other}"),
    }
}

#[test]
fn an_insertion_without_context_needs_the_very_file() {
    let plain = "--- a/f\n+++ b/f\n@@ -2,0 +3 @@\n+new\n";
    let error = Lab::new()
        .try_patch(&[file("f", "1\n2\n3\n")], plain)
        .unwrap_err();
    assert!(
        matches!(error, ApplyError::Unplaceable { line: 2, .. }),
        "{error}"
    );
    // 01e79c32a8c99c557f0757da7cb6d65b3414466d is the blob "1\n2\n3\n".
    let git = format!("diff --git a/f b/f\nindex 01e79c3..0000000 100644\n{plain}");
    let lab = Lab::new();
    let applied = lab.try_patch(&[file("f", "1\n2\n3\n")], &git).unwrap();
    assert_eq!(lab.content(applied.tree, "f"), b"1\n2\nnew\n3\n");
}

#[test]
fn an_applied_patch_is_recognised() {
    let all = numbers(30);
    let lab = Lab::new();
    let once = lab.try_patch(&[file("f", &all)], TWO_HUNKS).unwrap();
    let patched = String::from_utf8(lab.content(once.tree, "f")).unwrap();
    for content in [patched.clone(), format!("moved\n{patched}")] {
        let error = lab
            .try_patch(&[file("f", &content)], TWO_HUNKS)
            .unwrap_err();
        assert!(
            matches!(error, ApplyError::AlreadyApplied { .. }),
            "{error}"
        );
        assert!(error.is_patch_fault());
    }
    // Its lines also stand elsewhere, where it could be applied once more.
    let again = format!("{patched}{}", numbers(30));
    let error = lab.try_patch(&[file("f", &again)], TWO_HUNKS).unwrap_err();
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
}

#[test]
fn files_come_go_and_move() {
    let files: &[File] = &[
        file("Makefile", "all:\n"),
        file("dir/only", "1\n2\n3\n"),
        file("old/name.c", "a\nb\nc\nd\ne\nf\ng\nh\n"),
        file("run", "#!/bin/sh\n"),
    ];
    let patch = "\
diff --git a/dir/only b/dir/only
deleted file mode 100644
index 01e79c3..0000000
--- a/dir/only
+++ /dev/null
@@ -1,3 +0,0 @@
-1
-2
-3
diff --git a/new/deep/file b/new/deep/file
new file mode 100755
index 0000000..257cc56
--- /dev/null
+++ b/new/deep/file
@@ -0,0 +1 @@
+foo
\\ No newline at end of file
diff --git a/new/empty b/new/empty
new file mode 100644
index 0000000..e69de29
diff --git a/old/name.c b/new/name.c
similarity index 80%
rename from old/name.c
rename to new/name.c
index 0000000..1111111 100644
--- a/old/name.c
+++ b/new/name.c
@@ -1,4 +1,4 @@
 a
-b
+B
 c
 d
diff --git a/run b/run
old mode 100644
new mode 100755
";
    let lab = Lab::new();
    let applied = lab.try_patch(files, patch).unwrap();
    // No folder is left behind: `dir` and `old` are gone from the tree.
    let wanted = lab.tree(&[
        file("Makefile", "all:\n"),
        ("new/deep/file", 0o100755, b"foo"),
        file("new/empty", ""),
        file("new/name.c", "a\nB\nc\nd\ne\nf\ng\nh\n"),
        ("run", 0o100755, b"#!/bin/sh\n"),
    ]);
    assert_eq!(applied.tree, wanted);
    assert_eq!(applied.patch_of("new/name.c"), Some("test.patch"));
    assert_eq!(applied.patch_of("dir/only"), Some("test.patch"));
    assert_eq!(applied.patch_of("Makefile"), None);
}

#[test]
fn files_that_are_there_or_not_are_told_apart() {
    let create = "--- /dev/null\n+++ b/d/f\n@@ -0,0 +1 @@\n+mine\n";
    let modify = "--- a/d/g\n+++ b/d/g\n@@ -1 +1 @@\n-1\n+2\n";
    let delete = "--- a/d/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-theirs\n";
    let files: &[File] = &[file("d/f", "theirs\nand more\n"), file("d/h", "mine\n")];
    let lab = Lab::new();
    let error = lab.try_patch(files, create).unwrap_err();
    assert!(matches!(error, ApplyError::FileExists { .. }), "{error}");
    let error = lab
        .try_patch(files, &create.replace("d/f", "d/h"))
        .unwrap_err();
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
    let error = lab.try_patch(files, modify).unwrap_err();
    let text = "test.patch: the tree has no d/g (the patch calls it a/d/g)";
    assert_eq!(error.to_string(), text);
    let error = lab.try_patch(files, delete).unwrap_err();
    assert!(error.is_patch_fault(), "{error}");
}

#[test]
fn line_ends_and_missing_newlines_are_kept() {
    let lab = Lab::new();
    let result = |content: &str, patch: &str| {
        let applied = lab.try_patch(&[file("f", content)], patch).unwrap();
        String::from_utf8(lab.content(applied.tree, "f")).unwrap()
    };
    let no_newline = "\\ No newline at end of file\n";
    let lose = format!("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n 1\n-2\n+2\n{no_newline}");
    assert_eq!(result("1\n2\n", &lose), "1\n2");
    let gain = format!("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n 1\n-2\n{no_newline}+2\n");
    assert_eq!(result("1\n2", &gain), "1\n2\n");
    let keep = format!("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n{no_newline}");
    assert_eq!(result("1\n2", &keep), "one\n2");
    // A diff of a CRLF file: its own lines end in LF, those of the file in CR LF.
    let content = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\r\n+one\r\n 2\r\n";
    assert_eq!(result("1\r\n2\r\n", content), "one\r\n2\r\n");
    // A diff that got CR LF on its way applies to either kind of file.
    let sent = "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n-1\r\n+one\r\n 2\r\n";
    assert_eq!(result("1\n2\n", sent), "one\n2\n");
    assert_eq!(result("1\r\n2\r\n", sent), "one\r\n2\r\n");
}

#[test]
fn a_series_is_one_commit_a_patch_and_repeats() {
    let mail = |n: u32, from: u32| {
        format!(
            "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n\
             From: =?UTF-8?q?J=C3=B6rg?= <j@example.org>\nDate: Tue, 3 Nov 2015 10:20:0{n} +0130\n\
             Subject: [PATCH {n}/2] f: step {n}\n\nWhy step {n}.\n---\n f | 2 +-\n\n\
             diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-{from}\n+{n}\n-- \n2.47.3\n\n"
        )
    };
    let patches = read("series.mbox", (mail(1, 0) + &mail(2, 1)).as_bytes())
        .unwrap()
        .patches;
    let commits: Vec<Vec<Oid>> = (0..2)
        .map(|_| {
            let lab = Lab::new();
            let base = lab.commit(&[file("f", "0\n")]);
            let applied = apply(&lab.repo, base, &patches).unwrap();
            assert_eq!(lab.content(applied.tree, "f"), b"2\n");
            let last = lab.repo.find_commit(applied.commit).unwrap();
            assert_eq!(last.message(), Ok("f: step 2\n\nWhy step 2.\n"));
            let (author, committer) = (last.author(), last.committer());
            assert_eq!(
                (author.name(), author.email()),
                (Ok("Jörg"), Ok("j@example.org"))
            );
            // 2015-11-03 10:20:02 +0130 is 08:50:02 UTC.
            assert_eq!(author.when(), Time::new(1_446_540_602, 90));
            assert_eq!(committer.when(), author.when());
            assert_eq!(committer.email(), Ok("ktrial@localhost"));
            let first = last.parent(0).unwrap();
            assert_eq!(first.parent_id(0), Ok(base));
            assert_eq!(applied.patches[0].commit, first.id());
            assert_eq!(applied.patch_of("f"), Some("series.mbox#2"));
            applied.patches.iter().map(|patch| patch.commit).collect()
        })
        .collect();
    assert_eq!(commits[0], commits[1]);
}

#[test]
fn an_empty_series_is_its_base() {
    let lab = Lab::new();
    let base = lab.commit(&[file("f", "1\n")]);
    let applied = apply(&lab.repo, base, &[]).unwrap();
    assert_eq!(applied.commit, base);
    assert_eq!(applied.tree, lab.tree(&[file("f", "1\n")]));
    assert!(applied.patches.is_empty());
}

#[test]
fn a_missing_base_is_the_hosts_fault() {
    let lab = Lab::new();
    let error = apply(&lab.repo, Oid::ZERO_SHA1, &[]).unwrap_err();
    assert!(!error.is_patch_fault(), "{error}");
}

/// Half a million equal lines, and hunks that fit nowhere: linear, not quadratic.
#[test]
fn searching_stays_fast_where_all_lines_are_alike() {
    let content = "\n".repeat(500_000);
    let blank = " \n".repeat(20_000);
    let patch =
        format!("--- a/f\n+++ b/f\n@@ -1000,40001 +1000,40002 @@\n{blank}-x\n+y\n+z\n{blank}");
    let start = std::time::Instant::now();
    let error = Lab::new()
        .try_patch(&[file("f", &content)], &patch)
        .unwrap_err();
    assert!(matches!(error, ApplyError::HunkFailed(_)));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// As in git, where one section of a patch never does this.
#[test]
fn a_file_does_not_turn_into_a_link() {
    let lab = Lab::new();
    let patch = "diff --git a/f b/f\nold mode 100644\nnew mode 120000\n";
    let error = lab
        .try_patch(&[file("f", "/etc/passwd")], patch)
        .unwrap_err();
    assert!(matches!(error, ApplyError::UnsafePath { .. }), "{error}");
}
