//! `changed_since`: the commit that is behind a conflict. Compared with what
//! `git log` says of the file or of the line.

use git2::Oid;
use ktrial_patches::Patch;
use ktrial_patches::apply::{ApplyError, apply};
use ktrial_patches::history::{Since, changed_since};
use ktrial_patches::read::read;

use crate::past::{Past, numbers, with_line};

/// Fails to apply at the tip, and asks why.
fn since(past: &Past, patches: &[Patch]) -> (ApplyError, Option<Since>) {
    let (repo, tip) = (past.repo(), past.tip());
    let error = apply(&repo, tip, patches).unwrap_err();
    let before = past.git(&["count-objects"]);
    let since = changed_since(&repo, tip, patches, &error, 1000).unwrap();
    assert_eq!(past.git(&["count-objects"]), before);
    (error, since)
}

#[track_caller]
fn blames(past: &Past, patches: &[Patch], commit: Oid) -> Since {
    let (error, since) = since(past, patches);
    let since = since.unwrap_or_else(|| panic!("no commit for: {error}"));
    assert_eq!(since.first.id, commit, "{}: {error}", since.first.subject);
    since
}

/// A repository, and a patch of line 20 of `f` made on its first commit.
fn patched() -> (Past, Patch) {
    let past = Past::new();
    past.branch("topic", past.tip());
    let patch = past.patch(past.commit("topic\n", &[("f", Some(&with_line(40, 20, "patched")))]));
    past.checkout("main");
    (past, patch)
}

#[test]
fn the_commit_that_changed_the_line() {
    let (past, patch) = patched();
    past.commit("other line\n", &[("f", Some(&with_line(40, 3, "three")))]);
    let guilty = past.commit(
        "guilty\n\nIt did.\n",
        &[("f", Some(&with_line(40, 20, "new")))],
    );
    past.commit("other line\n", &[("f", Some(&with_line(41, 20, "new")))]);
    past.commit("other file\n", &[("g", Some("h\n"))]);
    let since = blames(&past, &[patch], guilty);
    // `git log -S20`: the newest commit that changes how often the line is there.
    let git = past.git(&["log", "-1", "-S20\n", "--format=%H %an %at %s", "--", "f"]);
    let first = &since.first;
    let (author, seconds) = (&first.author, first.date.seconds);
    assert_eq!(
        git,
        format!("{} {author} {seconds} {}", first.id, first.subject)
    );
    assert_eq!(first.date.offset_minutes, 120);
    assert_eq!((since.later.len(), since.between), (0, 0));
    assert_eq!(since.moved_to, None);
}

/// As `git log -L` has them.
#[test]
fn those_that_changed_the_lines_again_are_counted_and_the_newest_named() {
    let (past, patch) = patched();
    let version = |text: &str| with_line(40, 20, text);
    let first = past.commit("first\n", &[("f", Some(&version("one")))]);
    past.commit("second\n", &[("f", Some(&version("two")))]);
    past.commit("other file\n", &[("g", Some("h\n"))]);
    past.commit("third\n", &[("f", Some(&version("three")))]);
    let below = version("three").replace("\n38\n", "\nx\n");
    past.commit("other place\n", &[("f", Some(&below))]);
    past.commit("fourth\n", &[("f", Some(&below.replace("three", "four")))]);
    let fifth = past.commit("fifth\n", &[("f", Some(&below.replace("three", "five")))]);
    let above = format!("0\n{}", below.replace("three", "five"));
    past.commit("moves the place\n", &[("f", Some(&above))]);
    let sixth = past.commit("sixth\n", &[("f", Some(&above.replace("five", "six")))]);
    let since = blames(&past, &[patch], first);
    let later: Vec<Oid> = since.later.iter().map(|commit| commit.id).collect();
    assert_eq!((later, since.between), (vec![fifth, sixth], 3));
    let git = past.git(&[
        "log",
        "-s",
        "--format=%s",
        "-L20,22:f",
        &format!("{first}.."),
    ]);
    assert_eq!(
        git.lines().collect::<Vec<_>>(),
        ["sixth", "fifth", "fourth", "third", "second"]
    );
}

/// A change made on a branch is that commit's, not that of the merge.
#[test]
fn a_merge_is_not_counted_again() {
    let (past, patch) = patched();
    let first = past.commit("first\n", &[("f", Some(&with_line(40, 20, "one")))]);
    past.branch("side", past.tip());
    let again = past.commit("again\n", &[("f", Some(&with_line(40, 20, "two")))]);
    past.checkout("main");
    let below = with_line(40, 20, "one").replace("\n38\n", "\nx\n");
    past.commit("other place\n", &[("f", Some(&below))]);
    past.merge("side");
    let since = blames(&past, &[patch], first);
    let later: Vec<Oid> = since.later.iter().map(|commit| commit.id).collect();
    assert_eq!((later, since.between), (vec![again], 0));
}

#[test]
fn of_two_hunks_the_one_that_fails_decides() {
    let past = Past::new();
    past.branch("topic", past.tip());
    let two = with_line(40, 5, "five").replace("\n35\n", "\nthirty-five\n");
    let patch = past.patch(past.commit("topic\n", &[("f", Some(&two))]));
    past.checkout("main");
    let guilty = past.commit("late line\n", &[("f", Some(&with_line(40, 35, "x")))]);
    let first = with_line(40, 35, "x").replace("\n4\n5\n6\n", "\na\nb\nc\n");
    let newer = past.commit("early line\n", &[("f", Some(&first))]);
    // The first hunk fails first, so its commit is named, not that of the second.
    blames(&past, std::slice::from_ref(&patch), newer);
    past.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    blames(&past, &[patch], guilty);
}

#[test]
fn a_merged_branch_is_to_blame_and_not_the_merge() {
    let (past, patch) = patched();
    past.branch("side", past.tip());
    let guilty = past.commit("guilty\n", &[("f", Some(&with_line(40, 20, "new")))]);
    past.checkout("main");
    past.commit("other line\n", &[("f", Some(&with_line(40, 3, "three")))]);
    past.merge("side");
    past.commit("other file\n", &[("g", Some("h\n"))]);
    blames(&past, &[patch], guilty);
}

#[test]
fn a_merge_that_breaks_it_by_itself_is_to_blame() {
    let (past, patch) = patched();
    past.branch("side", past.tip());
    past.commit("side\n", &[("f", Some(&with_line(40, 3, "three")))]);
    past.checkout("main");
    past.commit("main\n", &[("f", Some(&with_line(40, 37, "x")))]);
    past.merge("side");
    std::fs::write(past.file("f"), with_line(40, 20, "evil")).unwrap();
    past.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    blames(&past, &[patch], past.tip());
}

#[test]
fn an_older_branch_that_never_had_the_line_does_not_hide_the_commit() {
    let (past, patch) = patched();
    let base = past.tip();
    past.commit("one\n", &[("f", Some(&with_line(40, 3, "three")))]);
    past.branch("side", base);
    past.commit("side\n", &[("g", Some("side\n"))]);
    past.checkout("main");
    past.merge("side");
    let guilty = past.commit("guilty\n", &[("f", Some(&with_line(40, 20, "new")))]);
    past.branch("late", base);
    past.commit("late\n", &[("h", Some("h\n"))]);
    past.checkout("main");
    past.merge("late");
    blames(&past, &[patch], guilty);
}

#[test]
fn a_merge_that_takes_a_vendors_file_is_to_blame() {
    let (past, patch) = patched();
    past.git(&["checkout", "--quiet", "--orphan", "vendor"]);
    past.commit("import\n", &[("f", Some("the vendor's own\n"))]);
    past.checkout("main");
    past.commit("main\n", &[("f", Some(&with_line(40, 3, "three")))]);
    let allow = "--allow-unrelated-histories";
    past.git(&[
        "merge",
        "--quiet",
        allow,
        "-X",
        "theirs",
        "-m",
        "take theirs",
        "vendor",
    ]);
    let merge = past.tip();
    assert_eq!(past.git(&["show", "HEAD:f"]), "the vendor's own");
    past.commit("other\n", &[("h", Some("h\n"))]);
    blames(&past, &[patch], merge);
}

#[test]
fn a_file_that_went_away_before_a_vendor_brought_another() {
    let (past, patch) = patched();
    past.git(&["checkout", "--quiet", "--orphan", "vendor"]);
    past.commit("import\n", &[("f", Some("the vendor's own\n"))]);
    past.checkout("main");
    let gone = past.commit("gone\n", &[("f", None)]);
    past.git(&[
        "merge",
        "--quiet",
        "--allow-unrelated-histories",
        "-m",
        "theirs",
        "vendor",
    ]);
    assert_eq!(past.git(&["show", "HEAD:f"]), "the vendor's own");
    blames(&past, &[patch], gone);
}

#[test]
fn the_commit_that_removed_the_file() {
    let (past, patch) = patched();
    past.commit("change\n", &[("f", Some(&with_line(40, 3, "three")))]);
    let gone = past.commit("gone\n", &[("f", None)]);
    past.commit("other\n", &[("g", Some("h\n"))]);
    let since = blames(&past, &[patch], gone);
    assert_eq!(since.moved_to, None);
    assert_eq!(
        past.git(&["log", "-1", "--format=%H", "--", "f"]),
        gone.to_string()
    );
}

#[test]
fn where_the_file_went() {
    let (past, patch) = patched();
    past.commit("change\n", &[("f", Some(&with_line(40, 3, "three")))]);
    let text = with_line(40, 3, "drei");
    let moved = past.commit("moved\n", &[("f", None), ("sub/new", Some(&text))]);
    past.commit("other\n", &[("g", Some("h\n"))]);
    let error = ApplyError::NoSuchFile {
        patch: patch.name.clone(),
        path: "f".to_owned(),
        named: "a/f".to_owned(),
        alike: Vec::new(),
    };
    let since = changed_since(&past.repo(), past.tip(), &[patch], &error, 100)
        .unwrap()
        .unwrap();
    assert_eq!(
        (since.first.id, since.moved_to.as_deref()),
        (moved, Some("sub/new"))
    );
    let git = past.git(&[
        "show",
        "-M",
        "--format=",
        "--name-status",
        &moved.to_string(),
    ]);
    assert_eq!(
        git.split('\t').skip(1).collect::<Vec<_>>(),
        ["f", "sub/new"]
    );
}

#[test]
fn the_commit_that_made_a_file_of_that_name() {
    let past = Past::new();
    past.branch("topic", past.tip());
    let patch = past.patch(past.commit("topic\n", &[("new", Some("mine\n"))]));
    past.checkout("main");
    let made = past.commit("made\n", &[("new", Some("theirs\n"))]);
    past.commit("changed\n", &[("new", Some("theirs, changed\n"))]);
    blames(&past, &[patch], made);
    let git = past.git(&["log", "--diff-filter=A", "--format=%H", "--", "new"]);
    assert_eq!(git, made.to_string());
}

#[test]
fn the_commit_that_applied_it_already() {
    let (past, patch) = patched();
    past.commit("other line\n", &[("f", Some(&with_line(40, 3, "three")))]);
    let both = with_line(40, 3, "three").replace("\n20\n", "\npatched\n");
    let applied = past.commit("the same, by another\n", &[("f", Some(&both))]);
    past.commit("other file\n", &[("g", Some("h\n"))]);
    let (error, _) = since(&past, std::slice::from_ref(&patch));
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
    blames(&past, &[patch], applied);
}

#[test]
fn the_commit_that_made_the_file_as_the_patch_makes_it() {
    let past = Past::new();
    past.branch("topic", past.tip());
    let patch = past.patch(past.commit("topic\n", &[("new", Some("mine\n"))]));
    past.checkout("main");
    let made = past.commit("made\n", &[("new", Some("mine\n"))]);
    past.commit("other\n", &[("g", Some("h\n"))]);
    blames(&past, &[patch], made);
}

#[test]
fn the_commit_that_made_a_hunk_fit_twice() {
    let past = Past::new();
    let patch = "--- a/f\n+++ b/f\n@@ -10,3 +10,3 @@\n 10\n-11\n+x\n 12\n";
    let patches = read("plain.patch", patch.as_bytes()).unwrap().patches;
    let before = format!("{}{}", "0\n".repeat(20), numbers(40));
    past.commit("moved\n", &[("f", Some(&before))]);
    let lines = |n: usize| "0\n".repeat(n);
    // Three lines before and three after where the patch says that they are.
    let equal = format!(
        "{}10\n11\n12\n{}10\n11\n12\n{}",
        lines(6),
        lines(3),
        lines(9)
    );
    let guilty = past.commit("twice\n", &[("f", Some(&equal))]);
    let (error, _) = since(&past, &patches);
    assert!(matches!(error, ApplyError::Ambiguous { .. }), "{error}");
    blames(&past, &patches, guilty);
}

#[test]
fn a_rename_is_followed_to_the_commit_before_it() {
    let past = Past::empty();
    past.commit("base\n", &[("old", Some(&numbers(40)))]);
    let guilty = past.commit("guilty\n", &[("old", Some(&with_line(40, 20, "new")))]);
    past.commit(
        "moved\n",
        &[("old", None), ("f", Some(&with_line(40, 20, "new")))],
    );
    past.commit("later\n", &[("f", Some(&with_line(41, 20, "new")))]);
    let patch = "--- a/f\n+++ b/f\n@@ -19,3 +19,3 @@\n 19\n-20\n+x\n 21\n";
    blames(
        &past,
        &read("f.patch", patch.as_bytes()).unwrap().patches,
        guilty,
    );
}

#[test]
fn in_a_series_the_patches_before_the_one_that_fails_are_counted_in() {
    let past = Past::new();
    past.branch("topic", past.tip());
    let first = past.commit(
        "first\n",
        &[("f", Some(&with_line(40, 20, "a"))), ("h", Some("h\n"))],
    );
    let both = with_line(40, 20, "a").replace("\n38\n", "\nb\n");
    let second = past.commit("second\n", &[("f", Some(&both))]);
    let third = past.commit("third\n", &[("f", Some(&both.replace("\na\n", "\nc\n")))]);
    let mut patches = vec![past.patch(first), past.patch(second), past.patch(third)];
    for (index, patch) in patches.iter_mut().enumerate() {
        patch.name = format!("{index}.patch");
    }
    past.checkout("main");
    past.commit("fine\n", &[("f", Some(&with_line(40, 3, "three")))]);
    let guilty = past.commit("guilty\n", &[("f", Some(&with_line(40, 38, "x")))]);
    past.commit("fine\n", &[("g", Some("g\n"))]);
    let (error, _) = since(&past, &patches);
    assert!(error.to_string().starts_with("1.patch"), "{error}");
    blames(&past, &patches, guilty);
    // Without its second patch, it still applies: the third needs the first only.
    patches.remove(1);
    assert!(apply(&past.repo(), past.tip(), &patches).is_ok());
}

#[test]
fn none_where_it_never_fitted_and_none_beyond_the_limit() {
    let (past, patch) = patched();
    past.commit("guilty\n", &[("f", Some(&with_line(40, 20, "new")))]);
    past.commit("later\n", &[("g", Some("h\n"))]);
    let (repo, tip) = (past.repo(), past.tip());
    let patches = [patch];
    let error = apply(&repo, tip, &patches).unwrap_err();
    assert_eq!(
        changed_since(&repo, tip, &patches, &error, 1).unwrap(),
        None
    );
    assert!(
        changed_since(&repo, tip, &patches, &error, 2)
            .unwrap()
            .is_some()
    );
    let never = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n never\n-was\n+is\n";
    let (_, none) = since(
        &past,
        &read("never.patch", never.as_bytes()).unwrap().patches,
    );
    assert_eq!(none, None);
    let nowhere = "--- a/x/y\n+++ b/x/y\n@@ -1,2 +1,2 @@\n never\n-was\n+is\n";
    let (_, none) = since(
        &past,
        &read("nowhere.patch", nowhere.as_bytes()).unwrap().patches,
    );
    assert_eq!(none, None);
}
