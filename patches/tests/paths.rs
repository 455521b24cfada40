//! Which file of the tree a name means, and what may not be touched.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{File, Lab, file};
use ktrial_patches::apply::ApplyError;

#[test]
fn prefixes_are_told_from_the_tree() {
    let bare = "--- fs/x.c\n+++ fs/x.c\n@@ -1 +1 @@\n-1\n+2\n";
    let prefixed = "--- linux-6.1.orig/fs/x.c\n+++ linux-6.1/fs/x.c\n@@ -1 +1 @@\n-1\n+2\n";
    let lab = Lab::new();
    let path = |files: &[File], patch: &str| {
        let applied = lab.try_patch(files, patch);
        applied.map(|applied| applied.patches[0].files[0].path.clone())
    };
    assert_eq!(path(&[file("fs/x.c", "1\n")], bare).unwrap(), "fs/x.c");
    assert_eq!(path(&[file("fs/x.c", "1\n")], prefixed).unwrap(), "fs/x.c");
    assert_eq!(path(&[file("x.c", "1\n")], bare).unwrap(), "x.c");
    let both: &[File] = &[file("fs/x.c", "1\n"), file("x.c", "1\n")];
    let error = path(both, bare).unwrap_err();
    let text = "test.patch: can't tell which file is meant: the tree has both fs/x.c (-p0) \
        and x.c (-p1)";
    assert_eq!(error.to_string(), text);
    // Another file of the series settles it.
    let other = bare.replace("fs/x.c", "fs/y.c");
    let files: &[File] = &[
        file("fs/x.c", "1\n"),
        file("x.c", "1\n"),
        file("fs/y.c", "1\n"),
    ];
    assert_eq!(path(files, &format!("{bare}{other}")).unwrap(), "fs/x.c");
}

#[test]
fn new_files_go_where_their_folder_is() {
    let patch = "--- /dev/null\n+++ b/fs/new.c\n@@ -0,0 +1 @@\n+1\n";
    let lab = Lab::new();
    let path = |patch: &str| {
        let applied = lab.try_patch(&[file("fs/x.c", "1\n")], patch).unwrap();
        applied.patches[0].files[0].path.clone()
    };
    assert_eq!(path(patch), "fs/new.c");
    assert_eq!(path(&patch.replace("b/fs", "fs")), "fs/new.c");
    assert_eq!(path(&patch.replace("b/fs", "b/newdir")), "newdir/new.c");
}

#[test]
fn nothing_outside_the_tree_is_touched() {
    let lab = Lab::new();
    let files: &[File] = &[file("f", "1\n"), ("link", 0o120000, b"/etc")];
    let paths = [
        "/etc/passwd",
        "a/../../etc/passwd",
        "a/./f",
        "a/.git/config",
        "a/.GIT/hooks/x",
        "a/sub/.git /config",
        "a/GIT~1/config",
        "a/.g\u{200c}it/config",
        "a//f",
        "a/link/passwd",
        "a/f/below",
        "\"a/f\\001\"",
    ];
    for path in paths {
        let quoted = path.strip_prefix('"').map(|path| format!("\"b/{path}"));
        let new = quoted.unwrap_or(path.to_owned());
        let patch = format!("--- /dev/null\n+++ {new}\n@@ -0,0 +1 @@\n+x\n");
        let error = lab.try_patch(files, &patch).unwrap_err();
        assert!(
            matches!(error, ApplyError::UnsafePath { .. }),
            "{path}: {error}"
        );
        assert!(error.is_patch_fault());
    }
}

#[test]
fn links_stay_inside_the_tree() {
    let lab = Lab::new();
    let link = |path: &str, target: &str| {
        let patch = format!(
            "diff --git a/{path} b/{path}\nnew file mode 120000\n--- /dev/null\n+++ b/{path}\n\
             @@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
        );
        lab.try_patch(&[file("f", "1\n")], &patch)
    };
    assert!(link("d/inside", "../f").is_ok());
    // What `x/l` is nobody knows: with `x/l -> ../..`, `x/l/../f` is above the tree. A link into
    // git's own folder would let a later write reach a hook.
    for target in [
        "/etc/passwd",
        "../../f",
        "x/../../../f",
        "x/l/../f",
        "../.git",
        ".GIT/hooks",
        "../s/git~1/config",
    ] {
        let error = link("d/outside", target).unwrap_err();
        assert!(
            matches!(error, ApplyError::UnsafePath { .. }),
            "{target}: {error}"
        );
    }
    // A link that the series itself made is not followed either.
    let through = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n\
        +d\n\\ No newline at end of file\ndiff --git a/l/f b/l/f\nnew file mode 100644\n\
        --- /dev/null\n+++ b/l/f\n@@ -0,0 +1 @@\n+x\n";
    let error = lab.try_patch(&[file("f", "1\n")], through).unwrap_err();
    assert!(matches!(error, ApplyError::UnsafePath { .. }), "{error}");
}

/// A change of one line, by these two names.
fn change(old: &str, new: &str) -> String {
    format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-1\n+2\n")
}

/// A new file, by this name.
fn create(new: &str) -> String {
    format!("--- /dev/null\n+++ {new}\n@@ -0,0 +1 @@\n+1\n")
}

/// The paths that the patch touched on a tree of these files, each `1`.
fn touched(tree: &[&str], patch: &str) -> Result<Vec<String>, ApplyError> {
    let files: Vec<File> = tree.iter().map(|path| file(path, "1\n")).collect();
    let applied = Lab::new().try_patch(&files, patch)?;
    let files = applied.patches.iter().flat_map(|patch| &patch.files);
    Ok(files.map(|file| file.path.clone()).collect())
}

/// The names that people's diffs have for sys/kern/x.c, each put on the same tree.
#[test]
fn any_prefix_is_stripped() {
    let tree = [
        "sys/kern/x.c",
        "sys/sys/x.h",
        "bin/cp/cp.c",
        "Makefile",
        "sys/Makefile",
    ];
    let names = [
        ("sys/kern/x.c", "sys/kern/x.c"),
        ("./sys/kern/x.c", "./sys/kern/x.c"),
        ("src/sys/kern/x.c", "src/sys/kern/x.c"),
        ("head/sys/kern/x.c", "head/sys/kern/x.c"),
        ("sys.old/kern/x.c", "sys/kern/x.c"),
        ("sys/kern/x.c.orig", "sys/kern/x.c"),
        ("/usr/src/sys/kern/x.c", "/usr/src/sys/kern/x.c"),
        ("/usr/src/sys_clean/kern/x.c", "/usr/src/sys/kern/x.c"),
        ("/home/me/clean/sys/kern/x.c", "/usr/src/sys/kern/x.c"),
        ("../clean/sys/kern/x.c", "sys/kern/x.c"),
        ("../clean/sys/kern/x.c", "./sys/kern/x.c"),
        ("../../a/b/sys/kern/x.c", "../../a/c/sys/kern/x.c"),
        ("/home/dcvs/src/sys/kern/x.c", "/home/dcvs/src/sys/kern/x.c"),
    ];
    for (old, new) in names {
        let paths = touched(&tree, &change(old, new));
        let paths = paths.unwrap_or_else(|error| panic!("{old}: {error}"));
        assert_eq!(paths, ["sys/kern/x.c"], "{old} {new}");
    }
    let root = touched(&tree, &change("/usr/src/Makefile", "/usr/src/Makefile"));
    assert_eq!(root.unwrap(), ["Makefile"]);
    // The tree's file lies deeper than another of the same last component.
    let deep = touched(
        &tree,
        &change("/usr/src/sys/Makefile", "/usr/src/sys/Makefile"),
    );
    assert_eq!(deep.unwrap(), ["sys/Makefile"]);
}

/// Missing files are not found by their last components.
#[test]
fn another_file_of_the_same_name_is_not_taken() {
    let tree = [
        "Makefile",
        "sys/kern/x.c",
        "platform/pc32/x.c",
        "conf/files",
        "x.c",
    ];
    let missing = [
        "sys/Makefile",
        "sys/dev/foo/Makefile",
        "a/newdir/Makefile",
        "sys/platform/pc32/conf/files",
        "sys/kern/y/x.c",
        "/usr/src/sys/dev/x.c",
    ];
    for name in missing {
        let error = touched(&tree, &change(name, &name.replacen("a/", "b/", 1))).unwrap_err();
        let refused = matches!(
            error,
            ApplyError::NoSuchFile { .. } | ApplyError::UnsafePath { .. }
        );
        assert!(refused, "{name}: {error}");
    }
}

#[test]
fn files_of_one_series_may_have_names_of_different_depth() {
    let tree = ["sys/kern/x.c", "sys/kern/y.c", "bin/cp/cp.c"];
    let mixed = change("/usr/src/sys/kern/x.c", "/usr/src/sys/kern/x.c")
        + &change("sys/kern/y.c", "sys/kern/y.c")
        + &change("a/bin/cp/cp.c", "b/bin/cp/cp.c");
    assert_eq!(
        touched(&tree, &mixed).unwrap(),
        ["sys/kern/x.c", "sys/kern/y.c", "bin/cp/cp.c"]
    );
}

#[test]
fn files_that_come_and_go_follow_the_others() {
    let tree = ["sys/kern/x.c", "sys/kern/gone.c", "new.c"];
    let epoch = "1970-01-01 00:00:00";
    let gone = "@@ -1 +0,0 @@\n-1\n";
    let wanted = ["sys/kern/x.c", "sys/kern/new.c", "sys/kern/gone.c"];
    for (clean, mine) in [
        ("/usr/src/sys", "/usr/src/sys"),
        ("../clean/sys", "sys"),
        ("sys.orig", "sys"),
        ("sys", "sys.mine"),
        ("a/sys", "b/sys"),
    ] {
        let head = change(&format!("{clean}/kern/x.c"), &format!("{mine}/kern/x.c"));
        let absolute = format!(
            "{head}--- {clean}/kern/new.c\t{epoch}\n+++ {mine}/kern/new.c\n@@ -0,0 +1 @@\n+1\n\
             --- {clean}/kern/gone.c\n+++ {mine}/kern/gone.c\t{epoch}\n{gone}"
        );
        let paths = touched(&tree, &absolute);
        let paths = paths.unwrap_or_else(|error| panic!("{clean} {mine}: {error}"));
        assert_eq!(paths, wanted, "{clean} {mine}");
    }
}

/// A series that only makes files: the longest folder that is there.
#[test]
fn new_files_with_a_long_name() {
    let tree = ["sys/sys/param.h", "sys/kern/x.c", "etc/rc"];
    let path = |name: &str| touched(&tree, &create(name)).map(|mut paths| paths.remove(0));
    assert_eq!(path("/usr/src/sys/kern/new.c").unwrap(), "sys/kern/new.c");
    assert_eq!(path("../mine/sys/kern/new.c").unwrap(), "sys/kern/new.c");
    assert_eq!(path("./sys/new/new.c").unwrap(), "sys/new/new.c");
    assert_eq!(path("sys/sys/new.h").unwrap(), "sys/sys/new.h");
    assert_eq!(path("src/sys/kern/new.c").unwrap(), "sys/kern/new.c");
    assert_eq!(path("b/newdir/sys/new.c").unwrap(), "newdir/sys/new.c");
    let error = path("/home/me/new.c").unwrap_err();
    assert!(matches!(error, ApplyError::UnsafePath { .. }), "{error}");
}

#[test]
fn two_files_that_fit_are_told() {
    let tree = ["sys/kern/x.c", "kern/x.c"];
    let name = "/usr/src/sys/kern/x.c";
    let error = touched(&tree, &change(name, name)).unwrap_err();
    let text = "test.patch: can't tell which file is meant: the tree has both sys/kern/x.c (-p3) \
        and kern/x.c (-p4)";
    assert_eq!(error.to_string(), text);
    // So it is for a file that only goes.
    let gone = "--- fs/x.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n";
    let error = touched(&["fs/x.c", "x.c"], gone).unwrap_err();
    assert!(matches!(error, ApplyError::AmbiguousPath { .. }), "{error}");
    // `a/` and `b/` say it.
    let tree = ["a/x.c", "x.c"];
    assert_eq!(touched(&tree, &change("a/x.c", "b/x.c")).unwrap(), ["x.c"]);
}

/// What git's own `verify_path` refuses; see t0060 and t1450 of its tests.
#[test]
fn what_some_file_system_takes_for_gits_folder() {
    let names = [
        "b/.git",
        "b/.git/config",
        "b/sub/.gIt/hooks/x",
        "b/.git./config",
        "b/.git ./config",
        "b/.git::$INDEX_ALLOCATION/config",
        "b/.git:stream",
        "b/git~1",
        "b/GIT~1/config",
        "b/git~1. /x",
        "b/.g\u{200c}it/x",
        "b/\u{feff}.git/x",
        "b/sub\\.git\\config",
        "/home/me/.git/sys/f",
    ];
    for name in names {
        let error = touched(&["f", "sub/f"], &create(name)).unwrap_err();
        assert!(
            matches!(error, ApplyError::UnsafePath { .. }),
            "{name}: {error}"
        );
    }
    for name in [
        "b/.gitignore",
        "b/.github/x",
        "b/git",
        "b/x.git/y",
        "b/git~10",
        "b/.gitmodules",
    ] {
        assert!(touched(&["f"], &create(name)).is_ok(), "{name}");
    }
}

/// Git follows no link that it reads settings through (CVE-2018-11235).
#[test]
fn gits_settings_are_no_link() {
    let link = |path: &str| {
        let patch = format!(
            "diff --git a/{path} b/{path}\nnew file mode 120000\n--- /dev/null\n+++ b/{path}\n\
             @@ -0,0 +1 @@\n+f\n\\ No newline at end of file\n"
        );
        Lab::new().try_patch(&[file("f", "1\n")], &patch)
    };
    for path in [
        ".gitmodules",
        ".GitModules",
        "sub/.gitmodules. ",
        "gitmod~1",
        "gi7eba~1",
        "GI7E~22",
    ] {
        let error = link(path).unwrap_err();
        assert!(
            matches!(error, ApplyError::UnsafePath { .. }),
            "{path}: {error}"
        );
    }
    for path in ["modules", "gitmod", "gitmodules~x"] {
        assert!(link(path).is_ok(), "{path}");
    }
}

/// Legal on Linux, where these are two files; a kernel tree has such pairs
/// (net/netfilter/xt_DSCP.c and xt_dscp.c).
#[test]
fn names_may_differ_in_case_alone() {
    let tree = ["net/xt_DSCP.c"];
    assert_eq!(
        touched(&tree, &create("b/net/xt_dscp.c")).unwrap(),
        ["net/xt_dscp.c"]
    );
    let lab = Lab::new();
    let files: &[File] = &[("link", 0o120000, b"net"), file("net/x", "1\n")];
    let applied = lab.try_patch(files, &create("b/LINK/x")).unwrap();
    assert_eq!(lab.content(applied.tree, "LINK/x"), b"1\n");
    assert_eq!(lab.content(applied.tree, "link"), b"net");
}

#[test]
fn a_name_of_many_components_is_no_trouble() {
    let deep = "sys/".repeat(1000) + "x.c";
    let error = touched(&["sys/x.c"], &change(&deep, &deep)).unwrap_err();
    assert!(error.is_patch_fault(), "{error}");
    let many: String = (0..100)
        .map(|n| change(&format!("{deep}{n}"), &deep))
        .collect();
    assert!(touched(&["sys/x.c"], &many).is_err());
}

/// A file can't stand where the series itself makes a folder.
#[test]
fn a_file_and_a_folder_of_one_name() {
    let patch = create("b/sub/d/f") + &create("b/sub/d");
    let error = touched(&["sub/f"], &patch).unwrap_err();
    assert!(matches!(error, ApplyError::UnsafePath { .. }), "{error}");
}

/// What is taken off a name is in the account, but for git's own `a/` and `b/`.
#[test]
fn what_is_stripped_is_told() {
    let lab = Lab::new();
    let stripped = |old: &str, new: &str| {
        let patch = format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-1\n+2\n");
        let applied = lab.try_patch(&[file("sys/kern/x.c", "1\n")], &patch);
        applied.unwrap().patches[0].files[0].stripped.clone()
    };
    assert_eq!(stripped("a/sys/kern/x.c", "b/sys/kern/x.c"), "");
    assert_eq!(stripped("sys/kern/x.c", "sys/kern/x.c"), "");
    assert_eq!(
        stripped("/usr/src/sys/kern/x.c", "/usr/src/sys/kern/x.c"),
        "/usr/src/"
    );
    assert_eq!(
        stripped("src.orig/sys/kern/x.c", "src/sys/kern/x.c"),
        "src/"
    );
    assert_eq!(
        stripped("../a/src/sys/kern/x.c", "../b/src/sys/kern/x.c"),
        "../b/src/"
    );
}
