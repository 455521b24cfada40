use super::*;

const MAKEFILE: &str = "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 0\n";

struct Lab {
    folder: tempfile::TempDir,
    home: Home,
}

impl Lab {
    fn new() -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(&folder.path().join("home")).unwrap();
        Lab { folder, home }
    }

    fn import(&self, source: &Path) -> Result<git2::Repository> {
        let git_dir = self.folder.path().join("git");
        import(&self.home, source, &git_dir)?;
        Ok(git2::Repository::open_bare(git_dir).unwrap())
    }

    /// A tar of regular files, built entry by entry.
    fn tar(&self, build: impl FnOnce(&mut tar::Builder<Vec<u8>>)) -> PathBuf {
        let mut builder = tar::Builder::new(Vec::new());
        build(&mut builder);
        let path = self.folder.path().join("linux.tar");
        fs::write(&path, builder.into_inner().unwrap()).unwrap();
        path
    }
}

fn add(builder: &mut tar::Builder<Vec<u8>>, name: &str, kind: tar::EntryType, text: &str) {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(kind);
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    builder
        .append_data(&mut header, name, text.as_bytes())
        .unwrap();
}

fn names(repository: &git2::Repository) -> Vec<String> {
    let tree = repository
        .revparse_single(BRANCH)
        .unwrap()
        .peel_to_tree()
        .unwrap();
    let mut names = Vec::new();
    tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
        if entry.kind() == Some(git2::ObjectType::Blob) {
            names.push(format!("{folder}{}", entry.name().unwrap()));
        }
        git2::TreeWalkResult::Ok
    })
    .unwrap();
    names
}

#[test]
fn a_tarball_as_git_archive_writes_it_is_read_and_its_ignored_files_too() {
    let lab = Lab::new();
    let regular = tar::EntryType::Regular;
    let source = lab.tar(|tar| {
        let header = "52 comment=0123456789012345678901234567890123456789\n";
        add(
            tar,
            "pax_global_header",
            tar::EntryType::XGlobalHeader,
            header,
        );
        add(tar, "linux-6.1/.gitignore", regular, "*.o\n");
        add(tar, "linux-6.1/Makefile", regular, MAKEFILE);
        add(tar, "linux-6.1/lib/blob.o", regular, "kept");
        add(tar, "linux-6.1/.git/config", regular, "left out");
        add(tar, "linux-6.1/a \"b\"\\c.c", regular, "quoted");
    });
    let repository = lab.import(&source).unwrap();
    assert_eq!(
        names(&repository),
        [".gitignore", "Makefile", "a \"b\"\\c.c", "lib/blob.o"]
    );
}

#[test]
fn what_would_be_lost_is_refused_and_nothing_stays() {
    let lab = Lab::new();
    for (kind, second) in [
        (tar::EntryType::Fifo, "linux/pipe"),
        (tar::EntryType::Link, "linux/hard"),
        (tar::EntryType::Regular, "other/file.c"),
    ] {
        let source = lab.tar(|tar| {
            add(tar, "linux/Makefile", tar::EntryType::Regular, MAKEFILE);
            add(tar, second, kind, "");
        });
        let fault = lab.import(&source).map(drop).unwrap_err();
        assert_eq!(fault.at, crate::fault::At::User, "{fault}");
        assert!(!lab.folder.path().join("git").exists());
    }
}

#[test]
fn a_folder_comes_whole_with_links_and_modes() {
    let lab = Lab::new();
    let root = lab.folder.path().join("linux");
    fs::create_dir_all(root.join("scripts")).unwrap();
    fs::write(root.join("Makefile"), MAKEFILE).unwrap();
    fs::write(root.join("scripts/run"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(root.join("scripts/run"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("../Makefile", root.join("scripts/link")).unwrap();
    let repository = lab.import(&root).unwrap();
    let tree = repository
        .revparse_single(BRANCH)
        .unwrap()
        .peel_to_tree()
        .unwrap();
    let mode = |path: &str| tree.get_path(Path::new(path)).unwrap().filemode();
    assert_eq!(mode("Makefile"), 0o100_644);
    assert_eq!(mode("scripts/run"), 0o100_755);
    assert_eq!(mode("scripts/link"), 0o120_000);
}
