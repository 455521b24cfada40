//! `find_base`: the newest commit on which a series applies.

use git2::Oid;
use ktrial_patches::Patch;
use ktrial_patches::apply::apply;
use ktrial_patches::history::{Base, find_base};
use ktrial_patches::read::read;

use crate::past::{Past, with_line};

fn found(past: &Past, patches: &[Patch], limit: usize) -> Option<Base> {
    let before = past.git(&["count-objects"]);
    let base = find_base(&past.repo(), past.tip(), patches, limit).unwrap();
    if base.is_none() {
        // What was tried has left nothing behind.
        assert_eq!(past.git(&["count-objects"]), before);
    }
    base
}

/// A patch of line 20, and a history that changes the line twice after it was made.
fn outdated() -> (Past, Patch, Vec<Oid>) {
    let past = Past::new();
    past.branch("topic", past.tip());
    let topic = past.commit("topic\n", &[("f", Some(&with_line(40, 20, "patched")))]);
    let patch = past.patch(topic);
    past.checkout("main");
    let mut ids = vec![past.tip()];
    for (name, file, line, text) in [
        ("other line", "f", 3, "three"),
        ("other file", "g", 1, "g"),
        ("breaks it", "f", 20, "broken"),
        ("other file again", "g", 2, "g"),
        ("breaks it more", "f", 21, "broken"),
    ] {
        let content = with_line(40, line, text);
        ids.push(past.commit(&format!("{name}\n"), &[(file, Some(&content))]));
    }
    (past, patch, ids)
}

#[test]
fn it_is_the_commit_before_the_one_that_breaks_the_series() {
    let (past, patch, ids) = outdated();
    assert!(apply(&past.repo(), past.tip(), std::slice::from_ref(&patch)).is_err());
    let base = found(&past, &[patch], 100).unwrap();
    assert_eq!(
        (base.commit.id, base.commit.subject.as_str()),
        (ids[2], "other file")
    );
    assert_eq!(base.behind, 3);
    assert_eq!(
        base.commit.date.seconds.to_string(),
        past.git(&["log", "-1", "--format=%at", "main~3"])
    );
    // The base's own `g`, and the patch's line.
    let tree = base.applied.tree.to_string();
    assert_eq!(
        past.git(&["rev-parse", &format!("{tree}:g")]),
        past.git(&["rev-parse", "main~3:g"])
    );
    assert!(
        past.git(&["show", &format!("{tree}:f")])
            .contains("\n19\npatched\n")
    );
}

#[test]
fn it_is_the_tip_where_the_series_applies_there() {
    let past = Past::new();
    past.branch("topic", past.tip());
    let patch = past.patch(past.commit("topic\n", &[("g", Some("h\n"))]));
    past.checkout("main");
    let tip = past.commit("other\n", &[("f", Some("f\n"))]);
    let base = found(&past, &[patch], 1).unwrap();
    assert_eq!((base.commit.id, base.behind), (tip, 0));
    assert_eq!(found(&past, &[], 1).unwrap().commit.id, tip);
}

#[test]
fn it_looks_at_no_more_commits_than_asked_for() {
    let (past, patch, ids) = outdated();
    assert_eq!(found(&past, std::slice::from_ref(&patch), 3), None);
    assert_eq!(
        found(&past, std::slice::from_ref(&patch), 4)
            .unwrap()
            .commit
            .id,
        ids[2]
    );
    assert_eq!(found(&past, &[patch], 0), None);
}

#[test]
fn a_stated_base_makes_it_look_further() {
    let (past, mut patch, ids) = outdated();
    patch.trailers.base_commit = Some(ids[0].to_string());
    // Still the newest one, not the one that is stated.
    assert_eq!(found(&past, &[patch.clone()], 1).unwrap().commit.id, ids[2]);
    // One on which it does not apply, and one that is not there, are no help.
    for hash in [ids[3].to_string(), "1".repeat(40), "x".to_owned()] {
        patch.trailers.base_commit = Some(hash);
        assert_eq!(found(&past, &[patch.clone()], 1), None);
    }
}

#[test]
fn none_where_it_never_applied() {
    let past = Past::new();
    past.commit("one\n", &[("f", Some(&with_line(40, 20, "x")))]);
    let patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n never\n-was\n+is\n";
    let patches = read("never.patch", patch.as_bytes()).unwrap().patches;
    assert_eq!(found(&past, &patches, 100), None);
}

#[test]
fn a_series_of_which_only_the_second_patch_fails() {
    let (past, second, ids) = outdated();
    past.branch("first", ids[0]);
    let first = past.patch(past.commit("first\n", &[("new", Some("new\n"))]));
    past.checkout("main");
    assert_eq!(
        found(&past, &[first, second], 100).unwrap().commit.id,
        ids[2]
    );
}

#[test]
fn a_branch_that_still_had_the_line_counts_by_its_date() {
    // main breaks the line; an older branch, merged later, changes another file.
    let (past, patch, ids) = outdated();
    past.branch("side", ids[1]);
    let side = past.commit("side\n", &[("h", Some("h\n"))]);
    past.checkout("main");
    past.merge("side");
    let base = found(&past, &[patch], 100).unwrap();
    assert_eq!(base.commit.id, side);
    let order = past.git(&["rev-list", "main"]);
    let behind = order.lines().position(|id| id == side.to_string());
    assert_eq!(Some(base.behind), behind);
}

#[test]
fn plain_diffs_without_prefix_and_files_removed_since() {
    let past = Past::new();
    past.commit("add\n", &[("sys/kern/x.c", Some(&with_line(40, 1, "x")))]);
    let had = past.commit("other\n", &[("g", Some("h\n"))]);
    past.commit("gone\n", &[("sys/kern/x.c", None)]);
    past.commit("more\n", &[("g", Some("i\n"))]);
    let patch = "--- sys/kern/x.c\n+++ sys/kern/x.c\n@@ -1,2 +1,2 @@\n-x\n+y\n 2\n";
    let patches = read("plain.patch", patch.as_bytes()).unwrap().patches;
    assert_eq!(found(&past, &patches, 100).unwrap().commit.id, had);
}

#[test]
fn a_file_that_is_made_where_another_stands_by_now() {
    let past = Past::new();
    past.branch("topic", past.tip());
    let patch = past.patch(past.commit("topic\n", &[("new", Some("mine\n"))]));
    past.checkout("main");
    let free = past.commit("other\n", &[("g", Some("h\n"))]);
    past.commit("taken\n", &[("new", Some("theirs\n"))]);
    assert_eq!(found(&past, &[patch], 100).unwrap().commit.id, free);
}

/// Commits of one second, as a script makes them, are looked at child before parent.
#[test]
fn commits_of_one_second_keep_their_order() {
    let past = Past::new();
    past.branch("topic", past.tip());
    let topic = past.commit("topic\n", &[("f", Some(&with_line(40, 20, "patched")))]);
    let patch = past.patch(topic);
    past.checkout("main");
    past.stop_clock();
    for name in ["one", "two", "three"] {
        past.commit(&format!("{name}\n"), &[("g", Some(name))]);
    }
    let newest = past.tip();
    past.commit("breaks it\n", &[("f", Some(&with_line(40, 20, "broken")))]);
    let base = found(&past, &[patch], 100).unwrap();
    assert_eq!((base.commit.id, base.behind), (newest, 1));
}
