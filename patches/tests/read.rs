//! Reading plain diffs, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_patches::read::{ReadError, ReadErrorKind, read};
use ktrial_patches::{Change, Patch};

const DIFF: &str = "diff --git a/f b/f\nindex 01e79c3..0b66db1 100644\n--- a/f\n+++ b/f\n\
    @@ -1,3 +1,3 @@ heading\n 1\n-2\n+two\n 3\n";

fn one(text: &str) -> Patch {
    let mut patches = read("p", text.as_bytes()).unwrap().patches;
    assert_eq!(patches.len(), 1);
    patches.remove(0)
}

fn refused(text: &str) -> ReadError {
    read("p", text.as_bytes()).unwrap_err()
}

#[test]
fn plain_diffs() {
    let patch = one(
        "Make it two.\n\nBecause.\n\n--- f.orig\t2015-10-29 05:35:19\n+++ f\t2015-10-30\n@@ -1 +1 @@\n-1\n+2\n",
    );
    assert_eq!(
        (&patch.header.subject[..], &patch.header.message[..]),
        ("Make it two.", "Because.")
    );
    assert_eq!(patch.header.author, None);
    let file = &patch.files[0];
    assert_eq!(
        (file.old.as_deref(), file.new.as_deref()),
        (Some("f.orig"), Some("f"))
    );
    assert_eq!(file.strip, None);
    // An absent file, by the date that `diff -N` gives it.
    let made =
        one("--- f\t1970-01-01 01:00:00.000000000 +0100\n+++ f\t2015-10-30\n@@ -0,0 +1 @@\n+2\n");
    assert_eq!(made.files[0].change, Change::Create);
    assert_eq!(made.header.subject, "p");
}

#[test]
fn git_headers() {
    let patch = one(
        "diff --git a/a file b/a file\nold mode 100644\nnew mode 100755\n\
         diff --git \"a/t\\303\\244b\\t\" \"b/t\\303\\244b\\t\"\nnew file mode 100644\nindex 0000000..e69de29\n\
         diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n\
         diff --git a/x b/z\nsimilarity index 100%\ncopy from x\ncopy to z\n",
    );
    let found: Vec<_> = patch
        .files
        .iter()
        .map(|f| {
            (
                f.change,
                f.old.as_deref(),
                f.new.as_deref(),
                f.new_mode,
                f.strip,
            )
        })
        .collect();
    let wanted = [
        (
            Change::Modify,
            Some("a/a file"),
            Some("b/a file"),
            Some(0o100755),
            Some(1),
        ),
        (
            Change::Create,
            None,
            Some("b/täb\t"),
            Some(0o100644),
            Some(1),
        ),
        (Change::Rename, Some("x"), Some("y"), None, Some(0)),
        (Change::Copy, Some("x"), Some("z"), None, Some(0)),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn counts_must_match_the_lines() {
    let head = "--- a/f\n+++ b/f\n";
    let short = refused(&format!("{head}@@ -1,8 +1,8 @@\n 1\n-2\n+two\n 3\n"));
    assert_eq!(short.line, 8);
    let missing = ReadErrorKind::HunkTooShort {
        old: 8,
        new: 8,
        old_left: 5,
        new_left: 5,
    };
    assert_eq!(short.kind, missing);
    let long = refused(&format!(
        "{head}@@ -1,2 +1,2 @@\n 1\n-2\n+two\n 3\n+lost\nrubbish\n"
    ));
    assert_eq!(
        (long.line, long.kind),
        (8, ReadErrorKind::HunkTooLong("+lost".to_owned()))
    );
    let broken = refused(&format!("{head}@@ -1,3 +1,3 @@\n 1\nrubbish\n 3\n"));
    assert_eq!(broken.line, 5);
    let huge = refused(&format!("{head}@@ -1,4000000000 +1,4000000000 @@\n 1\n"));
    assert!(
        matches!(huge.kind, ReadErrorKind::HunkTooShort { .. }),
        "{huge}"
    );
    for range in [
        "-1,99999999999999999999 +1",
        "-0,3 +1,3",
        "-1,x +1",
        "-1 1",
        "-+1,2 +1,2",
    ] {
        let error = refused(&format!("{head}@@ {range} @@\n 1\n"));
        assert!(
            matches!(error.kind, ReadErrorKind::Expected { .. }),
            "{range}: {error}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let git = "diff --git a/f b/f\nindex 1111111..2222222 100644\n";
    let cases = [
        (
            format!("{git}GIT binary patch\nliteral 1\n"),
            "p:5: a binary change without its lines",
        ),
        (
            format!("{git}Binary files a/f and b/f differ\n"),
            "p:3: a change of a binary file that is not in the patch",
        ),
        (
            "---\n***************\n*** 1 ****\n! 1\n--- 1 ----\n! 2\n".to_owned(),
            "p:2: expected the lines `*** old name`",
        ),
        (
            "diff --cc f\nindex 1,2..3\n@@@ -1,1 -1,1 +1,1 @@@\n".to_owned(),
            "p:1: the combined diff",
        ),
        (
            "---\n@@ -1 +1 @@\n-1\n+2\n".to_owned(),
            "p:2: expected the lines `--- old name`",
        ),
        ("Hello.\n".to_owned(), "p:1: no diff found"),
        (String::new(), "p:1: it is empty"),
        ("\n \r\n".to_owned(), "p:1: it is empty"),
        (
            "diff --git a/s b/s\nnew file mode 160000\n".to_owned(),
            "p:2: a change of a submodule",
        ),
        ("--- a/f\n+++ b/f\n".to_owned(), "p:3: expected a hunk"),
        (
            "--- a/f\n+++ \n".to_owned(),
            "p:2: bad file name: it is empty",
        ),
    ];
    for (text, message) in &cases {
        let error = refused(text).to_string();
        assert!(
            error.starts_with(message),
            "{error:?} should start with {message:?}"
        );
    }
    let bytes = b"--- a/\xff\n+++ b/\xff\n@@ -1 +1 @@\n-1\n+2\n";
    let error = read("p", bytes).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::BadPath("it is not UTF-8"));
}

#[test]
fn compressed_files_are_named() {
    // The first bytes by RFC 1952, RFC 8878, the xz format's section 2.1.1.1, and of bzip2.
    let cases: [(&[u8], &str); 4] = [
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"\xfd\x37\x7a\x58\x5a\0\0\x04", "xz"),
        (b"\x28\xb5\x2f\xfd\x24", "zstd"),
        (b"BZh91AY&SY", "bzip2"),
    ];
    for (bytes, program) in cases {
        let error = read("p", bytes).unwrap_err();
        let wanted = format!("p:1: it is compressed with {program}; unpack it first");
        assert_eq!(error.to_string(), wanted);
    }
    let error = refused("Hello.\n").to_string();
    for kind in ["mail", "thread", "diff", "web page", "bundle"] {
        assert!(error.contains(kind), "{error}");
    }
}

#[test]
fn a_huge_patch_is_refused_before_it_is_taken_apart() {
    let error = read("p", &vec![b'\n'; (64 << 20) + 1]).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::TooLarge(67_108_865));
    let lines = "--- a/f\n+++ b/f\n@@ -0,0 +1,9000000 @@\n".to_owned() + &"+\n".repeat(9_000_000);
    let error = refused(&lines);
    assert!(error.to_string().contains("4,000,000 lines"), "{error}");
}

#[test]
fn lines_of_errors_count_in_the_file() {
    let mail =
        "\n\nFrom: A <a@example.org>\nSubject: s\n\nText.\n---\n\n--- a/f\n+++ b/f\nno hunk\n";
    assert_eq!(refused(mail).line, 11);
    let mbox = format!(
        "From x Mon Sep 17 00:00:00 2001\nSubject: s\n\n{DIFF}\nFrom x Mon Sep 17 00:00:00 2001\n{}",
        &mail[2..]
    );
    assert_eq!(refused(&mbox).line, 3 + 10 + 1 + 9);
}

/// git's apply.c takes a line of 12 bytes or more that starts with `\ `, as it
/// may be in any language; a macro's last backslash, on a line of its own, is none.
#[test]
fn only_a_whole_sentence_says_that_no_newline_follows() {
    let with = |below: &str| format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n{below}");
    let last = |below: &str| {
        let patch = read("p", with(below).as_bytes()).unwrap().patches.remove(0);
        patch.files[0].hunks[0].lines[1].bytes.clone()
    };
    assert_eq!(last("\\ Kein Zeilenende\n"), b"2");
    assert_eq!(last(""), b"2\n");
    assert_eq!(last("\\ \n"), b"2\n");
    assert_eq!(last("\\ kein End\n"), b"2\n");
    // It may be the rest of the hunk's last line, so it is not passed over.
    let kind = refused(&with("\\\n")).kind;
    assert!(matches!(kind, ReadErrorKind::Doubtful(_)), "{kind}");
}
