use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::*;
use crate::machine::tune::{How, Tuned, restore_leftovers};

/// Says to a copy of this test which tree it is to tune, and how: `hold` it, or set and put back
/// `again` and again.
const TREE: &str = "KTRIAL_TEST_TUNE_TREE";
const HOW: &str = "KTRIAL_TEST_TUNE_HOW";
/// A copy that nobody kills ends by itself.
const LONGEST: Duration = Duration::from_secs(60);

/// Killed when it is dropped: by a test that fails too.
struct Copy(Child);

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A copy of this program that runs `test` as a process of its own.
fn copy(test: &str, root: &Path, how: &str) -> Copy {
    let child = Command::new(std::env::current_exe().unwrap())
        .args([&format!("machine::tune::tests::killed::{test}"), "--exact"])
        .env(TREE, root)
        .env(HOW, how)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Copy(child.unwrap())
}

/// What the copy does until it is killed; at once back in the test itself.
fn tune_if_copy() {
    let Some(root) = std::env::var_os(TREE) else {
        return;
    };
    let files = Files::at(Path::new(&root));
    if std::env::var(HOW).unwrap() == "hold" {
        let _tuned = Tuned::set(&files).unwrap();
        std::thread::sleep(LONGEST);
    }
    let until = Instant::now() + LONGEST;
    while Instant::now() < until {
        let _ = Tuned::set(&files).unwrap().restore().unwrap();
    }
    panic!("nobody killed the copy");
}

fn kill(mut copy: Copy) {
    copy.0.kill().unwrap();
    assert_eq!(copy.0.wait().unwrap().signal(), Some(nix::libc::SIGKILL));
}

#[test]
fn what_a_killed_one_had_set_is_put_back_at_the_next_start() {
    tune_if_copy();
    let folder = tempfile::tempdir().unwrap();
    let files = noisy(folder.path());
    let before = values(folder.path());
    let copy = copy(
        "what_a_killed_one_had_set_is_put_back_at_the_next_start",
        folder.path(),
        "hold",
    );
    let until = Instant::now() + LONGEST / 2;
    while !plan(&files).is_empty() {
        assert!(Instant::now() < until, "the copy has not tuned the tree");
        std::thread::sleep(Duration::from_millis(2));
    }
    // While it lives, its values are in use.
    assert!(restore_leftovers(&files).unwrap().is_empty());
    assert_eq!(files.value(GOVERNOR).unwrap(), "performance");
    kill(copy);
    let returned = restore_leftovers(&files).unwrap();
    assert_eq!(returned.len(), 8);
    assert!(returned.iter().all(|one| one.how == How::PutBack));
    assert_eq!(values(folder.path()), before);
}

/// At whatever point: while it reads, writes the journal, sets, or puts back.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    tune_if_copy();
    let folder = tempfile::tempdir().unwrap();
    let files = noisy(folder.path());
    let before = values(folder.path());
    let mut found_set = 0;
    for round in 0..12_u64 {
        let copy = copy("a_kill_at_any_moment_loses_nothing", folder.path(), "again");
        let until = Instant::now() + LONGEST / 2;
        while fs::metadata(journal(folder.path())).map_or(0, |facts| facts.len()) == 0 {
            assert!(Instant::now() < until, "the copy has not begun");
            std::thread::sleep(Duration::from_micros(50));
        }
        std::thread::sleep(Duration::from_micros(round * 700));
        kill(copy);
        found_set += usize::from(values(folder.path()) != before);
        restore_leftovers(&files).unwrap();
        assert_eq!(values(folder.path()), before, "round {round}");
    }
    assert!(found_set > 0, "no kill met a tuned tree");
}
