//! Trees of all kinds, as ktrial opens them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::process::Command;

use common::{FREEBSD, LINUX, Lab};
use ktrial::fault::At;
use ktrial::home::Home;
use ktrial::tree::Tree;
use ktrial_patches::catalogue::System;

fn open(lab: &Lab, tree: &str) -> Tree {
    let home = Home::at(&lab.path("home")).unwrap();
    Tree::open(&home, &lab.path(tree), None).unwrap()
}

const DRAGONFLY: (&str, &str) = (
    "sys/conf/newvers.sh",
    "BRANCH=\"DEVELOPMENT_5_9\"\nTYPE=\"DragonFly\"\nREVISION=${BRANCH#*_}\n",
);

#[test]
fn folders_and_tarballs_of_three_systems_are_known() {
    let lab = Lab::new();
    for (name, files, system, version) in [
        ("linux", &LINUX[..], System::Linux, "6.1.5"),
        ("freebsd", &[FREEBSD], System::FreeBsd, "15.1-RELEASE-p1"),
        (
            "dragonfly",
            &[DRAGONFLY],
            System::DragonFly,
            "5.9-DEVELOPMENT",
        ),
    ] {
        for (path, text) in files {
            lab.write(&format!("{name}/{path}"), text);
        }
        let archive = lab.path(&format!("{name}.tar.gz"));
        let mut tar = Command::new("tar");
        tar.arg("-C")
            .arg(lab.path(""))
            .arg("-czf")
            .arg(&archive)
            .arg(name);
        assert!(tar.status().unwrap().success());
        for tree in [name.to_owned(), format!("{name}.tar.gz")] {
            let tree = open(&lab, &tree);
            assert_eq!((tree.system, &tree.version[..]), (Some(system), version));
            assert_eq!(tree.title(), format!("{name} {version}"));
            assert!(!tree.is_git);
        }
    }
}

#[test]
fn a_folder_that_is_no_kernel_is_refused_and_a_git_repository_is_not() {
    let lab = Lab::new();
    lab.write("home-folder/notes.txt", "x");
    let home = Home::at(&lab.path("home")).unwrap();
    let fault = Tree::open(&home, &lab.path("home-folder"), None)
        .map(drop)
        .unwrap_err();
    assert_eq!(fault.at, At::User);
    assert!(
        fault
            .to_string()
            .contains("sys/conf/newvers.sh (FreeBSD, DragonFly)"),
        "{fault}"
    );
    lab.checkout("home-folder", &[]);
    let tree = open(&lab, "home-folder");
    assert_eq!(
        (tree.system, tree.title()),
        (None, "home-folder".to_owned())
    );
    assert_eq!(tree.check_bootable().unwrap_err().at, At::User);
}

/// Commits are looked up on other branches and in notes, which a base does not lead to.
#[test]
fn the_references_of_a_checkout_are_known_and_follow_it() {
    let lab = Lab::new();
    lab.checkout("linux", &LINUX);
    lab.git("linux", &["branch", "topic"]);
    lab.git("linux", &["tag", "-a", "v1", "-m", "one"]);
    lab.git(
        "linux",
        &["notes", "add", "-m", "svn path=/head/; revision=313756"],
    );
    let listed = |tree: &Tree| {
        let all = tree.repository.references().unwrap();
        let one = |r: git2::Reference| format!("{} {}", r.target().unwrap(), r.name().unwrap());
        let mut all: Vec<String> = all.map(|r| one(r.unwrap())).collect();
        all.sort();
        all
    };
    let of_git = || {
        let text = lab.git(
            "linux",
            &["for-each-ref", "--format=%(objectname) %(refname)"],
        );
        let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
        all.sort();
        all
    };
    assert_eq!(listed(&open(&lab, "linux")), of_git());
    lab.git("linux", &["branch", "-D", "topic"]);
    lab.commit("linux", &[("fs/x.c", "x\n")], "next");
    assert_eq!(listed(&open(&lab, "linux")), of_git());
}

#[test]
fn the_history_of_a_shallow_clone_ends_where_it_ends() {
    let lab = Lab::new();
    lab.checkout("linux", &LINUX);
    for n in 0..3 {
        lab.commit("linux", &[("fs/x.c", &n.to_string())], "next");
    }
    let url = format!("file://{}", lab.path("linux").display());
    lab.git(".", &["clone", "-q", "--depth", "2", &url, "shallow"]);
    let count = |tree: &Tree| {
        let mut walk = tree.repository.revwalk().unwrap();
        walk.push(tree.base).unwrap();
        walk.map(Result::unwrap).count()
    };
    let tree = open(&lab, "shallow");
    assert_eq!(count(&tree), 2);
    lab.git("shallow", &["fetch", "-q", "--unshallow"]);
    assert_eq!(count(&open(&lab, "shallow")), 4);
}

/// Neither is taken for a plain folder, and neither for damage.
#[test]
fn a_repository_that_cannot_be_opened_says_what_is_wrong() {
    let lab = Lab::new();
    let check = || lab.ktrial(&["series", "check", "linux-control-same", "--tree", "linux"]);
    for (path, text) in LINUX {
        lab.write(&format!("linux/{path}"), text);
    }
    lab.write("linux/.git", "gitdir: ../nowhere/.git/worktrees/linux\n");
    check().with(
        2,
        &[
            "linux/.git names the repository ",
            "nowhere/.git/worktrees/linux, which is not there",
            "git worktree repair",
        ],
    );
    lab.write("linux/.git", "../nowhere\n");
    check().with(2, &["linux/.git is a file that names no repository"]);
    fs::remove_file(lab.path("linux/.git")).unwrap();
    check().with(0, &[]);
    lab.git("linux", &["init", "-q", "--object-format=sha256"]);
    lab.commit("linux", &[], "base");
    check().with(
        2,
        &[
            "linux is a SHA-256 repository, and only SHA-1 is read",
            "git archive",
        ],
    );
}
