//! One worktree a tree; switching it touches only the files that differ, so that `make` rebuilds
//! only what those reach.

use std::fs;
use std::path::Path;

use git2::build::CheckoutBuilder;
use git2::{Oid, Repository};

use crate::fault::{OrHost, Result};

/// Makes `worktree` hold the files of `commit` and nothing else.
///
/// libgit2 leaves a file alone if it is what HEAD says and HEAD and the target agree on it. So HEAD
/// always names what the worktree holds; it moves when the checkout is whole, and after a kill the
/// next one finds the files that differ from it.
pub(super) fn check_out(repository: &Repository, worktree: &Path, commit: Oid) -> Result<()> {
    let doing = || format!("check out {commit} to {}", worktree.display());
    fs::create_dir_all(worktree).or_host(doing)?;
    repository.set_workdir(worktree, false).or_host(doing)?;
    let target = repository.find_commit(commit).or_host(doing)?;
    let mut options = CheckoutBuilder::new();
    options
        .force()
        .remove_untracked(true)
        .remove_ignored(true)
        // A tree's .gitattributes must not change a byte of what is compiled.
        .disable_filters(true);
    repository
        .checkout_tree(target.as_object(), Some(&mut options))
        .or_host(doing)?;
    repository.set_head_detached(commit).or_host(doing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;
    use std::path::PathBuf;

    struct Lab {
        folder: tempfile::TempDir,
        repository: Repository,
    }

    impl Lab {
        fn new() -> Lab {
            let folder = tempfile::tempdir().unwrap();
            let repository = Repository::init_bare(folder.path().join("git")).unwrap();
            Lab { folder, repository }
        }

        fn commit(&self, files: &[(&str, &str)]) -> Oid {
            let mut index = git2::Index::new().unwrap();
            for (path, text) in files {
                let id = self.repository.blob(text.as_bytes()).unwrap();
                let entry = git2::IndexEntry {
                    path: path.as_bytes().to_vec(),
                    id,
                    mode: 0o100_644,
                    ctime: git2::IndexTime::new(0, 0),
                    mtime: git2::IndexTime::new(0, 0),
                    dev: 0,
                    ino: 0,
                    uid: 0,
                    gid: 0,
                    file_size: 0,
                    flags: 0,
                    flags_extended: 0,
                };
                index.add(&entry).unwrap();
            }
            let tree = index.write_tree_to(&self.repository).unwrap();
            let tree = self.repository.find_tree(tree).unwrap();
            let who = git2::Signature::now("a", "a@b").unwrap();
            self.repository
                .commit(None, &who, &who, "m", &tree, &[])
                .unwrap()
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join("source").join(name)
        }

        /// As a new process would: with the repository opened again.
        fn check_out(&self, commit: Oid) {
            let again = Repository::open_bare(self.repository.path()).unwrap();
            check_out(&again, &self.folder.path().join("source"), commit).unwrap();
        }

        fn changed_at(&self, name: &str) -> (u64, i64, i64) {
            let meta = fs::metadata(self.path(name)).unwrap();
            (meta.ino(), meta.ctime(), meta.ctime_nsec())
        }

        fn text(&self, name: &str) -> String {
            fs::read_to_string(self.path(name)).unwrap()
        }
    }

    const BASE: &[(&str, &str)] = &[
        ("fs/file.c", "a\n"),
        ("fs/open.c", "b\n"),
        (".gitignore", "*.o\n"),
    ];

    #[test]
    fn switching_touches_only_the_files_that_differ() {
        let lab = Lab::new();
        let base = lab.commit(BASE);
        let patched = lab.commit(&[("fs/file.c", "A\n"), BASE[1], BASE[2], ("fs/new.c", "n\n")]);
        lab.check_out(base);
        let before = lab.changed_at("fs/open.c");
        std::thread::sleep(std::time::Duration::from_millis(20));
        lab.check_out(patched);
        assert_eq!(
            (lab.text("fs/file.c"), lab.text("fs/new.c")),
            ("A\n".into(), "n\n".into())
        );
        lab.check_out(base);
        assert_eq!(lab.text("fs/file.c"), "a\n");
        assert!(!lab.path("fs/new.c").exists());
        assert_eq!(
            lab.changed_at("fs/open.c"),
            before,
            "open.c was written again"
        );
    }

    #[test]
    fn what_somebody_changed_or_left_there_is_put_right() {
        let lab = Lab::new();
        let base = lab.commit(BASE);
        lab.check_out(base);
        fs::write(lab.path("fs/open.c"), "half wri").unwrap();
        fs::write(
            lab.path("fs/stray.o"),
            "ignored by the tree's own .gitignore",
        )
        .unwrap();
        fs::write(lab.path("fs/stray.c"), "x").unwrap();
        fs::remove_file(lab.path("fs/file.c")).unwrap();
        lab.check_out(base);
        assert_eq!(
            (lab.text("fs/open.c"), lab.text("fs/file.c")),
            ("b\n".into(), "a\n".into())
        );
        assert!(!lab.path("fs/stray.o").exists() && !lab.path("fs/stray.c").exists());
    }
}
