//! `ktrial series` and what `ktrial trial` refuses, on small trees.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;

use ktrial::home::Home;
use ktrial::tree::Tree;
use ktrial_db::Db;

use common::{FREEBSD, LINUX, Lab, numbers, patch};

const SPELL: &str = "@@ -14,3 +14,3 @@\n 14\n-15\n+fifteen\n 16\n";

/// A Linux checkout `linux` with lines 1 to 30 in `fs/file.c`, and `one.patch` that changes the
/// fifteenth of them.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.checkout("linux", &[LINUX[0], LINUX[1], ("fs/file.c", &numbers(30))]);
    lab.write("one.patch", patch("fs/file.c", SPELL));
    lab
}

const CHECK: [&str; 5] = ["series", "check", "one.patch", "--tree", "linux"];

#[test]
fn check_says_where_each_hunk_landed() {
    let lab = lab();
    let said = lab.ktrial(&CHECK).with(0, &[]);
    assert_eq!(
        said.out,
        "one applies: 1 patch, 1 hunk: exactly\none.patch\n  fs/file.c:14  exact\n"
    );
    // Two lines more above it: what `patch` calls an offset of 2 lines.
    let moved = format!("a\nb\n{}", numbers(30));
    lab.commit("linux", &[("fs/file.c", &moved)], "move");
    let said = lab.ktrial(&CHECK).with(0, &[]);
    assert_eq!(
        said.out,
        "one applies: 1 patch, 1 hunk: 1 offset\none.patch\n  fs/file.c:16  offset 2\n"
    );
}

#[test]
fn check_writes_nothing_to_the_users_repository() {
    let lab = lab();
    let before = lab.everything("linux");
    lab.ktrial(&CHECK).with(0, &[]);
    lab.ktrial(&["series", "check", "linux-fd-linear-scan", "--tree", "linux"])
        .with(4, &[]);
    assert!(before == lab.everything("linux"));
}

#[test]
fn the_party_at_fault_is_in_the_exit_code() {
    let lab = lab();
    lab.write("none.patch", "no diff at all\n");
    let check = |series: &str, tree: &str| lab.ktrial(&["series", "check", series, "--tree", tree]);
    check("none.patch", "linux").with(4, &["none.patch:1: ", "no diff found"]);
    check("linux-fd-linaer-scan", "linux").with(2, &["did you mean `linux-fd-linear-scan`?"]);
    check("missing.patch", "linux").with(2, &["there is no file or folder missing.patch"]);
    check("one.patch", "nowhere").with(2, &["there is no tree at nowhere"]);
    let other = numbers(30).replace("\n15\n", "\nother\n");
    lab.commit("linux", &[("fs/file.c", &other)], "in the way");
    check("one.patch", "linux").with(
        4,
        &["the patch expects:", "15 ! 15", "15 ! other", "--find-base"],
    );
}

#[test]
fn a_series_for_another_system_is_checked_with_a_note() {
    let lab = lab();
    lab.write(
        "mine/series.toml",
        "title = \"t\"\nsystem = \"freebsd\"\npatches = [\"one.patch\"]\n",
    );
    fs::rename(lab.path("one.patch"), lab.path("mine/one.patch")).unwrap();
    lab.ktrial(&["series", "check", "mine", "--tree", "linux"])
        .with(0, &["note: mine is for FreeBSD, and linux is Linux"]);
}

#[test]
fn find_base_counts_the_commits_that_it_looked_at() {
    let lab = lab();
    lab.write(
        "one.patch",
        patch("fs/file.c", &SPELL.replace("-15", "-never there")),
    );
    lab.commit("linux", &[("fs/open.c", "2\n")], "second");
    lab.commit("linux", &[("fs/open.c", "3\n")], "third");
    let find = |more: &[&str]| lab.ktrial(&[&CHECK[..], &["--find-base"], more].concat());
    find(&[]).with(4, &["applies to none of the 3 commits looked at"]);
    find(&["--limit", "2"]).with(4, &["applies to none of the 2 commits looked at"]);
}

#[test]
fn find_base_names_the_newest_commit_that_fits() {
    let lab = lab();
    lab.commit("linux", &[("fs/open.c", "2\n")], "second");
    let wanted = lab.git("linux", &["rev-parse", "HEAD"]);
    let other = numbers(30).replace("\n15\n", "\nother\n");
    lab.commit("linux", &[("fs/file.c", &other)], "in the way");
    let line = format!("applies to {wanted} (");
    let said = lab
        .ktrial(&[&CHECK[..], &["--find-base"]].concat())
        .with(0, &[&line, ", 1 commit back): second"]);
    assert!(said.out.contains("fs/file.c:14  exact"), "{}", said.out);
}

#[test]
fn a_conflict_names_the_commit_that_made_it() {
    let lab = lab();
    let other = numbers(30).replace("\n15\n", "\nother\n");
    lab.commit("linux", &[("fs/file.c", &other)], "in the way");
    let commit = lab.git("linux", &["rev-parse", "--short=12", "HEAD"]);
    lab.commit("linux", &[("fs/open.c", "x\n")], "beside the point");
    let line = format!("changed since by commit {commit} (B. Base, ");
    lab.ktrial(&CHECK).with(4, &[&line, "): in the way"]);
}

#[test]
fn a_mail_from_standard_input_becomes_a_series() {
    let lab = lab();
    let mail = format!(
        "From: A. Author <a@example.org>\nDate: Sat, 10 Dec 2016 12:34:56 +0530\n\
         Subject: [PATCH] fs/file: spell it out\n\nText.\n---\n{}-- \n2.39\n",
        patch("fs/file.c", SPELL)
    );
    let said = lab
        .ktrial_fed(&["series", "import", "-", "--system", "linux"], &mail)
        .with(
            0,
            &[
                "fs/file: spell it out",
                "ktrial series check ./fs-file-spell-it-out --tree TREE",
            ],
        );
    assert!(
        said.out
            .contains("ktrial trial ./fs-file-spell-it-out --tree TREE"),
        "{}",
        said.out
    );
    lab.ktrial(&[
        "series",
        "check",
        "./fs-file-spell-it-out",
        "--tree",
        "linux",
    ])
    .with(
        0,
        &["fs-file-spell-it-out applies: 1 patch, 1 hunk: exactly"],
    );
    lab.ktrial_fed(&["series", "import", "-", "--system", "linux"], &mail)
        .with(2, &["is there already", "--to"]);
    lab.ktrial(&["series", "import", "one.patch", "--name", "../up"])
        .with(2, &["is no name for a series"]);
    lab.ktrial_fed(&["series", "check", "-", "--tree", "linux"], &mail)
        .with(0, &["stdin applies: 1 patch"]);
    // A bare diff has no subject to be called after.
    let (_, diff) = mail.split_once("\n---\n").unwrap();
    lab.ktrial_fed(&["series", "import", "-"], diff).with(
        0,
        &[
            "made ./changes-file-c: Changes file.c",
            "0001-Changes-file.c.patch",
        ],
    );
}

#[test]
fn the_list_is_quick_and_says_what_can_be_tried_on_a_tree() {
    let lab = lab();
    let said = lab.ktrial(&["series", "list"]).with(0, &[]);
    let line = said
        .out
        .lines()
        .find(|line| line.starts_with("linux-fd-fastalloc "))
        .unwrap();
    assert!(line.contains("A flag for socket(2)"), "{line}");
    assert!(said.out.contains("\n    for linux 6.1\n"), "{}", said.out);
    assert!(
        !lab.path("home/state/ktrial.db").exists(),
        "a list makes no database"
    );
    lab.checkout("bsd", &[FREEBSD]);
    let said = lab
        .ktrial(&["series", "list", "--tree", "linux", "--tree", "bsd"])
        .with(0, &[]);
    let mut lines = said
        .out
        .lines()
        .skip_while(|line| !line.starts_with("linux-control-same "));
    assert_eq!(lines.nth(1), Some("    for linux 6.1"));
    assert!(
        lines.next().unwrap().contains("linux 6.1.5"),
        "{}",
        said.out
    );
    assert_eq!(
        lines.next(),
        Some("    bsd 15.1-RELEASE-p1: needs a Linux tree")
    );
    assert!(
        said.out.contains("linux 6.1.5: does not apply: "),
        "{}",
        said.out
    );
    let widest = said.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}: {}", said.out);
}

/// A checkout and an imported folder of earlier trials, and one that is gone by now.
#[test]
fn the_list_knows_the_trees_of_earlier_trials() {
    let lab = lab();
    for (path, text) in LINUX {
        lab.write(&format!("folder/{path}"), text);
        lab.write(&format!("gone/{path}"), text);
    }
    let home = Home::at(&lab.path("home")).unwrap();
    let mut db = Db::open(&home.database()).unwrap();
    for name in ["linux", "folder", "gone"] {
        let tree = Tree::open(&home, &lab.path(name), None).unwrap();
        db.put_tree(&ktrial_db::Tree {
            key: format!("{}-{}", tree.key, tree.base),
            system: "linux".into(),
            name: name.into(),
            source: tree.source.display().to_string(),
            version: tree.version.clone(),
            base_commit: tree.base.to_string(),
            base_tree: tree.tree_of(tree.base).unwrap().to_string(),
        })
        .unwrap();
    }
    drop(db);
    fs::remove_dir_all(lab.path("gone")).unwrap();
    let said = lab.ktrial(&["series", "list"]).with(0, &[]);
    let lines = said.out.lines();
    let mut of_control = lines.skip_while(|line| !line.starts_with("linux-control-same "));
    let trees: Vec<&str> = of_control.by_ref().skip(2).take(2).collect();
    assert!(
        trees[0].starts_with("    applies to folder 6.1.5")
            && trees[1].starts_with("    applies to linux 6.1.5"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("gone") && !said.err.contains("gone"));
}

#[test]
fn show_tells_where_a_series_comes_from() {
    let lab = lab();
    lab.ktrial(&["series", "show", "linux-fd-linear-scan"])
        .with(
            0,
            &[
                "linux-fd-linear-scan: Search for a free descriptor",
                "system: linux\nmade for: 6.1\nsource: written for ktrial",
                "licence: GPL-2.0-only\npatch: 0001-fs-file-",
                "workload: fd-churn fds=500000 touch=400000",
                "expects: ",
            ],
        );
}

#[test]
fn only_linux_is_put_on_trial() {
    let lab = lab();
    lab.checkout("bsd", &[FREEBSD]);
    lab.checkout("other", &[("README", "no kernel\n")]);
    let trial = |series: &str, tree: &str| {
        lab.ktrial(&["trial", series, "--tree", tree, "--clock", "virtual"])
    };
    let sentence = "ktrial can apply to FreeBSD trees but not boot them yet";
    trial("one.patch", "bsd").with(2, &[sentence, "ktrial apply"]);
    trial("one.patch", "other").with(
        2,
        &[
            "holds no kernel that ktrial knows",
            "Kbuild",
            "sys/conf/newvers.sh",
        ],
    );
    lab.write(
        "mine/series.toml",
        "title = \"t\"\nsystem = \"freebsd\"\npatches = []\n",
    );
    trial("mine", "linux").with(2, &[sentence]);
}

/// A subject may have all of a mail's header, and a message all of the mail.
#[test]
fn show_keeps_to_a_screen_and_does_not_drive_it() {
    let lab = Lab::new();
    let subject = "long "
        .repeat(20_000)
        .replace("long long", "l\u{202e}\u{1b}[2Jg");
    let message = "a line\n".repeat(5_000);
    let diff = patch("f", "@@ -1 +1 @@\n-a\n+b\n");
    let mail = format!("From: a@example.org\nSubject: [PATCH] {subject}\n\n{message}---\n{diff}");
    let said = lab.ktrial_fed(&["series", "show", "-"], &mail);
    let said = said.with(0, &["stdin: l[2Jg", "… and 4800 more\n"]);
    assert!(said.out.len() < 4_000, "{}", said.out.len());
    let drives = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!said.out.contains(drives), "{}", said.out);
}

#[test]
fn the_commits_of_a_bundle_are_listed() {
    let lab = lab();
    lab.git("linux", &["switch", "-q", "-c", "topic"]);
    for (file, subject) in [("fs/open.c", "fs: one"), ("fs/pipe.c", "fs: two")] {
        lab.commit("linux", &[(file, "x\n")], subject);
    }
    lab.git(
        "linux",
        &["bundle", "create", "-q", "../x.bundle", "main..topic"],
    );
    let log = [
        "log",
        "--reverse",
        "--format=  %h  %s",
        "--abbrev=12",
        "main..",
    ];
    let commits = format!("  {}\n", lab.git("linux", &log));
    let listed = format!("of the tree: the commits of the bundle x.bundle\n{commits}");
    lab.ktrial(&["series", "show", "x.bundle"])
        .with(0, &[&listed]);
    lab.ktrial(&["series", "import", "x.bundle", "--name", "mine"])
        .with(0, &[&commits]);
}
