//! A folder with a home for ktrial and trees made by git itself.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder that goes away with the value.
pub struct Lab {
    folder: TempDir,
}

/// What a program said, and how it ended.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// The same, if it ended in this way and said all of this on either stream.
    pub fn with(self, code: i32, words: &[&str]) -> Said {
        let all = format!("{}{}", self.out, self.err);
        assert_eq!(self.code, code, "{all}");
        for word in words {
            assert!(all.contains(word), "no {word:?} in:\n{all}");
        }
        self
    }
}

/// Lines `1` to `last`, each on its own.
pub fn numbers(last: usize) -> String {
    (1..=last).map(|n| format!("{n}\n")).collect()
}

/// The top of a Linux tree of version 6.1.5.
pub const LINUX: [(&str, &str); 2] = [
    ("Kbuild", "obj-y += fs/\n"),
    (
        "Makefile",
        "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 5\nEXTRAVERSION =\n",
    ),
];

/// What names a FreeBSD 15.1 kernel.
pub const FREEBSD: (&str, &str) = (
    "sys/conf/newvers.sh",
    "TYPE=\"FreeBSD\"\nREVISION=\"15.1\"\nBRANCH=\"RELEASE-p1\"\n",
);

impl Lab {
    pub fn new() -> Lab {
        Lab {
            folder: TempDir::new().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A command that knows nothing of this machine's git settings.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env("KTRIAL_HOME", self.path("home"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("LC_ALL", "C")
            .env_remove("GIT_DIR");
        command
    }

    /// `git -C tree`; what it prints, without blanks at the ends.
    pub fn git(&self, tree: &str, arguments: &[&str]) -> String {
        self.git_with(tree, &[], arguments)
    }

    /// The same with these variables set.
    pub fn git_with(&self, tree: &str, set: &[(&str, &str)], arguments: &[&str]) -> String {
        let output = self
            .command("git")
            .envs(set.iter().copied())
            .args([
                "-C",
                tree,
                "-c",
                "user.name=B. Base",
                "-c",
                "user.email=b@example.org",
            ])
            .args([
                "-c",
                "init.defaultBranch=main",
                "-c",
                "protocol.file.allow=always",
            ])
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout).trim().to_owned()
    }

    /// A checkout of these files, in one commit on `main`.
    pub fn checkout(&self, tree: &str, files: &[(&str, &str)]) {
        fs::create_dir_all(self.path(tree)).unwrap();
        self.git(tree, &["init", "-q"]);
        self.commit(tree, files, "base");
    }

    /// Another commit, with these files written.
    pub fn commit(&self, tree: &str, files: &[(&str, &str)], message: &str) {
        for (path, text) in files {
            self.write(&format!("{tree}/{path}"), text);
        }
        self.git(tree, &["add", "-A"]);
        self.git(tree, &["commit", "-q", "-m", message]);
    }

    /// ktrial, with nothing on its standard input.
    pub fn ktrial(&self, arguments: &[&str]) -> Said {
        self.ktrial_fed(arguments, "")
    }

    /// ktrial, with this on its standard input.
    pub fn ktrial_fed(&self, arguments: &[&str], input: &str) -> Said {
        let mut child = self
            .command(env!("CARGO_BIN_EXE_ktrial"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        Said {
            code: output.status.code().unwrap(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Every file below a folder with its content, `.git` and all.
    pub fn everything(&self, folder: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_symlink() {
                    let target = fs::read_link(&path).unwrap();
                    files.insert(path, target.into_os_string().into_encoded_bytes());
                } else if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        files
    }
}

/// A patch of one hunk for one file, as `git diff` writes it.
pub fn patch(path: &str, hunk: &str) -> String {
    format!("--- a/{path}\n+++ b/{path}\n{hunk}")
}

/// The last part of a path.
pub fn below<'a>(path: &'a Path, folder: &Path) -> &'a str {
    path.strip_prefix(folder).unwrap().to_str().unwrap()
}
