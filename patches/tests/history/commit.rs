//! `from_commit`: what a commit does, and its message to the letter.

use git2::Oid;
use ktrial_patches::apply::apply;
use ktrial_patches::history::{ResolveError, from_commit};
use ktrial_patches::{Change, Date};

use crate::past::{Past, numbers, with_line};

/// The patch of the newest commit gives that commit's tree on its parent.
fn round_trip(past: &Past) -> ktrial_patches::Patch {
    let (repo, tip) = (past.repo(), past.tip());
    let patch = from_commit(&repo, tip).unwrap();
    let applied = apply(&repo, past.id("HEAD~1"), std::slice::from_ref(&patch)).unwrap();
    assert_eq!(applied.tree, past.tree(tip));
    patch
}

#[test]
fn a_commit_is_its_patch_with_author_and_date() {
    let past = Past::new();
    let id = past.commit(
        "change line 20\n\nBecause.\n",
        &[("f", Some(&with_line(40, 20, "x")))],
    );
    let patch = round_trip(&past);
    assert_eq!(patch.name, id.to_string()[..12]);
    assert_eq!(patch.header.subject, "change line 20");
    assert_eq!(patch.header.message, "Because.");
    let author = patch.header.author.unwrap();
    assert_eq!(
        (author.name.as_str(), author.email.as_str()),
        ("Ann Author", "ann@example.org")
    );
    let date = Date {
        seconds: 1_000_007_200,
        offset_minutes: 120,
    };
    assert_eq!(patch.header.date, Some(date));
    // Whole ids, which git itself confirms.
    let file = &patch.files[0];
    assert_eq!(
        file.old_blob.as_deref().unwrap(),
        past.git(&["rev-parse", "HEAD~1:f"])
    );
    assert!(patch.mends.is_empty());
}

#[test]
fn its_source_is_a_mail_that_git_am_takes() {
    let past = Past::new();
    past.commit(
        "a\u{fc}f\n\nBody.\n",
        &[("f", Some(&with_line(40, 20, "x")))],
    );
    let source = round_trip(&past).source;
    let tree = past.tree(past.tip());
    std::fs::write(past.file(".git/mail"), source).unwrap();
    past.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    past.git(&["am", "--quiet", ".git/mail"]);
    assert_eq!(past.tree(past.tip()), tree);
    assert_eq!(
        past.git(&["log", "-1", "--format=%B%an"]),
        "a\u{fc}f\n\nBody.\nAnn Author"
    );
}

#[test]
fn messages_survive_to_the_letter() {
    for message in [
        "subject\n",
        "[tag] re: subject\n",
        "two lines\nof subject\n\nand a text\n",
        "subject\n\n\nafter two blank lines\n",
        "subject\n\ntext\n---\nnot the end\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        "subject\n\nFrom 1234 Mon Sep 17 00:00:00 2001\nFrom: Somebody <else@example.org>\n",
        "From: at the start\n\nSubject: no\n",
        "subject\n\n  blanks at the ends  \n",
        "\nblank line first\n",
        "\n\ntwo blank lines first\n\ntext\n",
    ] {
        let past = Past::new();
        past.commit(message, &[("f", Some(&with_line(40, 20, "x")))]);
        assert_eq!(
            past.git_bytes(&["log", "-1", "--format=%B"]),
            format!("{message}\n").as_bytes()
        );
        let patch = round_trip(&past);
        assert_eq!(patch.header.commit_message(), message);
    }
}

#[test]
fn messages_in_other_character_sets_are_decoded_or_replaced() {
    let past = Past::new();
    past.git(&["config", "i18n.commitEncoding", "ISO-8859-1"]);
    std::fs::write(past.file("g"), "h\n").unwrap();
    past.commit_all(b"gr\xfc\xdfe\n");
    assert_eq!(
        round_trip(&past).header.commit_message(),
        "gr\u{fc}\u{df}e\n"
    );
    // git itself would turn such a message into UTF-8, but old importers did not.
    std::fs::write(past.file("g"), "i\n").unwrap();
    past.commit_all(b"to be replaced\n");
    let raw = past.git_bytes(&["cat-file", "commit", "HEAD"]);
    let head = String::from_utf8(raw)
        .unwrap()
        .replace("encoding ISO-8859-1\n", "");
    let head = head.replace("to be replaced\n", "");
    let raw = [head.as_bytes(), b"gr\xfc\xdfe\n"].concat();
    std::fs::write(past.file(".git/raw"), raw).unwrap();
    let id = past.git(&["hash-object", "-t", "commit", "-w", ".git/raw"]);
    past.git(&["reset", "--quiet", "--hard", &id]);
    assert_eq!(
        round_trip(&past).header.commit_message(),
        "gr\u{fffd}\u{fffd}e\n"
    );
}

#[test]
fn trailers_are_read() {
    let past = Past::new();
    let message = "x\n\nFixes: 8cdef6cbcc73 (\"exec\")\n\
        Differential Revision:\thttps://reviews.freebsd.org/D9586\n\
        git-svn-id: https://svn.freebsd.org/base/head@313756 ccf9f872-aa2e-dd11-9fc8-001c23d0bc1f\n";
    past.commit(message, &[("g", Some("h\n"))]);
    let trailers = round_trip(&past).trailers;
    assert_eq!(trailers.fixes, ["8cdef6cbcc73 (\"exec\")"]);
    assert_eq!(trailers.reviews, ["D9586"]);
    assert_eq!(trailers.svn_revision, Some(313_756));
}

#[test]
fn what_only_looks_like_a_trailer_is_none() {
    let past = Past::new();
    let message = "Fixes: nothing\n\nFixes: http://bugs.dragonflybsd.org/issues/1\n\
        Fixes: 2402\nSee D9586 and head@313756.\nDifferential Revision: soon\n";
    past.commit(message, &[("g", Some("h\n"))]);
    assert_eq!(
        round_trip(&past).trailers,
        ktrial_patches::Trailers::default()
    );
}

#[test]
fn renames_are_found_as_git_finds_them() {
    let past = Past::new();
    past.commit(
        "move\n",
        &[("f", None), ("sub/f", Some(&with_line(40, 20, "x")))],
    );
    assert_eq!(
        past.git(&["show", "--format=", "--name-status", "-M"])
            .split('\t')
            .next(),
        Some("R097")
    );
    let patch = round_trip(&past);
    assert_eq!(patch.files.len(), 1);
    assert_eq!(patch.files[0].change, Change::Rename);
}

#[test]
fn a_file_half_new_is_no_rename() {
    let past = Past::new();
    let text = "none of these lines is in the other file\n".repeat(40);
    past.commit("move\n", &[("f", None), ("sub/f", Some(&text))]);
    let changes: Vec<Change> = round_trip(&past)
        .files
        .iter()
        .map(|file| file.change)
        .collect();
    assert_eq!(changes, [Change::Delete, Change::Create]);
}

#[test]
fn files_that_are_made_emptied_removed_or_made_executable() {
    use std::os::unix::fs::PermissionsExt;
    let past = Past::new();
    past.commit("new\n", &[("new", Some("no newline")), ("empty", Some(""))]);
    round_trip(&past);
    past.commit("gone\n", &[("new", None), ("empty", None)]);
    round_trip(&past);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(past.file("g"), mode).unwrap();
    past.commit("mode\n", &[]);
    let patch = round_trip(&past);
    assert_eq!(patch.files[0].new_mode, Some(0o100755));
}

#[test]
fn binary_files_come_along() {
    let past = Past::new();
    for content in [b"\0one".as_slice(), b"\0two\xff\n", b"text\n"] {
        std::fs::write(past.file("image"), content).unwrap();
        past.commit_all(b"binary\n");
        round_trip(&past);
    }
}

#[test]
fn a_file_becomes_a_link_and_another_takes_its_text() {
    let past = Past::new();
    std::fs::remove_file(past.file("f")).unwrap();
    std::os::unix::fs::symlink("g", past.file("f")).unwrap();
    std::fs::write(past.file("h"), numbers(40)).unwrap();
    past.commit_all(b"link\n");
    round_trip(&past);
}

#[test]
fn the_users_own_settings_for_diffs_change_nothing() {
    let past = Past::new();
    past.git(&["config", "diff.noprefix", "true"]);
    past.git(&["config", "diff.context", "0"]);
    past.git(&["config", "diff.renames", "false"]);
    past.commit(
        "move\n",
        &[("f", None), ("sub/f", Some(&with_line(40, 20, "x")))],
    );
    let file = round_trip(&past).files.remove(0);
    assert_eq!(file.change, Change::Rename);
    // Three lines of context on both sides of the changed one.
    assert_eq!((file.hunks[0].old_start, file.hunks[0].old_count), (17, 7));
}

fn refusal(past: &Past, commit: Oid) -> &'static str {
    match from_commit(&past.repo(), commit) {
        Err(ResolveError::NoPatch {
            commit: named,
            what,
        }) if named == commit => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn merges_first_commits_and_empty_ones_are_no_patches() {
    let past = Past::new();
    let base = past.tip();
    assert_eq!(refusal(&past, base), "the first of its history");
    past.branch("side", base);
    past.commit("side\n", &[("g", Some("side\n"))]);
    past.checkout("main");
    past.commit("main\n", &[("f", Some("main\n"))]);
    assert_eq!(refusal(&past, past.merge("side")), "a merge");
    assert_eq!(
        refusal(&past, past.commit("empty\n", &[])),
        "a commit that changes nothing"
    );
}

/// A few kilobytes of a pack can hold it; its diff would take gigabytes.
#[test]
fn a_file_of_over_64_mib_is_refused_before_it_is_compared() {
    let past = Past::new();
    let lines = "\n".repeat((64 << 20) + 1);
    let id = past.commit("large\n", &[("large", Some(&lines))]);
    let error = from_commit(&past.repo(), id).unwrap_err().to_string();
    assert!(
        error.contains("has 67108865 bytes, more than the 67108864 that are read"),
        "{error}"
    );
}
