//! What `ktrial series check` says of series that do not apply, or not from where one would think.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{FREEBSD, LINUX, Lab, numbers, patch};

const CHECK: [&str; 5] = ["series", "check", "one.patch", "--tree", "linux"];

/// A Linux checkout `linux` on `main` with lines 1 to 200 in `fs/file.c`.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.checkout("linux", &[LINUX[0], LINUX[1], ("fs/file.c", &numbers(200))]);
    lab
}

/// Hunks that spell these lines out.
fn hunks(lines: &[usize]) -> String {
    let hunk = |n: &usize| {
        let (before, after) = (n - 1, n + 1);
        format!("@@ -{before},3 +{before},3 @@\n {before}\n-{n}\n+new {n}\n {after}\n")
    };
    lines.iter().map(hunk).collect()
}

/// A series whose only patch is the commit of this name.
fn by(lab: &Lab, system: &str, commit: &str) {
    let text = format!("title = \"t\"\nsystem = \"{system}\"\npatches = [{commit}]\n");
    lab.write("mine/series.toml", text);
}

const CHECK_MINE: [&str; 5] = ["series", "check", "./mine", "--tree", "linux"];

#[test]
fn each_hunk_that_fails_is_shown_with_the_commits_that_changed_it() {
    let lab = lab();
    lab.write("one.patch", patch("fs/file.c", &hunks(&[20, 40, 60])));
    let mut text = numbers(200);
    let mut commits = Vec::new();
    for (from, to) in [("20", "twenty"), ("twenty", "zwanzig"), ("60", "sixty")] {
        text = text.replace(&format!("\n{from}\n"), &format!("\n{to}\n"));
        lab.commit("linux", &[("fs/file.c", &text)], to);
        commits.push(lab.git(
            "linux",
            &["log", "-1", "--format=%h (%an, %as): %s", "--abbrev=12"],
        ));
    }
    let said = lab.ktrial(&CHECK).with(4, &[]);
    let wanted = format!(
        "\
ktrial: the patch is at fault: one.patch: hunk 1 of 3 does not apply to fs/file.c at line 19
      the patch expects:
          19   19
          20 ! 20
          21   21
      the tree has, at line 19 (2 of 3 lines the same):
          19   19
          20 ! zwanzig
          21   21
    changed since by commit {}
      and again by commit {}

    hunk 3 of 3 does not apply to fs/file.c at line 59
      the patch expects:
          59   59
          60 ! 60
          61   61
      the tree has, at line 59 (2 of 3 lines the same):
          59   59
          60 ! sixty
          61   61
    changed since by commit {}
",
        commits[0], commits[1], commits[2]
    );
    assert!(said.err.starts_with(&wanted), "{}", said.err);
}

#[test]
fn five_hunks_are_shown_and_the_others_counted() {
    let lab = lab();
    let lines: Vec<usize> = (1..=9).map(|n| 20 * n).collect();
    lab.write("one.patch", patch("fs/file.c", &hunks(&lines)));
    let text = numbers(200).replace("0\n", "0.\n");
    lab.commit("linux", &[("fs/file.c", &text)], "in the way");
    let said = lab.ktrial(&CHECK).with(
        4,
        &["\n\n    4 more hunks do not apply, in fs/file.c (4)\n  next: "],
    );
    assert_eq!(said.err.matches("does not apply to").count(), 5);
}

#[test]
fn what_is_taken_off_the_names_is_in_the_account() {
    let lab = lab();
    let text = patch("fs/file.c", &hunks(&[20])).replace("a/fs", "/usr/src/fs");
    lab.write("one.patch", text.replace("b/fs", "/usr/src/fs"));
    let said = lab.ktrial(&CHECK).with(0, &[]);
    assert_eq!(
        said.out,
        "one applies: 1 patch, 1 hunk: exactly\none.patch\n  \
         names in the patch without `/usr/src/` (-p3)\n  fs/file.c:19  exact\n"
    );
}

#[test]
fn a_series_of_a_commit_of_the_tree_says_on_what_it_was_made() {
    let lab = lab();
    let text = numbers(200).replace("\n20\n", "\ntwenty\n");
    lab.commit("linux", &[("fs/file.c", &text)], "twenty");
    let commit = lab.git("linux", &["rev-parse", "--short=12", "HEAD"]);
    by(&lab, "linux", &format!("{{ commit = \"{commit}\" }}"));
    lab.commit(
        "linux",
        &[("fs/file.c", &numbers(200).replace("\n20\n", "\n2O\n"))],
        "other",
    );
    let revision = format!("{commit}~1");
    lab.ktrial(&CHECK_MINE).with(
        4,
        &[&format!(
            "next: --revision {revision} is what the series was made on"
        )],
    );
    lab.ktrial(&[&CHECK_MINE[..], &["--revision", &revision]].concat())
        .with(0, &["mine applies: 1 patch, 1 hunk: exactly"]);
}

/// The messages of one system's commits are not in the history of another's tree.
#[test]
fn commits_that_only_messages_tell_are_not_looked_for_in_another_systems_tree() {
    let lab = lab();
    by(&lab, "freebsd", "{ svn = \"r313756\", review = \"D9586\" }");
    lab.ktrial(&CHECK_MINE).with(
        2,
        &[
            "mine: Subversion revision r313756 is FreeBSD's, and linux is Linux",
            "next: give --tree a FreeBSD git tree whose history has it",
        ],
    );
    lab.ktrial(&[
        "series",
        "check",
        "freebsd-exec-args-madv-free",
        "--tree",
        "linux",
    ])
    .with(
        2,
        &["give --tree a FreeBSD git tree whose history reaches February 2017"],
    );
    lab.checkout("bsd", &[FREEBSD]);
    lab.commit("bsd", &[("x", "1\n")], "second");
    lab.ktrial(&[
        "series",
        "check",
        "freebsd-exec-args-madv-free",
        "--tree",
        "bsd",
    ])
    .with(
        2,
        &[
            "has no commit of Subversion revision r313756",
            "the series needs a FreeBSD",
        ],
    );
}

#[test]
fn a_commit_that_is_found_on_another_branch_is_said_to_be_from_there() {
    let lab = lab();
    lab.git("linux", &["switch", "-q", "-c", "side"]);
    let text = numbers(200).replace("\n20\n", "\ntwenty\n");
    lab.commit("linux", &[("fs/file.c", &text)], "fs: twenty");
    let commit = lab.git("linux", &["rev-parse", "--short=12", "HEAD"]);
    lab.git("linux", &["switch", "-q", "main"]);
    by(&lab, "linux", "{ subject = \"fs: twenty\" }");
    let note = format!("note: {commit} is taken from side; the base's history lacks it\n");
    lab.ktrial(&CHECK_MINE).with(0, &[&note]);
    lab.git("linux", &["merge", "-q", "side"]);
    let said = lab.ktrial(&[&CHECK_MINE[..], &["--revision", "main~1"]].concat());
    assert!(
        said.out.contains(&note.replace("side", "main")),
        "{}",
        said.out
    );
}

/// The search goes back from the base, and what is newer lies elsewhere.
#[test]
fn find_base_says_where_newer_commits_are() {
    let lab = lab();
    lab.git("linux", &["switch", "-q", "-c", "next"]);
    let text = numbers(200).replace("\n20\n", "\ntwenty\n");
    lab.write("linux/fs/file.c", &text);
    lab.git("linux", &["add", "-A"]);
    let later = "GIT_COMMITTER_DATE";
    lab.git_with(
        "linux",
        &[(later, "2040-01-01T00:00:00Z")],
        &["commit", "-qm", "later"],
    );
    lab.git("linux", &["switch", "-q", "main"]);
    let hunk = hunks(&[20]).replace("-20", "-twenty");
    lab.write("one.patch", patch("fs/file.c", &hunk));
    let find = |more: &[&str]| lab.ktrial(&[&CHECK[..], &["--find-base"], more].concat());
    find(&[]).with(
        4,
        &[
            "applies to none of the 1 commits looked at\n",
            "looked only at what the base reaches; next is newer: --revision next looks there\n",
        ],
    );
    find(&["--revision", "next"]).with(0, &["0 commits back): later"]);
}
