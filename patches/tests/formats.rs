//! Every form of diff but context diffs: CVS, Subversion, git's headers; what a
//! name is and where its date begins; what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{File, Lab, file};
use ktrial_patches::read::{ReadError, read};
use ktrial_patches::{Change, FilePatch};

fn files(text: &str) -> Vec<FilePatch> {
    let mut patches = read("p", text.as_bytes()).unwrap().patches;
    assert_eq!(patches.len(), 1);
    patches.remove(0).files
}

fn refused(text: &str) -> ReadError {
    read("p", text.as_bytes()).unwrap_err()
}

/// The names that two lines give, and what happens to the file.
fn names(old: &str, new: &str, hunk: &str) -> (Option<String>, Option<String>, Change) {
    let file = files(&format!("--- {old}\n+++ {new}\n{hunk}")).remove(0);
    (file.old, file.new, file.change)
}

/// Dates as `diff`, CVS and Subversion write them, behind a tab and behind blanks.
#[test]
fn a_name_ends_where_its_date_begins() {
    let dates = [
        "Sat Mar 11 12:48:19 2006",
        "Thu Jan 01 00:00:00 2004 +0000",
        "2006-05-14 05:34:02.000000000 +0200",
        "2006-05-14 05:34:02 UTC",
        "14 May 2006 05:34:02 -0000\t1.12",
        "14 May 2006 05:34:02 -0000 1.12",
        "1 Jun 2006 05:34:02 -0000\t1.12.2.1",
        "2006/05/14 05:34:02\t1.12",
        "Sat, 11 Mar 2006 12:48:19 +0000",
        "(revision 123)",
        "(working copy)",
        "(.../trunk/sys/kern/x.c) (revision 5)",
        "Thu Feb 16 21:31:23 2017\t(r313755)",
        "(r313755)",
    ];
    let name = "/usr/src/sys_clean/kern/kern_resource.c";
    for date in dates {
        for between in ["\t", " ", "      "] {
            let line = format!("{name}{between}{date}");
            let (old, new, _) = names(&line, &line, "@@ -1 +1 @@\n-1\n+2\n");
            assert_eq!(
                (old.as_deref(), new.as_deref()),
                (Some(name), Some(name)),
                "{line:?}"
            );
        }
    }
    // What only looks like a date is part of the name; so is everything before git's tab.
    for name in [
        "notes from 2006-05-14",
        "May 14 2006",
        "a (copy)",
        "Sat Mar 11",
        "x 12:48:19",
    ] {
        let (old, ..) = names(name, name, "@@ -1 +1 @@\n-1\n+2\n");
        assert_eq!(old.as_deref(), Some(name));
    }
    let (old, ..) = names("a 2006-05-14 05:34:02 b\t", "x\t", "@@ -1 +1 @@\n-1\n+2\n");
    assert_eq!(old.as_deref(), Some("a 2006-05-14 05:34:02 b"));
    // GNU diff quotes a name with a quotation mark in it, and puts the date behind.
    let (old, ..) = names(
        "\"a\\\"b\"\t2006-05-14 05:34:02",
        "x",
        "@@ -1 +1 @@\n-1\n+2\n",
    );
    assert_eq!(old.as_deref(), Some("a\"b"));
}

#[test]
fn a_date_of_1970_is_an_absent_file() {
    let absent = [
        "x\t1970-01-01 01:00:00.000000000 +0100",
        "x Thu Jan 1 00:00:00 1970",
        "x\tWed Dec 31 16:00:00 1969",
        "x\t1 Jan 1970 00:00:00 -0000",
        "x\t(nonexistent)",
        "x (revision 0)",
        "/dev/null\t1 Jan 1970 00:00:00 -0000",
        "/dev/null 2006-05-14 05:34:02",
    ];
    for line in absent {
        let (old, new, change) = names(line, "x\t(working copy)", "@@ -0,0 +1 @@\n+1\n");
        assert_eq!(
            (old, new, change),
            (None, Some("x".to_owned()), Change::Create),
            "{line}"
        );
        let (old, new, change) = names("x\t(revision 7)", line, "@@ -1 +0,0 @@\n-1\n");
        assert_eq!(
            (old, new, change),
            (Some("x".to_owned()), None, Change::Delete),
            "{line}"
        );
    }
    // The shorter of two names is the one in the tree, as GNU patch has it.
    let epoch = "1970-01-01 00:00:00";
    let (old, ..) = names(
        "sys.orig/x 2006-05-14 05:34:02",
        &format!("sys/x {epoch}"),
        "@@ -1 +0,0 @@\n-1\n",
    );
    assert_eq!(old.as_deref(), Some("sys/x"));
    let (_, _, change) = names(&format!("x {epoch}"), "x", "@@ -1 +1 @@\n-1\n+2\n");
    assert_eq!(change, Change::Modify);
}

#[test]
fn cvs_says_the_whole_name_above() {
    let hunk = "@@ -1 +1 @@\n-1\n+2\n";
    let short = "--- kern_exec.c\t14 May 2006 05:34:02 -0000\t1.12\n\
        +++ kern_exec.c\t15 May 2006 06:00:00 -0000\n";
    let equals = "=".repeat(67);
    let cvs = |index: &str, rcs: &str| {
        let file = files(&format!(
            "Index: {index}\n{equals}\nRCS file: {rcs},v\nretrieving revision 1.12\n\
             diff -u -r1.12 kern_exec.c\n{short}{hunk}"
        ));
        (file[0].old.clone().unwrap(), file[0].new.clone().unwrap())
    };
    let whole = "sys/kern/kern_exec.c".to_owned();
    assert_eq!(
        cvs(&whole, "/home/dcvs/src/sys/kern/kern_exec.c"),
        (whole.clone(), whole)
    );
    let whole = "/home/dcvs/src/sys/kern/kern_exec.c".to_owned();
    assert_eq!(cvs("kern_exec.c", &whole), (whole.clone(), whole.clone()));
    let attic = "/home/dcvs/src/sys/kern/Attic/kern_exec.c";
    assert_eq!(cvs("kern_exec.c", attic), (whole.clone(), whole));
    // Another file's name is none; nor is one that stood above another diff.
    let own = "kern_exec.c".to_owned();
    assert_eq!(
        cvs("sys/kern/not_kern_exec.c", "x"),
        (own.clone(), own.clone())
    );
    let two = files(&format!(
        "Index: sys/kern/x.c\n--- x.c\n+++ x.c\n{hunk}{short}{hunk}"
    ));
    assert_eq!(two[1].old, Some(own));
    // `cvs rdiff` puts a revision to the name.
    let (old, ..) = names("src/sys/x.c:1.39\t2006/05/14 05:34:02", "src/sys/x.c", hunk);
    assert_eq!(old.as_deref(), Some("src/sys/x.c"));
}

/// As `svn diff` and `diff -urN` print: their other lines are text.
#[test]
fn what_stands_between_the_files_is_text() {
    let line = "_".repeat(67);
    let equals = "=".repeat(67);
    let text = format!(
        "Index: sys/x.c\n{equals}\n--- sys/x.c\t(revision 123)\n+++ sys/x.c\t(working copy)\n\
         @@ -1 +1 @@\n-1\n+2\n\nProperty changes on: sys/x.c\n{line}\nAdded: svn:eol-style\n\
         ## -0,0 +1 ##\n+native\n\\ No newline at end of property\n\
         Only in sys.orig: y.c\nOnly in sys: z.c\n\
         diff -urN sys.orig/w.c sys/w.c\n--- sys.orig/w.c\t2006-05-14 05:34:02\n\
         +++ sys/w.c\t2006-05-14 05:34:03\n@@ -1 +1 @@\n-1\n+2\n"
    );
    let lab = Lab::new();
    let tree: &[File] = &[file("sys/x.c", "1\n"), file("sys/w.c", "1\n")];
    let applied = lab.try_patch(tree, &text).unwrap();
    let wanted = lab.tree(&[file("sys/x.c", "2\n"), file("sys/w.c", "2\n")]);
    assert_eq!(applied.tree, wanted);
}

#[test]
fn modes_and_blobs_of_gits_headers() {
    let text = "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n\
        diff --git a/f b/f\nindex 01e79c3..0b66db1 100755\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n\
        diff --git a/new b/new\nnew file mode 100755\nindex 0000000..e69de29\n\
        diff --git a/old b/old\ndeleted file mode 120000\nindex e69de29..0000000\n\
        diff --git a/g b/g\nold mode 100755\nnew mode 100644\nindex 01e79c3..0b66db1\n\
        --- a/g\n+++ b/g\n@@ -1 +1 @@\n-1\n+2\n";
    let found = files(text);
    let found: Vec<_> = found
        .iter()
        .map(|f| {
            (
                f.old_mode,
                f.new_mode,
                f.old_blob.as_deref(),
                f.new_blob.as_deref(),
            )
        })
        .collect();
    let wanted = [
        (Some(0o100644), Some(0o100755), None, None),
        // A mode on the index line is what the file has, not what it should get.
        (Some(0o100755), None, Some("01e79c3"), Some("0b66db1")),
        (None, Some(0o100755), None, Some("e69de29")),
        (Some(0o120000), None, Some("e69de29"), None),
        (
            Some(0o100755),
            Some(0o100644),
            Some("01e79c3"),
            Some("0b66db1"),
        ),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn what_would_be_lost_is_refused() {
    let cases = [
        (
            "diff -r x y\n5,6c5\n< a\n< b\n---\n> c\n".to_owned(),
            "p:2: a diff without names and context can't be read; make it with `diff -u`",
        ),
        (
            "diff -r x y\n3a4\n> new\n".to_owned(),
            "p:2: a diff without names",
        ),
        (
            format!(
                "Index: a.bin\n{}\nCannot display: file marked as a binary type.\n",
                "=".repeat(67)
            ),
            "p:3: a change of a binary file that is not in the patch",
        ),
        (
            "diff --git a/s b/s\nindex 1111111..2222222 160000\n--- a/s\n+++ b/s\n".to_owned(),
            "p:2: a change of a submodule",
        ),
        (
            "diff -r a/x b/x\nGIT binary patch\n".to_owned(),
            "p:2: a binary change without its `diff --git` line",
        ),
    ];
    for (text, message) in cases {
        let error = refused(&text).to_string();
        assert!(error.starts_with(message), "{error:?}, {message:?}");
    }
}

/// `git apply` and `git am` 2.47 say "patch with only garbage" of the first three. The mode, the
/// new name and the empty file of the others they make, and lose the content in silence.
#[test]
fn a_file_whose_ids_differ_and_that_has_no_change_is_refused() {
    let good = "diff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n";
    let ids = "index 1234567..89abcde";
    let cases = [
        (format!("{ids} 100644\n"), 2),
        (format!("{ids} 100644\n{good}"), 2),
        (format!("old mode 100644\nnew mode 100755\n{ids}\n"), 4),
        (
            format!("similarity index 90%\nrename from f\nrename to f\n{ids} 100644\n"),
            5,
        ),
        (
            format!("similarity index 90%\ncopy from f\ncopy to f\n{ids} 100644\n"),
            5,
        ),
        (
            "new file mode 100644\nindex 0000000..89abcde\n".to_owned(),
            3,
        ),
    ];
    for (rest, line) in cases {
        let text = format!("diff --git a/f b/f\n{rest}");
        for text in [text.clone(), format!("{good}{text}")] {
            let above = text.find("diff --git a/f").unwrap();
            let error = refused(&text);
            assert_eq!(error.line, line + text[..above].lines().count(), "{error}");
            let message = error.to_string();
            assert!(
                message.contains("f changes, as the two ids here say"),
                "{message}"
            );
        }
    }
    // Names without a hunk: "patch with only garbage" too.
    let names = format!("diff --git a/f b/f\n{ids} 100644\n--- a/f\n+++ b/f\n");
    assert!(
        refused(&names)
            .to_string()
            .starts_with("p:5: expected a hunk")
    );
    // Nothing is lost of a file that is made empty, moved as it is, or not changed at all;
    // e69de29 is the blob of an empty file.
    let whole = [
        "new file mode 100644\nindex 0000000..e69de29\n",
        "similarity index 100%\nrename from f\nrename to h\n",
        "index 1234567..1234567 100644\n",
    ];
    for rest in whole {
        assert!(files(&format!("{good}diff --git a/f b/f\n{rest}")).len() <= 2);
    }
}

#[test]
fn a_name_is_bounded() {
    let long = "x/".repeat(3000);
    let error = refused(&format!("--- {long}\n+++ {long}\n@@ -1 +1 @@\n-1\n+2\n"));
    assert_eq!(
        error.to_string(),
        "p:1: bad file name: it is longer than 4096 bytes"
    );
    // A whole mebibyte of words on a name's line.
    let words = "Mon ".repeat(1 << 18);
    let error = refused(&format!("--- {words}\n+++ {words}\n@@ -1 +1 @@\n-1\n+2\n"));
    assert_eq!(error.line, 1);
}

/// Marks that could each begin a revision, and blanks behind all of them.
#[test]
fn a_hostile_name_is_read_in_bounded_time() {
    let name = "(r1 ".repeat(100_000) + &" ".repeat(400_000);
    let error = refused(&format!("--- a {name}\n+++ b\n@@ -1 +1 @@\n-a\n+b\n"));
    assert!(error.to_string().contains("longer than 4096"), "{error}");
}

/// git and GNU patch want `\ `, with a blank; text behind a patch may begin with anything.
#[test]
fn text_behind_a_patch_does_not_take_its_last_newline() {
    let patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n";
    for tail in ["\\o/\n", "\\begin{document}\n"] {
        let hunks = files(&format!("{patch}{tail}")).remove(0).hunks;
        assert_eq!(hunks[0].lines[1].bytes, b"2\n", "{tail}");
    }
    let hunks = files(&format!("{patch}\\ No newline at end of file\n"))
        .remove(0)
        .hunks;
    assert_eq!(hunks[0].lines[1].bytes, b"2");
}
