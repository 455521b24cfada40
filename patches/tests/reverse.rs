//! Patches the other way round: applied and taken back, the tree is as it was.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{File, Lab, file, numbers};
use ktrial_patches::apply::{ApplyError, apply};
use ktrial_patches::read::read;
use ktrial_patches::{Change, Patch, Trailers};

fn one(text: &str) -> Patch {
    read("p", text.as_bytes()).unwrap().patches.remove(0)
}

/// Applies the patch to these files and takes it back; returns the tree between.
fn there_and_back(files: &[File], text: &str) -> git2::Oid {
    let lab = Lab::new();
    let patch = one(text);
    let there = apply(&lab.repo, lab.commit(files), std::slice::from_ref(&patch)).unwrap();
    let reversed = patch.reversed().unwrap();
    let back = apply(&lab.repo, there.commit, &[reversed]);
    let back = back.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(back.tree, lab.tree(files), "{text}");
    assert_ne!(there.tree, back.tree);
    there.tree
}

/// One for each kind of change, as `git diff -M -C --find-copies-harder` writes them.
#[test]
fn every_kind_of_change() {
    let eight = numbers(8);
    let files: &[File] = &[
        file("f", &eight),
        file("gone", "1\n2\n"),
        ("link", 0o120000, b"f"),
        ("run", 0o100755, b"#!/bin/sh\n"),
        ("tail", 0o100644, b"1\n2"),
    ];
    let hunk = "@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n";
    let changes = [
        format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n{hunk}"),
        "diff --git a/run b/run\nold mode 100755\nnew mode 100644\n".to_owned(),
        "diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n\
         @@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
            .to_owned(),
        "diff --git a/d/e b/d/e\nnew file mode 100644\nindex 0000000..e69de29\n".to_owned(),
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n\
         @@ -1,2 +0,0 @@\n-1\n-2\n"
            .to_owned(),
        "diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n-f\n\\ No newline at end of file\n"
            .to_owned(),
        format!(
            "diff --git a/f b/d/g\nold mode 100644\nnew mode 100755\nsimilarity index 80%\n\
             rename from f\nrename to d/g\n--- a/f\n+++ b/d/g\n{hunk}"
        ),
        "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n".to_owned(),
        format!(
            "diff --git a/f b/g\nsimilarity index 80%\ncopy from f\ncopy to g\n\
             --- a/f\n+++ b/g\n{hunk}"
        ),
        "diff --git a/tail b/tail\n--- a/tail\n+++ b/tail\n@@ -1,2 +1,3 @@\n 1\n-2\n\
         \\ No newline at end of file\n+2\n+3\n"
            .to_owned(),
    ];
    for change in &changes {
        there_and_back(files, change);
    }
    // All at once, but for the two that use `f` under its old name a second time.
    let some = [0, 1, 2, 3, 4, 5, 9].map(|index| changes[index].as_str());
    there_and_back(files, &some.concat());
}

/// `git apply -R` on the tree that the patch gives: the same files. Two
/// things git does not do: it takes no copy back, and forgets (2.47.3) that a file
/// which comes back was executable.
#[test]
fn git_takes_the_same_back() {
    let all = numbers(8);
    let patched = all.replace("2\n", "two\n");
    let patch = "diff --git a/f b/d/g\nold mode 100644\nnew mode 100755\nsimilarity index 80%\n\
        rename from f\nrename to d/g\n--- a/f\n+++ b/d/g\n\
        @@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n\
        diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n\
        @@ -1 +0,0 @@\n-1\n\\ No newline at end of file\n\
        diff --git a/new b/new\nnew file mode 100644\nindex 0000000..e69de29\n";
    let after: &[File] = &[("d/g", 0o100755, patched.as_bytes()), file("new", "")];
    let lab = Lab::new();
    let back = apply(
        &lab.repo,
        lab.commit(after),
        &[one(patch).reversed().unwrap()],
    )
    .unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("d")).unwrap();
    std::fs::write(path("d/g"), &patched).unwrap();
    std::fs::write(path("new"), "").unwrap();
    std::fs::write(path("p"), patch).unwrap();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        let output = git.current_dir(folder.path()).args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q", "."]);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path("d/g"), executable).unwrap();
    git(&["add", "d", "new"]);
    git(&["apply", "-R", "--index", "p"]);
    assert_eq!(git(&["write-tree"]).trim(), back.tree.to_string());
}

/// A plain diff, and the same file twice in one patch: the second change goes first.
#[test]
fn plain_diffs_and_the_order_of_files() {
    let step = |from: u32, to: u32| format!("--- f\n+++ f\n@@ -1 +1 @@\n-{from}\n+{to}\n");
    there_and_back(&[file("f", "1\n")], &(step(1, 2) + &step(2, 3)));
    let made = "--- new\t1970-01-01 00:00:00\n+++ new\t2006-05-14 05:34:02\n@@ -0,0 +1 @@\n+1\n";
    there_and_back(&[file("f", "1\n")], made);
}

/// A copy that was changed since is not removed.
#[test]
fn a_copy_is_removed_only_as_it_was_made() {
    let copy = one("diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n");
    let lab = Lab::new();
    let base = lab.commit(&[file("f", "1\n"), file("g", "1\n2\n")]);
    let error = apply(&lab.repo, base, &[copy.reversed().unwrap()]).unwrap_err();
    assert!(matches!(error, ApplyError::NotEmptied { .. }), "{error}");
    assert_eq!(copy.reversed().unwrap().files[0].change, Change::Delete);
}

#[test]
fn what_the_patch_does_not_have_is_told() {
    let cases = [
        (
            "diff --git a/f b/f\ndeleted file mode 100644\nindex 01e79c3..0000000\n",
            "p: can't be reversed: it removes a file without showing its lines, for a/f",
        ),
        (
            "diff --git a/f b/f\nnew mode 100755\n",
            "p: can't be reversed: it has a new mode without the old one, for b/f",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(one(text).reversed().unwrap_err().to_string(), message);
    }
    // An empty file has no lines to show (e69de29 is its blob).
    let empty = "diff --git a/f b/f\ndeleted file mode 100755\nindex e69de29..0000000\n";
    there_and_back(&[("f", 0o100755, b""), file("g", "1\n")], empty);
}

/// The words are those of `git revert` 2.43 and newer.
#[test]
fn a_reversed_patch_says_so() {
    let mut patch = one(
        "From: A <a@example.org>\nDate: Thu, 1 Jan 1970 00:00:10 +0000\nSubject: [PATCH] f: two\n\n\
         Why.\n---\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n",
    );
    patch.trailers = Trailers {
        base_commit: Some("1".repeat(40)),
        ..Trailers::default()
    };
    let reversed = patch.reversed().unwrap();
    assert_eq!(reversed.header.subject, "Revert \"f: two\"");
    assert_eq!(reversed.header.message, "Why.");
    assert_eq!(
        (reversed.header.author, reversed.trailers.base_commit),
        (None, None)
    );
    let again = patch.reversed().unwrap().reversed().unwrap();
    assert_eq!(again.header.subject, "Reapply \"f: two\"");
    assert_eq!(again.files, patch.files);
}
