//! The catalogue's Linux series and the fault fixtures against a real 6.1
//! tree, with `git am` and `patch` beside them. Run with
//! `KTRIAL_LINUX_SOURCE=<folder> cargo test -p ktrial-patches --test linux -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Lab;
use git2::Oid;
use ktrial_patches::apply::{ApplyError, apply};
use ktrial_patches::catalogue::{self, Series, Step};

/// The files of the tree that the catalogue touches.
const FILES: [&str; 5] = [
    "fs/file.c",
    "include/linux/fdtable.h",
    "include/linux/file.h",
    "include/linux/net.h",
    "net/socket.c",
];

fn source(path: &str) -> Vec<u8> {
    let folder = std::env::var_os("KTRIAL_LINUX_SOURCE").expect("KTRIAL_LINUX_SOURCE is set");
    std::fs::read(PathBuf::from(folder).join(path)).unwrap()
}

fn base(lab: &Lab) -> Oid {
    let contents = FILES.map(|path| (path, source(path)));
    lab.commit(
        &contents
            .each_ref()
            .map(|(path, content)| (*path, 0o100644, &content[..])),
    )
}

/// The tree that `git am` makes of the patch files.
fn tree_by_git_am(lab: &Lab, base: Oid, patches: &[PathBuf]) -> String {
    let work = tempfile::TempDir::new().unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(work.path()).args(arguments);
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let who = [
            ("GIT_COMMITTER_NAME", "A"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
        ];
        let output = command.envs(who).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&[
        "clone",
        "-q",
        "--no-checkout",
        &lab.path().display().to_string(),
        ".",
    ]);
    git(&["fetch", "-q", "origin", &base.to_string()]);
    git(&["checkout", "-q", &base.to_string()]);
    for patch in patches {
        let patch = patch.display().to_string();
        git(&["apply", "--check", &patch]);
        git(&["am", "-q", &patch]);
    }
    git(&["rev-parse", "HEAD^{tree}"])
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "patch"));
    files.sort();
    files
}

#[test]
#[ignore = "needs KTRIAL_LINUX_SOURCE, a Linux 6.1 tree"]
fn the_catalogue_gives_the_tree_of_git_am() {
    let series = Path::new(env!("CARGO_MANIFEST_DIR")).join("series");
    for one in catalogue::list().unwrap() {
        // Those by commit need a history, which this tree has not.
        let by_commit = |step: &Step| matches!(step, Step::Commits(_));
        if one.system != Some(catalogue::System::Linux) || one.steps.iter().any(by_commit) {
            continue;
        }
        let lab = Lab::new();
        let base = base(&lab);
        // A reference, so that a clone sees the commit.
        lab.repo
            .reference("refs/heads/main", base, true, "")
            .unwrap();
        let applied = apply(&lab.repo, base, &one.patches(&lab.repo, base).unwrap()).unwrap();
        let hunks = applied
            .patches
            .iter()
            .flat_map(|p| &p.files)
            .flat_map(|f| &f.hunks);
        assert!(
            hunks.clone().all(|hunk| hunk.fuzz == 0),
            "{}: {applied:?}",
            one.name
        );
        let wanted = tree_by_git_am(&lab, base, &files_in(&series.join(&one.name)));
        assert_eq!(applied.tree.to_string(), wanted, "{}", one.name);
        let is_control = one.name == "linux-control-same";
        assert_eq!(applied.commit == base, is_control, "{}", one.name);
    }
}

#[test]
#[ignore = "needs KTRIAL_LINUX_SOURCE, a Linux 6.1 tree"]
fn the_faults_apply_but_for_the_one_that_should_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/faults");
    for path in files_in(&folder) {
        let lab = Lab::new();
        let base = base(&lab);
        lab.repo
            .reference("refs/heads/main", base, true, "")
            .unwrap();
        let series = Series::from_patch_file(&path).unwrap();
        let result = apply(&lab.repo, base, &series.patches(&lab.repo, base).unwrap());
        if series.name == "does-not-apply" {
            let error = result.unwrap_err();
            assert!(matches!(error, ApplyError::HunkFailed(_)), "{error}");
            let text = error.to_string();
            assert!(
                text.contains("! \tunsigned int word_bit = start / BITS_PER_LONG;"),
                "{text}"
            );
            assert!(
                text.contains("! \tunsigned int bitbit = start / BITS_PER_LONG;"),
                "{text}"
            );
        } else {
            let tree = result.unwrap().tree.to_string();
            assert_eq!(tree, tree_by_git_am(&lab, base, &[path]), "{}", series.name);
        }
    }
}
