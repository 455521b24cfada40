//! Reading: mails, mboxes and plain diffs, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ktrial_patches::read::{ReadError, ReadErrorKind, read};
use ktrial_patches::{Change, Date, LineKind, Patch, Person};

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
fn a_mail_from_format_patch() {
    let patch = one(&format!(
        "From 2f0f2ef0 Mon Sep 17 00:00:00 2001\nFrom: \"Doe, Jane\" <jane@example.org>\n\
         Date: Thu, 29 Oct 2015 05:35:19 -0700\nSubject: [PATCH v2 1/3] fs/file: a long subject \
         that\n git folds\n\nFirst line.\n\nSigned-off-by: Jane\n---\nNot for the log.\n\n\
         \x20f | 2 +-\n 1 file changed\n\n{DIFF}-- \n2.47.3\n\n"
    ));
    let header = &patch.header;
    assert_eq!(header.subject, "fs/file: a long subject that git folds");
    assert_eq!(header.message, "First line.\n\nSigned-off-by: Jane");
    let (name, email) = ("Doe, Jane".to_owned(), "jane@example.org".to_owned());
    assert_eq!(header.author, Some(Person { name, email }));
    // `date -d 'Thu, 29 Oct 2015 05:35:19 -0700' +%s`
    let (seconds, offset_minutes) = (1_446_122_119, -420);
    assert_eq!(
        header.date,
        Some(Date {
            seconds,
            offset_minutes
        })
    );
    let file = &patch.files[0];
    assert_eq!(
        (file.old.as_deref(), file.new.as_deref()),
        (Some("a/f"), Some("b/f"))
    );
    assert_eq!((file.change, file.strip), (Change::Modify, Some(1)));
    assert_eq!(file.old_blob.as_deref(), Some("01e79c3"));
    let hunk = &file.hunks[0];
    assert_eq!(
        (
            hunk.old_start,
            hunk.old_count,
            hunk.new_start,
            hunk.new_count
        ),
        (1, 3, 1, 3)
    );
    assert_eq!(hunk.heading, "heading");
    let lines: Vec<(LineKind, &[u8])> = hunk.lines.iter().map(|l| (l.kind, &l.bytes[..])).collect();
    let wanted: [(LineKind, &[u8]); 4] = [
        (LineKind::Context, b"1\n"),
        (LineKind::Removed, b"2\n"),
        (LineKind::Added, b"two\n"),
        (LineKind::Context, b"3\n"),
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn the_author_in_the_body_wins() {
    let patch = one(&format!(
        "From: List <list@example.org>\nSubject: Re: [PATCH] [net] x: y\n\n\
         From: =?UTF-8?Q?Andr=C3=A9?= <andre@example.org>\nDate: Thu, 1 Jan 1970 00:00:10 +0000\n\n\
         Why.\n---\n{DIFF}"
    ));
    let (name, email) = ("André".to_owned(), "andre@example.org".to_owned());
    assert_eq!(patch.header.author, Some(Person { name, email }));
    assert_eq!(patch.header.date.map(|date| date.seconds), Some(10));
    assert_eq!(
        (&patch.header.subject[..], &patch.header.message[..]),
        ("x: y", "Why.")
    );
}

#[test]
fn transfer_encodings_are_undone_and_bytes_kept() {
    let head = "From: A <a@example.org>\nSubject: s\nMIME-Version: 1.0\n\
        Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: ";
    // The added line is `+caf\xe9 = 1`, in Latin-1, and stays so.
    let quoted = format!(
        "{head}quoted-printable\n\nCaf=E9 =3D message.\n---\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+caf=E9 =\n=3D 1\n"
    );
    // printf 'Hi\n---\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+caf\xe9 = 1\n' | base64
    let base64 = format!(
        "{head}base64\n\nSGkKLS0tCi0tLSBhL2YKKysrIGIvZgpAQCAtMSArMSBAQAoteAorY2Fm6SA9IDEK\n"
    );
    for mail in [&quoted, &base64] {
        let patch = one(mail);
        assert_eq!(patch.files[0].hunks[0].lines[1].bytes, b"caf\xe9 = 1\n");
    }
    assert_eq!(one(&quoted).header.message, "Café = message.");
}

#[test]
fn an_mbox_of_several_in_file_order() {
    let mail = |subject: &str, body: &str| {
        format!(
            "From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: {subject}\n\n{body}\n"
        )
    };
    let mbox = mail("[PATCH 0/2] the series", "Cover.\n")
        + &mail(
            "[PATCH 1/2] one",
            &format!("From here on it is fast.\n---\n{DIFF}-- \n2.4\n"),
        )
        + &mail("[PATCH 2/2] two", &format!("---\n{DIFF}-- \n2.4\n"));
    let patches = read("m.mbox", mbox.as_bytes()).unwrap().patches;
    let names: Vec<_> = patches
        .iter()
        .map(|p| (&p.name[..], &p.header.subject[..]))
        .collect();
    assert_eq!(names, [("m.mbox", "one"), ("m.mbox#2", "two")]);
    assert_eq!(patches[0].header.message, "From here on it is fast.");
    // A mail without a diff that is no cover letter is not left out in silence.
    let reply = mbox + &mail("Re: [PATCH 1/2] one", "Looks good.\n");
    let error = read("m.mbox", reply.as_bytes()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::NoDiff);
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
         diff --git a/x b/z\nsimilarity index 100%\ncopy from x\ncopy to z\n\
         diff --git a/only-white b/only-white\nindex 1111111..2222222 100644\n",
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
    let short = refused(&format!("{head}@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n"));
    assert_eq!(short.line, 8);
    let missing = ReadErrorKind::HunkTooShort {
        old: 4,
        new: 4,
        old_left: 1,
        new_left: 1,
    };
    assert_eq!(short.kind, missing);
    let long = refused(&format!("{head}@@ -1,2 +1,2 @@\n 1\n-2\n+two\n 3\n+lost\n"));
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
        (String::new(), "p:1: no diff found"),
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

#[test]
fn a_nul_in_a_mail_is_the_patchs_fault() {
    let mail = b"From: A <a@b>\nSubject: [PATCH] x\n\nbo\0dy\n---\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
    let error = read("nul.patch", mail).unwrap_err();
    assert!(error.to_string().contains("NUL"), "{error}");
}
