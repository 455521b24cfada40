//! The history functions on a real tree. Needs the git directory of a DragonFly
//! repository with its history, which is only read:
//! `KTRIAL_DRAGONFLY=… cargo test -p ktrial-patches --test dragonfly -- --ignored --nocapture`.
//! `KTRIAL_COMMITS` says how many commits to try (300), `KTRIAL_SEED` which (1).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::process::Command;

use git2::{ErrorCode, Oid, Repository};
use ktrial_patches::Patch;
use ktrial_patches::apply::{ApplyError, apply};
use ktrial_patches::history::{
    Reference, ResolveError, changed_since, find_base, from_commit, resolve,
};
use tempfile::TempDir;

/// The commit of the seed, and its subject.
const EXEC: &str = "8cdef6cbcc73";

struct Tree {
    git_dir: PathBuf,
    /// Takes what is written, and borrows the objects of the tree.
    repo: Repository,
    tip: Oid,
    _folder: TempDir,
}

impl Tree {
    fn open() -> Tree {
        let git_dir = PathBuf::from(std::env::var("KTRIAL_DRAGONFLY").expect("KTRIAL_DRAGONFLY"));
        let folder = TempDir::new().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        let objects = format!("{}\n", git_dir.join("objects").display());
        std::fs::write(folder.path().join("objects/info/alternates"), objects).unwrap();
        drop(repo);
        let repo = Repository::open_bare(folder.path()).unwrap();
        let tip = Repository::open(&git_dir)
            .unwrap()
            .head()
            .unwrap()
            .target()
            .unwrap();
        let _folder = folder;
        Tree {
            git_dir,
            repo,
            tip,
            _folder,
        }
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(&self.git_dir).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Commits without merges, the same for the same seed.
    fn some_commits(&self) -> Vec<Oid> {
        let number = |name, or| std::env::var(name).map_or(or, |text| text.parse().unwrap());
        let (count, mut state): (usize, u64) = (
            number("KTRIAL_COMMITS", 300) as usize,
            number("KTRIAL_SEED", 1),
        );
        let all = self.git(&[
            "rev-list",
            "--no-merges",
            "--min-parents=1",
            &self.tip.to_string(),
        ]);
        let all: Vec<&str> = all.lines().collect();
        let mut next = || {
            // Knuth's MMIX generator.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            Oid::from_str(all[(state >> 33) as usize % all.len()]).unwrap()
        };
        (0..count).map(|_| next()).collect()
    }
}

/// A file of 4 MiB or more, which the copy of the tree lacks.
fn is_missing_blob(error: &git2::Error) -> bool {
    error.code() == ErrorCode::NotFound
}

#[test]
#[ignore = "needs a DragonFly repository in KTRIAL_DRAGONFLY"]
fn commits_give_their_own_trees() {
    let tree = Tree::open();
    let (mut right, mut lacking, mut wrong) = (0, 0, Vec::new());
    for id in tree.some_commits() {
        let patch = match from_commit(&tree.repo, id) {
            Ok(patch) => patch,
            Err(ResolveError::Repository(error)) if is_missing_blob(&error) => {
                lacking += 1;
                continue;
            }
            Err(error) => {
                wrong.push(format!("{id}: {error}"));
                continue;
            }
        };
        let commit = tree.repo.find_commit(id).unwrap();
        let message = String::from_utf8_lossy(commit.message_raw_bytes()).into_owned();
        let message = message.trim_end_matches('\n').to_owned() + "\n";
        if patch.header.commit_message() != message {
            wrong.push(format!(
                "{id}: its message is {:?}",
                patch.header.commit_message()
            ));
        }
        match apply(&tree.repo, commit.parent_id(0).unwrap(), &[patch]) {
            Ok(applied) if applied.tree == commit.tree_id() => right += 1,
            Ok(_) => wrong.push(format!("{id}: another tree")),
            Err(ApplyError::Repository(error)) if is_missing_blob(&error) => lacking += 1,
            Err(error) => wrong.push(format!("{id}: {error}")),
        }
    }
    println!(
        "{right} right, {lacking} with files that the copy lacks, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn exec(tree: &Tree) -> Vec<Patch> {
    resolve(&tree.repo, tree.tip, &Reference::Commit(EXEC.to_owned())).unwrap()
}

#[test]
#[ignore = "needs a DragonFly repository in KTRIAL_DRAGONFLY"]
fn a_commit_by_hash_and_by_subject_is_the_same() {
    let tree = Tree::open();
    let subject = tree.git(&["log", "-1", "--format=%s", EXEC]);
    let by_subject = resolve(&tree.repo, tree.tip, &Reference::Subject(subject)).unwrap();
    assert_eq!(by_subject, exec(&tree));
}

#[test]
#[ignore = "needs a DragonFly repository in KTRIAL_DRAGONFLY"]
fn the_base_of_the_seed_is_the_newest_on_which_it_applies() {
    let tree = Tree::open();
    let patches = exec(&tree);
    let base = find_base(&tree.repo, tree.tip, &patches, usize::MAX)
        .unwrap()
        .unwrap();
    println!(
        "{} {} ({} behind)",
        base.commit.id, base.commit.subject, base.behind
    );
    let paths = tree.git(&["diff-tree", "-r", "--no-commit-id", "--name-only", EXEC]);
    let range = format!("{}..{}", base.commit.id, tree.tip);
    let arguments = ["rev-list", "--full-history", &range, "--"];
    let newer = tree.git(&[&arguments[..], &paths.lines().collect::<Vec<_>>()].concat());
    for newer in newer.lines() {
        let newer = Oid::from_str(newer).unwrap();
        assert!(apply(&tree.repo, newer, &patches).is_err(), "{newer}");
    }
    println!(
        "tried on {} newer commits that change its files",
        newer.lines().count()
    );
}

#[test]
#[ignore = "needs a DragonFly repository in KTRIAL_DRAGONFLY"]
fn no_newer_commit_than_the_base_that_is_found_takes_the_patch() {
    let tree = Tree::open();
    let newest_first = tree.git(&["rev-list", "--max-count=400", &tree.tip.to_string()]);
    let ids = newest_first.lines().map(|id| Oid::from_str(id).unwrap());
    let ids: Vec<Oid> = ids.collect();
    let mut found = 0;
    for id in ids.iter().skip(60).step_by(12) {
        let Ok(patch) = from_commit(&tree.repo, *id) else {
            continue;
        };
        let patches = [patch];
        let base = find_base(&tree.repo, tree.tip, &patches, 300).unwrap();
        let behind = base.as_ref().map_or(300, |base| base.behind);
        let applies = |id: &&Oid| apply(&tree.repo, **id, &patches).is_ok();
        assert_eq!(ids[..behind].iter().find(applies), None, "{id}");
        if let Some(base) = base {
            assert_eq!(base.commit.id, ids[behind], "{id}");
            found += 1;
        }
    }
    assert!(found > 5, "only {found} had a base");
}

#[test]
#[ignore = "needs a DragonFly repository in KTRIAL_DRAGONFLY"]
fn the_commit_behind_a_conflict_is_the_one_at_which_it_begins() {
    let tree = Tree::open();
    let mut named = 0;
    for id in tree.some_commits().into_iter().take(40) {
        let Ok(patch) = from_commit(&tree.repo, id) else {
            continue;
        };
        let patches = [patch];
        let error = match apply(&tree.repo, tree.tip, &patches) {
            Err(error) if error.is_patch_fault() => error,
            _ => continue,
        };
        let since = changed_since(&tree.repo, tree.tip, &patches, &error, usize::MAX).unwrap();
        let first = error.to_string();
        let first = first.lines().next().unwrap();
        let Some(since) = since else {
            println!("no commit for: {first}");
            continue;
        };
        println!(
            "{:.10} {} <- {first}",
            since.first.id.to_string(),
            since.first.subject
        );
        if matches!(error, ApplyError::AlreadyApplied { .. }) {
            let by = tree.repo.find_commit(since.first.id).unwrap();
            let parent = by.parent_id(0).unwrap();
            let before = apply(&tree.repo, parent, &patches);
            let after = apply(&tree.repo, since.first.id, &patches);
            assert!(
                before.is_ok() || patches[0].files.len() > 1,
                "{id} before {parent}"
            );
            assert!(after.is_err(), "{id} on {}", since.first.id);
        }
        named += 1;
    }
    assert!(named > 10, "only {named} conflicts had a commit");
}
