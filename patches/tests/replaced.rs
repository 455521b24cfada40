//! A file in the place of a folder, and a folder in the place of a file, as git
//! writes and applies them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::process::Command;

use common::{File, Lab, file};
use git2::Oid;
use ktrial_patches::apply::{ApplyError, apply};
use ktrial_patches::read::read;

/// The files before and after.
const CASES: [(&str, &[File], &[File]); 6] = [
    (
        "a file for a folder",
        &[file("d/e/x", "1\n"), file("d/y", "2\n"), file("z", "3\n")],
        &[file("d", "4\n"), file("z", "3\n")],
    ),
    (
        "a folder for a file",
        &[file("d", "1\n"), file("d.c", "3\n")],
        &[file("d/e/x", "2\n"), file("d/y", "4\n"), file("d.c", "3\n")],
    ),
    (
        "a file moved into a folder of its name",
        &[file("d", "1\n2\n3\n"), file("z", "3\n")],
        &[file("d/x", "1\n2\n3\n"), file("z", "3\n")],
    ),
    (
        "the only file of a folder moved to its name",
        &[file("d/e/x", "1\n2\n3\n"), file("z", "3\n")],
        &[file("d", "1\n2\n3\n"), file("z", "3\n")],
    ),
    (
        "a folder for a symbolic link",
        &[("d", 0o120000, b"z"), file("z", "3\n")],
        &[file("d/x", "1\n"), file("z", "3\n")],
    ),
    (
        "a symbolic link for a folder",
        &[file("d/x", "1\n"), file("z", "3\n")],
        &[("d", 0o120000, b"z"), file("z", "3\n")],
    ),
];

fn git(lab: &Lab, args: &[&str]) -> Vec<u8> {
    let mut git = Command::new("git");
    let output = git.current_dir(lab.path()).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    output.stdout
}

/// The tree that `git apply` makes of the patch.
fn by_git(lab: &Lab, before: Oid, patch: &[u8]) -> String {
    std::fs::write(lab.path().join("p"), patch).unwrap();
    git(lab, &["read-tree", &before.to_string()]);
    git(lab, &["apply", "--cached", "p"]);
    let tree = git(lab, &["write-tree"]);
    String::from_utf8(tree).unwrap().trim().to_owned()
}

#[test]
fn what_git_can_replace_is_replaced() {
    for (name, before, after) in CASES {
        let lab = Lab::new();
        let (old, new) = (lab.tree(before), lab.tree(after));
        let trees = [old.to_string(), new.to_string()];
        let diff = git(&lab, &["diff-tree", "-p", "-M", &trees[0], &trees[1]]);
        assert_eq!(by_git(&lab, old, &diff), trees[1], "{name}");
        let patch = read("p", &diff).unwrap().patches.remove(0);
        let done = apply(&lab.repo, lab.commit(before), std::slice::from_ref(&patch));
        let done = done.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(done.tree, new, "{name}");
        let back = apply(&lab.repo, lab.commit(after), &[patch.reversed().unwrap()]);
        let back = back.unwrap_or_else(|error| panic!("{name}, reversed: {error}"));
        assert_eq!(back.tree, old, "{name}, reversed");
    }
}

/// `git apply` refuses it as well.
#[test]
fn a_folder_with_another_file_left_is_not_replaced() {
    let lab = Lab::new();
    let patch = "diff --git a/d b/d\nnew file mode 100644\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+1\n\
                 diff --git a/d/x b/d/x\ndeleted file mode 100644\n--- a/d/x\n+++ /dev/null\n\
                 @@ -1 +0,0 @@\n-1\n";
    let files = [file("d/x", "1\n"), file("d/y", "2\n")];
    let error = lab.try_patch(&files, patch).unwrap_err();
    let why = "a folder stands there";
    assert!(
        matches!(&error, ApplyError::UnsafePath { path, why: said, .. } if path == "d" && *said == why),
        "{error}"
    );
}
