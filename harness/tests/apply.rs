//! `ktrial apply`, on checkouts that git made and beside what git says of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;

use common::{LINUX, Lab, below, numbers, patch};

/// A Linux checkout `linux` on `main` with lines 1 to 30 in `fs/file.c`; `one.patch` is what
/// `git format-patch` wrote of the branch `work`, whose author and date are not the committer's.
fn lab() -> Lab {
    let lab = Lab::new();
    let lines = numbers(30);
    lab.checkout("linux", &[LINUX[0], LINUX[1], ("fs/file.c", &lines)]);
    lab.git("linux", &["switch", "-q", "-c", "work"]);
    lab.write("linux/fs/file.c", lines.replace("\n15\n", "\nfifteen\n"));
    lab.git(
        "linux",
        &[
            "commit",
            "-q",
            "-a",
            "--author=Örjan Ö. <orjan@example.org>",
            "--date=2016-12-10T12:34:56+0530",
            "-m",
            "fs/file: spell it out\n\nNumbers are hard to read.",
        ],
    );
    let mail = lab.git("linux", &["format-patch", "--stdout", "-1"]);
    lab.write("one.patch", mail + "\n");
    lab.git("linux", &["switch", "-q", "main"]);
    lab
}

const APPLY: [&str; 4] = ["apply", "one.patch", "--tree", "linux"];

fn apply(more: &[&'static str]) -> Vec<&'static str> {
    [&APPLY[..], more].concat()
}

#[test]
fn author_date_message_and_tree_are_those_of_the_commit() {
    let lab = lab();
    let said = lab
        .ktrial(&APPLY)
        .with(0, &["one applies: 1 patch, 1 hunk: exactly"]);
    let of = |commit: &str| {
        let form = "--format=%an|%ae|%aI|%B|%T|%P";
        lab.git("linux", &["log", "-1", form, commit])
    };
    assert_eq!(of("ktrial/one"), of("work"));
    let commit = lab.git("linux", &["rev-parse", "ktrial/one"]);
    assert!(
        said.out
            .contains(&format!("branch ktrial/one is at {commit}\n")),
        "{}",
        said.out
    );
    let log = said
        .out
        .lines()
        .find_map(|line| line.strip_prefix("see it: git "))
        .unwrap();
    let arguments: Vec<&str> = log.split(' ').collect();
    assert!(
        lab.git("linux", &arguments)
            .contains("fs/file: spell it out")
    );
    assert!(lab.git("linux", &["fsck", "--strict"]).is_empty());
}

#[test]
fn nothing_but_objects_and_the_branch_is_written() {
    let lab = lab();
    // A dirty tree, an index with something in it, a stash: all of that is the user's.
    lab.write("linux/fs/open.c", "new\n");
    lab.git("linux", &["add", "fs/open.c"]);
    lab.write("linux/fs/file.c", "half-way\n");
    let before = lab.everything("linux");
    lab.ktrial(&APPLY).with(0, &[]);
    let after = lab.everything("linux");
    let is_new = |path: &str| {
        path.starts_with(".git/objects/")
            || path == ".git/refs/heads/ktrial/one"
            || path == ".git/logs/refs/heads/ktrial/one"
    };
    for (path, content) in &after {
        match before.get(path) {
            Some(old) => assert!(old == content, "{} was changed", path.display()),
            None => assert!(
                is_new(below(path, &lab.path("linux"))),
                "{}",
                path.display()
            ),
        }
    }
    assert!(before.keys().all(|path| after.contains_key(path)));
}

#[test]
fn what_does_not_apply_writes_nothing_at_all() {
    let lab = lab();
    let lines = numbers(30).replace("\n15\n", "\n15, but other\n");
    lab.commit("linux", &[("fs/file.c", &lines)], "in the way");
    let before = lab.everything("linux");
    let words = [
        "the patch is at fault",
        "one.patch: hunk 1 of 1 does not apply to fs/file.c",
    ];
    lab.ktrial(&APPLY).with(4, &words);
    assert!(before == lab.everything("linux"));
}

#[test]
fn a_branch_that_is_there_stays_unless_it_is_forced() {
    let lab = lab();
    lab.git("linux", &["branch", "mine", "work"]);
    let before = lab.git("linux", &["rev-parse", "mine"]);
    lab.ktrial(&apply(&["--branch", "mine"]))
        .with(2, &["there is a branch mine already", "--force"]);
    assert_eq!(lab.git("linux", &["rev-parse", "mine"]), before);
    lab.ktrial(&apply(&["--branch", "mine", "--force"]))
        .with(0, &["branch mine is at"]);
    assert_ne!(lab.git("linux", &["rev-parse", "mine"]), before);
    assert_eq!(
        lab.git("linux", &["rev-parse", "mine^{tree}"]),
        lab.git("linux", &["rev-parse", "work^{tree}"])
    );
    // A folder of branches can't become a branch.
    lab.ktrial(&apply(&["--branch", "a/b"])).with(0, &[]);
    lab.ktrial(&apply(&["--branch", "a"])).with(
        2,
        &["there is a branch a/b, beside which git can have no a"],
    );
}

#[test]
fn a_branch_in_use_is_never_moved() {
    let lab = lab();
    lab.git("linux", &["worktree", "add", "-q", "../beside", "work"]);
    let head = lab.git("linux", &["rev-parse", "main", "work"]);
    for (branch, place) in [("main", "linux"), ("work", "beside")] {
        let place = format!("checked out in {}", lab.path(place).display());
        lab.ktrial(&[
            "apply",
            "one.patch",
            "--tree",
            "linux",
            "--branch",
            branch,
            "--force",
        ])
        .with(2, &[&place]);
    }
    // Seen from the other worktree too, and where it is not born yet.
    lab.ktrial(&[
        "apply",
        "one.patch",
        "--tree",
        "beside",
        "--branch",
        "main",
        "--force",
    ])
    .with(2, &["main is checked out in"]);
    lab.git("linux", &["symbolic-ref", "HEAD", "refs/heads/ktrial/one"]);
    lab.ktrial(&[&APPLY[..], &["--revision", "main"]].concat())
        .with(2, &["ktrial/one is checked out in"]);
    assert_eq!(lab.git("linux", &["rev-parse", "main", "work"]), head);
}

#[test]
fn a_worktree_of_a_repository_gets_its_branch_in_that_repository() {
    let lab = lab();
    lab.git(
        "linux",
        &["worktree", "add", "-q", "--detach", "../beside", "main"],
    );
    lab.ktrial(&["apply", "one.patch", "--tree", "beside"])
        .with(0, &[]);
    assert_eq!(
        lab.git("linux", &["rev-parse", "ktrial/one^{tree}"]),
        lab.git("linux", &["rev-parse", "work^{tree}"])
    );
}

#[test]
fn a_name_that_git_does_not_take_is_refused() {
    let lab = lab();
    let (part, path) = ("x".repeat(300), "x/".repeat(600) + "x");
    for name in [
        "a..b",
        "a b",
        "x.lock",
        "@{-1}",
        "refs/../x",
        "HEAD",
        "@",
        "",
        &part,
        &path,
    ] {
        let name = format!("--branch={name}");
        lab.ktrial(&["apply", "one.patch", "--tree", "linux", &name])
            .with(2, &["is no name for a branch"]);
    }
}

/// A reference is a file of its name: git refuses the second of `ktrial` and `ktrial/one`.
#[test]
fn a_branch_that_would_be_the_folder_of_another_is_refused_before_anything_is_written() {
    let lab = lab();
    lab.git("linux", &["branch", "ktrial"]);
    lab.git("linux", &["branch", "a/b/c"]);
    lab.git("linux", &["pack-refs", "--all"]);
    let before = lab.everything("linux");
    lab.ktrial(&APPLY).with(
        2,
        &[
            "there is a branch ktrial, beside which git can have no ktrial/one",
            "--branch",
        ],
    );
    lab.ktrial(&apply(&["--branch", "a/b"])).with(
        2,
        &["there is a branch a/b/c, beside which git can have no a/b"],
    );
    assert_eq!(lab.everything("linux"), before);
}

#[test]
fn a_lock_that_was_left_is_named() {
    let lab = lab();
    lab.write("linux/.git/refs/heads/ktrial/one.lock", "");
    lab.ktrial(&APPLY)
        .with(6, &["refs/heads/ktrial/one.lock is there", "remove it"]);
}

#[test]
fn what_is_not_in_the_tree_is_not_undone() {
    let lab = lab();
    lab.ktrial(&apply(&["--reverse"])).with(
        4,
        &[
            "nothing to undo: fs/file.c already is without it",
            "leave --reverse out",
        ],
    );
}

#[test]
fn reverse_gives_the_tree_before_the_series() {
    let lab = lab();
    lab.ktrial(&apply(&["--reverse", "--revision", "work"]))
        .with(0, &["one is undone: 1 patch, 1 hunk: exactly"]);
    assert_eq!(
        lab.git("linux", &["rev-parse", "ktrial/one^{tree}"]),
        lab.git("linux", &["rev-parse", "main^{tree}"])
    );
}

#[test]
fn a_patch_that_goes_through_a_symbolic_link_is_refused() {
    let lab = lab();
    std::os::unix::fs::symlink("/etc", lab.path("linux/conf")).unwrap();
    lab.commit("linux", &[], "a link");
    let outside = patch("conf/passwd", "@@ -0,0 +1 @@\n+root::0:0::/:\n");
    lab.write(
        "one.patch",
        outside.replace("--- a/conf/passwd", "--- /dev/null"),
    );
    lab.ktrial(&APPLY)
        .with(4, &["refuses to touch", "symbolic link"]);
}

#[test]
fn the_branch_of_an_imported_folder_is_in_the_cache() {
    let lab = lab();
    fs::remove_dir_all(lab.path("linux/.git")).unwrap();
    let before = lab.everything("linux");
    let said = lab.ktrial(&APPLY).with(0, &["branch ktrial/one is at"]);
    assert!(
        before == lab.everything("linux"),
        "the user's folder was written to"
    );
    let log = said
        .out
        .lines()
        .find_map(|line| line.strip_prefix("see it: git "))
        .unwrap();
    assert!(log.contains("/home/cache/trees/"), "{log}");
    let arguments: Vec<&str> = log.split(' ').collect();
    assert!(lab.git(".", &arguments).contains("fs/file: spell it out"));
    // The import itself is a branch, and no series may take its place.
    lab.ktrial(&apply(&["--branch", "base", "--force"]))
        .with(2, &["the imported tree itself"]);
    lab.ktrial(&apply(&["--force"])).with(0, &[]);
}

#[test]
fn any_git_repository_will_do() {
    let lab = lab();
    lab.git("linux", &["rm", "-q", "Kbuild", "Makefile"]);
    lab.git("linux", &["commit", "-q", "-m", "no kernel any more"]);
    lab.ktrial(&APPLY).with(0, &["branch ktrial/one is at"]);
    lab.git("linux", &["init", "-q", "--bare", "../bare.git"]);
    lab.git("linux", &["push", "-q", "../bare.git", "main"]);
    lab.ktrial(&[
        "apply",
        "one.patch",
        "--tree",
        "bare.git",
        "--revision",
        "main",
    ])
    .with(0, &["branch ktrial/one is at"]);
    lab.git("bare.git", &["rev-parse", "ktrial/one"]);
}
