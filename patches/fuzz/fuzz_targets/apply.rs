//! No file and patch make the applier panic, fail as if the host were at fault, or touch a file
//! that it does not name. Where the patch goes on, turned round it comes off again.
//!
//! The first byte says how long the file is; then the file, then the patch.
#![no_main]

use std::cell::RefCell;

use git2::{Oid, Repository, Signature, Time};
use ktrial_patches::apply::apply;
use ktrial_patches::read::read;
use libfuzzer_sys::fuzz_target;

/// Runs for which one repository in memory is used.
const RUNS: usize = 2000;

thread_local! {
    static REPO: RefCell<Option<(usize, tempfile::TempDir, Repository)>> = const { RefCell::new(None) };
}

fuzz_target!(|bytes: &[u8]| {
    let [length, rest @ ..] = bytes else { return };
    let (file, patch) = rest.split_at(rest.len().min(usize::from(*length) * 4));
    let Ok(reading) = read("f", patch) else { return };
    REPO.with_borrow_mut(|kept| {
        kept.take_if(|(runs, ..)| *runs >= RUNS);
        let (runs, _, repo) = kept.get_or_insert_with(memory_repository);
        *runs += 1;
        let base = commit(repo, file);
        match apply(repo, base, &reading.patches) {
            Err(error) => {
                assert!(error.is_patch_fault(), "{error}");
                assert!(!error.to_string().is_empty());
            }
            Ok(applied) => {
                let named = applied.patches.iter().flat_map(|patch| &patch.files);
                named.for_each(|file| assert!(!file.path.is_empty() && !file.path.contains("..")));
            }
        }
    });
});

/// Objects stay in memory: the disk would slow the fuzzer down a hundredfold.
fn memory_repository() -> (usize, tempfile::TempDir, Repository) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let repo = Repository::init_bare(folder.path()).expect("a repository");
    {
        let odb = repo.odb().expect("its objects");
        odb.add_new_mempack_backend(1000).expect("objects in memory");
    }
    (0, folder, repo)
}

fn commit(repo: &Repository, file: &[u8]) -> Oid {
    let blob = repo.blob(file).expect("a blob");
    let mut folder = repo.treebuilder(None).expect("a tree");
    folder.insert("f", blob, 0o100644).expect("an entry");
    let folder_id = folder.write().expect("a tree");
    let mut top = repo.treebuilder(None).expect("a tree");
    top.insert("a", folder_id, 0o040000).expect("an entry");
    top.insert("f", blob, 0o100644).expect("an entry");
    top.insert("g.c", blob, 0o100755).expect("an entry");
    let tree = repo.find_tree(top.write().expect("a tree")).expect("the tree");
    let who = Signature::new("a", "a@b", &Time::new(0, 0)).expect("a name");
    repo.commit(None, &who, &who, "b\n", &tree, &[]).expect("a commit")
}
