//! Commits by what people call them.

use git2::Oid;
use ktrial_patches::history::{Reference, ResolveError, resolve};

use crate::past::{Past, with_line};

fn resolved(past: &Past, reference: Reference) -> Result<Vec<String>, ResolveError> {
    let patches = resolve(&past.repo(), past.tip(), &reference)?;
    Ok(patches.into_iter().map(|patch| patch.name).collect())
}

fn short(ids: &[Oid]) -> Vec<String> {
    ids.iter()
        .map(|id| id.to_string()[..12].to_owned())
        .collect()
}

#[track_caller]
fn finds(past: &Past, reference: Reference, ids: &[Oid]) {
    assert_eq!(resolved(past, reference).unwrap(), short(ids));
}

#[track_caller]
fn refuses(past: &Past, reference: Reference, words: &[&str]) {
    let error = resolved(past, reference).unwrap_err().to_string();
    for word in words {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
}

fn commit(name: &str) -> Reference {
    Reference::Commit(name.to_owned())
}

fn range(name: &str) -> Reference {
    Reference::Range(name.to_owned())
}

fn subject(name: &str) -> Reference {
    Reference::Subject(name.to_owned())
}

fn review(name: &str) -> Reference {
    Reference::Review(name.to_owned())
}

/// base, one, two on main; side (from base) is merged between one and two.
fn merged() -> (Past, Oid, Oid, Oid) {
    let past = Past::new();
    let base = past.tip();
    past.branch("side", base);
    let side = past.commit("side\n", &[("g", Some("side\n"))]);
    past.checkout("main");
    let one = past.commit("one\n", &[("f", Some(&with_line(40, 10, "one")))]);
    past.merge("side");
    let two = past.commit("two\n", &[("f", Some(&with_line(40, 10, "two")))]);
    (past, one, side, two)
}

#[test]
fn by_hash_tag_and_branch() {
    let (past, one, side, two) = merged();
    past.git(&["tag", "light", &one.to_string()]);
    past.git(&["tag", "-a", "-m", "v1", "v1.0", &one.to_string()]);
    finds(&past, commit(&one.to_string()), &[one]);
    finds(&past, commit(&one.to_string()[..8]), &[one]);
    finds(&past, commit(&one.to_string()[..8].to_uppercase()), &[one]);
    finds(&past, commit("light"), &[one]);
    finds(&past, commit("v1.0"), &[one]);
    finds(&past, commit("side"), &[side]);
    finds(&past, commit("refs/heads/side"), &[side]);
    finds(&past, commit("HEAD"), &[two]);
}

#[test]
fn names_that_mean_something_else_tomorrow_are_refused() {
    let (past, ..) = merged();
    past.checkout("side");
    past.checkout("main");
    for name in [
        "@{-1}", ":/one", "HEAD~1", "main^", "main@{1}", "@", "", "side:g", "a b",
    ] {
        refuses(&past, commit(name), &["no commit", "without `~`"]);
    }
}

#[test]
fn what_is_not_there_says_what_to_do() {
    let (past, ..) = merged();
    refuses(
        &past,
        commit("8cdef6cbcc73"),
        &["no commit `8cdef6cbcc73`", "fetch"],
    );
    refuses(&past, subject("three"), &["subject `three`", "fetch"]);
    refuses(&past, Reference::Svn(5), &["r5", "fetch"]);
    refuses(&past, review("D7"), &["D7", "fetch"]);
    refuses(&past, review("7"), &["as in `D9586`"]);
}

#[test]
fn a_shallow_and_an_imported_tree_say_so() {
    let (past, ..) = merged();
    let clone = Past::empty();
    let from = format!("file://{}", past.path().display());
    clone.git(&["fetch", "--quiet", "--depth=2", &from, "main:clone"]);
    clone.checkout("clone");
    refuses(&clone, subject("base"), &["shallow", "--unshallow"]);
    refuses(&Past::new(), subject("two"), &["without a history"]);
}

#[test]
fn a_hash_that_fits_a_branch_as_well_is_refused() {
    let (past, one, side, _) = merged();
    past.git(&["branch", &one.to_string()[..8], &side.to_string()]);
    refuses(
        &past,
        commit(&one.to_string()[..8]),
        &["fits 2 commits", &side.to_string()],
    );
}

#[test]
fn a_short_hash_that_files_have_too_means_the_commit() {
    let past = Past::new();
    // 600 blobs beside few commits: four digits of some commit are those of a blob.
    let mut ids: Vec<String> = Vec::new();
    for n in 0..600 {
        ids.push(
            past.repo()
                .blob(format!("{n}\n").as_bytes())
                .unwrap()
                .to_string(),
        );
    }
    let found = (0..).find_map(|n| {
        let id = past
            .commit(&format!("n {n}\n"), &[("g", Some(&format!("n {n}\n")))])
            .to_string();
        ids.iter().any(|blob| blob[..4] == id[..4]).then_some(id)
    });
    let id = found.unwrap();
    let same = past.git(&["rev-list", "--all"]);
    assert_eq!(
        same.lines().filter(|other| other[..4] == id[..4]).count(),
        1
    );
    finds(&past, commit(&id[..4]), &[Oid::from_str(&id).unwrap()]);
}

#[test]
fn a_range_is_what_git_log_shows_oldest_first_without_merges() {
    let (past, one, side, two) = merged();
    let git = past.git(&[
        "rev-list",
        "--reverse",
        "--no-merges",
        "--date-order",
        "main~3..main",
    ]);
    let from = past.id("main~3");
    let found = resolved(&past, range(&format!("{from}..main"))).unwrap();
    assert_eq!(
        found,
        git.lines()
            .map(|id| id[..12].to_owned())
            .collect::<Vec<_>>()
    );
    assert_eq!(found.len(), 3);
    finds(&past, range("side..main"), &[one, two]);
    finds(&past, range(&format!("{one}..")), &[side, two]);
    refuses(
        &past,
        range("main..side"),
        &["`main..side`", "wrong way round"],
    );
    for odd in ["side...main", "..main", "main", ""] {
        refuses(&past, range(odd), &["as in `v6.1..v6.2`"]);
    }
}

#[test]
fn a_range_from_nowhere_or_over_a_first_commit_is_refused() {
    let past = Past::new();
    past.commit("one\n", &[("g", Some("1\n"))]);
    refuses(&past, range("nowhere..main"), &["no commit `nowhere`"]);
    past.git(&["checkout", "--quiet", "--orphan", "other"]);
    past.commit("other\n", &[("g", Some("2\n"))]);
    refuses(&past, range("main..other"), &["the first of its history"]);
}

#[test]
fn by_subject_in_the_tips_history_before_others() {
    let (past, one, side, _) = merged();
    finds(&past, subject("one"), &[one]);
    finds(&past, subject("side"), &[side]);
    // The first paragraph of several lines is the subject, as `git log --format=%s` has it.
    let long = past.commit("a long\nsubject\n\ntext\n", &[("g", Some("long\n"))]);
    assert_eq!(past.git(&["log", "-1", "--format=%s"]), "a long subject");
    finds(&past, subject("a long subject"), &[long]);
    past.branch("other", side);
    past.commit("one\n", &[("g", Some("another one\n"))]);
    let lost = past.commit("elsewhere\n", &[("g", Some("elsewhere\n"))]);
    past.checkout("main");
    finds(&past, subject("one"), &[one]);
    finds(&past, subject("elsewhere"), &[lost]);
}

#[test]
fn of_cherry_picks_the_nearest_is_meant_and_of_different_commits_none() {
    let past = Past::new();
    let old = past.commit("twice\n", &[("f", Some(&with_line(40, 10, "x")))]);
    past.commit("revert\n", &[("f", Some(&with_line(40, 10, "10")))]);
    past.commit(
        "above\n",
        &[("f", Some(&("0\n".to_owned() + &with_line(40, 10, "10"))))],
    );
    past.git(&["cherry-pick", &old.to_string()]);
    let again = past.tip();
    finds(&past, subject("twice"), &[again]);
    let third = past.commit("twice\n", &[("g", Some("third\n"))]);
    let (old, again, third) = (old.to_string(), again.to_string(), third.to_string());
    refuses(
        &past,
        subject("twice"),
        &["fits 3 commits", &old, &again, &third],
    );
}

#[test]
fn by_subversion_revision_in_the_message() {
    let past = Past::new();
    let id = "git-svn-id: https://svn.freebsd.org/base/head@313756 ccf9f872";
    let one = past.commit(&format!("one\n\n{id}\n"), &[("g", Some("1\n"))]);
    past.commit(
        &format!("two\n\n{}\n", id.replace("313756", "3137567")),
        &[("g", Some("2\n"))],
    );
    past.commit("three\n\nAs in head@313756\n", &[("g", Some("3\n"))]);
    finds(&past, Reference::Svn(313_756), &[one]);
    refuses(&past, Reference::Svn(31_375), &["r31375"]);
}

#[test]
fn by_subversion_revision_in_freebsds_notes() {
    let past = Past::new();
    let one = past.commit("one\n", &[("g", Some("1\n"))]);
    let two = past.commit("two\n", &[("g", Some("2\n"))]);
    for (id, revision) in [(one, 313_756), (two, 313_757)] {
        let note = format!("svn path=/head/; revision={revision}");
        past.git(&["notes", "add", "-m", &note, &id.to_string()]);
    }
    finds(&past, Reference::Svn(313_756), &[one]);
    finds(&past, Reference::Svn(313_757), &[two]);
    refuses(&past, Reference::Svn(756), &["r756"]);
}

#[test]
fn by_review_in_all_its_spellings_oldest_first() {
    for line in [
        "Differential Revision: https://reviews.freebsd.org/D9586",
        "Differential Revision:\thttps://reviews.freebsd.org/D9586",
        "Differential revision: D9586.",
        "Differential Revision:  https://reviews.freebsd.org/D1, https://reviews.freebsd.org/D9586/",
        "Phabricator: https://reviews.freebsd.org/D9586",
    ] {
        let past = Past::new();
        let one = past.commit(&format!("one\n\n{line}\n"), &[("g", Some("1\n"))]);
        past.commit(
            "not\n\nDifferential Revision: D95861\n",
            &[("g", Some("2\n"))],
        );
        past.commit("nor\n\nSee D9586.\n", &[("g", Some("3\n"))]);
        let two = past.commit(&format!("two\n\n{line}\n"), &[("g", Some("4\n"))]);
        finds(&past, review("D9586"), &[one, two]);
        finds(
            &past,
            review("https://reviews.freebsd.org/D9586"),
            &[one, two],
        );
    }
}

#[test]
fn a_review_that_went_in_twice_is_taken_once_or_refused() {
    let past = Past::new();
    let message = "one\n\nDifferential Revision: D1\n";
    let old = past.commit(message, &[("f", Some(&with_line(40, 10, "x")))]);
    past.commit("back\n", &[("f", Some(&with_line(40, 10, "10")))]);
    let again = past.commit(message, &[("f", Some(&with_line(40, 10, "x")))]);
    finds(&past, review("D1"), &[again]);
    past.commit("back\n", &[("f", Some(&with_line(40, 10, "10")))]);
    past.commit(message, &[("f", Some(&with_line(40, 10, "y")))]);
    refuses(&past, review("D1"), &["fits 3 commits", &old.to_string()]);
}

#[test]
fn a_merge_is_no_patch_however_it_is_called() {
    let (past, ..) = merged();
    for reference in [commit("main~1"), subject("merge")] {
        assert!(resolved(&past, reference).is_err());
    }
    refuses(&past, subject("merge"), &["is a merge"]);
}
