//! A small repository with a past, made by git itself.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use git2::{Oid, Repository};
use ktrial_patches::Patch;
use ktrial_patches::read::read;
use tempfile::TempDir;

pub struct Past {
    folder: TempDir,
    /// Seconds of the next commit.
    clock: Cell<i64>,
    /// Seconds from one commit to the next.
    tick: Cell<i64>,
}

impl Past {
    /// A repository with one commit, `base`, that has the files `f` (lines 1 to 40) and `g`.
    pub fn new() -> Past {
        let past = Past::empty();
        past.commit("base\n", &[("f", Some(&numbers(40))), ("g", Some("g\n"))]);
        past
    }

    pub fn empty() -> Past {
        let past = Past {
            folder: TempDir::new().unwrap(),
            clock: Cell::new(1_000_000_000),
            tick: Cell::new(3600),
        };
        past.git(&["init", "--quiet", "--initial-branch=main", "."]);
        past
    }

    /// All further commits are of one second.
    pub fn stop_clock(&self) {
        self.tick.set(0);
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn repo(&self) -> Repository {
        Repository::open(self.path()).unwrap()
    }

    /// What git prints, without the last newline.
    pub fn git(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.git_bytes(arguments))
            .unwrap()
            .trim_end()
            .to_owned()
    }

    pub fn git_bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let date = format!("{} +0200", self.clock.get());
        let output = Command::new("git")
            .current_dir(self.path())
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_NAME", "Ann Author")
            .env("GIT_AUTHOR_EMAIL", "ann@example.org")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_NAME", "Carl Committer")
            .env("GIT_COMMITTER_EMAIL", "carl@example.org")
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {error}");
        output.stdout
    }

    /// Writes or removes files, and commits them with this very message.
    pub fn commit(&self, message: &str, files: &[(&str, Option<&str>)]) -> Oid {
        for (name, content) in files {
            let path = self.file(name);
            match content {
                Some(content) => {
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, content).unwrap();
                }
                None => std::fs::remove_file(path).unwrap(),
            }
        }
        self.commit_all(message.as_bytes())
    }

    pub fn commit_all(&self, message: &[u8]) -> Oid {
        self.tick();
        let file = self.file(".git/MESSAGE");
        std::fs::write(&file, message).unwrap();
        self.git(&["add", "--all"]);
        let file = file.to_str().unwrap();
        self.git(&[
            "commit",
            "--quiet",
            "--allow-empty",
            "--cleanup=verbatim",
            "-F",
            file,
        ]);
        self.tip()
    }

    /// Merges a branch; a conflict must not come of it.
    pub fn merge(&self, branch: &str) -> Oid {
        self.tick();
        self.git(&["merge", "--quiet", "--no-ff", "-m", "merge", branch]);
        self.tip()
    }

    pub fn branch(&self, name: &str, from: Oid) {
        self.git(&["checkout", "--quiet", "-b", name, &from.to_string()]);
    }

    pub fn checkout(&self, name: &str) {
        self.git(&["checkout", "--quiet", name]);
    }

    pub fn tip(&self) -> Oid {
        self.id("HEAD")
    }

    pub fn id(&self, name: &str) -> Oid {
        Oid::from_str(&self.git(&["rev-parse", name])).unwrap()
    }

    pub fn tree(&self, commit: Oid) -> Oid {
        self.id(&format!("{commit}^{{tree}}"))
    }

    /// The commit as `git format-patch` writes it, read.
    pub fn patch(&self, commit: Oid) -> Patch {
        let mail = self.git_bytes(&["format-patch", "--stdout", "-1", &commit.to_string()]);
        read("test.patch", &mail).unwrap().patches.remove(0)
    }

    fn tick(&self) {
        self.clock.set(self.clock.get() + self.tick.get());
    }
}

/// Lines `1` to `last`.
pub fn numbers(last: usize) -> String {
    (1..=last).map(|n| format!("{n}\n")).collect()
}

/// Lines `1` to `last`, with one of them replaced.
pub fn with_line(last: usize, line: usize, text: &str) -> String {
    let lines = (1..=last).map(|n| match n == line {
        true => format!("{text}\n"),
        false => format!("{n}\n"),
    });
    lines.collect()
}
