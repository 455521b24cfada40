//! The ladder: the merge with the file that a patch was made from, files that
//! the tree has elsewhere, and patches that are there already.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{File, Lab, file, numbers};
use git2::{Oid, Signature, Time};
use ktrial_patches::apply::{Applied, AppliedFile, ApplyError, Rung, apply};
use ktrial_patches::read::read;

/// A diff of one file as git writes it, with the id of what it was made from,
/// which is put into the repository.
fn diff(lab: &Lab, path: &str, before: &str, after: &str) -> String {
    let blob = lab.repo.blob(before.as_bytes()).unwrap();
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let mut diff = git2::Patch::from_buffers(old, None, new, None, None).unwrap();
    let text = String::from_utf8(diff.to_buf().unwrap().to_vec()).unwrap();
    let hunks = &text[text.find("@@").unwrap()..];
    format!(
        "diff --git a/{path} b/{path}\nindex {}..1111111111 100644\n--- a/{path}\n+++ b/{path}\n{hunks}",
        &blob.to_string()[..10]
    )
}

fn one(applied: &Applied) -> &AppliedFile {
    let [patch] = &applied.patches[..] else {
        panic!("{applied:?}")
    };
    let [file] = &patch.files[..] else {
        panic!("{applied:?}")
    };
    file
}

fn text(lab: &Lab, applied: &Applied, path: &str) -> String {
    String::from_utf8(lab.content(applied.tree, path)).unwrap()
}

/// Commits on top of each other; gives the last.
fn history(lab: &Lab, trees: &[&[File]]) -> Oid {
    let who = Signature::new("A", "a@example.org", &Time::new(1_000_000_000, 0)).unwrap();
    let mut last = None;
    for files in trees {
        let tree = lab.repo.find_tree(lab.tree(files)).unwrap();
        let parent = last.map(|last| lab.repo.find_commit(last).unwrap());
        let parents: Vec<_> = parent.iter().collect();
        let commit = lab.repo.commit(None, &who, &who, "x\n", &tree, &parents);
        last = Some(commit.unwrap());
    }
    last.unwrap()
}

fn on(lab: &Lab, base: Oid, patch: &str) -> Result<Applied, ApplyError> {
    apply(
        &lab.repo,
        base,
        &read("test.patch", patch.as_bytes()).unwrap().patches,
    )
}

/// `git merge-file -p ours base theirs` gives this for the numbers to 20 with
/// line 8 changed here and line 10 there, though line 8 is context of 10.
#[test]
fn changed_context_is_merged() {
    let lab = Lab::new();
    let base = numbers(20);
    let patch = diff(&lab, "f", &base, &base.replace("\n10\n", "\nten\n"));
    let ours = format!("0\n{}", base.replace("\n8\n", "\neight\n"));
    let applied = lab.try_patch(&[file("f", &ours)], &patch).unwrap();
    let wanted = ours.replace("\n10\n", "\nten\n");
    assert_eq!(text(&lab, &applied, "f"), wanted);
    let hunk = one(&applied).hunks[0];
    // The hunk starts at 7, which is the eighth line here.
    assert_eq!((hunk.line, hunk.offset, hunk.fuzz), (8, 1, 0));
    assert_eq!(hunk.rung, Rung::Merge);
    // Without the blob, it takes fuzz.
    let unknown = patch.replace("index ", "index 0123456");
    let applied = Lab::new().try_patch(&[file("f", &ours)], &unknown).unwrap();
    assert_eq!(one(&applied).hunks[0].rung, Rung::Fuzz);
}

/// A merge that says the same as the search leaves the search's figures.
#[test]
fn a_plain_offset_stays_one() {
    let lab = Lab::new();
    let base = numbers(20);
    let patch = diff(&lab, "f", &base, &base.replace("\n10\n", "\nten\n"));
    let ours = format!("0\n{base}");
    let applied = lab.try_patch(&[file("f", &ours)], &patch).unwrap();
    let hunk = one(&applied).hunks[0];
    assert_eq!((hunk.line, hunk.offset, hunk.rung), (8, 1, Rung::Offset));
}

/// `git merge-file` changes the second block; the first is nearer to the line
/// that the patch gives.
#[test]
fn the_merge_knows_which_of_two_equal_places_is_meant() {
    let lab = Lab::new();
    let block = "{\n\tone();\n}\n";
    let base = format!("a\nb\nc\nd\n{block}e\nf\ng\nh\n");
    let patch = diff(&lab, "f", &base, &base.replace("one", "two"));
    // One line of context, as `git diff -U1` has it.
    let short = "@@ -5,3 +5,3 @@\n {\n-\tone();\n+\ttwo();\n }\n";
    let patch = patch[..patch.find("@@").unwrap()].to_owned() + short;
    let ours = format!("1\n2\n3\n{block}4\na\nb\nc\nd\n{block}e\nf\ng\nh\n");
    let applied = lab.try_patch(&[file("f", &ours)], &patch).unwrap();
    let wanted = format!(
        "1\n2\n3\n{block}4\na\nb\nc\nd\n{}e\nf\ng\nh\n",
        block.replace("one", "two")
    );
    assert_eq!(text(&lab, &applied, "f"), wanted);
    let hunk = one(&applied).hunks[0];
    assert_eq!((hunk.line, hunk.offset, hunk.rung), (12, 7, Rung::Merge));
    // Without the blob, the nearest is all there is.
    let unknown = patch.replace("index ", "index 0123456");
    let applied = Lab::new().try_patch(&[file("f", &ours)], &unknown).unwrap();
    assert_eq!(one(&applied).hunks[0].line, 4);
}

/// One of two hunks is in the tree: `git merge-file` adds the other.
#[test]
fn hunks_that_are_there_are_merged_with_those_that_are_not() {
    let lab = Lab::new();
    let base = numbers(40);
    let half = base.replace("\n10\n", "\nten\n");
    let full = half.replace("\n30\n", "\nthirty\n");
    let patch = diff(&lab, "f", &base, &full);
    let applied = lab.try_patch(&[file("f", &half)], &patch).unwrap();
    assert_eq!(text(&lab, &applied, "f"), full);
    // All of it, and a change of the tree's own in the context.
    let more = full.replace("\n8\n", "\neight\n");
    let error = lab.try_patch(&[file("f", &more)], &patch).unwrap_err();
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
}

/// `git merge-file` has a conflict where the lines beside each other change.
#[test]
fn a_conflict_is_refused() {
    let lab = Lab::new();
    let base = numbers(20);
    let patch = diff(&lab, "f", &base, &base.replace("\n10\n", "\nten\n"));
    let ours = base.replace("\n9\n", "\nnine\n");
    let error = lab.try_patch(&[file("f", &ours)], &patch).unwrap_err();
    assert!(matches!(error, ApplyError::HunkFailed(_)), "{error}");
}

/// `git am -3` moves the file and merges its content.
#[test]
fn a_rename_is_merged() {
    let lab = Lab::new();
    let base = numbers(20);
    let blob = lab.repo.blob(base.as_bytes()).unwrap().to_string();
    let patch = format!(
        "diff --git a/d/f b/d/g\nsimilarity index 90%\nrename from d/f\nrename to d/g\n\
         index {}..1111111 100644\n--- a/d/f\n+++ b/d/g\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n",
        &blob[..7]
    );
    let ours = base.replace("\n8\n", "\neight\n");
    let applied = lab.try_patch(&[file("d/f", &ours)], &patch).unwrap();
    let wanted = ours.replace("\n10\n", "\nten\n");
    assert_eq!(applied.tree, lab.tree(&[file("d/g", &wanted)]));
    // The tree has moved it to the same place (`git cherry-pick` merges it).
    let applied = lab.try_patch(&[file("d/g", &ours)], &patch).unwrap();
    assert_eq!(applied.tree, lab.tree(&[file("d/g", &wanted)]));
    assert_eq!(one(&applied).named.as_deref(), Some("d/f"));
    let error = lab.try_patch(&[file("d/g", &wanted)], &patch).unwrap_err();
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
}

/// Git calls it a conflict (modify/delete) as well.
#[test]
fn a_file_that_changed_is_not_removed() {
    let lab = Lab::new();
    let base = numbers(3);
    let blob = lab.repo.blob(base.as_bytes()).unwrap().to_string();
    let patch = format!(
        "diff --git a/f b/f\ndeleted file mode 100644\nindex {}..0000000\n--- a/f\n+++ /dev/null\n\
         @@ -1,3 +0,0 @@\n-1\n-2\n-3\n",
        &blob[..7]
    );
    let files = [file("f", "1\n2\n3\n4\n"), file("g", "")];
    let error = lab.try_patch(&files, &patch).unwrap_err();
    assert!(error.is_patch_fault(), "{error}");
    let files = [file("f", &base), file("g", "")];
    let applied = lab.try_patch(&files, &patch).unwrap();
    assert_eq!(applied.tree, lab.tree(&[file("g", "")]));
}

/// What `git cherry-pick` does by its rename detection.
#[test]
fn history_tells_where_a_file_went() {
    let lab = Lab::new();
    let (base, other) = (numbers(20), file("Makefile", "all:\n"));
    let patch = "--- a/d/f.c\n+++ b/d/f.c\n@@ -9,3 +9,3 @@\n 9\n-10\n+ten\n 11\n";
    let edited = base.replace("\n3\n", "\nthree\n");
    let decoy = numbers(20);
    let commit = history(
        &lab,
        &[
            &[file("d/f.c", &base), other],
            // Moved, changed a little and moved again; a file of the old name elsewhere.
            &[file("e/g.c", &edited), other],
            &[file("e/h.c", &edited), other],
            &[file("e/h.c", &edited), file("z/f.c", &decoy), other],
        ],
    );
    let applied = on(&lab, commit, patch).unwrap();
    let wanted = edited.replace("\n10\n", "\nten\n");
    let files = [file("e/h.c", &wanted), file("z/f.c", &decoy), other];
    assert_eq!(applied.tree, lab.tree(&files));
    let file = one(&applied);
    assert_eq!(
        (file.path.as_str(), file.named.as_deref()),
        ("e/h.c", Some("d/f.c"))
    );
    // Fuzz is too little for a file of another name: 9 is gone.
    let changed = edited.replace("\n9\n", "\nnine\n");
    let commit = history(
        &lab,
        &[
            &[common::file("d/f.c", &base), other],
            &[common::file("e/h.c", &changed), other],
        ],
    );
    let fuzzy = "--- a/d/f.c\n+++ b/d/f.c\n@@ -9,4 +9,4 @@\n 9\n 10\n-11\n+eleven\n 12\n";
    let error = on(&lab, commit, fuzzy).unwrap_err();
    assert!(error.to_string().contains("e/h.c"), "{error}");
}

#[test]
fn the_one_file_of_that_name_is_taken() {
    let lab = Lab::new();
    let text = numbers(20);
    let other = numbers(5);
    let files = [file("old/f.c", &text), file("other/f.c", &other)];
    // The blob that the patch was made from shows that it is the same file.
    let made = diff(&lab, "new/f.c", &text, &text.replace("\n10\n", "\nten\n"));
    let applied = lab.try_patch(&files, &made).unwrap();
    let moved = one(&applied);
    assert_eq!(
        (moved.path.as_str(), moved.named.as_deref()),
        ("old/f.c", Some("new/f.c"))
    );
    let two = [file("old/f.c", &text), file("other/f.c", &text)];
    match lab.try_patch(&two, &made).unwrap_err() {
        ApplyError::SeveralFiles { candidates, .. } => {
            assert_eq!(candidates, ["old/f.c", "other/f.c"]);
        }
        other => panic!("{other}"),
    }
    let unlike = format!("{}9\n10\n11\n", "x\n".repeat(40));
    let two = [file("old/f.c", &text), file("other/f.c", &unlike)];
    let applied = lab.try_patch(&two, &made).unwrap();
    assert_eq!(one(&applied).path, "old/f.c");
    // Without it a name and a few lines are a guess: it is told, not taken.
    let plain = "--- a/new/f.c\n+++ b/new/f.c\n@@ -9,3 +9,3 @@\n 9\n-10\n+ten\n 11\n";
    let error = lab.try_patch(&files, plain).unwrap_err().to_string();
    assert_eq!(
        error,
        "test.patch: the tree has no new/f.c (the patch calls it a/new/f.c); it has old/f.c"
    );
}

#[test]
fn a_patch_is_there_in_all_files_or_in_some() {
    let lab = Lab::new();
    let both = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+one\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-2\n+two\n";
    let done = [file("f", "one\n"), file("g", "two\n")];
    let error = lab.try_patch(&done, both).unwrap_err();
    let text = "test.patch: already applied: f already is as the patch makes it (with `reverse = \
                true` it is taken out)";
    assert_eq!(error.to_string(), text);
    let half = [file("f", "1\n"), file("g", "two\n")];
    let error = lab.try_patch(&half, both).unwrap_err();
    let text = "test.patch: applied in part: already done in g, not yet in f; take what is done \
                out of the patch";
    assert_eq!(error.to_string(), text);
    // What fails is told first.
    let broken = [file("f", "x\n"), file("g", "two\n")];
    let error = lab.try_patch(&broken, both).unwrap_err();
    assert!(matches!(error, ApplyError::HunkFailed(_)), "{error}");
}

/// With the blobs that it was made from, it is known what is there; then the
/// rest is done, as `git am -3` does, and told.
#[test]
fn the_rest_of_a_patch_is_done_where_the_merge_knows() {
    let lab = Lab::new();
    let (f, g) = (numbers(9), numbers(8));
    let patch = diff(&lab, "f", &f, &f.replace("5", "five"))
        + &diff(&lab, "g", &g, &g.replace("5", "five"));
    let (f2, g2) = (f.replace("5", "five"), g.replace("5", "five"));
    let applied = lab
        .try_patch(&[file("f", &f2), file("g", &g)], &patch)
        .unwrap();
    assert_eq!(applied.tree, lab.tree(&[file("f", &f2), file("g", &g2)]));
    assert_eq!(one(&applied).path, "g");
    assert_eq!(applied.patches[0].already, ["f"]);
}

#[test]
fn what_is_gone_was_removed_or_never_there() {
    let lab = Lab::new();
    let patch =
        "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n";
    let (f, g) = (file("f", "1\n"), file("g", "2\n"));
    let removed = history(&lab, &[&[f, g], &[g]]);
    let error = on(&lab, removed, patch).unwrap_err();
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
    let never = history(&lab, &[&[g]]);
    let error = on(&lab, never, patch).unwrap_err();
    assert!(matches!(error, ApplyError::NoSuchFile { .. }), "{error}");
}

#[test]
fn a_mode_that_is_there_is_no_change() {
    let lab = Lab::new();
    let patch = "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n";
    let before = [("run", 0o100644, &b"x\n"[..])];
    let after = [("run", 0o100755, &b"x\n"[..])];
    let applied = lab.try_patch(&before, patch).unwrap();
    assert_eq!(applied.tree, lab.tree(&after));
    let error = lab.try_patch(&after, patch).unwrap_err();
    assert!(
        matches!(error, ApplyError::AlreadyApplied { .. }),
        "{error}"
    );
}
